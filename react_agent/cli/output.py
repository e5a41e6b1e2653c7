"""Where the command line prints: results on standard output, words for the person on standard error."""

import sys


def result(text: str) -> None:
    """What a program may read: standard output."""
    print(text, flush=True)


def say(text: str) -> None:
    """A word to the person: standard error."""
    print(text, file=sys.stderr, flush=True)


def fail(message: str, hint: str = "") -> None:
    """What went wrong and what to do next: standard error."""
    say(f"error: {message}" + (f"\n{hint}" if hint else ""))


def fleeting(text: str) -> None:
    """A line on the terminal that the next one takes the place of; empty to take it away."""
    print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
