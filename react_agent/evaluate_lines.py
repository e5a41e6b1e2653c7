"""JSON Lines: read with the place of each, and appended so that a crash or Ctrl-C leaves whole lines."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from react_agent.errors import ConfigError
from react_agent.report_data import json_text


def read_lines(path: str | os.PathLike[str], *, cut_is_fine: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Where ("FILE, line N") and the object of each line that is not blank; ConfigError names a line that is no object.

    cut_is_fine: a last line without its newline was cut by a crash and does not count.
    """
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}") from None
    lines = text.split("\n")
    for number, line in enumerate(lines[:-1] if cut_is_fine else lines, 1):
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


class LineFile:
    """A file that grows by one line at a time, each handed to the system in one piece.

    append: go on in an existing file, without a last line that a crash cut; else an existing one is refused (ConfigError).
    """

    def __init__(self, path: Path, *, append: bool) -> None:
        self.path = path
        try:
            self._file = open(path, "ab" if append else "xb", buffering=0)  # noqa: SIM115  # closed by __exit__
            if append:
                self._file.truncate(path.read_bytes().rfind(b"\n") + 1)
        except FileExistsError:
            raise ConfigError(f"{path} exists; go on in it with --resume, or name another file") from None
        except OSError as error:
            raise ConfigError(f"cannot write {path}: {error.strerror}") from None

    def append(self, body: dict[str, Any]) -> None:
        try:
            self._file.write(json_text(body).encode() + b"\n")
        except OSError as error:
            raise ConfigError(f"cannot write {self.path}: {error.strerror}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()
