"""One open folder whose names are never followed: the only place where files are opened by name.

PosixDirectory holds a descriptor and opens every name relative to it (openat) with O_NOFOLLOW, so that nothing that is renamed or
relinked meanwhile can redirect it. PortableDirectory is the next best for systems without dir_fd (Windows): it looks at a name before
and after it is opened and checks where it ended up, which notices a swap but cannot exclude that one was in time to be opened.
"""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

_CLOSE_ON_EXEC = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0)
_READ = os.O_RDONLY | _CLOSE_ON_EXEC | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _CLOSE_ON_EXEC | getattr(os, "O_BINARY", 0)
_FOLDER, _NO_LINK = getattr(os, "O_DIRECTORY", 0), getattr(os, "O_NOFOLLOW", 0)
HAS_OPENAT = os.open in os.supports_dir_fd and os.readlink in os.supports_dir_fd and bool(_NO_LINK)


class Directory(Protocol):
    """An open folder. Each method takes one bare name in it, follows no link and raises OSError."""

    def lstat(self, name: str) -> os.stat_result: ...

    def is_link(self, name: str) -> bool: ...

    def readlink(self, name: str) -> str: ...

    def enter(self, name: str) -> "Directory": ...

    def open(self, name: str) -> int: ...

    def create(self, name: str) -> int: ...

    def mkdir(self, name: str) -> None: ...

    def replace(self, name: str, new_name: str) -> None: ...

    def unlink(self, name: str) -> None: ...

    def entries(self) -> Iterator["os.DirEntry[str]"]: ...

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...


def open_root(path: Path) -> Directory:
    """The folder at a path that the owner gave; links in that path are the owner's own and are followed."""
    return PosixDirectory(os.open(path, _READ | _FOLDER)) if HAS_OPENAT else PortableDirectory(path.resolve(strict=True))


class PosixDirectory:
    def __init__(self, fd: int) -> None:
        self._fd = fd

    def lstat(self, name: str) -> os.stat_result:
        return os.stat(name, dir_fd=self._fd, follow_symlinks=False)

    def is_link(self, name: str) -> bool:
        return stat.S_ISLNK(self.lstat(name).st_mode)

    def readlink(self, name: str) -> str:
        return os.readlink(name, dir_fd=self._fd)

    def enter(self, name: str) -> "PosixDirectory":
        return PosixDirectory(os.open(name, _READ | _FOLDER | _NO_LINK, dir_fd=self._fd))

    def open(self, name: str) -> int:
        return os.open(name, _READ | _NO_LINK, dir_fd=self._fd)

    def create(self, name: str) -> int:
        return os.open(name, _CREATE | _NO_LINK, 0o666, dir_fd=self._fd)

    def mkdir(self, name: str) -> None:
        os.mkdir(name, dir_fd=self._fd)

    def replace(self, name: str, new_name: str) -> None:
        os.replace(name, new_name, src_dir_fd=self._fd, dst_dir_fd=self._fd)

    def unlink(self, name: str) -> None:
        os.unlink(name, dir_fd=self._fd)

    def entries(self) -> Iterator["os.DirEntry[str]"]:
        with os.scandir(self._fd) as found:
            yield from found

    def close(self) -> None:
        os.close(self._fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class PortableDirectory:
    """path: absolute and without links. root: the folder that nothing may leave; path itself for the first one."""

    def __init__(self, path: Path, root: Path | None = None) -> None:
        self._path = path
        self._root = root or path
        if not path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "not a folder")

    def lstat(self, name: str) -> os.stat_result:
        return os.lstat(self._path / name)

    def is_link(self, name: str) -> bool:
        """Also for a Windows junction, which is a link in all but name."""
        status = self.lstat(name)
        junction = getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", None)
        return stat.S_ISLNK(status.st_mode) or (junction is not None and getattr(status, "st_reparse_tag", 0) == junction)

    def readlink(self, name: str) -> str:
        return os.readlink(self._path / name).replace(os.sep, "/")

    def enter(self, name: str) -> "PortableDirectory":
        self._refuse_link(name)
        return PortableDirectory(self._inside(name), self._root)

    def open(self, name: str) -> int:
        self._refuse_link(name)
        before = self.lstat(name)
        fd = os.open(self._path / name, _READ)
        try:
            self._inside(name)
            if not os.path.samestat(before, os.fstat(fd)):
                raise OSError(errno.ELOOP, "changed while it was opened")
        except BaseException:
            os.close(fd)
            raise
        return fd

    def create(self, name: str) -> int:
        self._inside(".")
        return os.open(self._path / name, _CREATE, 0o666)

    def mkdir(self, name: str) -> None:
        self._inside(".")
        os.mkdir(self._path / name)

    def replace(self, name: str, new_name: str) -> None:
        self._inside(".")
        os.replace(self._path / name, self._path / new_name)

    def unlink(self, name: str) -> None:
        os.unlink(self._path / name)

    def entries(self) -> Iterator["os.DirEntry[str]"]:
        with os.scandir(self._path) as found:
            yield from found

    def close(self) -> None:
        """Nothing is held open between two calls."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _refuse_link(self, name: str) -> None:
        if self.is_link(name):
            raise OSError(errno.ELOOP, "a link")

    def _inside(self, name: str) -> Path:
        real = (self._path / name).resolve(strict=True)
        if not real.is_relative_to(self._root):
            raise OSError(errno.ELOOP, "leads out of the folder")
        return real
