"""react-agent evaluate: what it runs, prints, writes and resumes, and its exit codes; the model is a server on loopback."""

import io
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from child_signals import heard
from fake_server import FakeServer, answer, chat
from task_set import ALL, FOLDER, decision, guessing, knowing, shop

from react_agent.cli import main
from react_agent.cli.evaluate import WITHOUT, trace_file
from react_agent.cli.evaluate_progress import Pace, duration, in_a_line, progress
from react_agent.evaluate_outcome import Outcome, read_outcomes
from react_agent.report import is_report
from react_agent.trace import read_trace

TASKS = FOLDER / "tasks.jsonl"
USAGE = {"prompt_tokens": 1000, "completion_tokens": 40, "total_tokens": 1040, "prompt_tokens_details": {"cached_tokens": 900}}


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    return shop().build(tmp_path_factory.mktemp("shop") / "shop.db")


def serving(model):
    """A server that answers as a model of task_set does."""
    return FakeServer(lambda seen, number: chat(model([(each["role"], each["content"]) for each in seen.json["messages"]]), usage=USAGE))


@pytest.fixture
def run(capsys, db, monkeypatch, tmp_path):
    """run(server, TASKS, ...) evaluates against the server with the tools of the task set: exit code, output, words."""
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    monkeypatch.chdir(tmp_path)

    def run(server, *words):
        code = main(["evaluate", *map(str, words), *(against(server.url, db) if server else [])])
        return code, *capsys.readouterr()

    return run


def against(url, db):
    return ["--endpoint", f"{url}/v1", "--no-stream", "--db", str(db), "--docs", str(FOLDER / "docs"), "--tools", str(FOLDER / "stock_tool.py")]


def total(out):
    """How many were right in all, as the table says."""
    return next(line.split()[1] for line in out.splitlines() if line.startswith("all "))


def mostly(model, *wrong):
    """The model, but for the tasks that it gets wrong."""
    questions = {task["question"] for task in ALL if task["id"] in wrong}
    return lambda messages: (guessing if any(content.split("\n")[0] in questions for _, content in messages) else model)(messages)


def test_an_evaluation_from_the_tasks_to_the_page(run, db, tmp_path):
    with serving(mostly(knowing(db), "sql-03")) as server:
        code, out, err = run(server, TASKS, "--only", "sql", "--only", "stock-0[13]", "--out", "o.jsonl", "--traces", "traces", "--page", "p.html")
    outcomes = read_outcomes(tmp_path / "o.jsonl")
    assert code == 0 and len(outcomes) == 9 and [outcome.id for outcome in outcomes if not outcome.right] == ["sql-03"]
    table = [line.split() for line in out.splitlines()]
    assert table[0] == ["right", "%", "95", "%", "steps", "calls", "prompt", "cached", "completion", "seconds"]
    assert [row[:7] for row in table[1:4]] == [
        ["sql", "6/7", "86", "49", "to", "97", "2.1"], ["stock", "2/2", "100", "34", "to", "100", "2.0"],
        ["all", "8/9", "89", "57", "to", "98", "2.1"],
    ]  # fmt: skip
    assert table[3][7:11] == ["0.9", "2,111", "1,900", "84"]
    for line in ("stopped by          answer 8, ungrounded_answer 1", "unreadable replies  0 of 19 (0.0 %)", "repairs             none", "wrong               1: sql-03"):
        assert line in out
    lines = err.splitlines()
    assert lines[0].startswith("1/9  right  sql-01, 2 steps, ") and "1 right, " in lines[0] and " a minute, " in lines[0] and lines[0].endswith(" left)")
    assert "2/9  wrong  sql-03, 3 steps, " in lines[1] and ": stopped by ungrounded_answer  (1 right, " in lines[1]
    assert lines[-1] == "page     p.html"
    assert sorted(path.name for path in (tmp_path / "traces").iterdir()) == sorted(f"{each.id}.{end}" for each in outcomes for end in ("html", "jsonl"))
    assert all(is_report(Path(each.trace).with_suffix(".html")) and read_trace(each.trace) for each in outcomes)
    page = (tmp_path / "p.html").read_text("utf-8")
    assert 'href="traces/sql-03.html"' in page and page.index("sql-03") < page.index("Right: 8") < page.index("sql-01")


