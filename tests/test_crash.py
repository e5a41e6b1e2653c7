"""Runs with side effects, killed at random moments and cut at any byte, then resumed."""

import os
import random
import signal
import time

import pytest

from react_agent import Agent, ScriptedEndpoint, tool
from react_agent.playback import recorded, replay, resume
from react_agent.trace import read_trace
from react_agent.trace_events import RunEnded, ToolEnded, ToolStarted

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")]
EFFECTS = 8
KILLS = 500


def agent(folder, reply, **options):
    """Appends eight lines to a file, one a call, with a look at it between; what it says next follows from its history alone."""

    @tool
    def append(number: int) -> str:
        """Append a line."""
        with open(folder / "effects", "a") as file:
            file.write(f"{number}\n")
        return "appended"

    @tool(read_only=True, volatile=True)
    def look(number: int) -> str:
        """Read the file."""
        return (folder / "effects").read_text() if (folder / "effects").exists() else ""

    def model(messages, request):
        said = [m.content for m in messages[messages.index(question(messages)) :] if m.role == "assistant"]
        number, looking = divmod(len(said), 2)
        if number == EFFECTS:
            return reply(answer="all done")
        return reply("look" if looking else "append", {"number": number})

    def question(messages):
        return next(m for m in messages if m.content.startswith("Append eight lines."))

    return Agent(ScriptedEndpoint(model), [append, look], approve=lambda _: True, limits=options.pop("limits", None), **options)


def in_a_child(work):
    """Fork, run, and return the child's process id; the child never comes back."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return child


def finish(folder, reply):
    """Resume until it is done (once should do); returns the result."""
    trace = folder / "t.jsonl"
    return resume(trace, lambda run: agent(folder, reply, limits=run.limits, **run.start.options))


def check(folder, result):
    """It finished; no line was written twice; each call that ended well has its line; a missing line was reported as unknown."""
    assert result.status == "completed" and result.answer == "all done"
    lines = (folder / "effects").read_text().split()
    assert len(lines) == len(set(lines)), "a side effect happened twice"
    events = [record.event for record in read_trace(folder / "t.jsonl")]
    unknown = {start.arguments["number"] for start, end in _pairs(events) if end.error == "outcome_unknown"}
    assert {str(n) for n in set(range(EFFECTS)) - unknown} <= set(lines)
    assert sum(isinstance(event, RunEnded) for event in events) == 1
    assert replay(folder / "t.jsonl").difference == ""


def _pairs(events):
    starts = [event for event in events if isinstance(event, ToolStarted) and event.tool == "append"]
    ends = [event for event in events if isinstance(event, ToolEnded) and event.tool == "append"]
    assert len(starts) == len(ends) == EFFECTS
    return zip(starts, ends, strict=True)


def limits():
    from react_agent import Limits

    return Limits(max_steps=40)


def test_a_run_killed_at_random_moments_always_finishes_and_repeats_nothing(tmp_path, reply):
    rng = random.Random(7)
    interrupted = 0
    for number in range(KILLS):
        folder = tmp_path / str(number)
        folder.mkdir()
        child = in_a_child(lambda folder=folder: agent(folder, reply, limits=limits(), trace=folder / "t.jsonl").run("Append eight lines."))
        time.sleep(rng.uniform(0, 0.02))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        trace = folder / "t.jsonl"
        if not trace.exists() or not read_trace(trace):
            assert not (folder / "effects").exists()  # nothing happened before there was a record
            continue
        if recorded(trace).end is not None:
            continue
        before = [record.event for record in read_trace(trace)]
        interrupted += 1
        check(folder, finish(folder, reply))
        assert [record.event for record in read_trace(trace)][: len(before)] == before  # nothing recorded is lost
    assert interrupted > KILLS / 10  # the moments really lay within runs


def test_a_trace_cut_at_every_byte_of_its_last_4_kb_can_be_resumed(tmp_path, reply):
    whole = tmp_path / "whole"
    whole.mkdir()
    assert agent(whole, reply, limits=limits(), trace=whole / "t.jsonl").run("Append eight lines.").status == "completed"
    data = (whole / "t.jsonl").read_bytes()
    assert len(data) > 4096
    folder = tmp_path / "cut"
    folder.mkdir()
    for cut in range(len(data) - 4096, len(data)):
        (folder / "t.jsonl").write_bytes(data[:cut])
        started = [r.event.arguments["number"] for r in read_trace(folder / "t.jsonl") if isinstance(r.event, ToolStarted) and r.event.tool == "append"]
        (folder / "effects").write_text("".join(f"{n}\n" for n in started))
        check(folder, finish(folder, reply))
