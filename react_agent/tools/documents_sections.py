"""Cuts a text into passages of at most about twenty lines that stand under one heading: what a search ranks and shows."""

import re
from dataclasses import dataclass

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*$")
_UNDERLINE = re.compile(r"([=\-~^\"*+])\1{2,}[ \t]*$")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_LEVELS = {"=": 1, "-": 2}
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
        self._has_body = False
        self._headings: list[tuple[int, str]] = []
        self._fence = ""

    def take(self, number: int) -> None:
        line = self._lines[number]
        level = 0 if self._fence else self._heading_level(number)
        if level:
            if self._has_body:
                self.close(number)
            text = _HEADING.match(line)
            self._headings = [each for each in self._headings if each[0] < level] + [(level, (text[2] if text else line).strip())]
        size = 0 if self._first is None else number - self._first
        if size >= _HARD or (size >= _SOFT and not line.strip()):
            self.close(number)
        if line.strip():
            self._first = number if self._first is None else self._first
            self._has_body = self._has_body or not (level or _UNDERLINE.match(line))
        self._toggle_fence(line)

    def close(self, end: int) -> None:
        """End the open passage before line end."""
        if self._first is None:
            return
        last = end - 1
        while not self._lines[last].strip():
            last -= 1
        headings = tuple(text for _, text in self._headings)
        self.done.append(Passage(self._first, last, headings, self._table_head(self._first)))
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

    def _table_head(self, first: int) -> int | None:
        head = first
        while head and self._lines[head].lstrip().startswith("|") and self._lines[head - 1].lstrip().startswith("|"):
            head -= 1
        return head if head != first else None


def title(text: str) -> str:
    """The first heading of a text, else its first line; "" when it holds nothing."""
    lines = text.split("\n")
    for line in lines:
        if found := _HEADING.match(line):
            return found[2]
    return next((line.strip() for line in lines if line.strip()), "")
