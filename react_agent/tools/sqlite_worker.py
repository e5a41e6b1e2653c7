"""The parent's side of the SQLite process: start it, ask it, kill it when it is late."""

import contextlib
import json
import os
import signal
import struct
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from react_agent.errors import ToolError
from react_agent.tools.sqlite_child import MAX_REPLY_BYTES

START_TIMEOUT_S = 20.0
TIMEOUT_MESSAGE = "the query took too long and was stopped"
TIMEOUT_HINT = "join tables with ON, filter with WHERE, and put less into one query"
KEPT_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")
# The child imports its modules from here without the package around them, whose __init__ would import everything.
BOOT = """
import sys, types
for name in ("react_agent", "react_agent.tools"):
    sys.modules[name] = package = types.ModuleType(name)
    package.__path__ = [sys.argv[1]]
from react_agent.tools.sqlite_child import main
main(int(sys.argv[2]))
"""


class _EndedError(Exception):
    """The child ended, or replied something else than a message."""


class Worker:
    """One child process, started when it is needed, again after it was killed or this process was forked.

    Not for two threads at once: the owner holds a lock. command: what to start instead, for tests.
    """

    def __init__(self, command: Sequence[str] | None = None) -> None:
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._end: weakref.finalize[..., Any] | None = None

    @property
    def pid(self) -> int | None:
        """The child's process id while it is kept."""
        return self._process.pid if self._process else None

    def ask(self, request: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """The child's reply, or ToolError: timeout when it took longer than timeout_s and was killed, unavailable when there is none.

        A child that was kept and ends without a reply was perhaps killed from outside, so a new one is asked once more.
        """
        process = self._process
        if process is not None and self._owner == os.getpid() and process.poll() is None:
            with contextlib.suppress(_EndedError):
                return self._exchange(process, request, timeout_s)
        try:
            return self._exchange(self._start(), request, timeout_s)
        except _EndedError as error:
            raise _unavailable("ended unexpectedly") from error

    def stop(self) -> None:
        """End the child; the next request starts another."""
        if self._end is not None:
            self._end()
        self._process = self._end = None

    def _start(self) -> "subprocess.Popen[bytes]":
        self.stop()
        options = ["-I", "-S", "-B"] if sys.dont_write_bytecode else ["-I", "-S"]
        command = self._command or [sys.executable or "", *options, "-c", BOOT, str(Path(__file__).parent), str(os.getpid())]
        environment = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}  # no API key gets near foreign SQL
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0, close_fds=True, cwd=os.sep,
                env=environment, creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )  # fmt: skip
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise _unavailable("cannot be started") from error
        self._process, self._owner = process, os.getpid()
        self._end = weakref.finalize(self, _end, process, self._owner)
        self._exchange(process, None, START_TIMEOUT_S)
        return process

    def _exchange(self, process: "subprocess.Popen[bytes]", request: dict[str, Any] | None, timeout_s: float) -> dict[str, Any]:
        """Send the request, if there is one, and receive a message; raises _EndedError when none comes and ToolError when it is late."""
        with self._in_step(process, timeout_s):
            if request is not None:
                _send(process, request)
            return _receive(process)

    @contextlib.contextmanager
    def _in_step(self, process: "subprocess.Popen[bytes]", timeout_s: float) -> Iterator[None]:
        """Kill the child when the block takes too long or ends with any error, Ctrl-C too: a reply must never meet the next request."""
        alarm = _Alarm(process, timeout_s)
        try:
            alarm.start()
            yield
            if not alarm.call_off():
                raise EOFError  # its reply came, but it will give no other
        except (OSError, ValueError, EOFError, RecursionError, RuntimeError) as error:  # RuntimeError: no thread for the timer
            self.stop()
            if alarm.rang or process.returncode == -getattr(signal, "SIGXCPU", 0):
                raise ToolError("timeout", TIMEOUT_MESSAGE, TIMEOUT_HINT) from error
            raise _EndedError from error
        except BaseException:
            self.stop()
            raise
        finally:
            alarm.call_off()


class _Alarm:
    """Kills a process after so many seconds. Once it is called off it never does: the process may be in its next exchange by then."""

    def __init__(self, process: "subprocess.Popen[bytes]", seconds: float) -> None:
        self.rang = False
        self._off = False
        self._process = process
        self._lock = threading.Lock()
        self._timer = threading.Timer(seconds, self._ring)
        self._timer.daemon = True

    def start(self) -> None:
        self._timer.start()

    def call_off(self) -> bool:
        """False when it rang already."""
        self._timer.cancel()
        with self._lock:
            self._off = True
        return not self.rang

    def _ring(self) -> None:
        with self._lock:
            if not self._off:
                self.rang = True
                self._process.kill()


def _unavailable(what: str) -> ToolError:
    hint = "write a simpler query; if that fails too, say that the database cannot be read"
    return ToolError("unavailable", f"the process that runs the queries {what}", hint)


def _end(process: "subprocess.Popen[bytes]", owner: int) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    if os.getpid() != owner:  # in a fork: the child belongs to the parent
        process.poll()
        return
    process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=2)


def _send(process: "subprocess.Popen[bytes]", message: dict[str, Any]) -> None:
    data = json.dumps(message).encode("ascii")
    rest = memoryview(struct.pack(">I", len(data)) + data)
    while rest:
        rest = rest[_open(process.stdin).write(rest) :]


def _receive(process: "subprocess.Popen[bytes]") -> dict[str, Any]:
    (length,) = struct.unpack(">I", _read(_open(process.stdout), 4))
    if length > MAX_REPLY_BYTES:
        raise ValueError(f"a reply of {length} bytes")
    reply = json.loads(_read(_open(process.stdout), length))
    if not isinstance(reply, dict):
        raise ValueError("a reply that is no object")
    return reply


def _read(pipe: IO[bytes], count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        piece = pipe.read(count - len(data))
        if not piece:
            raise EOFError
        data += piece
    return bytes(data)


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise EOFError
    return pipe
