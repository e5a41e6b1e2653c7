"""SIGTERM, SIGHUP and Ctrl-C from outside: the run is cancelled and its trace can be gone on with."""

import os
import signal
import subprocess
import sys
import threading

import pytest
from child_signals import heard
from fake_server import Answer, FakeServer, chat

from react_agent import cli
from react_agent.cli.signals import stopped_by_signals
from react_agent.trace import read_trace

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals that Windows has not")
SIGNALS = [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)]


@pytest.mark.parametrize(("name", "code"), SIGNALS)
@pytest.mark.parametrize("command", ["run", "chat"])
def test_a_signal_cancels_the_run_and_leaves_a_trace_to_go_on_with(command, name, code, reply, tmp_path, capsys):
    never = threading.Event()
    trace = tmp_path / "t.jsonl"
    with FakeServer([Answer(pieces=[b"{", never], framing="close")]) as server:
        child = subprocess.Popen(
            [sys.executable, "-m", "react_agent", command, "--endpoint", server.url, "--no-stream", "--trace", str(trace)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "REACT_AGENT_STATE": str(tmp_path)},
            preexec_fn=heard,
        )  # fmt: skip
        with child:
            child.stdin.write("q?\n")
            child.stdin.close()
            while not child.stderr.readline().startswith("step 1"):
                assert child.poll() is None
            child.send_signal(getattr(signal, name))
            out, err = child.stdout.read(), child.stderr.read()
        never.set()
    assert child.returncode == code, err
    assert read_trace(trace)[-1].event.stop_reason == "cancelled"
    if command == "run":
        assert out == "" and "stopped  cancelled" in err and "react-agent resume" in err
    with FakeServer([chat(reply(answer="here"))]) as server:
        assert cli.main(["resume", str(trace), "--endpoint", server.url, "--no-stream", "--quiet"]) == 0
    assert capsys.readouterr().out == "here\n"


def test_before_a_run_a_signal_is_said_by_its_name(monkeypatch, capsys):
    def loading(path, what):
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr("react_agent.cli.run.read_text", loading)
    assert cli.main(["run", "--endpoint", "http://127.0.0.1:9", "q?"]) == 143
    assert capsys.readouterr().err == "stopped by SIGTERM\n"


def test_what_is_ignored_stays_so_and_all_is_as_before_afterwards():
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stopped_by_signals() as stopped:
            assert (signal.getsignal(signal.SIGHUP), signal.getsignal(signal.SIGTERM)) == (signal.SIG_IGN, stopped)
        assert (signal.getsignal(signal.SIGHUP), signal.getsignal(signal.SIGTERM)) == (signal.SIG_IGN, before[signal.SIGTERM])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
