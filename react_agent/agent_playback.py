"""Runs the loop along a recorded trace: for resume (then go on live) and for replay (then compare)."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from react_agent.errors import EndpointError, TraceError
from react_agent.trace_events import CompletionReceived, EndpointFailed, Event, RequestSent, RunEnded, RunStarted, ToolEnded, ToolStarted
from react_agent.types import Completion, Observation

# Fields that may differ between a recorded event and the same event now without any difference in behaviour: measured ones, and words
# for a person, in which the home folder is masked (what the model is told of them is compared in other fields).
_FREE = frozenset({"seconds", "estimated_tokens", "usage", "cost", "error", "message", "hint", "coercions"})


@dataclass(slots=True)
class Playback:
    """The recorded events still to come.

    strict: a difference raises TraceError; else the first is kept in `difference` and the playback ends there. live_tools: tools
    run for real, and what they say is compared. prompt_difference: the first request that is not as it was.
    """

    events: Iterable[Event]
    strict: bool = True
    live_tools: bool = False
    difference: str = ""
    prompt_difference: str = ""
    _interrupted: bool = False
    _queue: deque[Event] = field(init=False)

    def __post_init__(self) -> None:
        self._queue = deque(self.events)

    @property
    def active(self) -> bool:
        return bool(self._queue)

    def next_is(self, kind: type[Event]) -> Any:
        """The next recorded event if it is of this kind, else None."""
        return self._queue[0] if self._queue and isinstance(self._queue[0], kind) else None

    def passed(self, event: Event) -> bool:
        """The loop emits an event: True when it was recorded already and need not be written again."""
        if not self._queue:
            return False
        recorded = self._queue.popleft()
        difference = first_difference(recorded, event)
        if difference and isinstance(recorded, RequestSent) and isinstance(event, RequestSent):
            self.prompt_difference = self.prompt_difference or difference
        elif difference:
            self._differs(difference)
        self._interrupted = isinstance(recorded, ToolStarted) and not self._queue
        return True

    def _differs(self, difference: str) -> None:
        if self.strict:
            raise TraceError(f"the trace does not fit this agent: {difference}")
        self.difference = self.difference or difference
        self._queue.clear()

    def take_interrupted(self) -> bool:
        """True once, when the recorded run was killed while the tool call at hand was running."""
        interrupted, self._interrupted = self._interrupted, False
        return interrupted

    def completion(self) -> Completion | EndpointError | None:
        """The recorded outcome of the call that the loop is about to make."""
        if (done := self.next_is(CompletionReceived)) is not None:
            return completion_of(done)
        if (failed := self.next_is(EndpointFailed)) is not None:
            return EndpointError(failed.kind, failed.message, failed.hint, status=failed.status, limit=failed.limit, used=failed.used)
        return None

    def observation(self) -> tuple[Observation, str] | None:
        """The recorded observation and crash text of the tool call that the loop is about to run."""
        done = None if self.live_tools else self.next_is(ToolEnded)
        return None if done is None else (Observation(done.content, done.error, done.truncated), done.crash)

    def forced(self, computed: bool) -> bool:
        """Whether the recorded request was forced (it may have hung on the clock); computed when there is none."""
        request = self.next_is(RequestSent)
        return computed if request is None else request.forced


    def out_of_time(self, computed: bool) -> bool:
        """Whether the recorded run found its time used up here; computed when there is no record."""
        ended = self.next_is(RunEnded)
        return computed if not self.active else ended is not None and ended.stop_reason == "time_budget"


def completion_of(event: CompletionReceived) -> Completion:
    """The completion as it was recorded."""
    return Completion(**{item.name: getattr(event, item.name) for item in fields(event) if item.name != "step"})


def first_difference(recorded: Event, now: Event) -> str:
    """In one sentence where two events differ, empty when they do not."""
    step = getattr(recorded, "step", None)
    where = f"step {step}: " if step is not None else ""
    if type(recorded) is not type(now):
        return f"{where}the trace has {recorded.name} ({_short(recorded)}), now it is {now.name} ({_short(now)})"
    if isinstance(recorded, RunStarted | CompletionReceived):
        return ""
    for item in fields(recorded):
        old, new = getattr(recorded, item.name), getattr(now, item.name)
        if item.name not in _FREE and _same(old) != _same(new):
            return f"{where}{recorded.name}.{item.name} was {_short(old)}, now it is {_short(new)}"
    return ""


def _same(value: Any) -> Any:
    return [_same(item) for item in value] if isinstance(value, list | tuple) else value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 160 else text[:157] + "..."
