"""The chat endpoint: what it sends, and what it makes of what comes back."""

import json
from pathlib import Path

import pytest
from chat_calls import HELLO, OK, ask, failing, http_answers
from fake_server import DONE, FakeServer, answer, chat, chunk, stream, streamed_text

from react_agent.endpoints.base import Request
from react_agent.endpoints.chat import ChatEndpoint
from react_agent.errors import ConfigError
from react_agent.types import Completion, Message, Usage

DATA = Path(__file__).parent / "data"


# what is sent


def test_a_request_holds_no_more_than_it_must():
    completion, [seen] = ask([OK], stream=False)
    assert (seen.path, seen.json) == ("/v1/chat/completions", {
        "model": "m", "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}],
        "max_tokens": 512, "temperature": 0.0,
    })  # fmt: skip
    assert "authorization" not in seen.headers
    assert completion.text == '{"final_answer":"ok"}'


def test_settings_are_sent_under_their_names():
    _, [seen] = ask([streamed_text("x")], Request(max_output_tokens=9), api_key="secret-key", temperature=None, seed=7, stop=["END"],
                    extra_body={"top_k": 5}, headers={"X-A": "b"})  # fmt: skip
    assert seen.json == {
        "model": "m", "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}], "max_tokens": 9,
        "seed": 7, "stop": ["END"], "stream": True, "stream_options": {"include_usage": True}, "timings_per_token": True, "top_k": 5,
    }  # fmt: skip
    assert (seen.headers["authorization"], seen.headers["x-a"], seen.headers["accept-encoding"]) == ("Bearer secret-key", "b", "identity")


@pytest.mark.parametrize(("base", "path"), [
    ("", "/v1/chat/completions"), ("/", "/v1/chat/completions"), ("/v1", "/v1/chat/completions"), ("/v1/", "/v1/chat/completions"),
    ("/v1/chat/completions", "/v1/chat/completions"), ("/api/v1", "/api/v1/chat/completions"), ("/chat/completions", "/chat/completions"),
    ("/openai/deployments/d?api-version=2024-10-21", "/openai/deployments/d/chat/completions?api-version=2024-10-21"),
    ("/openai/deployments/d/chat/completions?api-version=1", "/openai/deployments/d/chat/completions?api-version=1"),
])  # fmt: skip
def test_base_urls(base, path):
    with FakeServer([OK]) as server:
        ChatEndpoint(server.url + base).complete(HELLO)
    assert server.requests[0].path == path


def test_a_key_may_go_into_a_header_of_its_own():
    _, [seen] = ask([OK], api_key="secret-key", key_header="api-key")
    assert seen.headers["api-key"] == "secret-key"
    assert "authorization" not in seen.headers


def test_a_user_and_password_in_the_url_become_a_header():
    with FakeServer([OK]) as server:
        made = ChatEndpoint(server.url.replace("//", "//me:pass%20word@"))
        made.complete(HELLO)
    assert server.requests[0].headers["authorization"] == "Basic bWU6cGFzcyB3b3Jk"
    assert "pass" not in json.dumps(made.describe()) + repr(made)


def test_half_a_surrogate_pair_is_replaced():
    _, [seen] = ask([OK], messages=[Message("user", "a\ud83d b \U0001f600")])
    assert seen.json["messages"][0]["content"] == "a\ufffd b \U0001f600"


@pytest.mark.parametrize(("url", "settings"), [
    ("localhost:8080", {}), ("ftp://host", {}), ("http://", {}), ("http://host:port", {}), ("http://ho st", {}),
    ("http://h", {"stop": [""]}), ("http://h", {"stop": list("abcde")}), ("http://h", {"temperature": float("nan")}),
    ("http://h", {"temperature": -1}), ("http://h", {"max_output_tokens": 0}), ("http://h", {"timeout_s": 0}),
    ("http://h", {"connect_timeout_s": float("inf")}), ("http://h", {"extra_body": {"messages": []}}),
    ("http://h", {"extra_body": {"top_p": float("inf")}}), ("http://h", {"extra_body": {"x": object()}}),
    ("http://h", {"headers": {"a b": "c"}}), ("http://h", {"headers": {"a": "b\r\nc: d"}}), ("http://h", {"max_retries": -1}),
])  # fmt: skip
def test_settings_that_cannot_be(url, settings):
    with pytest.raises(ConfigError):
        ChatEndpoint(url, **settings)


def test_a_key_that_cannot_be_a_header_is_refused_unseen():
    with pytest.raises(ConfigError) as caught:
        ChatEndpoint("https://example.com", api_key="schlüssel-geheim")
    assert "geheim" not in str(caught.value)


# what comes back


