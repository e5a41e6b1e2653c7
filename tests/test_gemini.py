"""Gemini: what it sends, thoughts, blocked prompts, streams in both framings."""

import json

import pytest
from fake_server import FakeServer, answer
from families import HELLO, SPOKEN, ask, failing

from react_agent.endpoints.base import Request
from react_agent.endpoints.gemini import GeminiEndpoint
from react_agent.types import Message, Usage

OK = SPOKEN["gemini"].whole(["ok"])


def test_a_request():
    history = [*HELLO, Message("assistant", "a"), Message("user", "b")]
    _, [seen] = ask("gemini", [OK], stream=False, messages=history, api_key="secret-key", stop=["END"], seed=3,
                    extra_body={"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}})  # fmt: skip
    assert (seen.path, seen.headers["x-goog-api-key"], seen.json) == ("/v1beta/models/m:generateContent", "secret-key", {
        "systemInstruction": {"parts": [{"text": "be brief"}]},
        "contents": [{"role": "user", "parts": [{"text": "hello"}]}, {"role": "model", "parts": [{"text": "a"}]},
                     {"role": "user", "parts": [{"text": "b"}]}],
        "generationConfig": {"maxOutputTokens": 512, "temperature": 0.0, "seed": 3, "stopSequences": ["END"],
                             "thinkingConfig": {"thinkingBudget": 0}},
    })  # fmt: skip


@pytest.mark.parametrize(("base", "model", "path"), [
    ("", "m", "/v1beta/models/m:generateContent"), ("/", "models/m", "/v1beta/models/m:generateContent"),
    ("/v1", "m", "/v1/models/m:generateContent"), ("/v1beta/models/x:generateContent", "m", "/v1beta/models/m:generateContent"),
    ("/v1/projects/p/locations/l/publishers/google", "m", "/v1/projects/p/locations/l/publishers/google/models/m:generateContent"),
    ("", "tunedModels/t", "/v1beta/tunedModels/t:generateContent"), ("", "a b", "/v1beta/models/a%20b:generateContent"),
])  # fmt: skip
def test_urls(base, model, path):
    with FakeServer([OK]) as server:
        GeminiEndpoint(server.url + base, model, stream=False).complete(HELLO)
    assert server.requests[0].path == path


@pytest.mark.parametrize(("reason", "finish"), [
    ("STOP", "stop"), ("MAX_TOKENS", "length"), ("CONTINUATION", "length"), ("SAFETY", "content_filter"), ("RECITATION", "content_filter"),
    ("PROHIBITED_CONTENT", "content_filter"), ("OTHER", "unknown"), ("LANGUAGE", "unknown"),
])  # fmt: skip
def test_reasons(reason, finish):
    for streamed, said in ((False, SPOKEN["gemini"].whole(["a"], reason)), (True, SPOKEN["gemini"].stream(["a"], reason))):
        assert ask("gemini", [said], stream=streamed)[0].finish_reason == finish


def test_all_tokens_may_be_spent_on_thinking():
    """content is absent then; the loop asks for more tokens, not for another format."""
    told = {"promptTokenCount": 9, "thoughtsTokenCount": 500, "totalTokenCount": 509}
    said = {"candidates": [{"finishReason": "MAX_TOKENS"}], "usageMetadata": told}
    completion, _ = ask("gemini", [answer(200, said)])
    assert (completion.text, completion.finish_reason, completion.usage) == ("", "length", Usage(9, 500, None, 500))


@pytest.mark.parametrize("body", [
    {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 9}},
    {"promptFeedback": {"blockReason": "OTHER"}, "candidates": []},
])  # fmt: skip
def test_a_blocked_prompt(body):
    for streamed in (True, False):
        said = answer(200, b"data: " + json.dumps(body).encode() + b"\r\n\r\n" if streamed else body)
        error, seen = failing("gemini", [said], stream=streamed)
        assert (error.kind, body["promptFeedback"]["blockReason"] in error.message, len(seen)) == ("content_filter", True, 1)


def test_a_stream_that_comes_as_a_json_array():
    """What the API sends without alt=sse, when a proxy has dropped it."""
    pieces = [{"candidates": [{"content": {"parts": [{"text": text}]}}]} for text in ("a", "b")]
    pieces.append({"candidates": [{"finishReason": "STOP"}]})
    completion, _ = ask("gemini", [answer(200, json.dumps(pieces, indent=1))])
    assert (completion.text, completion.finish_reason) == ("ab", "stop")


def test_counts_so_far_are_used_when_a_stream_is_closed_early():
    pieces = b"".join(
        b"data: " + json.dumps({"candidates": [{"content": {"parts": [{"text": text}]}}], "usageMetadata": told}).encode() + b"\r\n\r\n"
        for text, told in (("a", {"promptTokenCount": 9, "candidatesTokenCount": 4, "totalTokenCount": 13}), ("b", {}))
    )
    completion, _ = ask("gemini", [answer(200, pieces)], Request(closed=lambda piece: True))
    assert (completion.text, completion.usage) == ("a", Usage(9, 4))


def test_a_native_function_call_becomes_text():
    part = {"functionCall": {"name": "calculator", "args": {"expression": "2+2"}}}
    completion, _ = ask("gemini", [answer(200, {"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]})])
    assert json.loads(completion.text) == {"action": "calculator", "action_input": {"expression": "2+2"}}


def test_a_nested_parameter_that_is_refused_is_dropped():
    words = "Invalid JSON payload received. Unknown name \"seed\" at 'generation_config': Cannot find field."
    refused = answer(400, {"error": {"code": 400, "message": words, "status": "INVALID_ARGUMENT"}})
    completion, seen = ask("gemini", [refused, OK], seed=3)
    assert [one.json["generationConfig"].get("seed") for one in seen] == [3, None]
    assert completion.notes[0].startswith("parameter 'seed' dropped")


def test_what_other_routes_tell():
    look_ups = {"/v1beta/models/m": answer(200, {"inputTokenLimit": 1048576}),
                "/v1beta/models": answer(200, {"models": [{"name": "models/gemini-x"}, {"name": "models/gemini-y"}]})}  # fmt: skip
    with FakeServer([], look_ups) as server:
        made = GeminiEndpoint(server.url, "m")
        assert (made.context_window, made.model_names()) == (1048576, ["gemini-x", "gemini-y"])
