"""TGI: what it sends, its details, its errors, its own template."""

import json

import pytest
from fake_server import Answer, FakeServer, answer
from families import HELLO, SPOKEN, ask, failing

from react_agent.endpoints.tgi import TgiEndpoint
from react_agent.types import Usage

OK = SPOKEN["tgi"].whole(["ok"])


def events(*objects):
    return Answer(200, {}, [b"data:" + json.dumps(one).encode() + b"\n\n" for one in objects], "chunked")


def test_a_request():
    _, [seen] = ask("tgi", [OK], stream=False, seed=3, stop=["END"], temperature=0.5, extra_body={"parameters": {"top_p": 0.9}})
    assert seen.json == {
        "inputs": "<|im_start|>system\nbe brief<|im_end|>\n<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n",
        "parameters": {"max_new_tokens": 512, "details": True, "return_full_text": False, "temperature": 0.5, "seed": 3,
                       "stop": ["END", "<|im_end|>", "<|im_start|>"], "top_p": 0.9},
    }  # fmt: skip


@pytest.mark.parametrize("temperature", [0, 0.0, None])
def test_a_temperature_of_0_is_refused_there_and_not_sent(temperature):
    assert "temperature" not in ask("tgi", [OK], temperature=temperature)[1][0].json["parameters"]


def test_the_last_event_repeats_the_whole_text():
    pieces = [{"token": {"text": text, "special": False}, "generated_text": None, "details": None} for text in ("a", "b")]
    details = {"finish_reason": "length", "generated_tokens": 3}
    last = {"token": {"text": "c", "special": False}, "generated_text": "abc", "details": details}
    completion, _ = ask("tgi", [events(*pieces, last)])
    assert (completion.text, completion.finish_reason, completion.usage.output_tokens) == ("abc", "length", 3)
    assert completion.usage.estimated


REASONS = [("eos_token", "stop"), ("stop_sequence", "stop"), ("length", "length"), ("other", "unknown")]


@pytest.mark.parametrize(("reason", "finish"), REASONS)
def test_reasons(reason, finish):
    for streamed, said in ((False, SPOKEN["tgi"].whole(["a"], reason)), (True, SPOKEN["tgi"].stream(["a"], reason))):
        assert ask("tgi", [said], stream=streamed)[0].finish_reason == finish


def test_counts_of_the_headers_and_a_list_around_the_reply():
    """As Hugging Face's hosted API wraps it; details may be missing."""
    said = answer(200, [{"generated_text": "ok"}], {"x-prompt-tokens": "21", "x-generated-tokens": "2"})
    completion, _ = ask("tgi", [said], stream=False)
    assert (completion.text, completion.usage, completion.finish_reason) == ("ok", Usage(21, 2), "unknown")


@pytest.mark.parametrize("error", [
    {"error": "Request failed during generation: Server error: CUDA out of memory", "error_type": "generation"},
    {"error": {"message": "Incomplete generation", "http_status_code": 500}},
])  # fmt: skip
def test_errors_inside_a_stream(error):
    begun = {"token": {"text": "par", "special": False}, "generated_text": None, "details": None}
    assert ask("tgi", [events(begun, error), SPOKEN["tgi"].stream(["whole"])])[0].text == "whole"


def test_a_validation_error_inside_a_stream_is_not_asked_again():
    error = {"error": "Input validation error: `inputs` must have less than 1024 tokens. Given: 2048", "error_type": "validation"}
    failed, seen = failing("tgi", [events(error)])
    assert (failed.kind, failed.limit, failed.used, len(seen)) == ("context_overflow", 1024, 2048, 1)


def test_less_output_where_the_window_has_less_room():
    refused = answer(422, {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. "
                           "Given: 1900 `inputs` tokens and 512 `max_new_tokens`", "error_type": "validation"})  # fmt: skip
    completion, seen = ask("tgi", [refused, OK])
    assert [one.json["parameters"]["max_new_tokens"] for one in seen] == [512, 2048 - 1900 - 8]
    assert completion.text == "ok"


def test_its_own_template_and_what_its_other_routes_tell():
    look_ups = {"/chat_tokenize": answer(200, {"tokenize_response": [{"id": 1}], "templated_text": "<P>"}),
                "/info": answer(200, {"model_id": "org/m", "max_total_tokens": 4096, "max_input_tokens": 4095}),
                "/tokenize": answer(200, [{"id": 1}, {"id": 2}])}  # fmt: skip
    with FakeServer([OK], look_ups) as server:
        made = TgiEndpoint(server.url + "/generate")
        made.complete(HELLO)
        assert (made.context_window, made.model_names(), made.count_tokens(HELLO)) == (4096, ["org/m"], 2)
    assert server.requests[0].json["inputs"] == "<P>"


def test_a_model_without_a_template_of_its_own():
    look_ups = {"/chat_tokenize": answer(422, {"error": "Template error: template not found", "error_type": "template_error"}),
                "/info": answer(200, {"model_id": "google/gemma-2-2b-it"})}  # fmt: skip
    with FakeServer([OK], look_ups) as server:
        completion = TgiEndpoint(server.url).complete(HELLO)
    assert server.requests[0].json["inputs"].startswith("<start_of_turn>user\n")
    assert completion.notes == ("prompt template gemma: models named like 'google/gemma-2-2b-it' use it",)
