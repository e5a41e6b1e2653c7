"""A server for tests: real sockets on loopback, a script of answers, and control over every piece that is sent.

    with FakeServer([answer(503), chat("hi")]) as server:
        ChatEndpoint(server.url).complete(...)
    server.requests[0].json["max_tokens"]

Answers are given to POST requests in order; look-ups (GET) have their own table, so that a probe never takes an answer. The
pieces of a body are sent one by one: bytes, an Event that must be set before the rest is sent, RESET or CUT.
"""

import contextlib
import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

PATIENCE_S = 20.0  # no test waits this long; a broken one does not hang the suite
RESET = object()   # the connection is reset (RST)
CUT = object()     # the connection is closed (FIN)


@dataclass(frozen=True)
class Answer:
    """One HTTP reply. framing: a Content-Length, chunks (one per piece), or the end of the connection. raw: sent as it is, and
    then the connection ends as end says."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: Sequence[Any] = ()
    framing: Literal["length", "chunked", "close"] = "length"
    raw: bytes | None = None
    end: Any = CUT

    def head(self) -> bytes:
        lines = [f"HTTP/1.1 {self.status} Told", *(f"{name}: {value}" for name, value in self.headers.items())]
        if self.framing == "length":
            lines.append(f"Content-Length: {sum(len(piece) for piece in self.pieces if isinstance(piece, bytes))}")
        lines.append({"length": "X-Framing: length", "chunked": "Transfer-Encoding: chunked", "close": "Connection: close"}[self.framing])
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


@dataclass(frozen=True)
class Seen:
    """One request as it arrived. headers: names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def answer(status: int = 200, body: Any = b"", headers: Mapping[str, str] | None = None) -> Answer:
    """body: bytes and text as they are, anything else as JSON."""
    data = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    kind = "text/plain" if isinstance(body, (bytes, str)) else "application/json"
    return Answer(status, {"Content-Type": kind, **(headers or {})}, [data])


def chat(text: str | None, finish: str | None = "stop", headers: Mapping[str, str] | None = None, **more: Any) -> Answer:
    """A whole chat completion; more: usage, model, ... of the body."""
    message = {"role": "assistant", "content": text}
    return answer(200, {"choices": [{"index": 0, "message": message, "finish_reason": finish}], **more}, headers)


