"""Text -> one JSON object, read strictly or with named repairs; pure, iterative and linear.

strict_object takes what the standard decoder takes, and nothing that hides a doubt. read_object repairs syntax where only one
reading is possible: it never closes a string or a container inside a tool's input and never drops or invents a value.
"""

import re
from typing import Any

from react_agent.lenient_json_reader import Reader
from react_agent.lenient_json_reading import Ending, Guide, Reading, reopened
from react_agent.lenient_json_strict import MAX_DEPTH, as_json, mended_object, strict_container, strict_text, unclosed
from react_agent.lenient_json_tokens import SPEAKER, Unreadable

__all__ = [
    "MAX_DEPTH", "SPEAKER", "Ending", "Guide", "Reading", "Unreadable", "as_json", "read_object", "reopened", "strict_object",
    "strict_text", "strict_value", "try_object",
]  # fmt: skip

_SURROGATE = re.compile("[\ud800-\udfff]")


def strict_object(text: str, start: int) -> Reading | None:
    """The object that begins with the brace at start, if the standard decoder reads it, and nothing in it is in doubt; the commonest
    mistakes are mended.
    """
    repairs: dict[str, int] = {}
    found = strict_value(text, start, repairs, [])
    return Reading(found[0], start, found[1], repairs=repairs) if found else None


def strict_value(text: str, start: int, repairs: dict[str, int], faults: list[int]) -> tuple[dict[str, Any], int] | None:
    """The same as the object and the offset after it. repairs takes what was mended, faults the place of the first fault, if the decoder
    found one."""
    return strict_container(text, start, repairs, faults) or mended_object(text, start, faults, repairs)


def read_object(text: str, start: int, guide: Guide, *, opener: bool = True, as_input: bool = False) -> Reading:
    """The object at start, read with repairs; without opener its first brace is missing and start is its first key.

    Raises Unreadable.
    """
    found = try_object(text, start, guide, opener=opener, as_input=as_input)
    if isinstance(found, Reading):
        return found
    try:
        raise found
    finally:
        del found  # its frames would hold it


def try_object(
    text: str, start: int, guide: Guide, *, opener: bool = True, as_input: bool = False, fault: int = 0
) -> Reading | Unreadable:  # fmt: skip
    """The same, or why it cannot be read. fault: where the standard decoder found the first fault, if that is known."""
    if opener and not as_input and (value := unclosed(text, start)):
        return Reading(value, start, len(text), "open", repairs={"missing_closer": len(text)})
    found = Reader(text, start, guide, opener=opener, as_input=as_input, fault=fault).run()
    if isinstance(found, Unreadable) or text.isascii() or not (half := _SURROGATE.search(text, start, found.end)):
        return found
    error = Unreadable("bad_syntax", half.start(), "half a surrogate pair is no character; write the character itself")
    error.partial, error.keys = found.value, tuple(found.value)
    return error
