"""Frozen values that the layers hand to each other; DESIGN's vocabulary, nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from react_agent.errors import RunError
from react_agent.types_frozen import frozen

Role = Literal["system", "user", "assistant"]
FinishReason = Literal["stop", "length", "content_filter", "unknown"]
Status = Literal["completed", "failed", "budget_exhausted", "cancelled"]
StopReason = Literal[
    "answer",
    "max_steps", "token_budget", "time_budget", "cost_budget",
    "parse_failures", "repeated_action", "refused", "endpoint_error", "context_overflow", "tool_crash", "ungrounded_answer",
    "trace_error",
    "cancelled",
]  # fmt: skip
STATUS_OF: Mapping[StopReason, Status] = {
    "answer": "completed",
    "max_steps": "budget_exhausted", "token_budget": "budget_exhausted", "time_budget": "budget_exhausted",
    "cost_budget": "budget_exhausted",
    "parse_failures": "failed", "repeated_action": "failed", "refused": "failed", "endpoint_error": "failed",
    "context_overflow": "failed", "tool_crash": "failed", "ungrounded_answer": "failed", "trace_error": "failed",
    "cancelled": "cancelled",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call or of many. cached: how many of input_tokens came from the server's prefix cache, None when it
    does not say. estimated: at least one of the numbers is ours, not the server's."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    estimated: bool = False

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            _sum_known(self.cached_tokens, other.cached_tokens),
            _sum_known(self.reasoning_tokens, other.reasoning_tokens),
            self.estimated or other.estimated,
        )


def _sum_known(a: int | None, b: int | None) -> int | None:
    return None if a is None and b is None else (a or 0) + (b or 0)


@frozen
class Completion:
    """The raw reply. text is untouched; reasoning is what the API keeps apart from it. closed_early: we closed the stream
    because the decision was whole. notes: what the endpoint had to do (a dropped parameter, a retry, an alarm), one line each."""

    text: str
    finish_reason: FinishReason = "unknown"
    usage: Usage | None = None
    reasoning: str = ""
    refusal: str = ""
    closed_early: bool = False
    model: str = ""
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


@frozen
class ToolCall:
    name: str
    arguments: dict[str, Any]


@frozen
class Repair:
    """A named syntax fix that the parser made, and the character offset in the reply where."""

    name: str
    offset: int


@frozen
class Decision:
    """A parsed reply: exactly one of call and final_answer is not None. An answer that was a number, list or object is its JSON text."""

    thought: str = ""
    call: ToolCall | None = None
    final_answer: str | None = None
    repairs: tuple[Repair, ...] = ()


@dataclass(frozen=True, slots=True)
class Observation:
    """What the model is told about a tool call. content: JSON text. error: the slug of a failure, else None."""

    content: str
    error: str | None = None
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One completion and what became of it. A reply that could not be read has parse_error ("reason: hint") and no decision."""

    number: int
    completion: Completion
    decision: Decision | None = None
    observation: Observation | None = None
    parse_error: str = ""
    note: str = ""

    @property
    def answer(self) -> str | None:
        return self.decision.final_answer if self.decision else None


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended. seconds: wall clock. error: one sentence for a person when there is no answer. forced: the answer was
    asked for on the last affordable step. side_effects: calls that changed something and have already happened. messages: the
    dialogue from the question on, as history for a next question."""

    status: Status
    stop_reason: StopReason
    answer: str | None
    steps: tuple[Step, ...]
    usage: Usage
    seconds: float
    run_id: str = ""
    error: str = ""
    forced: bool = False
    cost: float | None = None
    trace_path: str | None = None
    side_effects: tuple[ToolCall, ...] = ()
    messages: tuple[Message, ...] = ()

    def raise_for_status(self) -> "RunResult":
        """Return self when the run completed, else raise RunError."""
        if self.status != "completed":
            raise RunError(self.stop_reason, self.error or f"the run ended without an answer: {self.stop_reason}")
        return self
