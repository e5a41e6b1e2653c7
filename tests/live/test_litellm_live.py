"""litellm's proxy in front of a real llama.cpp server: what comes through it is what the server says itself.

litellm is found on PATH, or in the virtual environment that the variable LITELLM names; it is none of the project's dependencies.
"""

import json
import os
import re
import shutil
import subprocess
import threading
from collections import deque
from contextlib import contextmanager
from dataclasses import replace

import pytest

from react_agent.endpoints.base import Request
from react_agent.endpoints.chat import ChatEndpoint
from react_agent.endpoints.open import open_endpoint
from react_agent.errors import EndpointError
from react_agent.local import fetch, serve
from react_agent.types import Message

MODEL = "smollm2-135m"
KEY = "sk-of-the-proxy"
COUNT = (Message("system", "You are terse."), Message("user", "Count from 1 to 20."))
READY = re.compile(r"Uvicorn running on (http://127\.0\.0\.1:\d+)")
PATIENCE_S = 300  # for the start and for one reply, on a machine that is busy
# No telemetry, the tables that come with the package instead of those on the web, and a way out that leads nowhere.
QUIET = {
    "LITELLM_TELEMETRY_DISABLED": "True", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1",
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9"),
}  # fmt: skip


def find_litellm():
    """The program; None where there is none."""
    venv = os.environ.get("LITELLM")
    return shutil.which("litellm", path=os.pathsep.join((f"{venv}/bin", f"{venv}/Scripts")) if venv else None)


PROGRAM = find_litellm()
pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(PROGRAM is None, reason="litellm is neither on PATH nor in the virtual environment that LITELLM names"),
]


@contextmanager
def litellm_proxy(folder, settings):
    """The URL of a proxy that runs with these settings, in a process of its own."""
    config = folder / "litellm.yaml"
    config.write_text(json.dumps(settings), "utf-8")  # JSON is YAML
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "SYSTEMROOT", "TEMP", "TMPDIR")}
    with subprocess.Popen(
        [PROGRAM, "--config", str(config), "--host", "127.0.0.1", "--port", "0"], cwd=folder,
        env=kept | QUIET | {"HOME": str(folder), "USERPROFILE": str(folder), "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace",
    ) as process:  # fmt: skip
        overdue = threading.Timer(PATIENCE_S, process.kill)
        log = deque(maxlen=40)
        drain = threading.Thread(target=log.extend, args=(process.stdout,))  # a full pipe would stop the proxy
        try:
            overdue.start()
            url = address_in(process.stdout, log)
            overdue.cancel()
            drain.start()
            assert url, "litellm did not start:\n" + "".join(log)
            yield url
        finally:
            overdue.cancel()
            process.kill()
            if drain.ident:
                drain.join()


def address_in(lines, log):
    """Where the proxy listens, from what it prints; None when it ended instead."""
    for line in lines:
        log.append(line)
        if found := READY.search(line):
            return found[1]
    return None


@pytest.fixture(scope="module")
def server_url():
    with serve(fetch(MODEL)) as server:
        yield server.base_url


@pytest.fixture(scope="module")
def proxy_url(server_url, tmp_path_factory):
    route = {"model": f"openai/{MODEL}", "api_base": server_url, "api_key": "none", "max_retries": 0}
    settings = {
        "model_list": [{"model_name": MODEL, "litellm_params": route}], "general_settings": {"master_key": KEY},
        "litellm_settings": {"telemetry": False, "num_retries": 0}, "router_settings": {"num_retries": 0},
    }  # fmt: skip
    with litellm_proxy(tmp_path_factory.mktemp("litellm"), settings) as url:
        yield url


def made(url, stream, *, model=MODEL, api_key=KEY, **settings):
    settings = {"temperature": 0, "max_output_tokens": 40, "timeout_s": PATIENCE_S, **settings}
    return ChatEndpoint(url, model, api_key, stream=stream, **settings)


def value(completion):
    """A completion without what differs from call to call (its time, what the server still had in its cache) and what the proxy
    changes: it leaves out the server's name for the model and gives its own, and in a stream it says 0 where the server says nothing
    of reasoning tokens."""
    usage = replace(completion.usage, cached_tokens=None, reasoning_tokens=completion.usage.reasoning_tokens or None)
    return replace(completion, seconds=0.0, usage=usage, model=MODEL)


@pytest.mark.parametrize("stream", [True, False])
def test_a_reply_that_is_cut(server_url, proxy_url, stream):
    got = made(proxy_url, stream).complete(COUNT)
    assert value(got) == value(made(server_url, stream).complete(COUNT))
    assert (got.model, got.finish_reason, got.usage.output_tokens, got.usage.estimated) == (MODEL, "length", 40, False)
    assert not got.notes


@pytest.mark.parametrize("stream", [True, False])
def test_a_reply_that_ends_at_a_stop_word(server_url, proxy_url, stream):
    got = made(proxy_url, stream, stop=["3."]).complete(COUNT)
    assert value(got) == value(made(server_url, stream, stop=["3."]).complete(COUNT))
    assert got.finish_reason == "stop" and got.text and "3." not in got.text


def test_a_stream_that_is_closed_early(server_url, proxy_url):
    """The proxy hands on llama.cpp's timings, so the counts are the server's own here too."""

    def early(url):
        return made(url, True).complete(COUNT, Request(closed=lambda piece: "4" in piece))

    got = early(proxy_url)
    assert value(got) == value(early(server_url))
    assert (got.closed_early, got.finish_reason, got.usage.estimated) == (True, "stop", False)


def refusal(url, messages=COUNT, **settings):
    with pytest.raises(EndpointError) as caught:
        made(url, **{"stream": True, "max_retries": 0, **settings}).complete(messages)
    return caught.value


@pytest.mark.parametrize("stream", [True, False])
def test_a_prompt_that_is_too_long(proxy_url, stream):
    error = refusal(proxy_url, [Message("user", "word " * 9000)], stream=stream)
    assert (error.kind, error.limit) == ("context_overflow", 8192)
    assert error.used > 9000


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("key", ["sk-of-somebody-else", "no-key-of-litellm"])
def test_a_wrong_key(proxy_url, key, stream):
    error = refusal(proxy_url, api_key=key, stream=stream)
    assert error.kind == "auth" and key not in str(error)


@pytest.mark.parametrize("stream", [True, False])
def test_a_model_that_the_proxy_does_not_have(proxy_url, stream):
    error = refusal(proxy_url, model="smollm2", stream=stream)
    assert (error.kind, MODEL in error.hint) == ("not_found", True)


def test_a_model_that_is_not_named(proxy_url):
    error = refusal(proxy_url, model="")
    assert MODEL in error.hint


def test_the_proxy_is_opened_by_its_address(proxy_url):
    """It answers no look-up without a key, so it is asked as OpenAI's API."""
    assert type(open_endpoint(proxy_url, model=MODEL, api_key=KEY, env={})) is ChatEndpoint
