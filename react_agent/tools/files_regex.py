"""A regular expression that a model wrote, run where it can be killed."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from react_agent.errors import ToolError

_CHILD = Path(__file__).with_name("files_child.py")
_GRACE = 0.5
_PLAIN_WORDS = "write it as plain words, or fix the pattern"
_LOOKS_REGULAR = re.compile(r"[\\*+\[\](){}|^$]|\?\w")


def looks_regular(pattern: str) -> bool:
    """Whether anything in a pattern means more than itself in a regular expression; a dot or a closing question mark does not count."""
    return bool(_LOOKS_REGULAR.search(pattern))


@dataclass(frozen=True, slots=True)
class RegexHit:
    """text: the number that the text was fed with; line, start, end: counted from 0, columns in characters of that line."""

    text: int
    line: int
    start: int
    end: int


class RegexChild:
    """One pattern in one child process: feed() it texts, then take its hits(). Both end at the deadline, when the child is killed.

    The child inherits no descriptor but its pipes; standard error is only there to let it notice when this process is gone.
    hits: the most that are looked for. seconds: from now to the deadline.
    """

    def __init__(self, pattern: str, hits: int, seconds: float) -> None:
        self.timed_out = False
        self._timer = threading.Timer(max(seconds, 0.0), self._expire)
        self._timer.daemon = True
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_CHILD)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, close_fds=True,
            )  # fmt: skip
        except (OSError, ValueError, TypeError) as error:  # no interpreter, no process to be had
            raise _cannot_run() from error
        try:
            self._timer.start()
        except RuntimeError as error:  # no thread to be had
            self.__exit__(None, None, None)
            raise _cannot_run() from error
        order = {"pattern": pattern, "hits": hits, "seconds": max(seconds, 0.0) + _GRACE, "parent": os.getpid()}
        self._send(json.dumps(order).encode())

    @property
    def pid(self) -> int:
        return self._process.pid

    def feed(self, number: int, text: str) -> None:
        """One text to search in; number: what its hits are to be called by."""
        self._send(number.to_bytes(4, "big") + text.encode("utf-8"))

    def hits(self) -> Iterator[RegexHit]:
        """What was found until the end or the deadline; ToolError(invalid_pattern) when the pattern is not one."""
        self._send(b"")
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(b"error "):
                reason = line[6:].decode("utf-8", "replace").strip()
                raise ToolError("invalid_pattern", f"not a regular expression: {reason[:150]}", _PLAIN_WORDS)
            if line.endswith(b"\n"):
                yield RegexHit(*map(int, line.split()))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._timer.cancel()
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with suppress(OSError):  # what a dead child never read cannot be flushed
                if pipe is not None:
                    pipe.close()
        self._process.wait()

    def _expire(self) -> None:
        self.timed_out = True
        self._process.kill()

    def _send(self, frame: bytes) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):  # a child that has ended says why on its output
            self._process.stdin.write(len(frame).to_bytes(8, "big") + frame)
            self._process.stdin.flush()


def _cannot_run() -> ToolError:
    return ToolError("io_error", "regular expressions cannot be run on this machine now", _PLAIN_WORDS)
