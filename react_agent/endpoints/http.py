"""HTTP for endpoints: one exchange at a time, which neither a deadline nor a cancel has to wait for.

Each exchange runs on a thread of its own that hands over what arrives. The caller waits for the queue, never for the socket,
looks at its deadline after every piece (so that a server's pings cannot hold it), and ends the socket from outside.
This is the only module of the endpoints that imports requests.
"""

import contextlib
import ipaddress
import os
import queue
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from http.client import HTTPException
from types import TracebackType
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies
from urllib3.exceptions import HTTPError

from react_agent.endpoints.http_decode import inflate, too_large
from react_agent.endpoints.http_errors import ErrorClass, classify
from react_agent.endpoints.http_retry import Deadline
from react_agent.endpoints.http_socket import GUARD, POOLS, SocketGuard
from react_agent.errors import EndpointError, EndpointErrorKind

__all__ = ["ErrorClass", "Exchange", "HttpClient", "Session", "TransportError", "classify", "is_loopback", "shown"]

Session = requests.Session
POLL_S = 0.05      # how often a waiting caller looks at its deadline and its cancel event
READ_BYTES = 65536
MAX_REDIRECTS = 3
MAX_CAUSES = 20
_NO_SUCH_HOST = ("name or service", "name resolution", "nodename", "getaddrinfo", "no address", "not resolve")
FAILURES = (requests.RequestException, HTTPError, HTTPException, OSError, ValueError)


def is_loopback(url: str) -> bool:
    """Whether a URL's host is this machine."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


class TransportError(EndpointError):
    """No reply came through. transient: the same request may go well in a moment."""

    def __init__(self, kind: EndpointErrorKind, message: str, hint: str = "", *, transient: bool) -> None:
        super().__init__(kind, message, hint)
        self.transient = transient


class HttpClient:
    """A session and its limits. first_byte_timeout_s: until the first byte of a reply's body, None for the deadline alone.

    max_bytes: of one decoded body. A session given by the caller is used as it is; only the default one is known to let
    another thread end a request whose headers have not come yet.
    """

    def __init__(
        self, *, connect_timeout_s: float = 10.0, first_byte_timeout_s: float | None = None, max_bytes: int = 64 << 20,
        session: requests.Session | None = None,
    ) -> None:  # fmt: skip
        self.connect_timeout_s = connect_timeout_s
        self.first_byte_timeout_s = first_byte_timeout_s
        self.max_bytes = max_bytes
        self.session = session or _session()
        self._own = session is None

    def exchange(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, deadline: Deadline) -> "Exchange":
        """Send one request and wait for the head of its reply; redirects are followed on the same origin only."""
        for _ in range(MAX_REDIRECTS):
            exchange = Exchange(self, method, url, headers, body, deadline)
            target = _redirect(exchange, url)
            if target is None:
                return exchange
            exchange.close()
            url = target
        raise EndpointError("bad_response", f"{shown(url)} redirects again and again", "give the URL that it ends at")

    def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, read_timeout_s: float | None,
    ) -> requests.Response:  # fmt: skip
        settings: dict[str, Any] = {"allow_redirects": False, "stream": True, "timeout": (self.connect_timeout_s, read_timeout_s)}
        if self._own:
            settings |= {"proxies": {} if is_loopback(url) else get_environ_proxies(url), "verify": _certificates()}
        if any(name.lower() == "authorization" for name in headers):
            settings["auth"] = _as_it_is  # else requests puts what ~/.netrc has for this host in its place
        return self.session.request(method, url, headers=dict(headers), data=body, **settings)

    def close(self) -> None:
        self.session.close()


class Exchange:
    """One request and its reply. status and headers (names in lower case) are there from the start; chunks gives the body."""

    def __init__(
        self, client: HttpClient, method: str, url: str, headers: Mapping[str, str], body: bytes | None, deadline: Deadline,
    ) -> None:  # fmt: skip
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self.deadline = deadline
        self._url = url
        self._max_bytes = client.max_bytes
        self._first_byte_at = None if client.first_byte_timeout_s is None else deadline.clock() + client.first_byte_timeout_s
        self._items: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._guard = SocketGuard()
        request = (method, url, headers, body)
        threading.Thread(target=self._work, args=(client, request), name="endpoint-exchange", daemon=True).start()
        try:
            self.status, self.headers = self._next()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Exchange":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def chunks(self) -> Iterator[bytes]:
        """The body as it arrives, decompressed. Raises EndpointError: timeout, cancelled, connection, bad_response."""
        return inflate(self._raw_chunks(), self.headers.get("content-encoding", ""), self._max_bytes)

    def read(self) -> str:
        """The whole body as text."""
        return b"".join(self.chunks()).decode("utf-8", "replace")

    def hurry(self, seconds: float) -> None:
        """Give the rest of the body no longer than this."""
        soon = self.deadline.clock() + seconds
        if self.deadline.at is None or soon < self.deadline.at:
            self.deadline = replace(self.deadline, at=soon)

    def close(self) -> None:
        """End the exchange. A reply not read to its end costs the connection, so that the server stops generating."""
        self._guard.stop()

    def _raw_chunks(self) -> Iterator[bytes]:
        while (item := self._next()) is not None:
            self._first_byte_at = None
            yield item

    def _next(self) -> Any:
        """What the worker hands over next; in the meantime and afterwards the deadline and the cancel event are looked at."""
        while True:
            self.deadline.check()
            if self._first_byte_at is not None and self.deadline.clock() > self._first_byte_at:
                raise TransportError("timeout", f"{shown(self._url)} sent nothing in time", "raise first_byte_timeout_s", transient=True)
            try:
                item = self._items.get(timeout=POLL_S)
            except queue.Empty:
                continue
            if isinstance(item, EndpointError):
                raise item
            if isinstance(item, Exception):
                raise connection_error(item, self._url)
            return item

    def _work(self, client: HttpClient, request: tuple[str, str, Mapping[str, str], bytes | None]) -> None:
        """On the thread of the exchange: (status, headers), then the body's pieces, then None; or an exception."""
        GUARD.set(self._guard)
        response = None
        try:
            remaining = self.deadline.remaining
            response = client.send(*request, None if remaining is None else max(remaining, 0.001) + 1)
            self._guard.watch(getattr(getattr(response.raw, "connection", None), "sock", None))  # where the session is the caller's
            self._items.put((response.status_code, {name.lower(): value for name, value in response.headers.items()}))
            self._read(response)
        except FAILURES as error:
            self._items.put(error)
        finally:
            if response is not None:
                with contextlib.suppress(*FAILURES):  # the socket may be gone already
                    response.close()

    def _read(self, response: requests.Response) -> None:
        received = 0
        while not self._guard.stopped:
            piece = response.raw.read1(READ_BYTES, decode_content=False)
            if not piece:
                self._guard.release()
                self._items.put(None)
                return
            received += len(piece)
            if received > self._max_bytes:
                self._items.put(too_large(self._max_bytes))
                return
            self._items.put(piece)


