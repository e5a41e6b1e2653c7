"""Text out of an open file, block by block: UTF-8, one kind of line break, and never more than a set number of bytes."""

import codecs
import io
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate
from types import TracebackType
from typing import Self

from react_agent.errors import ToolError
from react_agent.tools.files_limits import FolderLimits

_BLOCK = 65_536
_HEAD = 8_192
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class TextFile:
    """An open text file; iterating gives its decoded blocks with "\\n" as the only line break. Bytes that are not UTF-8 become U+FFFD.

    fd: owned, closed on exit. cut: after the iteration, whether the file went on beyond limit bytes.
    """

    def __init__(self, fd: int, name: str, limit: int) -> None:
        self._fd = fd
        self._name = name
        self._limit = limit
        self.size = os.fstat(fd).st_size
        self.read_bytes = 0
        self.cut = False

    def __iter__(self) -> Iterator[str]:
        decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8-sig")("replace"), translate=True)
        while data := os.read(self._fd, min(_BLOCK, self._limit + 1 - self.read_bytes)):
            if self.read_bytes < _HEAD:
                self._require_text(data[: _HEAD - self.read_bytes])
            self.read_bytes += len(data)
            if self.read_bytes > self._limit:
                self.cut = True
                data = data[:-1]
            if text := decoder.decode(data):
                yield text
            if self.cut:
                return
        if text := decoder.decode(b"", final=True):
            yield text

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        os.close(self._fd)

    def _require_text(self, data: bytes) -> None:
        if b"\0" in data or (not self.read_bytes and data.startswith(_UTF16)):
            kind = "UTF-16 text" if not self.read_bytes and data.startswith(_UTF16) else "binary data"
            raise ToolError("binary_file", f"{self._name} holds {kind}, not UTF-8 text", "read another file; only UTF-8 text can be read")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Some lines of a file. start: the number of the first one, from 1. total: how many lines the file has, or at least has when
    not total_known. Lines longer than the limit are cut, and say so in their text."""

    name: str
    start: int
    lines: tuple[str, ...]
    total: int
    total_known: bool = True

    @property
    def end(self) -> int:
        return self.start + len(self.lines) - 1

    @property
    def heading(self) -> str:
        if not self.lines:
            return f"{self.name} is empty"
        more = f"; go on with start={self.end + 1}" if self.end < self.total or not self.total_known else ""
        return f"{self.name}, lines {self.start}-{self.end} of {'' if self.total_known else 'at least '}{self.total}{more}"

    def __str__(self) -> str:
        return "\n".join((self.heading, *self.lines))

    def numbered(self, room: int) -> str:
        """The heading and the lines with their numbers: as many lines as have room, in bytes of JSON, but one at least."""
        rows = [f"{number}: {line}" for number, line in enumerate(self.lines, self.start)]
        fitting = sum(1 for used in accumulate(map(_size, rows)) if used <= room)
        kept = replace(self, lines=self.lines[: max(1, fitting)])
        return "\n".join((kept.heading, *rows[: len(kept.lines)]))


def _size(line: str) -> int:
    return len(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace"))


def excerpt(source: TextFile, name: str, start: int, end: int | None, limits: FolderLimits) -> Excerpt:
    """Lines start to end, both counted from 1 and included, as far as one read may go."""
    taker = _LineTaker(start, end, limits)
    for block in source:
        taker.feed(block)
    total = taker.finish()
    if start > max(total, 1):
        raise _beyond(name, start, total, source)
    return Excerpt(name, start, tuple(taker.lines), total, total_known=not source.cut)


def _beyond(name: str, start: int, total: int, source: TextFile) -> ToolError:
    if source.cut:
        message = f"line {start} of {name} lies beyond the first {source.read_bytes // 1_000_000} MB, which is as far as a file is read"
        return ToolError("too_large", message, f"the lines up to {total} can be read")
    return ToolError("invalid_argument", f"{name} has {total} lines; line {start} does not exist", f"start can be 1 to {max(total, 1)}")


@dataclass(slots=True)
class _LineTaker:
    """Keeps the wanted lines of a text that comes in blocks; the others are only counted, as fast as str.count is."""

    start: int
    end: int | None
    limits: FolderLimits
    lines: list[str] = field(default_factory=list)
    number: int = 1
    room: int = field(init=False)
    kept: str = ""
    length: int = 0

    def __post_init__(self) -> None:
        self.room = self.limits.read_bytes

    def feed(self, block: str) -> None:
        breaks = block.count("\n")
        if self.number + breaks < self.start or not self._wanted(max(self.number, self.start)):
            self.number += breaks
            self.length = len(block) - block.rfind("\n") - 1 if breaks else self.length + len(block)
            return
        first, *rest = block.split("\n")
        self._extend(first)
        for piece in rest:
            self._close_line()
            self._extend(piece)

    def finish(self) -> int:
        """Close the last line, and return how many there are; a break at the very end starts no new one."""
        if self.length:
            self._close_line()
        return self.number - 1

    def _wanted(self, number: int) -> bool:
        return self.start <= number and (self.end is None or number <= self.end) and self.room > 0

    def _extend(self, piece: str) -> None:
        if len(self.kept) < self.limits.line_chars and self._wanted(self.number):
            self.kept += piece[: self.limits.line_chars - len(self.kept)]
        self.length += len(piece)

    def _close_line(self) -> None:
        if self._wanted(self.number):
            cut = f" … (line cut: {self.length} characters)" if self.length > self.limits.line_chars else ""
            self._keep(self.kept + cut)
        self.number += 1
        self.kept, self.length = "", 0

    def _keep(self, line: str) -> None:
        self.room -= _size(line)
        if self.room >= 0 or not self.lines:
            self.lines.append(line)
        self.room = max(self.room, 0)
