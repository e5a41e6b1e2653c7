"""Bytes of a streamed reply -> its events: server-sent events (SSE) and JSON lines (NDJSON), whatever the chunk boundaries.

Written for what servers really send: see the cases of tests/test_http_stream.py. Lines end at LF, CRLF or a lone CR, never
at the other separators of Unicode, which JSON strings may hold. Each line is decoded as UTF-8 whatever the headers say.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event: its name (empty when it has none) and its data lines joined by a line feed."""

    name: str
    data: str


def lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a body without their ends; a last line without an end is a line too. Linear in the bytes, however cut."""
    kept: list[bytes] = []
    after_return = False
    for chunk in chunks:
        if after_return and chunk:
            chunk, after_return = chunk.removeprefix(b"\n"), False
        *complete, rest = _split(chunk)
        for line in complete:
            kept.append(line)
            yield b"".join(kept)
            kept.clear()
        after_return = after_return or chunk.endswith(b"\r")
        if rest:
            kept.append(rest)
    if kept:
        yield b"".join(kept)


def _split(chunk: bytes) -> list[bytes]:
    if b"\r" in chunk:
        chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return chunk.split(b"\n")


def sse_events(chunks: Iterable[bytes]) -> Iterator[Event]:
    """The events of an SSE body. Comments and events without data are dropped; the end of the body ends the last event too."""
    name, data = "", list[str]()
    first = True
    for line in lines(chunks):
        if first:
            line, first = line.removeprefix(BOM), False
        if not line:
            if data:
                yield Event(name, "\n".join(data))
            name, data = "", list[str]()
            continue
        field, _, value = line.partition(b":")
        text = value.removeprefix(b" ").decode("utf-8", "replace")
        if field == b"data":
            if len(data) == 1 and _is_whole(data[0]):  # a server that ends its events with one line feed, not two
                yield Event(name, data.pop())
            data.append(text)
        elif field == b"event":
            name = text
    if data:
        yield Event(name, "\n".join(data))


def _is_whole(data: str) -> bool:
    if data.strip() == "[DONE]":
        return True
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def ndjson_lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """The non-empty lines of an NDJSON body, decoded."""
    for line in lines(chunks):
        text = line.removeprefix(BOM).decode("utf-8", "replace").strip()
        if text:
            yield text
