"""--endpoint, --api, --template and --context-window, and what happens when nothing is named."""

import io
import sys

import pytest
from fake_server import FakeServer, answer, chat

from react_agent import cli
from react_agent.endpoints import open_local
from react_agent.trace import read_trace

ANSWER = '{"thought": "t", "action": "none", "action_input": {}, "final_answer": "42"}'
NATIVE = answer(200, {"content": ANSWER, "stop": True, "stop_type": "eos"})
OWNED = {"/v1/models": answer(200, {"object": "list", "data": [{"id": "/models/tiny.gguf", "owned_by": "llamacpp"}]})}


@pytest.fixture(autouse=True)
def folders(monkeypatch, tmp_path):
    monkeypatch.setenv("REACT_AGENT_STATE", str(tmp_path / "state"))
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    return tmp_path


def run(capsys, *argv):
    code = cli.main(["run", "--no-trace", "--no-calculator", "--no-stream", *argv, "q?"])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_family_and_a_template(capsys):
    with FakeServer([NATIVE]) as server:
        assert run(capsys, "--endpoint", f"llamacpp:{server.url}", "--template", "chatml")[:2] == (0, "42\n")
    assert server.requests[0].json["prompt"].startswith("<|im_start|>system\n")


def test_an_api_for_an_address(capsys):
    said = answer(200, {"choices": [{"text": ANSWER, "finish_reason": "stop"}]})
    with FakeServer([said], {"/apply-template": answer(404)}) as server:
        assert run(capsys, "--endpoint", server.url, "--api", "completions", "--model", "qwen")[:2] == (0, "42\n")
    assert (server.requests[0].path, server.requests[0].json["temperature"]) == ("/v1/completions", 0.0)


def test_a_command(capsys, tmp_path):
    program = tmp_path / "model.py"
    program.write_text(f"import sys\nassert 'q?' in sys.stdin.read()\nprint({ANSWER!r})")
    assert run(capsys, "--endpoint", f"command:'{sys.executable}' '{program}'")[:2] == (0, "42\n")
    code, out, err = run(capsys, "--endpoint", "command:cat", "--temperature", "1")
    assert (code, out, "no setting 'temperature'" in err) == (2, "", True)


def test_a_file_that_describes_an_api(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("HOUSE_KEY", "house-secret-key")
    monkeypatch.setenv("LLM_API_KEY", "another-secret-key")
    with FakeServer([answer(200, {"answer": ANSWER})]) as server:
        file = tmp_path / "house.toml"
        headers, body = '[headers]\nX-Key = "${HOUSE_KEY}"\n', '[body]\nq = "{prompt}"\n'
        file.write_text(f'url = "{server.url}/ask"\n{headers}{body}[reply]\ntext = "answer"\n')
        assert run(capsys, "--endpoint", f"generic:{file}")[:2] == (0, "42\n")
    assert server.requests[0].headers["x-key"] == "house-secret-key"
    assert "authorization" not in server.requests[0].headers


def test_the_context_window_is_written_into_the_trace(capsys, tmp_path):
    ended = {"message": {"content": ANSWER}, "done": True, "done_reason": "stop"}
    with FakeServer([answer(200, ended)]) as server:
        code = cli.main(["run", "--no-stream", "--trace", str(tmp_path / "t.jsonl"), "--endpoint", f"ollama:{server.url}", "--model", "m",
                         "--context-window", "5000", "q?"])  # fmt: skip
    assert (code, server.requests[0].json["options"]["num_ctx"]) == (0, 5000)
    started = next(iter(read_trace(tmp_path / "t.jsonl"))).event
    assert (started.endpoint["endpoint"], started.context_window) == ("ollama", 5000)


def test_the_only_server_of_this_machine_is_taken_and_named_and_gets_no_key(capsys, monkeypatch):
    monkeypatch.setenv("LLM_API_KEY", "secret-key")
    monkeypatch.setenv("LLM_MODEL", "mine")
    with FakeServer([chat(ANSWER), chat(ANSWER)], OWNED) as server:
        monkeypatch.setattr(open_local, "PORTS", (9, server.port))
        code, out, err = run(capsys)
        assert (code, out) == (0, "42\n")
        assert f"endpoint llama.cpp at {server.url}, the only model server here" in err
        assert run(capsys, "--quiet") == (0, "42\n", "")
    assert server.requests[0].json["model"] == "mine"
    assert all("authorization" not in seen.headers for seen in server.requests + server.looked_up)


def test_several_servers_are_listed(capsys, monkeypatch):
    with FakeServer([], OWNED) as first, FakeServer([], OWNED) as second:
        monkeypatch.setattr(open_local, "PORTS", (first.port, second.port))
        code, out, err = run(capsys)
    assert (code, out) == (2, "")
    assert all(f"{server.url}  llama.cpp  tiny.gguf" in err for server in (first, second))


def test_the_environment_goes_before_the_servers_of_this_machine(capsys, monkeypatch):
    with FakeServer([], OWNED) as first, FakeServer([chat(ANSWER)]) as second:
        monkeypatch.setattr(open_local, "PORTS", (first.port,))
        monkeypatch.setenv("LLM_BASE_URL", f"{second.url}/v1")
        assert run(capsys)[:2] == (0, "42\n")
    assert first.looked_up == []


@pytest.mark.parametrize(("argv", "said"), [
    ([], "LLM_BASE_URL"), (["--endpoint", "banana"], "names no endpoint"), (["--endpoint", "ollama:http://127.0.0.1:9"], "which model"),
    (["--endpoint", "anthropic:claude-x"], "ANTHROPIC_API_KEY"),
    (["--endpoint", "openai:http://127.0.0.1:9", "--template", "chatml"], "messages"),
    (["--endpoint", "http://127.0.0.1:9", "--template", "x"], "no prompt template"), (["--endpoint", "generic:none.toml"], "none.toml"),
])  # fmt: skip
def test_what_cannot_be_used_exits_with_2(capsys, argv, said):
    code, out, err = run(capsys, *argv)
    assert (code, out, said in err) == (2, "", True)
