"""A program that reads a prompt and writes a text: fed, read, bounded, and ended with everything that it started."""

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import IO

from react_agent.endpoints.http_decode import too_large
from react_agent.endpoints.http_retry import Deadline
from react_agent.errors import EndpointError

POLL_S = 0.05      # how often a waiting caller looks at its deadline and its cancel event
GRACE_S = 1.0      # for the last output of a program that has ended while something it started keeps its output open
ERROR_BYTES = 4096 # of what it writes to standard error, its end is kept
READ_BYTES = 65536


class Program:
    """One run of a program. Everything that happens to it is bounded by the deadline; leaving the context ends its process group.

    max_bytes: of its output. On Windows, which has no process groups in this sense, only the program itself is ended.
    """

    def __init__(
        self, argv: Sequence[str], prompt: str, deadline: Deadline, *, env: Mapping[str, str], folder: str | None, max_bytes: int,
    ) -> None:  # fmt: skip
        self._deadline = deadline
        self._max_bytes = max_bytes
        self._pieces: queue.SimpleQueue[bytes | EndpointError | None] = queue.SimpleQueue()
        self._errors = b""
        try:
            self._process = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(env), cwd=folder,
                start_new_session=os.name == "posix",
            )  # fmt: skip
        except OSError as error:
            raise EndpointError("connection", f"cannot start {argv[0]}: {error.strerror}", "check the command") from None
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._threads = [
            threading.Thread(target=_feed, args=(self._process.stdin, prompt.encode("utf-8", "replace")), daemon=True),
            threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True),
            threading.Thread(target=self._keep_errors, args=(self._process.stderr,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *exc: object) -> None:
        self.end()

    def pieces(self) -> Iterator[bytes]:
        """Standard output as it comes. Raises EndpointError: timeout, cancelled, bad_response when it is too much."""
        ended_at = None
        while True:
            self._deadline.check()
            with contextlib.suppress(queue.Empty):
                piece = self._pieces.get(timeout=POLL_S)
                if piece is None:
                    return
                if isinstance(piece, EndpointError):
                    raise piece
                yield piece
                continue
            if self._exit() is not None:
                ended_at = ended_at or self._deadline.clock()
                if self._deadline.clock() - ended_at > GRACE_S:
                    return

    def exit_code(self) -> int:
        """How it ended, waited for until the deadline; below 0 is the signal that ended it."""
        while (code := self._exit()) is None:
            self._deadline.check()
            time.sleep(POLL_S)
        return code

    @property
    def errors(self) -> str:
        """The end of what it wrote to standard error; asked for when it has ended."""
        self._threads[-1].join(GRACE_S)
        return self._errors.decode("utf-8", "replace").strip()

    def end(self) -> None:
        """End the program, and on POSIX all that it started and that stayed in its group: asked first, then made to."""
        if self._exit() is None:
            self._signal(signal.SIGTERM)
            patience = time.monotonic() + GRACE_S
            while self._exit() is None and time.monotonic() < patience:
                time.sleep(POLL_S)
        self._signal(signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
        self._process.wait()
        for thread in self._threads:
            thread.join(GRACE_S)

    def _exit(self) -> int | None:
        """How it ended, None while it runs. Where the system can tell without burying it, the number of its process group stays its own
        until end has sent the last signal there."""
        if not hasattr(os, "waitid"):
            return self._process.poll()
        try:
            told = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:  # buried by somebody else: a host that ignores SIGCHLD
            return self._process.poll()
        return None if told is None else told.si_status if told.si_code == os.CLD_EXITED else -told.si_status

    def _signal(self, number: int) -> None:
        with contextlib.suppress(OSError):  # all of it has ended already
            if os.name == "posix":
                os.killpg(self._process.pid, number)
            else:
                self._process.terminate()

    def _read(self, output: IO[bytes]) -> None:
        received = 0
        with output, contextlib.suppress(OSError, ValueError):
            while piece := os.read(output.fileno(), READ_BYTES):
                received += len(piece)
                if received > self._max_bytes:
                    self._pieces.put(too_large(self._max_bytes))
                    return
                self._pieces.put(piece)
        self._pieces.put(None)

    def _keep_errors(self, output: IO[bytes]) -> None:
        with output, contextlib.suppress(OSError, ValueError):
            while piece := os.read(output.fileno(), READ_BYTES):
                self._errors = (self._errors + piece)[-ERROR_BYTES:]


def _feed(pipe: IO[bytes], prompt: bytes) -> None:
    """Write the prompt and close; a program that does not read it all has its reasons."""
    with contextlib.suppress(OSError, ValueError), pipe:
        pipe.write(prompt)
