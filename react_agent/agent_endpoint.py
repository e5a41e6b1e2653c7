"""The endpoint as the loop sees it: one that keeps its promise, whatever the user's own does."""

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar, get_args

from react_agent.endpoints.base import Endpoint, Request
from react_agent.errors import ConfigError, EndpointError
from react_agent.registry_execution import attempt
from react_agent.types import Completion, FinishReason, Message, Usage

_LOG = logging.getLogger("react_agent")
_HINT = "this is a fault of the endpoint's own code; its traceback is in the log"
MOST_TOKENS = 10**12  # what is more is no count of tokens
T = TypeVar("T")
_REASONS = get_args(FinishReason)


class SafeEndpoint:
    """Passes calls on to an endpoint: complete raises EndpointError and nothing else, and its completion has the types that it must have.

    Only KeyboardInterrupt gets through. Raises ConfigError when max_output_tokens is no whole number from 1.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        if not hasattr(endpoint, "complete"):
            raise ConfigError(f"{endpoint!r:.80} is no endpoint; make one of it with open_endpoint(...)")
        if not _count(endpoint.max_output_tokens):
            raise ConfigError(f"the endpoint's max_output_tokens must be a whole number from 1, not {endpoint.max_output_tokens!r}")
        self.max_output_tokens = endpoint.max_output_tokens

    @property
    def context_window(self) -> int | None:
        """Tokens of prompt and reply together, None when the endpoint does not tell a number above 0."""
        return _count(self._told("context_window", lambda: self._endpoint.context_window)) or None

    def complete(self, messages: Sequence[Message], request: Request) -> Completion:
        def call() -> Completion | EndpointError:
            try:
                return self._endpoint.complete(messages, request)
            except EndpointError as error:
                return error

        outcome = attempt(call)
        if outcome.crash or outcome.error:
            _LOG.error("the endpoint failed inside:\n%s", outcome.crash or outcome.error)
            raise EndpointError("bad_response", f"the endpoint failed inside: {outcome.crash_summary or outcome.error}", _HINT)
        if isinstance(outcome.value, EndpointError):
            raise outcome.value
        return _checked(outcome.value)

    def count_tokens(self, messages: Sequence[Message]) -> int | None:
        return _count(self._told("count_tokens", lambda: self._endpoint.count_tokens(messages))) or None

    def describe(self) -> dict[str, Any]:
        """What the endpoint tells of itself, as JSON data."""
        told = self._told("describe", lambda: json.loads(json.dumps(self._endpoint.describe(), default=str, allow_nan=False)))
        return told if isinstance(told, dict) else {"endpoint": type(self._endpoint).__name__}

    def _told(self, what: str, ask: Callable[[], T]) -> T | None:
        outcome = attempt(ask)
        if outcome.crash or outcome.error:
            _LOG.error("the endpoint's %s failed and counts as unknown:\n%s", what, outcome.crash or outcome.error)
            return None
        value: T = outcome.value
        return value


def _checked(completion: Any) -> Completion:
    """The completion, as types.py describes it; raises EndpointError for what is none."""
    if not isinstance(completion, Completion):
        raise EndpointError("bad_response", f"the endpoint returned {type(completion).__name__} and no Completion", _HINT)
    for name in ("text", "reasoning", "refusal", "model"):
        value = getattr(completion, name)
        if not isinstance(value, str):
            raise EndpointError("bad_response", f"the endpoint's Completion.{name} is {type(value).__name__} and no text", _HINT)
    reason, notes = completion.finish_reason, completion.notes
    return replace(
        completion, usage=checked_usage(completion.usage), closed_early=completion.closed_early is True,
        finish_reason=reason if reason in _REASONS else "unknown",
        notes=tuple(map(str, notes)) if isinstance(notes, list | tuple) else (),
    )  # fmt: skip


def checked_usage(usage: Any) -> Usage | None:
    """The usage where its two sums can be counts; a negative one would give back what was used."""
    if not isinstance(usage, Usage):
        return None
    read, written = _count(usage.input_tokens), _count(usage.output_tokens)
    if read is None or written is None:
        return None
    return Usage(read, written, _count(usage.cached_tokens), _count(usage.reasoning_tokens), usage.estimated is True)


def _count(value: object) -> int | None:
    """The value where it can be a number of tokens."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS else None
