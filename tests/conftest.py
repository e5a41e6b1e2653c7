"""Shared by all tests: no network but loopback, and nobody's home folder is touched."""

import json
import signal
import socket
import threading

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("any_machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine fails no test
settings.load_profile("any_machine")

if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # started in the background of a script, where Ctrl-C is ignored and what we start would ignore it too
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def closed_world(monkeypatch, tmp_path_factory):
    """Connections leave this machine in no test, and caches, states and homes are temporary."""
    real = socket.socket.connect

    def connect(self, address):
        host = address[0] if isinstance(address, tuple) else "127.0.0.1"
        if host not in ("127.0.0.1", "::1", "localhost"):
            raise OSError(f"tests are offline: no connection to {host}")
        return real(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)
    for name in ("LLM_BASE_URL", "LLM_API_KEY", "LLM_MODEL", "OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "LLM_API_KEY_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("react_agent.endpoints.open_probe.PROBE_S", 30.0)  # a busy machine is no other server
    monkeypatch.setattr("react_agent.endpoints.open_local.PORTS", ())  # what runs on the machine of the tests is nobody's business


@pytest.fixture
def reply():
    """A decision as the prompt asks for it, and as it stands in the history: reply("tool", {...}) or reply(answer="...")."""

    def make(action="none", arguments=None, answer=None, thought="t"):
        step = {"final_answer": answer} if action == "none" else {"action": action, "action_input": arguments or {}}
        return json.dumps({"thought": thought, **step}, ensure_ascii=False)

    return make
