"""Folds the events of a trace into a RunView."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from react_agent.errors import TraceError
from react_agent.report_view import Attempt, Outcome, RunView, StepView
from react_agent.trace import Record, read_trace
from react_agent.trace_events import (
    VERSION,
    CompletionReceived,
    DecisionMade,
    EndpointFailed,
    Event,
    Noted,
    PromptCounted,
    ReplyUnreadable,
    RequestSent,
    RunEnded,
    RunResumed,
    RunStarted,
    Summarised,
    ToolEnded,
    ToolStarted,
)

E = TypeVar("E", bound=Event)


def open_run(path: str | os.PathLike[str]) -> RunView:
    """Read a trace and fold it; raises TraceError when it cannot be read or is none."""
    return fold(read_trace(path), Path(path).name)


def fold(records: Iterable[Record], name: str = "trace") -> RunView:
    """The run that these records tell; raises TraceError when they do not begin as a trace does."""
    told = list(records)
    if not told:
        raise TraceError(f"{name} has no whole event: it is empty, or the run was cut at its first")
    start = told[0].event
    if not isinstance(start, RunStarted):
        raise TraceError(f"{name} begins with {start.name}, not with run_start: it is a part of a trace, or none")
    if start.version > VERSION:
        raise TraceError(f"{name} has format {start.version}, and this version reads formats up to {VERSION}: use a newer react-agent")
    counting = standing(told)
    last = counting[-1].event
    end = last if isinstance(last, RunEnded) else None
    steps = tuple(_step(number, group, end) for number, group in _by_step(counting))
    return RunView(name, start, told[0].time, steps, end, sum(isinstance(record.event, RunResumed) for record in told))


def standing(records: Iterable[Record]) -> list[Record]:
    """The records that count, resumptions among them: a resumption takes back the ending, and the failed call before it."""
    kept: list[Record] = []
    for record in records:
        event = record.event
        left = event.dropped if isinstance(event, RunResumed) else 0
        while left > 0 and len(kept) > 1:
            left -= not isinstance(kept.pop().event, RunResumed)
        kept.append(record)
    return kept


def _by_step(records: Iterable[Record]) -> Iterator[tuple[int, list[Record]]]:
    """The records of each step in order; a resumption belongs to the step that goes on after it."""
    groups: dict[int, list[Record]] = {}
    waiting: list[Record] = []
    for record in records:
        number = getattr(record.event, "step", None)
        if number is not None:
            groups.setdefault(number, []).extend([*waiting, record])
            waiting = []
        elif isinstance(record.event, RunResumed):
            waiting = [record]
    yield from sorted(groups.items())


def _step(number: int, records: Sequence[Record], end: RunEnded | None) -> StepView:
    step = StepView(
        number, records[0].time, attempts=_attempts(records), completion=_last(records, CompletionReceived),
        decision=_last(records, DecisionMade), unreadable=_last(records, ReplyUnreadable), started=_last(records, ToolStarted),
        ended=_last(records, ToolEnded), counted=_last(records, PromptCounted),
        summaries=tuple(record.event for record in records if isinstance(record.event, Summarised)),
        notes=tuple(record.event for record in records if isinstance(record.event, Noted)),
        resumed=_last(records, RunResumed) is not None,
    )  # fmt: skip
    return replace(step, outcome=_outcome(step, end))


def _last(records: Sequence[Record], kind: type[E]) -> E | None:
    return next((record.event for record in reversed(records) if isinstance(record.event, kind)), None)


def _attempts(records: Iterable[Record]) -> tuple[Attempt, ...]:
    attempts: list[Attempt] = []
    asked_at = 0.0
    for record in records:
        event = record.event
        if isinstance(event, RequestSent):
            attempts.append(Attempt(event))
            asked_at = record.time
        elif isinstance(event, EndpointFailed) and attempts:
            attempts[-1] = replace(attempts[-1], failure=event, seconds=round(max(0.0, record.time - asked_at), 4))
    return tuple(attempts)


def _outcome(step: StepView, end: RunEnded | None) -> Outcome:
    if step.unreadable is not None:
        return "unreadable"
    if step.decision is None:
        failed = step.completion is None and step.attempts and step.attempts[-1].failure
        return "endpoint_error" if failed else "unfinished"
    return _outcome_of_answer(step, end) if step.decision.tool is None else _outcome_of_call(step, end)


def _outcome_of_answer(step: StepView, end: RunEnded | None) -> Outcome:
    if any(note.slug == "answer_sent_back" for note in step.notes):
        return "answer_sent_back"
    return "answer" if end is None or end.stop_reason == "answer" else "answer_refused"


def _outcome_of_call(step: StepView, end: RunEnded | None) -> Outcome:
    if step.ended is not None:
        return "call" if step.ended.error is None else "call_failed"
    if step.started is not None:
        return "call_cut"
    if any(note.slug == "repeated_call" for note in step.notes):
        return "call_repeated"
    if any(note.slug == "call_sent_back" for note in step.notes):
        return "call_sent_back"
    return "call_not_run" if end is not None else "unfinished"
