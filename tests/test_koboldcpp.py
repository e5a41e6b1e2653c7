"""KoboldCpp: what it sends, its streams, its counts, what its other routes tell."""

import json

import pytest
from fake_server import Answer, FakeServer, answer, stream
from families import HELLO, SPOKEN, ask, failing

from react_agent.endpoints.koboldcpp import KoboldEndpoint
from react_agent.types import Usage

OK = SPOKEN["kobold"].whole(["ok"])


def test_a_request():
    _, [seen] = ask("kobold", [OK], stream=False, seed=3, stop=["END"], template="alpaca")
    assert seen.json == {
        "prompt": "be brief\n\n### Instruction:\nhello\n\n### Response:\n", "max_length": 512, "temperature": 0.0, "top_k": 1,
        "sampler_seed": 3, "stop_sequence": ["END", "\n### Instruction:", "\n### Response:", "\n### Input:"],
    }  # fmt: skip
    assert "top_k" not in ask("kobold", [OK], temperature=0.7)[1][0].json


def test_a_stream_whose_last_bytes_are_done_without_a_line_end():
    body = b'event: message\ndata: {"token": "a", "finish_reason": "null"}\n\nevent: message\ndata: {"token": "b"}\n\ndata: [DONE]'
    completion, _ = ask("kobold", [stream(body, framing="close")])
    assert (completion.text, completion.finish_reason) == ("ab", "unknown")


@pytest.mark.parametrize(("reason", "finish"), [("stop", "stop"), ("length", "length"), ("", "unknown"), (None, "unknown")])
def test_reasons(reason, finish):
    assert ask("kobold", [answer(200, {"results": [{"text": "a", "finish_reason": reason}]})], stream=False)[0].finish_reason == finish


def test_constant_counts_are_not_believed():
    said = {"results": [{"text": "a word", "finish_reason": "stop", "prompt_tokens": 100, "completion_tokens": 100}]}
    completion, _ = ask("kobold", [answer(200, said)], stream=False)
    assert completion.usage.estimated
    assert completion.usage.output_tokens < 10
    said["results"][0] |= {"prompt_tokens": 101, "completion_tokens": 3}
    assert ask("kobold", [answer(200, said)], stream=False)[0].usage == Usage(101, 3)


def test_its_errors_are_in_detail():
    busy = answer(503, {"detail": {"msg": "Server is busy; please try again later.", "type": "service_unavailable"}})
    assert ask("kobold", [busy, OK])[0].text == "ok"
    refused = answer(401, {"detail": {"error": "Unauthorized", "msg": "Authentication key is missing or invalid.", "type": "unauthorized"}})
    error, _ = failing("kobold", [refused])
    assert (error.kind, "missing or invalid" in error.message) == ("auth", True)


def test_what_its_other_routes_tell():
    look_ups = {
        "/api/extra/true_max_context_length": answer(200, {"value": 4096}), "/api/v1/model": answer(200, {"result": "koboldcpp/qwen2.5"}),
        "/api/extra/tokencount": answer(200, {"value": 12, "ids": []}),
        "/props": answer(200, {"chat_template": "<|im_start|>", "default_generation_settings": {"n_ctx": 2048}}),
    }  # fmt: skip
    for base in ("", "/api", "/api/v1/generate", "/v1"):
        with FakeServer([Answer(200, {}, OK.pieces)], look_ups) as server:
            made = KoboldEndpoint(server.url + base)
            completion = made.complete(HELLO)
            assert (made.context_window, made.model_names(), made.count_tokens(HELLO)) == (4096, ["koboldcpp/qwen2.5"], 12)
        assert server.requests[0].json["prompt"].startswith("<|im_start|>system\nbe brief")
        assert completion.notes == ("prompt template chatml: the server's chat template looks like it",)
    with FakeServer([], {"/props": look_ups["/props"]}) as server:
        assert KoboldEndpoint(server.url).context_window == 2048


def test_a_reply_without_results():
    assert failing("kobold", [answer(200, json.dumps({"results": "x"}))], stream=False)[0].kind == "bad_response"
