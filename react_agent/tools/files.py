"""One folder, and nothing but that folder: read, list, search and write in it, whatever path a model writes.

What is in the folder counts as given to the model. Two limits of every such guard: a hard link into the folder cannot be told from an
ordinary file, and what is mounted or bound below the folder belongs to it.
"""

import heapq
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from react_agent.errors import ConfigError, ToolError
from react_agent.registry import Tool
from react_agent.tools.files_limits import DEFAULT_LIMITS, OBSERVATION_LIMITS, FolderLimits
from react_agent.tools.files_path import Parts, names_a_folder, split_path, system_error, visible
from react_agent.tools.files_preview import preview_write
from react_agent.tools.files_search import Hits, Scan, grep
from react_agent.tools.files_text import Excerpt, TextFile, excerpt
from react_agent.tools.files_walk import Walk, shown
from react_agent.tools.files_write import replace_file

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Listing:
    """The names in a folder, folders with a closing `/`. total: how many there are, or were looked at when not total_known."""

    name: str
    names: tuple[str, ...]
    total: int
    total_known: bool = True

    def __str__(self) -> str:
        if not self.names:
            return f"{self.name} is empty"
        count = f"{'' if self.total_known else 'at least '}{self.total} entries"
        some = f", the first {len(self.names)} are shown" if self.total > len(self.names) else ""
        return "\n".join((f"{self.name}, {count}{some}", *self.names))


@dataclass(frozen=True, slots=True)
class Written:
    name: str
    size: int
    new: bool

    def __str__(self) -> str:
        return f"wrote {self.name} ({self.size} bytes), {'a new file' if self.new else 'in place of the old content'}"


class Folder:
    """A folder that nothing leads out of. Every method raises only ToolError; str() of what it returns is made for a model.

    root: followed as the owner gave it, looked at anew in each call. hidden: whether names that start with a dot exist.
    """

    def __init__(
        self, root: str | os.PathLike[str], *, hidden: bool = True, limits: FolderLimits = DEFAULT_LIMITS, clock: Clock = time.monotonic
    ) -> None:
        self.limits = limits
        self.walk = Walk(Path(os.path.abspath(root)), self.limits, hidden)
        self._clock = clock

    def read(self, path: str, start: int = 1, end: int | None = None) -> Excerpt:
        """Lines start to end of a text file, counted from 1 and both included; as far as one read may go."""
        require_range(start, end)
        with self.told(path) as parts, TextFile(self.walk.file(parts), shown(parts), self.limits.scan_bytes) as source:
            return excerpt(source, shown(parts, self.limits.name_chars), start, end, self.limits)

    def list(self, path: str = ".") -> Listing:
        """The names in a folder."""
        with self.told(path) as parts, self.walk.folder(parts) as folder:
            seen = list(islice(folder.entries(), self.limits.scan_entries))
            found = [entry for entry in seen if self.walk.allows(entry.name)]
            first = heapq.nsmallest(self.limits.entries, found, key=lambda entry: entry.name)
            names = tuple(_entry_line(entry) for entry in first)
            return Listing(shown(parts), names, len(found), total_known=len(seen) < self.limits.scan_entries)

    def grep(self, pattern: str, path: str = ".") -> Hits:
        """The lines of a file, or of all text files below a folder, that hold pattern as it stands or match it as a regular expression.
        Case does not count. Links, binary files and files over the scan limit are passed over."""
        require_pattern(pattern, self.limits)
        with self.told(path) as parts:
            return grep(self.scan(), pattern, parts, self.limits.search_seconds)

    def write(self, path: str, text: str) -> Written:
        """Put text in a file, new or replaced whole; missing folders are made. No link is followed."""
        with self.told(path) as parts:
            data = self._data_to_write(path, text)
            folder, name = self.walk.place(parts, make=True)
            with folder:
                return Written(shown(parts), len(data), replace_file(folder, name, data, shown(parts)))

    def preview(self, path: str, text: str) -> str:
        """What write() would do, for the person who is asked: a diff, or the first lines of a new file. It changes nothing.
        Where write() would be refused it raises the same ToolError, so that nobody is asked in vain."""
        with self.told(path) as parts:
            data = self._data_to_write(path, text)
            return preview_write(self.walk, parts, data.decode("utf-8"))

    def scan(self) -> Scan:
        """A search's way through the files, under this folder's limits, its time counted from now."""
        deadline = self._clock() + self.limits.search_seconds
        return Scan(self.walk, self.limits, late=lambda: self._clock() >= deadline)

    def _data_to_write(self, path: object, text: object) -> bytes:
        if isinstance(path, str) and names_a_folder(path):
            raise ToolError("invalid_path", "the path names a folder, not a file", "add a file name, for example notes.txt")
        if not isinstance(text, str):
            raise ToolError("invalid_argument", f"text must be a string, not {type(text).__name__}", "give the whole content of the file")
        most = self.limits.write_bytes
        try:
            data = text[: most + 1].encode("utf-8")
        except UnicodeEncodeError:
            raise ToolError("encoding", "the text holds characters that are not valid Unicode", "leave out lone surrogates") from None
        if len(data) > most:
            raise ToolError("too_large", f"the text is larger than {most:,} bytes", "write less, or several files")
        return data

    @contextmanager
    def told(self, path: object) -> Iterator[Parts]:
        """The parts of a path; within, a system error becomes a ToolError about it."""
        parts = split_path(path, self.limits.path_chars)
        try:
            yield parts
        except OSError as error:
            raise system_error(error, "/".join(parts)) from error


