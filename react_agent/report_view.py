"""What report, show and stats draw: one frozen value for a run, one for each of its steps."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Literal

from react_agent.agent_guards import INPUT_ERRORS
from react_agent.errors import ConfigError
from react_agent.limits import Limits
from react_agent.trace_events import (
    CompletionReceived,
    DecisionMade,
    EndpointFailed,
    Noted,
    PromptCounted,
    ReplyUnreadable,
    RequestSent,
    RunEnded,
    RunStarted,
    Summarised,
    ToolEnded,
    ToolStarted,
)
from react_agent.types import Message, Usage

Outcome = Literal[
    "answer",           # the answer of the run
    "answer_sent_back", # a guard sent the answer back
    "answer_refused",   # the answer was not taken, and the run ended
    "call",             # a tool ran
    "call_failed",      # a tool said no, crashed, or was not allowed to run
    "call_repeated",    # answered from memory: the same call had been made before
    "call_sent_back",   # a guard sent the call back: nothing ran
    "call_not_run",     # the run ended at this call
    "call_cut",         # the call began and has no end: its outcome is unknown
    "unreadable",       # the reply is no decision
    "endpoint_error",   # no reply
    "unfinished",       # the trace ends here
]  # fmt: skip
Effect = Literal["done", "failed", "unknown"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request of a step. failure: why it got no reply; seconds: how long that took."""

    request: RequestSent
    failure: EndpointFailed | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class SideEffect:
    """A call that may have changed something. outcome "unknown": the trace has no end of it. error: a slug, empty when done."""

    step: int
    tool: str
    arguments: Mapping[str, Any]
    outcome: Effect
    error: str = ""


@dataclass(frozen=True, slots=True)
class StepView:
    """One step; what did not happen in it is None. at: seconds since the epoch of its first event. resumed: the run was resumed in it."""

    number: int
    at: float
    outcome: Outcome = "unfinished"
    attempts: tuple[Attempt, ...] = ()
    completion: CompletionReceived | None = None
    decision: DecisionMade | None = None
    unreadable: ReplyUnreadable | None = None
    started: ToolStarted | None = None
    ended: ToolEnded | None = None
    counted: PromptCounted | None = None
    summaries: tuple[Summarised, ...] = ()
    notes: tuple[Noted, ...] = ()
    resumed: bool = False

    @property
    def model_seconds(self) -> float:
        return sum(attempt.seconds for attempt in self.attempts) + (self.completion.seconds if self.completion else 0.0)

    @property
    def tool_seconds(self) -> float:
        return self.ended.seconds if self.ended else 0.0

    @property
    def forced(self) -> bool:
        """The model was told that this reply must be the answer."""
        return any(attempt.request.forced for attempt in self.attempts)

    @property
    def side_effect(self) -> SideEffect | None:
        """What the step may have changed. A tool that refused its input changed nothing (the rule of RunResult.side_effects)."""
        if self.started is None or self.started.read_only:
            return None
        error = self.ended.error or "" if self.ended else ""
        if error in INPUT_ERRORS:
            return None
        outcome: Effect = "unknown" if self.ended is None or error == "outcome_unknown" else "failed" if error else "done"
        return SideEffect(self.number, self.started.tool, self.started.arguments, outcome, error)


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as its trace tells it. name: the trace's file name. started_at: seconds since the epoch. end: None when it was cut.
    resumes: how often it was resumed."""

    name: str
    start: RunStarted
    started_at: float
    steps: tuple[StepView, ...]
    end: RunEnded | None
    resumes: int = 0

    @property
    def status(self) -> str:
        """The run's status, "interrupted" when the trace has no end."""
        return self.end.status if self.end else "interrupted"

    @property
    def usage(self) -> Usage:
        if self.end:
            return self.end.usage
        return reduce(add, (event.usage for step in self.steps for event in (*step.summaries, step.completion) if event), Usage())

    @property
    def seconds(self) -> float:
        """Wall clock; of an interrupted run, what its model and tools took."""
        return self.end.seconds if self.end else sum(step.model_seconds + step.tool_seconds for step in self.steps)

    @property
    def cost(self) -> float | None:
        """None when the prices are not known."""
        if self.end:
            return self.end.cost
        limits = self.start.limits
        try:
            return Limits(input_price=limits.get("input_price"), output_price=limits.get("output_price")).cost(self.usage)
        except ConfigError:  # prices that are none, written by another program
            return None

    @property
    def models(self) -> tuple[str, ...]:
        """What the settings and the replies call the model."""
        named = (str(self.start.endpoint.get("model") or ""), *(step.completion.model for step in self.steps if step.completion))
        return tuple(dict.fromkeys(name for name in named if name))

    @property
    def side_effects(self) -> tuple[SideEffect, ...]:
        return tuple(effect for step in self.steps if (effect := step.side_effect) is not None)

    @property
    def sentence(self) -> str:
        """How the run ended, for a person."""
        if self.end is None:
            at = f"at step {self.steps[-1].number}" if self.steps else "before its first step"
            command = f"react-agent resume {shlex.quote(self.name)}"
            return f"The run did not end: it was interrupted {at} (or is still going on); `{command}` goes on."
        if self.end.stop_reason == "answer":
            steps = "1 step" if self.end.steps == 1 else f"{self.end.steps:,} steps"
            return f"Answered after {steps}" + (", on the last one allowed: the model was told to answer." if self.end.forced else ".")
        text = self.end.error or f"the run ended without an answer: {self.end.stop_reason}"
        return text[0].upper() + text[1:] + ("" if text[-1] in ".!?。！？" else ".")

    def requests(self) -> Iterator[tuple[int, RequestSent, tuple[Message, ...]]]:
        """Every request in order: the number of its step, its event, and all its messages, put together."""
        messages: tuple[Message, ...] = ()
        for step in self.steps:
            for attempt in step.attempts:
                messages = (*messages[: attempt.request.keep], *attempt.request.add)
                yield step.number, attempt.request, messages
