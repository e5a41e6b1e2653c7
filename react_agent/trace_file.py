"""The file of a trace: a line is added whole or not at all, by one writer at a time."""

import errno
import os
import stat
import sys
import time
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_FLAGS = os.O_APPEND | getattr(os, "O_BINARY", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)


class LineFile:
    """Appends lines to one file, which nobody else can open as a LineFile meanwhile (POSIX). Everything in it raises OSError.

    append: go on in an existing file, without its last line where that was cut. Else path is a folder (one new file in it), a
    device or pipe (written to as it is), or the name of a new file: where it is taken, the next free one.
    """

    def __init__(self, path: Path, run_id: str, *, append: bool, fsync: bool) -> None:
        self._fsync = fsync
        self.path, self._fd = (path, _existing(path)) if append else _new(path, run_id)
        status = os.fstat(self._fd)
        self._regular = stat.S_ISREG(status.st_mode)
        self._linked = self._regular and status.st_nlink > 0
        try:
            if self._regular:
                _lock(self._fd)
            if append:
                self._drop_cut_line(status.st_size)
        except OSError:
            self.close()
            raise

    def add(self, line: bytes) -> None:
        """All of the line; when that fails or is interrupted, nothing of it."""
        before = os.fstat(self._fd)
        if self._linked and not before.st_nlink:
            raise OSError(errno.ENOENT, "it was deleted meanwhile")
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[os.write(self._fd, rest) :]
            if self._fsync and self._regular:
                os.fsync(self._fd)
        finally:
            if rest and self._regular:
                os.ftruncate(self._fd, before.st_size)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _drop_cut_line(self, size: int) -> None:
        with open(self.path, "rb") as file:
            whole = file.read(size).rfind(b"\n") + 1
        if whole < size:
            os.ftruncate(self._fd, whole)


def _existing(path: Path) -> int:
    if not path.is_file():
        raise OSError(errno.EINVAL, "it is no file that a run could go on in")
    return os.open(path, os.O_WRONLY | _FLAGS)


def _new(path: Path, run_id: str) -> tuple[Path, int]:
    if path.is_dir():
        path = path / f"{time.strftime('%Y%m%d-%H%M%S')}-{run_id or os.getpid()}.jsonl"
    elif path.exists() and not path.is_file():
        return path, _special(path)
    for number in range(1, 10_000):
        candidate = path if number == 1 else path.with_name(f"{path.stem}.{number}{path.suffix}")
        try:
            return candidate, os.open(candidate, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)
        except FileExistsError:
            continue
    raise OSError(errno.EEXIST, f"no free name beside {path.name}")


def _special(path: Path) -> int:
    """A device or a pipe; one that nobody reads is an error at once, not a wait."""
    fd = os.open(path, os.O_WRONLY | _NO_WAIT | _FLAGS)
    if _NO_WAIT:
        os.set_blocking(fd, True)
    return fd


def _lock(fd: int) -> None:
    """Keep other writers away until the file is closed. On Windows nothing does: a lock there would keep readers away too."""
    if sys.platform != "win32":
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OSError(errno.EBUSY, "another run is writing it; wait until that has ended, or end it") from None
        except OSError:
            return  # a file system without locks
