"""The task set: its database, its answers (computed from the sources), and how tasks are read and chosen."""

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest
from task_set import ALL, CHINESE, ENGLISH, FOLDER, PROOFS, TASKS, proved, shop

from react_agent.errors import ConfigError
from react_agent.evaluate_checks import CHECK_TYPES, ContainsAll, NotFound, Number
from react_agent.evaluate_outcome import Outcome
from react_agent.evaluate_tasks import Task, chosen, read_tasks

DIGEST = "afd3dec1cfcd0717d5931a6d285cb3e6647279f3a3ae12a0b4d2ec4312a9c0c4"


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    return shop().build(tmp_path_factory.mktemp("shop") / "shop.db")


def test_the_shop_is_the_same_wherever_it_is_built(db):
    assert shop().digest(db) == DIGEST


@pytest.mark.parametrize("task", ALL, ids=[task["id"] for task in ALL])
def test_the_answer_of_a_task_is_what_its_sources_say(task, db):
    answer, check = proved(PROOFS[task["id"]], db), task["check"]
    if check["type"] == "number":
        assert answer == pytest.approx(check["value"], abs=1e-6) and check["value"] == task["answer"]
        assert check["tol"] == (0 if float(answer).is_integer() else pytest.approx(0.006, abs=0.001))
    elif check["type"] == "contains_all":
        assert check["values"] == (answer if isinstance(answer, list) else [answer])
    else:
        assert (answer, check["type"], task["failed_call_counts"]) == (None, "not_found", True)


def test_there_are_enough_tasks_of_each_kind_and_none_twice():
    english = [task for name in ENGLISH for task in TASKS[name]]
    chinese = [task for name in CHINESE for task in TASKS[name]]
    assert len(english) >= 60 and len(chinese) >= 15
    for tasks in (english, chinese):
        assert {task["kind"] for task in tasks} == {"arith", "sql", "docs", "combo", "stock"}
    assert len({task["question"] for task in ALL}) == len({task["id"] for task in ALL}) == len(ALL) == len(PROOFS)
    assert all(task["needs_tool"] and task["tools"] for task in ALL)


def test_tasks_are_read_from_several_files():
    tasks = read_tasks([FOLDER / name for name in ENGLISH])
    assert [task.id for task in tasks] == [task["id"] for name in ENGLISH for task in TASKS[name]]
    assert tasks[0] == Task("arith-01", TASKS["tasks.jsonl"][0]["question"], Number(28413, 0), "arith", True, ("calculator", "sql_query"))
    by_id = {task.id: task for task in tasks}
    assert by_id["sql-13"].check == ContainsAll(("Reading Spot",))
    assert (by_id["stock-01"].check, by_id["stock-01"].failed_call_counts) == (NotFound(), True)


GOOD = {"id": "a", "question": "q", "check": {"type": "not_found"}}
FAULTS = [
    ("", "there are no tasks in"),
    ("nonsense", "line 1: not JSON"),
    ("[1]", "line 1: not a JSON object"),
    ({**GOOD, "id": ""}, "line 1: a task's id must be a text, not ''"),
    ({**GOOD, "id": 3}, "line 1: a task's id must be a text, not 3"),
    ({**GOOD, "question": " "}, "line 1: a task's question must be a text"),
    ({**GOOD, "kind": None}, "line 1: a task's kind must be a text, not None"),
    ({**GOOD, "tools": "sql"}, "line 1: tools must be a list of names"),
    ({**GOOD, "needs_tool": 1}, "line 1: needs_tool and failed_call_counts must be true or false"),
    ({**GOOD, "needs_tool": True}, "line 1: needs_tool is set, so tools must name those"),
    ({**GOOD, "check": None}, "line 1: the check's type must be one of number, contains_all, exact, regex, python, not_found, not None"),
    ({**GOOD, "check": {"type": "numbre"}}, "not 'numbre'"),
    ({**GOOD, "check": {"type": ["number"]}}, "not ['number']"),
    ({**GOOD, "check": {"type": "number"}}, "line 1: the check of type number is not right: 'value' is missing"),
    ({**GOOD, "check": {"type": "number", "value": "3"}}, "value and tol must be numbers, not '3'"),
    ({**GOOD, "check": {"type": "number", "value": True}}, "value and tol must be numbers, not True"),
    ({**GOOD, "check": {"type": "number", "value": 10**400}}, "the check of type number is not right"),
    ('{"id": "a", "question": "q", "check": {"type": "number", "value": NaN}}', "value and tol must be numbers, not nan"),
    ({**GOOD, "check": {"type": "number", "value": 3, "tol": -1}}, "tol must not be below 0"),
    ({**GOOD, "check": {"type": "contains_all", "values": []}}, "values must be a list of texts"),
    ({**GOOD, "check": {"type": "contains_all", "values": [3]}}, "values must be a list of texts"),
    ({**GOOD, "check": {"type": "exact", "value": ""}}, "value must be a text, not ''"),
    ({**GOOD, "check": {"type": "regex", "pattern": "("}}, "not a regular expression: missing )"),
    ({**GOOD, "check": {"type": "python", "function": "f"}}, "there is no function 'f'; no functions were given"),
]


