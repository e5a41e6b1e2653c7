"""react-agent doctor: the table, the JSON, the exit codes, and what later runs read."""

import json

import pytest
from fake_model import fake_model
from fake_server import FakeServer, answer

from react_agent import cli
from react_agent.cli.doctor_table import line
from react_agent.doctor import CHECKS, Finding

NAMES = [name for name, _ in CHECKS]


@pytest.fixture(autouse=True)
def state(monkeypatch, tmp_path):
    monkeypatch.setenv("REACT_AGENT_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


def run(capsys, *argv):
    code = cli.main(list(argv))
    out, err = capsys.readouterr()
    return code, out, err


def kept(state):
    (file,) = (state / "endpoints").iterdir()
    return file


def test_a_line_a_check_with_its_evidence_and_what_it_means(capsys, state):
    with fake_model(stop="ignored") as server:
        code, out, err = run(capsys, "doctor", f"{server.url}/v1", "--model", "m")
    lines = out.splitlines()
    assert (code, [text[6:19].strip() for text in lines]) == (0, NAMES)
    assert lines[NAMES.index("stop")].startswith("note  stop         ignored (stop word 'eight', the text ends in ")
    assert lines[NAMES.index("stop")].endswith("; texts are cut here, but what follows is written and paid for")
    assert err.splitlines()[-1] == f"kept for later runs in {kept(state)}" and "replies," in err


def test_json_for_programs(capsys, state):
    with fake_model() as server:
        code, out, err = run(capsys, "doctor", "--endpoint", f"{server.url}/v1", "--model", "m", "--json")
    body = json.loads(out)
    assert code == 0 and [finding["name"] for finding in body["findings"]] == NAMES
    assert body["endpoint"]["model"] == "m" and body["file"] == str(kept(state)) and body["tokens"] > 0
    assert body["findings"][NAMES.index("structured")]["values"]["states"]["json_schema"] == "enforced"
    assert [text.split("/")[0] for text in err.splitlines()] == [str(number) for number in range(1, len(NAMES) + 1)]
    assert json.loads(kept(state).read_text("utf-8"))["version"] == 1


def test_quiet_says_the_findings_alone_and_no_save_keeps_nothing(capsys, state):
    with fake_model(decisions="lost") as server:
        code, out, err = run(capsys, "doctor", f"{server.url}/v1", "--model", "m", "--quiet", "--no-save")
    assert (code, len(out.splitlines()), err, state.exists()) == (1, len(NAMES), "", False)
    assert out.splitlines()[-1].startswith("BAD   format       ")


def test_a_server_that_never_answers(capsys, state):
    with FakeServer(lambda seen, number: answer(401, {"error": {"message": "no"}})) as server:
        code, out, _ = run(capsys, "doctor", f"{server.url}/v1", "--quiet")
    assert code == 3 and out.startswith("BAD   server       no answer (") and not state.exists()


def test_later_runs_begin_with_it_unless_they_are_fresh(capsys, state):
    with fake_model(turns="strict", stop="refused") as server:
        url = f"{server.url}/v1"
        run(capsys, "doctor", url, "--model", "m", "--quiet")
        server.requests.clear()
        assert run(capsys, "--endpoint", url, "--model", "m", "--no-trace", "--quiet", "How much is 17 times 23?")[1] == "It is 391.\n"
        assert server.requests[0].json["messages"][0]["role"] == "user"
        server.requests.clear()
        run(capsys, "--endpoint", url, "--model", "m", "--no-trace", "--quiet", "--fresh", "How much is 17 times 23?")
        assert server.requests[0].json["messages"][0]["role"] == "system"


def test_two_names_for_the_endpoint(capsys):
    assert run(capsys, "doctor", "http://127.0.0.1:9", "--endpoint", "http://127.0.0.1:8")[0] == 2
    assert run(capsys, "doctor", "http://127.0.0.1:9", "--local")[0] == 2


def test_a_terminal_gets_folded_lines():
    finding = Finding("cut", "hidden", "mind", "not reported", "allowed \x1b[2J 12 tokens", "a reply that is cut looks like a broken one")
    assert line(finding, 60) == (
        "note  cut          not reported (allowed \\x1b[2J 12 tokens);\n"
        "                   a reply that is cut looks like a broken\n"
        "                   one"
    )


def test_progress_on_a_terminal_is_taken_away_again(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with fake_model() as server:
        _, _, err = run(capsys, "doctor", f"{server.url}/v1", "--model", "m", "--no-save")
    assert err.startswith("\r\x1b[K1/14 server ...\r\x1b[K\r\x1b[K2/14 window ...")
