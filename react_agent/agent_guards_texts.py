"""What the guards read in texts: numbers, the amounts of a question, what an answer claims, identifiers."""

import re
from collections.abc import Iterable

from react_agent.prompt_linking import UNSPACED

_NUMBER = re.compile(rf"(?:(?<![\w.])|(?<=[{UNSPACED}]))[-+]?(?:\d{{1,3}}(?:,\d{{3}})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?")
# Numbers that need no source: small ones, and those of time and of percentages.
COMMON_NUMBERS = frozenset({0.0, 1.0, 2.0, 3.0, 4.0, 7.0, 12.0, 24.0, 30.0, 52.0, 60.0, 100.0, 365.0, 1000.0, 3600.0})
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
# What stands before a number that is not calculated with: it is a bound, one of many, a day, or a part of a name as in Python 3.11.
_BEFORE = re.compile(
    r"(?:(?:\b(?:above|below|over|under|than|least|most|exceeds?)|[超低高大小少多][于於过過]|至少|至多)\W*"
    r"|\b(?:top|first|last|version|release|chapter|section|page|line|row|step|room|port|code|error|status|invoice|ticket|issue|id|no\.?)\s*#?"
    rf"|[#№第前]\s*|\b{_MONTH}\.?\s|(?-i:[\w,;)] [A-Z][a-z]+\s))\Z",
    re.IGNORECASE,
)
_LONGEST_BEFORE = 40  # characters before a number that are looked at
# And what stands behind one: it is the 15th, an hour, a day or a bound.
_BEHIND = re.compile(
    r"(?:st|nd|rd|th|\s?[ap]\.?m\.?|\s?o['’]clock|\s(?:or|and)\s(?:more|less|fewer|above|below|over|under|up|later|earlier)"
    rf"|\.?\s(?:of\s)?{_MONTH})(?!\w)|\s*(?:[年月号號点點时時]|日(?!元)|以[上下内內]|이[상하]|초과|미만|[년월일]|시(?!간))",
    re.IGNORECASE,
)
# Where numbers are a part of a name: between quotes, 3.11.5, 2031-05-17, HTTP/11, 14:30, A-17, 10-20, 007, +49 170 1234567.
_NAMED = re.compile(
    r"""'[^'\n]*'|"[^"\n]*"|`[^`\n]*`|“[^“”\n]*”|‘[^‘’\n]*’|「[^「」\n]*」"""
    r"|(?<!\w)\w*+(?:[./:-](?=\w*?\d)\w++){2,}+|(?<!\w)\w++/\d++|(?<!\d)\d\d?:\d\d(?!\d)|(?<!\w)[^\W\d]\w*+-\d\w*+"
    r"|(?<![\d.,])\d++[-–]\d++|(?<![\w.,])0\d++|\+\d++(?:[ -]?\(?\d++\)?){2,}+"
)
_IN_WORD = re.compile(r"(?<=[^\W\d])\d+(?:\.\d+)?")  # v1.2, 2031-05-17T14:30
_ITEM = re.compile(r"^[ \t]*\d{1,3}[.)](?=\s)", re.MULTILINE)
# What a number may be told in: a share as 15 %, 1203450 as 1.2 million.
_SCALE = re.compile(r"\s?(%|％|per ?cent\b|thousand\b|million\b|billion\b|万|萬|亿|億)", re.IGNORECASE)
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "万": 1e4, "萬": 1e4, "亿": 1e8, "億": 1e8}  # all others: 0.01
_YEARS = frozenset(map(float, range(1900, 2101)))
# Names that are no words: between backticks, an option, with an underscore or with a capital inside. ASCII, for 变量QUILL_TOKEN的值.
_IDENTIFIER = re.compile(r"`([^`\n]{2,80})`|(?<![\w-])(--?[a-zA-Z][\w-]+)|\b([A-Za-z]\w*_\w+)|\b([A-Z][a-z]+[A-Z]\w*)", re.ASCII)
LONGEST_NAME = 80  # characters of an identifier that is looked for
_ESCAPE = re.compile(r"\\(?:u[0-9a-f]{4}|(.))", re.DOTALL)  # in JSON


def numbers(text: str) -> Iterable[tuple[str, float]]:
    """Each number of a text: as written, and its value."""
    for match in _NUMBER.finditer(text):
        yield match[0], _value(match[0])


def shown(text: str) -> Iterable[float]:
    """All numbers that a text may be said to show, also one by one where commas stand between them, and in words."""
    for written in [number for number, _ in numbers(text)] + _IN_WORD.findall(text):
        yield from map(_value, (written, *written.split(",")))


def unescaped(text: str) -> str:
    """A text without the escapes of JSON, in which the n of a line break stands right before what follows."""
    return _ESCAPE.sub(lambda escape: " " if (escape[1] or "n") in "bfnrt" else escape[1], text)


def readings(written: str) -> list[str]:
    """A number in a calculation, and the numbers of what may be several, max(120,450); each as `same`."""
    return [same(_value(each)) for each in (written, *written.split(","))]


def same(value: float) -> str:
    """The same for numbers that differ by their sign or by what floating point leaves of them."""
    return f"{abs(value):.9g}"


def forms(value: float) -> tuple[float, ...]:
    """A number as it is, as a percentage, and as what a percentage leaves or adds."""
    return value, value / 100, 1 - value / 100, 1 + value / 100


def amounts(question: str) -> Iterable[tuple[str, float]]:
    """The numbers of a question that an answer to it must have been calculated with: no small ones, no years, dates or times, none in a
    name or a version, none that counts off or is only a bound, as in "above 50"."""
    plain = _NAMED.sub(lambda name: " " * len(name[0]), question)
    for match in _NUMBER.finditer(plain):
        value, start = _value(match[0]), match.start()
        if abs(value) in COMMON_NUMBERS or value in _YEARS or _BEHIND.match(plain, match.end()):
            continue
        if not _BEFORE.search(plain, max(0, start - _LONGEST_BEFORE), start):
            yield match[0], value


def claims(answer: str) -> Iterable[tuple[str, list[tuple[float, float]]]]:
    """Each number of an answer, and where a number may lie that stands behind it: rounding allowed, as it is and as a percentage or
    in millions. Without their signs, and without the numbers before the items of a list."""
    answer = _ITEM.sub("", answer) if len(_ITEM.findall(answer)) > 1 else answer
    for match in _NUMBER.finditer(answer):
        value, rounding = abs(_value(match[0])), 0.5000001 * 10.0 ** -_decimals(match[0])
        slack = rounding * (rounding < 0.5 or value > 20) + 1e-9
        ranges = [(value - slack, value + slack)]
        if told_in := _SCALE.match(answer, match.end()):
            scale, slack = _SCALES.get(told_in[1].lower(), 0.01), min(rounding, value / 20)
            ranges.append(((value - slack) * scale, (value + slack) * scale))
        yield match[0], ranges


def identifiers(text: str) -> Iterable[str]:
    """The names of a text that are no words: what stands between backticks, piece by piece, --option, SOME_NAME, SomeName."""
    for match in _IDENTIFIER.finditer(text):
        quoted = match[1]
        for piece in quoted.split() if quoted else [match[0]]:
            if 1 < len(name := piece.partition("(")[0].strip(".,;:!?'\"()[]{}<>")) <= LONGEST_NAME:
                yield name


def has_name(text: str, name: str) -> bool:
    """Whether a name stands in a text by itself, in whatever letters."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE | re.ASCII) is not None


def _value(written: str) -> float:
    return float(written.replace(",", ""))


def _decimals(written: str) -> int:
    return len(written.lower().partition("e")[0].partition(".")[2])