def require_range(start: object, end: object) -> None:
    """ToolError unless start and end are line numbers, counted from 1 and in order; end may be None."""
    for name, value in (("start", start), ("end", end)):
        if (value is None and name == "end") or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
            continue
        raise ToolError("invalid_argument", f"{name} must be a line number, counted from 1", "for example start=1, end=40")
    if isinstance(start, int) and isinstance(end, int) and end < start:
        raise ToolError("invalid_argument", "end is before start", "give end a line number that is not below start")


def require_pattern(pattern: object, limits: FolderLimits) -> None:
    if not isinstance(pattern, str):
        raise ToolError("invalid_argument", f"pattern must be a string, not {type(pattern).__name__}", "give the words to look for")
    if not pattern.strip():
        raise ToolError("invalid_argument", "pattern is empty", "give the words to look for")
    if len(pattern) > limits.pattern_chars:
        message = f"pattern has {len(pattern)} characters; {limits.pattern_chars} are allowed"
        raise ToolError("invalid_pattern", message, "give a few words to look for")


def _entry_line(entry: "os.DirEntry[str]") -> str:
    name = visible(entry.name, 255)
    try:
        if entry.is_symlink():
            return f"{name} (link)"
        if entry.is_dir(follow_symlinks=False):
            return f"{name}/"
        return name if entry.is_file(follow_symlinks=False) else f"{name} (not a file)"
    except OSError:
        return name


def open_folder(root: str | os.PathLike[str], *, hidden: bool, limits: FolderLimits) -> Folder:
    """A Folder over a root that is there now; ConfigError when it is not."""
    if not os.path.isdir(root):
        raise ConfigError(f"{os.fspath(root)} is not a folder; give the path of an existing folder")
    return Folder(root, hidden=hidden, limits=limits)


def file_tools(root: str | os.PathLike[str], *, hidden: bool = False, limits: FolderLimits = OBSERVATION_LIMITS) -> list[Tool]:
    """list_dir, read_file and write_file over one folder; writing asks. hidden: whether names that start with a dot, such as .env or .git,
    may be seen and written. ConfigError when root is not a folder."""
    folder = open_folder(root, hidden=hidden, limits=limits)
    path = {"type": "string", "description": "path in the folder, for example notes/todo.txt"}
    line = {"type": ["integer", "null"], "minimum": 1}

    def list_dir(path: str = ".") -> str:
        return str(folder.list(path))

    def read_file(path: str, start: int | None = None, end: int | None = None) -> str:
        return str(folder.read(path, 1 if start is None else start, end))

    def write_file(path: str, text: str) -> str:
        return str(folder.write(path, text))

    folder_path = {**path, "description": 'the folder; "." is the top'}
    content = {"type": "string", "description": "the whole content of the file"}
    return [
        Tool("list_dir", "List the names in a folder.", object_schema({"path": folder_path}),
             list_dir, read_only=True, untrusted_output=True),
        Tool("read_file", "Read a text file, or its lines start to end.", object_schema({"path": path, "start": line, "end": line}, "path"),
             read_file, read_only=True, untrusted_output=True),
        Tool("write_file", "Write a text file: a new one, or an old one replaced as a whole.",
             object_schema({"path": path, "text": content}, "path", "text"), write_file, preview=folder.preview),
    ]  # fmt: skip


def object_schema(properties: dict[str, object], *required: str) -> dict[str, object]:
    """The JSON Schema of a tool's arguments."""
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
