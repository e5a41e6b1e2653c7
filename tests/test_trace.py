import dataclasses
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_agent.errors import TraceError
from react_agent.trace import Masker, Trace, from_line, read_trace, to_line
from react_agent.trace_events import (
    EVENTS,
    CompletionReceived,
    DecisionMade,
    EndpointFailed,
    Noted,
    PromptCounted,
    ReplyUnreadable,
    RequestSent,
    RunEnded,
    RunResumed,
    RunStarted,
    Summarised,
    TextArrived,
    ToolEnded,
    ToolStarted,
)  # fmt: skip
from react_agent.types import Message, Usage

SAMPLES = [
    RunStarted("abc", "What? \u2028 \ud83d", language="zh", limits={"a": 3}, tools=({"name": "t"},), history=(Message("user", "hi"),)),
    RequestSent(1, 0, (Message("system", "s"), Message("user", "ü")), 512, 300),
    RunResumed(2, 1.5),
    PromptCounted(1, 300),
    Summarised(1, "s", Usage(1, 2)),
    CompletionReceived(1, '{"thought": "\ud800"}\r\n', "stop", Usage(3, 4, 1, None, True), notes=("a", "b")),
    EndpointFailed(1, "timeout", "too slow", "use a faster one", 504, 8192),
    DecisionMade(1, "t", "add", {"a": [1, {"b": None}]}, None, (("single_quotes", 3),)),
    ReplyUnreadable(2, "no_object", "h", "r"),
    ToolStarted(3, "add", {"a": 1}, True, ("a: '1' -> 1",)),
    ToolEnded(3, "add", '{"ok": true}', None, False, 0.5, ""),
    Noted(3, "compacted", "m"),
    RunEnded("completed", "answer", "x", 3, Usage(1, 2), 1.5, cost=0.1),
]


@pytest.mark.parametrize("event", SAMPLES, ids=lambda event: event.name)
def test_every_event_survives_the_trace(event, tmp_path):
    line = to_line(event, 12.5)
    assert "\n" not in line and json.loads(line)["event"] == event.name
    assert dataclasses.asdict(from_line(line).event) == dataclasses.asdict(event)
    trace = Trace(tmp_path / "t.jsonl", clock=lambda: 12.5)
    trace.write(event)
    trace.close()
    (record,) = read_trace(tmp_path / "t.jsonl")
    assert (record.time, dataclasses.asdict(record.event)) == (12.5, dataclasses.asdict(event))


def test_the_samples_cover_every_recorded_event():
    assert {event.name for event in SAMPLES} == {name for name, kind in EVENTS.items() if kind.recorded}


def test_streamed_pieces_are_not_written(tmp_path):
    trace = Trace(tmp_path / "t.jsonl")
    trace.write(TextArrived(1, "x"))
    assert (tmp_path / "t.jsonl").read_bytes() == b""
    trace.close()


def test_a_cut_last_line_does_not_count_at_any_byte(tmp_path):
    file = tmp_path / "t.jsonl"
    trace = Trace(file, clock=lambda: 1.0)
    for event in SAMPLES[:3]:
        trace.write(event)
    trace.close()
    whole = file.read_bytes()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == 10]
    for cut in range(len(whole) + 1):
        file.write_bytes(whole[:cut])
        assert len(read_trace(file)) == sum(end <= cut for end in ends)


def test_an_existing_trace_is_never_overwritten(tmp_path):
    first, second = Trace(tmp_path / "t.jsonl"), Trace(tmp_path / "t.jsonl")
    assert (first.path.name, second.path.name) == ("t.jsonl", "t.2.jsonl")
    folder = Trace(tmp_path, run_id="abc")
    assert folder.path.parent == tmp_path and folder.path.name.endswith("-abc.jsonl")
    for trace in (first, second, folder):
        trace.close()


@pytest.mark.parametrize(
    ("content", "message"),
    [("hello\n", "line 1: no JSON: Expecting value, at column 1"), ('{"event": "x"}\n', "not an event"), ('{"event": "note", "time": 1}\n', "whole note"), ("[]\n", "not an event"), ("[" * 100_000 + "\n", "nested too deeply")],
)
def test_what_is_not_a_trace_is_said_with_its_line(tmp_path, content, message):
    (tmp_path / "t").write_text(content)
    with pytest.raises(TraceError, match=message):
        read_trace(tmp_path / "t")


START, END = RunStarted("a1", "q"), RunEnded("completed", "answer", "a", 1, Usage(), 0.1)
NOTE, RESUMED = Noted(1, "compacted", "m"), RunResumed(1, 0.1)


@pytest.mark.parametrize(
    ("events", "wrong"),
    [([START, NOTE, END], ""), ([START, END, RESUMED, NOTE, END], ""), ([NOTE, END], ""), ([START, END, START, END], "line 3: run_start"),
     ([START, START, NOTE, NOTE], "line 2: run_start"), ([START, END, NOTE], "line 3: note"), ([START, END, END], "line 3: run_end")],
)
def test_several_runs_in_one_file_are_not_taken_for_one(events, wrong, tmp_path):
    (tmp_path / "t").write_text("".join(to_line(event, 1.0) + "\n" for event in events))
    if wrong:
        with pytest.raises(TraceError, match=f"{wrong} cannot stand there; a trace holds one run, not several"):
            read_trace(tmp_path / "t")
    else:
        assert [record.event for record in read_trace(tmp_path / "t")] == events


