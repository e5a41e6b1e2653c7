"""Connections whose socket is known while a request runs, so that another thread can end it at once.

A blocked read can only be interrupted from outside by shutting its socket down, and urllib3 tells the socket too late: after
the headers, which a server that does not stream sends when all is generated. The connection therefore reports its socket to
the guard of its thread just before it waits for the reply.
"""

import contextlib
import socket
import threading
from contextvars import ContextVar

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.response import HTTPResponse


class SocketGuard:
    """The socket of one exchange, and the one way to end it from another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._stopped = False

    @property
    def stopped(self) -> bool:
        return self._stopped

    def watch(self, sock: socket.socket | None) -> None:
        """Called by the connection before it waits; raises ConnectionAbortedError when the exchange was ended meanwhile."""
        with self._lock:
            if self._stopped:
                raise ConnectionAbortedError("the request was given up before its reply")
            self._socket = sock

    def release(self) -> None:
        """The reply was read to its end: the connection may serve another request, so its socket is no longer ours."""
        with self._lock:
            self._socket = None

    def stop(self) -> None:
        """End the exchange: a blocked read returns at once, and the server sees the connection close."""
        with self._lock:
            self._stopped = True
            sock, self._socket = self._socket, None
            if sock is not None:
                with contextlib.suppress(OSError):  # already closed by the other side
                    socket.socket.shutdown(sock, socket.SHUT_RDWR)  # of the plain socket: TLS state belongs to its reader


GUARD: ContextVar[SocketGuard | None] = ContextVar("guard", default=None)


class _Guarded(HTTPConnection):
    def getresponse(self) -> HTTPResponse:  # type: ignore[override]  # as urllib3 itself does
        guard = GUARD.get()
        if guard is not None:
            guard.watch(self.sock)
        return super().getresponse()


class _GuardedTls(_Guarded, HTTPSConnection):
    pass


class GuardedPool(HTTPConnectionPool):
    ConnectionCls = _Guarded


class GuardedTlsPool(HTTPSConnectionPool):
    ConnectionCls = _GuardedTls


POOLS = {"http": GuardedPool, "https": GuardedTlsPool}
