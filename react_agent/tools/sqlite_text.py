"""What can be read off the text of a statement: its words, the tables it names, what it compares.

For messages; no guard rests on it but the one over without_explain, which refuses when that is mistaken.
Imported by the child process too, which runs without the package: the standard library only.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from typing import Literal

Kind = Literal["space", "text", "name", "word", "number", "sign"]

TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n]*|/\*.*?(?:\*/|\Z))
    |(?P<text>'[^']*+(?:''[^']*+)*+(?:'|\Z))
    |(?P<name>"[^"]*+(?:""[^"]*+)*+(?:"|\Z)|`[^`]*+(?:``[^`]*+)*+(?:`|\Z)|\[[^\]]*(?:\]|\Z))
    |(?P<word>[^\W\d]\w*)
    |(?P<number>\d\w*(?:\.\w*)?)
    |(?P<sign>->>|->|\|\||<>|<=|>=|!=|==|.)""",
    re.S | re.X,
)
BEFORE_COMMON_TABLES = (("as", "("), ("as", "not"), ("as", "materialized"))
BEFORE_OPERANDS = frozenset([
    "select", "distinct", "all", "where", "and", "or", "not", "on", "by", "having", "when", "then", "else", "case", "between", "limit",
    "offset", "(", ",", "+", "-", "*", "/", "%",
])  # fmt: skip
CLAUSES = frozenset(
    ["where", "on", "using", "join", "inner", "left", "right", "full", "cross", "natural", "group", "order", "limit", "union", "as", "set"]
)


@dataclass(frozen=True, slots=True)
class Token:
    kind: Kind
    text: str
    start: int

    @property
    def value(self) -> str:
        """The name or text without its quotes, a word in lower case."""
        if self.kind in ("text", "name"):
            mark = self.text[0]
            return self.text[1:].removesuffix("]" if mark == "[" else mark).replace(mark * 2, mark)
        return self.text.lower()


@dataclass(frozen=True, slots=True)
class Comparison:
    """`column = 'text'` in a statement; table: the table or alias before the column, or empty; sign: =, IS or LIKE."""

    table: str
    column: str
    sign: str
    text: str


def tokens(sql: str) -> list[Token]:
    """All but white space and comments."""
    return [
        Token(match.lastgroup, match.group(), match.start())  # type: ignore[arg-type]  # the groups are the kinds
        for match in TOKEN.finditer(sql)
        if match.lastgroup != "space"
    ]


def without_tail(sql: str, words: Sequence[Token]) -> tuple[str, list[Token]]:
    """The statement without the semicolons and comments that follow it, which Python would take for a second statement.

    Semicolons before it do no harm; they only leave its tokens.
    """
    words = list(dropwhile(lambda word: word.text == ";", words))
    while words and words[-1].text == ";":
        sql = sql[: words.pop().start]
    return sql, words


def without_explain(sql: str) -> str:
    """The statement behind EXPLAIN and EXPLAIN QUERY PLAN, and behind semicolons."""
    words = list(dropwhile(lambda word: word.text == ";", tokens(sql)))
    if words and words[0].value == "explain":
        words = words[3 if [word.value for word in words[1:3]] == ["query", "plan"] else 1 :]
    return sql[words[0].start :] if words else ""


def main_verb(words: Sequence[Token]) -> str:
    """What the statement does: its first word, after EXPLAIN the one that is explained, after WITH the first verb outside of brackets."""
    words = list(dropwhile(lambda word: word.value in ("explain", "query", "plan"), words))
    if not words or words[0].value != "with":
        return words[0].value if words else ""
    depth = 0
    for word in words:
        depth += {"(": 1, ")": -1}.get(word.text, 0)
        if depth == 0 and word.value in ("select", "values", "insert", "replace", "update", "delete"):
            return word.value
    return "with"


