"""Go along a recorded run again: to its end (resume), or beside the code of today (replay)."""

import logging
import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from react_agent.agent import Agent
from react_agent.agent_journal import told
from react_agent.agent_playback import Playback, completion_of
from react_agent.agent_setup import DESCRIBED, OPTIONS
from react_agent.endpoints.scripted import ScriptedEndpoint
from react_agent.errors import ConfigError, EndpointError, TraceError
from react_agent.limits import Limits
from react_agent.registry import Tool, ToolRegistry
from react_agent.trace import Record, Trace, read_trace
from react_agent.trace_events import CompletionReceived, EndpointFailed, Event, RunEnded, RunResumed, RunStarted
from react_agent.types import RunResult

_LOG = logging.getLogger("react_agent")
RESUMABLE = frozenset({"endpoint_error", "cancelled", "trace_error"})  # the ways to end from which a run can go on


@dataclass(frozen=True, slots=True)
class Recorded:
    """A trace, opened up: its events as they count (what a resumption dropped is left out), and the wall clock seconds used."""

    path: Path
    start: RunStarted
    events: tuple[Event, ...]
    seconds: float
    limits: Limits

    @property
    def end(self) -> RunEnded | None:
        last = self.events[-1]
        return last if isinstance(last, RunEnded) else None


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of a replay. difference: the first one in behaviour, empty when there is none; prompt_difference: the first prompt
    that is not as it was."""

    result: RunResult
    difference: str
    prompt_difference: str

    @property
    def same(self) -> bool:
        return not self.difference and not self.prompt_difference


def recorded(path: str | os.PathLike[str]) -> Recorded:
    """Open a trace; raises TraceError when it is none or has no beginning."""
    records = read_trace(path)
    if not records or not isinstance(records[0].event, RunStarted):
        raise TraceError(f"{path} does not begin with run_start: nothing can be replayed or resumed from it")
    events: list[Event] = []
    for record in records:
        if isinstance(record.event, RunResumed):
            del events[max(1, len(events) - record.event.dropped) :]
        else:
            events.append(record.event)
    return Recorded(Path(path), records[0].event, tuple(events), _seconds(records), _limits(path, records[0].event))


def _limits(path: str | os.PathLike[str], start: RunStarted) -> Limits:
    """The limits of the run; TraceError for what no agent could run with: a trace that was edited by hand, or by another program."""
    for name, value in start.options.items():
        if name not in OPTIONS or not isinstance(value, bool):
            raise TraceError(f"{path}: {name!r} = {value!r:.40} is no option of an agent; there are, true or false: {', '.join(OPTIONS)}")
    try:
        recorded_tools(start)
        return Limits(**dict[str, Any](start.limits))  # Limits itself refuses what is none
    except (TypeError, AttributeError, ConfigError) as error:
        raise TraceError(f"{path}: run_start cannot be used: {error}") from None


def _seconds(records: list[Record]) -> float:
    """Wall clock of the run, without the time between a crash and the resumption."""
    since, before = records[0].time, 0.0
    for record in records:
        if isinstance(record.event, RunResumed):
            since, before = record.time, record.event.seconds
    return max(0.0, before + records[-1].time - since)


def resumable(path: str | os.PathLike[str]) -> Recorded:
    """Open a trace to go on with; raises TraceError when it is none, or when its run has ended for good."""
    run = recorded(path)
    if run.end is not None and run.end.stop_reason not in RESUMABLE:
        raise TraceError(f"{path}: this run has ended ({run.end.stop_reason}); there is nothing to go on with")
    return run


def resume(path: str | os.PathLike[str], make_agent: Callable[[Recorded], Agent], *, cancel: threading.Event | None = None) -> RunResult:
    """Go on with a run that was interrupted, from its last whole event.

    make_agent: an agent for the settings in the trace (its own trace is not used; the events go on in the same file). A read-only
    call without an end is run again; of one with side effects the model is told that its outcome is unknown. Limits that were used
    stay used. Raises TraceError when the run has ended for good or does not fit the agent.
    """
    run = resumable(path)
    events = list(run.events)
    while isinstance(events[-1], RunEnded | EndpointFailed):
        events.pop()
    agent = make_agent(run)
    trace = Trace(path, append=True, mask=agent.mask, fsync=agent.fsync)
    resumed = RunResumed(len(run.events) - len(events), run.seconds, len(events))
    try:
        trace.write(resumed)
        if agent.setup.on_event is not None and (crash := told(agent.setup.on_event, resumed)):
            _LOG.error("the listener (on_event) failed at resume; the run goes on:\n%s", crash)
        return agent.resume(run.start, trace, Playback(events), seconds_before=run.seconds, cancel=cancel)
    finally:
        trace.close()


def replay(path: str | os.PathLike[str], tools: ToolRegistry | Iterable[Tool] | None = None, **options: Any) -> Replay:
    """Run the loop of today along the recorded replies, with no model, and report the first difference.

    tools: None replays the recorded observations; else these tools run for real and what they say is compared. options: further
    settings of Agent, in place of the recorded ones. Raises TraceError for a trace that cannot be read, ConfigError for settings.
    """
    run = recorded(path)
    playback = Playback(_until_the_end(run.events), strict=False, live_tools=tools is not None)
    start = run.start
    settings: dict[str, Any] = {"limits": run.limits, "language": start.language, "instructions": start.instructions, **start.options}
    endpoint = ScriptedEndpoint(_out_of_replies, context_window=start.context_window, max_output_tokens=max(1, start.max_output_tokens))
    agent = Agent(endpoint, recorded_tools(start) if tools is None else tools, **{**settings, **options})
    result = agent.resume(start, None, playback)
    return Replay(result, playback.difference, playback.prompt_difference)


def _until_the_end(events: tuple[Event, ...]) -> tuple[Event, ...]:
    """The events that a replay can reproduce: a run that was cancelled, or cut, ends with its last reply."""
    end = events[-1] if isinstance(events[-1], RunEnded) else None
    if end is None or end.stop_reason in ("cancelled", "trace_error"):
        last = max((i for i, event in enumerate(events) if isinstance(event, CompletionReceived | EndpointFailed)), default=-1)
        return events[: last + 1]
    return events


def _out_of_replies(*_: Any) -> EndpointError:
    return EndpointError("cancelled", "the trace has no further reply")


def recorded_tools(start: RunStarted) -> ToolRegistry:
    """Stand-ins for the tools of a recorded run: their names, schemas and flags; what they say comes from the trace."""
    return ToolRegistry(Tool(function=_never_called, **{name: tool[name] for name in DESCRIBED if name in tool}) for tool in start.tools)


def _never_called(**_: Any) -> None:
    raise ConfigError("this stand-in has no function: in a replay the observations come from the trace")


def replies(run: Recorded) -> list[Any]:
    """The completions of a run, in order: a script for a ScriptedEndpoint."""
    return [completion_of(event) for event in run.events if isinstance(event, CompletionReceived)]