@pytest.mark.parametrize(("line", "said"), FAULTS, ids=[said[-40:] for _, said in FAULTS])
def test_a_line_that_is_no_task_is_named_with_what_is_wrong(tmp_path, line, said):
    file = tmp_path / "tasks.jsonl"
    file.write_text(line if isinstance(line, str) else json.dumps(line), "utf-8")
    with pytest.raises(ConfigError) as raised:
        read_tasks([file])
    assert said in str(raised.value)


def test_an_id_may_not_be_used_twice_and_a_file_must_be_there(tmp_path):
    file = tmp_path / "tasks.jsonl"
    file.write_text(json.dumps(GOOD) + "\n\n" + json.dumps(GOOD) + "\n", "utf-8")
    with pytest.raises(ConfigError, match="more than one task has the id a"):
        read_tasks([file])
    with pytest.raises(ConfigError, match="cannot read .*none.jsonl"):
        read_tasks([tmp_path / "none.jsonl"])


def test_tasks_are_chosen_by_kind_or_id():
    tasks = read_tasks([FOLDER / "tasks.jsonl"])
    assert [task.id for task in chosen(tasks, ["stock", "sql-0[13]"])] == ["sql-01", "sql-03", "stock-01", "stock-03", "stock-05", "stock-07"]
    assert chosen(tasks, []) == tasks
    with pytest.raises(ConfigError, match="no task has the kind or the id 'SQL'; kinds: arith, combo, docs, sql, stock"):
        chosen(tasks, ["SQL"])


NEEDS = Task("t", "How many?", Number(7, 0), needs_tool=True, tools=("sql_query", "calculator"))
CALLS = [
    (NEEDS, [], "it answers without a call of sql_query or calculator"),
    (NEEDS, [{"tool": "list_docs", "ok": True}], "it answers without a call of sql_query or calculator"),
    (NEEDS, [{"tool": "sql_query", "ok": False}], "it answers although each call of sql_query or calculator failed"),
    (NEEDS, [{"tool": "sql_query", "ok": False}, {"tool": "calculator", "ok": True}], ""),
    (Task("t", "How many?", Number(7, 0), needs_tool=True, tools=("x",), failed_call_counts=True), [{"tool": "x", "ok": False}], ""),
    (Task("t", "How many?", Number(7, 0), tools=("x",)), [], ""),
]


@pytest.mark.parametrize(("task", "calls", "fault"), CALLS, ids=range(len(CALLS)))
def test_a_relevant_call_must_stand_behind_an_answer_where_the_task_says_so(task, calls, fault):
    assert task.fault("It is 7.", calls) == fault


@pytest.mark.parametrize("answer", [None, "", " \n"])
def test_no_answer_is_never_right(answer):
    assert Task("t", "q", NotFound()).fault(answer, []) == "there is no answer"


def test_the_document_shows_tasks_that_can_be_read_and_names_every_check_and_key(tmp_path):
    text = (Path(__file__).parents[1] / "docs" / "evaluate.md").read_text("utf-8")
    (tmp_path / "t.jsonl").write_text("".join(re.findall(r"```json\n(.*?)```", text, re.S)), "utf-8")
    shown = {type(task.check).__name__ for task in read_tasks([tmp_path / "t.jsonl"])}
    assert shown == {"Number", "ContainsAll", "NotFound", "Exact", "Matches"}
    assert re.findall(r"^\| `(\w+)`(?: with|  ?\|)? .*\|$", text.split("| check |")[1].split("\n\n")[0], re.M) == [
        "number", "contains_all", "exact", "regex", "not_found", "python",
    ]  # fmt: skip
    assert set(CHECK_TYPES) == {"number", "contains_all", "exact", "regex", "not_found", "python"}
    named = set(re.findall(r"`(\w+)`", text))
    assert {item.name for item in fields(Task)} <= named
    assert {item.name for item in fields(Outcome)} - {"answer", "error", "expected", "forced", "question", "kind", "id"} <= named
