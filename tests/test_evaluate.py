"""Whole evaluations, offline: a model that knows the answers and one that does not, several at once, stopped and resumed."""

import json
import os
import signal
import sys
import threading
from dataclasses import asdict, replace

import pytest
from task_set import ALL, CHINESE, ENGLISH, FOLDER, decision, guessing, knowing, shop, tools

from react_agent.agent import Agent
from react_agent.endpoints.scripted import ScriptedEndpoint
from react_agent.errors import ConfigError, EndpointError, TraceError
from react_agent.evaluate import MOST_ENDPOINT_ERRORS, evaluate, kept, to_do
from react_agent.evaluate_checks import Number
from react_agent.evaluate_lines import LineFile
from react_agent.evaluate_outcome import Outcome, read_outcomes
from react_agent.evaluate_tasks import Task, read_tasks
from react_agent.trace import read_trace
from react_agent.types import Completion, Usage


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    return shop().build(tmp_path_factory.mktemp("shop") / "shop.db")


@pytest.fixture(scope="module")
def registry(db):
    return tools(db)


def scripted(model):
    """An endpoint that gives what a model of task_set says."""
    return ScriptedEndpoint(lambda messages, request: model([(message.role, message.content) for message in messages]))


@pytest.mark.parametrize(("files", "language"), [(ENGLISH, "en"), (CHINESE, "zh")])
def test_a_model_that_knows_the_answers_gets_every_task_right(db, registry, files, language, tmp_path):
    tasks = read_tasks([FOLDER / name for name in files])
    endpoint = scripted(knowing(db))
    seen = []
    evaluation = evaluate(
        tasks, lambda task, number: Agent(endpoint, registry, language=language, require_tool=True, trace=tmp_path / f"{task.id}.jsonl"),
        parallel=4, setup="the one that knows", on_outcome=seen.append,
    )  # fmt: skip
    assert [(outcome.id, outcome.fault) for outcome in evaluation.outcomes if not outcome.right] == []
    assert evaluation.ending == "done" and [outcome.id for outcome in evaluation.outcomes] == [task.id for task in tasks]
    assert sorted(seen, key=lambda outcome: outcome.id) == sorted(evaluation.outcomes, key=lambda outcome: outcome.id)
    for outcome in seen:
        assert (outcome.stop_reason, outcome.setup, outcome.parse_failures) == ("answer", "the one that knows", 0)
        assert outcome.calls and outcome.prompt_tokens > 100 and outcome.estimated
        assert read_trace(outcome.trace)[0].event.question == outcome.question


def test_a_model_that_guesses_gets_no_task_right(registry):
    tasks = read_tasks([FOLDER / name for name in (*ENGLISH, *CHINESE)])
    evaluation = evaluate(tasks, lambda task, number: Agent(scripted(guessing), registry))
    assert len(evaluation.outcomes) == len(ALL) and not any(outcome.right for outcome in evaluation.outcomes)
    faults = {outcome.id: outcome.fault for outcome in evaluation.outcomes}
    assert faults["sql-01"] == "it says 123456 in place of 18"
    assert faults["sql-13"] == "it does not contain Reading Spot"
    assert faults["zh-stock-02"] == "it makes up 123456"


def test_a_right_number_without_a_tool_is_wrong(registry):
    task = next(task for task in read_tasks([FOLDER / "tasks.jsonl"]) if task.id == "sql-01")
    (outcome,) = evaluate([task], lambda task, number: Agent(ScriptedEndpoint([decision("none", {}, "18")]), registry)).outcomes
    assert (outcome.right, outcome.fault) == (False, "it answers without a call of sql_query")


PLAIN = [Task(f"t{number}", f"What is {number} + 1?", Number(number + 1, 0), "sum") for number in range(6)]


def adding(messages, request):
    """A model that answers the questions of PLAIN."""
    return decision("none", {}, str(int(messages[-1].content.split()[2]) + 1))


def agents(script):
    return lambda task, number: Agent(ScriptedEndpoint(script))


