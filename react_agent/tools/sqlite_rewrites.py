"""What a statement was probably meant to be, for an error's hint: the model may send it, nothing here is ever run."""

from collections.abc import Sequence
from itertools import pairwise

from react_agent.tools.sqlite_text import Token

ARITHMETIC = frozenset("*/+-%")
_AFTER_CONDITIONS = frozenset({"and", "or", "group", "order", "limit", "union", "intersect", "except"})
_LONGEST = 200  # characters of a statement that fits into a hint


def two_values(words: Sequence[Token]) -> str:
    """`SELECT a FROM t WHERE x - b FROM u WHERE y`, also with a bare second SELECT -> each value in brackets; else empty."""
    outside = _outside_brackets(words)
    tables = [place for place in outside if words[place].value == "from" and words[place].kind == "word"]
    if len(tables) != 2 or words[0].value != "select":
        return ""
    sign = max((place for place in outside if tables[0] < place < tables[1] and words[place].text in ARITHMETIC), default=0)
    if not sign:
        return ""
    second = ("" if words[sign + 1].value == "select" else "SELECT ") + written(words[sign + 1 :])
    return _short(f"SELECT ({written(words[:sign])}) {words[sign].text} ({second})")


def calculated_outside(words: Sequence[Token]) -> str:
    """`SELECT a FROM t WHERE x = 'text' * 2` -> the calculation behind the one column that is asked for; else empty."""
    outside = _outside_brackets(words)
    table = next((place for place in outside if words[place].value == "from"), 0)
    column = words[1:table]
    texts = (place for place in outside if place > table and words[place].kind == "text" and words[place + 1 :][:1])
    text = next((place for place in texts if words[place + 1].text in ARITHMETIC), 0)
    if not text or words[0].value != "select" or any(word.text in (",", "*") for word in column):
        return ""
    end = next((place for place in outside if place > text and words[place].value in _AFTER_CONDITIONS), len(words))
    parts = [column, words[text + 1 : end], words[table : text + 1], words[end:]]
    return _short(" ".join(["SELECT", *(written(part) for part in parts if part)]))


def calculates_with_text(words: Sequence[Token]) -> bool:
    return any(text.kind == "text" and sign.text in ARITHMETIC for text, sign in pairwise(words))


def written(words: Sequence[Token]) -> str:
    """The words with one blank where there was any space between them."""
    gaps = ["" if before.start + len(before.text) == word.start else " " for before, word in pairwise(words)]
    return "".join(gap + word.text for gap, word in zip(["", *gaps], words, strict=True))


def _outside_brackets(words: Sequence[Token]) -> list[int]:
    """The places of the words that stand in no brackets."""
    depth, places = 0, []
    for place, word in enumerate(words):
        depth -= word.text == ")"
        if depth == 0 and word.text not in ("(", ")"):
            places.append(place)
        depth += word.text == "("
    return places


def _short(statement: str) -> str:
    return statement if len(statement) <= _LONGEST else ""