def test_the_sum_for_programs(run, db):
    with serving(mostly(knowing(db), "docs-05")) as server:
        code, out, err = run(server, TASKS, "--only", "docs", "--first", "4", "--json", "--quiet", "--parallel", "2")
    body = json.loads(out)
    assert (code, err, body["ending"], body["asked"], body["sum"]["right"], body["sum"]["runs"]) == (0, "", "done", 4, 3, 4)
    assert body["wrong"] == [{"id": "docs-05", "round": 1, "fault": "there is no answer"}]
    assert [kind["kind"] for kind in body["kinds"]] == ["docs"] and body["sum"]["cached_tokens"] == 2025.0
    assert f"http://127.0.0.1:{server.port}/v1, prompts en/" in body["setup"][0] and "at most 8 steps of 512 tokens" in body["setup"][0]


def test_chinese_tasks_with_chinese_prompts(run, db):
    with serving(knowing(db)) as server:
        code, out, _ = run(server, FOLDER / "tasks_zh.jsonl", "--lang", "zh", "--quiet", "--parallel", "2")
    assert code == 0 and total(out) == "18/18" and "工具" in server.requests[0].json["messages"][0]["content"]


def test_resume_leaves_out_what_is_there_and_asks_no_model_when_nothing_is_left(run, db, tmp_path):
    with serving(knowing(db)) as server:
        assert run(server, TASKS, "--only", "sql", "--out", "o.jsonl", "--quiet")[0] == 0
        text = (tmp_path / "o.jsonl").read_text("utf-8").splitlines(keepends=True)
        (tmp_path / "o.jsonl").write_text("".join(text[:4]) + text[4][:50], "utf-8")
        code, _, err = run(server, TASKS, "--only", "sql", "--out", "o.jsonl", "--resume")
        assert code == 0 and [line[:20] for line in err.splitlines()] == [f"{n}/3  right  sql-{id}, " for n, id in ((1, "09"), (2, "11"), (3, "13"))]
        code, _, err = run(server, TASKS, "--only", "sql", "--out", "o.jsonl", "--resume", "--max-steps", "3")
        assert code == 0 and err.startswith("nothing is left to run; these are results of: ") and "at most 8 steps" in err
        code, out, err = run(server, TASKS, "--out", "o.jsonl", "--resume", "--max-steps", "3")
        assert (code, out) == (2, "") and "o.jsonl holds results of another setup" in err and "at most 3 steps" in err
    assert len(read_outcomes(tmp_path / "o.jsonl")) == 7
    code, out, err = run(None, TASKS, "--only", "sql", "--out", "o.jsonl", "--resume", "--page", "p.html")
    assert code == 0 and err.endswith("page     p.html\n") and total(out) == "7/7"
    assert run(None, TASKS, "--only", "sql", "--out", "o.jsonl", "--resume", "--page", "p.html")[0] == 0  # an earlier page is replaced


@pytest.mark.parametrize("mine", ["one precious line", '{"mine": 1}', '{"id": 1}', '{"id": "x", "right": "yes"}'])
def test_resume_takes_nothing_away_from_a_file_that_is_no_results_file(run, tmp_path, mine):
    (tmp_path / "o.jsonl").write_text(mine)
    with serving(guessing) as server:
        code, out, err = run(server, TASKS, "--out", "o.jsonl", "--resume")
    assert (code, out) == (2, "") and "o.jsonl, line 1: not" in err and server.requests == []
    assert (tmp_path / "o.jsonl").read_text() == mine


def test_an_existing_file_is_not_overwritten(run, tmp_path):
    (tmp_path / "o.jsonl").write_text("mine")
    with serving(guessing) as server:
        assert run(server, TASKS, "--out", "o.jsonl") == (2, "", "error: o.jsonl exists; go on in it with --resume, or name another file\n")
    assert (tmp_path / "o.jsonl").read_text() == "mine" and server.requests == []


