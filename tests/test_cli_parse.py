"""`react-agent parse`: the decision, the repairs with their places, the refusal and what the model would be told."""

import io
import json
import sys

import pytest

from react_agent.cli import main

CALL = '{"thought": "t",\n "action": "search", "action_input": {"query": "中"},}'
TOOLS = [{"name": "search", "parameters": ["query"]}, {"name": "fetch", "parameters": {"type": "object", "properties": {"url": {}}}}]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """run(reply, *options): the exit code, standard output and standard error for a reply on standard input."""
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps(TOOLS))

    def call(reply, *options):
        data = reply if isinstance(reply, bytes) else reply.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        code = main(["parse", *(str(tools) if option == "TOOLS" else option for option in options)])
        return (code, *capsys.readouterr())

    return call


def test_a_decision_and_its_repairs(run):
    code, out, err = run(CALL, "--tools-json", "TOOLS")
    assert (code, err) == (0, "")
    assert out == 'thought: t\ncall:    search\ninput:   {"query": "中"}\nrepairs:\n  2:52  trailing_comma: a comma before a closing bracket\n'


def test_an_answer_without_repairs(run):
    code, out, _ = run('{"action": "none", "final_answer": "Paris"}')
    assert (code, out) == (0, "answer:  Paris\nrepairs: none\n")


def test_a_refusal(run):
    code, out, _ = run(CALL.replace("search", "serch"), "--tools-json", "TOOLS")
    assert code == 1
    assert out.splitlines()[:3] == [
        "refused: unknown_tool at 2:13",
        'near:    serch", "action_input": {"query": "中"},}',
        "why:     there is no tool named 'serch'; search comes near",
    ]
    assert "exactly one of these as action: search, fetch" in out.splitlines()[3]


def test_the_message_in_chinese(run):
    assert "你的 action 无法使用" in run(CALL.replace("search", "serch"), "--tools-json", "TOOLS", "--lang", "zh")[1]


def test_without_tools_every_name_is_taken_as_it_is_written(run):
    assert "call:    anything_at.all" in run('{"action": "anything_at.all", "action_input": {"a": [1]}}')[1]
    assert run('{"action": "two words", "action_input": {}}')[0] == 1
    assert "answer:  x" in run('{"action": "finish", "action_input": "x"}')[1]


def test_for_programs(run):
    code, out, _ = run(CALL, "--json")
    assert code == 0
    assert json.loads(out) == {
        "ok": True,
        "decision": {"thought": "t", "action": "search", "action_input": {"query": "中"}, "final_answer": None},
        "repairs": [{"name": "trailing_comma", "offset": 68, "line": 2, "column": 52}],
    }
    code, out, _ = run("No.", "--json")
    found = json.loads(out)
    assert code == 1
    assert found.pop("told").startswith("Your reply holds no JSON object")
    assert found == {"ok": False, "reason": "no_object", "hint": "the reply holds no JSON object", "excerpt": "No.", "line": 1, "column": 1}


def test_the_finish_reason_counts(run):
    assert run(CALL[:-2], "--finish-reason", "length")[1].startswith("refused: truncated at 2:52")
    assert run(CALL[:-2])[0] == 0


def test_a_file(run, tmp_path):
    file = tmp_path / "reply.txt"
    file.write_text(CALL, "utf-16")
    assert "call:    search" in run("", str(file))[1]
    file.write_bytes(b"\xef\xbb\xbf" + CALL.encode())
    assert "call:    search" in run("", str(file))[1]


def test_bytes_that_are_no_text(run):
    code, out, err = run(b'{"thought": "\xff\xfe", "action": "search", "action_input": {"query": "x"}}')
    assert code == 0
    assert "\ufffd" in out
    assert "byte 13 is not utf-8" in err
    assert run(bytes(range(256)))[0] == 1


def test_a_reply_cannot_steer_the_terminal(run):
    out = run('{"action": "none", "final_answer": "a\\u001b[2Jb"}')[1]
    assert "a\\x1b[2Jb" in out


@pytest.mark.parametrize(("content", "message"), [
    (None, "cannot be read"), ("{", "is no JSON list"), ('{"a": 1}', "is no JSON list"), ("[1]", "is no JSON list"), ('[{"parameters": []}]', "is no JSON list"),
    ('[{"name": "a b", "parameters": []}]', "a b"),
])  # fmt: skip
def test_tools_that_are_none(run, tmp_path, content, message):
    file = tmp_path / "some.json"
    if content is not None:
        file.write_text(content)
    code, out, err = run(CALL, "--tools-json", str(file))
    assert (code, out) == (2, "")
    assert message in err


def test_a_file_and_a_language_that_are_not_there(run, tmp_path):
    assert run("", str(tmp_path / "none"))[0] == 2
    assert run(CALL, "--lang", "xx")[0] == 2
