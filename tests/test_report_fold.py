"""Traces folded into runs and steps: what each step came to, what counts after a resumption, and how a run ended in words."""

import pytest
from report_traces import ANSWER, request, started, varied_events, write

from react_agent import Agent, Completion, EndpointError, Limits, ScriptedEndpoint, TraceError, Usage, tool
from react_agent.report_fold import fold, open_run
from react_agent.report_view import SideEffect
from react_agent.trace import Record, read_trace
from react_agent.trace_events import (
    CompletionReceived,
    DecisionMade,
    EndpointFailed,
    Noted,
    ReplyUnreadable,
    RunEnded,
    RunResumed,
    ToolEnded,
    ToolStarted,
)

USAGE = Usage(10, 5)
REPLY = CompletionReceived(1, "{}", "stop", USAGE)
CALL, SAID = DecisionMade(1, "t", "look", {}), DecisionMade(1, "t", None, None, "a")
BEGUN = ToolStarted(1, "look", {}, True)


def end(reason, status="failed"):
    return RunEnded(status, reason, "a" if reason == "answer" else None, 1, USAGE, 1.0, "" if reason == "answer" else "it stopped")


def folded(*events):
    return fold([Record(float(at), event) for at, event in enumerate((started(), *events))], "run.jsonl")


OUTCOMES = [
    ("answer", [REPLY, SAID, end("answer", "completed")]),
    ("answer", [REPLY, SAID]),
    ("answer_sent_back", [REPLY, SAID, Noted(1, "answer_sent_back", "answer_without_tool")]),
    ("answer_refused", [REPLY, SAID, end("ungrounded_answer")]),
    ("call", [REPLY, CALL, BEGUN, ToolEnded(1, "look", "{}")]),
    ("call_failed", [REPLY, CALL, BEGUN, ToolEnded(1, "look", "{}", "not_found")]),
    ("call_failed", [REPLY, CALL, ToolEnded(1, "look", "{}", "not_approved")]),
    ("call_repeated", [REPLY, CALL, Noted(1, "repeated_call", "")]),
    ("call_sent_back", [REPLY, CALL, Noted(1, "call_sent_back", "")]),
    ("call_not_run", [REPLY, CALL, end("repeated_action")]),
    ("call_cut", [REPLY, CALL, BEGUN]),
    ("call_cut", [REPLY, CALL, BEGUN, end("cancelled", "cancelled")]),
    ("unreadable", [REPLY, ReplyUnreadable(1, "empty", "")]),
    ("endpoint_error", [EndpointFailed(1, "timeout", ""), end("endpoint_error")]),
    ("unfinished", []),
    ("unfinished", [REPLY]),
    ("unfinished", [REPLY, CALL]),
]


@pytest.mark.parametrize(("outcome", "events"), OUTCOMES)
def test_what_a_step_came_to(outcome, events):
    (step,) = folded(request(1), *events).steps
    assert step.outcome == outcome


def test_the_varied_run_step_by_step(tmp_path):
    run = open_run(write(tmp_path / "varied.jsonl", varied_events()))
    assert [step.outcome for step in run.steps] == [
        "unreadable", "call", "call_failed", "call_repeated", "call", "answer_sent_back", "call_failed", "answer",
    ]  # fmt: skip
    assert [step.number for step in run.steps if step.forced] == [8] and [step.number for step in run.steps if step.resumed] == [7]
    third = run.steps[2]
    attempts = [(attempt.failure and attempt.failure.kind, attempt.seconds) for attempt in third.attempts]
    assert attempts == [("context_overflow", 1.0), (None, 0.0)]
    assert (third.counted.tokens, [note.slug for note in third.notes], [summary.text for summary in third.summaries]) == (
        512, ["compacted"], ["Two orders are open."])  # fmt: skip
    assert (third.model_seconds, third.tool_seconds) == (1.5, 0.1)
    assert (run.name, run.status, run.resumes, run.models, run.seconds, run.cost) == (
        "varied.jsonl", "completed", 1, ("small-3b", "small-3b-q4"), 13.75, 0.00318)  # fmt: skip
    assert run.end.answer == ANSWER and run.usage == run.end.usage


def test_an_ending_that_was_resumed_from_does_not_count():
    failed = [EndpointFailed(1, "connection", "no"), end("endpoint_error")]
    run = folded(request(1), *failed, RunResumed(2, 1.0), *failed, RunResumed(2, 2.0), REPLY, SAID)
    (step,) = run.steps
    assert (step.outcome, [attempt.failure for attempt in step.attempts], run.end, run.resumes) == ("answer", [None], None, 2)
    assert step.resumed


def test_every_cut_of_a_trace_folds_and_says_that_it_did_not_end(tmp_path):
    records = read_trace(write(tmp_path / "t", varied_events()))
    for cut in range(1, len(records)):
        run = fold(records[:cut], "run.jsonl")
        ended = isinstance(records[cut - 1].event, RunEnded)
        at = f"at step {run.steps[-1].number}" if run.steps else "before its first step"
        sentence = f"The run did not end: it was interrupted {at} (or is still going on); `react-agent resume run.jsonl` goes on."
        assert (run.status, run.sentence) == (("failed", "No connection.") if ended else ("interrupted", sentence))
        assert run.usage.input_tokens >= 0 and run.seconds >= 0