def test_rounds_with_their_traces_and_what_is_only_sometimes_right(run, db, tmp_path):
    know, asked = knowing(db), []

    def moody(messages):
        asked.append(messages[-1])
        return guessing(messages) if len(asked) <= 3 else know(messages)  # sent back twice: the task needs a tool

    with serving(moody) as server:
        code, out, err = run(server, TASKS, "--only", "sql-0[13]", "--repeat", "2", "--traces", "t", "--need", "2")
    assert code == 1 and err.endswith("needed 2, and 1.5 are right\n")
    assert total(out) == "3/4" and "sometimes right     1: sql-01 1/2" in out
    assert sorted(path.name for path in (tmp_path / "t").iterdir()) == [
        "sql-01.jsonl", "sql-01.round-2.jsonl", "sql-03.jsonl", "sql-03.round-2.jsonl",
    ]  # fmt: skip
    with serving(know) as server:
        assert run(server, TASKS, "--only", "sql-0[13]", "--repeat", "2", "--need", "2", "--quiet")[0] == 0


def test_an_endpoint_that_refuses_ends_with_3_and_can_be_resumed(run, db, tmp_path):
    with FakeServer(lambda seen, number: answer(401, {"error": {"message": "no such key"}})) as server:
        code, out, err = run(server, TASKS, "--out", "o.jsonl")
    assert code == 3 and "wrong  arith-01, 0 steps, " in err and "stopped by endpoint_error: " in err
    assert "error: the endpoint failed several times in a row: " in err and "--resume" in err and "of 30 runs are done" in err
    with serving(knowing(db)) as server:
        (tmp_path / "o.jsonl").write_text((tmp_path / "o.jsonl").read_text("utf-8").replace('"setup": "http', '"setup": "", "was": "http'), "utf-8")
        code, out, _ = run(server, TASKS, "--only", "arith", "--out", "o.jsonl", "--resume", "--quiet")
    assert code == 0 and total(out) == "7/7"


def write_results(path, right, wrong):
    bodies = [{"id": name, "right": name in right, "fault": "" if name in right else "no"} for name in sorted(right + wrong)]
    path.write_text("".join(json.dumps(body) + "\n" for body in bodies), "utf-8")
    return path


def test_two_files_are_compared(run, tmp_path):
    a, b = write_results(tmp_path / "a.jsonl", "ab", "cdefghi"), write_results(tmp_path / "b.jsonl", "bcdefghi", "aj")
    code, out, err = run(None, "--compare", a, b)
    assert (code, err) == (0, "")
    rows = [line.split()[:3] for line in out.splitlines()]
    assert rows[1:3] == [["a.jsonl", "2/9", "22"], ["b.jsonl", "8/9", "89"]]
    assert "better              7: c, d, e, f, g, h, i\nworse               1: a\nleft out            1: j\n" in out
    assert out.endswith("(exact McNemar test, p = 0.07): this may be chance.\n")
    body = json.loads(run(None, "--compare", a, b, "--json")[1])
    assert (body["broken"], body["p"], body["more_than_chance"], body["after"]["right"]) == (["a"], 0.0703125, False, 8)
    other = write_results(tmp_path / "c.jsonl", "xyz", "")
    assert run(None, "--compare", a, other) == (2, "", f"error: {a} and {other} have no task in common\n")


def test_another_programs_results_are_judged_by_the_tasks(run, tmp_path):
    call = [{"tool": "sql_query", "ok": True}]
    for name, value in (("a", "18"), ("b", "19")):
        (tmp_path / name).write_text(json.dumps({"id": "sql-01", "answer": value, "calls": call}) + "\n")
    code, out, _ = run(None, TASKS, "--compare", "a", "b")
    assert code == 0 and "worse               1: sql-01" in out
    code, _, err = run(None, "--compare", "a", "b")
    assert code == 2 and "a does not say whether sql-01 is right; name the file of tasks, too" in err


