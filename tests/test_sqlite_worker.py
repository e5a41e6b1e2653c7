"""The child process: what it has, when it ends, and what the parent makes of whatever happens to it."""

import ast
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hostile_shop import build_shop

from react_agent.errors import ToolError
from react_agent.tools import sqlite_child, sqlite_worker
from react_agent.tools.sqlite import SqliteDatabase
from react_agent.tools.sqlite_worker import Worker

FOREVER = "SELECT count(*) FROM orders a, orders b, orders c"
ONE_LONG_STEP = "SELECT replace(hex(zeroblob(400000)), hex(zeroblob(200000)) || '1', '')"
PATIENT_S = 20.0
posix = pytest.mark.skipif(os.name != "posix", reason="forks and signals")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("worker") / "shop.db"
    build_shop(path)
    return path


@pytest.fixture
def worker():
    worker = Worker()
    yield worker
    worker.stop()


@pytest.fixture
def shop(path, worker):
    return SqliteDatabase(path, timeout_s=PATIENT_S, worker=worker)


def one(database):
    return database.query("SELECT 1")["rows"]


def wait_until(condition, seconds=10.0):
    """Polls, because the system gives no event for what happens to a process that is not our child."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        threading.Event().wait(0.005)


def is_gone(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def test_the_child_imports_the_standard_library_alone():
    folder = Path(sqlite_worker.__file__).parent
    names = ("sqlite_child", "sqlite_session", "sqlite_guard", "sqlite_text")
    own = {f"react_agent.tools.{name}" for name in names}
    for name in names:
        for node in ast.walk(ast.parse((folder / f"{name}.py").read_text("utf-8"))):
            imported = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            imported += [node.module] if isinstance(node, ast.ImportFrom) else []
            assert all(module in own or module.split(".")[0] in sys.stdlib_module_names for module in imported)


def test_the_child_is_kept_warm_and_ends_with_the_database(path, worker):
    with SqliteDatabase(path, worker=worker) as database:
        one(database)
        first = worker.pid
        assert one(database) == [[1]] and worker.pid == first is not None
    assert worker.pid is None
    assert one(database) == [[1]]


@linux
def test_the_child_inherits_nothing(path, worker, monkeypatch):
    monkeypatch.setenv("LLM_API_KEY", "sk-secret")
    read, write = os.pipe()
    os.set_inheritable(write, True)
    one(SqliteDatabase(path, worker=worker))
    proc = Path(f"/proc/{worker.pid}")
    try:
        assert sorted(file.name for file in (proc / "fd").iterdir()) == ["0", "1", "2"]
        assert b"sk-secret" not in (proc / "environ").read_bytes()
        limits = (proc / "limits").read_text()
        assert [line.split()[-3] for line in limits.splitlines() if line.startswith(("Max file size", "Max core file size"))] == ["0", "0"]
    finally:
        os.close(read)
        os.close(write)


@pytest.mark.parametrize(("sql", "ends"), [(FOREVER, False), (ONE_LONG_STEP, True)])
def test_a_late_query_is_stopped_and_the_next_one_works(path, worker, sql, ends):
    """SQLite stops itself between two steps, and only a step that takes too long costs the process."""
    database = SqliteDatabase(path, timeout_s=PATIENT_S, worker=worker)
    one(database)
    child, database.timeout_s = worker.pid, 0.5
    with pytest.raises(ToolError) as caught:
        database.query(sql)
    assert caught.value.type == "timeout" and caught.value.hint
    database.timeout_s = PATIENT_S
    assert one(database) == [[1]] and (worker.pid != child) == ends


@posix
def test_a_child_that_was_killed_from_outside_is_replaced(shop, worker):
    one(shop)
    os.kill(worker.pid, signal.SIGKILL)
    assert one(shop) == [[1]]


@posix
def test_ctrl_c_on_the_terminal_is_for_the_parent(shop, worker):
    one(shop)
    child = worker.pid
    os.kill(child, signal.SIGINT)
    assert one(shop) == [[1]] and worker.pid == child


@posix
def test_a_child_that_ends_again_and_again_is_told(path):
    suicidal = [sys.executable, "-c", f"import os, sys; sys.stdout.buffer.write({framed(b'{}')!r}); sys.stdout.flush(); os.read(0, 1)"]
    with pytest.raises(ToolError) as caught:
        one(SqliteDatabase(path, timeout_s=PATIENT_S, worker=Worker(suicidal)))
    assert (caught.value.type, caught.value.message) == ("unavailable", "the process that runs the queries ended unexpectedly")


@posix
def test_a_child_that_hangs_is_killed(path, worker):
    database = SqliteDatabase(path, timeout_s=PATIENT_S, worker=worker)
    one(database)
    database.timeout_s, stopped = 0.05, worker.pid
    os.kill(stopped, signal.SIGSTOP)
    with pytest.raises(ToolError) as caught:
        one(database)
    assert caught.value.type == "timeout"
    database.timeout_s = PATIENT_S
    assert one(database) == [[1]] and worker.pid != stopped


def framed(message):
    return len(message).to_bytes(4, "big") + message


RESULT = b'{"results": [{"columns": ["a"], "rows": [], "row_count": 0, "truncated": null, "counted": true}]}'
REPLIES = {
    "nothing": b"",
    "no length": b"\0\0",
    "endless": b"\xff\xff\xff\xff{}",
    "too long": framed(RESULT + b" " * 2**20),
    "not JSON": framed(b"nul"),
    "not an object": framed(b"[]"),
    "deep": framed(b"[" * 50_000),
    "not UTF-8": framed(b"\xff\xfe"),
    "an empty object": framed(b"{}"),
    "an odd error": framed(b'{"error": []}'),
    "no results": framed(b'{"results": []}'),
    "an odd result": framed(b'{"results": ["row"]}'),
    "half a result": framed(b'{"results": [{"rows": []}]}'),
    "odd rows": framed(RESULT.replace(b'"rows": []', b'"rows": [5]')),
    "short rows": framed(RESULT.replace(b'"rows": []', b'"rows": [[]]')),
    "an odd failure": framed(b'{"results": [{"error": {"code": [], "denied": 5}}]}'),
    "odd objects": framed(b'{"objects": [{"name": 5}], "left_out": "many"}'),
}


@posix
@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
def test_garbage_is_no_answer(path, reply):
    program = f"import sys, os; out = sys.stdout.buffer; out.write({framed(b'{}')!r} + {reply!r}); out.flush(); os.read(0, 9); os.close(1)"
    database = SqliteDatabase(path, timeout_s=PATIENT_S, worker=Worker([sys.executable, "-c", program]))
    for ask in (lambda: one(database), database.tables):
        with pytest.raises(ToolError):
            ask()
    database.close()


@pytest.mark.parametrize("command", [["/nonexistent/python"], [""], [sys.executable, "-c", "pass"], ["\0"]])
def test_a_child_that_cannot_be_started(path, command):
    with pytest.raises(ToolError) as caught:
        one(SqliteDatabase(path, worker=Worker(command)))
    assert caught.value.type == "unavailable" and "/" not in caught.value.message


@posix
def test_ctrl_c_leaves_no_child_and_the_next_query_works(shop, worker):
    one(shop)
    child = worker.pid
    interrupt = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        interrupt.start()
        shop.query(FOREVER)
    assert is_gone(child) or worker.pid is None
    assert one(shop) == [[1]]


def test_threads_share_a_database(shop):
    found = []

    def ask(number):
        for _ in range(10):
            found.append(shop.query(f"SELECT {number}")["rows"] == [[number]])

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 60


FORK = """
import json, os, sys, threading
from react_agent.tools.sqlite import SqliteDatabase
database = SqliteDatabase(sys.argv[1], timeout_s=20)
database.query("SELECT 1")
mine = database._worker.pid
busy = threading.Thread(target=lambda: database.query("SELECT count(*) FROM orders a, orders b"))
busy.start()
read, write = os.pipe()
if os.fork() == 0:
    rows = database.query("SELECT 2")["rows"]
    os.write(write, json.dumps([rows, database._worker.pid != mine]).encode())
    os._exit(0)