def test_an_outcome_is_a_line_that_other_programs_can_judge(registry, tmp_path):
    task = Task("sql-01", "How many?", Number(18, 0), "sql", True, ("sql_query",))
    replies = [
        Completion("Let me see.", "stop", Usage(100, 5, 80)),
        Completion(decision("sql_query", {"query": "SELECT 18"})[:-1] + ",}", "stop", Usage(120, 20, 100)),
        Completion(decision("sql_query", {"query": "SELECT 18"}), "stop", Usage(150, 20, 110)),
        Completion(decision("none", {}, "18"), "stop", Usage(150, 7, 110)),
    ]
    (outcome,) = evaluate([task], lambda task, number: Agent(ScriptedEndpoint(replies), registry), setup="s").outcomes
    call = {"tool": "sql_query", "ok": True, "error": None, "arguments": {"query": "SELECT 18"}}
    assert asdict(outcome) == {
        "id": "sql-01", "kind": "sql", "round": 1, "right": True, "fault": "", "answer": "18", "expected": "18", "question": "How many?",
        "status": "completed", "stop_reason": "answer", "error": "", "forced": False, "steps": 4, "calls": (call, call),
        "prompt_tokens": 520, "cached_tokens": 400, "completion_tokens": 52, "estimated": False, "seconds": outcome.seconds, "cost": None,
        "parse_failures": 1, "parse_reasons": ("no_object",), "repairs": ("trailing_comma",), "notes": ("repeated_call",), "trace": None,
        "setup": "s",
    }  # fmt: skip
    with LineFile(tmp_path / "out.jsonl", append=False) as file:
        file.append(asdict(outcome))
    assert read_outcomes(tmp_path / "out.jsonl") == [outcome]
    body = json.loads((tmp_path / "out.jsonl").read_text("utf-8"))
    assert (body["id"], body["answer"], body["calls"][0]["tool"], body["calls"][0]["ok"]) == ("sql-01", "18", "sql_query", True)


def test_rounds_are_run_one_after_the_other_and_each_task_in_each():
    order = []
    evaluation = evaluate(PLAIN[:2], agents(adding), repeat=2, on_outcome=lambda outcome: order.append(outcome.key))
    assert order == [("t0", 1), ("t1", 1), ("t0", 2), ("t1", 2)]
    assert [outcome.key for outcome in evaluation.outcomes] == [("t0", 1), ("t0", 2), ("t1", 1), ("t1", 2)]
    assert all(outcome.right for outcome in evaluation.outcomes)


def test_tasks_run_at_once():
    together = threading.Barrier(3, timeout=20)

    def meeting(messages, request):
        together.wait()
        return adding(messages, request)

    assert all(outcome.right for outcome in evaluate(PLAIN, agents(meeting), parallel=3).outcomes)


def test_what_is_done_is_judged_again_and_not_run_again():
    done = [
        Outcome("t0", answer="1", question="What is 0 + 1?", right=False, fault="an older judge"),
        Outcome("t1", answer="9", right=True),
        Outcome("t2", answer="3", question="another question", right=True),
        Outcome("t3", answer=None, question="What is 3 + 1?", stop_reason="endpoint_error"),
        Outcome("t0", round=2, answer="1", question="What is 0 + 1?"),
        Outcome("other", answer="1"),
    ]
    have = kept(PLAIN[:4], reversed(done), 1)
    assert [(outcome.id, outcome.right, outcome.kind) for outcome in have] == [("t0", True, "sum"), ("t1", False, "sum")]
    assert to_do(PLAIN[:4], have, 1) == [(PLAIN[2], 1), (PLAIN[3], 1)]
    evaluation = evaluate(PLAIN[:4], agents(adding), done=done)
    assert sorted((outcome.id, outcome.right) for outcome in evaluation.outcomes) == [("t0", True), ("t1", False), ("t2", True), ("t3", True)]


def waiting(messages, request):
    """A model that answers the first two questions of PLAIN, and would go on for ever with the others."""
    if int(messages[-1].content.split()[2]) < 2:
        return adding(messages, request)
    assert request.cancel.wait(20)
    return EndpointError("cancelled", "the call was cancelled")


def test_a_cancelled_evaluation_keeps_what_is_finished():
    cancel = threading.Event()

    def stop_at_second(outcome):
        if outcome.id == "t1":
            cancel.set()

    evaluation = evaluate(PLAIN, agents(waiting), on_outcome=stop_at_second, cancel=cancel)
    assert (evaluation.ending, evaluation.error) == ("cancelled", "")
    assert [(outcome.id, outcome.right) for outcome in evaluation.outcomes] == [("t0", True), ("t1", True)]


def test_ctrl_c_stops_what_runs_and_keeps_what_is_finished():
    def interrupt(outcome):
        if outcome.id == "t0":
            raise KeyboardInterrupt

    evaluation = evaluate(PLAIN, agents(waiting), parallel=2, on_outcome=interrupt)
    ids = [outcome.id for outcome in evaluation.outcomes]
    assert evaluation.ending == "cancelled" and "t0" in ids and set(ids) <= {"t0", "t1"}


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is sent as POSIX does")
def test_ctrl_c_loses_no_outcome_that_is_just_being_kept():
    seen = []

    def interrupted(outcome):
        os.kill(os.getpid(), signal.SIGINT)
        seen.append(outcome.id)

    evaluation = evaluate(PLAIN[:1] + PLAIN[2:], agents(waiting), on_outcome=interrupted)
    assert (evaluation.ending, [outcome.id for outcome in evaluation.outcomes], seen) == ("cancelled", ["t0"], ["t0"])


