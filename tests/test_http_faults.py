"""A recorded exchange broken at every place: it ends in a value or an EndpointError, never in a hang or another exception.

And the property behind it: however a recorded stream is cut into chunks, the Completion is the same.
"""

import json
from pathlib import Path

import pytest
from chat_calls import HELLO, endpoint
from fake_server import CUT, RESET, Answer, Chunks, FakeServer, chat
from hypothesis import given, settings
from hypothesis import strategies as st

from react_agent.endpoints.base import PLAIN, Request
from react_agent.endpoints.chat import ChatEndpoint
from react_agent.endpoints.http_body import read_reply
from react_agent.endpoints.http_reply import Reply
from react_agent.errors import EndpointError

DATA = Path(__file__).parent / "data" / "llamacpp"
STREAMS = ["chat_stream.txt", "chat_stream_usage.txt", "sse_unicode.txt", "rf_json_schema_stream.txt", "rf_json_schema_cut_stream.txt"]
WHOLE = ["chat_ok.json", "q_tools.json"]
CHAT = ChatEndpoint("http://localhost:1")


def body_of(name):
    raw = (DATA / name).read_bytes()
    if name.endswith(".json"):
        return json.dumps(json.loads(raw)["body"], ensure_ascii=False).encode()
    return b"".join(line for line in raw.splitlines(keepends=True) if not line.startswith(b"#"))


def wire(name, framing):
    """A recorded body as the bytes of a whole HTTP reply."""
    body = body_of(name)
    kind = b"application/json" if name.endswith(".json") else b"text/event-stream"
    head = b"HTTP/1.1 200 OK\r\nServer: llama.cpp\r\nContent-Type: " + kind + b"\r\n"
    if framing == "length":
        return head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    if framing == "close":
        return head + b"Connection: close\r\n\r\n" + body
    pieces = [body[start : start + 97] for start in range(0, len(body), 97)]
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"


def read(chunks, request=PLAIN, stop=()):
    reply = Reply(request, stop)
    failure = read_reply(Chunks(chunks), reply, "sse", CHAT.delta_of)
    return failure, reply.text, reply.reasoning, reply.finish, reply.counts, reply.model, reply.ended, reply.closed_early, reply.cut


@st.composite
def cut_bodies(draw):
    body = body_of(draw(st.sampled_from([*STREAMS, *WHOLE])))
    if draw(st.booleans()):
        body = body.replace(b"\n", b"\r\n")
    if draw(st.booleans()):
        size = draw(st.integers(1, 40))
        return body, [body[start : start + size] for start in range(0, len(body), size)]
    cuts = sorted(draw(st.lists(st.integers(0, len(body)), max_size=30)))
    return body, [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]


@given(cut_bodies(), st.sampled_from([(), ("there",), ("!", "Hello there")]))
@settings(deadline=None)
def test_any_chunking_gives_the_same_reply(example, stop):
    body, chunks = example
    assert read(chunks, stop=stop) == read([body], stop=stop)


@given(cut_bodies())
@settings(deadline=None)
def test_any_chunking_is_closed_at_the_same_place(example):
    def closed_at(text):
        seen = []
        return Request(closed=lambda piece: seen.append(piece) or text in "".join(seen))

    body, chunks = example
    assert read(chunks, closed_at("e")) == read([body], closed_at("e"))


def call(raw, end):
    """What a call makes of a reply that breaks off: its text, or the kind of the error."""
    with FakeServer([Answer(raw=raw, end=end), chat("second")]) as server:
        made = endpoint(server, max_retries=1, timeout_s=3600)  # a busy machine is no broken connection
        try:
            completion = made.complete(HELLO)
        except EndpointError as error:
            return error.kind
        finally:
            made.close()
        return completion.text, completion.finish_reason, bool(completion.notes)


def broken(name, framing, step, end):
    """Every step-th place to break a recorded exchange, and what comes of it."""
    whole = wire(name, framing)
    expected = call(whole, CUT)
    for place in range(0, len(whole), step):
        got = call(whole[:place], end)
        assert got in (expected, (expected[0], expected[1], True), ("second", "stop", True)), (place, whole[max(0, place - 40) : place])


@pytest.mark.parametrize("end", [RESET, CUT], ids=["reset", "closed"])
@pytest.mark.parametrize(("name", "framing"), [
    ("chat_stream_usage.txt", "chunked"), ("chat_stream.txt", "close"), ("chat_ok.json", "length"),
])  # fmt: skip
def test_a_connection_that_breaks(name, framing, end):
    broken(name, framing, 89, end)


@pytest.mark.slow
@pytest.mark.parametrize("end", [RESET, CUT], ids=["reset", "closed"])
@pytest.mark.parametrize("framing", ["chunked", "close", "length"])
@pytest.mark.parametrize("name", ["chat_stream_usage.txt", "chat_stream.txt", "rf_json_schema_cut_stream.txt", "chat_ok.json"])
def test_a_connection_that_breaks_at_every_byte(name, framing, end):
    broken(name, framing, 1, end)
