"""What holds for every family of APIs: one reply is one Completion, streamed or not, however it is cut, ended or broken."""

import json
import threading

import pytest
from fake_server import CUT, RESET, Answer, Chunks, FakeServer, answer
from families import HELLO, NOTHING_TO_SHOW, PROMPT, SPOKEN, WRITTEN, ask, endpoint, failing
from hypothesis import given, settings
from hypothesis import strategies as st

from react_agent.endpoints.base import PLAIN, Request
from react_agent.endpoints.http_body import read_reply
from react_agent.endpoints.http_reply import Reply
from react_agent.types import Usage

TEXTS = ("Приве\u2028т ", '{"a":', ' "😀"}', " \\n data: x")
THOUGHTS = ("hm, ", "ja")
every_family = pytest.mark.parametrize("family", SPOKEN)


def value(completion):
    return completion.text, completion.finish_reason, completion.reasoning, completion.refusal


@every_family
@pytest.mark.parametrize(("end", "finish"), [(0, "stop"), (1, "length")])
def test_whole_and_streamed_are_the_same(family, end, finish):
    spoken = SPOKEN[family]
    thoughts = THOUGHTS if spoken.thinks else ()
    whole, [asked_whole] = ask(family, [spoken.whole(TEXTS, spoken.ends[end], thoughts)], stream=False)
    streamed, [asked_streamed] = ask(family, [spoken.stream(TEXTS, spoken.ends[end], thoughts)])
    assert value(whole) == value(streamed) == ("".join(TEXTS), finish, "".join(thoughts), "")
    assert (asked_whole.path, asked_streamed.path) == spoken.paths


@every_family
def test_usage(family):
    spoken = SPOKEN[family]
    for told, completion in ((spoken.counts_whole, ask(family, [spoken.whole(TEXTS)], stream=False)[0]),
                             (spoken.counts_streams, ask(family, [spoken.stream(TEXTS)])[0])):  # fmt: skip
        assert completion.usage.estimated is not told
        assert not told or (completion.usage.input_tokens, completion.usage.output_tokens) == (PROMPT, WRITTEN)
        assert completion.usage.input_tokens > 0 < completion.usage.output_tokens


def test_what_else_the_counts_tell():
    assert ask("anthropic", [SPOKEN["anthropic"].stream(TEXTS)])[0].usage == Usage(PROMPT, WRITTEN, 5)
    assert ask("gemini", [SPOKEN["gemini"].stream(TEXTS)])[0].usage == Usage(PROMPT, WRITTEN, None, 2)


@every_family
def test_a_stream_is_closed_when_the_decision_is_whole(family):
    spoken = SPOKEN[family]
    first, *rest = spoken.pieces(["ab", "cd"])
    for_ever = threading.Event()
    at = next(place for place, piece in enumerate([first, *rest]) if b"cd" in piece)
    held = Answer(200, {}, [*[first, *rest][:at], for_ever, *[first, *rest][at:]], "chunked")
    with FakeServer([held], NOTHING_TO_SHOW) as server:
        completion = endpoint(family, server).complete(HELLO, Request(closed=lambda piece: "b" in piece))
        assert server.client_gone.wait(10)
    assert (completion.text, completion.finish_reason, completion.closed_early) == ("ab", "stop", True)
    assert completion.usage.estimated is not spoken.counts_early


@every_family
@pytest.mark.parametrize("end", [[CUT], [RESET], []], ids=["closed", "reset", "orderly"])
def test_a_stream_without_its_end_is_asked_for_again(family, end):
    spoken = SPOKEN[family]
    broken = Answer(200, {}, [piece for piece in spoken.pieces(["par"]) if b"par" in piece and b"eos_token" not in piece] + end, "chunked")
    completion, seen = ask(family, [broken, spoken.stream(["whole"])])
    assert (completion.text, len(seen)) == ("whole", 2)
    assert completion.notes


ERRORS = {
    "ollama": b'{"error":"llama runner process has terminated"}\n',
    "ollama generate": b'{"error":"an error was encountered while running the model"}\n',
    "anthropic": b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
    "tgi": b'data:{"error":"Request failed during generation: Server error","error_type":"generation"}\n\n',
    "gemini": b'data: {"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}\r\n\r\n',
}


@every_family
def test_an_error_inside_a_stream_is_no_reply(family):
    spoken = SPOKEN[family]
    error = ERRORS.get(family, b'data: {"error":{"code":502,"message":"Provider returned error"}}\n\n')
    begun = [piece for piece in spoken.pieces(["par"]) if b"par" in piece and b"eos_token" not in piece]
    broken = Answer(200, {}, [*begun, error], "chunked")
    assert ask(family, [broken, spoken.stream(["whole"])])[0].text == "whole"
    last, seen = failing(family, [broken, broken], max_retries=1)
    assert (last.kind in ("server_error", "bad_response"), last.partial, len(seen)) == (True, "par", 2)


