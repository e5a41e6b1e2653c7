"""From the root down to a name, one opened folder at a time, so that no link and no rename on the way can lead outside."""

import os
import stat
import unicodedata
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice, takewhile
from pathlib import Path
from typing import Literal

from react_agent.errors import ToolError
from react_agent.tools.files_directory import Directory, open_root
from react_agent.tools.files_limits import FolderLimits
from react_agent.tools.files_path import Parts, descend, near_names, visible

_NAMES_FOR_HINTS = 1_000
Missing = Literal["refuse", "allow", "make"]


class Walk:
    """A root and what may be reached below it. hidden: whether names that start with a dot exist for the caller."""

    def __init__(self, root: Path, limits: FolderLimits, hidden: bool) -> None:
        self.root = root
        self._limits = limits
        self._hidden = hidden

    def file(self, parts: Parts) -> int:
        """A descriptor of the regular file at parts, open for reading; the caller closes it."""
        parent, name = self._find(parts, self._limits.links)
        with parent:
            return open_regular(parent, name, parts)

    def folder(self, parts: Parts) -> Directory:
        """The folder at parts, open; the caller closes it."""
        parent, name = self._find(parts, self._limits.links)
        with parent:
            if not stat.S_ISDIR(parent.lstat(name).st_mode):
                raise ToolError("not_a_directory", f"{shown(parts)} is not a folder", "read it as a file, or name a folder")
            return parent.enter(name)

    def place(self, parts: Parts, *, make: bool) -> tuple[Directory, str]:
        """The open folder that a file is written into, and its name there, which may not exist yet. No link is followed on the way.
        Folders that are missing are made, or else raise FileNotFoundError."""
        return self._find(parts, 0, "make" if make else "allow")

    def is_folder(self, parts: Parts) -> bool:
        parent, name = self._find(parts, self._limits.links)
        with parent:
            return stat.S_ISDIR(parent.lstat(name).st_mode)

    def allows(self, name: str) -> bool:
        return self._hidden or name == "." or not _plain(name).startswith(".")

    def files(self, top: Parts, over: Callable[[], bool]) -> Iterator[tuple[Directory, Parts, str]]:
        """Every regular file below top as (its open folder, that folder's parts, its name): upper folders first, names in order, no links.
        Folders that vanish or refuse on the way are passed over. over: asked before each folder and each file whether to stop."""
        queue = deque([top])
        while queue and not over():
            parts = queue.popleft()
            try:
                folder = self.folder(parts)
            except (OSError, ToolError):
                if parts == top:
                    raise
                continue
            with folder:
                files, folders = self._sorted_entries(folder)
                queue.extend((*parts, name) for name in folders)
                yield from takewhile(lambda _: not over(), ((folder, parts, name) for name in files))

    def _open_root(self) -> Directory:
        try:
            return open_root(self.root)
        except (FileNotFoundError, NotADirectoryError):
            raise ToolError("not_found", "the folder is not there any more", "tell the user; nothing can be read here") from None

    def _sorted_entries(self, folder: Directory) -> tuple[list[str], list[str]]:
        files, folders = [], []
        for entry in islice(folder.entries(), self._limits.scan_entries):
            with suppress(OSError):
                if self.allows(entry.name) and entry.is_file(follow_symlinks=False):
                    files.append(entry.name)
                elif self.allows(entry.name) and entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
        return sorted(files), sorted(folders)

    def _find(self, parts: Parts, links: int, missing: Missing = "refuse") -> tuple[Directory, str]:
        """The open folder and the name in it that parts stand for; the name is no link. The root itself is (the root, ".").

        A link starts the walk again from the root with its target in its place: `..` in a target is text and cannot climb out.
        """
        todo, done = deque(parts or (".",)), list[str]()
        here = self._open_root()
        try:
            while True:
                name = todo.popleft()
                self._require_allowed(name)
                target = self._link_target(here, (*done, name), parts, missing, last=not todo)
                if target is None and not todo:
                    return here, name
                if target is None:
                    below = _enter(here, name, (*done, name))
                    done.append(name)
                else:
                    links = _spend_link(links, (*done, name), writing=missing != "refuse")
                    todo, done = deque((*_through(done, target), *todo) or (".",)), []
                    below = self._open_root()
                here.close()
                here = below
        except BaseException:
            here.close()
            raise

    def _link_target(self, here: Directory, way: Parts, asked: Parts, missing: Missing, *, last: bool) -> str | None:
        """Where the last name of way points, None when it is no link. What happens when it does not exist is what missing says."""
        name = way[-1]
        try:
            return here.readlink(name) if here.is_link(name) else None
        except FileNotFoundError:
            if missing == "refuse":
                through = "" if way == asked[: len(way)] else f": {shown(asked)} goes through a link to it"
                raise ToolError("not_found", f"there is no {shown(way)}{through}", self._what_is_there(here, name, way[:-1])) from None
            if missing == "allow" and not last:
                raise
            if missing == "make" and not last:
                with suppress(FileExistsError):
                    here.mkdir(name)
            return None

    def _what_is_there(self, here: Directory, name: str, way: Parts) -> str:
        names = [entry.name for entry in islice(here.entries(), _NAMES_FOR_HINTS) if self.allows(entry.name)]
        near = [shown((*way, other)) for other in near_names(name, names)]
        if near:
            return f"did you mean {' or '.join(near)}?"
        return f"list {shown(way)} to see what is there" if way else "list the folder to see what is there"

    def _require_allowed(self, name: str) -> None:
        if not self.allows(name):
            raise ToolError("permission_denied", f"{visible(name)}: names that start with a dot are off limits here", "use another file")


def _plain(name: str) -> str:
    """A name without the characters that have no width, as some file systems (HFS+) take it."""
    return name if name.isascii() else "".join(each for each in name if unicodedata.category(each) != "Cf")


def open_regular(folder: Directory, name: str, parts: Parts) -> int:
    """A descriptor of the regular file name in folder, for reading; ToolError for anything else. parts: what to call it."""
    _require_regular(folder.lstat(name), parts)  # before opening too: opening a pipe or a device can already do something
    fd = folder.open(name)
    try:
        _require_regular(os.fstat(fd), parts)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _require_regular(status: os.stat_result, parts: Parts) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise ToolError("is_a_directory", f"{shown(parts)} is a folder", "list it, or name a file in it")
    if not stat.S_ISREG(status.st_mode):
        raise ToolError("not_a_file", f"{shown(parts)} is a pipe, a socket, a device or a link", "name an ordinary file")


def shown(parts: Parts, longest: int = 120) -> str:
    """A path for the eye; longest: characters, more of them where the model has to use the path than in an error."""
    return visible("/".join(parts), longest) or "."


def _enter(here: Directory, name: str, way: Parts) -> Directory:
    try:
        return here.enter(name)
    except NotADirectoryError:
        raise ToolError("not_found", f"{shown(way)} is not a folder, so there is nothing in it", "name what exists") from None


def _through(done: list[str], target: str) -> Parts:
    """The way on through a link that stands in the folder done."""
    if target.startswith(("/", "\\")) or (os.name == "nt" and ":" in target):
        message = "the path goes through a link with an absolute target, which counts as outside the folder"
        raise ToolError("outside_root", message, "name a file inside the folder")
    return descend(done, target.split("/"))


def _spend_link(links: int, way: Parts, *, writing: bool) -> int:
    if links:
        return links - 1
    if writing:
        raise ToolError("not_a_file", f"{shown(way)} is a link, and nothing is written through links", "name the real file or folder")
    raise ToolError("not_found", f"{shown(way)} leads through too many links", "name the file itself")
