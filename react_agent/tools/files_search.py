"""Search in the files of a folder: lines that hold a text as it stands, then lines that match it as a regular expression."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

from react_agent.errors import ToolError
from react_agent.tools.files_limits import FolderLimits
from react_agent.tools.files_path import Parts, visible
from react_agent.tools.files_regex import RegexChild, looks_regular
from react_agent.tools.files_text import TextFile
from react_agent.tools.files_walk import Walk, open_regular, shown

_CHUNK = 250_000
_OVERLAP = 1_000
_TOO_LONG = "the regular expression took too long and was stopped"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a file, cut at a line break unless a line is longer than the piece. first: the number of its first line."""

    name: str
    first: int
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    name: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.name}:{self.line}: {self.text}"


@dataclass(frozen=True, slots=True)
class Hits:
    """What a search found. matched: how many lines match, as far as it came; shown are the hits. notes: what cut it short."""

    pattern: str
    hits: tuple[Hit, ...]
    matched: int
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.hits:
            return "\n".join((f"no line matches {self.pattern}", *self.notes))
        some = f", {len(self.hits)} are shown" if self.matched > len(self.hits) else ""
        return "\n".join((f"{self.matched} lines match{some}", *map(str, self.hits), *self.notes))


@dataclass(slots=True)
class Scan:
    """Reads the text files below a path for one search, and remembers why it stopped before the end. late: whether the time is up."""

    walk: Walk
    limits: FolderLimits
    late: Callable[[], bool]
    files: int = 0
    left: int = field(init=False)
    cut: str = ""
    too_large: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.left = self.limits.scan_bytes

    def chunks(self, top: Parts) -> Iterator[Chunk]:
        """The file at top, or every text file below the folder there; binary, oversized and unreadable ones of a folder are passed over."""
        if not self.walk.is_folder(top):
            yield from self._file(self.walk.file(top), top)
            return
        for folder, parts, name in self.walk.files(top, self._over):
            way = (*parts, name)
            with suppress(OSError, ToolError):
                if folder.lstat(name).st_size <= self.limits.scan_bytes:
                    yield from self._file(open_regular(folder, name, way), way)
                else:
                    self.too_large.append(shown(way))

    @property
    def passed_over(self) -> tuple[str, ...]:
        """A note about the files that were too large to be searched, if there were any."""
        more = f" and {len(self.too_large) - 3} more" if len(self.too_large) > 3 else ""
        return (f"too large to be searched: {', '.join(self.too_large[:3])}{more}",) if self.too_large else ()

    def _file(self, fd: int, parts: Parts) -> Iterator[Chunk]:
        name = shown(parts, self.limits.name_chars)
        with TextFile(fd, name, self.left) as source:
            self.files += 1
            for chunk in cut_in_chunks(name, source):
                yield chunk
                if self._over():
                    return
        self.left -= source.read_bytes
        if source.cut:
            self.cut = self._too_much()

    def _over(self) -> bool:
        if self.late():
            self.cut = f"the time was up; files searched: {self.files}"
        elif self.left <= 0:
            self.cut = self._too_much()
        return bool(self.cut)

    def _too_much(self) -> str:
        return f"there is more than one search reads ({self.limits.scan_bytes // 1_000:,} kB); files searched: {self.files}"


def grep(scan: Scan, pattern: str, top: Parts, seconds: float) -> Hits:
    """The lines below top that hold pattern, whatever the case; then those that it matches as a regular expression, if it is one."""
    literal, regular = _Found(scan.limits.hits), _Found(scan.limits.hits)
    chunks: list[Chunk] = []
    with ExitStack() as stack:
        child = stack.enter_context(RegexChild(pattern, scan.limits.hits, seconds)) if looks_regular(pattern) else None
        for number, chunk in enumerate(scan.chunks(top)):
            for line, text in lines_with(chunk.text, pattern):
                literal.add(Hit(chunk.name, chunk.first + line, around(text, fold(text).find(fold(pattern)), scan.limits.hit_chars)))
            if child:
                child.feed(number, chunk.text)
                chunks.append(chunk)
        notes = _take_regular(child, chunks, regular, literal, scan.limits.hit_chars) if child else ()
    hits = (literal.chosen() + regular.chosen())[: scan.limits.hits]
    return Hits(visible(pattern), tuple(hits), literal.matched + regular.matched, (*notes, *filter(None, [scan.cut]), *scan.passed_over))


