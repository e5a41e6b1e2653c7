"""A recorded run in the terminal: the live view, fed with the events of the trace, and what a look back shows besides."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from react_agent.cli.view import Printer, View, call_arguments
from react_agent.report_view import RunView, SideEffect, StepView
from react_agent.trace_events import DecisionMade, Event, ReplyUnreadable, RequestSent, RunResumed, Summarised, ToolEnded, ToolStarted

Block = tuple[str, str]
EFFECTS = {
    "done": "happened", "failed": "failed; it may have happened in part", "unknown": "outcome unknown: it may or may not have happened",
}  # fmt: skip


class Still:
    """A printer without the line that says what is going on: in a recorded run nothing is."""

    def __init__(self, printer: Printer) -> None:
        self.block = printer.block

    def busy(self, text: str) -> None:
        pass

    def quiet(self) -> None:
        pass


def show_run(run: RunView, events: Iterable[Event], printer: Printer, raw: bool) -> None:
    """The whole run: what it was, its steps, how it ended."""
    _print(printer, _head(run))
    _show(events, printer, raw)
    _print(printer, _foot(run))


def show_step(run: RunView, step: StepView, events: Iterable[Event], printer: Printer, raw: bool) -> None:
    """One step; raw: with its whole requests, put together from those before."""
    whole = {id(request): messages for _, request, messages in run.requests()}
    mine = [event for event in events if getattr(event, "step", None) == step.number]
    put_together = (replace(event, keep=0, add=whole[id(event)]) if isinstance(event, RequestSent) else event for event in mine)
    _show(put_together, printer, raw)
    _print(printer, [_effect(step.side_effect)] if step.side_effect else [])


def _show(events: Iterable[Event], printer: Printer, raw: bool) -> None:
    view = View(Still(printer), raw)
    for event in events:
        view(event)
        more = MORE.get(type(event))
        _print(printer, more(event, raw) if more else ())


def _print(printer: Printer, blocks: Iterable[Block]) -> None:
    for label, text in blocks:
        printer.block(label, text)


def _head(run: RunView) -> Iterator[Block]:
    start = run.start
    began = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(run.started_at))
    yield "trace", f"{run.name}, run {start.run_id}, {began}"
    where = [f"{name} {value}" for name, value in start.endpoint.items() if value is not None and name != "model"]
    yield "model", ", ".join([*(run.models or ("(unnamed)",)), *where])
    yield "prompt", f"{start.prompt}, language {start.language}"
    yield "limits", ", ".join(f"{name} {value}" for name, value in start.limits.items() if value is not None)
    tools = (f"{tool.get('name')}{'' if tool.get('read_only') else ' (side effects)'}" for tool in start.tools)
    yield "tools", ", ".join(tools) or "none"


def _foot(run: RunView) -> Iterator[Block]:
    for effect in run.side_effects:
        yield _effect(effect)
    if run.end is None:
        yield "stopped", run.sentence


def _effect(effect: SideEffect) -> Block:
    return "effect", f"step {effect.step}: {effect.tool}({call_arguments(effect.arguments)}): {EFFECTS[effect.outcome]}"


def _of_decision(event: DecisionMade, raw: bool) -> Sequence[Block]:
    """The live view shows repairs when it is verbose, and an answer never: it is the result of the command there."""
    repairs = ", ".join(f"{name} at {offset}" for name, offset in event.repairs)
    answer = [("answer", event.final_answer)] if event.final_answer is not None else []
    return [("repairs", repairs), *answer] if repairs and not raw else answer


def _of_reprompt(event: ReplyUnreadable, raw: bool) -> Sequence[Block]:
    return [("told", event.reprompt)] if event.reprompt else []


def _of_start(event: ToolStarted, raw: bool) -> Sequence[Block]:
    return [("coerced", "; ".join(event.coercions))] if event.coercions else []


def _of_end(event: ToolEnded, raw: bool) -> Sequence[Block]:
    return [("crash", event.crash.rstrip())] if event.crash else []


def _of_summary(event: Summarised, raw: bool) -> Sequence[Block]:
    usage = event.usage
    return [("summary", f"{event.text}\n({usage.input_tokens} prompt + {usage.output_tokens} reply tokens)")]


def _of_resume(event: RunResumed, raw: bool) -> Sequence[Block]:
    return [("note", f"the run was resumed here, after {event.seconds:.1f} s")]


MORE: Mapping[type[Event], Callable[[Any, bool], Sequence[Block]]] = {
    DecisionMade: _of_decision, ReplyUnreadable: _of_reprompt, ToolStarted: _of_start, ToolEnded: _of_end, RunResumed: _of_resume,
    Summarised: _of_summary,
}  # fmt: skip