def chunk(content: Any = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """One object of a streamed chat completion."""
    delta = {} if content is None else {"content": content}
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def event(data: Any) -> bytes:
    return b"data: " + (data if isinstance(data, bytes) else json.dumps(data).encode()) + b"\n\n"


DONE = b"data: [DONE]\n\n"


def stream(*pieces: Any, framing: Literal["chunked", "close"] = "chunked", headers: Mapping[str, str] | None = None) -> Answer:
    """A stream; dicts become events, all else is sent as it is."""
    sent = [event(piece) if isinstance(piece, dict) else piece for piece in pieces]
    return Answer(200, {"Content-Type": "text/event-stream", **(headers or {})}, sent, framing)


def streamed_text(text: str, finish: str = "stop", **more: Any) -> Answer:
    """A text streamed character by character, with its end."""
    return stream(*(chunk(char) for char in text), chunk(finish=finish, **more), DONE)


def local_certificate() -> Path:
    """A self-signed certificate for localhost and 127.0.0.1, with its key: for tests alone, and good for nothing else."""
    return Path(__file__).parent / "data" / "localhost_test_certificate.pem"


class Chunks:
    """A body that comes in these chunks."""

    status = 200
    headers = {}

    def __init__(self, chunks):
        self._chunks = chunks

    def chunks(self):
        return iter(self._chunks)

    def hurry(self, seconds):
        pass


class FakeServer:
    """answers: what POST requests get, in order, or a function of (Seen, number). look_ups: path -> Answer for GET; a path may
    also stand for a POST that is none of the answers' business. client_gone is set when the client closed before the end.
    tls: behind https, with the test certificate."""

    def __init__(
        self, answers: Iterable[Answer] | Callable[[Seen, int], Answer] = (), look_ups: Mapping[str, Answer] | None = None, tls: bool = False,
    ):  # fmt: skip
        self._tls = tls
        self._answers = answers if callable(answers) else list(answers)
        self._look_ups = dict(look_ups or {})
        self.requests: list[Seen] = []
        self.looked_up: list[Seen] = []
        self.client_gone = threading.Event()
        self.started = threading.Event()
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._connections: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.1)
        self.port = self._listener.getsockname()[1]
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def url(self) -> str:
        return f"http{'s' if self._tls else ''}://127.0.0.1:{self.port}"

    def __enter__(self) -> "FakeServer":
        return self

    def __exit__(self, *exc: object) -> None:
        self._closing.set()
        for waiting in (self._listener, *self._connections):
            with contextlib.suppress(OSError):  # wakes what is blocked, where the system allows it
                waiting.shutdown(socket.SHUT_RDWR)
        for thread in list(self._threads):
            thread.join(PATIENCE_S)
        self._listener.close()

    def _accept(self) -> None:
        while not self._closing.is_set():
            with contextlib.suppress(OSError):  # of the timeout, or the end
                connection, _ = self._listener.accept()
                thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, connection: socket.socket) -> None:
        """All requests of one connection."""
        with contextlib.suppress(OSError), self._secured(connection) as connection:
            self._connections.append(connection)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.settimeout(0.05)
            while (seen := self._request(connection)) is not None:
                if not self._reply(connection, self._answer_to(seen)):
                    return

    def _secured(self, connection: socket.socket) -> socket.socket:
        """The connection, after the handshake where there is one."""
        if not self._tls:
            return connection
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(local_certificate())
        with connection:
            return context.wrap_socket(connection, server_side=True)

    def _request(self, connection: socket.socket) -> Seen | None:
        data = b""
        while b"\r\n\r\n" not in data:
            if not (more := self._receive(connection)):
                return None
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        while len(body) < int(headers.get("content-length", 0)):
            if not (more := self._receive(connection)):
                return None
            body += more
        method, path, _ = first.split(" ")
        return Seen(method, path, headers, body)

    def _receive(self, connection: socket.socket) -> bytes:
        """What comes next; nothing when the client or the test is done."""
        while not self._closing.is_set():
            with contextlib.suppress(TimeoutError):
                return connection.recv(65536)
        return b""

    def _answer_to(self, seen: Seen) -> Answer:
        with self._lock:
            if seen.method == "GET" or seen.path in self._look_ups:
                self.looked_up.append(seen)
                return self._look_ups.get(seen.path, answer(404, {"error": {"message": "File Not Found", "code": 404}}))
            number = len(self.requests)
            self.requests.append(seen)
            if callable(self._answers):
                return self._answers(seen, number)
            return self._answers[number] if number < len(self._answers) else answer(418, {"error": "the script has no more answers"})

    def _reply(self, connection: socket.socket, reply: Answer) -> bool:
        """Send an answer piece by piece; whether the connection may be used again."""
        try:
            if reply.raw is not None:
                connection.sendall(reply.raw)
                return self._send(connection, reply.end, False)
            connection.sendall(reply.head())
            for piece in reply.pieces:
                if not self._send(connection, piece, reply.framing == "chunked"):
                    return False
            if reply.framing == "chunked":
                connection.sendall(b"0\r\n\r\n")
        except OSError:
            self.client_gone.set()
            return False
        return reply.framing != "close"

    def _send(self, connection: socket.socket, piece: Any, chunked: bool) -> bool:
        if piece is RESET:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        if piece is CUT:
            return False
        if isinstance(piece, threading.Event):
            return self._hold(connection, piece)
        connection.sendall(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
        self.started.set()
        return True

    def _hold(self, connection: socket.socket, until: threading.Event) -> bool:
        """Wait for an event; False when the client closes the connection first, or the test ends."""
        self.started.set()
        while not self._closing.is_set():
            if until.wait(0.01):
                return True
            with contextlib.suppress(TimeoutError):
                if not connection.recv(1, 0 if self._tls else socket.MSG_PEEK):
                    self.client_gone.set()
                    return False
        return False
