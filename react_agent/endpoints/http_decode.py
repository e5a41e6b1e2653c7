"""What the parts of a reply mean, whatever server wrote them: compression, finish reasons, text in parts, token counts."""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from react_agent.errors import EndpointError
from react_agent.types import FinishReason, Usage

_WINDOW = {"gzip": 31, "x-gzip": 31, "deflate": 15}
_STEP = 1 << 20
MOST_TOKENS = 10**9  # a count above this is no count

Ending = FinishReason | Literal["failed"]
_ENDINGS: dict[Ending, str] = {
    "length": "length max_tokens limit model_length max_output_tokens continuation model_context_window_exceeded pause_turn incomplete",
    "failed": "error timeout abort network_error insufficient_system_resource failed cancelled malformed_model_output malformed_response",
    "content_filter": "content_filter refusal safety recitation blocklist prohibited_content spii image_safety guardrail_intervened"
    " content_filtered sensitive error_toxic",
    "stop": "stop eos eos_token end_turn stop_sequence word complete completed done end finish tool_calls tool_call tool_use function_call"
    " load unload",
}
_ENDING_OF = {word: ending for ending, words in _ENDINGS.items() for word in words.split()}


def ending(finish: str | None) -> Ending:
    """Why the model stopped, from the server's own word. A word that nobody knows is "unknown", never "stop"."""
    return _ENDING_OF.get((finish or "").strip().casefold(), "unknown")


def inflate(chunks: Iterable[bytes], encoding: str, max_bytes: int) -> Iterator[bytes]:
    """The decoded pieces of a body, never more than max_bytes of them, whatever they unpack to."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        yield from _capped(chunks, max_bytes)
    elif encoding in _WINDOW:
        yield from _capped(_unpacked(chunks, _WINDOW[encoding]), max_bytes)
    else:
        raise EndpointError("bad_response", f"the reply is compressed as {encoding[:40]!r} although no compression was asked for")


def _unpacked(chunks: Iterable[bytes], window: int) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(window)
    try:
        for chunk in chunks:
            while chunk:
                piece = unpacker.decompress(chunk, _STEP)
                if piece:
                    yield piece
                chunk = unpacker.unconsumed_tail
    except zlib.error as error:
        raise EndpointError("bad_response", f"the compressed reply is broken: {error}") from None


def _capped(chunks: Iterable[bytes], max_bytes: int) -> Iterator[bytes]:
    total = 0
    for chunk in chunks:
        total += len(chunk)
        if total > max_bytes:
            raise too_large(max_bytes)
        yield chunk


def too_large(max_bytes: int) -> EndpointError:
    return EndpointError("bad_response", f"the reply is larger than {max_bytes} bytes", "is this URL really a model's?")


def content_text(content: Any) -> tuple[str, str]:
    """(text, reasoning) of a message's content: a string, a list of parts, an object with text, or nothing."""
    if isinstance(content, str):
        return content, ""
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return "", ""
    text, reasoning = [], []
    for part in content:
        if isinstance(part, str):
            text.append(part)
        elif isinstance(part, dict):
            if part.get("type") in ("thinking", "reasoning") or part.get("thought") is True:
                reasoning.append(content_text(part.get("thinking") or part.get("text"))[0])
            else:
                text.append(string(part.get("text")))
    return "".join(text), "".join(reasoning)


def string(value: Any) -> str:
    """A field that should be text; anything else is no text."""
    return value if isinstance(value, str) else ""


def size(value: Any) -> int | None:
    """A field that should be a number of tokens above 0; anything else is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def each(value: Any) -> list[dict[str, Any]]:
    """A field that should be a list of objects; what is no object is left out."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def fields(value: Any) -> dict[str, Any]:
    """A field that should be an object; anything else is an empty one."""
    return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class Counts:
    """Token counts as far as a server told them; None is not told, or not to be believed."""

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    reasoning: int | None = None

    def updated(self, newer: "Counts | None") -> "Counts":
        """These counts with what newer tells put in their place."""
        if newer is None:
            return self
        return Counts(
            _either(newer.prompt, self.prompt), _either(newer.completion, self.completion),
            _either(newer.cached, self.cached), _either(newer.reasoning, self.reasoning),
        )  # fmt: skip

    def settled(self, prompt_estimate: int, completion_estimate: int) -> Usage:
        """A usage: what is missing is estimated, and then marked."""
        prompt = self.prompt or None
        completion = self.completion if self.completion or completion_estimate == 0 else None
        return Usage(
            prompt_estimate if prompt is None else prompt, completion_estimate if completion is None else completion,
            self.cached, self.reasoning, estimated=prompt is None or completion is None,
        )  # fmt: skip


def counts(prompt: Any, completion: Any, total: Any = None, cached: Any = None, reasoning: Any = None) -> Counts:
    """The counts of a reply made sane: whole numbers, not negative, a total that covers its parts, no placeholders."""
    prompt, completion, total = _count(prompt), _count(completion), _count(total)
    if total is not None and (prompt or 0) + (completion or 0) > total:
        return Counts()
    if prompt is not None and prompt == completion and prompt % 100 == 0 and prompt > 0:
        return Counts()  # 100, 100, 200: what a server writes that does not count
    if total is not None and prompt is None and completion is not None:
        prompt = total - completion
    if total is not None and completion is None and prompt is not None:
        completion = total - prompt
    cached = _count(cached)
    return Counts(prompt, completion, cached if cached is None or prompt is None or cached <= prompt else None, _count(reasoning))


def _count(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS else None


def _either(first: int | None, second: int | None) -> int | None:
    return second if first is None else first
