"""JSON Lines: read with the place of each, and appended so that a crash or Ctrl-C leaves whole lines."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from react_agent.errors import ConfigError
from react_agent.report_data import json_text

_BEGINS = '{"id": "'  # a line of ours


def read_lines(path: str | os.PathLike[str], *, cut_is_fine: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Where ("FILE, line N") and the object of each line that is not blank; ConfigError names a line that is no object.

    cut_is_fine: a last line without its newline that begins as LineFile writes it was cut by a crash and does not count.
    """
    try:
        text = Path(path).read_text("utf-8")
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"cannot read {path}: it is not UTF-8 text") from None
    lines = text.split("\n")
    if cut_is_fine and is_cut(lines[-1]):
        del lines[-1]
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield f"{path}, line {number}", _object(line, f"{path}, line {number}")


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        body = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{where}: not JSON: {error}") from None
    if not isinstance(body, dict):
        raise ConfigError(f"{where}: not a JSON object")
    return body


def is_cut(line: str) -> bool:
    """Is the last line of a file a part of one that LineFile wrote? Raises nothing for what somebody else wrote: that is no part."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return line.startswith(_BEGINS[: len(line)])
    return False


class LineFile:
    """A file that grows by one line at a time, each handed to the system in one piece.

    append: go on in an existing file, without a last line that a crash cut; else an existing one is refused (ConfigError). What is no
    such line stays there.
    """

    def __init__(self, path: Path, *, append: bool) -> None:
        self.path = path
        try:
            self._file = open(path, "ab" if append else "xb", buffering=0)  # noqa: SIM115  # closed by __exit__
            if append:
                self._end_last_line(path.read_bytes())
        except FileExistsError:
            raise ConfigError(f"{path} exists; go on in it with --resume, or name another file") from None
        except OSError as error:
            raise ConfigError(f"cannot write {path}: {error.strerror}") from None

    def _end_last_line(self, data: bytes) -> None:
        begin = data.rfind(b"\n") + 1
        last = data[begin:].decode("utf-8", "replace")
        if is_cut(last):
            self._file.truncate(begin)
        elif last:
            self._file.write(b"\n")

    def append(self, body: dict[str, Any]) -> None:
        try:
            self._file.write(json_text(body).encode() + b"\n")
        except OSError as error:
            raise ConfigError(f"cannot write {self.path}: {error.strerror}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()