def test_what_cannot_be_opened_or_written_is_a_trace_error(tmp_path, monkeypatch):
    with pytest.raises(TraceError, match="cannot be read"):
        read_trace(tmp_path / "missing")
    with pytest.raises(TraceError, match="cannot be written"):
        Trace(tmp_path / "no" / "folder" / "t.jsonl")
    trace = Trace(tmp_path / "t.jsonl")
    monkeypatch.setattr("react_agent.trace.os.write", lambda fd, data: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(TraceError, match="No space left"):
        trace.write(SAMPLES[0])
    trace.close()


WRONG_TYPES = [
    ({"event": "note", "step": "1", "slug": "s", "message": "m"}, "step: '1' is not a whole number"),
    ({"event": "note", "step": True, "slug": "s", "message": "m"}, "step: True is not a whole number"),
    ({"event": "note", "step": 1, "slug": None, "message": "m"}, "slug: None is not a text"),
    ({"event": "note", "step": 1, "slug": "s"}, "message is missing"),
    ({"event": "count", "step": 1, "tokens": 1, "time": "soon"}, "'soon' is not a number"),
    ({"event": "count", "step": 1, "tokens": 1.5}, "tokens: 1.5 is not a whole number"),
    ({"event": "summary", "step": 1, "text": "", "usage": {"input_tokens": "3"}}, "usage: input_tokens: '3' is not a whole number"),
    ({"event": "summary", "step": 1, "text": "", "usage": [1, 2]}, "usage: .1, 2. is not an object"),
    ({"event": "request", "step": 1, "keep": 0, "max_output_tokens": 1, "estimated_tokens": 1, "add": [{"role": "x", "content": ""}]}, "add: role"),
    ({"event": "request", "step": 1, "keep": 0, "max_output_tokens": 1, "estimated_tokens": 1, "add": "ab"}, "add: 'ab' is not a list"),
    ({"event": "decision", "step": 1, "thought": "", "repairs": ["ab"]}, "repairs: 'ab' is not a list of 2"),
    ({"event": "decision", "step": 1, "thought": "", "tool": []}, "tool: .. is not a text"),
    ({"event": "decision", "step": 1, "thought": "", "arguments": [1]}, "arguments: .1. is not an object"),
    ({"event": "run_start", "run_id": "r", "question": "q", "limits": {"max_steps": "3"}}, "limits: '3' is not a whole number"),
    ({"event": "run_start", "run_id": "r", "question": "q", "tainted": 1}, "tainted: 1 is not true or false"),
    ({"event": ["note"]}, "not an event"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "message"), WRONG_TYPES, ids=[message for _, message in WRONG_TYPES])
def test_a_field_of_another_type_is_no_event(body, message):
    with pytest.raises(ValueError, match=message):
        from_line(json.dumps({"time": 1.0, **body}))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_what_is_no_number_is_no_time(number):
    with pytest.raises(ValueError, match="number"):
        from_line(f'{{"event": "resume", "time": 1.0, "dropped": 1, "seconds": {number}}}')


def test_a_trace_of_a_later_version_is_told_as_one_also_with_events_that_are_not_known(tmp_path):
    (tmp_path / "t").write_text(json.dumps({"event": "run_start", "time": 1, "run_id": "r", "question": "q", "version": 2}) + '\n{"event": "new"}\n')
    with pytest.raises(TraceError, match="format 2, .* up to 1: use a newer react-agent"):
        read_trace(tmp_path / "t")


def test_later_versions_may_add_keys():
    line = json.dumps({**json.loads(to_line(SAMPLES[-2], 1.0)), "added_later": 1})
    assert from_line(line).event == SAMPLES[-2]
    summary = json.loads(to_line(SAMPLES[4], 1.0))
    assert from_line(json.dumps({**summary, "usage": {**summary["usage"], "added_later": 1}})).event == SAMPLES[4]


def test_secrets_are_masked_everywhere_and_the_home_folder_where_the_program_speaks(monkeypatch):
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.setenv("USERPROFILE", "/home/somebody")
    home, mask = os.path.expanduser("~"), Masker(("sk-very-secret", "ab"))
    event = ToolStarted(1, "t", {"key": ["sk-very-secret", {"path": home + "/x"}], "ab": 1}, True)
    assert from_line(to_line(event, 1.0, mask)).event.arguments == {"key": ["[secret]", {"path": home + "/x"}], "ab": 1}
    failed = ToolEnded(1, "t", "{}", "tool_crash", crash=f"File {home}/x.py, {home}, {home}-else/y, sk-very-secret")
    assert from_line(to_line(failed, 1.0, mask)).event.crash == f"File ~/x.py, ~, {home}-else/y, [secret]"


def test_going_on_in_a_trace_first_removes_a_cut_line(tmp_path):
    file = tmp_path / "t.jsonl"
    line = to_line(SAMPLES[-2], 1.0)
    file.write_text(f"{line}\n{line[:20]}")
    trace = Trace(file, append=True, clock=lambda: 1.0)
    trace.write(SAMPLES[-1])
    trace.close()
    assert [record.event for record in read_trace(file)] == SAMPLES[-2:]


@given(st.text(), st.dictionaries(st.text(), st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5)))
def test_any_text_and_arguments_come_back_unchanged(text, arguments):
    event = DecisionMade(1, text, text, arguments)
    assert from_line(to_line(event, 0.0)).event == event
