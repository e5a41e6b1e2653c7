"""Text -> one JSON object, read strictly or with named repairs; pure, iterative and linear.

strict_object takes what the standard decoder takes, and nothing that hides a doubt. read_object repairs syntax where only one
reading is possible: it never closes a string or a container inside a tool's input and never drops or invents a value.
"""

import json
import math
import re
from typing import Any

from react_agent.lenient_json_reader import MAX_DEPTH, Ending, Guide, Reader, Reading, reopened
from react_agent.lenient_json_tokens import SPEAKER, Unreadable

__all__ = ["MAX_DEPTH", "SPEAKER", "Ending", "Guide", "Reading", "Unreadable", "read_object", "reopened", "strict_object", "strict_text"]

_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]]', re.DOTALL)
_STRICT_START = re.compile(r'\{[ \t\r\n]*+["}]')
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Doubtful(ValueError):
    """Valid for the decoder, but one name or number has two meanings or none."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Doubtful
    return found


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _Doubtful
    return value


def _constant(text: str) -> Any:
    raise _Doubtful(text)


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float, parse_constant=_constant)
_RAW_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float, parse_constant=_constant, strict=False)


def strict_text(text: str) -> Any:
    """The value of a text that is JSON and nothing else. Raises ValueError; also for a duplicate key, NaN and too much depth."""
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise _Doubtful from None
    _refuse_doubts(text, value)
    return value


def strict_object(text: str, start: int) -> Reading | None:
    """The object that begins with the brace at start, if JSON's grammar holds and nothing in it is in doubt; else None.

    Raw control characters in strings are the one repair that is made here, since the decoder can read them.
    """
    if not _STRICT_START.match(text, start):
        return None
    repairs = {}
    try:
        try:
            value, end = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            if not error.msg.startswith("Invalid control character"):
                return None
            repairs["raw_control"] = error.pos
            value, end = _RAW_DECODER.raw_decode(text, start)
        if end - start > 2 * MAX_DEPTH or not text.isascii() or text.find("\\u", start, end) >= 0:
            _refuse_doubts(text[start:end], value)
    except (ValueError, RecursionError):
        return None
    return Reading(value, start, end, repairs=repairs)


def _refuse_doubts(text: str, value: Any) -> None:
    """ValueError for more than MAX_DEPTH levels and for half a surrogate pair."""
    if text.count("{") + text.count("[") > MAX_DEPTH and _depth(text) > MAX_DEPTH:
        raise _Doubtful
    if not text.isascii():
        text.encode()  # raises UnicodeEncodeError, a ValueError
    if "\\ud" in text or "\\uD" in text:
        json.dumps(value, ensure_ascii=False).encode()


def _depth(text: str) -> int:
    """How many brackets are open at once in a text that is JSON."""
    depth = deepest = 0
    for match in _BRACKETS.finditer(text):
        bracket = match[0]
        if bracket in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif bracket in "}]":
            depth -= 1
    return deepest


def read_object(text: str, start: int, guide: Guide, *, opener: bool = True, as_input: bool = False) -> Reading:
    """The object at start, read with repairs; without opener its first brace is missing and start is its first key.

    Raises Unreadable.
    """
    reader = Reader(text, start, guide, opener=opener, as_input=as_input)
    try:
        reading = reader.run()
        if half := None if text.isascii() else _SURROGATE.search(text, start, reading.end):
            raise Unreadable("bad_syntax", half.start(), "half a surrogate pair is no character; write the character itself")
    except Unreadable as error:
        error.partial, error.keys = reader.root, reader.keys
        raise
    return reading
