"""An endpoint whose replies are given beforehand: the fake of the tests, and the engine of a replay."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from react_agent.endpoints.base import PLAIN, Request
from react_agent.errors import EndpointError
from react_agent.tokens import estimate_prompt, estimate_tokens
from react_agent.types import Completion, Message, Usage

Reply = str | Completion | Exception
Script = Sequence[Reply] | Callable[[Sequence[Message], Request], Reply]
PIECE = 16  # characters handed to on_text and closed at a time, as a stream would


class ScriptedEndpoint:
    """Gives the next reply of a script, or what a function makes of the messages; an exception in it is raised.

    requests: what each call was asked, in order. A reply without usage gets an estimate, marked so.
    """

    def __init__(self, script: Script, model: str = "scripted", context_window: int | None = None, max_output_tokens: int = 512) -> None:
        self.model = model
        self.context_window = context_window
        self.max_output_tokens = max_output_tokens
        self.requests: list[tuple[tuple[Message, ...], Request]] = []
        self._script = script

    def complete(self, messages: Sequence[Message], request: Request = PLAIN) -> Completion:
        if request.cancel is not None and request.cancel.is_set():
            raise EndpointError("cancelled", "the call was cancelled before it began")
        self.requests.append((tuple(messages), request))
        reply = self._next(messages, request)
        if isinstance(reply, Exception):
            raise reply
        completion = Completion(text=reply, finish_reason="stop", model=self.model) if isinstance(reply, str) else reply
        completion = _streamed(completion, request)
        if completion.usage is None:
            completion = replace(completion, usage=_estimated(messages, completion))
        return completion

    def count_tokens(self, messages: Sequence[Message]) -> int | None:
        return None

    def describe(self) -> dict[str, Any]:
        return {"endpoint": "scripted", "model": self.model, "context_window": self.context_window}

    def _next(self, messages: Sequence[Message], request: Request) -> Reply:
        if callable(self._script):
            return self._script(messages, request)
        given = len(self.requests) - 1
        if given >= len(self._script):
            raise EndpointError(
                "bad_response", f"the script has no more replies: it held {len(self._script)}, and this is call {given + 1}",
                "add a reply to the script, or lower max_steps",
            )  # fmt: skip
        return self._script[given]


def _streamed(completion: Completion, request: Request) -> Completion:
    """Hand the reply out in pieces; what comes after the piece that closed it was never read."""
    if request.on_reasoning is not None and completion.reasoning:
        request.on_reasoning(completion.reasoning)
    for start in range(0, len(completion.text), PIECE):
        piece = completion.text[start : start + PIECE]
        if request.on_text is not None:
            request.on_text(piece)
        if request.closed is not None and request.closed(piece):
            return replace(completion, text=completion.text[: start + PIECE], finish_reason="stop", closed_early=True)
    return completion


def _estimated(messages: Sequence[Message], completion: Completion) -> Usage:
    return Usage(estimate_prompt(messages), round(estimate_tokens(completion.text + completion.reasoning)), estimated=True)
