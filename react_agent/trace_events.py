"""What happens in a run, as typed values: the lines of a trace, and what a listener is called with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from react_agent.types import Message, Usage

VERSION = 1


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events. time: seconds since the epoch, set when the event is emitted."""

    name: ClassVar[str] = ""
    recorded: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class RunStarted(Event):
    """The first line. tools: name, schema and flags of each; endpoint: what describe() tells; prompt: name and digest of the prompt
    set; context_window: tokens, None when unknown; max_output_tokens: of a reply, at the beginning; tainted: text from outside is in the
    history."""

    name: ClassVar[str] = "run_start"
    run_id: str
    question: str
    version: int = VERSION
    language: str = "en"
    prompt: str = ""
    instructions: str = ""
    endpoint: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, int | float | None] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    tools: tuple[Mapping[str, Any], ...] = ()
    history: tuple[Message, ...] = ()
    context_window: int | None = None
    max_output_tokens: int = 0
    tainted: bool = False


@dataclass(frozen=True, slots=True)
class RunResumed(Event):
    """The run goes on after a crash or a failure. dropped: so many events before this line do not count any more (the ending, and the
    failed call before it); seconds: wall clock used before; replayed: so many events before it do count. A listener is told it first,
    then the replayed events again, then what is new."""

    name: ClassVar[str] = "resume"
    dropped: int
    seconds: float
    replayed: int = 0


@dataclass(frozen=True, slots=True)
class PromptCounted(Event):
    """The server counted the next prompt, since it came near a limit."""

    name: ClassVar[str] = "count"
    step: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Summarised(Event):
    """The model wrote a summary of old observations, which take less room now; its tokens count."""

    name: ClassVar[str] = "summary"
    step: int
    text: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class RequestSent(Event):
    """What is sent: the first `keep` messages of the previous request, then `add`. forced: the model was told to answer now."""

    name: ClassVar[str] = "request"
    step: int
    keep: int
    add: tuple[Message, ...]
    max_output_tokens: int
    estimated_tokens: int
    forced: bool = False


@dataclass(frozen=True, slots=True)
class TextArrived(Event):
    """A piece of the reply while it streams; not written to the trace. answer: what it adds to the final answer's text; restart: the
    stream broke and the reply begins anew."""

    name: ClassVar[str] = "text"
    recorded: ClassVar[bool] = False
    step: int
    text: str
    reasoning: bool = False
    answer: str = ""
    restart: bool = False


@dataclass(frozen=True, slots=True)
class CompletionReceived(Event):
    """The reply, verbatim."""

    name: ClassVar[str] = "completion"
    step: int
    text: str
    finish_reason: str
    usage: Usage
    reasoning: str = ""
    refusal: str = ""
    closed_early: bool = False
    model: str = ""
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EndpointFailed(Event):
    """The endpoint gave no completion. limit, used: tokens of the model's window and of the prompt, when the server told them."""

    name: ClassVar[str] = "endpoint_error"
    step: int
    kind: str
    message: str
    hint: str = ""
    status: int | None = None
    limit: int | None = None
    used: int | None = None


@dataclass(frozen=True, slots=True)
class DecisionMade(Event):
    """The parsed reply: a call (tool and arguments) or a final answer. repairs: [name, offset] pairs."""

    name: ClassVar[str] = "decision"
    step: int
    thought: str
    tool: str | None = None
    arguments: Mapping[str, Any] | None = None
    final_answer: str | None = None
    repairs: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ReplyUnreadable(Event):
    """A reply that is not a decision, and what the model is told about it (empty when the run ends here)."""

    name: ClassVar[str] = "parse_error"
    step: int
    reason: str
    hint: str
    reprompt: str = ""


@dataclass(frozen=True, slots=True)
class ToolStarted(Event):
    """A tool is about to run. arguments: after validation and the coercions listed."""

    name: ClassVar[str] = "tool_start"
    step: int
    tool: str
    arguments: Mapping[str, Any]
    read_only: bool
    coercions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolEnded(Event):
    """What the model is told. crash: the traceback when the tool raised something that is not a ToolError."""

    name: ClassVar[str] = "tool_end"
    step: int
    tool: str
    content: str
    error: str | None = None
    truncated: bool = False
    seconds: float = 0.0
    crash: str = ""


@dataclass(frozen=True, slots=True)
class Noted(Event):
    """A guard or an alarm spoke. slug: from a closed list (docs/trace.md); message: for a person."""

    name: ClassVar[str] = "note"
    step: int
    slug: str
    message: str


@dataclass(frozen=True, slots=True)
class RunEnded(Event):
    """The last line."""

    name: ClassVar[str] = "run_end"
    status: str
    stop_reason: str
    answer: str | None
    steps: int
    usage: Usage
    seconds: float
    error: str = ""
    forced: bool = False
    cost: float | None = None


EVENTS: Mapping[str, type[Event]] = {
    kind.name: kind
    for kind in (
        RunStarted, RunResumed, PromptCounted, Summarised, RequestSent, TextArrived, CompletionReceived, EndpointFailed, DecisionMade,
        ReplyUnreadable, ToolStarted, ToolEnded, Noted, RunEnded,
    )
}  # fmt: skip
