"""The command line end to end: a real process's arguments, a scripted server behind a real socket."""

import io
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from react_agent import cli
from react_agent.cli.advice import in_options
from react_agent.cli.view import LONGEST, PlainPrinter, View, printable, shortened
from react_agent.local import DEFAULT_MODEL
from react_agent.trace import read_trace
from react_agent.trace_events import DecisionMade


class Server:
    """An OpenAI-compatible server on loopback that gives scripted replies and remembers what it was asked."""

    def __init__(self, replies):
        self.requests, left = [], list(replies)
        requests = self.requests

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                body = {"choices": [{"message": {"role": "assistant", "content": left.pop(0)}, "finish_reason": "stop"}],
                        "usage": {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}}  # fmt: skip
                data = json.dumps(body).encode()
                self.send_response(200 if self.path == "/v1/chat/completions" else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_GET(self):
                self.send_response(404)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def served():
    servers = []

    def make(*replies):
        servers.append(Server(replies))
        return servers[-1]

    yield make
    for server in servers:
        server.close()


@pytest.fixture(autouse=True)
def folders(monkeypatch, tmp_path):
    monkeypatch.setenv("REACT_AGENT_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("REACT_AGENT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    return tmp_path


def run(capsys, *argv):
    code = cli.main([*argv])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_question_is_answered_and_everything_is_shown(served, reply, capsys, folders):
    server = served(reply("calculator", {"expression": "2 + 40"}, thought="Add."), reply(answer="It is 42."))
    code, out, err = run(capsys, "--endpoint", server.url, "--no-stream", "What is 2 + 40?")
    assert (code, out) == (0, "It is 42.\n")
    for part in ("question What is 2 + 40?", "thought  Add.", 'call     calculator(expression="2 + 40")', "result   42", "100 prompt", "7 reply",
                 "total    2 steps, 200 prompt + 14 reply tokens"):  # fmt: skip
        assert part in err
    (trace,) = (folders / "state" / "traces").iterdir()
    assert str(trace) in err and read_trace(trace)[-1].event.answer == "It is 42."


def test_json_is_one_object_on_standard_output(served, reply, capsys, tmp_path):
    server = served(reply("calculator", {"expression": "2 + 40"}), reply(answer="42."))
    code, out, err = run(capsys, "run", "--endpoint", server.url, "--no-stream", "--json", "--trace", str(tmp_path / "t.jsonl"), "?!")
    body = json.loads(out)
    assert (code, body["status"], body["answer"], body["calls"][0]["tool"], body["calls"][0]["ok"]) == (0, "completed", "42.", "calculator", True)
    assert body["usage"]["input_tokens"] == 200 and body["trace_path"] == str(tmp_path / "t.jsonl")


def test_quiet_says_the_answer_only_and_no_trace_writes_none(served, reply, capsys, folders):
    server = served(reply(answer="42."))
    assert run(capsys, "--endpoint", server.url, "--no-stream", "--quiet", "--no-trace", "q?") == (0, "42.\n", "")
    assert not (folders / "state").exists()


def test_a_run_without_an_answer_exits_with_1_and_says_why(served, capsys):
    server = served("no", "no", "no")
    code, out, err = run(capsys, "--endpoint", server.url, "--no-stream", "q?")
    assert (code, out) == (1, "") and "3 unreadable replies" in err


def test_a_dead_endpoint_exits_with_3_and_says_once_what_happened_and_what_to_do(capsys, served, folders):
    server = served()
    server.close()
    code, out, err = run(capsys, "--endpoint", server.url, "--call-timeout", "5", "q?")
    assert (code, out) == (3, "") and "Traceback" not in err
    assert err.count("nothing listens at") == 1 and "is the server running" in err and "react-agent doctor" in err and "--endpoint" in err
    assert "\nstopped  endpoint_error, as said above\n" in err and "\nstep 1\n" in err
    (trace,) = (folders / "state" / "traces").iterdir()
    assert err.endswith(f"\ngo on    with the same endpoint and tools: react-agent resume {trace}\n")
    code, out, err = run(capsys, "--endpoint", server.url, "--quiet", "q?")
    assert (code, out) == (3, "") and err.count("nothing listens at") == 1 and err.endswith("--endpoint names another one\n")


@pytest.mark.parametrize(("argv", "said"), [
    (["--max-steps", "1"], "raise --max-steps"), (["--max-tokens", "10"], "raise --max-tokens"),
    (["--max-cost", "0.000001", "--input-price", "9", "--output-price", "9"], "raise --max-cost"),
])  # fmt: skip
def test_a_limit_is_named_as_the_option_that_sets_it(argv, said, served, reply, capsys):
    for quiet in ([], ["--quiet"]):
        server = served(reply("calculator", {"expression": "1 + 1"}))
        code, _, err = run(capsys, "--endpoint", server.url, "--no-stream", *argv, *quiet, "q?")
        assert code == 1 and said in err


def test_a_call_that_no_step_is_left_for_is_said_not_to_run(served, reply, capsys):
    _, _, err = run(capsys, "--endpoint", served(reply("calculator", {"expression": "1 + 1"})).url, "--max-steps", "1", "q?")
    assert "note     this call is not run: no step is left for what it would say\n" in err
    assert "\ntotal    1 step, " in err


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_side_effects_of_a_run_without_an_answer_are_told(quiet, served, reply, capsys, tmp_path):
    (tmp_path / "own.py").write_text("from react_agent import tool\n\n\n@tool\ndef push(name: str) -> str:\n    \"\"\"Push it.\"\"\"\n    return name\n")
    server = served(reply("push", {"name": "a"}), "no", "no", "no")
    code, _, err = run(capsys, "--endpoint", server.url, "--no-stream", "--tools", str(tmp_path / "own.py"), "--approve", "push", *quiet, "q?")
    assert code == 1 and 'effect   push(name="a") has run\n' in err


def test_hints_name_the_options_of_the_command_line():
    assert in_options("raise timeout_s, or ask for fewer tokens") == "raise --call-timeout, or ask for fewer tokens"
    assert in_options("set LLM_API_KEY (or api_key) to a key") == "set LLM_API_KEY (or --api-key-file) to a key"
    assert in_options("it says: use n or max_tokens, which is too large") == "it says: use n or max_tokens, which is too large"


def test_the_environment_names_the_endpoint(served, reply, capsys, monkeypatch):
    server = served(reply(answer="yes"))
    monkeypatch.setenv("LLM_BASE_URL", server.url)
    monkeypatch.setenv("LLM_MODEL", "tiny")
    assert run(capsys, "--no-stream", "q?")[:2] == (0, "yes\n")
    assert server.requests[0]["model"] == "tiny"


def test_instructions_and_language_reach_the_prompt(served, reply, capsys, tmp_path):
    (tmp_path / "i.txt").write_text("Answer in capitals.", "utf-8")
    server = served(reply(answer="JA"))
    run(capsys, "--endpoint", server.url, "--no-stream", "--instructions", str(tmp_path / "i.txt"), "--lang", "zh", "q?")
    sent = server.requests[0]["messages"]
    assert "Answer in capitals." in json.dumps(sent) and "工具" in sent[0]["content"]


def test_the_demo_needs_no_files(served, reply, capsys):
    server = served(reply("sql_query", {"query": "SELECT COUNT(*) FROM orders"}), reply("list_docs", {}), reply(answer="done"))
    code, out, err = run(capsys, "--endpoint", server.url, "--no-stream", "--demo", "--json", "q?")
    assert (code, [call["ok"] for call in json.loads(out)["calls"]]) == (0, [True, True])


USAGE = [
    (["--endpoint", "http://127.0.0.1:9/v1"], "there is no question"),
    (["q?"], "LLM_BASE_URL"),
    (["--endpoint", "http://127.0.0.1:9/v1", "--db", "missing.db", "q?"], "missing.db"),
    (["--endpoint", "http://127.0.0.1:9/v1", "--docs", "missing", "q?"], "missing"),
    (["--endpoint", "http://127.0.0.1:9/v1", "--instructions", "missing.txt", "q?"], "missing.txt"),
    (["--endpoint", "http://127.0.0.1:9/v1", "--max-cost", "1", "q?"], "--input-price and --output-price, or --prices"),
    (["--endpoint", "http://127.0.0.1:9/v1", "--trace", "no/such/folder/t.jsonl", "q?"], "cannot be written"),
    (["replay", "missing.jsonl"], "missing.jsonl"),
]


@pytest.mark.parametrize(("argv", "said"), USAGE, ids=[" ".join(argv)[-40:] for argv, _ in USAGE])
def test_what_is_used_wrongly_exits_with_2_and_says_what_is_missing(capsys, argv, said):
    code, out, err = run(capsys, *argv)
    assert (code, out) == (2, "") and said in err and "Traceback" not in err


@pytest.mark.parametrize("argv", [["--max-steps", "0", "q"], ["--temperature", "x", "q"], ["--local", "gpt-9", "q"], ["nonsense", "more", "words"]])
def test_argparse_refuses_with_2(capsys, argv):
    with pytest.raises(SystemExit) as stopped:
        cli.main(argv)
    assert stopped.value.code == 2


@pytest.mark.parametrize(("argv", "said"), [
    (["--quite", "q"], "error: not understood: --quite; did you mean --quiet?\nreact-agent run --help lists the options\n"),
    (["chat", "--tarce=x"], "error: not understood: --tarce=x; did you mean --trace?\nreact-agent chat --help lists the options\n"),
    (["--zzz", "q"], "error: not understood: --zzz\n"),
    (["doctr"], "there is no command doctr; did you mean doctor? (a question of one word: react-agent run doctr)\nreact-agent --help lists"),
    (["helpp"], "there is no command helpp; did you mean help? (a question of one word: react-agent run helpp)\nreact-agent --help lists"),
    (["reprot", "x.jsonl"], "did you mean report?"),
    (["--max-steps", "abc", "q"], "argument --max-steps: must be a whole number from 1, not abc\n"),
    (["--max-seconds", "soon", "q"], "argument --max-seconds: must be a number above 0, not soon\n"),
    (["chat", "--max-steps", "0"], "react-agent chat --help lists the options\n"),
    (["model", "list", "--nope"], "error: not understood: --nope\nreact-agent model --help lists the options\n"),
])  # fmt: skip
def test_argparse_says_what_is_wrong_and_where_to_look_without_a_page_of_options(capsys, argv, said):
    with pytest.raises(SystemExit):
        cli.main(argv)
    err = capsys.readouterr().err
    assert said in err and err.startswith("error: ") and len(err.splitlines()) == 2


@pytest.mark.parametrize(("words", "local", "question"), [
    (["--local", "What is 1 + 1"], DEFAULT_MODEL, "What is 1 + 1"),
    (["--local", "有多少订单"], DEFAULT_MODEL, "有多少订单"),
    (["--local", "Why?"], DEFAULT_MODEL, "Why?"),
    (["--local", "-"], DEFAULT_MODEL, "-"),
    (["--local", "--demo", "Why so?"], DEFAULT_MODEL, "Why so?"),
    (["Why so?", "--local"], DEFAULT_MODEL, "Why so?"),
    (["--local", "smollm2-135m", "Why so?"], "smollm2-135m", "Why so?"),
])  # fmt: skip
def test_a_question_behind_local_is_not_the_name_of_a_model(words, local, question):
    made, commands = cli.parser()
    args = made.parse_args(cli.with_local(cli.with_command(words, commands)))
    assert (args.local, args.question) == (local, question)


def test_help_lists_every_command(capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main([])
    text = capsys.readouterr().out
    assert stopped.value.code == 0
    for command in cli.parser()[1]:
        assert command in text


@pytest.mark.parametrize(("words", "said"), [(["help"], "commands:"), (["help", "parse"], "usage: react-agent parse")])
def test_help_is_a_word_too(capsys, words, said):
    with pytest.raises(SystemExit) as stopped:
        cli.main(words)
    assert stopped.value.code == 0 and said in capsys.readouterr().out


def test_version(capsys):
    code, out, _ = run(capsys, "--version")
    assert code == 0 and "Python 3" in out and "SQLite" in out


def test_a_recorded_run_is_replayed_and_a_difference_exits_with_1(served, reply, capsys, tmp_path):
    trace = tmp_path / "t.jsonl"
    server = served(reply("calculator", {"expression": "2 + 40"}), reply(answer="42."))
    run(capsys, "--endpoint", server.url, "--no-stream", "--trace", str(trace), "q?")
    assert run(capsys, "replay", str(trace))[:2] == (0, "no difference in 2 steps\n")
    assert run(capsys, "replay", "--live", str(trace))[:2] == (0, "no difference in 2 steps\n")
    trace.write_text(trace.read_text("utf-8").replace('"42.', '"43.', 1).replace('\\"42.', '\\"43.', 1), "utf-8")
    code, out, _ = run(capsys, "replay", "--json", str(trace))
    assert code == 1 and json.loads(out)["same"] is False


def test_an_interrupted_run_is_resumed(served, reply, capsys, tmp_path):
    trace = tmp_path / "t.jsonl"
    first = served(reply("calculator", {"expression": "2 + 40"}))
    first_url = first.url
    code, _, err = run(capsys, "--endpoint", first_url, "--no-stream", "--call-timeout", "3", "--trace", str(trace), "q?")
    assert code == 3, err
    second = served(reply(answer="42."))
    assert run(capsys, "resume", str(trace), "--endpoint", second.url, "--no-stream")[:2] == (0, "42.\n")
    assert len(second.requests) == 1
    code, _, err = run(capsys, "resume", str(trace), "--endpoint", second.url)
    assert code == 2 and "has ended" in err


def test_chat_answers_line_by_line_and_obeys_its_commands(served, reply, capsys, monkeypatch):
    server = served(reply(answer="Lisbon."), reply(answer="Tejo."))
    lines = "Which city?\n/tools\n/trace\n/nonsense\nAnd its river?\n/reset\n/quit\nnever asked\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    code, out, err = run(capsys, "chat", "--endpoint", server.url, "--no-stream")
    assert (code, out) == (0, "Lisbon.\nTejo.\n")
    assert "calculator" in err and ".jsonl" in err and "no command /nonsense" in err and "forgotten" in err
    assert "Which city?" in json.dumps(server.requests[1]) and len(server.requests) == 2


def test_a_reply_cannot_steer_the_terminal():
    stream = io.StringIO()
    PlainPrinter(stream).block("reply", "a\x1b[31mb\r\x07\u202e\ud800\nnext")
    assert stream.getvalue() == "reply    a\\x1b[31mb\\x0d\\x07\\u202e\\ud800\n         next\n"
    assert printable("Ü 中 😀\ttab") == "Ü 中 😀\ttab"


def test_observations_are_shortened_for_the_eye():
    assert shortened('{"ok": true, "result": "a\\nb"}') == "a\nb"
    assert shortened('{"ok": false, "error": {"type": "x", "message": "m", "hint": "h"}}') == "x: m (h)"
    assert shortened("not json") == "not json"
    assert shortened(json.dumps({"ok": True, "result": "\n".join(map(str, range(30)))})).endswith("7\n... 22 more lines")


@pytest.mark.parametrize("verbose", [False, True])
def test_a_very_long_thought_or_call_does_not_fill_the_screen_unless_all_was_asked_for(verbose):
    stream = io.StringIO()
    View(PlainPrinter(stream), verbose)(DecisionMade(1, "t" * 3000, "look", {"a": "b" * 100_000}))
    lines = stream.getvalue().splitlines()
    assert max(map(len, lines)) == (100_000 + len("call     look(a=\"\")") if verbose else LONGEST + len("call     look("))
    assert ("         ... 1,000 more characters" in lines) is not verbose


def test_the_view_ignores_events_it_does_not_know():
    View(PlainPrinter(io.StringIO()))(object())


def test_prices_by_model_make_a_cost_and_an_unknown_model_has_none(served, reply, capsys, tmp_path):
    (tmp_path / "p.json").write_text('{"small": {"input": 1.0, "output": 10.0}}')
    for model, cost in (("small", 170e-6), ("other", None)):
        server = served(reply(answer="42."))
        code, out, err = run(capsys, "--endpoint", server.url, "--no-stream", "--model", model, "--prices", str(tmp_path / "p.json"), "--json", "q?")
        assert (code, json.loads(out)["cost"]) == (0, cost and pytest.approx(cost))
    code, _, err = run(capsys, "--endpoint", server.url, "--model", "other", "--prices", str(tmp_path / "p.json"), "--max-cost", "1", "q?")
    assert code == 2 and "--input-price" in err
    (tmp_path / "p.json").write_text("[1]")
    code, _, err = run(capsys, "--endpoint", server.url, "--model", "small", "--prices", str(tmp_path / "p.json"), "q?")
    assert code == 2 and "not a price table" in err
