"""A model file on its way, and the terms between what fetches it and where it comes from."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Protocol, Self

from react_agent.local_catalogue import Model

MAGIC = b"GGUF"  # how every model file begins
Stage = Literal["hub", "packages", "check"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a model has come. done, total: bytes. source: where they come from; "check" while the hash is computed.
    note: a sentence for the person, when there is something to say."""

    done: int
    total: int
    source: Stage
    note: str = ""


OnProgress = Callable[[Progress], None]


class SourceError(Exception):
    """A source could not deliver. The message is half a sentence; fetch makes a whole one of all of them."""


class Partial:
    """The beginning of a model file. Any prefix can be continued from any source, which is what makes every stop resumable."""

    def __init__(self, file: Path, model: Model, on_progress: OnProgress | None = None) -> None:
        self.file = file
        self.model = model
        self.source: Stage = "hub"
        self._on_progress = on_progress
        self._out = file.open("ab")
        self.size = self._shown = min(self._out.tell(), model.bytes)
        self._out.truncate(self.size)

    @property
    def complete(self) -> bool:
        return self.size == self.model.bytes

    def cut(self, size: int) -> None:
        """Forget everything after the first size bytes."""
        self._out.truncate(size)
        self.size = self._shown = size
        self.tell()

    def append(self, block: bytes) -> None:
        if self.size + len(block) > self.model.bytes:
            raise SourceError(f"sent more than the {self.model.bytes:,} bytes of {self.model.file}")
        self._out.write(block)
        self.size += len(block)
        self.show(self.size)

    def show(self, done: int) -> None:
        """Report bytes that have arrived, whether or not they are in the file already."""
        if done > self._shown:
            self._shown = min(done, self.model.bytes)
            self.tell()

    def tell(self, note: str = "") -> None:
        if self._on_progress:
            self._on_progress(Progress(self._shown, self.model.bytes, self.source, note))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._out:
            self._out.flush()
            os.fsync(self._out.fileno())  # else a power cut could leave a renamed file without its content


class Source(Protocol):
    """Continues a partial file to its end, or raises SourceError with what has arrived kept."""

    @property
    def name(self) -> Stage: ...

    def fill(self, partial: Partial) -> None: ...
