"""`react-agent tools`, `react-agent tool`, the options that choose tools, and the questions on the terminal."""

import argparse
import contextlib
import io
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from react_agent.cli import guarded, main
from react_agent.cli import tools as command
from react_agent.cli.approval import question, terminal_approval
from react_agent.cli.loading import OPTION_OF, add_tool_options, load_tools, tools_from
from react_agent.errors import ConfigError
from react_agent.registry import Approval, ApprovalRequest, tool
from react_agent.types import ToolCall

STOCK_TOOL = Path(__file__).parent / "data" / "stock_tool.py"
OWN_TOOLS = '''
from __future__ import annotations

import dataclasses

import words_beside
from react_agent import ToolError, tool
from react_agent.tools.calculator import calculator_tools

hidden = calculator_tools()[0]


@dataclasses.dataclass
class Box:
    width: int


@tool
def send(text: str, times: int = 1) -> str:
    """Send a text."""
    return words_beside.WORD + text * times


@tool(read_only=True, untrusted_output=True, volatile=True, timeout_s=2.5)
def fetch(box: Box) -> str:
    """Fetch a box."""
    raise ToolError("not_found", f"no box is {box.width} wide", "try another")


@tool(read_only=True)
def broken() -> str:
    raise ValueError("broken inside")


again = send
'''


@pytest.fixture
def own_tools(tmp_path):
    (tmp_path / "words_beside.py").write_text("WORD = 'sent '\n", "utf-8")
    path = tmp_path / "own_tools.py"
    path.write_text(OWN_TOOLS, "utf-8")
    yield str(path)
    for name in [name for name in sys.modules if name.startswith(("own_tools", "words_beside"))]:
        del sys.modules[name]
    sys.path[:] = [folder for folder in sys.path if folder != str(tmp_path)]


def run(*words):
    """One command line -> its exit code."""
    parser = argparse.ArgumentParser()
    command.add(parser.add_subparsers())
    return guarded(parser.parse_args(words))


def tools_of(*words):
    parser = argparse.ArgumentParser()
    add_tool_options(parser)
    return tools_from(parser.parse_args(words))


def test_every_tool_of_a_file_is_loaded_in_order_and_nothing_else(own_tools):
    assert [found.name for found in load_tools(own_tools)] == ["send", "fetch", "broken"]
    assert [found.name for found in load_tools(str(STOCK_TOOL))] == ["lookup_stock"]


def test_a_fault_is_named_where_the_user_wrote_it_also_by_a_relative_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nohint.py").write_text("from react_agent import tool\n\n@tool\ndef f(a): ...\n", "utf-8")
    with pytest.raises(ConfigError, match=r"nohint\.py, line 3: ConfigError: f\(\), parameter 'a'"):
        load_tools("nohint.py")


def test_a_module_is_loaded_by_its_name(own_tools, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(own_tools).parent))
    assert [found.name for found in load_tools("own_tools")] == ["send", "fetch", "broken"]
    assert [found.name for found in load_tools(own_tools)] == ["send", "fetch", "broken"]


FAULTS = [
    ("def (:\n", "{path} is not valid Python: {path}, line 1: invalid syntax"),
    ("import json\n\nimport nowhere_at_all\n",
     "{path} cannot be loaded: {path}, line 3: ModuleNotFoundError: No module named 'nowhere_at_all'"),
    ("import json\njson.loads('x')\n", "{path} cannot be loaded: {path}, line 2: JSONDecodeError: Expecting value"),
    ("raise SystemExit('bye')\n", "{path} cannot be loaded: {path}, line 1: SystemExit: bye"),
    ("from react_agent import tool\n\n@tool\ndef f(a): ...\n",
     "{path} cannot be loaded: {path}, line 3: ConfigError: f(), parameter 'a' has no type hint"),
    ("x = 1\n", "{path} has no tools; write @tool"),
    ("from react_agent.tools.calculator import calculator_tools\n[x] = calculator_tools()\n", "{path} has no tools"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), FAULTS, ids=[message for _, message in FAULTS])