USAGE = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25, "prompt_tokens_details": {"cached_tokens": 12},
         "completion_tokens_details": {"reasoning_tokens": 2}}  # fmt: skip


def shape(completion):
    return completion.text, completion.finish_reason, completion.reasoning, completion.refusal


REPLIES = [
    ("text", {"content": "hi"}, "stop", ("hi", "stop", "", "")),
    ("parts", {"content": [{"type": "text", "text": "a"}, "b", {"type": "image"}]}, "stop", ("ab", "stop", "", "")),
    ("null", {"content": None}, "stop", ("", "stop", "", "")),
    ("refusal", {"content": None, "refusal": "I will not"}, "stop", ("", "stop", "", "I will not")),
    ("content as an object", {"content": {"text": "a"}}, "stop", ("a", "stop", "", "")),
    ("content as a number", {"content": 3}, "stop", ("", "stop", "", "")),
    ("only thoughts", {"content": None, "reasoning_content": "hm"}, "length", ("", "length", "hm", "")),
    ("reasoning under its other name", {"content": "a", "reasoning": "hm"}, "stop", ("a", "stop", "hm", "")),
    ("reasoning as a part",
     {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "a"}]},
     "stop", ("a", "stop", "hm", "")),
    ("cut", {"content": "a"}, "length", ("a", "length", "", "")),
    ("cut, as a gateway says it", {"content": "a"}, "MAX_TOKENS", ("a", "length", "", "")),
    ("filtered", {}, "content_filter", ("", "content_filter", "", "")),
    ("TGI at a stop word", {"content": "a"}, "stop_sequence", ("a", "stop", "", "")),
    ("no reason", {"content": "a"}, None, ("a", "unknown", "", "")),
    ("a reason nobody knows", {"content": "a"}, "banana", ("a", "unknown", "", "")),
]  # fmt: skip


@pytest.mark.parametrize(("message", "finish", "expected"), [case[1:] for case in REPLIES], ids=[case[0] for case in REPLIES])
def test_whole_replies(message, finish, expected):
    completion, _ = ask([answer(200, {"choices": [{"message": message, "finish_reason": finish}]})], stream=False)
    assert shape(completion) == expected


@pytest.mark.parametrize(("message", "finish", "expected"), [case[1:] for case in REPLIES], ids=[case[0] for case in REPLIES])
def test_streamed_replies_are_the_same(message, finish, expected):
    pieces = [{"choices": [{"delta": message, "finish_reason": None}]}, chunk(finish=finish), DONE]
    completion, _ = ask([stream({"choices": [{"delta": {"role": "assistant", "content": None}}]}, *pieces)])
    assert shape(completion) == expected


def test_a_text_field_in_place_of_a_message():
    completion, _ = ask([answer(200, {"choices": [{"text": "hi", "finish_reason": "stop"}]})])
    assert completion.text == "hi"


def test_usage_of_a_whole_reply_and_of_a_stream():
    whole, _ = ask([chat("hi", usage=USAGE, model="m-1")], stream=False)
    streamed, _ = ask([stream(chunk("hi"), chunk(finish="stop"), {"choices": [], "usage": USAGE, "model": "m-1"}, DONE)])
    assert whole.usage == streamed.usage == Usage(20, 5, 12, 2)
    assert whole.model == streamed.model == "m-1"


SANE = [
    ("strings", {"prompt_tokens": "20", "completion_tokens": "5"}, Usage(20, 5)),
    ("floats", {"prompt_tokens": 20.0, "completion_tokens": 5.0, "total_tokens": 25.0}, Usage(20, 5)),
    ("a total and one part", {"prompt_tokens": 20, "total_tokens": 25}, Usage(20, 5)),
    ("DeepSeek's name for cached", {"prompt_tokens": 20, "completion_tokens": 5, "prompt_cache_hit_tokens": 8}, Usage(20, 5, 8)),
]  # fmt: skip
INSANE = [
    None, {}, {"prompt_tokens": -1, "completion_tokens": 5}, {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 3},
    {"prompt_tokens": 100, "completion_tokens": 100, "total_tokens": 200}, {"prompt_tokens": True, "completion_tokens": 5},
    {"prompt_tokens": 0, "completion_tokens": 0}, {"prompt_tokens": [20], "completion_tokens": 5}, "20", {"prompt_tokens": 1e99}, 5,
]  # fmt: skip


@pytest.mark.parametrize(("usage", "expected"), [case[1:] for case in SANE], ids=[case[0] for case in SANE])
def test_usage_in_odd_forms(usage, expected):
    assert ask([chat("hi", usage=usage)], stream=False)[0].usage == expected


