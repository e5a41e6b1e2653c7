"""Listeners that fail, and Ctrl-C at odd moments: the run ends for its own reason, and its trace is whole."""

import os

import pytest

from react_agent import Agent, ScriptedEndpoint, replay, resume, tool
from react_agent.trace import read_trace
from react_agent.trace_events import (
    CompletionReceived,
    DecisionMade,
    RequestSent,
    RunEnded,
    RunStarted,
    TextArrived,
    ToolEnded,
    ToolStarted,
)

KINDS = [RunStarted, RequestSent, TextArrived, CompletionReceived, DecisionMade, ToolStarted, ToolEnded, RunEnded]


@pytest.fixture
def bumps():
    return []


@pytest.fixture
def start(reply, tmp_path, bumps):
    """Run one side effect and an answer, with this listener."""

    @tool
    def bump(name: str) -> str:
        """Add one."""
        bumps.append(name)
        return "bumped"

    def start(listener, **options):
        endpoint = ScriptedEndpoint([reply("bump", {"name": "a"}), reply(answer="done")])
        return Agent(endpoint, [bump], approve=lambda _: True, on_event=listener, trace=tmp_path / "t.jsonl", **options).run("q")

    start.trace, start.tools = tmp_path / "t.jsonl", [bump]
    return start


def events(start):
    return [record.event for record in read_trace(start.trace)]


def raising(kind, error):
    def listener(event):
        if isinstance(event, kind):
            raise error

    return listener


@pytest.mark.parametrize("error", [ValueError("no"), BrokenPipeError(), SystemExit(1)], ids=repr)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_listener_that_fails_is_logged_once_and_the_run_goes_on(kind, error, start, caplog):
    result = start(raising(kind, error))
    assert (result.answer, len(result.side_effects)) == ("done", 1)
    assert [isinstance(event, RunEnded) for event in events(start)].count(True) == 1 and replay(start.trace).same
    assert caplog.text.count("the listener (on_event) failed") == 1 and type(error).__name__ in caplog.text


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_ctrl_c_in_a_listener_ends_the_run_with_its_trace_whole_and_its_side_effects_listed(kind, start, bumps):
    result = start(raising(kind, KeyboardInterrupt()))
    ended = kind is RunEnded  # the run was over
    assert (result.stop_reason, result.answer) == (("answer", "done") if ended else ("cancelled", None))
    assert [call.arguments["name"] for call in result.side_effects] == bumps
    assert [isinstance(event, RunEnded) for event in events(start)] == [False] * (len(events(start)) - 1) + [True]


@pytest.mark.parametrize("nth", range(1, 10))
def test_ctrl_c_while_a_line_is_written_leaves_no_part_of_it(nth, start, monkeypatch, bumps, reply):
    real, count = os.write, []

    def write(fd, data):
        count.append(1)
        if len(count) == nth:
            real(fd, bytes(data)[:9])
            raise KeyboardInterrupt
        return real(fd, data)

    monkeypatch.setattr("react_agent.trace_file.os.write", write)
    result = start(None)
    assert [isinstance(event, RunEnded) for event in events(start)].count(True) == 1
    assert [call.arguments["name"] for call in result.side_effects] == bumps
    if result.stop_reason == "cancelled":
        rest = [reply(answer="done")] if any(isinstance(event, CompletionReceived) for event in events(start)) else [reply("bump", {"name": "a"}), reply(answer="done")]
        again = resume(start.trace, lambda run: Agent(ScriptedEndpoint(rest), start.tools, approve=lambda _: True)) if nth > 1 else None
        assert again is None or (again.answer, bumps) == ("done", ["a"])


def test_the_trace_that_could_not_be_written_is_still_named(start, monkeypatch):
    monkeypatch.setattr("react_agent.trace_file.os.write", lambda fd, data: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    result = start(None)
    assert (result.stop_reason, result.trace_path) == ("trace_error", str(start.trace))


def test_a_listener_that_fails_at_the_resumption_does_not_end_it(start, reply, caplog):
    lines = []
    start(None)
    lines = start.trace.read_bytes().splitlines(keepends=True)
    start.trace.write_bytes(b"".join(lines[:3]))

    def listener(event):
        raise ValueError("no")

    result = resume(start.trace, lambda run: Agent(ScriptedEndpoint([reply(answer="done")]), start.tools, approve=lambda _: True, on_event=listener))
    assert result.answer == "done" and "failed at resume" in caplog.text
