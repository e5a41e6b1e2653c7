"""llama.cpp's own /completion: what it sends, recorded replies, what its other routes tell."""

import json

import pytest
from fake_server import FakeServer, answer
from families import HELLO, failing, recorded

from react_agent.endpoints.base import Request
from react_agent.endpoints.llamacpp import LlamaCppEndpoint
from react_agent.types import Usage


def test_a_request():
    with FakeServer([recorded("native_completion.json")]) as server:
        LlamaCppEndpoint(server.url, template="plain", stream=False, seed=7, stop=["END"], extra_body={"min_p": 0.1}).complete(HELLO)
    assert (server.requests[0].path, server.requests[0].json) == ("/completion", {
        "prompt": "be brief\n\nUser: hello\n\nAssistant:", "n_predict": 512, "stream": False, "temperature": 0.0, "seed": 7,
        "stop": ["END", "\nUser:", "\nAssistant:", "\nSystem:"], "min_p": 0.1,
    })  # fmt: skip


@pytest.mark.parametrize(("name", "text", "finish", "usage"), [
    ("native_completion.json", "-by-date", "length", Usage(1, 4, 0)),
    ("native_completion_stream.txt", "-by-", "length", Usage(1, 3, 0)),
    ("native_stop_word.json", " 4", "stop", Usage(8, 3, 1)),
])  # fmt: skip
def test_recorded_replies(name, text, finish, usage):
    with FakeServer([recorded(name)]) as server:
        got = LlamaCppEndpoint(server.url, template="plain", stream=name.endswith(".txt")).complete(HELLO)
    assert (got.text, got.finish_reason, got.usage, got.model) == (text, finish, usage, "smollm2.gguf")


def test_a_recorded_refusal_of_a_prompt_that_is_too_long():
    error, _ = failing("llamacpp", [recorded("err_ctx_overflow_native.json")])
    assert (error.kind, error.limit, error.used) == ("context_overflow", 8192, 9001)


FLAGS = [("stopped_limit", "length"), ("stopped_word", "stop"), ("stopped_eos", "stop"), ("x", "unknown")]


@pytest.mark.parametrize(("flag", "finish"), FLAGS)
def test_older_versions_say_why_in_flags(flag, finish):
    with FakeServer([answer(200, {"content": "a", "stop": True, flag: True})]) as server:
        assert LlamaCppEndpoint(server.url, template="plain", stream=False).complete(HELLO).finish_reason == finish


def test_a_stream_that_is_closed_early_has_the_servers_counts():
    with FakeServer([recorded("native_completion_stream.txt")]) as server:
        got = LlamaCppEndpoint(server.url, template="plain").complete(HELLO, Request(closed=lambda piece: "by" in piece))
    assert (got.text, got.usage, got.closed_early) == ("-by", Usage(1, 2), True)


def test_what_its_other_routes_tell():
    look_ups = {
        "/props": answer(200, {"default_generation_settings": {"n_ctx": 4096}}), "/tokenize": answer(200, {"tokens": [1, 2]}),
        "/apply-template": answer(200, {"prompt": "<P>"}), "/v1/models": answer(200, {"data": [{"id": "m.gguf"}]}),
    }  # fmt: skip
    for base in ("", "/completion", "/v1", "/v1/completions"):
        with FakeServer([], look_ups) as server:
            made = LlamaCppEndpoint(server.url + base)
            assert (made.context_window, made.count_tokens(HELLO), made.model_names()) == (4096, 2, ["m.gguf"])
        assert json.loads(server.looked_up[-2].body) == {"content": "<P>", "add_special": True, "parse_special": True}
