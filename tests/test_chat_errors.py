"""What the chat endpoint learns from refusals, what it waits for, and what it says when nothing helps."""

import pytest
from chat_calls import HELLO, OK, ask, endpoint, failing
from fake_server import Answer, FakeServer, answer

from react_agent.endpoints.base import Request
from react_agent.endpoints.chat import ChatEndpoint
from react_agent.errors import EndpointError
from react_agent.types import Message

# refusals and what is learned from them


def test_a_refused_parameter_is_dropped_once_and_for_all():
    refusal = answer(400, {"error": {"message": "Unsupported parameter: 'stop' is not supported with this model.", "param": "stop"}})
    with FakeServer([refusal, OK, OK]) as server:
        made = endpoint(server, stop=["END"])
        first = made.complete(HELLO)
        second = made.complete(HELLO)
    assert ["stop" in seen.json for seen in server.requests] == [True, False, False]
    assert first.notes == ("parameter 'stop' dropped: Unsupported parameter: 'stop' is not supported with this model.",)
    assert second.notes == ()
    assert made.slept == []


def test_several_parameters_are_refused_one_after_the_other():
    names = ["temperature", "seed", "stream_options", "timings_per_token"]
    issues = [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted"} for name in names]
    refusals = [answer(422, {"detail": [issue]}) for issue in issues]
    completion, seen = ask([*refusals, OK], seed=1)
    assert [name for name in names if name in seen[-1].json] == []
    assert len(completion.notes) == 4


def test_the_cap_is_renamed_and_never_lost():
    words = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    refusal = answer(400, {"error": {"message": words, "param": "max_tokens", "code": "unsupported_parameter"}})
    completion, seen = ask([refusal, OK], Request(max_output_tokens=77))
    assert (seen[1].json.get("max_tokens"), seen[1].json["max_completion_tokens"]) == (None, 77)
    assert completion.notes[0].startswith("parameter 'max_tokens' renamed to 'max_completion_tokens': ")


def test_a_cap_above_the_servers_is_lowered():
    words = "max_tokens is too large: 9000. This model supports at most 4096 completion tokens."
    refusal = answer(400, {"error": {"message": words, "param": "max_tokens"}})
    _, seen = ask([refusal, OK], Request(max_output_tokens=9000))
    assert [one.json["max_tokens"] for one in seen] == [9000, 4096]


def test_a_cap_refused_under_both_names_is_left_out():
    def refusal(name):
        return answer(400, {"error": {"message": f"Unrecognized request argument supplied: {name}"}})

    completion, seen = ask([refusal("max_tokens"), refusal("max_completion_tokens"), OK])
    assert not {"max_tokens", "max_completion_tokens"} & seen[-1].json.keys()
    assert len(completion.notes) == 2


def test_streaming_refused_is_asked_for_in_one_piece():
    refusal = answer(400, {"error": "Streaming is not supported by this deployment"})
    with FakeServer([refusal, OK, OK]) as server:
        made = endpoint(server)
        made.complete(HELLO)
        made.complete(HELLO)
    assert ["stream" in seen.json for seen in server.requests] == [True, False, False]
    assert not {"stream_options", "timings_per_token"} & server.requests[1].json.keys()


def test_a_refusal_that_names_nothing_is_answered_with_less():
    refusal = answer(422, "Failed to deserialize the JSON body into the target type")
    completion, seen = ask([refusal, OK], seed=1, stop=["END"])
    assert seen[1].json.keys() == {"model", "messages", "max_tokens"}
    error, seen = failing([refusal, refusal])
    assert (error.kind, len(seen)) == ("bad_request", 2)


def test_a_refusal_of_what_was_not_sent_ends_the_call():
    error, seen = failing([answer(400, {"error": {"message": "Unsupported parameter: 'logprobs'", "param": "logprobs"}})])
    assert (error.kind, error.status, len(seen)) == ("bad_request", 400, 1)
    assert "logprobs" in error.message


def test_an_empty_400_means_too_long_only_for_a_long_prompt():
    long = [Message("user", "word " * 3000)]
    assert failing([answer(400)], messages=long)[0].kind == "context_overflow"
    completion, seen = ask([answer(400), OK])
    assert len(seen) == 2
    assert failing([answer(400), answer(400)])[0].kind == "bad_request"


def test_roles_are_made_strict_when_the_template_wants_it():
    history = [Message("system", "S"), Message("user", "a"), Message("user", "b"), Message("assistant", "c"), Message("user", "d")]
    words = "Jinja Exception: Conversation roles must alternate user/assistant/..."
    refusal = answer(500, {"error": {"code": 500, "message": words, "type": "server_error"}})
    with FakeServer([refusal, OK, OK]) as server:
        made = endpoint(server)
        completion = made.complete(history)
        made.complete(history)
    strict = [{"role": "user", "content": "S\n\na\n\nb"}, {"role": "assistant", "content": "c"}, {"role": "user", "content": "d"}]
    assert [seen.json["messages"] == strict for seen in server.requests] == [False, True, True]
    assert completion.notes[0].startswith("roles made strict")
    assert made.slept == []


def test_roles_refused_twice_end_the_call():
    refusal = answer(500, {"error": {"message": "Jinja Exception: System role not supported"}})
    error, seen = failing([refusal, refusal])
    assert (error.kind, len(seen)) == ("bad_request", 2)


def test_model_text_in_an_error_is_the_reply():
    body = {"error": {"message": "Failed to generate JSON.", "code": "json_validate_failed", "failed_generation": '{"final_answer":"ok"}'}}
    completion, seen = ask([answer(400, body)])
    assert (completion.text, completion.finish_reason, len(seen)) == ('{"final_answer":"ok"}', "unknown", 1)
    assert completion.usage.estimated


def test_context_overflow_carries_the_numbers():
    body = {"error": {"code": 400, "message": "request (9031 tokens) exceeds the available context size (8192 tokens), try increasing it",
                      "type": "exceed_context_size_error", "n_prompt_tokens": 9031, "n_ctx": 8192}}  # fmt: skip
    with FakeServer([answer(400, body)]) as server, pytest.raises(EndpointError) as caught:
        made = endpoint(server)
        made.complete(HELLO)
    assert (caught.value.kind, caught.value.limit, caught.value.used, len(server.requests)) == ("context_overflow", 8192, 9031, 1)
    assert made.context_window == 8192
    assert server.looked_up == []


def test_a_cap_that_does_not_fit_beside_the_prompt_is_lowered():
    words = "maximum context length is 4096 tokens. However, you requested 4100 tokens (3900 in the messages, 200 in the completion)."
    completion, seen = ask([answer(400, {"error": {"message": words, "code": 400}}), OK], Request(max_output_tokens=200))
    assert [one.json["max_tokens"] for one in seen] == [200, 188]
    assert completion.notes[0].startswith("output limited to 188 tokens")


# errors that may pass


def test_waits_and_asks_again():
    limited = answer(429, {"error": {"message": "slow down"}}, {"Retry-After": "3"})
    with FakeServer([limited, answer(503), OK]) as server:
        made = endpoint(server)
        completion = made.complete(HELLO)
    assert len(server.requests) == 3
    assert sum(made.slept) == pytest.approx(3 + 1.0)  # as asked; then our own second wait, half a second doubled, with full jitter
    assert [note.split(":")[0] for note in completion.notes] == ["asked again after 3.0 s", "asked again after 1.0 s"]


def test_gives_up_after_the_last_repetition():
    for status, kind in ((503, "server_error"), (429, "rate_limited")):
        error, seen = failing(lambda seen, number, status=status: answer(status, {"error": "busy"}), max_retries=2)
        assert (error.kind, error.status, len(seen)) == (kind, status, 3)
        assert error.hint


def test_never_waits_past_the_deadline():
    limited = answer(429, {"error": {"message": "slow down"}}, {"Retry-After": "500"})
    with FakeServer([limited]) as server, pytest.raises(EndpointError) as caught:
        made = endpoint(server, timeout_s=100)
        made.complete(HELLO)
    assert (caught.value.kind, made.slept) == ("rate_limited", [])
    assert "asked again in 500 s" in caught.value.message


def test_a_server_that_loads_its_model_is_waited_for():
    loading = answer(503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}})
    with FakeServer([loading] * 9 + [OK]) as server:
        made = endpoint(server, max_retries=0)
        made.complete(HELLO)
    assert sum(made.slept) == pytest.approx(9)


