"""SSE and NDJSON from bytes: the oddities of real servers, and that the boundaries of chunks never matter."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_agent.endpoints.http_stream import Event, lines, ndjson_lines, sse_events

SAMPLES = Path(__file__).parent / "data" / "llamacpp"

SSE_CASES = [
    ("plain", b"data: a\n\ndata: b\n\n", ["a", "b"]),
    ("no space after the colon (TGI)", b"data:a\n\n", ["a"]),
    ("only one space is taken", b"data:  a\n\n", [" a"]),
    ("CRLF (Gemini)", b"data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
    ("lone CR", b"data: a\r\rdata: b\r\r", ["a", "b"]),
    ("no line end at the end (KoboldCpp)", b"data: a\n\ndata: [DONE]", ["a", "[DONE]"]),
    ("comments and pings", b":\n\n: ping\n\n: keep-alive\ndata: a\n\n", ["a"]),
    ("empty data is an event of nothing", b"data:\n\ndata: a\n\n", ["", "a"]),
    ("id and retry", b"id: 1\nretry: 3\ndata: a\n\n", ["a"]),
    ("two data lines", b"data: a\ndata: b\n\n", ["a\nb"]),
    ("events that end with one line feed", b'data: {"a":1}\ndata: {"b":2}\ndata: [DONE]\n', ['{"a":1}', '{"b":2}', "[DONE]"]),
    ("one object over two data lines", b'data: {"a":\ndata: 1}\n\n', ['{"a":\n1}']),
    ("line separator inside a string", 'data: {"a":"x\u2028y\x85z\x0b"}\n\n'.encode(), ['{"a":"x\u2028y\x85z\x0b"}']),
    ("byte order mark", b"\xef\xbb\xbfdata: a\n\n", ["a"]),
    ("broken UTF-8", b"data: \xff\n\n", ["\ufffd"]),
    ("unknown fields", b"foo: a\nbar\ndata: b\n\n", ["b"]),
    ("a field without a colon", b"data\n\n", [""]),
    ("nothing", b"", []),
    ("blank lines only", b"\n\n\r\n\n", []),
    ("wrapped by a proxy", b"data: : OPENROUTER PROCESSING\n\ndata: a\n\n", [": OPENROUTER PROCESSING", "a"]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), [case[1:] for case in SSE_CASES], ids=[case[0] for case in SSE_CASES])
def test_sse(body, expected):
    assert [event.data for event in sse_events([body])] == expected
    assert [event.data for event in sse_events(body[at : at + 1] for at in range(len(body)))] == expected


def test_names_of_events():
    body = b"event: error\ndata: {}\n\nevent: ping\n\ndata: a\n\n"
    assert list(sse_events([body])) == [Event("error", "{}"), Event("", "a")]


def test_ndjson():
    body = b'\xef\xbb\xbf{"a":1}\r\n\n  \n{"b":"\xd0\x9f"}'
    assert list(ndjson_lines([body])) == ['{"a":1}', '{"b":"П"}']


def test_unicode_of_a_recorded_stream():
    body = (SAMPLES / "sse_unicode.txt").read_bytes()
    events = [json.loads(event.data) for event in sse_events([body]) if event.data != "[DONE]"]
    text = "".join(event["choices"][0]["delta"].get("content") or "" for event in events)
    assert text.startswith("Привет 😀 é —")


@st.composite
def chunked(draw):
    """A body of lines with any ends, and some cut of it into chunks, empty ones too."""
    words = st.sampled_from([b"data: a", b"data:", b"x", b": c", b"\n", b"\r\n", b"\r", b"\xd0\x9f", b"{}", b"event: e"])
    body = b"".join(draw(st.lists(words, max_size=12)))
    cuts = sorted(draw(st.lists(st.integers(0, len(body)), max_size=6)))
    return body, [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]


@given(chunked())
def test_chunk_boundaries_never_matter(example):
    body, chunks = example
    unix = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").removesuffix(b"\n")
    assert list(lines(chunks)) == list(lines([body])) == (unix.split(b"\n") if body else [])
    assert list(sse_events(chunks)) == list(sse_events([body]))
    assert list(ndjson_lines(chunks)) == list(ndjson_lines([body]))


def test_a_line_in_many_pieces_is_read_in_linear_time():
    pieces = 200_000
    assert len(next(lines(b"x" for _ in range(pieces)))) == pieces