def connection_error(error: Exception, url: str) -> TransportError:
    """What went wrong with a connection, in a sentence, without what the exception's own text may hold (a key in a URL)."""
    where = shown(url)
    if isinstance(error, requests.exceptions.ConnectTimeout):
        hint = "check the address, the network and the proxy"
        return TransportError("connection", f"no connection to {where} in time", hint, transient=True)
    reason, words = _reason(error), _reason(error).lower()
    if "refused" in words:
        hint = f"is the server running at {where}?"
        return TransportError("connection", f"nothing listens at {where}: {reason}", hint, transient=False)
    if any(word in words for word in _NO_SUCH_HOST):
        return TransportError("connection", f"no such host: {where}", "check the address in the base URL", transient=False)
    if isinstance(error, requests.exceptions.SSLError):
        hint = "a private certificate authority is named with REQUESTS_CA_BUNDLE; a server without TLS wants http://"
        return TransportError("connection", f"no trusted TLS with {where}: {reason}", hint, transient=False)
    hint = "check the address, the network, the proxy and the server's log"
    transient = not isinstance(error, ValueError)  # a URL, a proxy or a header that cannot be stays so
    return TransportError("connection", f"the connection to {where} failed: {reason}", hint, transient=transient)


def _reason(error: BaseException) -> str:
    """The innermost cause's own words."""
    seen: BaseException = error
    for _ in range(MAX_CAUSES):
        inner = seen.__cause__ or seen.__context__ or next((arg for arg in seen.args if isinstance(arg, BaseException)), None)
        inner = inner or getattr(seen, "reason", None)
        if not isinstance(inner, BaseException) or inner is seen:
            break
        seen = inner
    if isinstance(seen, OSError) and seen.strerror:
        return seen.strerror
    return str(seen) or type(seen).__name__


def _redirect(exchange: Exchange, url: str) -> str | None:
    if exchange.status not in (301, 302, 303, 307, 308):
        return None
    target = urljoin(url, exchange.headers.get("location", ""))
    same = urlsplit(target)[:2] == urlsplit(url)[:2]
    if same and exchange.status in (307, 308):
        return target
    exchange.close()
    raise EndpointError(
        "not_found", f"{shown(url)} redirects to {shown(target)}", "a request with a key is not sent elsewhere: give that URL itself",
        status=exchange.status,
    )  # fmt: skip


def shown(url: str) -> str:
    """A URL without what may be secret in it: no user, no query."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    return f"{parts.scheme}://{host}{port}{parts.path}"


def _session() -> requests.Session:
    session = requests.Session()
    session.trust_env = False  # proxies and certificates are looked up per request; ~/.netrc never replaces a key
    for scheme in ("http://", "https://"):
        session.mount(scheme, _Adapter(pool_maxsize=32))
    return session


class _Adapter(HTTPAdapter):
    """Connections that report their socket, also through a proxy."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = POOLS

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        manager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = POOLS
        return manager


def _as_it_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _certificates() -> str | bool:
    return os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE") or True