os.close(write)
busy.join()
print(json.dumps([json.loads(os.read(read, 100)), database.query("SELECT 3")["rows"], database._worker.pid == mine]))
"""


@posix
def test_a_fork_starts_its_own_child_and_leaves_the_parents_alone(path):
    quiet = ["-W", "error", "-W", "ignore::DeprecationWarning"]  # from 3.12 on Python warns of a fork with threads
    command = [sys.executable, *quiet, "-c", FORK, path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (json.loads(done.stdout), done.stderr) == ([[[[2]], True], [[3]], True], "")


OWNER = """
import os, signal, sys, threading
from react_agent.tools.sqlite import SqliteDatabase
database = SqliteDatabase(sys.argv[1], timeout_s=60)
database.query("SELECT 1")
if sys.argv[2] == "fork" and os.fork() == 0:
    os.close(1)
    signal.pause()
if sys.argv[2] == "busy":
    threading.Thread(target=database.query, args=(sys.argv[4],), daemon=True).start()
    threading.Event().wait(0.2)
print(database._worker.pid, os.getpgrp(), flush=True)
exec(sys.argv[3])
"""
KILLED = "os.kill(os.getpid(), signal.SIGKILL)"
ENDS = [
    ("idle", "sys.exit(0)"), ("idle", KILLED), ("busy", "os._exit(1)"), ("busy", KILLED), ("fork", "raise SystemError"), ("fork", KILLED),
]  # fmt: skip


@linux
@pytest.mark.parametrize(("state", "end"), ENDS)
def test_the_child_ends_with_its_parent(path, state, end):
    """fork: another process holds the pipe open when the parent is gone."""
    command = [sys.executable, "-c", OWNER, path, state, end, ONE_LONG_STEP]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True) as owner:
        child, group = map(int, owner.stdout.readline().split())
        owner.wait(timeout=30)
        try:
            wait_until(lambda: is_gone(child))
        finally:
            if state == "fork":
                os.killpg(group, signal.SIGKILL)


def test_a_statement_during_which_a_writer_began_is_asked_again(monkeypatch):
    """The file was read as immutable, which holds for as long as nobody writes."""
    states = iter([(1, 10, False), (2, 10, False), (2, 10, False), (2, 10, False)])
    replies = iter(["between two states", "whole"])
    monkeypatch.setattr(sqlite_child, "quiet_wal", lambda path: next(states))
    monkeypatch.setattr(sqlite_child, "answer_once", lambda request: next(replies))
    assert sqlite_child.answer({"path": "x.db"}) == "whole"
    states, replies = iter(range(100)), iter(range(100))
    assert sqlite_child.answer({"path": "x.db"})["error"]["code"] == "SQLITE_BUSY"


@linux
def test_the_child_ends_when_the_database_is_forgotten(path):
    database = SqliteDatabase(path, timeout_s=PATIENT_S)
    one(database)
    child = database._worker.pid
    del database
    gc.collect()
    assert is_gone(child)


class LateTimer:
    """A timer whose time is up when the reply has come: rings between the reply and its being called off, or just after that."""

    def __init__(self, seconds, function):
        self.function = function

    def start(self):
        pass

    def cancel(self):
        self.function()


def test_a_reply_that_came_as_its_time_was_up_costs_the_next_one_nothing(shop, worker, monkeypatch):
    assert one(shop) == [[1]]
    with monkeypatch.context() as patch:
        patch.setattr(sqlite_worker.threading, "Timer", LateTimer)
        with pytest.raises(ToolError) as caught:
            one(shop)
    assert (caught.value.type, worker.pid) == ("timeout", None)
    assert one(shop) == [[1]]
    alarm = sqlite_worker._Alarm(worker._process, 60)
    assert alarm.call_off()
    alarm._ring()
    assert not alarm.rang and one(shop) == [[1]]
