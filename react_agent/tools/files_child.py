"""The child process that runs a regular expression; started as a script with `python -I -S`, never imported.

`re` cannot be interrupted from inside (it holds the interpreter's lock), so a pattern that explodes is ended by killing this process: by
the parent at its deadline; by the kernel when the parent is gone (see lifeline); by the kernel's timer and limits whatever happens.

Standard input: frames, each 8 bytes of big-endian length and that many bytes. The first is JSON {"pattern", "hits", "seconds", "parent"},
the others are a number in 4 bytes and a text in UTF-8; an empty frame or the end of the pipe ends them. Standard output: one line a hit,
"number line start end" (lines and columns from 0, in characters), or a line "error MESSAGE" when the pattern cannot be compiled or run.
"""

import contextlib
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator

if sys.platform != "win32":  # there the parent's deadline is the only brake
    import fcntl
    import resource

MEMORY = 512 << 20


def limit_self(seconds: float, parent: int) -> None:
    if sys.platform == "win32":
        return
    deadly = (signal.SIGALRM, signal.SIGIO, signal.SIGINT)
    for number in deadly:
        signal.signal(number, signal.SIG_DFL)  # the default action ends the process whatever the interpreter is doing
    signal.pthread_sigmask(signal.SIG_UNBLOCK, deadly)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    lifeline(parent)
    lower(resource.RLIMIT_AS, MEMORY)
    lower(resource.RLIMIT_CPU, int(seconds) + 2)
    lower(resource.RLIMIT_FSIZE, 0)
    lower(resource.RLIMIT_CORE, 0)


def lifeline(parent: int) -> None:
    """Ask for SIGIO when the other end of standard error closes: nothing is ever sent that way, so that is when the parent dies (Linux)."""
    with contextlib.suppress(OSError):
        fcntl.fcntl(2, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(2, fcntl.F_SETFL, fcntl.fcntl(2, fcntl.F_GETFL) | os.O_ASYNC)
    if os.getppid() != parent:  # it was gone before
        sys.exit()


def lower(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    top = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with contextlib.suppress(ValueError, OSError):  # macOS refuses RLIMIT_AS; the other brakes hold
        resource.setrlimit(kind, (top, top))


def frame() -> bytes:
    head = sys.stdin.buffer.read(8)
    return sys.stdin.buffer.read(int.from_bytes(head, "big")) if len(head) == 8 else b""


def hits(search: Callable[[str], re.Match[str] | None], most: int) -> Iterator[tuple[int, int, int, int]]:
    while text := frame():
        number = int.from_bytes(text[:4], "big")
        for index, line in enumerate(text[4:].decode("utf-8").split("\n")):
            if found := search(line):
                yield number, index, found.start(), found.end()
                most -= 1
                if not most:
                    return


def answer(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    order = json.loads(frame())
    limit_self(order["seconds"], order["parent"])
    try:
        search = re.compile(order["pattern"], re.IGNORECASE).search
        for hit in hits(search, order["hits"]):
            answer(" ".join(map(str, hit)))
    except (re.error, RecursionError, OverflowError, MemoryError) as error:
        answer("error " + (str(error).replace("\n", " ") or type(error).__name__))


if __name__ == "__main__":
    main()