def named_tables(words: Sequence[Token], known: Collection[str]) -> dict[str, str]:
    """Tables that the statement names, by each name and alias that it may use for them, in lower case."""
    spelled = {name.lower(): name for name in known}
    found: dict[str, str] = {}
    for place, word in enumerate(words):
        table = spelled.get(word.value.lower())
        if table is None or word.kind not in ("word", "name"):
            continue
        if place and words[place - 1].text == "." and words[place - 2].value not in ("main", "temp"):
            continue
        found.setdefault(table.lower(), table)
        after = words[place + 1 : place + 3]
        alias = after[1] if len(after) == 2 and after[0].value == "as" else after[0] if after else None
        if alias is not None and alias.kind in ("word", "name") and alias.value not in CLAUSES:
            found.setdefault(alias.value.lower(), table)
    return found


def comparisons(words: Sequence[Token]) -> Iterator[Comparison]:
    """Every `column = 'text'`, also with LIKE, IS and the first text of IN (...)."""
    for place in range(1, len(words) - 1):
        sign, column = words[place], words[place - 1]
        if sign.value not in ("=", "==", "is", "like", "in") or column.kind not in ("word", "name"):
            continue
        qualified = place >= 3 and words[place - 2].text == "."
        before = words[place - 4 if qualified else place - 2] if place >= (4 if qualified else 2) else None
        last = place + 2 if sign.value == "in" and words[place + 1].text == "(" and place + 2 < len(words) else place + 1
        text, after = words[last], words[last + 1] if last + 1 < len(words) else None
        if not _is_whole(before, after):
            continue
        if text.kind == "text" or (text.kind == "name" and text.text[0] == '"'):
            table = words[place - 3].value if qualified else ""
            yield Comparison(table, column.value, sign.value if sign.value in ("is", "like") else "=", text.value)


def _is_whole(before: Token | None, after: Token | None) -> bool:
    """Whether what stands between these is all that is compared: no part of `a || b = 'text'` or of `a = 'text' COLLATE NOCASE`."""
    if before is not None and before.kind == "sign" and before.text not in ("(", ","):
        return False
    return after is None or after.text in (")", ",") or (after.kind != "sign" and after.value not in ("collate", "escape"))


def quoted_operands(words: Sequence[Token]) -> Iterator[str]:
    """Names in double quotes that stand where a column would, and not where a text to compare with or an alias would."""
    opened: list[str] = []
    for place, word in enumerate(words):
        before = words[place - 1] if place else None
        if word.text == "(":
            opened.append(before.value if before else "")
        elif word.text == ")" and opened:
            opened.pop()
        elif word.kind == "name" and word.text[0] == '"' and before is not None and _opens_operand(before):
            called = place + 1 < len(words) and words[place + 1].text == "("
            if not called and not (opened and opened[-1] == "in"):
                yield word.value


def _opens_operand(word: Token) -> bool:
    return word.kind in ("word", "sign") and word.value in BEFORE_OPERANDS


def names_given(words: Sequence[Token]) -> Iterator[str]:
    """Names that the statement itself gives, in lower case: aliases, also without AS, and the columns of common tables.

    Too many rather than too few: any word that follows an operand may be one.
    """
    for place in range(1, len(words)):
        word, before = words[place], words[place - 1]
        if word.kind in ("name", "word") and ends_operand(before):
            yield word.value.lower()
        if word.text == ")" and tuple(each.value for each in words[place + 1 : place + 3]) in BEFORE_COMMON_TABLES:
            yield from (each.value.lower() for each in words[_opening(words, place) : place] if each.kind in ("name", "word"))


def ends_operand(word: Token) -> bool:
    return word.text == ")" or (word.kind != "sign" and not _opens_operand(word))


def _opening(words: Sequence[Token], closing: int) -> int:
    """The place of the bracket that the one at closing closes."""
    depth = 0
    for place in range(closing, -1, -1):
        depth += {")": 1, "(": -1}.get(words[place].text, 0)
        if depth == 0:
            return place
    return 0
