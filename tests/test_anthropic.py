"""Anthropic's messages, from Anthropic and from llama.cpp."""

import json

import pytest
from fake_server import FakeServer, answer, stream
from families import HELLO, SPOKEN, ask, failing, recorded

from react_agent.endpoints.anthropic import AnthropicEndpoint
from react_agent.endpoints.base import Request
from react_agent.types import Message, Usage

OK = SPOKEN["anthropic"].whole(["ok"])


def test_a_request():
    _, [seen] = ask("anthropic", [OK], stream=False, api_key="secret-key", stop=["END"], extra_body={"metadata": {"user_id": "u"}})
    assert seen.json == {
        "model": "m", "system": "be brief", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 512, "stream": False,
        "stop_sequences": ["END"], "metadata": {"user_id": "u"},
    }  # fmt: skip
    assert (seen.headers["x-api-key"], seen.headers["anthropic-version"]) == ("secret-key", "2023-06-01")
    assert "authorization" not in seen.headers


def test_turns_are_in_order_and_never_empty():
    history = [Message("system", "S"), Message("assistant", "a"), Message("system", "T"), Message("user", "b"), Message("user", " ")]
    _, [seen] = ask("anthropic", [OK], messages=history)
    assert seen.json["system"] == "S\n\nT"
    assert [(turn["role"], turn["content"]) for turn in seen.json["messages"]] == [("user", "(empty)"), ("assistant", "a"), ("user", "b")]
    _, [seen] = ask("anthropic", [OK], messages=[Message("user", "b")])
    assert "system" not in seen.json


def test_the_temperature_is_sent_when_it_is_given_and_dropped_when_it_is_refused():
    words = "`temperature` is deprecated for this model."
    refused = answer(400, {"type": "error", "error": {"type": "invalid_request_error", "message": words}})
    assert "temperature" not in ask("anthropic", [OK])[1][0].json
    completion, seen = ask("anthropic", [refused, OK], temperature=0)
    assert [one.json.get("temperature") for one in seen] == [0, None]
    assert completion.notes[0].startswith("parameter 'temperature' dropped")


@pytest.mark.parametrize(("reason", "finish"), [
    ("end_turn", "stop"), ("stop_sequence", "stop"), ("tool_use", "stop"), ("max_tokens", "length"), ("pause_turn", "length"),
    ("model_context_window_exceeded", "length"), ("refusal", "content_filter"), ("something_new", "unknown"),
])  # fmt: skip
def test_reasons(reason, finish):
    for streamed, said in ((False, SPOKEN["anthropic"].whole(["a"], reason)), (True, SPOKEN["anthropic"].stream(["a"], reason))):
        assert ask("anthropic", [said], stream=streamed)[0].finish_reason == finish


def test_a_refusal_says_why():
    said = {"type": "message", "content": [], "stop_reason": "refusal", "stop_details": {"category": "cyber", "explanation": "not this"}}
    completion, _ = ask("anthropic", [answer(200, said)])
    assert (completion.text, completion.refusal, completion.finish_reason) == ("", "not this", "content_filter")
    delta = {"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": {"category": "cyber"}}}
    assert ask("anthropic", [stream(delta, {"type": "message_stop"})])[0].refusal == "cyber"


def test_an_error_event_in_a_stream_that_has_begun():
    broken = stream({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "par"}},
                    b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n')  # fmt: skip
    error, seen = failing("anthropic", [broken, broken], max_retries=1)
    assert (error.kind, "Overloaded" in error.message, error.partial, len(seen)) == ("server_error", True, "par", 2)


def test_a_native_tool_call_becomes_text():
    block = {"type": "tool_use", "id": "t", "name": "calculator", "input": {"expression": "2+2"}}
    whole = answer(200, {"type": "message", "content": [block], "stop_reason": "tool_use"})
    streamed = stream(
        {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "name": "calculator", "input": {}}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"expression":'}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": ' "2+2"}'}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}, {"type": "message_stop"},
    )  # fmt: skip
    for answers in ([whole], [streamed]):
        assert json.loads(ask("anthropic", answers)[0].text) == {"action": "calculator", "action_input": {"expression": "2+2"}}


def test_a_stream_that_is_closed_early_knows_its_prompt_only():
    completion, _ = ask("anthropic", [SPOKEN["anthropic"].stream(["ab", "cd"])], Request(closed=lambda piece: True))
    assert (completion.text, completion.usage.input_tokens, completion.usage.estimated) == ("ab", 21, True)


@pytest.mark.parametrize(("name", "text", "finish", "usage"), [
    ("anthropic_messages.json", "Hi! How can", "length", Usage(19, 4, 0)),
    ("anthropic_messages_stream.txt", "I'm glad", "length", Usage(33, 3, 32)),
    ("anthropic_stop.json", "1. This is ", "stop", Usage(38, 5, 24)),
])  # fmt: skip
def test_recorded_replies_of_llamacpp(name, text, finish, usage):
    completion, _ = ask("anthropic", [recorded(name)])
    assert (completion.text, completion.finish_reason, completion.usage, completion.model) == (text, finish, usage, "smollm2.gguf")


def test_recorded_errors_of_llamacpp_have_their_own_shape():
    error, _ = failing("anthropic", [recorded("err_ctx_overflow_anthropic.json")])
    assert (error.kind, error.limit, error.used) == ("context_overflow", 8192, 9031)
    error, seen = failing("anthropic", [recorded("anthropic_no_messages.json")])
    assert (error.kind, error.status, len(seen)) == ("bad_request", 500, 1)


def test_what_other_routes_tell():
    look_ups = {"/props": answer(200, {"default_generation_settings": {"n_ctx": 4096}}),
                "/v1/messages/count_tokens": answer(200, {"input_tokens": 33}),
                "/v1/models": answer(200, {"data": [{"id": "a"}]})}  # fmt: skip
    with FakeServer([], look_ups) as server:
        made = AnthropicEndpoint(server.url, "m")
        assert (made.context_window, made.count_tokens(HELLO), made.model_names()) == (4096, 33, ["a"])
    assert server.looked_up[1].json == {"model": "m", "system": "be brief", "messages": [{"role": "user", "content": "hello"}]}


def test_urls():
    for base, path in (("", "/v1/messages"), ("/v1", "/v1/messages"), ("/v1/messages", "/v1/messages"), ("/gw", "/gw/v1/messages")):
        with FakeServer([OK]) as server:
            AnthropicEndpoint(server.url + base, "m").complete(HELLO)
        assert server.requests[0].path == path
