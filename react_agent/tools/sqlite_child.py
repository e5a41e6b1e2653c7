"""The process that holds SQLite: it reads requests from standard input and answers on standard output.

It runs without the package, on the standard library and its neighbours. A message is four bytes of length (big endian) and JSON in
ASCII. The first message out is `{"ready": true}`; then one reply a request:

    {"op": "run", "statements": [sql], ...} -> {"results": [result]}
    {"op": "schema", ...} -> {"objects": [object], "left_out"}
    object: {"name", "kind", "columns": [[name, type, key]], "references": [[column, table, target]]}
    ...: "uri", "path", "hide", "timeout_s", "max_rows", "max_characters", "max_cell"
    result: {"columns", "rows", "row_count", "truncated", "counted"} or {"error": failure}; failure: {"code", "message", "denied"}

A request gets a new connection, so nothing that a statement did is there for the next. The process ends when standard input closes or its
parent is gone, whatever it is doing at that time.
"""

import contextlib
import json
import math
import os
import queue
import select
import signal
import sqlite3
import struct
import sys
import threading
import time
from typing import Any

from react_agent.tools.sqlite_guard import HiddenNameError
from react_agent.tools.sqlite_session import ERRORS, Session, code_of, failure, quiet_wal

try:
    import resource
except ImportError:  # Windows: the deadline and the heap limit remain
    resource = None  # type: ignore[assignment]

HEAP_BYTES = 128 * 2**20
ADDRESS_BYTES = 400 * 2**20
MAX_REPLY_BYTES = 2**20  # more the parent does not read
CPU_SECONDS_BEYOND_DEADLINE = 2


def answer(request: dict[str, Any]) -> dict[str, Any]:
    for _ in range(3):
        before = quiet_wal(request["path"])
        reply = answer_once(request)
        if before is None or quiet_wal(request["path"]) == before:
            return reply
    return failure("SQLITE_BUSY", "another program began to write")


def answer_once(request: dict[str, Any]) -> dict[str, Any]:
    limit_processor_time(request["timeout_s"])
    try:
        session = Session(request)
    except HiddenNameError as error:
        return failure("hide", str(error))
    except ERRORS as error:
        return failure(code_of(error), str(error))
    try:
        if request["op"] == "schema":
            return session.schema()
        return {"results": list(map(session.run, request["statements"]))}
    except ERRORS as error:
        return failure(code_of(error), str(error))
    finally:
        session.connection.close()


def limit(name: str, value: int) -> None:
    """Lower one limit of the process for good, where the system has it."""
    number = getattr(resource, name, None)
    if number is not None:
        most = resource.getrlimit(number)[1]
        value = value if most == resource.RLIM_INFINITY else min(value, most)
        with contextlib.suppress(ValueError, OSError):  # macOS does not take RLIMIT_AS
            resource.setrlimit(number, (value, value))


def limit_processor_time(timeout_s: float) -> None:
    """Let the kernel end the process when it computes on although nobody is there to kill it."""
    if resource is not None:
        soon = math.ceil(time.process_time() + timeout_s) + CPU_SECONDS_BEYOND_DEADLINE
        most = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (soon if most == resource.RLIM_INFINITY else min(soon, most), most))


def received(count: int, parent: int) -> bytes:
    """The next count bytes of standard input; the process ends when there are none to come."""
    data = b""
    while len(data) < count:
        if os.name == "posix":  # a fork of the parent may hold the pipe open when the parent is gone
            while not select.select([0], [], [], 0.5)[0]:
                if os.getppid() != parent:
                    os._exit(0)
        piece = os.read(0, count - len(data))
        if not piece:
            os._exit(0)
        data += piece
    return data


def listen(requests: "queue.SimpleQueue[dict[str, Any]]", parent: int) -> None:
    """Read in a thread of its own, so that a closed pipe ends the process in the middle of a statement."""
    try:
        while True:
            (length,) = struct.unpack(">I", received(4, parent))
            requests.put(json.loads(received(length, parent)))
    finally:
        os._exit(0)


def send(message: dict[str, Any]) -> None:
    data = json.dumps(message, allow_nan=False).encode("ascii")
    if len(data) > MAX_REPLY_BYTES:
        data = json.dumps(failure("SQLITE_TOOBIG", "the reply is too large")).encode("ascii")
    sys.stdout.buffer.write(struct.pack(">I", len(data)) + data)
    sys.stdout.buffer.flush()


def main(parent: int) -> None:
    """Answer until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent; it ends this process
    requests: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=listen, args=(requests, parent), daemon=True).start()
    for name, value in {"RLIMIT_AS": ADDRESS_BYTES, "RLIMIT_FSIZE": 0, "RLIMIT_CORE": 0, "RLIMIT_NPROC": 0}.items():
        limit(name, value)
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"PRAGMA hard_heap_limit={HEAP_BYTES}")  # for the whole process, for good
    send({"ready": True})
    while True:
        send(answer(requests.get()))