def test_without_takes_away_what_it_names(run, db):
    requests = {}
    for name in (None, *WITHOUT):
        # A call with a repair and a wrong column, an answer, and (only after the retry guard's word) another answer.
        replies = [decision("sql_query", {"query": "SELECT nothing FROM orders"})[:-1] + ",}", *[decision("none", {}, "I cannot tell.")] * 2]
        with FakeServer([chat(reply, usage=USAGE) for reply in replies]) as server:
            run(server, TASKS, "--only", "sql-01", "--quiet", *(["--without", name] if name else []))
        requests[name] = [seen.json["messages"] for seen in server.requests]
    full = requests[None]
    assert len(full) == 3 and 'You have tried sql_query with {"query": "SELECT nothing FROM orders"}' in full[1][-1]["content"]
    assert [message["content"] for message in requests["examples"][0]] == [full[0][0]["content"], full[0][-1]["content"]]
    assert requests["decisions"][1][-2]["content"].endswith(",}")
    assert len(requests["retry"]) == len(requests["guards"]) == 2
    assert "sql_query" in full[0][-1]["content"] and "sql_query" not in requests["suggestion"][0][-1]["content"]
    assert requests["early-stop"] == full  # what it changes is when a stream is closed
    assert sorted(requests, key=str) == sorted([None, *WITHOUT], key=str)


def test_python_checks_come_from_a_file_that_is_named(run, tmp_path):
    (tmp_path / "my_checks.py").write_text("import math\n\ndef short(question, answer):\n    return len(answer) < 5\n")
    (tmp_path / "t.jsonl").write_text(json.dumps({"id": "a", "question": "Yes or no?", "check": {"type": "python", "function": "short"}}) + "\n")
    with serving(lambda messages: decision("none", {}, "Yes.")) as server:
        code, out, _ = run(server, "t.jsonl", "--checks", "my_checks.py", "--quiet")
        assert code == 0 and total(out) == "1/1"
        code, _, err = run(server, "t.jsonl")
        assert code == 2 and "there is no function 'short'; no functions were given" in err


def test_nobody_is_asked_and_only_what_is_approved_runs(run, tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "t.jsonl").write_text(json.dumps({"id": "a", "question": "Write it.", "check": {"type": "exact", "value": "Done."}}) + "\n")
    written = []
    for approve in ([], ["--approve", "write_file"]):
        replies = [decision("write_file", {"path": "a.txt", "text": "x"}), decision("none", {}, "Done.")]
        with FakeServer([chat(reply) for reply in replies]) as server:
            run(server, "t.jsonl", "--files", "files", "--quiet", *approve)
        written.append(sorted(path.name for path in (tmp_path / "files").iterdir()))
    assert written == [[], ["a.txt"]]


WRONG = [
    ([], "name a file of tasks, or two files of results with --compare"),
    (["none.jsonl"], "cannot read none.jsonl"),
    ([str(TASKS), "--only", "SQL"], "no task has the kind or the id 'SQL'"),
    ([str(TASKS), "--resume"], "--resume goes on in the file of --out; name it"),
    ([str(TASKS), "--out", "no/o.jsonl"], "cannot write no/o.jsonl: there is no folder no"),
    ([str(TASKS), "--page", "no/p.html"], "cannot write no/p.html: there is no folder no"),
    ([str(TASKS), "--page", str(TASKS)], "exists and is no page of an evaluation"),
    ([str(TASKS), "--traces", str(TASKS)], "cannot make the folder"),
    ([str(TASKS), "--instructions", "none.txt"], "none.txt"),
    ([str(TASKS), "--max-cost", "1"], "--input-price"),
    ([str(TASKS), "--checks", "none.py"], "there is no file none.py"),
    ([str(TASKS), str(TASKS)], "more than one task has the id arith-01"),
    (["--compare", "none.jsonl", "none.jsonl"], "cannot read none.jsonl"),
]