def test_a_file_that_does_not_load_is_a_config_error_with_the_line(tmp_path, text, message):
    path = tmp_path / "faulty_tools.py"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as caught:
        load_tools(str(path))
    assert str(caught.value).startswith(message.format(path=path))
    assert "faulty_tools" not in sys.modules or text.endswith(("= 1\n", "tools()\n"))
    sys.modules.pop("faulty_tools", None)


@pytest.mark.parametrize(("spec", "message"), [
    ("nowhere/tools.py", f"there is no file {Path('nowhere/tools.py')}"),
    ("nowhere_at_all", "there is no module 'nowhere_at_all'; name a module that Python finds, or a file that ends in .py"),
    ("nowhere_at_all.tools", "there is no module 'nowhere_at_all.tools'"),
    ("json", "json has no tools; write @tool"),
])  # fmt: skip
def test_what_is_not_there_is_a_config_error(spec, message):
    with pytest.raises(ConfigError) as caught:
        load_tools(spec)
    assert str(caught.value).startswith(message)


def test_the_calculator_is_always_there_unless_it_is_left_out():
    assert tools_of().names == ("calculator",)
    assert tools_of("--no-calculator").names == ()
    assert tools_of("--no-calculator", "--tools", str(STOCK_TOOL)).names == ("lookup_stock",)


def test_each_option_brings_its_tools(tmp_path):
    database, catalogue = tmp_path / "shop.db", tmp_path / "stock.csv"
    with contextlib.closing(sqlite3.connect(database)) as made:
        made.execute("CREATE TABLE orders(id)")
    catalogue.write_text("product_id,stock\nP1,4\n", "utf-8")
    words = ["--db", str(database), "--docs", str(tmp_path), "--files", str(tmp_path), "--stock", str(catalogue), "--weather"]
    registry = tools_of(*words, "--hide", "orders.id", "--approve", "write_file")
    assert registry.names == (
        "calculator", "sql_query", "sql_tables", "grep_docs", "read_doc", "list_docs", "list_dir", "read_file", "write_file",
        "lookup_stock", "search_location", "get_current_weather",
    )  # fmt: skip
    assert [each.name for each in registry if not each.read_only] == ["write_file"]
    assert [each.name for each in registry if not each.untrusted_output] == ["calculator", "write_file", "lookup_stock"]


@pytest.mark.parametrize(("words", "message"), [
    (["--hide", "a.b"], "--hide needs --db"),
    (["--approve", "write_file"], "--approve write_file: there is no such tool; there are: calculator"),
    (["--tools", str(STOCK_TOOL), "--tools", str(STOCK_TOOL)], "two tools are named 'lookup_stock'"),
])  # fmt: skip
def test_options_that_do_not_fit_are_a_config_error(words, message):
    with pytest.raises(ConfigError) as caught:
        tools_of(*words)
    assert str(caught.value).startswith(message)


def test_tools_lists_names_flags_limits_and_parameters(own_tools, capsys):
    assert run("tools", "--no-calculator", "--tools", own_tools) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "tool    flags                                  limit  parameters",
        "send    asks first                             -      text (string, required), times (integer)",
        "fetch   read-only, untrusted output, volatile  2.5 s  box (object, required)",
        "broken  read-only                              -      -",
    ]
    assert err == "observations: at most 3,000 characters\n"


def test_tools_as_json_holds_the_schemas(own_tools, capsys):
    assert run("tools", "--json", "--no-calculator", "--tools", own_tools) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in listed] == ["send", "fetch", "broken"]
    assert listed[0] == {
        "name": "send", "description": "Send a text.", "read_only": False, "untrusted_output": False, "volatile": False, "timeout_s": None,
        "parameters": {"type": "object", "required": ["text"], "additionalProperties": False,
                       "properties": {"text": {"type": "string"}, "times": {"type": "integer", "default": 1}}},
    }  # fmt: skip