def test_cut_and_empty_replies_are_asked_for_again():
    cut = answer(200, b'{"choices":[{"message":{"content":"a"')
    assert ask([cut, OK], stream=False)[0].text == '{"final_answer":"ok"}'
    assert ask([answer(200, b""), OK], stream=False)[0].text == '{"final_answer":"ok"}'
    short = Answer(200, {"Content-Length": "500"}, [b'{"choices":[]'], "close")
    assert ask([short, OK], stream=False)[0].text == '{"final_answer":"ok"}'


def test_a_connection_that_is_closed_before_the_reply():
    assert ask([Answer(raw=b""), OK])[0].text == '{"final_answer":"ok"}'
    assert ask([Answer(raw=b"HTTP/1.1 200 OK\r\nContent-Le"), OK])[0].text == '{"final_answer":"ok"}'


# errors that will not pass


FATAL = [
    (401, {"error": {"message": "Incorrect API key provided: secret-key"}}, "auth", "refused the key"),
    (402, {"error": {"message": "Insufficient Balance"}}, "quota", "nothing left to spend"),
    (429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}, "quota", "nothing left to spend"),
    (400, {"error": {"message": "content management policy", "code": "content_filter"}}, "content_filter", "refused the prompt"),
    (200, "<!doctype html><title>Sign in</title>", "bad_response", "Sign in"),
    (200, "Hello, this is no API", "bad_response", "Hello"),
    (200, {"id": 1}, "bad_response", "no text where"),
    (200, {"choices": []}, "bad_response", "no text where"),
    (200, [], "bad_response", "no JSON object"),
    (500, {"error": {"message": "'messages' is required"}}, "bad_request", "'messages' is required"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body", "kind", "words"), FATAL, ids=[f"{row[0]}-{row[2]}" for row in FATAL])
def test_what_cannot_be_helped_is_said_at_once(status, body, kind, words):
    error, seen = failing([answer(status, body)], api_key="secret-key")
    assert (error.kind, len(seen)) == (kind, 1)
    assert words in error.message
    assert error.hint
    assert "secret-key" not in error.message + error.hint


def test_a_missing_key_is_told_from_a_wrong_one():
    error, _ = failing([answer(401, {"detail": "Unauthorized"})])
    assert "wants a key" in error.message
    assert "LLM_API_KEY" in error.hint


def test_an_unknown_model_lists_those_that_are_there():
    models = {"/v1/models": answer(200, {"data": [{"id": "llama-3"}, {"id": "qwen-2.5-coder"}, {"id": "phi"}]})}
    error, _ = failing([answer(404, {"error": {"message": "The model `qwen-2.5` does not exist"}})], look_ups=models, model="qwen-2.5")
    assert error.kind == "not_found"
    assert error.hint == "there is no model 'qwen-2.5' here; the server has qwen-2.5-coder, llama-3, phi"


def test_nothing_listens():
    with FakeServer() as server:
        pass
    made = ChatEndpoint(server.url, sleep=lambda seconds: pytest.fail("no wait helps"))
    with pytest.raises(EndpointError) as caught:
        made.complete(HELLO)
    assert caught.value.kind == "connection"
    assert "is the server running at" in caught.value.hint
