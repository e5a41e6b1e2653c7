"""The exception tree, split by who can act.

ReactAgentError
├── ConfigError        the programmer: a setting, a tool or an argument is wired wrongly; raised before a run starts
├── ParseError         the model: its reply is not a decision; becomes a re-prompt
├── ToolError          the model: a tool says what was wrong and what to do next; becomes an observation
├── EndpointError      the operator: key, network, server; ends the run after the retries
├── TraceError         the operator: a trace cannot be written or read
└── RunError           the caller: raised by RunResult.raise_for_status() when a run ended without an answer
"""

from typing import Literal, get_args

ParseReason = Literal[
    "empty", "refused", "only_thinking", "truncated", "no_object", "not_a_decision", "template_echo", "bad_syntax",
    "unescaped_quote", "duplicate_key", "conflict", "unknown_tool", "bad_input", "no_answer", "bad_number", "too_deep", "too_long",
]  # fmt: skip
PARSE_REASONS: tuple[ParseReason, ...] = get_args(ParseReason)

EndpointErrorKind = Literal[
    "auth",             # the key is missing, wrong or not allowed
    "quota",            # paid for nothing more; waiting does not help
    "not_found",        # wrong URL or unknown model
    "bad_request",      # the server refuses what we send, and nothing is left to drop
    "context_overflow", # the prompt does not fit the model's window
    "content_filter",   # the prompt was refused by a filter
    "rate_limited",     # told to wait longer than the run may take
    "timeout",          # the deadline of the call or the run
    "connection",       # no connection, reset, DNS, TLS
    "server_error",     # 5xx until the retries were used up
    "bad_response",     # not what the API promises: HTML, no text, a broken stream
    "cancelled",        # the caller asked to stop
]  # fmt: skip

_EXCERPT = 40


class ReactAgentError(Exception):
    """Base of every error that this package raises on purpose."""


class ConfigError(ReactAgentError):
    """A setting, tool or argument is wired wrongly; the message says what would be right."""


class ParseError(ReactAgentError):
    """A reply that is not a decision.

    reason: one of PARSE_REASONS. hint: what was wrong and what to write instead, for the model. text: the reply; offset: of the fault.
    excerpt: at most 40 characters of the reply, at the fault. line, column: where, from 1.
    """

    def __init__(self, reason: ParseReason, hint: str = "", *, text: str = "", offset: int = 0) -> None:
        super().__init__(f"{reason}: {hint}" if hint else reason)
        self.reason: ParseReason = reason
        self.hint = hint
        self.text = text
        self.offset = offset

    @property
    def excerpt(self) -> str:
        at_end = self.offset == len(self.text)
        start = max(0, self.offset - _EXCERPT) if at_end else self.offset
        return " ".join(self.text[start : start + _EXCERPT].split())

    @property
    def line(self) -> int:
        return self.text.count("\n", 0, self.offset) + 1

    @property
    def column(self) -> int:
        return self.offset - self.text.rfind("\n", 0, self.offset)


class ToolError(ReactAgentError):
    """A tool's way to tell the model what went wrong: a type slug, one line of message, and the next step as hint."""

    def __init__(self, type: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.type = type
        self.message = message
        self.hint = hint


class EndpointError(ReactAgentError):
    """An endpoint gave no completion.

    kind: an EndpointErrorKind. hint: what the operator can do. status: the HTTP status, if there was one.
    limit, used: tokens, for context_overflow, when the server told. partial: text that had arrived before the failure.
    """

    def __init__(
        self, kind: EndpointErrorKind, message: str, hint: str = "", *,
        status: int | None = None, limit: int | None = None, used: int | None = None, partial: str = "",
    ) -> None:  # fmt: skip
        super().__init__(message)
        self.kind: EndpointErrorKind = kind
        self.message = message
        self.hint = hint
        self.status = status
        self.limit = limit
        self.used = used
        self.partial = partial


class TraceError(ReactAgentError):
    """A trace cannot be written or read; the message says which file and why."""


class RunError(ReactAgentError):
    """A run ended without an answer; carries the stop reason."""

    def __init__(self, stop_reason: str, message: str) -> None:
        super().__init__(message)
        self.stop_reason = stop_reason