RUNS = [
    (["calculator", '{"expression": "2*3"}'], 0, True, ""),
    (["lookup_stock", '{"symbol": "qlht"}'], 0, "QLHT last price 41.37 USD", ""),
    (["lookup_stock", '{"symbol": "zzz"}'], 1, "not_found", ""),
    (["lookup_stock", '{"symbl": "zzz"}'], 1, "bad_arguments", ""),
    (["lookup_stok", "{}"], 1, "unknown_tool", ""),
    (["fetch", '{"box": {"width": "3"}}'], 1, "not_found", "read as: box.width: '3' -> 3\n"),
    (["send", '{"text": "a"}'], 1, "not_approved", ""),
    (["send", '{"text": "a", "times": 2}', "--approve", "send"], 0, "sent aa", ""),
]


@pytest.mark.parametrize(("words", "code", "result", "said"), RUNS, ids=[" ".join(words) for words, *_ in RUNS])
def test_a_tool_runs_by_hand_exactly_as_for_the_model(own_tools, capsys, words, code, result, said):
    assert run("tool", *words, "--tools", own_tools, "--tools", str(STOCK_TOOL)) == code
    out, err = capsys.readouterr()
    observation = json.loads(out)
    assert (observation["ok"], err) == (code == 0, said)
    assert result is True or result in (observation.get("result"), observation.get("error", {}).get("type"))


def test_a_crash_shows_the_person_the_traceback_and_the_model_nothing(own_tools, capsys):
    assert run("tool", "broken", "--tools", own_tools) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["error"]["type"] == "tool_crash"
    assert "ValueError: broken inside" in err
    assert "ValueError" not in out


@pytest.mark.parametrize(("written", "message"), [
    ("{", "the arguments are not JSON: "), ("[1]", "the arguments must be one JSON object, not list"), ("", "the arguments are not JSON: "),
])  # fmt: skip
def test_arguments_that_are_no_object_are_a_usage_error(capsys, written, message):
    assert run("tool", "calculator", written) == 2
    assert capsys.readouterr().err.startswith(f"error: {message}")


def test_arguments_may_come_on_standard_input(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO('{"expression": "1+1"}'))
    assert run("tool", "calculator", "-") == 0
    assert '"ok": true' in capsys.readouterr().out


class Terminal(io.StringIO):
    def isatty(self):
        return True


def write(path: str, text: str) -> str:
    """Write a file."""
    return "written"


def request(tainted=False, preview="", **arguments):
    return ApprovalRequest(tool(write), ToolCall("write", arguments), preview, tainted)


ANSWERS = [
    ("y\n", False, Approval.allow()),
    ("YES\n", True, Approval.allow()),
    ("n\n", False, Approval.deny("the person said no")),
    ("a\n", False, Approval.allow_for_run()),
    ("a\ny\n", True, Approval.allow()),
    ("\n\ny\n", False, Approval.allow()),
    ("x\nn\n", False, Approval.deny("the person said no")),
    ("use b.txt\n", False, Approval.deny("the person says: use b.txt")),
    ("", False, Approval.deny("nobody answered")),
]


@pytest.mark.parametrize(("typed", "tainted", "approval"), ANSWERS, ids=[repr(typed) for typed, *_ in ANSWERS])
def test_what_a_person_types(typed, tainted, approval):
    screen, stopped = Terminal(), []
    approve = terminal_approval(answers=Terminal(typed), screen=screen, before=lambda: stopped.append(True))
    assert approve(request(tainted, path="a")) == approval
    assert stopped == [True]
    assert screen.getvalue().startswith("write wants to run. It has side effects.\n")


@pytest.mark.parametrize(("approved", "tainted", "approval"), [
    (["write"], False, Approval.allow()),
    ([], False, Approval.deny("there is no terminal to ask on; only --approve write would allow it")),
    (["other"], False, Approval.deny("there is no terminal to ask on; only --approve write would allow it")),
    (["write"], True, Approval.deny("text from outside was read before, so --approve does not count any more, "
                                    "and there is no terminal to ask on")),
])  # fmt: skip
def test_without_a_terminal_only_what_was_approved_beforehand_runs(approved, tainted, approval):
    for answers, screen in ((io.StringIO("y\n"), Terminal()), (Terminal("y\n"), io.StringIO())):
        assert terminal_approval(approved, answers=answers, screen=screen)(request(tainted)) == approval
    with_terminal = terminal_approval(approved, answers=Terminal("n\n"), screen=Terminal())
    assert with_terminal(request(tainted)).allowed is (approval == Approval.allow())


