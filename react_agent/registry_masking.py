"""Error texts, made fit for a model: one line, short, no path of this machine, little of what the model itself wrote."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from react_agent.registry_neutral import neutral

MAX_ECHO = 200
_LOOKED_AT = 4_000  # characters of an error text and values of the arguments; what comes behind would hardly be shown
_TRACEBACK = "Traceback (most recent call last)"
_CONTROL = re.compile("[\x00-\x1f]")
_LOCAL = r"(?:[A-Za-z][\w+.-]*:///*(?=/))?"  # file:///a, sqlite:////a: an address without a host
_ROOT = rf"(?:file://|{_LOCAL})(?:/|[A-Za-z]:[\\/]|\\\\)"
_CHAR = r"""[^\s\\/'"`:,;()<>|]"""
_NAME = f"{_CHAR}+"
_QUOTED = re.compile(rf"""(['"])({_ROOT}[^'"\n]+)\1""")  # 'C:\Users\Some One\file', as in the text of an OSError
_POSIX = re.compile(
    rf"(?<![\w/.~-]){_LOCAL}(?:/{_NAME})+/({_NAME})/?"
    rf"|(?<![\w/.~<#$-]){_LOCAL}/((?=\.?[^\W\d]){_CHAR}{{2,}})/?"  # /secret; not 10 /2, km /h or </div>
)
_WINDOWS = re.compile(rf"(?<!\w)(?:[A-Za-z]:[\\/]+|\\\\+)(?:{_NAME}[\\/]+)*({_NAME})")


def one_line(text: str, most: int, arguments: Any = None) -> str:
    """The text for a model, at most so many characters; of a longer text in arguments at most MAX_ECHO characters stay."""
    if _TRACEBACK in text:  # a tool's author put it into a ToolError; its last line says what happened
        text = text.rstrip().rsplit("\n", 1)[-1]
    line = without_paths(" ".join(text[:_LOOKED_AT].split()))
    for written in _long_texts(arguments):
        line = _without_echo(line, written)
    line = neutral(_CONTROL.sub("\ufffd", line))
    return line if len(line) <= most else f"{line[: most - 1]}…"


def without_paths(text: str) -> str:
    """The text with the last part of each absolute path in its place; addresses on the web stay."""
    text = _QUOTED.sub(lambda found: f"{found[1]}{_last_part(found[2])}{found[1]}", text)
    return _POSIX.sub(lambda found: found[1] or found[2], _WINDOWS.sub(r"\1", text))


def _last_part(path: str) -> str:
    return re.split(r"[\\/]+", path.rstrip("\\/"))[-1]


def _without_echo(line: str, written: str) -> str:
    """The line with every run of more than MAX_ECHO characters that the model wrote cut down to half of it."""
    at = 0
    while at + MAX_ECHO < len(line):
        end = at + MAX_ECHO + 1
        if line[at:end] in written:
            while end < len(line) and line[at : end + 1] in written:
                end += 1
            line = f"{line[: at + MAX_ECHO // 2]}…{line[end:]}"
            at += MAX_ECHO // 2
        at += 1
    return line


def _long_texts(arguments: Any) -> Iterator[str]:
    """Every text in the arguments that is longer than MAX_ECHO, on one line as in an error text."""
    waiting = [arguments]
    for _ in range(_LOOKED_AT):  # the arguments may be what was refused: endless, or far too many
        if not waiting:
            return
        value = waiting.pop()
        if isinstance(value, str) and len(value) > MAX_ECHO:
            yield " ".join(value.split())
        elif isinstance(value, Mapping):
            waiting += [*value, *value.values()]
        elif isinstance(value, (list, tuple)):
            waiting += value
