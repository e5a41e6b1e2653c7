"""The body of a good reply, however it is framed: one JSON object, server-sent events, JSON lines; or an error after all.

The first byte that means something tells the framing: servers answer a request for a stream with one object, and the other way
round, and their Content-Type is not to be relied on.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Literal, Protocol

from react_agent.endpoints.http_errors import ErrorClass, classify
from react_agent.endpoints.http_fault import is_error, json_objects, says_error
from react_agent.endpoints.http_reply import Delta, Reply
from react_agent.endpoints.http_stream import BOM, Event, ndjson_lines, sse_events
from react_agent.errors import EndpointError

Framing = Literal["sse", "ndjson"]
DeltaOf = Callable[[Mapping[str, Any], bool], Delta | None]
AFTER_FINISH_S = 5.0  # for the token counts, once the server has said why the model stopped
AFTER_DONE_S = 0.25   # for the end of the body, so that the connection can be used again
_BLANK = b" \t\r\n"


class Body(Protocol):
    """What is read: an Exchange."""

    status: int

    @property
    def headers(self) -> Mapping[str, str]: ...

    def chunks(self) -> Iterator[bytes]: ...

    def hurry(self, seconds: float) -> None: ...


def read_reply(body: Body, reply: Reply, framing: Framing, delta_of: DeltaOf) -> ErrorClass | None:
    """Read a body into reply. An ErrorClass when it is an error; a stream that just ends leaves reply.ended False.

    delta_of(object, whole): what an object of this API adds, None when it is not one of this API's.
    """
    chunks = body.chunks()
    start = _start(chunks)
    chunks = chain([start], chunks)
    first = start[:1]
    if first in (b"{", b"[") and framing == "ndjson":
        return _stream((Event("", line) for line in ndjson_lines(chunks)), body, reply, delta_of)
    if first in (b"{", b"[", b"<") or not _looks_like_events(start):
        return _whole(b"".join(chunks).decode("utf-8", "replace"), body, reply, delta_of)
    return _stream(sse_events(chunks), body, reply, delta_of)


def _start(chunks: Iterator[bytes]) -> bytes:
    """As much of a body as tells its framing; blank space and a byte order mark before it are dropped."""
    start = b""
    for chunk in chunks:
        start = (start + chunk).lstrip(_BLANK).removeprefix(BOM).lstrip(_BLANK)
        if start[:1] in (b"{", b"[", b"<", b":") or len(start) >= len(b"retry:"):
            break
    return start


def _looks_like_events(start: bytes) -> bool:
    """Whether a body begins as a stream of events does; one that breaks off in its first word does too."""
    return any(start.startswith(field) or field.startswith(start) for field in (b":", b"data:", b"event:", b"id:", b"retry:") if start)


def _whole(text: str, body: Body, reply: Reply, delta_of: DeltaOf) -> ErrorClass | None:
    """A body that is one object (or a list of them), or nothing that we can use."""
    objects = json_objects(text)
    whole = bool(objects)  # else lines of JSON from a server that streams all the same
    for line in () if whole else text.splitlines():
        objects += json_objects(line)
    failure = classify(200, text, body.headers)
    if failure.name != "ok" and (not objects or any(_failed(data, delta_of, whole) for data in objects)):
        return failure
    deltas = [delta for data in objects if (delta := delta_of(data, whole)) is not None]
    if not deltas:
        return ErrorClass("fatal", f"the reply has no text where this API has it: {text[:160]}", "bad_response")
    for delta in deltas:
        reply.add(delta)
    reply.flush()
    reply.done = reply.done or whole
    return None


def _stream(events: Iterable[Event], body: Body, reply: Reply, delta_of: DeltaOf) -> ErrorClass | None:
    """Events until the end, a stop word, or the caller has seen enough."""
    try:
        for event in events:
            failure = _take(event, body, reply, delta_of)
            if failure is not None or reply.satisfied:
                return failure
            if reply.done:
                body.hurry(AFTER_DONE_S)
            elif reply.finish is not None:
                body.hurry(AFTER_FINISH_S)
    except EndpointError as error:
        if error.kind == "cancelled" or not reply.ended:  # what breaks after the end was said takes nothing away
            raise
    reply.flush()
    return None


def _take(event: Event, body: Body, reply: Reply, delta_of: DeltaOf) -> ErrorClass | None:
    """Add one event to reply; an ErrorClass when it says that something failed."""
    if event.data.strip() == "[DONE]":
        reply.done = True
        return None
    if event.name == "error" and not event.data.lstrip().startswith("{"):
        return classify(200, json.dumps({"error": event.data or "the stream reported an error"}), body.headers)
    for data in json_objects(event.data):  # none in a comment that a proxy wrapped, a ping, a line that was cut
        if event.name == "error" or _failed(data, delta_of, False):
            return classify(200, json.dumps(data if is_error(data) else {"error": data}), body.headers)
        delta = delta_of(data, False)
        if delta is not None:
            reply.add(delta)
    return None


def _failed(data: Mapping[str, Any], delta_of: DeltaOf, whole: bool) -> bool:
    """Whether an object is an error. What only looks like one is none where this API has its text in such a field."""
    return is_error(data) and (says_error(data) or delta_of(data, whole) is None)
