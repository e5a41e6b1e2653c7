"""Path texts: which of them may be walked at all, how names are shown, and how a system error is told to a model.

A path is plain relative text: names joined by `/`. Everything that another system or a shell would read differently is refused
before any file is touched: absolute paths, `~`, backslashes, drive letters, URLs, NUL, what UTF-8 cannot hold.
"""

import difflib
import errno
import json
import os
import re
import unicodedata
from collections.abc import Iterable, Sequence

from react_agent.errors import ToolError

Parts = tuple[str, ...]

_RELATIVE = "give the path from the top of the folder, with / between names, for example notes/todo.txt"
_REFUSED = tuple(
    (re.compile(pattern, re.DOTALL), type_, message)
    for pattern, type_, message in (
        (r".*\0", "invalid_path", "a path cannot hold a NUL character"),
        (r"[A-Za-z][A-Za-z0-9+.-]+:/", "invalid_path", "a URL is not a path in this folder"),
        (r"[A-Za-z]:", "outside_root", "a path with a drive letter leads out of the folder"),
        (r"/", "outside_root", "an absolute path leads out of the folder"),
        (r"~", "outside_root", "a path that starts with ~ leads out of the folder"),
        (r".*\\", "invalid_path", "a path cannot hold a backslash"),
    )
)
_WINDOWS_NAME = re.compile(  # what it refuses or changes, devices, and the short alias of a long name (GIT~1 is .git)
    r'(?is).*[<>:"|?*\x00-\x1f]|.*[. ]$|(con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³]|conin\$|conout\$) *(\.|$)|[^.]{1,6}~\d+(\.|$)'
)
_SHORT = 60
_ERRNO = {
    errno.ENOENT: ("not_found", "it does not exist", "list its folder to see what is there"),
    errno.ESTALE: ("not_found", "it does not exist any more", "list its folder to see what is there"),
    errno.ELOOP: ("not_found", "it is a link that cannot be followed", "name the file itself"),
    errno.ENOTDIR: ("not_a_directory", "it is not a folder", "name a folder"),
    errno.EISDIR: ("is_a_directory", "it is a folder", "name a file in it"),
    errno.EACCES: ("permission_denied", "the system does not allow it", "use another file; permissions cannot be changed here"),
    errno.EPERM: ("permission_denied", "the system does not allow it", "use another file; permissions cannot be changed here"),
    errno.EROFS: ("permission_denied", "this file system is read-only", "nothing can be written here"),
    errno.ENAMETOOLONG: ("invalid_path", "the name is too long", "use a shorter name"),
    errno.EILSEQ: ("invalid_path", "the system cannot hold this name", "use a plain name"),
    errno.EINVAL: ("invalid_path", "the system cannot hold this name", "use a plain name"),
    errno.ENXIO: ("not_a_file", "it is a device, pipe or socket", "name an ordinary file"),
    errno.ENODEV: ("not_a_file", "it is a device, pipe or socket", "name an ordinary file"),
    errno.ENOSPC: ("io_error", "the disk is full", "nothing was written; tell the user that the disk is full"),
    errno.EDQUOT: ("io_error", "the disk quota is used up", "nothing was written; tell the user that the quota is used up"),
    errno.EFBIG: ("io_error", "the system does not allow a file of this size", "write less text"),
}


def split_path(path: object, limit: int, *, windows: bool = os.name == "nt") -> Parts:
    """The names on the way down from the root, with `.` and `..` resolved as text; () is the root. ToolError for any other kind of path."""
    if not isinstance(path, str):
        raise ToolError("invalid_argument", f"path must be text, not {type(path).__name__}", _RELATIVE)
    if len(path) > limit:
        raise ToolError("invalid_path", f"the path has {len(path)} characters; {limit} are allowed", _RELATIVE)
    if any("\ud800" <= character <= "\udfff" for character in path):
        raise ToolError("invalid_path", "the path is not valid Unicode", "a file with such a name cannot be opened here")
    for pattern, type_, message in _REFUSED:
        if pattern.match(path):
            raise ToolError(type_, f"{message}: {visible(path)}", _RELATIVE)
    parts = descend((), path.split("/"))
    if windows and any(_WINDOWS_NAME.match(name) for name in parts):
        raise ToolError("invalid_path", f"Windows gives another meaning to {visible(path)}", "use a plain name, for example notes.txt")
    return parts


def descend(start: Sequence[str], names: Iterable[str]) -> Parts:
    """Names appended to start, with `.` and `..` resolved as text; outside_root when they climb above the root."""
    way = list(start)
    for name in names:
        if name == "..":
            if not way:
                raise ToolError("outside_root", "the path leads out of the folder", _RELATIVE)
            way.pop()
        elif name not in ("", "."):
            way.append(name)
    return tuple(way)


def names_a_folder(path: str) -> bool:
    """Whether the text itself says folder: it is empty, or ends in `/`, `/.` or `/..`."""
    return path.rpartition("/")[2] in ("", ".", "..")


def visible(text: str, limit: int = 120) -> str:
    """Text for one line: what does not print is written as JSON escapes it, and what passes the limit is cut."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return cut if cut.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in cut)


def near_names(name: str, names: Iterable[str], count: int = 3) -> list[str]:
    """The names that may be meant, best first: the same but for case or the form of accents, the same in another folder, a close one."""
    wanted, known = fold_name(name), {fold_name(each): each for each in names}
    stems: dict[str, list[str]] = {}
    for folded in known:
        stems.setdefault(_stem(folded), []).append(folded)
    base = wanted.rpartition("/")[2]
    same_base = [folded for folded in known if folded.rpartition("/")[2] == base]
    short = [each for each in stems if len(each) <= _SHORT]  # comparing long names that are made to look alike takes a second each
    near = difflib.get_close_matches(_stem(wanted)[: 2 * _SHORT], short, n=count, cutoff=0.6)
    close = [folded for each in near for folded in stems[each]]
    return [known[folded] for folded in list(dict.fromkeys([*([wanted] if wanted in known else []), *same_base, *close]))[:count]]


def _stem(name: str) -> str:
    base = name.rpartition("/")[2]
    return base.rpartition(".")[0] or base


def fold_name(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def system_error(error: OSError, path: str) -> ToolError:
    """What a system error means for the model; never the system's own text, which may hold absolute paths."""
    number = error.errno or 0
    unknown = ("io_error", f"the system reports {errno.errorcode.get(number, 'an error')}", "try another file")
    type_, message, hint = _ERRNO.get(number, unknown)
    return ToolError(type_, f"{visible(path) or 'the folder'}: {message}", hint)