@pytest.mark.parametrize("usage", INSANE, ids=str)
def test_usage_that_cannot_be_is_estimated_and_marked(usage):
    got = ask([chat("a word or two", usage=usage)], stream=False)[0].usage
    assert got.estimated
    assert got.input_tokens > 0
    assert got.output_tokens > 0


def test_a_model_that_is_a_path_shows_its_name_only():
    assert ask([chat("hi", model="/home/someone/models/m.gguf")])[0].model == "m.gguf"
    assert ask([chat("hi", model=r"C:\Users\someone\m.gguf")])[0].model == "m.gguf"
    assert ask([chat("hi", model="org/model-7b")])[0].model == "org/model-7b"


def test_a_cut_that_is_not_reported():
    usage = {"prompt_tokens": 20, "completion_tokens": 8}
    completion, _ = ask([chat("a b c d e f g h", usage=usage)], Request(max_output_tokens=8))
    assert completion.finish_reason == "length"
    assert completion.notes == ("cut_not_reported: the server says 'stop', but wrote all of the 8 tokens it could",)


def test_a_native_tool_call_becomes_the_text_that_was_asked_for():
    call = {"type": "function", "function": {"name": "calculator", "arguments": '{"expression": "2+2"}'}}
    body = {"choices": [{"message": {"content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"}]}
    whole, _ = ask([answer(200, body)])
    pieces = [{"index": 0, "function": {"name": "calculator", "arguments": ""}}, {"index": 0, "function": {"arguments": '{"expression"'}},
              {"index": 0, "function": {"arguments": ': "2+2"}'}}]  # fmt: skip
    streamed, _ = ask([stream(*({"choices": [{"delta": {"tool_calls": [piece]}}]} for piece in pieces), chunk(finish="tool_calls"), DONE)])
    assert json.loads(whole.text) == json.loads(streamed.text) == {"action": "calculator", "action_input": {"expression": "2+2"}}
    assert whole.notes[0].startswith("tool_call_field: ")


def test_a_native_tool_call_that_was_cut_stays_cut():
    call = {"function": {"name": "calculator", "arguments": '{"expression": "2+'}}
    completion, _ = ask([answer(200, {"choices": [{"message": {"content": "", "tool_calls": [call]}, "finish_reason": "length"}]})])
    assert (completion.text, completion.finish_reason) == ('{"action": "calculator", "action_input": {"expression": "2+', "length")


# recorded replies of a real server


def recorded(name):
    raw = (DATA / "llamacpp" / name).read_bytes()
    return b"".join(line for line in raw.splitlines(keepends=True) if not line.startswith(b"#"))


def test_recorded_whole_reply():
    body = json.loads(recorded("chat_ok.json"))["body"]
    completion, _ = ask([answer(200, body)], stream=False)
    assert completion == Completion("Hello there! I'm here", "length", Usage(33, 6, 5), model="smollm2.gguf", seconds=completion.seconds)


def test_recorded_streams():
    plain, _ = ask([stream(recorded("chat_stream.txt"))])
    assert (plain.text, plain.finish_reason, plain.usage) == ("Hello there! I'm", "length", Usage(33, 5, 24))
    with_usage, _ = ask([stream(recorded("chat_stream_usage.txt"))])
    assert (with_usage.text, with_usage.finish_reason, with_usage.usage) == ("Hello there!", "length", Usage(33, 3, 32))
    schema, _ = ask([stream(recorded("rf_json_schema_stream.txt"))])
    assert set(json.loads(schema.text)) >= {"thought", "action"}


# bugs of others, made again from public reports


BUGS = {row["id"]: row for row in map(json.loads, (DATA / "bugs.jsonl").read_text("utf-8").splitlines()) if row["http"]}
BUG_RESULTS = {
    "B10": ("", "length"), "B11": ('{"thought":"aaaa', "length"), "B12": ('{"final_answer":"ok"}', "length"),
    "B17": ('{"final_answer":"x"}', "stop"), "B19a": ("hi", "stop"), "B19b": ("hi", "stop"), "B19c": ("hi", "stop"), "B19d": ("hi", "stop"),
    "B19e": ("hi", "stop"), "B20": ('{"final_answer":"ok"}', "stop"), "B21": ('{"final_answer":"ok"}', "stop"),
    "B18": "context_overflow", "B17b": "context_overflow",
}  # fmt: skip


@pytest.mark.parametrize("name", BUGS)
def test_bugs_of_others(name):
    expected = BUG_RESULTS[name]
    if isinstance(expected, str):
        error, seen = failing(http_answers(BUGS[name]["http"]))
        assert (error.kind, len(seen)) == (expected, 1)
    else:
        completion, _ = ask(http_answers(BUGS[name]["http"]), stop=["END"])
        assert (completion.text, completion.finish_reason) == expected
