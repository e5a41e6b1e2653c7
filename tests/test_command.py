"""A program as a model: fed, read, ended with all it started, and its failures in words."""

import os
import sys
import threading
import time

import pytest
from families import HELLO

from react_agent.endpoints.base import PLAIN, Request
from react_agent.endpoints.command import CommandEndpoint
from react_agent.errors import ConfigError, EndpointError
from react_agent.types import Message

PYTHON = sys.executable


def program(code, **settings):
    """An endpoint whose program is a Python script; out(text) writes at once."""
    head = "import os, sys, time\ndef out(text):\n    sys.stdout.write(text); sys.stdout.flush()\n"
    return CommandEndpoint([PYTHON, "-c", head + code], **settings)


def failure(made, request=PLAIN):
    with pytest.raises(EndpointError) as caught:
        made.complete(HELLO, request)
    return caught.value


def test_the_prompt_goes_in_and_the_text_comes_out():
    completion = program("out(sys.stdin.read().upper())", template="gemma").complete([Message("user", "Приве\u2028т 😀\ud83d")])
    assert completion.text == "<START_OF_TURN>USER\nПРИВЕ\u2028Т 😀\ufffd<END_OF_TURN>\n<START_OF_TURN>MODEL\n"
    plain = program("out(repr(sys.stdin.read()))").complete(HELLO)
    assert plain.text == repr("be brief\n\nUser: hello\n\nAssistant:")
    assert (plain.finish_reason, plain.usage.estimated, plain.usage.input_tokens > 0 < plain.usage.output_tokens) == ("unknown", True, True)


def test_a_command_line_is_split_as_a_shell_would_and_runs_in_none():
    made = CommandEndpoint(f"'{PYTHON}' -c 'import sys; print(sys.argv[1:])' 'a b' $HOME '*' ';' ls")
    assert made.complete(HELLO).text == "['a b', '$HOME', '*', ';', 'ls']\n"


@pytest.mark.skipif(os.name != "posix", reason="a POSIX shell")
def test_a_shell_that_is_asked_for():
    assert CommandEndpoint("sh -c 'cat >/dev/null; echo $((1+2))'").complete(HELLO).text == "3\n"


def test_what_the_program_is_told_in_its_environment():
    made = program("out(os.environ['REACT_AGENT_MODEL'] + os.environ['REACT_AGENT_MAX_OUTPUT_TOKENS'])", model="m", max_output_tokens=9)
    assert made.complete(HELLO).text == "m9"
    assert made.complete(HELLO, Request(max_output_tokens=5)).text == "m5"


def test_it_is_ended_when_the_decision_is_whole():
    shown = []
    made = program("out('ab'); out('cd'); time.sleep(60)", timeout_s=30)
    completion = made.complete(HELLO, Request(closed=lambda piece: "d" in piece, on_text=shown.append))
    assert (completion.text, completion.closed_early, completion.finish_reason) == ("abcd", True, "stop")
    assert "".join(shown) == "abcd"
    assert not program("out('ab')", stream=False).complete(HELLO, Request(closed=lambda piece: True)).closed_early


def test_text_ends_at_a_stop_word_and_at_an_invented_turn():
    assert program("out('one\\nUser: two'); time.sleep(60)", timeout_s=30).complete(HELLO).text == "one"
    assert program("out('one END'); time.sleep(60)", stop=["END"], timeout_s=30).complete(HELLO).text == "one "


def test_a_character_split_over_two_writes():
    code = "sys.stdout.buffer.write(b'\\xd0'); sys.stdout.flush(); time.sleep(0.05); sys.stdout.buffer.write(b'\\x9f')"
    assert program(code).complete(HELLO).text == "П"


@pytest.mark.parametrize(("code", "said"), [
    ("sys.stderr.write('no such model\\n'); sys.exit(3)", "ended with exit code 3: no such model"),
    ("raise ValueError('sk-abcdefghijk')", "ValueError: [key]"),
    ("sys.stderr.write('x' * 200000 + 'the end'); sys.exit(1)", "the end"),
])  # fmt: skip
def test_a_program_that_fails(code, said):
    error = failure(program("out('par')\n" + code))
    assert (error.kind, said in error.message, error.partial, len(error.message) < 800) == ("server_error", True, "par", True)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_program_that_a_signal_ended():
    assert "was ended by signal 9" in failure(program("os.kill(os.getpid(), 9)")).message


def test_a_program_that_reads_nothing():
    assert program("out('ok')").complete([Message("user", "x" * 1_000_000)]).text == "ok"


def test_too_much_output():
    error = failure(program("while True: out('x' * 100000)", max_response_bytes=1_000_000, timeout_s=30))
    assert (error.kind, "1000000 bytes" in error.message) == ("bad_response", True)


STUBBORN = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
held = open(sys.argv[1], "w")
print("on", flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(os.name != "posix", reason="process groups")
@pytest.mark.parametrize("how", ["timeout", "cancelled", "closed"])
def test_it_is_ended_with_all_that_it_started(how, tmp_path):
    """Its child ignores the polite signal too, and holds a pipe open for as long as it lives."""
    os.mkfifo(tmp_path / "alive")
    held = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
    (tmp_path / "child.py").write_text(STUBBORN)
    argv = [PYTHON, str(tmp_path / "child.py"), str(tmp_path / "alive")]
    code = f"import subprocess\nchild = subprocess.Popen({argv!r}, stdout=subprocess.PIPE)\nchild.stdout.readline()\nout('started')\ntime.sleep(60)"
    cancel, shown = threading.Event(), []

    def on_text(piece):
        shown.append(piece)
        if how == "cancelled":
            cancel.set()

    deadline = time.monotonic() + 30
    clock = (lambda: deadline + 1 if shown else time.monotonic()) if how == "timeout" else time.monotonic
    made = program(code, timeout_s=60, clock=clock)
    request = Request(cancel=cancel, on_text=on_text, deadline=deadline, closed=(lambda piece: True) if how == "closed" else None)
    if how == "closed":
        assert made.complete(HELLO, request).closed_early
    else:
        assert failure(made, request).kind == how
    os.set_blocking(held, True)
    assert (shown, os.read(held, 1)) == (["started"], b"")  # the end of the pipe: its last writer has gone
    os.close(held)


@pytest.mark.skipif(os.name != "posix", reason="fork")
def test_a_child_that_keeps_the_output_open_does_not_hold_the_reply():
    completion = program("out('ok')\nif os.fork() == 0:\n    time.sleep(60)\nos._exit(0)", timeout_s=30).complete(HELLO)
    assert completion.text == "ok"


def test_cancelled_before_it_began():
    cancel = threading.Event()
    cancel.set()
    assert failure(program("out('x')"), Request(cancel=cancel)).kind == "cancelled"


@pytest.mark.parametrize(("command", "said"), [
    ("", "there is no command"), ([], "there is no command"), ("no-such-program-here --fast", "no program 'no-such-program-here'"),
    ("cat 'x", "check its quotes"),
])  # fmt: skip
def test_commands_that_cannot_be(command, said):
    with pytest.raises(ConfigError, match=said):
        CommandEndpoint(command)


def test_settings_that_cannot_be():
    with pytest.raises(ConfigError, match="timeout_s"):
        program("", timeout_s=0)
    with pytest.raises(ConfigError, match="prompt template"):
        program("", template="x")


def test_arguments_are_not_shown():
    made = CommandEndpoint([PYTHON, "--key", "secret-argument"])
    assert "secret-argument" not in repr(made) + str(made.describe())
    assert made.count_tokens(HELLO) is None
