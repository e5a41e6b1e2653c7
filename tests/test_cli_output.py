"""Streams as nobody wants them: closed, full, broken, in another encoding; and a reply that would steer the terminal."""

import argparse
import io
import logging
import os
import sys
from pathlib import Path

import pytest

from react_agent.cli import output
from react_agent.cli.options import state_folder, trace_target
from react_agent.cli.view import PlainPrinter, make_printer, printable
from react_agent.errors import ConfigError, ReactAgentError


def text_stream(encoding="utf-8", content=b""):
    return io.TextIOWrapper(io.BytesIO(content), encoding=encoding)


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Broken(io.StringIO):
    def write(self, text):
        raise BrokenPipeError


def test_closed_streams_lead_nowhere(monkeypatch):
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    output.prepare_streams()
    output.result("x")
    output.say("x")
    assert (sys.stdin.read(), sys.stdin.isatty(), sys.stderr.isatty()) == ("", False, False)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        stream.close()


def test_no_character_and_no_byte_is_an_error(monkeypatch):
    monkeypatch.setattr(sys, "stdin", text_stream(content=b"caf\xc3\xa9 \xff?"))
    monkeypatch.setattr(sys, "stdout", text_stream("ascii"))
    output.prepare_streams()
    assert sys.stdin.read() == "café \ufffd?"
    output.result("é \ud800 \u4e2d")
    assert sys.stdout.buffer.getvalue() == rb"\xe9 \ud800 \u4e2d" + b"\n"
    output.prepare_streams()  # a stream that was read from stays as it is


def test_on_a_terminal_an_answer_is_shown_and_not_obeyed(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setattr(sys, "stderr", Terminal())
    output.result("a\x1b[2Jb\n\tc")
    output.fail("d\x1b]0;e\x07")
    assert (sys.stdout.getvalue(), sys.stderr.getvalue()) == ("a\\x1b[2Jb\n\tc\n", "error: d\\x1b]0;e\\x07\n")
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    output.result("a\x1b[2Jb")
    assert sys.stdout.getvalue() == "a\x1b[2Jb\n"


def test_what_people_write_stays_readable_and_what_turns_the_text_round_does_not():
    assert printable("1\u202f234\u00a0€ 中文\u3000👩\u200d🚀") == "1\u202f234\u00a0€ 中文\u3000👩\u200d🚀"
    assert printable("\u202eabc\u2066\x9b") == "\\u202eabc\\u2066\\x9b"


def test_on_a_terminal_what_a_tool_wrote_into_its_traceback_is_not_obeyed(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with output.log_shown():
        logging.getLogger("react_agent").error("the tool crashed:\n%s", "ValueError: \x1b[2J\u202e")
    assert sys.stderr.getvalue() == "the tool crashed:\nValueError: \\x1b[2J\\u202e\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_result_that_cannot_be_written_is_an_error_and_words_to_nobody_are_none(monkeypatch):
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(ReactAgentError, match="No space left"):
            output.result("x")
    monkeypatch.setattr(sys, "stderr", Broken())
    output.say("x")
    output.fail("x")
    output.fleeting("x")


def test_a_reader_that_has_gone_is_told_to_the_program(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Broken())
    with pytest.raises(BrokenPipeError):
        output.result("x")


def test_a_very_narrow_terminal_gets_plain_lines(monkeypatch):
    monkeypatch.setenv("COLUMNS", "12")
    assert isinstance(make_printer(Terminal()), PlainPrinter)


@pytest.fixture
def unnamed(monkeypatch):
    """A user without a home folder, who names no other."""
    for name in ("REACT_AGENT_STATE", "REACT_AGENT_CACHE", "XDG_STATE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))


WANTED = argparse.Namespace(no_trace=False, trace=None)


def test_a_user_without_a_home_folder_goes_without_a_trace(unnamed, capsys):
    with pytest.raises(ConfigError, match="REACT_AGENT_STATE"):
        state_folder()
    assert trace_target(WANTED) is None
    assert "no trace is written: this user has no home folder" in capsys.readouterr().err


def test_a_state_folder_that_cannot_be_written_goes_without_a_trace(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("REACT_AGENT_STATE", str(tmp_path))
    monkeypatch.setattr("react_agent.cli.options.os.access", lambda *_: False)
    assert trace_target(WANTED) is None
    assert "traces cannot be written to" in capsys.readouterr().err