def test_what_an_interrupted_run_used_is_summed_and_priced(tmp_path):
    run = open_run(write(tmp_path / "t", varied_events(ended=False)))
    assert run.usage == Usage(4490, 280, 1500, 12, True)
    assert run.seconds == pytest.approx(7 * 0.5 + 1.0 + 0.25 + 0.1 + 0.01)
    assert run.cost == pytest.approx((4490 * 0.5 + 280 * 1.5) / 1e6)
    assert fold([Record(0.0, started(limits={}))]).cost is None


SENTENCES = [
    (RunEnded("completed", "answer", "a", 1, USAGE, 1.0), "Answered after 1 step."),
    (RunEnded("completed", "answer", "a", 1200, USAGE, 1.0), "Answered after 1,200 steps."),
    (RunEnded("completed", "answer", "a", 3, USAGE, 1.0, forced=True),
     "Answered after 3 steps, on the last one allowed: the model was told to answer."),
    (RunEnded("failed", "endpoint_error", None, 3, USAGE, 1.0, "no key. Set LLM_API_KEY"), "No key. Set LLM_API_KEY."),
    (RunEnded("failed", "refused", None, 3, USAGE, 1.0, "我不能这样做。"), "我不能这样做。"),
    (RunEnded("failed", "tool_crash", None, 3, USAGE, 1.0), "The run ended without an answer: tool_crash."),
]


@pytest.mark.parametrize(("ended", "sentence"), SENTENCES, ids=[sentence for _, sentence in SENTENCES])
def test_the_reason_it_stopped_is_a_sentence(ended, sentence):
    assert folded(request(1), ended).sentence == sentence


WRITES = ToolStarted(1, "write", {"a": 1}, False)
EFFECTS = [
    ([WRITES, ToolEnded(1, "write", "{}")], SideEffect(1, "write", {"a": 1}, "done")),
    ([WRITES, ToolEnded(1, "write", "{}", "timeout")], SideEffect(1, "write", {"a": 1}, "failed", "timeout")),
    ([WRITES, ToolEnded(1, "write", "{}", "outcome_unknown")], SideEffect(1, "write", {"a": 1}, "unknown", "outcome_unknown")),
    ([WRITES], SideEffect(1, "write", {"a": 1}, "unknown")),
    ([WRITES, ToolEnded(1, "write", "{}", "bad_arguments")], None),
    ([ToolEnded(1, "write", "{}", "not_approved")], None),
    ([BEGUN, ToolEnded(1, "look", "{}")], None),
]


@pytest.mark.parametrize(("events", "effect"), EFFECTS)
def test_side_effects_and_whether_they_happened(events, effect):
    assert folded(request(1), REPLY, CALL, *events).side_effects == ((effect,) if effect else ())


NO_TRACES = [
    ([], "has no whole event"),
    ([RunEnded("failed", "cancelled", None, 0, USAGE, 0.0)], "begins with run_end"),
    ([started(version=2)], "has format 2, and this version reads formats up to 1"),
]


@pytest.mark.parametrize(("events", "message"), NO_TRACES, ids=[message for _, message in NO_TRACES])
def test_what_is_no_trace_is_said(tmp_path, events, message):
    with pytest.raises(TraceError, match=f"^run.jsonl {message}"):
        open_run(write(tmp_path / "run.jsonl", events))


@tool(read_only=True)
def page(number: int) -> str:
    """Read a page."""
    return f"page {number} " + "words and more words of it " * 80


@tool
def push(name: str) -> str:
    """Push it."""
    return "pushed"


def test_a_real_run_is_told_as_its_result_tells_it_and_its_prompts_are_put_together(reply, tmp_path):
    script = [
        "rubbish", *[reply("page", {"number": n}) for n in (1, 2, 3, 4)],
        EndpointError("context_overflow", "too long", limit=2500, used=2600), reply("push", {"name": "a"}),
        Completion('{"thought": "cut', "length"), reply(answer="done"),
    ]  # fmt: skip
    endpoint = ScriptedEndpoint(script, max_output_tokens=200)
    limits = Limits(max_steps=20, input_price=1.0, output_price=2.0)
    agent = Agent(endpoint, [page, push], limits=limits, approve=lambda _: True, trace=tmp_path / "run.jsonl")
    result = agent.run("Read and push.")
    run = open_run(tmp_path / "run.jsonl")
    assert [messages for _, _, messages in run.requests()] == [sent for sent, _ in endpoint.requests]
    assert (run.status, run.end.stop_reason, run.end.answer) == ("completed", "answer", "done")
    assert (run.usage, run.cost) == (result.usage, result.cost)
    assert [(effect.tool, effect.arguments) for effect in run.side_effects] == [(call.name, call.arguments) for call in result.side_effects]
    assert [step.completion.text for step in run.steps] == [step.completion.text for step in result.steps]
    assert [step.outcome for step in run.steps] == ["unreadable", "call", "call", "call", "call", "call", "unreadable", "answer"]


@pytest.mark.parametrize("stop", ["max_steps", "endpoint_error", "cancelled"])
def test_a_real_run_that_stops_says_why_in_the_words_of_its_result(reply, tmp_path, stop):
    script = {"max_steps": [reply("page", {"number": 1})], "endpoint_error": [EndpointError("auth", "no key", "set one")],
              "cancelled": [EndpointError("cancelled", "stopped")]}[stop]  # fmt: skip
    result = Agent(ScriptedEndpoint(script), [page], limits=Limits(max_steps=1), trace=tmp_path / "run.jsonl").run("Read.")
    run = open_run(tmp_path / "run.jsonl")
    assert (run.end.stop_reason, run.sentence.lower().rstrip(".")) == (stop, result.error.lower().rstrip("."))
