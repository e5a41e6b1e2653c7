"""`react-agent chat`: its exit code in a pipe, and a trace or an endpoint that is not there."""

import io
import json
import os
import sys

import pytest
from fake_server import FakeServer, answer, chat

from react_agent import cli
from react_agent.errors import TraceError
from react_agent.trace import Trace, read_trace

DEAD = "http://127.0.0.1:9/v1"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def folders(monkeypatch, tmp_path):
    monkeypatch.setenv("REACT_AGENT_STATE", str(tmp_path / "state"))


@pytest.fixture
def talk(monkeypatch, capsys):
    def say(lines, *argv, person=False):
        monkeypatch.setattr(sys, "stdin", (Terminal if person else io.StringIO)(lines))
        code = cli.main(["chat", "--no-calculator", "--no-stream", *argv])
        out, err = capsys.readouterr()
        return code, out, err

    return say


def test_a_dead_endpoint_exits_with_3_in_a_pipe_and_leaves_a_person_where_they_are(talk):
    code, out, err = talk("one?\ntwo?\n", "--endpoint", DEAD, "--quiet")
    assert (code, [line[:42] for line in out.splitlines()]) == (3, ["(no answer: nothing listens at http://127."] * 2)
    assert (talk("one?\n/quit\n", "--endpoint", DEAD, "--quiet", person=True)[0], err) == (0, "")


def test_the_exit_code_is_that_of_the_first_question_without_an_answer(talk, reply):
    with FakeServer([chat(reply(answer="a")), *[chat("no")] * 3, answer(401), chat(reply(answer="b"))]) as server:
        code, out, _ = talk("1\n2\n3\n4\n", "--endpoint", server.url, "--no-trace")
    assert (code, len(out.splitlines())) == (1, 4)
    assert out.startswith("a\n(no answer: stopped after 3 unreadable replies") and out.endswith("\nb\n")


def test_json_is_one_object_for_each_question(talk, reply):
    with FakeServer([chat(reply(answer="a")), chat(reply(answer="b"))]) as server:
        code, out, _ = talk("1\n2\n", "--endpoint", server.url, "--json")
    assert (code, [json.loads(line)["answer"] for line in out.splitlines()]) == (0, ["a", "b"])


@pytest.mark.parametrize("command", ["chat", "run"])
def test_a_trace_that_can_become_no_file_is_told_before_the_endpoint_is_asked(command, tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    (tmp_path / "closed").mkdir()
    monkeypatch.setattr("os.access", lambda path, mode: path != tmp_path / "closed")
    for where, why in [("none/t.jsonl", "none is no folder"), ("file/t.jsonl", "file is no folder"),
                       ("closed/t.jsonl", "nothing may be written in"), ("closed", "nothing may be written in")]:  # fmt: skip
        monkeypatch.setattr(sys, "stdin", io.StringIO("one?\n"))
        with FakeServer([]) as server:
            assert cli.main([command, "--endpoint", server.url, "--trace", str(tmp_path / where)]) == 2
        out, err = capsys.readouterr()
        assert (out, server.requests) == ("", []) and why in err and err.count("\n") == 1


def test_a_folder_gets_one_trace_for_each_question(talk, reply, tmp_path):
    (tmp_path / "here").mkdir()
    with FakeServer([chat(reply(answer="a")), chat(reply(answer="b"))]) as server:
        assert talk("1\n2\n", "--endpoint", server.url, "--trace", str(tmp_path / "here"))[0] == 0
    assert sorted(read_trace(file)[0].event.question for file in (tmp_path / "here").iterdir()) == ["1", "2"]


@pytest.mark.parametrize(("person", "code", "answers"), [(False, 2, "a\n"), (True, 0, "a\nb\n")])
def test_a_trace_that_cannot_be_opened_any_more_ends_a_pipe_and_is_told_to_a_person(person, code, answers, talk, reply, tmp_path, monkeypatch):
    left = [Trace, None, Trace]

    def opened(path, **settings):
        if (kind := left.pop(0)) is None:
            raise TraceError(f"the trace {path} cannot be written: No space left on device")
        return kind(path, **settings)

    monkeypatch.setattr("react_agent.agent.Trace", opened)
    with FakeServer([chat(reply(answer="a")), chat(reply(answer="b"))]) as server:
        got = talk("1\n2\n3\n", "--endpoint", server.url, "--trace", str(tmp_path / "t.jsonl"), person=person)
    assert got[:2] == (code, answers.replace("a\n", "> a\n> > ") + "> " if person else answers) and "No space left on device" in got[2]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_disk_that_is_full_in_the_middle_of_an_answer_is_no_answer(talk, reply):
    with FakeServer([chat(reply(answer="a"))]) as server:
        code, out, _ = talk("1\n", "--endpoint", server.url, "--trace", "/dev/full", "--quiet")
    assert (code, server.requests) == (1, [])
    _, _, err = talk("1\n", "--endpoint", server.url, "--trace", "/dev/full")
    assert "nothing runs unrecorded" in err and "--no-trace leaves it out" in err
    assert out.startswith("(no answer: the trace /dev/full cannot be written: No space left on device; nothing runs unrecorded")