@pytest.mark.parametrize(("words", "said"), WRONG, ids=[said[-40:] for _, said in WRONG])
def test_what_is_used_wrongly_is_said_before_a_model_is_asked(run, words, said):
    with serving(guessing) as server:
        code, out, err = run(server, *words)
    assert (code, out) == (2, "") and said in err and "Traceback" not in err and server.requests == []


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is sent as POSIX does")
def test_ctrl_c_keeps_what_is_done(db, tmp_path):
    """A real process, interrupted while the model writes its second answer."""
    know, second, end = knowing(db), threading.Event(), threading.Event()

    def model(messages):
        if any(content == ALL[1]["question"] for _, content in messages):
            second.set()
            end.wait(20)
        return know(messages)

    with serving(model) as server:
        words = ["evaluate", str(TASKS), "--out", "o.jsonl", *against(server.url, db)]
        process = subprocess.Popen(
            [sys.executable, "-m", "react_agent", *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}, preexec_fn=heard,
        )  # fmt: skip
        try:
            assert second.wait(20)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
        finally:
            process.kill()
            end.set()
    assert process.returncode == 130 and total(out) == "1/1" and "Traceback" not in err
    assert "1 of 30 runs are done" in err and err.endswith("go on    the same command with --resume\nstopped by Ctrl-C\n")
    assert [outcome.id for outcome in read_outcomes(tmp_path / "o.jsonl")] == ["arith-01"]


def test_the_pace_says_rate_and_time_left():
    now = iter([0.0, 30.0, 60.0, 90.0])
    pace = Pace(3, lambda: next(now))
    said = []
    for right in (True, False, True):
        pace.add(Outcome("a", right=right))
        said.append(str(pace))
    assert said == ["1 right, 2 a minute, 60 s left", "1 right, 2 a minute, 30 s left", "2 right, 2 a minute"]
    assert str(Pace(3, lambda: 0.0)) == "0 right"


@pytest.mark.parametrize(("seconds", "said"), [(0.4, "0 s"), (99.4, "99 s"), (100, "2 min"), (5940, "99 min"), (12000, "3 h 20 min")])
def test_a_length_of_time(seconds, said):
    assert duration(seconds) == said


LINES = [
    (Outcome("a", right=True, answer="1", steps=2, seconds=3.14), "right  a, 2 steps, 3.1 s"),
    (Outcome("a", round=2, fault="it\x1b[31m says\n2", answer="2", steps=1), "wrong  a, round 2, 1 step, 0.0 s: it\\x1b[31m says 2"),
    (Outcome("a", stop_reason="max_steps", error="8 steps"), "wrong  a, 0 steps, 0.0 s: stopped by max_steps"),
    (Outcome("a", stop_reason="endpoint_error", error="gone"), "wrong  a, 0 steps, 0.0 s: stopped by endpoint_error: gone"),
]


@pytest.mark.parametrize(("outcome", "line"), LINES, ids=range(len(LINES)))
def test_an_outcome_in_a_line(outcome, line):
    assert in_a_line(outcome) == line


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_on_a_terminal_there_is_a_bar(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with progress(2) as show:
        show(Outcome("a[red]b", right=True, answer="1"))
        show(Outcome("c", answer="2", fault="it says 2"))
    text = screen.getvalue()
    assert "right  a[red]b, 0 steps, 0.0 s" in text and "wrong  c, 0 steps, 0.0 s: it says 2" in text and "2/2" in text and "\x1b[" in text


FILES = [("sql-01", 1, "sql-01.jsonl"), ("sql-01", 3, "sql-01.round-3.jsonl"), ("../a b/c:d", 1, "_a_b_c_d.jsonl"), ("..", 1, "task.jsonl"), ("问", 1, "问.jsonl")]


@pytest.mark.parametrize(("name", "number", "file"), FILES)
def test_the_trace_is_named_by_the_task_and_stays_in_its_folder(name, number, file):
    assert trace_file(Path("t"), name, number) == Path("t") / file and trace_file(None, name, number) is None
