"""What a statement was probably meant to be, for an error's hint: the model may send it, nothing here is ever run."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from react_agent.tools.sqlite_text import Token, ends_operand, names_given

_ARITHMETIC = frozenset("*/+-%")
_CONDITIONS = frozenset({"where", "on", "having"})
_AFTER_CONDITION = frozenset({
    "and", "or", "where", "group", "having", "order", "limit", "union", "intersect", "except", "window",
    "join", "inner", "left", "right", "full", "cross", "natural",
})  # fmt: skip
_BIND_TIGHTER = frozenset({"->", "->>", "||"})  # behind these a text is a part of what is calculated with
_LONGEST = 200  # characters of a statement that fits into a hint


def two_values(words: Sequence[Token]) -> str:
    """`SELECT a FROM t WHERE x - b FROM u WHERE y`, also with a bare second SELECT -> each value in brackets; else empty."""
    outside = _outside_brackets(words)
    tables = [place for place in outside if words[place].text.lower() == "from"]
    if len(tables) != 2:
        return ""
    signs = [place for place in outside if tables[0] < place < tables[1] and _calculates(words, place)]
    sign = next((place for place in signs if words[place + 1].value == "select"), max(signs, default=0))
    selects = {place for place in outside if words[place].text.lower() == "select"}
    if not sign or selects - {sign + 1} != {0}:
        return ""
    second = ("" if sign + 1 in selects else "SELECT ") + written(words[sign + 1 :])
    return _short(f"SELECT ({written(words[:sign])}) {words[sign].text} ({second})")


def instead_of_text(words: Sequence[Token]) -> str:
    """What to write where a condition calculates with a text, so that no row matches; empty where none does."""
    text = next(_calculated_texts(words), 0)
    if not text:
        return ""
    if words[text + 1].text == "+" and text + 2 < len(words) and words[text + 2].kind == "text":
        return "texts are joined by ||: 'a' || 'b'"
    return f"write {_calculated_outside(words, text) or 'SELECT column * 2 FROM ...'}"


def _calculated_outside(words: Sequence[Token], text: int) -> str:
    """`SELECT a FROM t WHERE x = 'text' * 2` -> the calculation behind the one column that is asked for; else empty."""
    outside = _outside_brackets(words)
    table = next((place for place in outside if words[place].text.lower() == "from"), 0)
    column = words[1:table]
    selects = [place for place in outside if words[place].text.lower() == "select"]
    if text not in outside or text < table or not column or selects != [0]:
        return ""
    if any(word.text in (",", "*") for word in column) or any(names_given(column)):
        return ""
    end = next((place for place in outside if place > text and words[place].value in _AFTER_CONDITION), len(words))
    parts = [column, words[text + 1 : end], words[table : text + 1], words[end:]]
    return _short(" ".join(["SELECT", *(written(part) for part in parts if part)]))


def _calculated_texts(words: Sequence[Token]) -> Iterator[int]:
    """The places of the texts in conditions that are calculated with and are no numbers, nor dates, which begin like one."""
    conditions = (place for place, word in enumerate(words) if word.kind == "word" and word.value in _CONDITIONS)
    for place in range(next(conditions, len(words)) + 1, len(words) - 1):
        text = words[place]
        number = text.value.strip().lstrip("+-.")[:1].isdigit()
        if text.kind == "text" and not number and words[place + 1].text in _ARITHMETIC and words[place - 1].text not in _BIND_TIGHTER:
            yield place


def written(words: Sequence[Token]) -> str:
    """The words with one blank where there was any space between them."""
    gaps = ["" if before.start + len(before.text) == word.start else " " for before, word in pairwise(words)]
    return "".join(gap + word.text for gap, word in zip(["", *gaps], words, strict=False))


def _calculates(words: Sequence[Token], place: int) -> bool:
    """Is the word a sign between two values, and not that of a number, nor the * of SELECT *?"""
    if words[place].text not in _ARITHMETIC or not 0 < place < len(words) - 1:
        return False
    return ends_operand(words[place - 1]) and words[place + 1].value != "from"


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
