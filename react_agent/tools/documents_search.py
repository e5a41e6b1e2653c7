"""Finds the lines of documents that have something of a query: its words, its text as it stands, a match of it as a regular expression."""

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice

from react_agent.tools.documents_words import MEASURES, joined_words, query_words, tokens
from react_agent.tools.files_search import Chunk, fold, lines_with

_SAME_BEGINNING = 0.5  # what a word counts that only begins like the one asked for
_MOST_WORDS = 32
_MOST_LINES = 50_000  # that are marked in one search
_PLACES = 200  # of a line that are compared for the best part of it
_WORD_LENGTH = 24
_VOCABULARY = 2_000  # words that are compared with one that is not there
_DOCUMENT = re.compile(r"(?<![\w.-])[\w.-]+\.(?:md|markdown|txt|rst|adoc|html?)\b")
_SPELLED = re.compile(r"[^\W\d_]{3,30}")

Words = dict[str, float]  # a word of the query -> how well it is matched, 0 to 1


@dataclass(slots=True)
class Mark:
    """What one line has of the query. points_to: the last name of a document that the line speaks of, "" when there is none."""

    words: Words = field(default_factory=dict)
    literal: bool = False
    regular: bool = False
    points_to: str = ""


class Search:
    """One query over texts that are add()ed one by one. chunks and marks: the texts, and their marked lines, counted from 0."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.words = dict(islice(query_words(pattern).items(), _MOST_WORDS))
        self.chunks: list[Chunk] = []
        self.marks: list[dict[int, Mark]] = []
        self.lines = 0
        self.lines_with: Counter[str] = Counter()
        self._text = " ".join(fold(pattern).split())
        self._by_beginning: dict[str, list[str]] = defaultdict(list)
        for word in dict.fromkeys([*self.words, *joined_words(pattern)[:_MOST_WORDS]]):
            self._by_beginning[word[:4]].append(word)
        beginnings = sorted({word[:4].rstrip("y") or word for word in self.words})
        self._beginnings = re.compile("|".join(map(re.escape, beginnings)) or r"(?!)")
        self._known: dict[str, tuple[tuple[str, float], ...]] = {}
        self._room = _MOST_LINES

    @property
    def is_phrase(self) -> bool:
        """Whether finding the text as it stands says more than finding its word."""
        return not self._text.isalnum()

    @property
    def is_full(self) -> bool:
        """Whether so many lines match that the later texts were not looked at."""
        return not self._room

    @property
    def missing(self) -> list[str]:
        """The words of the query that no line holds, as they were written; none once a regular expression has found something.
        Words like count and size are no loss: what is asked for is found without them."""
        if any(mark.regular for marks in self.marks for mark in marks.values()):
            return []
        there = {written for word, written in self.words.items() if self.lines_with[word] or word in MEASURES}
        return [written for written in dict.fromkeys(self.words.values()) if written not in there]

    def add(self, chunk: Chunk) -> None:
        """Mark the lines of one text."""
        marks: dict[int, Mark] = defaultdict(Mark)
        for line, _ in islice(lines_with(chunk.text, self._text), self._room):
            marks[line].literal = True
        for line, text in islice(self._lines_with_beginnings(chunk.text), self._room):
            if words := self.words_in(text):
                marks[line].words = words
                pointer = _DOCUMENT.search(text)
                marks[line].points_to = pointer[0] if pointer else ""
                self.lines_with.update(words.keys())
        self._room = max(0, self._room - len(marks))
        self.lines += chunk.text.count("\n") + 1
        self.lines_with.update(self.words_in(chunk.name).keys())
        self.chunks.append(chunk)
        self.marks.append(dict(marks))

    def add_regular(self, chunk: int, line: int) -> None:
        """Mark a line of the chunk-th text as matched by the pattern."""
        self.marks[chunk].setdefault(line, Mark()).regular = True

    def words_in(self, text: str) -> Words:
        """The words of the query that a text holds."""
        return best_of([dict(self._alike(token)) for token in tokens(text)])

    def best_place(self, line: str, width: int) -> int:
        """The column of a line from which on width characters hold the most words of the query."""
        starts = [match.start() for match in islice(self._beginnings.finditer(fold(line)), _PLACES)]
        places = [(at, word) for at in starts for word in self.words_in(line[at : at + _WORD_LENGTH])]
        return max(places, key=lambda place: len({word for at, word in places if 0 <= at - place[0] < width}), default=(0, ""))[0]

    def near_words(self, most: int = 3) -> list[str]:
        """Words of the texts that are spelled like those of the query that are missing."""
        spelled = chain.from_iterable(_SPELLED.findall(chunk.text.casefold()) for chunk in self.chunks)
        known = set(islice(spelled, 20 * _VOCABULARY))
        near = (difflib.get_close_matches(word.casefold(), islice(known, _VOCABULARY), n=2, cutoff=0.7) for word in self.missing[:most])
        return list(dict.fromkeys(chain.from_iterable(near)))[:most]

    def _lines_with_beginnings(self, text: str) -> Iterator[tuple[int, str]]:
        """Lines that hold the beginning of a word of the query; only these are worth taking apart."""
        folded = fold(text)
        lines: list[str] = []
        at = line = seen = 0
        while found := self._beginnings.search(folded, at):
            lines = lines or text.split("\n")
            line += folded.count("\n", seen, found.start())
            seen = found.start()
            yield line, lines[line]
            at = folded.find("\n", seen)
            if at < 0:
                return

    def _alike(self, token: str) -> tuple[tuple[str, float], ...]:
        known = self._known.get(token)
        if known is None:
            near = self._by_beginning.get(token[:4], ())
            known = self._known[token] = tuple((word, likeness) for word in near if (likeness := _likeness(word, token)))
        return known


def best_of(many: list[Words]) -> Words:
    """Every word with the best of its matches."""
    best: Words = {}
    for words in many:
        for word, quality in words.items():
            best[word] = max(quality, best.get(word, 0.0))
    return best


def _likeness(word: str, token: str) -> float:
    """How well a stem of a text stands for one of the query, 0 to 1."""
    if word == token:
        return 1.0
    shorter, longer = sorted((word, token), key=len)
    return _SAME_BEGINNING if len(shorter) > 3 and longer.startswith(shorter) else 0.0
