"""Ollama: what it sends, the window it asks for, thinking, its ways to end and to fail."""

import json

import pytest
from fake_server import Answer, FakeServer, answer
from families import HELLO, ask, failing

from react_agent.endpoints.ollama import OllamaEndpoint
from react_agent.types import Message, Usage


def lines(*objects):
    return Answer(200, {"Content-Type": "application/x-ndjson"}, [json.dumps(one).encode() + b"\n" for one in objects], "chunked")


def said(content, **more):
    return {"model": "m", "message": {"role": "assistant", "content": content}, "done": False, **more}


END = said("", done=True, done_reason="stop", prompt_eval_count=30, eval_count=4)
SHOWN = {"parameters": "stop                           \"<|im_end|>\"\nnum_ctx                        16384\n",
         "model_info": {"general.architecture": "qwen2", "qwen2.context_length": 32768}}  # fmt: skip


def test_a_chat_request():
    _, [seen] = ask("ollama", [lines(said("ok"), END)], seed=3, stop=["END"], think="low", context_window=2048,
                    extra_body={"options": {"top_k": 5}, "keep_alive": "1h"})  # fmt: skip
    assert (seen.path, seen.json) == ("/api/chat", {
        "model": "m", "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}], "stream": True,
        "options": {"num_predict": 512, "num_ctx": 2048, "temperature": 0.0, "seed": 3, "stop": ["END"], "top_k": 5},
        "think": "low", "keep_alive": "1h",
    })  # fmt: skip


def test_a_request_with_a_prompt_made_here():
    generated = answer(200, {"response": "ok", "done": True, "done_reason": "stop"})
    _, [seen] = ask("ollama generate", [generated], stream=False, context_window=2048)
    assert (seen.path, seen.json) == ("/api/generate", {
        "model": "m", "stream": False, "raw": True,
        "prompt": "<|im_start|>system\nbe brief<|im_end|>\n<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n",
        "options": {"num_predict": 512, "num_ctx": 2048, "temperature": 0.0, "stop": ["<|im_end|>", "<|im_start|>"]},
    })  # fmt: skip


@pytest.mark.parametrize(("show", "loaded", "window"), [
    (SHOWN, [], 16384),
    ({"model_info": {"qwen2.context_length": 32768}}, [], 8192),
    ({"model_info": {"tiny.context_length": 2048}}, [], 2048),
    ({"model_info": {"qwen2.context_length": 32768}}, [{"name": "m", "context_length": 12000}], 12000),
    ({"model_info": {"qwen2.context_length": 32768}}, [{"name": "m", "context_length": 4096}], 8192),
    ({"model_info": {"qwen2.context_length": 32768}}, [{"name": "other", "context_length": 12000}], 8192),
    ({}, [{"name": "m"}, 3], 8192),
])  # fmt: skip
def test_the_window_that_is_asked_for(show, loaded, window):
    look_ups = {"/api/show": answer(200, show), "/api/ps": answer(200, {"models": loaded})}
    with FakeServer([lines(said("ok"), END)], look_ups) as server:
        made = OllamaEndpoint(server.url, "m")
        made.complete(HELLO)
        assert made.context_window == server.requests[0].json["options"]["num_ctx"] == window


def test_a_model_without_a_tag_is_the_latest_one():
    look_ups = {"/api/show": answer(200, {}), "/api/ps": answer(200, {"models": [{"name": "m:latest", "context_length": 9000}]})}
    with FakeServer([], look_ups) as server:
        assert OllamaEndpoint(server.url, "m").context_window == 9000


def test_auto_takes_the_template_that_its_own_looks_like():
    look_ups = {"/api/show": answer(200, {"template": "{{ if .System }}<|start_header_id|>system<|end_header_id|>"})}
    with FakeServer([answer(200, {"response": "ok", "done": True})], look_ups) as server:
        completion = OllamaEndpoint(server.url, "my-model", template="auto").complete(HELLO)
    assert server.requests[0].json["prompt"].startswith("<|start_header_id|>system")
    assert completion.notes == ("prompt template llama3: the server's chat template looks like it",)


def test_thinking_is_kept_apart_and_counts_may_be_missing():
    thinking = {"model": "m", "message": {"role": "assistant", "content": "", "thinking": "hm"}, "done": False}
    end = said("", done=True, done_reason="stop")
    completion, _ = ask("ollama", [lines(thinking, said("ok"), end)])
    assert (completion.text, completion.reasoning, completion.usage.estimated) == ("ok", "hm", True)


def test_a_model_that_cannot_think_is_asked_without():
    refused = answer(400, {"error": '"m" does not support thinking'})
    completion, seen = ask("ollama", [refused, lines(said("ok"), END)], think=True)
    assert ["think" in one.json for one in seen] == [True, False]
    assert completion.usage == Usage(30, 4)


def test_a_last_line_that_is_not_done_is_a_broken_stream():
    completion, seen = ask("ollama", [lines(said("par"), said("t")), lines(said("whole"), END)])
    assert (completion.text, len(seen)) == ("whole", 2)
    assert completion.notes[0].startswith("stream_ended_early")


REASONS = [("stop", "stop"), ("length", "length"), ("load", "stop"), ("", "unknown"), (None, "unknown")]


@pytest.mark.parametrize(("reason", "finish"), REASONS)
def test_reasons(reason, finish):
    completion, _ = ask("ollama", [lines(said("ok"), said("", done=True, done_reason=reason))])
    assert completion.finish_reason == finish


def test_a_prompt_that_it_cut_silently_is_noticed():
    end = said("", done=True, done_reason="stop", prompt_eval_count=100, eval_count=4)
    completion, _ = ask("ollama", [lines(said("ok"), end)], messages=[Message("user", "word " * 4000)])
    assert completion.notes[0].startswith("silent_truncation_suspected")


def test_a_native_tool_call_becomes_text():
    call = {"function": {"name": "calculator", "arguments": {"expression": "2+2"}}}
    whole = {"message": {"content": "", "tool_calls": [call]}, "done": True, "done_reason": "stop"}
    completion, _ = ask("ollama", [answer(200, whole)], stream=False)
    assert json.loads(completion.text) == {"action": "calculator", "action_input": {"expression": "2+2"}}


def test_a_model_that_is_not_there_names_those_that_are():
    look_ups = {"/api/show": answer(404), "/api/tags": answer(200, {"models": [{"name": "qwen2.5:1.5b"}, {"name": "llama3.2:1b"}]})}
    error, _ = failing("ollama", [answer(404, {"error": "model 'qwen2.5:2b' not found"})], look_ups=look_ups, model="qwen2.5:2b")
    assert (error.kind, "qwen2.5:1.5b, llama3.2:1b" in error.hint) == ("not_found", True)


def test_urls():
    for base in ("", "/api", "/api/chat", "/v1"):
        with FakeServer([lines(said("ok"), END)], {"/api/show": answer(404)}) as server:
            OllamaEndpoint(server.url + base, "m").complete(HELLO)
        assert server.requests[0].path == "/api/chat"


def test_what_goes_into_a_trace():
    made = OllamaEndpoint("http://127.0.0.1:1", "m", think=False)
    assert (made.describe()["think"], made.describe()["template"]) == (False, "")
    assert OllamaEndpoint("http://127.0.0.1:1", "m", template="auto").describe()["template"] == "auto"