def _take_regular(child: RegexChild, chunks: list[Chunk], found: "_Found", known: "_Found", room: int) -> tuple[str, ...]:
    """Move the child's hits into found, but for lines in known. A pattern that fails is an error only when there is nothing to show."""
    try:
        for hit in child.hits():
            chunk = chunks[hit.text]
            found.add(Hit(chunk.name, chunk.first + hit.line, around(nth_line(chunk.text, hit.line), hit.start, room)), known)
    except ToolError as error:
        if not known.matched:
            raise
        return (error.message,)
    if not child.timed_out:
        return ()
    if not known.matched and not found.matched:
        raise ToolError("timeout", _TOO_LONG, "search for plain words, or for a pattern without nested + and *")
    return (f"{_TOO_LONG}; there may be more matches",)


@dataclass(slots=True)
class _Found:
    """The hits to show, one a line: at most a quarter of the room for one folder, as long as others come."""

    most: int
    first: list[Hit] = field(default_factory=list)
    spare: list[Hit] = field(default_factory=list)
    folders: Counter[str] = field(default_factory=Counter)
    matched: int = 0
    last: tuple[str, int] = ("", 0)

    def add(self, hit: Hit, known: "_Found | None" = None) -> None:
        if known and any(hit.line == other.line and hit.name == other.name for other in known.first + known.spare):
            return
        if self.last == (hit.name, hit.line):  # a line that is longer than a chunk
            return
        self.last = hit.name, hit.line
        self.matched += 1
        folder = hit.name.rpartition("/")[0]
        if self.folders[folder] < self.most // 4 and len(self.first) < self.most:
            self.folders[folder] += 1
            self.first.append(hit)
        elif len(self.spare) < self.most:
            self.spare.append(hit)

    def chosen(self) -> list[Hit]:
        return (self.first + self.spare)[: self.most]


def cut_in_chunks(name: str, blocks: Iterable[str]) -> Iterator[Chunk]:
    """Blocks put together to pieces that end where a line ends. A longer line is cut, with some overlap for matches."""
    first, held = 1, ""
    for block in blocks:
        held += block
        if len(held) < _CHUNK:
            continue
        end = held.rfind("\n")
        if end < 0:
            yield Chunk(name, first, held)
            held = held[-_OVERLAP:]
        else:
            yield Chunk(name, first, held[:end])
            first += held.count("\n", 0, end + 1)
            held = held[end + 1 :]
    if held:
        yield Chunk(name, first, held.removesuffix("\n"))


def lines_with(text: str, needle: str) -> Iterator[tuple[int, str]]:
    """Number (from 0) and text of each line that holds needle, case folded."""
    folded, wanted = fold(text), fold(needle)
    at, line, seen = folded.find(wanted), 0, 0
    lines: list[str] = []
    while at >= 0:
        lines = lines or text.split("\n")
        line += folded.count("\n", seen, at)
        yield line, lines[line]
        seen = at
        end = folded.find("\n", at)
        at = folded.find(wanted, end) if end >= 0 else -1


def nth_line(text: str, number: int) -> str:
    return text.split("\n", number + 1)[number]


def fold(text: str) -> str:
    """Text to compare with: one form of each character, no case. Line breaks stay as many and in their places."""
    return (text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold()


def around(line: str, at: int, room: int) -> str:
    """At most room characters of a line, with those at column at among them."""
    if len(line) <= room:
        return line
    start = max(0, min(at - room // 3, len(line) - room))
    return ("…" if start else "") + line[start : start + room] + ("…" if start + room < len(line) else "")
