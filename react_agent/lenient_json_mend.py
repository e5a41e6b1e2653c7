"""The commonest mistakes in JSON, mended in place, so that the standard decoder reads the rest: what a small model writes every day.

Each mend stands outside strings, where it can mean one thing only, and leaves all other characters where they are.
"""

import json
import re
from collections.abc import Callable
from typing import Any

MENDED = frozenset("}]NTF")  # how what can be mended begins, or what follows it
_MOST = 4  # mistakes in one object
_PYTHON_WORD = re.compile(r"(?:None|True|False)(?=[ \t\r\n]*+[,}\]])")
_JSON_WORDS = {"None": "null", "True": "true", "False": "false"}

Decode = Callable[[str, int], tuple[Any, int]]  # the value at an offset and the offset after it; raises ValueError


def mended(text: str, start: int, fault: int, decode: Decode, repairs: dict[str, int]) -> tuple[Any, int] | None:
    """The value at start without what stands at fault, if it is a comma before a closing bracket or a word of Python's, and nothing
    but such mistakes follow."""
    made: dict[str, int] = {}
    for _ in range(_MOST):
        if (at := _comma_before(text, start, fault)) >= 0:
            made.setdefault("trailing_comma", at)
            text = f"{text[:at]} {text[at + 1 :]}"
        elif word := _PYTHON_WORD.match(text, fault):
            made.setdefault("python_literal", fault)
            text = f"{text[:fault]}{_JSON_WORDS[word[0]]}{text[word.end() :]}"
        else:
            return None
        try:
            found = decode(text, start)
        except json.JSONDecodeError as error:
            fault = error.pos
        except (ValueError, RecursionError):
            return None
        else:
            for name, offset in made.items():
                repairs.setdefault(name, offset)
            return found
    return None


def single_quoted(text: str, start: int, decode: Decode, repairs: dict[str, int]) -> tuple[Any, int] | None:
    """The value at start in a text in which ' stands wherever JSON has a double quote, and nowhere else, as Python writes it."""
    if '"' in text or "\\" in text:
        return None
    text = text.replace("'", '"')
    try:
        found: tuple[Any, int] | None = decode(text, start)
    except json.JSONDecodeError as error:
        found = mended(text, start, error.pos, decode, repairs)
    except (ValueError, RecursionError):
        return None
    repairs.setdefault("single_quotes", text.index('"', start))
    return found


def _comma_before(text: str, start: int, closer: int) -> int:
    """The place of the comma before a closing bracket, with nothing but blanks between; -1 when there is none."""
    if text[closer : closer + 1] not in ("}", "]"):
        return -1
    at = len(text[start:closer].rstrip(" \t\r\n")) + start - 1
    return at if text[at] == "," else -1
