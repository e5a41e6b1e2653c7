"""The exchange itself: size, compression, framing, headers; and that a broken connection is never more than an EndpointError."""

import contextlib
import gzip
import json
import threading
import zlib

import pytest
import requests
from chat_calls import HELLO, endpoint, failing
from fake_server import Answer, FakeServer, answer, chat, chunk, event, local_certificate, stream, streamed_text
from hypothesis import given
from hypothesis import strategies as st

from react_agent.endpoints.base import Request
from react_agent.endpoints.chat import ChatEndpoint
from react_agent.endpoints.http import connection_error, is_loopback, shown
from react_agent.errors import EndpointError

REPLY = json.dumps({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}).encode()


def packed(body, encoding):
    return Answer(200, {"Content-Type": "application/json", "Content-Encoding": encoding}, [body])


@pytest.mark.parametrize(("encoding", "pack"), [
    ("gzip", gzip.compress), ("deflate", zlib.compress), ("x-gzip", gzip.compress), ("GZIP ", gzip.compress),
])  # fmt: skip
def test_compression_that_nobody_asked_for(encoding, pack):
    with FakeServer([packed(pack(REPLY), encoding)]) as server:
        assert endpoint(server).complete(HELLO).text == "hi"


@pytest.mark.parametrize("bomb", [gzip.compress(b" " * (64 << 20)), gzip.compress(b"data: x\n" * (8 << 20))], ids=["blank", "events"])
def test_a_compression_bomb_is_cut_at_the_cap(bomb):
    error, seen = failing(lambda seen, number: packed(bomb, "gzip"), max_response_bytes=1 << 20, max_retries=0)
    assert (error.kind, len(bomb) < 200_000) == ("bad_response", True)
    assert "larger than 1048576 bytes" in error.message


@pytest.mark.parametrize(("body", "encoding"), [
    (b"no gzip at all", "gzip"), (REPLY, "br"), (gzip.compress(REPLY, mtime=0), "gzip, gzip"), (REPLY, ""),
], ids=["not gzip", "brotli", "twice", "none"])  # fmt: skip
def test_compression_that_is_wrong(body, encoding):
    with FakeServer([packed(body, encoding)]) as server:
        made = endpoint(server, max_retries=0)
        if encoding:
            with pytest.raises(EndpointError) as caught:
                made.complete(HELLO)
            assert caught.value.kind == "bad_response"
        else:
            assert made.complete(HELLO).text == "hi"


def test_an_endless_body_is_cut_at_the_cap():
    for framing in ("chunked", "close"):
        error, _ = failing([stream(*[b": padding\n\n" * 1000] * 200, framing=framing)], max_response_bytes=100_000, max_retries=0)
        assert (error.kind, "larger than" in error.message) == ("bad_response", True)


def test_an_endless_error_body_is_cut_too():
    error, _ = failing([answer(400, b"x" * 300_000)], max_response_bytes=100_000)
    assert "larger than" in error.message


@pytest.mark.parametrize("raw", [
    b"nonsense\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b"\x00\x01\x02", b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nhello", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello", b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 500 + b"\r\n",
    b"HTTP/1.1 200 OK\r\nA: " + b"b" * 100_000 + b"\r\n\r\n", b"HTTP/1.1 302 Found\r\nLocation: http://[::1\r\n\r\n",
    b"HTTP/1.1 307 Found\r\nLocation: \r\nContent-Length: 0\r\n\r\n", b"HTTP/1.1 204 No Content\r\n\r\n", b"HTTP/1.1 199 What\r\n\r\n",
    b"HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n", b"HTTP/1.1 304 Not Modified\r\n\r\n",
], ids=lambda raw: raw[:60].decode("latin-1"))  # fmt: skip
def test_what_is_hardly_http(raw):
    with FakeServer(lambda seen, number: Answer(raw=raw)) as server, pytest.raises(EndpointError):
        endpoint(server, max_retries=1).complete(HELLO)


