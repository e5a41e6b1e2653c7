"""react-agent report, show and stats: what they print for people and for programs, what they write, and their exit codes."""

import json

import pytest
from report_traces import hostile_events, varied_events, write

from react_agent.cli import main
from react_agent.cli.view import RichPrinter, View
from react_agent.report import render_report
from react_agent.report_data import json_text, run_data
from react_agent.report_fold import open_run
from react_agent.trace import read_trace


@pytest.fixture
def run(capsys):
    """run("show", path) gives exit code, standard output and standard error."""

    def run(*words):
        code = main([str(word) for word in words])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def trace(tmp_path):
    return write(tmp_path / "run.jsonl", varied_events())


@pytest.fixture
def cut(tmp_path):
    return write(tmp_path / "cut.jsonl", varied_events(ended=False))


def test_report_writes_beside_the_trace_and_says_where(run, trace, tmp_path):
    assert run("report", trace) == (0, f"{tmp_path / 'run.html'}\n", "")
    assert (tmp_path / "run.html").read_bytes() == render_report(trace).encode()
    assert run("report", trace)[0] == 0  # an earlier report is replaced


def test_report_writes_where_it_is_told_to(run, trace, tmp_path):
    folder, file = tmp_path / "reports", tmp_path / "named.htm"
    folder.mkdir()
    file.write_text("an older file")
    assert run("report", trace, "-o", folder) == (0, f"{folder / 'run.html'}\n", "")
    assert run("report", trace, "-o", file) == (0, f"{file}\n", "")
    assert file.read_text("utf-8") == (folder / "run.html").read_text("utf-8") == render_report(trace)


def test_report_on_standard_output(trace, capsysbinary):
    assert main(["report", str(trace), "-o", "-"]) == 0
    assert capsysbinary.readouterr() == (render_report(trace).encode(), b"")


def test_report_overwrites_nothing_that_is_no_report_and_never_the_trace(run, trace, tmp_path):
    (tmp_path / "run.html").write_text("<p>mine</p>")
    assert run("report", trace) == (2, "", f"error: {tmp_path / 'run.html'} exists and is no report; name a file with -o\n")
    assert run("report", trace, "-o", trace) == (2, "", f"error: {trace} is the trace itself; name another file with -o\n")
    assert (tmp_path / "run.html").read_text() == "<p>mine</p>" and open_run(trace).status == "completed"


def test_report_says_what_it_cannot_read_or_write(run, trace, tmp_path):
    code, out, err = run("report", trace, "-o", tmp_path / "no" / "folder.html")
    assert (code, out) == (2, "") and err.startswith(f"error: cannot write {tmp_path / 'no' / 'folder.html'}: ")
    assert run("report", tmp_path / "missing.jsonl")[0] == 2
    (tmp_path / "empty.jsonl").write_text("")
    assert run("report", tmp_path / "empty.jsonl")[2] == (
        "error: empty.jsonl has no whole event: it is empty, or the run was cut at its first\n")  # fmt: skip


SHOWN = """\
trace    run.jsonl, run 3f9a12bc45de, 2026-01-01 00:00:00 UTC
model    small-3b, small-3b-q4, endpoint chat, url http://localhost:8080/v1
prompt   en@91ab22, language en
limits   max_steps 12, max_tokens 20000, max_seconds 120, max_parse_failures 3, input_price 0.5, output_price 1.5
tools    sql_query, read_doc, write_file (side effects)
"""
BESIDES = """\
told     Could not read your reply. Send exactly one JSON object.
repairs  single_quotes at 1, trailing_comma at 43
summary  Two orders are open.
coerced  limit: '10' -> 10
crash    Traceback (most recent call last):
           File "shop.py", line 7, in read_doc
note     the run was resumed here, after 9.0 s
answer   There are 2 open orders. 有两个未完成的订单。
effect   step 5: write_file(path="open.txt", text="2 open\\n"): happened
effect   step 7: write_file(path="open.txt", text="2 open\\n"): outcome unknown: it may or may not have happened
"""


class Blocks:
    """A printer that remembers."""

    def __init__(self):
        self.shown = []

    def block(self, label, text):
        self.shown.append(f"{label:<9}{text}".splitlines()[0] if text else label)

    def busy(self, text):
        pass

    def quiet(self):
        pass


def test_show_prints_all_that_the_live_view_prints_and_more(run, trace):
    code, out, err = run("show", trace)
    assert (code, err) == (0, "") and out.startswith(SHOWN)
    lines = out.splitlines()
    assert [line for line in BESIDES.splitlines() if line not in lines] == []
    live = Blocks()
    for record in read_trace(trace):
        if record.event.name != "run_end" or record.event.status == "completed":
            View(live)(record.event)
    taken_back = {"failed   no connection"}  # by the resumption
    assert [line for line in live.shown if line not in lines and line not in taken_back] == []


def test_show_says_that_a_run_did_not_end(run, cut):
    sentence = "The run did not end: it was interrupted at step 7 (or is still going on); `react-agent resume cut.jsonl` goes on."
    assert run("show", cut)[1].splitlines()[-1] == f"stopped  {sentence}"


