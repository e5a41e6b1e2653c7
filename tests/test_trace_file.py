"""The file of a trace: whole lines only, one writer, and places that are no ordinary file."""

import os
import stat
import sys

import pytest

from react_agent.errors import TraceError
from react_agent.trace import Trace, read_trace, to_line
from react_agent.trace_events import Noted

NOTE = Noted(1, "s", "m")
posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX files")


def test_a_line_that_could_only_be_written_in_part_is_taken_back(tmp_path, monkeypatch):
    trace, real = Trace(tmp_path / "t.jsonl"), os.write
    trace.write(NOTE)
    answers = iter([lambda fd, data: real(fd, bytes(data)[:5]), lambda fd, data: (_ for _ in ()).throw(OSError(28, "No space left on device"))])
    monkeypatch.setattr("react_agent.trace_file.os.write", lambda fd, data: next(answers)(fd, data))
    with pytest.raises(TraceError, match="No space left"):
        trace.write(NOTE)
    trace.close()
    assert (tmp_path / "t.jsonl").read_bytes().count(b"\n") == 1 and len(read_trace(tmp_path / "t.jsonl")) == 1
    assert (tmp_path / "t.jsonl").read_bytes().endswith(b"\n")


@posix
def test_a_trace_that_was_deleted_cannot_be_written_any_more(tmp_path):
    trace = Trace(tmp_path / "t.jsonl")
    (tmp_path / "t.jsonl").unlink()
    with pytest.raises(TraceError, match="deleted meanwhile"):
        trace.write(NOTE)
    trace.close()


@posix
def test_a_trace_that_a_run_is_writing_is_not_gone_on_with(tmp_path):
    file = tmp_path / "t.jsonl"
    first = Trace(file)
    first.write(NOTE)
    before = file.read_bytes()
    with pytest.raises(TraceError, match="another run is writing it"):
        Trace(file, append=True)
    assert file.read_bytes() == before and len(read_trace(file)) == 1
    first.close()
    Trace(file, append=True).close()


@posix
def test_a_device_is_written_to_as_it_is():
    trace = Trace("/dev/null")
    trace.write(NOTE)
    trace.close()
    assert str(trace.path) == "/dev/null" and stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_device_is_an_error_at_the_first_event():
    trace = Trace("/dev/full")
    with pytest.raises(TraceError, match="No space left"):
        trace.write(NOTE)
    trace.close()


@posix
def test_a_pipe_that_nobody_reads_is_an_error_and_not_a_wait(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TraceError, match="cannot be written"):
        Trace(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    trace = Trace(tmp_path / "pipe", clock=lambda: 1.0)
    trace.write(NOTE)
    assert os.read(reader, 1000).decode() == to_line(NOTE, 1.0) + "\n"
    trace.close()
    os.close(reader)


@pytest.mark.parametrize("wrong", ["no\0name", "folder"])
def test_what_a_run_cannot_go_on_in_is_said(wrong, tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(TraceError, match="cannot be written"):
        Trace(tmp_path / wrong, append=True)


def test_an_event_that_json_cannot_hold_is_a_trace_error_and_leaves_nothing(tmp_path):
    trace = Trace(tmp_path / "t.jsonl")
    with pytest.raises(TraceError, match="keys must be"):
        trace.write(Noted(1, "s", {("a", "b"): 1}))
    trace.close()
    assert (tmp_path / "t.jsonl").read_bytes() == b""
