"""Cuts a text into passages of at most about twenty lines that stand under one heading: what a search ranks and shows."""

import re
from dataclasses import dataclass

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_UNDERLINE = re.compile(r"([=\-~^\"*+])\1{2,}[ \t]*$")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_LEVELS = {"=": 1, "-": 2}
_LONGEST_HEADING = 200  # characters of a heading that are kept
_SOFT, _HARD = 12, 20  # lines after which a passage ends at a blank line, and at any line


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines first to last, counted from 0, both included. headings: from the outermost to the one that it stands under.
    table: the line with the column names when the passage begins inside a table, else None."""

    first: int
    last: int
    headings: tuple[str, ...]
    table: int | None = None


def passages(lines: list[str]) -> list[Passage]:
    """The passages of a text, in order; blank lines around them belong to none."""
    cutter = _Cutter(lines)
    for number in range(len(lines)):
        cutter.take(number)
    cutter.close(len(lines))
    return cutter.done


class _Cutter:
    def __init__(self, lines: list[str]) -> None:
        self.done: list[Passage] = []
        self._lines = lines
        self._first: int | None = None
        self._table: int | None = None  # where the table began that the last line is in
        self._head: int | None = None  # the same for the line _first, when it is not the head itself
        self._has_body = False
        self._headings: list[tuple[int, str]] = []
        self._fence = ""

    def take(self, number: int) -> None:
        line = self._lines[number]
        level = 0 if self._fence else self._heading_level(number)
        if level:
            if self._has_body:
                self.close(number)
            self._headings = [each for each in self._headings if each[0] < level] + [(level, _heading_text(line) or line.strip())]
        size = 0 if self._first is None else number - self._first
        if size >= _HARD or (size >= _SOFT and not line.strip()):
            self.close(number)
        self._table = (number if self._table is None else self._table) if line.lstrip().startswith("|") else None
        if line.strip():
            if self._first is None:
                self._first, self._head = number, self._table if self._table != number else None
            self._has_body = self._has_body or not (level or _UNDERLINE.match(line))
        self._toggle_fence(line)

    def close(self, end: int) -> None:
        """End the open passage before line end."""
        if self._first is None:
            return
        last = end - 1
        while not self._lines[last].strip():
            last -= 1
        headings = tuple(text[:_LONGEST_HEADING] for _, text in self._headings)
        self.done.append(Passage(self._first, last, headings, self._head))
        self._first, self._has_body = None, False

    def _heading_level(self, number: int) -> int:
        line = self._lines[number]
        if found := _HEADING.match(line):
            return len(found[1])
        alone = number == 0 or not self._lines[number - 1].strip()
        below = _UNDERLINE.match(self._lines[number + 1]) if number + 1 < len(self._lines) else None
        return _LEVELS.get(below[1], 3) if below and alone and line.strip() and not _UNDERLINE.match(line) and line[:1] != "|" else 0

    def _toggle_fence(self, line: str) -> None:
        if (found := _FENCE.match(line)) and self._fence in ("", found[1]):
            self._fence = "" if self._fence else found[1]


def _heading_text(line: str) -> str:
    """What stands after the # of a heading, without those that close it; "" when the line is none."""
    found = _HEADING.match(line)
    return found[2].rstrip("#").strip(" \t") if found else ""


def title(text: str) -> str:
    """The first heading of a text, else its first line; "" when it holds nothing."""
    lines = text.split("\n")
    for line in lines:
        if found := _heading_text(line):
            return found
    return next((line.strip() for line in lines if line.strip()), "")