def test_show_one_step_with_its_whole_request(run, trace):
    code, out, err = run("show", trace, "--step", "4", "--raw")
    prompts = [line for line in out.splitlines() if line.startswith("prompt")]
    assert (code, err) == (0, "") and "step 4" in out and "step 5" not in out
    assert prompts == [
        "prompt   [system] You answer with one JSON object.", "prompt   [user] How many orders are open?", "prompt   [assistant] {}",
        "prompt   [user] shorter", "prompt   [assistant] {}", "prompt   [user] Observation from read_doc: ...",
    ]  # fmt: skip
    assert "prompt   " not in run("show", trace, "--step", "4")[1]
    assert run("show", trace, "--step", "5")[1].splitlines()[-1].startswith("effect   step 5: write_file")


def test_show_names_the_steps_that_there_are(run, trace):
    assert run("show", trace, "--step", "9") == (2, "", "error: there is no step 9: run.jsonl has the steps 1 to 8\n")


def test_show_for_programs(run, trace):
    data = json.loads(json_text(run_data(open_run(trace))))
    assert json.loads(run("show", trace, "--json")[1]) == data
    assert json.loads(run("show", trace, "--step", "2", "--json")[1]) == data["steps"][1]
    step = json.loads(run("show", trace, "--step", "3", "--json", "--raw")[1])
    assert [[message["content"] for message in messages] for messages in step["requests"]] == [
        ["You answer with one JSON object.", "How many orders are open?", "{}", "Observation from sql_query: ..."],
        ["You answer with one JSON object.", "How many orders are open?", "{}", "shorter"],
    ]


def test_show_makes_control_characters_visible(run, tmp_path):
    code, out, err = run("show", write(tmp_path / "t.jsonl", hostile_events("\x1b]0;pwned\x07\u202e")), "--raw")
    assert (code, err) == (0, "") and not {"\x1b", "\x07", "\u202e"} & set(out)


def test_show_uses_colours_on_a_terminal_unless_told_not_to(run, trace, monkeypatch):
    used = []
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr(RichPrinter, "block", lambda self, label, text: used.append(label))
    monkeypatch.setattr(RichPrinter, "busy", lambda self, text: pytest.fail("a recorded run is not busy"))
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert run("show", trace)[1] == "" and used[0] == "trace"
    monkeypatch.setenv("NO_COLOR", "1")
    assert run("show", trace)[1].startswith(SHOWN)


SUMS = """\
runs                2: completed 1, interrupted 1
stopped by          answer 1
models              small-3b 2
steps               15, answers asked for on the last one 1, resumptions 2
tokens              9,890 prompt (3,480 cached) + 600 reply (24 reasoning), some of them estimated
seconds             18.6 (model 9.5, tools 0.7)
cost                0.005845
side effects        4
failed calls        tool_crash 2, outcome_unknown 1
unreadable replies  no_object 2
repairs             single_quotes 2, trailing_comma 2
notes               answer_sent_back 2, compacted 2, repeated_call 2
endpoint errors     context_overflow 2

tool        calls  ran  failed  repeated  seconds
read_doc        2    2       2         0     0.20
sql_query       4    2       0         2     0.50
write_file      4    4       2         0     0.02
"""


def test_stats_sums_files_and_folders_and_counts_each_file_once(run, trace, cut, tmp_path):
    (tmp_path / "deep").mkdir()
    cut.rename(tmp_path / "deep" / "cut.jsonl")
    assert run("stats", trace, tmp_path, trace) == (0, SUMS, "")


def test_stats_names_what_is_damaged_and_passes_over_it(run, trace, tmp_path):
    damaged, missing = tmp_path / "damaged.jsonl", tmp_path / "missing.jsonl"
    damaged.write_bytes(trace.read_bytes()[:900] + b"\n" + trace.read_bytes())
    code, out, err = run("stats", trace, damaged, missing)
    assert (code, out.splitlines()[0]) == (0, "runs                1: completed 1")
    first, second = err.splitlines()
    assert first.startswith(f"passed over: {damaged}, line 1: ") and second.startswith(f"passed over: the trace {missing} cannot be read: ")


def test_stats_for_programs(run, trace, tmp_path):
    (tmp_path / "notes.jsonl").write_text("{}\n")
    code, out, _ = run("stats", tmp_path, "--json")
    sums = json.loads(out)
    assert (code, sums["runs"]) == (0, 1)
    assert sums["calls"]["sql_query"] == {"calls": 2, "ran": 1, "failed": 0, "repeated": 1, "seconds": 0.25}
    assert list(sums["damaged"]) == [str(tmp_path / "notes.jsonl")]
    assert sums["usage"] == {"input_tokens": 5400, "output_tokens": 320, "cached_tokens": 1980, "reasoning_tokens": 12, "estimated": True}


def test_stats_of_nothing_is_an_error(run, tmp_path):
    assert run("stats", tmp_path) == (2, "", "error: there is no trace to sum: no .jsonl file was found\n")
    (tmp_path / "a.jsonl").write_text("no trace\n")
    code, out, err = run("stats", tmp_path)
    assert (code, out) == (2, "") and err.splitlines()[-1] == "error: there is no trace to sum: no file could be read"


def test_the_state_of_a_price_that_is_not_known_is_said(run, tmp_path):
    path = write(tmp_path / "t.jsonl", hostile_events("x"))
    assert "cost                not known: no run has prices" in run("stats", path)[1]
    known = write(tmp_path / "u.jsonl", varied_events())
    assert "cost                0.003180 for 1 of 2 runs; the prices of the others are not known" in run("stats", path, known)[1]
