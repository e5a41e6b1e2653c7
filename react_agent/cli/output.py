"""Where the command line prints: results on standard output, words for the person on standard error."""

import contextlib
import io
import logging
import os
import sys
from collections.abc import Iterator

from react_agent.cli.view import printable
from react_agent.errors import ReactAgentError


def prepare_streams() -> None:
    """Make the three standard streams ones that can be used: a closed one leads nowhere, and no character and no byte is an error.

    What an output cannot show is written by its number (\\xe9), what an input does not hold as text is a replacement character.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by who started us
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
        stream = getattr(sys, name)
        with contextlib.suppress(io.UnsupportedOperation, AttributeError):  # one that was read from already, or none of Python's own
            stream.reconfigure(errors="replace" if mode == "r" else "backslashreplace")


def result(text: str) -> None:
    """What a program may read: standard output. On a terminal control characters are shown, not obeyed: a model wrote the text.

    Raises ReactAgentError when it cannot be written, and BrokenPipeError when nobody reads it any more.
    """
    try:
        print(printable(text) if sys.stdout.isatty() else text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        drop_output()
        raise ReactAgentError(f"the result cannot be written to standard output: {error.strerror}") from None


def drop_output() -> None:
    """Standard output leads nowhere from here on: what is still in its buffer would fail again at the end of the program."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(text: str) -> None:
    """A word to the person: standard error. When that cannot be written, nobody is there to be told so."""
    with contextlib.suppress(OSError):
        print(printable(text) if sys.stderr.isatty() else text, file=sys.stderr, flush=True)


def fail(message: str, hint: str = "") -> None:
    """What went wrong and what to do next: standard error."""
    say(f"error: {message}" + (f"\n{hint}" if hint else ""))


@contextlib.contextmanager
def log_shown() -> Iterator[None]:
    """What the package logs (the traceback of a tool that crashed) is a word to the person, and as harmless as the others."""
    log, handler = logging.getLogger("react_agent"), _LogHandler()
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


class _LogHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(self.format(record))


def fleeting(text: str) -> None:
    """A line on the terminal that the next one takes the place of; empty to take it away."""
    with contextlib.suppress(OSError):
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
