"""A file is replaced whole or not at all: written beside its place under a new name, then renamed over it."""

import os
import secrets
import stat
from contextlib import suppress

from react_agent.errors import ToolError
from react_agent.tools.files_directory import Directory


def replace_file(folder: Directory, name: str, data: bytes, shown: str) -> bool:
    """Put data under name in folder; returns whether the file is new. An existing file keeps its permission bits.

    A hard link is broken and a link that appears meanwhile is replaced, so nothing outside is ever written through. Raises OSError, or
    ToolError for what is not an ordinary writable file; either way no temporary file stays behind.
    """
    mode = replaceable_mode(folder, name, shown)
    temporary = f".{secrets.token_hex(8)}.tmp"
    fd = folder.create(temporary)
    try:
        try:
            _write_all(fd, data)
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(fd, mode)
            os.fsync(fd)
        finally:
            os.close(fd)
        folder.replace(temporary, name)
    except BaseException:
        with suppress(OSError):
            folder.unlink(temporary)
        raise
    return mode is None


def replaceable_mode(folder: Directory, name: str, shown: str) -> int | None:
    """The permission bits of the file that is there, None when there is none; ToolError when it must not be replaced."""
    try:
        status = folder.lstat(name)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise ToolError("is_a_directory", f"{shown} is a folder", "name a file")
    if not stat.S_ISREG(status.st_mode):
        raise ToolError("not_a_file", f"{shown} is a pipe, a socket, a device or a link", "use another name")
    if not status.st_mode & 0o222:  # a rename would not ask, and root is never refused
        raise ToolError("permission_denied", f"{shown} is marked read-only", "use another name")
    return stat.S_IMODE(status.st_mode) & 0o777


def _write_all(fd: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]
