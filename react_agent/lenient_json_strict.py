"""The standard decoder, for text that is JSON and in which nothing is in doubt."""

import json
import math
import re
from collections.abc import Callable
from typing import Any

from react_agent.lenient_json_mend import MENDED, mended, single_quoted

MAX_DEPTH = 100
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]]', re.DOTALL)
_BEGINS = re.compile(r'\{[ \t\r\n]*+["}]|\[')
_PART = 4096  # an error's constructor counts the lines before it, so that the decoder is not given a whole long text at once
_NEAR_END = 20
_WHOLE_ENDS = ('"', "}", "]")  # of a value that cannot go on
as_json: Callable[[object], str] = json.JSONEncoder(ensure_ascii=False).encode  # made once: dumps() makes one for each call
_LONGEST_NAME = 80  # of one that may stand in a mended object
_CONTROL = "Invalid control character"


class _Doubtful(ValueError):
    """Valid for the decoder, but one name or number has two meanings or none."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Doubtful
    return found


def _plain_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The same with names of usual characters only: a quote or a bracket in a name may be one of what is wrong."""
    for name, _ in pairs:
        if not name.isidentifier() or len(name) > _LONGEST_NAME:
            raise _Doubtful
    return _object(pairs)


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _Doubtful
    return value


def _constant(text: str) -> Any:
    raise _Doubtful(text)


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float, parse_constant=_constant)
_MENDING_DECODER = json.JSONDecoder(object_pairs_hook=_plain_object, parse_float=_float, parse_constant=_constant)
_RAW_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float, parse_constant=_constant, strict=False)


def _scanner(decoder: Any) -> Callable[[str, int], tuple[Any, int]]:
    """What raw_decode() of a decoder calls. Raises StopIteration with its offset for a value that is missing, where raw_decode() takes
    as long again to make an error with its line; JSONDecodeError for any other fault."""
    found: Callable[[str, int], tuple[Any, int]] = decoder.scan_once
    return found


_scan, _mending_scan = _scanner(_DECODER), _scanner(_MENDING_DECODER)


def strict_text(text: str) -> Any:
    """The value of a text that is JSON and nothing else. Raises ValueError; also for a duplicate key, NaN and too much depth."""
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise _Doubtful from None
    _refuse_doubts(text, value)
    return value


def strict_container(text: str, start: int, repairs: dict[str, int], faults: list[int]) -> tuple[Any, int] | None:
    """The object or list that begins at start and the offset after it, if JSON's grammar holds and nothing in it is in doubt.

    The one repair that is made here changes no character's place: raw control characters in strings, which the decoder can read.
    faults takes the place where the decoder found the first fault; what stands before it is JSON as far as it goes.
    """
    if not text.startswith('{"', start) and not _BEGINS.match(text, start):
        return None
    part, at = (text, start) if len(text) <= _PART else (text[start : start + _PART], 0)
    try:
        found = _scan(part, at)
        if not part.isascii() or found[1] - at > 2 * MAX_DEPTH or part.find("\\u", at, found[1]) >= 0:
            _refuse_doubts(part[at : found[1]], found[0])
    except StopIteration as error:
        message, fault = "", error.value
    except json.JSONDecodeError as error:
        message, fault = error.msg, error.pos
    except (ValueError, RecursionError):
        return None
    else:
        return found if part is text else (found[0], found[1] + start)
    if message.startswith(_CONTROL):
        return _again(text, start, fault + start - at, repairs)
    if part is not text and (fault >= len(part) - _NEAR_END or message.startswith("Unterminated")):
        return _again(text, start, -1, repairs)
    faults.append(fault + start - at)
    return None


def _again(text: str, start: int, control: int, repairs: dict[str, int]) -> tuple[Any, int] | None:
    """The same with all of the text, and with raw control characters. control: where the first of them stands, -1 while none is known."""
    try:
        if control < 0:
            try:
                value, end = _DECODER.raw_decode(text, start)
            except json.JSONDecodeError as error:
                control = error.pos
        if control >= 0:
            value, end = _RAW_DECODER.raw_decode(text, start)
        _refuse_doubts(text[start:end], value)
    except (ValueError, RecursionError):
        return None
    if control >= 0:
        repairs.setdefault("raw_control", control)
    return value, end


def mended_object(text: str, start: int, faults: list[int], repairs: dict[str, int]) -> tuple[dict[str, Any], int] | None:
    """The same for an object in a short text as Python writes it, or whose first fault is a comma before a closing bracket or a word
    of Python's."""
    if len(text) > _PART:
        return None  # each mend takes as long as the text
    if not faults:
        return single_quoted(text, start, _checked, repairs) if text.startswith("{'", start) else None
    at = faults[0]
    return mended(text, start, at, _checked, repairs) if text[at : at + 1] in MENDED else None


def unclosed(text: str, start: int) -> dict[str, Any] | None:
    """The object at start, if nothing but its last brace is missing at the end of the text."""
    if len(text) > _PART or not text.endswith(_WHOLE_ENDS) or text.count("{", start) - text.count("}", start) != 1:
        return None
    found = _checked(f"{text}}}", start, [])
    return found[0] if found and found[1] == len(text) + 1 else None


def _checked(text: str, start: int, faults: list[int]) -> tuple[Any, int] | None:
    """What the decoder reads in a mended text at start, and the offset after it. faults takes the place of a fault that it finds."""
    try:
        found = _mending_scan(text, start)
        _refuse_doubts(text[start : found[1]], found[0])
    except StopIteration as error:
        faults.append(error.value)
    except json.JSONDecodeError as error:
        faults.append(error.pos)
    except (ValueError, RecursionError):
        pass
    else:
        return found
    return None


def _refuse_doubts(text: str, value: Any) -> None:
    """ValueError for more than MAX_DEPTH levels and for half a surrogate pair."""
    if text.count("{") + text.count("[") > MAX_DEPTH and _depth(text) > MAX_DEPTH:
        raise _Doubtful
    if not text.isascii():
        text.encode()  # raises UnicodeEncodeError, a ValueError
    if "\\ud" in text or "\\uD" in text:
        as_json(value).encode()


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