@every_family
def test_text_ends_at_a_stop_word_also_where_the_server_ignores_it(family):
    spoken = SPOKEN[family]
    for answers, streamed in (([spoken.stream(["one EN", "D two"])], True), ([spoken.whole(["one EN", "D two"])], False)):
        completion, _ = ask(family, answers, stop=["END"], stream=streamed)
        assert (completion.text, completion.finish_reason) == ("one ", "stop")


@every_family
@pytest.mark.parametrize(("status", "body", "kind"), [
    (400, {"error": {"message": "the request exceeds the available context size", "code": 400}}, "context_overflow"),
    (401, {"error": {"message": "invalid x-api-key"}}, "auth"),
    (404, {"error": {"message": "model 'm' not found"}}, "not_found"),
    (402, {"error": {"message": "no credit"}}, "quota"),
    (200, "<html><title>Log in</title></html>", "bad_response"),
    (200, {"unexpected": "shape"}, "bad_response"),
])  # fmt: skip
def test_errors_that_no_repetition_helps(family, status, body, kind):
    error, seen = failing(family, [answer(status, body)], stream=False)
    assert (error.kind, len(seen)) == (kind, 1)


@every_family
def test_an_error_that_passes(family):
    spoken = SPOKEN[family]
    busy = answer(503, {"error": {"message": "loading model", "code": 503}})
    assert ask(family, [busy, spoken.stream(["whole"])])[0].text == "whole"


@every_family
def test_roles_that_the_server_refuses_are_made_strict_once(family):
    spoken = SPOKEN[family]
    refused = answer(500, {"error": {"message": "Jinja Exception: Conversation roles must alternate"}})
    completion, seen = ask(family, [refused, spoken.stream(["whole"])])
    assert (completion.text, len(seen)) == ("whole", 2)
    assert completion.notes[0].startswith("roles made strict")
    assert "be brief\\n\\nhello" in json.dumps(seen[1].json)


@every_family
def test_keys_are_sent_and_never_shown(family):
    refused = answer(401, {"error": {"message": "wrong key secret-key-1"}})
    with FakeServer([refused], NOTHING_TO_SHOW) as server:
        made = endpoint(family, server, api_key="secret-key-1")
        with pytest.raises(Exception, match="refused the key") as caught:
            made.complete(HELLO)
        described = json.dumps(made.describe())
    sent = server.requests[0].headers
    assert [name for name, text in sent.items() if "secret-key-1" in text] == [
        {"anthropic": "x-api-key", "gemini": "x-goog-api-key"}.get(family, "authorization")]  # fmt: skip
    assert "secret-key-1" not in str(caught.value) + repr(made) + described


@every_family
def test_a_setting_that_cannot_be_is_said_at_once(family):
    with FakeServer() as server, pytest.raises(Exception, match="stop must be"):
        endpoint(family, server, stop=[""])


# any chunking gives the same reply; a body that breaks off anywhere gives a value or an error


MADE = {family: spoken.make("http://127.0.0.1:1", model="m") for family, spoken in SPOKEN.items()}


def read(family, chunks, stop=()):
    made, reply = MADE[family], Reply(PLAIN, stop)
    failure = read_reply(Chunks(chunks), reply, made.framing, made.delta_of)
    return failure, reply.text, reply.reasoning, reply.finish, reply.counts, reply.ended, reply.cut


@st.composite
def cut_streams(draw):
    family = draw(st.sampled_from(sorted(SPOKEN)))
    thoughts = THOUGHTS if SPOKEN[family].thinks else ()
    body = b"".join(SPOKEN[family].pieces(TEXTS, thoughts=thoughts))
    if draw(st.booleans()):
        size = draw(st.integers(1, 40))
        return family, body, [body[start : start + size] for start in range(0, len(body), size)]
    cuts = sorted(draw(st.lists(st.integers(0, len(body)), max_size=30)))
    return family, body, [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]


@given(cut_streams(), st.sampled_from([(), ("т ",), ('"😀', "hm")]))
@settings(deadline=None)
def test_any_chunking_gives_the_same_reply(example, stop):
    family, body, chunks = example
    assert read(family, chunks, stop) == read(family, [body], stop)


@every_family
def test_a_stream_cut_anywhere_is_a_beginning_of_the_text_and_ends_only_where_it_says_so(family):
    body = b"".join(SPOKEN[family].pieces(TEXTS))
    for size in range(len(body)):
        failure, text, _, finish, _, ended, _ = read(family, [body[:size]])
        if failure is None:
            assert "".join(TEXTS).startswith(text.rstrip("\ufffd"))
            assert not ended or text == "".join(TEXTS) or finish
        else:
            assert failure.name in ("retry", "fatal")