def test_the_question_shows_everything_and_lets_nothing_steer_the_terminal():
    shown = question(request(True, "-old\n+new\x1b[2J", path="a\x1b[1m.txt", text="two\nlines\x9b\u202e", count=3))
    assert shown == (
        "write wants to run. It has side effects.\n"
        "Careful: text from outside was read before, so this may not be your or the model's own idea.\n"
        '  path = "a\\u001b[1m.txt"\n'
        '  text = "two\\nlines\\x9b\\u202e"\n'
        "  count = 3\n"
        "What it would do:\n"
        "  -old\n"
        "  +new\\x1b[2J\n"
        "Run it? y (yes), n (no), or write what the model should do instead:"
    )
    assert "a (yes, also for the rest of this run)" in question(request(path="a"))
    forged = question(request(**{'x\n  path = "safe.txt"': 1, "a b\x1b": 2}))
    assert forged.splitlines()[1:3] == ['  "x\\n  path = \\"safe.txt\\"" = 1', '  "a b\\u001b" = 2']


def test_of_a_very_long_argument_the_two_ends_are_shown():
    shown = question(request(text="x" * 20_000 + "end"))
    assert "[... 13,005 characters that are not shown ...]" in shown
    assert shown.splitlines()[3].endswith('xend"')


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo terminal")
@pytest.mark.parametrize(("before", "answer", "runs"), [(b"", b"y\n", True), (b"y\ny\n", b"n\n", False)], ids=["yes", "typed ahead"])
def test_on_a_real_terminal_the_answer_is_read_and_the_tool_runs(before, answer, runs, own_tools):
    import pty

    leader, follower = pty.openpty()
    words = ["tool", "send", '{"text": "hi"}', "--tools", own_tools]
    child = subprocess.Popen([sys.executable, "-m", "react_agent", *words], stdin=follower, stderr=follower, stdout=subprocess.PIPE)
    os.close(follower)
    os.write(leader, before)
    shown = b""
    while not shown.endswith(b"\n> "):
        shown += os.read(leader, 1000)
    os.write(leader, answer)
    out, _ = child.communicate(timeout=60)
    os.close(leader)
    assert (child.returncode, json.loads(out)["ok"]) == (0 if runs else 1, runs)


def small_db(folder):
    with contextlib.closing(sqlite3.connect(folder / "small.db")) as made:
        made.execute("CREATE TABLE a (b)")
    return folder / "small.db"


def test_the_arguments_may_stand_behind_the_options(tmp_path, capsys):
    words = ["tool", "sql_query", "--db", str(small_db(tmp_path)), '{"query": "SELECT 1 + 1"}']
    assert main(words) == 0 and "2" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main([*words, "more"])
    assert "not understood: " in capsys.readouterr().err


def test_a_tool_that_needs_an_option_is_told_so(tmp_path, capsys):
    """Each name in OPTION_OF is one that its option brings."""
    values = {"--db": small_db(tmp_path), "--docs": tmp_path, "--files": tmp_path, "--stock": Path(__file__).parent / "data" / "stock" / "list.json"}
    given = {option.split()[0]: [option.split()[0], *([str(values[option.split()[0]])] if option.split()[0] in values else [])]
             for option in OPTION_OF.values()}  # fmt: skip
    for option, words in given.items():
        assert main(["tools", "--json", "--no-calculator", *words]) == 0
        brought = [tool["name"] for tool in json.loads(capsys.readouterr().out)]
        assert sorted(brought) == sorted(name for name, needed in OPTION_OF.items() if needed.split()[0] == option)
    assert main(["tool", "sql_query"]) == 2
    assert capsys.readouterr().err == "error: sql_query comes with --db FILE (or --demo)\n"


def test_the_demo_has_its_tools(capsys):
    assert main(["tools", "--demo", "--json"]) == 0
    assert {"calculator", "sql_query", "grep_docs"} <= {tool["name"] for tool in json.loads(capsys.readouterr().out)}
    assert main(["tool", "sql_query", "--demo", '{"query": "SELECT count(*) FROM orders"}']) == 0
