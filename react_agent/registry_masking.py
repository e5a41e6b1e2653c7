"""Error texts, made fit for a model: one line, short, no path of this machine, little of what the model itself wrote."""

import re
from collections.abc import Iterator
from typing import Any

from react_agent.registry_neutral import neutral

MAX_ECHO = 200
_QUOTED = re.compile(r"""(['"])(?:file://)?(?:/|[A-Za-z]:[\\/]|\\\\)(?:(?!\1).)*?([^/\\'"]+)[/\\]*\1""")
_POSIX = re.compile(r"""(?<![\w/:.~-])(?:file://)?(?:/[^\s/'"`:,;()<>|]+)+/([^\s/'"`:,;()<>|]+)/?""")
_WINDOWS = re.compile(r"""(?<!\w)(?:[A-Za-z]:|\\\\)[\\/]+(?:[^\s\\/'"`:,;()<>|]+[\\/]+)*([^\s\\/'"`:,;()<>|]+)""")


def one_line(text: str, most: int, arguments: Any = None) -> str:
    """The text for a model, at most so many characters; of a longer text in arguments at most MAX_ECHO characters stay."""
    line = " ".join(text[: 20 * most].split())
    line = _WINDOWS.sub(r"\1", _POSIX.sub(r"\1", _QUOTED.sub(r"\1\2\1", line)))
    for written in _long_texts(arguments):
        line = _without_echo(line, written)
    line = neutral(line)
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _without_echo(line: str, written: str) -> str:
    """The line with every run of more than MAX_ECHO characters that the model wrote cut down."""
    at = 0
    while at + MAX_ECHO < len(line):
        if line[at : at + MAX_ECHO + 1] not in written:
            at += 1
            continue
        end = at + MAX_ECHO + 1
        while end < len(line) and line[at : end + 1] in written:
            end += 1
        line = f"{line[: at + MAX_ECHO // 2]}…{line[end:]}"
        at += MAX_ECHO // 2
    return line


def _long_texts(arguments: Any) -> Iterator[str]:
    if isinstance(arguments, str) and len(arguments) > MAX_ECHO:
        yield " ".join(arguments.split())
    elif isinstance(arguments, dict):
        for name, value in arguments.items():
            yield from _long_texts(name)
            yield from _long_texts(value)
    elif isinstance(arguments, list):
        for value in arguments:
            yield from _long_texts(value)
