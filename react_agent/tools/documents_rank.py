"""Ranks passages: by the words of the query that they hold, rare ones more than common ones, after those that hold its very text."""

import heapq
import math
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from react_agent.tools.documents_search import Mark, Search, Words, best_of
from react_agent.tools.documents_sections import Passage, passages
from react_agent.tools.documents_words import MEASURES, asks_amount
from react_agent.tools.files_search import Chunk

WORTH = 0.5  # of the best score: what is below that is not shown
_HEADING, _ABOUT_HEADING = 0.6, 0.6  # what a word counts that stands in a heading above only; what it adds anyway, for it is the topic
_FILE, _ABOUT_FILE = 0.3, 0.3  # the same for a word in the file's name, or in a line of another document that points to the file
_POINTER = 0.5  # what a word counts in a line that only points to another document
_MEASURE = 0.5  # what a word like size or count counts: a document seldom says it where it gives the number
_NUMBER = 0.5  # what it adds when an amount is asked for and a line that matches has a digit
_SUBJECT = 0.3  # what a word of the title of an index or a read-me counts: all the documents are about it
_ONE_LINE = 0.5  # how much a line that holds many of the words adds
_MOST_LINES = 200_000  # that are cut into passages in one search
_DIGIT = re.compile(r"\d")
_INDEX = re.compile(r"(?:index|readme|contents|toc|overview)\b", re.IGNORECASE)
_TITLE = 400  # characters at the beginning of such a file, among which its title is


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that matches. lines: its text by number in the file, with the head of the table that it begins in.
    hits: how much each line that matches is worth."""

    name: str
    first: int
    last: int
    headings: tuple[str, ...]
    lines: dict[int, str]
    hits: dict[int, float]
    score: float


class Ranking:
    """Scores the passages around the marked lines of a search."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._asks_amount = asks_amount(search.pattern)
        self._subject = self._words_of_titles()
        self._weights = {word: self._weight(word) for word in search.lines_with.keys() | search.words.keys()}
        self._all = 1.0 + self._value(dict.fromkeys(search.words, 1.0))
        self._pointed_at = self._pointers()

    def best(self, most: int) -> list[Found]:
        """The best passages, in order; equal ones in the order of the texts."""
        found: list[Found] = []
        left = _MOST_LINES
        ceilings = [self._ceiling(number) for number in range(len(self._search.chunks))]
        for number in sorted(range(len(ceilings)), key=lambda number: -ceilings[number]):
            if ceilings[number] <= 0 or left < 0 or (found and ceilings[number] < WORTH * found[0].score):
                break
            left -= self._search.chunks[number].text.count("\n")
            found = heapq.nlargest(most, [*found, *self._passages(number)], key=lambda each: each.score)
        return found

    def _passages(self, number: int) -> Iterator[Found]:
        chunk, marks = self._search.chunks[number], self._search.marks[number]
        lines = chunk.text.split("\n")
        cut = passages(lines)
        starts = [each.first for each in cut]
        about = self._about(chunk)
        grouped: dict[int, dict[int, Mark]] = {0: {}} if about and cut and chunk.first == 1 else {}
        for line in sorted(marks):
            grouped.setdefault(max(0, bisect_right(starts, line) - 1), {})[line] = marks[line]
        for at, its in grouped.items():
            yield self._found(chunk, lines, cut[at], its, about)

    def _found(self, chunk: Chunk, lines: list[str], passage: Passage, marks: dict[int, Mark], about: Words) -> Found:
        headings = self._search.words_in(" ".join(passage.headings))
        context = best_of([_scaled(headings, _HEADING), _scaled(about, _FILE)])
        topic = best_of([_scaled(headings, _ABOUT_HEADING), _scaled(about, _ABOUT_FILE)])
        words = {line: self._words_of(mark, chunk) for line, mark in marks.items()}
        worth = {line: self._value(best_of([context, its])) for line, its in words.items()}
        number = self._asks_amount and any(_DIGIT.search(lines[line]) for line in marks)
        score = self._value(best_of([context, *words.values()])) + self._value(topic) + number * _NUMBER
        shown = [*range(passage.first, passage.last + 1), *([] if passage.table is None else [passage.table])]
        return Found(
            chunk.name, chunk.first + passage.first, chunk.first + passage.last, passage.headings,
            {chunk.first + line: lines[line] for line in shown if lines[line].strip()},
            {chunk.first + line: worth[line] + self._bonus([mark], chunk) for line, mark in marks.items()},
            score + _ONE_LINE * max(worth.values(), default=0.0) + self._bonus(marks.values(), chunk),
        )  # fmt: skip

    def _ceiling(self, number: int) -> float:
        """What no passage of a text can score above."""
        chunk, marks = self._search.chunks[number], self._search.marks[number]
        if not marks and chunk.first > 1:
            return 0.0
        words = self._value(best_of([self._about(chunk), *(mark.words for mark in marks.values())]))
        return words * (1 + _ABOUT_HEADING + _ONE_LINE) + self._bonus(marks.values(), chunk) + (_NUMBER if words else 0.0)

    def _bonus(self, marks: Iterable[Mark], chunk: Chunk) -> float:
        """What puts the text itself before a match of a regular expression, and that before the words."""
        telling = [mark for mark in marks if not self._points_away(mark, chunk)]
        literal = any(mark.literal for mark in telling)
        regular = any(mark.regular for mark in telling)
        return literal * (3 * self._all if self._search.is_phrase else 0.3) + regular * 1.5 * self._all

    def _about(self, chunk: Chunk) -> Words:
        """What a document's name, and the lines of others that point to it, have of the query."""
        return best_of([self._search.words_in(chunk.name), *self._pointed_at.get(_base(chunk.name), [])])

    def _pointers(self) -> dict[str, list[Words]]:
        pointed_at: dict[str, list[Words]] = defaultdict(list)
        names = {_base(chunk.name) for chunk in self._search.chunks}
        for chunk, marks in zip(self._search.chunks, self._search.marks, strict=True):
            for mark in marks.values():
                if mark.points_to in names and mark.points_to != _base(chunk.name):
                    pointed_at[mark.points_to].append(mark.words)
        return pointed_at

    def _words_of(self, mark: Mark, chunk: Chunk) -> Words:
        return _scaled(mark.words, _POINTER) if self._points_away(mark, chunk) else mark.words

    def _points_away(self, mark: Mark, chunk: Chunk) -> bool:
        return mark.points_to in self._pointed_at and mark.points_to != _base(chunk.name)

    def _value(self, words: Words) -> float:
        return sum(quality * self._weights[word] for word, quality in words.items())

    def _weight(self, word: str) -> float:
        """How much a word tells: the fewer lines hold it, the more."""
        rarity = math.log(1 + self._search.lines / (1 + self._search.lines_with[word]))
        return rarity * (_MEASURE if word in MEASURES else 1.0) * (_SUBJECT if word in self._subject else 1.0)

    def _words_of_titles(self) -> Words:
        """The words of the query in the titles of the files that say what the documents are about; none when it asks for nothing else."""
        firsts = (chunk for chunk in self._search.chunks if chunk.first == 1 and _INDEX.match(_base(chunk.name)))
        words = best_of([self._search.words_in(chunk.text[:_TITLE].lstrip().split("\n")[0]) for chunk in firsts])
        return words if self._search.words.keys() - words.keys() else {}


def _scaled(words: Words, factor: float) -> Words:
    return {word: factor * quality for word, quality in words.items()}


def _base(name: str) -> str:
    return name.rpartition("/")[2]
