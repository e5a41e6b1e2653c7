"""/v1/completions: what it sends, where its prompt comes from, recorded replies."""

import json

from fake_server import Answer, FakeServer, answer
from families import HELLO, recorded

from react_agent.endpoints.base import Request
from react_agent.endpoints.completions import CompletionsEndpoint
from react_agent.types import Usage

OK = answer(200, {"choices": [{"text": " ok", "finish_reason": "stop"}]})


def test_a_request():
    with FakeServer([OK]) as server:
        made = CompletionsEndpoint(server.url, "m", stream=False, template="chatml", stop=["END"], seed=3)
        assert made.complete(HELLO).text == " ok"
    [seen] = server.requests
    assert (seen.path, seen.json) == ("/v1/completions", {
        "model": "m", "max_tokens": 512, "temperature": 0.0, "seed": 3, "stop": ["END", "<|im_end|>", "<|im_start|>"],
        "prompt": "<|im_start|>system\nbe brief<|im_end|>\n<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n",
    })  # fmt: skip


def test_no_more_than_four_stop_words_are_sent_and_all_are_cut_at():
    said = answer(200, {"choices": [{"text": "one <|im_end|> two", "finish_reason": "stop"}]})
    with FakeServer([said]) as server:
        completion = CompletionsEndpoint(server.url, "m", stream=False, template="chatml", stop=["a1", "b2", "c3", "d4"]).complete(HELLO)
    assert server.requests[0].json["stop"] == ["a1", "b2", "c3", "d4"]
    assert (completion.text, completion.finish_reason) == ("one ", "stop")


def test_urls():
    for base in ("", "/v1", "/v1/", "/v1/completions", "/v1/chat/completions"):
        with FakeServer([OK]) as server:
            CompletionsEndpoint(server.url + base, "m", template="plain").complete(HELLO)
        assert server.requests[0].path == "/v1/completions"


def test_recorded_replies():
    with FakeServer([recorded("v1_completions.json"), recorded("v1_completions_stream.txt")]) as server:
        whole = CompletionsEndpoint(server.url, stream=False, template="plain", max_output_tokens=4).complete(HELLO)
        streamed = CompletionsEndpoint(server.url, template="plain", max_output_tokens=3).complete(HELLO)
    assert (whole.text, whole.finish_reason, whole.usage, whole.model) == ("-by-date", "length", Usage(1, 4, 0), "smollm2.gguf")
    assert (streamed.text, streamed.finish_reason, streamed.usage) == ("-by-", "length", Usage(1, 3, 0))


def test_a_llamacpp_server_makes_the_prompt_with_its_own_template():
    applied = {"/apply-template": answer(200, {"prompt": "<PROMPT>"}), "/tokenize": answer(200, {"tokens": [1, 2, 3]})}
    with FakeServer([Answer(200, {"Server": "llama.cpp"}, OK.pieces)], applied) as server:
        made = CompletionsEndpoint(server.url, "m")
        completion = made.complete(HELLO)
        assert made.count_tokens(HELLO) == 3
    assert (server.requests[0].json["prompt"], completion.notes) == ("<PROMPT>", ())
    assert "stop" not in server.requests[0].json


def test_another_server_is_not_asked_for_a_prompt_twice():
    with FakeServer([OK, OK], {"/apply-template": answer(404)}) as server:
        made = CompletionsEndpoint(server.url, "qwen2.5-7b")
        first, second = made.complete(HELLO), made.complete(HELLO)
    assert [seen.path for seen in server.looked_up].count("/apply-template") == 1
    assert first.notes == ("prompt template chatml: models named like 'qwen2.5-7b' use it",)
    assert second.notes == ()
    assert made.describe()["template"] == "chatml"


def test_a_stream_of_a_llamacpp_server_that_is_closed_early_has_its_counts():
    piece = {"choices": [{"text": "ab", "finish_reason": None}], "timings": {"cache_n": 3, "prompt_n": 4, "predicted_n": 2}}
    with FakeServer([Answer(200, {}, [b"data: " + json.dumps(piece).encode() + b"\n\n"] * 2, "chunked")]) as server:
        completion = CompletionsEndpoint(server.url, "m", template="plain").complete(HELLO, Request(closed=lambda text: True))
    assert (completion.text, completion.usage) == ("ab", Usage(7, 2, 3))
    assert server.requests[0].json["timings_per_token"] is True
