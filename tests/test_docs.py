"""Documents that cannot lie."""

import contextlib
import json
import re
from typing import get_args

import pytest
from make_docs import GOLDEN, ROOT, cli_reference, with_transcript

import react_agent
from react_agent import cli, demo
from react_agent.agent_words import stop_sentence
from react_agent.limits import Limits
from react_agent.parser import parse_decision
from react_agent.playback import recorded, replay
from react_agent.registry import ToolRegistry
from react_agent.types import STATUS_OF, Completion, Status, StopReason

READMES = ("README.md", "README.zh-CN.md")
PUBLIC = [
    "Agent", "Approval", "ApprovalRequest", "ChatEndpoint", "Completion", "ConfigError", "Conversation", "Decision", "EndpointError",
    "Limits", "Message", "Observation", "ParseError", "ReactAgentError", "RunError", "RunResult", "ScriptedEndpoint", "Step", "Tool",
    "ToolCall", "ToolError", "ToolRegistry", "Trace", "TraceError", "Usage", "open_endpoint", "parse_decision", "read_trace",
    "render_report", "replay", "resume", "tool",
]  # fmt: skip


def read(name):
    return (ROOT / name).read_text("utf-8")


def test_the_public_names_are_pinned():
    assert sorted(react_agent.__all__) == PUBLIC
    assert all(hasattr(react_agent, name) for name in PUBLIC)


def laid_out(text):
    """Help as words: argparse breaks lines elsewhere since Python 3.13, and names a value once behind `-o, --output`."""
    return re.sub(r"(-\w) [A-Z]+, (?=--)", r"\1, ", text).split()


def test_the_command_reference_is_what_the_program_says():
    assert laid_out(read("docs/cli.md")) == laid_out(cli_reference()), "run: python tests/make_docs.py"


@pytest.mark.parametrize("name", READMES)
def test_the_transcript_is_the_recorded_run(name):
    assert with_transcript(read(name)) == read(name), "run: python tests/make_docs.py"


def test_the_golden_run_replays_without_a_difference_and_holds_the_demos_answer():
    got = replay(GOLDEN)
    assert (got.difference, got.prompt_difference) == ("", "")
    assert re.search(rf"\b{demo.DEMO_ANSWER}\b", got.result.answer)
    assert recorded(GOLDEN).start.question == demo.DEMO_QUESTION


@pytest.mark.parametrize("name", READMES)
def test_every_option_and_command_in_the_readme_exists(name):
    reference = cli_reference()
    known = set(re.findall(r"--[a-z][a-z-]+", reference))
    for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", read(name)):
        assert option in known, option
    for row in re.findall(r"^\| (`[a-z].*?) \|", read(name), re.M):
        for command in re.findall(r"`([a-z_]+)", row):
            assert command in cli.parser()[1] or command in get_args(StopReason) or command in get_args(Status), command


def test_every_command_is_in_the_readme():
    table = read("README.md")
    for command in cli.parser()[1]:
        assert re.search(rf"`{command}\b", table), command


@pytest.mark.parametrize("name", READMES)
def test_the_table_of_stop_reasons_is_complete(name):
    rows = re.findall(r"^\| (?:`\w+`)? ?\| `(\w+)` \|", read(name), re.M)
    assert rows == list(STATUS_OF) == list(get_args(StopReason))


def test_every_stop_reason_has_a_sentence():
    for reason in get_args(StopReason):
        if reason != "answer":
            assert len(stop_sentence(reason, Limits(), ())) > 20


@pytest.mark.parametrize("name", READMES)
def test_the_python_in_the_readme_runs(name, monkeypatch, capsys):
    """Every Python block is executed; only the endpoint is a scripted one."""
    replies = [{"thought": "t", "action": "convert", "action_input": {"amount": 250, "source": "EUR", "target": "USD"}, "final_answer": None},
               {"thought": "t", "action": "none", "action_input": {}, "final_answer": "250 euros are 270 dollars."}]  # fmt: skip
    scripted = react_agent.ScriptedEndpoint([json.dumps(reply) for reply in replies])
    monkeypatch.setattr(react_agent, "ChatEndpoint", lambda *args, **options: scripted)
    blocks = re.findall(r"```python\n(.*?)```", read(name), re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, name, "exec"), {})  # our own README
    assert "250 euros are 270 dollars." in capsys.readouterr().out


@pytest.mark.parametrize("name", READMES)
def test_the_json_in_the_readme_is_a_decision(name):
    for block in re.findall(r"```json\n(.*?)```", read(name), re.S):
        with contextlib.suppress(react_agent.ParseError):
            parse_decision(Completion(block, "stop"), ToolRegistry())
            continue
        assert json.loads(block)


def test_links_to_files_lead_somewhere():
    for name in (*READMES, "CONTRIBUTING.md", "docs/trace.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", read(name)):
            assert ((ROOT / name).parent / target).exists(), (name, target)
