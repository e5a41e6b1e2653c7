"""Serve a GGUF file on loopback: llama.cpp's own HTTP server in a process of its own.

A process, not a thread: a crash or an out-of-memory kill then ends the server and not the program, Ctrl-C works while the model
loads, what C code prints can be kept away from the terminal, and closing does not wait for a generation to end.
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import weakref
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from react_agent.errors import ConfigError, EndpointError

CHILD = Path(__file__).with_name("local_child.py")
LOG_TAIL_BYTES = 2000
# Ctrl-C goes to every process of the terminal's group; the server is not to be one of them. POSIX: start_new_session.
if sys.platform == "win32":
    NEW_GROUP = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
else:
    NEW_GROUP = 0


class LocalServer:
    """A running server. base_url ends in /v1, as an OpenAI-compatible endpoint wants it. Closed by close(), by the end of a
    with block, by garbage collection or by the end of this process, whichever comes first."""

    def __init__(self, process: "subprocess.Popen[bytes]", address: str, log: IO[bytes]) -> None:
        self.base_url = f"{address}/v1"
        self._process = process
        self._log = log
        self._stop = weakref.finalize(self, _stop, process, log)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def log(self) -> str:
        """The last errors that llama.cpp printed, "" when there were none or the server is closed."""
        return "" if self._log.closed else _tail(self._log)

    def close(self) -> None:
        """End the server at once, also in the middle of a generation; a second call does nothing."""
        self._stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def serve(path: Path | str, *, context_window: int = 8192, threads: int | None = None, parallel: int = 1) -> LocalServer:
    """Load the GGUF file and listen on a free port of 127.0.0.1; returns when the server is ready.

    context_window: tokens of prompt and reply together, for each of the parallel requests. threads: physical cores if None.
    ConfigError: the extra or the file is missing. EndpointError: llama.cpp could not load it.
    """
    path = Path(path)
    _check(path, context_window=context_window, threads=threads, parallel=parallel)
    settings = {
        "path": str(path.resolve()), "context_window": context_window, "parallel": parallel,
        "threads": threads or physical_cores(),
    }  # fmt: skip
    log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the server; _stop closes it
    # -P: this package's types.py must not stand in for the standard library's
    process = subprocess.Popen(
        [sys.executable, "-P", str(CHILD), json.dumps(settings)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
        start_new_session=True, creationflags=NEW_GROUP,
    )  # fmt: skip
    try:
        return LocalServer(process, _address(process, log, path), log)
    except BaseException:  # Ctrl-C while loading included
        _stop(process, log)
        raise


def _check(path: Path, **counts: int | None) -> None:
    if importlib.util.find_spec("xllamacpp") is None:
        raise ConfigError("running a model on this machine needs the package xllamacpp: pip install 'react-agent[local]'")
    for name, value in counts.items():
        if value is not None and value < 1:
            raise ConfigError(f"{name} must be at least 1, not {value}")
    if not path.is_file():
        raise ConfigError(f"there is no model file {path}")


def _address(process: "subprocess.Popen[bytes]", log: IO[bytes], path: Path) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    outcome = json.loads(line) if line else {}
    if "url" in outcome:
        return str(outcome["url"])
    reason = outcome.get("error") or f"the server process ended with code {process.wait()}"
    hint = "Is the file whole, and a GGUF model that this llama.cpp knows? Is there enough free memory for it?"
    raise EndpointError("connection", f"llama.cpp could not serve {path}: {' '.join([reason, _tail(log)]).strip()}", hint)


def _stop(process: "subprocess.Popen[bytes]", log: IO[bytes]) -> None:
    process.kill()  # it holds nothing that could be lost
    process.wait()
    for stream in (process.stdin, process.stdout, log):
        if stream is not None:
            stream.close()


def _tail(log: IO[bytes]) -> str:
    log.seek(max(0, log.seek(0, os.SEEK_END) - LOG_TAIL_BYTES))
    return log.read().decode("utf-8", "replace").strip()


def physical_cores() -> int:
    """Cores that this process may use: not hyper-threads, not beyond its affinity or its container's quota; at least 1."""
    return os.cpu_count() or 1
