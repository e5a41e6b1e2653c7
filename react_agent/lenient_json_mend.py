"""The commonest mistakes in JSON, mended in place, so that the standard decoder reads the rest: what a small model writes every day.

Each mend stands outside strings, where it can mean one thing only, and leaves all other characters where they are.
"""

import re
from collections.abc import Callable
from typing import Any

MENDED = frozenset(",}]NTF")  # how what can be mended begins, or what follows it
_MOST = 4  # mistakes in one object
_BLANKS = " \t\r\n"
_LAST_COMMA = re.compile(r",[ \t\r\n]*+[}\]]")
_PYTHON_WORD = re.compile(r"(?:None|True|False)(?=[ \t\r\n]*+[,}\]])")
_WORD_OR_STRING = re.compile(rf'{_PYTHON_WORD.pattern}|"(?:[^"\\]|\\.)*+\\?(?:"|\Z)', re.DOTALL)
_JSON_WORDS = {"None": "null", "True": "true", "False": "false"}

# Gives the value at an offset and the offset after it; or None, and puts the place of a fault that it found into the list.
Decode = Callable[[str, int, list[int]], tuple[Any, int] | None]


def mended(text: str, start: int, fault: int, decode: Decode, repairs: dict[str, int]) -> tuple[Any, int] | None:
    """The value at start without what stands at fault, if it is a comma before a closing bracket or a word of Python's, and nothing
    but such mistakes follow."""
    made: dict[str, int] = {}
    faults = [fault]
    while len(faults) <= _MOST:
        fault = faults[-1]
        if (at := _trailing_comma(text, start, fault)) >= 0:
            made.setdefault("trailing_comma", at)
            text = f"{text[:at]} {text[at + 1 :]}"
        elif _PYTHON_WORD.match(text, fault):
            made.setdefault("python_literal", fault)
            text = text[:fault] + _WORD_OR_STRING.sub(_in_json, text[fault:])
        else:
            return None
        tried = len(faults)
        if found := decode(text, start, faults):
            repairs.update(made)
            return found
        if len(faults) == tried:
            return None
    return None


def single_quoted(text: str, start: int, decode: Decode, repairs: dict[str, int]) -> tuple[Any, int] | None:
    """The value at start in a text in which ' stands wherever JSON has a double quote, and nowhere else, as Python writes it."""
    if '"' in text or "\\" in text:
        return None
    text = text.replace("'", '"')
    faults: list[int] = []
    found = decode(text, start, faults)
    if not found and faults:
        found = mended(text, start, faults[0], decode, repairs)
    if found:
        repairs["single_quotes"] = text.index('"', start)
    return found


def _in_json(part: re.Match[str]) -> str:
    """A word of Python's as JSON has it, of the same length; a string as it is."""
    return _JSON_WORDS.get(part[0], part[0])


def _trailing_comma(text: str, start: int, fault: int) -> int:
    """The place of a comma after a value and before a closing bracket, with nothing but blanks between; -1 when there is none.

    The decoder names the comma since Python 3.13, and the bracket before that.
    """
    char = text[fault : fault + 1]
    if char == "," and _LAST_COMMA.match(text, fault):
        return fault if text[start:fault].rstrip(_BLANKS)[-1] not in "{[,:" else -1
    if char != "}" and char != "]":
        return -1
    at = len(text[start:fault].rstrip(_BLANKS)) + start - 1
    return at if text[at] == "," else -1
