"""Words as a search compares them: case folded, plural and -ing forms brought together, identifiers taken apart, CJK text in pairs."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

_CJK = "\u0e00-\u0e7f\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN = re.compile(rf"[{_CJK}]+|[^\W\d_{_CJK}]+|\d+(?:[.,]\d+)*")
_IS_CJK = re.compile(rf"[{_CJK}]")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ENDINGS = (("ies", "y"), ("ied", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""))
_NO_ENDING = re.compile(r"(?:ss|us|is|eed)$")
_HAS_VOWEL = re.compile(r"[aeiouy]")
_STOP_WORDS = """
a about all also am an and any are as at be been but by can could did do does doing document documents docs each for from get give had has
have he her him his how i if in into is it its itself let long many may me much must my name named no nor not of off on or our out per
please s say says shall she should so some such t tell than that the their them then there these they this those to too under up upon us
used using very was we were what when where which who whom whose why will with would you your
什么 多少 怎么 如何 哪个 哪些 是否 可以 请问 为什 几个 多长 多久
"""
_STOP = frozenset(_STOP_WORDS.split())
_AMOUNT = re.compile(r"\bhow (?:many|much|long|large|big|often|old|far|high)\b|多少|多长|多大|多久|几", re.IGNORECASE)
_MEASURE_WORDS = "size count number limit max maximum min minimum total amount length value rate duration"


def tokens(text: str) -> Iterator[str]:
    """The stems in a text, in order; an identifier such as InkPool gives itself and its parts."""
    for token in _TOKEN.findall(text if text.isascii() else unicodedata.normalize("NFKC", text)):
        yield from _forms(token)


def query_words(pattern: str) -> dict[str, str]:
    """Stem -> the word as written, without the words that every question holds (unless there are no others)."""
    written = {form: token for token in _written(pattern) for form in _forms(token)}
    telling = {form: token for form, token in written.items() if not _says_nothing(form) and not _says_nothing(token.casefold())}
    return telling or written


def joined_words(pattern: str) -> list[str]:
    """Stems of neighbouring words written together: "time out" also finds timeout."""
    words = [token.casefold() for token in _written(pattern)]
    return [stem(a + b) for a, b in zip(words, words[1:], strict=False) if a.isalpha() and b.isalpha() and (a + b).isascii()]


def asks_amount(pattern: str) -> bool:
    """Whether a question wants a number."""
    return bool(_AMOUNT.search(pattern)) or any(stem(token.casefold()) in MEASURES for token in _written(pattern))


def _written(pattern: str) -> list[str]:
    """The words of a pattern; what a backslash makes of a letter in a regular expression is none."""
    return _TOKEN.findall(unicodedata.normalize("NFKC", re.sub(r"\\[A-Za-z]", " ", pattern)))


def stem(word: str) -> str:
    """The part of an English word that its plural, -ed and -ing forms share; other words as they are."""
    if not word.isascii() or not word.isalpha() or len(word) < 3:
        return word
    if len(word) > 3 and not _NO_ENDING.search(word):
        for ending, instead in _ENDINGS:
            rest = word[: -len(ending)]
            if word.endswith(ending) and len(rest) >= 2 + (not instead) and _HAS_VOWEL.search(rest + instead):
                word = rest + instead
                break
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    return word[:-1] if word[-1] == word[-2] else word


def _says_nothing(word: str) -> bool:
    return word in _STOP or (len(word) == 1 and "a" <= word <= "z")


@lru_cache(maxsize=50_000)
def _forms(token: str) -> tuple[str, ...]:
    if _IS_CJK.match(token):
        return tuple(token[at : at + 2] for at in range(max(1, len(token) - 1)))
    whole = stem(token.casefold())
    parts = _CAMEL.findall(token) if not (token.islower() or token.isupper() or token.istitle()) else []
    return tuple(dict.fromkeys([whole, *(stem(part.casefold()) for part in parts)])) if len(parts) > 1 else (whole,)


MEASURES = frozenset(map(stem, _MEASURE_WORDS.split()))
