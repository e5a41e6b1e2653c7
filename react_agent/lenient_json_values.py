"""Numbers and words outside strings: what JSON holds, what Python writes instead, and what is refused."""

import math
import re

from react_agent.lenient_json_tokens import AFTER_VALUE, LITERALS, NOT_NUMBERS, NUMBER, WORD, Unreadable

NUMBER_STARTS = frozenset("+-.0123456789")
_EXACT = frozenset({"true", "false", "null"})
_TYPES = frozenset({"string", "str", "object", "dict", "list", "array", "number", "integer", "int", "float", "boolean", "bool", "any"})
_WRITTEN = re.compile(r"[^\s,}\]]{1,40}")
_AFTER_NAME = re.compile(r"[ \t\r]*+[,}\n]")


def read_number(text: str, pos: int) -> tuple[int | float, int]:
    """The number at pos and the offset after it. Raises Unreadable for one that JSON cannot hold, or that may go on."""
    match = NUMBER.match(text, pos)
    if not match:
        raise _bad_number(text, pos)
    end = match.end()
    if end == len(text):
        raise Unreadable("truncated", pos, "the number at the end may have been cut", cut=True)
    if not AFTER_VALUE.match(text, end):
        raise _bad_number(text, pos)
    try:
        value = float(match[0]) if match[1] or match[2] else int(match[0])
    except ValueError:  # more digits than Python reads
        raise _bad_number(text, pos) from None
    if isinstance(value, float) and math.isinf(value):
        raise _bad_number(text, pos)
    return value, end


def read_word(text: str, pos: int, repairs: dict[str, int], *, as_name: bool) -> tuple[str | bool | None, int]:
    """A literal, or with as_name a tool's name without its quotes, and the offset after it. Raises Unreadable for anything else."""
    match = WORD.match(text, pos)
    if not match:
        raise _no_value(text, pos)
    word, end = match[0], match.end()
    if word.casefold() in LITERALS and (end == len(text) or AFTER_VALUE.match(text, end)):
        if word not in _EXACT:
            repairs.setdefault("python_literal", pos)
        return LITERALS[word.casefold()], end
    if word.casefold() in NOT_NUMBERS:
        raise _bad_number(text, pos)
    if word in _TYPES and not as_name:
        raise Unreadable("template_echo", pos, "a type stands where a value belongs; fill in the value itself")
    if end == len(text):
        raise Unreadable("truncated", pos, "the word at the end may have been cut", cut=True)
    if not (as_name and _AFTER_NAME.match(text, end)):
        raise Unreadable("bad_syntax", pos, f"{word[:40]} has no quotes; put text between double quotes")
    repairs.setdefault("unquoted_name", pos)
    return word, end


def _bad_number(text: str, pos: int) -> Unreadable:
    shown = _WRITTEN.match(text, pos, pos + 40)
    what = shown[0] if shown else "this"
    return Unreadable("bad_number", pos, f"{what} is not a JSON number; write plain digits such as 1000 or 0.5, or put it in quotes")


def _no_value(text: str, pos: int) -> Unreadable:
    if text.startswith(("...", "…", "<"), pos):
        return Unreadable("template_echo", pos, "a placeholder stands where a value belongs; fill in the value itself")
    if text[pos] == "(":
        return Unreadable("bad_syntax", pos, "a Python tuple is not JSON; write a list in square brackets")
    return Unreadable("bad_syntax", pos, f"a value is missing before {text[pos]!r}")