@given(st.binary(max_size=300))
def test_any_bytes_as_a_reply_end_in_a_value_or_an_endpoint_error(body):
    for head in (b"", b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 400 Bad\r\nTransfer-Encoding: chunked\r\n\r\n"):
        with FakeServer([Answer(raw=head + body)]) as server:
            made = endpoint(server, max_retries=0)
            with contextlib.suppress(EndpointError):
                made.complete(HELLO)
            made.close()


def test_headers_beyond_ascii():
    raw = b"HTTP/1.1 400 Bad\r\nServer: \xff\xfe\r\nRetry-After: \xb2\r\nContent-Length: 2\r\n\r\n{}"
    assert failing([Answer(raw=raw)])[0].kind == "bad_request"


def test_a_session_of_the_caller_is_used():
    with FakeServer([chat("hi")]) as server, requests.Session() as session:
        session.headers["X-Mine"] = "yes"
        assert ChatEndpoint(server.url, session=session, api_key="secret-key").complete(HELLO).text == "hi"
    assert server.requests[0].headers["x-mine"] == "yes"
    assert server.requests[0].headers["authorization"] == "Bearer secret-key"


def test_netrc_never_replaces_the_key(tmp_path, monkeypatch):
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login someone password else\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with FakeServer([chat("hi"), chat("hi")]) as server, requests.Session() as session:
        ChatEndpoint(server.url, api_key="secret-key").complete(HELLO)
        ChatEndpoint(server.url, api_key="secret-key", session=session).complete(HELLO)
    assert [seen.headers["authorization"] for seen in server.requests] == ["Bearer secret-key"] * 2


@pytest.mark.parametrize(("url", "expected"), [
    ("http://localhost:1", True), ("http://LOCALHOST", True), ("http://a.localhost", True), ("http://127.0.0.1", True),
    ("http://127.9.9.9", True),
    ("http://[::1]:8080/v1", True), ("http://0.0.0.0:1", True), ("http://10.0.0.1", False), ("http://example.com", False),
    ("http://localhost.example.com", False), ("http://127.0.0.1.example.com", False), ("http://localhost.", True),
])  # fmt: skip
def test_what_is_this_machine(url, expected):
    assert is_loopback(url) is expected


def test_what_of_a_url_is_shown():
    assert shown("https://me:secret@host:8443/v1/x?key=abc#y") == "https://host:8443/v1/x"
    assert shown("http://[::1]:8080/v1") == "http://[::1]:8080/v1"


FAILURES = [
    (requests.exceptions.ConnectTimeout("HTTPConnectionPool(host='h'): url: /v1?key=secret"), "connection", True, "in time"),
    (requests.exceptions.ConnectionError(ConnectionRefusedError(111, "Connection refused")), "connection", False, "is the server running"),
    (requests.exceptions.ConnectionError(OSError(-2, "Name or service not known")), "connection", False, "check the address"),
    (requests.exceptions.SSLError(OSError("[SSL] certificate verify failed")), "connection", False, "REQUESTS_CA_BUNDLE"),
    (requests.exceptions.ConnectionError(ConnectionResetError(104, "Connection reset by peer")), "connection", True, "reset by peer"),
    (requests.exceptions.ChunkedEncodingError("Response ended prematurely"), "connection", True, "prematurely"),
    (requests.exceptions.SSLError(OSError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number")), "connection", False, "http://"),
    (requests.exceptions.InvalidProxyURL("Please check proxy URL"), "connection", False, "proxy"),
]  # fmt: skip


@pytest.mark.parametrize(("error", "kind", "transient", "words"), FAILURES, ids=lambda value: type(value).__name__)
def test_failures_of_a_connection_are_said_in_words(error, kind, transient, words):
    got = connection_error(error, "http://h:1/v1?key=secret")
    assert (got.kind, got.transient) == (kind, transient)
    assert words in f"{got.message} {got.hint}"
    assert "secret" not in f"{got.message} {got.hint}"


def test_threads_end_with_their_exchange():
    with FakeServer(lambda seen, number: stream(event({"choices": [{"delta": {"content": "x"}}]}), threading.Event())) as server:
        made = endpoint(server)
        for _ in range(3):
            made.complete(HELLO, Request(closed=lambda piece: True))
        for thread in threading.enumerate():
            if thread.name == "endpoint-exchange":
                thread.join(10)
        assert not [thread for thread in threading.enumerate() if thread.name == "endpoint-exchange"]


@pytest.mark.parametrize("way", ["early stop", "cancel"])
def test_an_exchange_over_tls_is_ended_from_outside_too(way, monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(local_certificate()))
    cancel = threading.Event()
    with FakeServer([stream(chunk("hi"), threading.Event()), streamed_text("whole")], tls=True) as server:
        made = endpoint(server)
        if way == "cancel":
            canceller = threading.Thread(target=lambda: server.started.wait(10) and cancel.set())
            canceller.start()
            with pytest.raises(EndpointError):
                made.complete(HELLO, Request(cancel=cancel))
            canceller.join()
        else:
            assert made.complete(HELLO, Request(closed=lambda piece: True)).text == "hi"
        assert server.client_gone.wait(10)
        assert made.complete(HELLO).text == "whole"
        made.close()


def test_a_certificate_that_nobody_knows_is_refused():
    with FakeServer([chat("hi")], tls=True) as server, pytest.raises(EndpointError) as caught:
        endpoint(server).complete(HELLO)
    assert (caught.value.kind, server.requests) == ("connection", [])
    assert "REQUESTS_CA_BUNDLE" in caught.value.hint
