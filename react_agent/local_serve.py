"""Serve a GGUF file on loopback: llama.cpp's own HTTP server in a process of its own.

A process, not a thread: a crash or an out-of-memory kill then ends the server and not the program, Ctrl-C works while the model
loads, what C code prints can be kept away from the terminal, and closing does not wait for a generation to end.
"""

import importlib.util
import json
import re
import signal
import subprocess
import sys
import threading
import weakref
from collections import deque
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from react_agent.errors import ConfigError, EndpointError
from react_agent.local_cores import usable_cores

CHILD = Path(__file__).with_name("local_child.py")
LOG_LINES = 40
# Ctrl-C goes to every process of the terminal's group; the server is not to be one of them. POSIX: start_new_session.
if sys.platform == "win32":
    NEW_GROUP = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
else:
    NEW_GROUP = 0


class LocalServer:
    """A server that is starting or running. Closed by close(), by the end of a with block, by garbage collection or by the end
    of this process, whichever comes first; its own process ends even if this one is killed."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(CHILD), json.dumps(settings)],  # -P: our types.py must not stand in for Python's own
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, creationflags=NEW_GROUP,
        )  # fmt: skip
        self._log: deque[bytes] = deque(maxlen=LOG_LINES)
        self._logging = threading.Thread(target=self._log.extend, args=(self._process.stderr,), daemon=True)
        self._logging.start()
        self._stop = weakref.finalize(self, _stop, self._process, self._logging)
        self._address = ""

    def wait_until_ready(self) -> None:
        """Returns when the model is loaded. EndpointError: llama.cpp's reason why it cannot be."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()  # nothing when the process has died
        outcome = json.loads(line) if line else {}
        if "url" in outcome:
            self._address = outcome["url"]
            return
        ending = _ending(self._process.wait())  # to its end, so that the log is whole
        self.close()
        raise EndpointError(
            "connection", f"llama.cpp could not load the model: {_first_error(self.log) or outcome.get('error') or ending}",
            "Is the file whole, is it a model that this version of xllamacpp knows, and is enough memory free for it?",
        )  # fmt: skip

    @property
    def base_url(self) -> str:
        """Ends in /v1, as an OpenAI-compatible endpoint wants it."""
        return f"{self._address}/v1"

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def log(self) -> str:
        """The last errors that llama.cpp printed; "" when there were none."""
        return b"".join(self._log.copy()).decode("utf-8", "replace")

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
    server = LocalServer({
        "path": str(path.resolve()), "name": path.stem, "context_window": context_window, "parallel": parallel,
        "threads": threads or usable_cores(),
    })  # fmt: skip
    try:
        server.wait_until_ready()
    except BaseException:  # Ctrl-C while loading included
        server.close()
        raise
    return server


def _check(path: Path, **counts: int | None) -> None:
    if importlib.util.find_spec("xllamacpp") is None:
        raise ConfigError("running a model on this machine needs the package xllamacpp: pip install 'react-agent[local]'")
    for name, value in counts.items():
        if value is not None and value < 1:
            raise ConfigError(f"{name} must be at least 1, not {value}")
    if not path.is_file():
        raise ConfigError(f"there is no model file {path}")


def _ending(code: int) -> str:
    """How a process ended, from its return code."""
    if code >= 0:
        return f"its process ended with code {code}"
    names = {int(known): known.name for known in signal.Signals}
    return f"its process was ended by {names.get(-code, f'signal {-code}')}" + (" (out of memory?)" if code == -9 else "")


def _first_error(log: str) -> str:
    """llama.cpp's first error line without its clock and level; the others follow from it."""
    for line in log.splitlines():
        if match := re.match(r"[\d.]+ E \s*(.+)", line):
            return match[1]
    return ""


def _stop(process: "subprocess.Popen[bytes]", logging: threading.Thread) -> None:
    process.kill()  # it holds nothing that could be lost
    process.wait()
    logging.join()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()
