"""The record of a run: the writer that appends events as JSON lines, and the reader.

Format, version 1: one JSON object a line, `event` first. An event is on disk before the effect that follows it is relied on:
`request` before the endpoint is called, `tool_start` before a tool runs. A last line without its newline was cut by a crash
and does not count. docs/trace.md lists every field.
"""

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from react_agent.errors import TraceError
from react_agent.trace_events import EVENTS, VERSION, Event, RunEnded, RunResumed, RunStarted
from react_agent.trace_file import LineFile
from react_agent.trace_reading import READERS, reader
from react_agent.types import Message, Usage


@dataclass(frozen=True, slots=True)
class Record:
    """One line of a trace: when (seconds since the epoch), and the event."""

    time: float
    event: Event


# What the model and the tools wrote stays as it is, or a run could not be replayed: secrets are taken out of it, the home folder is not.
VERBATIM = frozenset({
    "question", "instructions", "tools", "history", "add", "text", "reasoning", "thought", "arguments", "final_answer", "answer", "content",
    "reprompt",
})  # fmt: skip


class Masker:
    """Takes secrets out of all that is written, and the home folder out of what the program itself says (errors, tracebacks,
    settings). secrets: values such as keys; shorter than six characters they are ignored."""

    def __init__(self, secrets: tuple[str, ...] = ()) -> None:
        home = os.path.expanduser("~")
        hidden = {form: "[secret]" for secret in secrets if len(secret) >= 6 for form in _forms(secret)}
        everything = {**hidden, **dict.fromkeys(_forms(home), "~")} if len(home) > 3 else hidden
        self._verbatim, self._all = _replacer(hidden), _replacer(everything)
        self._signs = tuple(_ENCODE(text)[1:-1] for text in everything)

    def touches(self, line: str) -> bool:
        """Whether anything in an encoded line may have to be masked."""
        return any(sign in line for sign in self._signs)

    def __call__(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body of an event, masked."""
        return {key: _deep(value, self._verbatim if key in VERBATIM else self._all) for key, value in body.items()}


def _forms(text: str) -> set[str]:
    """The text as it is, and as it stands in JSON text: an observation is that."""
    return {text, _ENCODE(text)[1:-1], json.dumps(text)[1:-1]}


def _replacer(replacements: Mapping[str, str]) -> Callable[[str], str]:
    if not replacements:
        return lambda text: text
    ends = {text: r"(?![\w-])" if word == "~" else "" for text, word in replacements.items()}  # /home/jo is no part of /home/john
    pattern = re.compile("|".join(re.escape(text) + ends[text] for text in sorted(replacements, key=len, reverse=True)))
    return lambda text: pattern.sub(lambda match: replacements[match.group()], text)


def _deep(value: Any, mask: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        return {mask(key): _deep(item, mask) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_deep(item, mask) for item in value]
    return value


def to_line(event: Event, now: float, mask: Masker | None = None) -> str:
    """One event as a JSON line without its newline; lone surrogates are escaped so that any reply can be stored."""
    body: dict[str, Any] = {"event": event.name, "time": round(now, 6)}
    for name in _NAMES[event.name]:
        body[name] = getattr(event, name)
    text = _ENCODE(body)
    if mask is not None and mask.touches(text):
        text = _ENCODE(mask(json.loads(text)))
    return text if _encodable(text) else json.dumps(json.loads(text))


def _plain(value: Any) -> Any:
    """What the encoder does not know: messages, usage, a schema in a mapping of another kind, and whatever a tool was called with."""
    if isinstance(value, Message):
        return {"role": value.role, "content": value.content}
    if isinstance(value, Mapping):
        return dict(value)
    return {name: getattr(value, name) for name in _OF_USAGE} if isinstance(value, Usage) else str(value)


_OF_USAGE = tuple(item.name for item in fields(Usage))
_NAMES: Mapping[str, tuple[str, ...]] = {name: tuple(item.name for item in fields(kind)) for name, kind in EVENTS.items()}
_ENCODE = json.JSONEncoder(ensure_ascii=False, default=_plain).encode


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def from_line(line: str) -> Record:
    """The inverse of to_line; unknown keys of later versions are ignored. Raises ValueError for anything else."""
    try:
        body = json.loads(line, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("nested too deeply for an event") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON: {error.msg}, at column {error.colno}") from None
    name = body.get("event") if isinstance(body, dict) else None
    if not isinstance(name, str) or name not in READERS:
        raise ValueError(f"not an event: {line[:80]}")
    try:
        return Record(_TIME(body["time"]), READERS[name](body))
    except (TypeError, KeyError) as error:
        raise ValueError(f"not a whole {name} event: {error}") from None


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")


_TIME = reader(float)


class Trace:
    """Appends events to one file. Every event is in the operating system's hands when write() returns; fsync=True waits for the disk.

    path: a file (an existing one is never overwritten: the next free name is taken), a folder (one file a run) or a device. append: go
    on in an existing trace, which no other run may be writing.
    Raises TraceError when it cannot be opened or written; of an event that could not be written nothing is in the file.
    """

    def __init__(self, path: str | os.PathLike[str], *, run_id: str = "", fsync: bool = False, append: bool = False,
                 mask: Masker | None = None, clock: Callable[[], float] = time.time) -> None:  # fmt: skip
        self._clock = clock
        self._mask = mask
        try:
            self._file = LineFile(Path(path), run_id, append=append, fsync=fsync)
        except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
            raise TraceError(f"the trace {path} cannot be written: {_why(error)}") from None
        self.path = self._file.path

    def write(self, event: Event) -> None:
        if not event.recorded:
            return
        try:
            self._file.add((to_line(event, self._clock(), self._mask) + "\n").encode())
        except (OSError, ValueError, TypeError, RecursionError) as error:  # the last three: what JSON cannot hold
            raise TraceError(f"the trace {self.path} cannot be written: {_why(error)}") from None

    def close(self) -> None:
        self._file.close()


def _why(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)


def read_trace(path: str | os.PathLike[str]) -> list[Record]:
    """All whole events of a trace, in order. A cut last line is left out; raises TraceError for anything that is not a trace."""
    return list(iter_trace(path))


def iter_trace(path: str | os.PathLike[str]) -> Iterator[Record]:
    """The same, one by one."""
    try:
        with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
            yield from _records(path, file)
    except OSError as error:
        raise TraceError(f"the trace {path} cannot be read: {_why(error)}") from None


def _records(path: str | os.PathLike[str], file: Iterable[str]) -> Iterator[Record]:
    before: Event | None = None
    for number, line in enumerate(file, 1):
        if not line.endswith("\n"):
            return  # cut by a crash
        try:
            record = from_line(line)
        except ValueError as error:
            raise TraceError(f"{path}, line {number}: {error}") from None
        if isinstance(record.event, RunStarted) and record.event.version > VERSION:
            raise TraceError(f"{Path(path).name} has format {record.event.version}, and this version reads formats up to {VERSION}: "
                             "use a newer react-agent")  # fmt: skip
        if (before and isinstance(record.event, RunStarted)) or (isinstance(before, RunEnded) and not isinstance(record.event, RunResumed)):
            raise TraceError(f"{path}, line {number}: {record.event.name} cannot stand there; a trace holds one run, not several")
        before = record.event
        yield record