def test_a_result_that_cannot_be_kept_stops_the_others():
    seen = []

    def full(outcome):
        seen.append(outcome.id)
        raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space left"):
        evaluate(PLAIN, agents(adding), on_outcome=full)
    assert seen == ["t0"]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is sent as POSIX does")
def test_ctrl_c_behind_the_last_result_changes_nothing():
    evaluation = evaluate(PLAIN[:2], agents(adding), on_outcome=lambda outcome: None if outcome.id == "t0" else os.kill(os.getpid(), signal.SIGINT))
    assert (evaluation.ending, len(evaluation.outcomes)) == ("done", 2)


def test_an_endpoint_that_is_gone_ends_the_evaluation():
    tasks = [replace(PLAIN[0], id=f"t{number}") for number in range(50)]
    calls = []

    def model(messages, request):
        calls.append(1)
        if len(calls) in (1, 4):
            return adding(messages, request)
        if len(calls) == 5 + MOST_ENDPOINT_ERRORS:
            assert request.cancel.wait(20)  # the evaluation has had enough while this one was running
            return EndpointError("cancelled", "the call was cancelled")
        return EndpointError("connection", "no connection to the server", "Is it up?")

    evaluation = evaluate(tasks, agents(model))
    assert (evaluation.ending, evaluation.error) == ("endpoint_error", "no connection to the server; Is it up?")
    reasons = ["answer", "endpoint_error", "endpoint_error", "answer", *["endpoint_error"] * MOST_ENDPOINT_ERRORS]
    assert [outcome.stop_reason for outcome in evaluation.outcomes] == reasons
    assert len(to_do(tasks, kept(tasks, evaluation.outcomes, 1), 1)) == 48


def test_what_goes_wrong_in_the_making_is_raised(tmp_path):
    def broken(task, number):
        raise ConfigError("wired wrongly")

    with pytest.raises(ConfigError, match="wired wrongly"):
        evaluate(PLAIN, broken, parallel=3)
    with pytest.raises(TraceError):
        evaluate(PLAIN, lambda task, number: Agent(ScriptedEndpoint(adding), trace=tmp_path / "no" / "folder.jsonl"))


def test_a_results_file_survives_a_crash_in_the_middle_of_a_line(tmp_path):
    path = tmp_path / "out.jsonl"
    with LineFile(path, append=False) as file:
        file.append(asdict(Outcome("a", right=True)))
    with open(path, "a", encoding="utf-8") as raw:
        raw.write('{"id": "b", "ri')
    assert [outcome.id for outcome in read_outcomes(path)] == ["a"]
    with LineFile(path, append=True) as file:
        file.append(asdict(Outcome("c\ud800", answer="\u2028")))
    assert [(outcome.id, outcome.answer) for outcome in read_outcomes(path)] == [("a", None), ("c\ud800", "\u2028")]
    path.write_text('{"id": "d"}', "utf-8")  # whole, of another program, without its newline
    with LineFile(path, append=True) as file:
        file.append(asdict(Outcome("e")))
    assert [outcome.id for outcome in read_outcomes(path)] == ["d", "e"]
    path.write_text('{"i', "utf-8")
    assert read_outcomes(path) == []
    with LineFile(path, append=True):
        assert path.read_bytes() == b""
    with pytest.raises(ConfigError, match="out.jsonl exists; go on in it with --resume"):
        LineFile(path, append=False)
    with pytest.raises(ConfigError, match="cannot write"):
        LineFile(tmp_path / "no" / "out.jsonl", append=True)


def test_the_last_line_of_a_task_and_round_counts(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_text('{"id": "a"}\n{"id": "a", "round": 2}\n{"id": "a", "answer": "x", "more": 1}\n', "utf-8")
    assert read_outcomes(path) == [Outcome("a", answer="x"), Outcome("a", round=2)]


NO_OUTCOMES = [
    ('{"answer": "x"}', "it has no id"), ('{"id": 3}', "id is 3"), ('{"id": "a", "right": "yes"}', "right is 'yes'"),
    ('{"id": "a", "calls": [{"tool": "x"}]}', "calls is [{'tool': 'x'}]"), ('{"id": "a", "repairs": [1]}', "repairs is [1]"),
    ('{"id": "a", "calls": "none"}', "calls is 'none'"), ('{"id": "a", "cached_tokens": "0"}', "cached_tokens is '0'"), ("[]", "not a JSON object"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "said"), NO_OUTCOMES, ids=[said for _, said in NO_OUTCOMES])
def test_a_line_that_is_no_outcome_is_named(tmp_path, line, said):
    path = tmp_path / "out.jsonl"
    path.write_text('{"id": "a"}\n' + line + "\n", "utf-8")
    with pytest.raises(ConfigError) as raised:
        read_outcomes(path)
    assert str(raised.value).startswith(f"{path}, line 2: ") and said in str(raised.value)
