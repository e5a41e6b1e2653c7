"""Streams as servers really send them, closed early, broken off, cut into any pieces."""

import json
import threading

import pytest
from chat_calls import HELLO, ask, endpoint, tick
from fake_server import CUT, DONE, RESET, FakeServer, answer, chat, chunk, event, stream, streamed_text

from react_agent.endpoints.base import Request
from react_agent.types import Usage

STREAMS = [
    ("pings", b':\n\n' + event(chunk("hi")) + b": ping\n\n" + event(chunk(finish="stop")) + DONE),
    ("CRLF", (event(chunk("hi")) + event(chunk(finish="stop")) + DONE).replace(b"\n", b"\r\n")),
    ("no space, no DONE (TGI)", (event(chunk("hi")) + event(chunk(finish="stop"))).replace(b"data: ", b"data:")),
    ("DONE without a line end", event(chunk("hi", "stop")) + b"data: [DONE]"),
    ("DONE without a finish reason", event(chunk("hi")) + DONE),
    ("a comment wrapped by a proxy", b"data: : OPENROUTER PROCESSING\n\n" + event(chunk("hi", "stop")) + DONE),
    ("empty data, ids", b"id: 1\n" + event(chunk("hi")) + b"data:\n\n" + event(chunk("", "stop")) + DONE),
    ("blank lines first", b"\n\n\r\n" + event(chunk("hi", "stop")) + DONE),
    ("byte order mark", b"\xef\xbb\xbf" + event(chunk("hi", "stop")) + DONE),
    ("events of a single line feed", event(chunk("hi")).strip() + b"\n" + event(chunk(finish="stop")).strip() + b"\ndata: [DONE]\n"),
    ("a first chunk without choices (Azure)", event({"choices": [], "prompt_filter_results": []}) + event(chunk("hi", "stop")) + DONE),
    ("objects of another kind", event({"type": "ping"}) + event({"x": 1}) + event(chunk("hi", "stop")) + DONE),
    ("choices that are no list", event({"choices": None}) + event(chunk("hi", "stop")) + DONE),
    ("a list of objects", event([chunk("h"), chunk("i", "stop")])),
    ("one whole reply in place of a stream", json.dumps({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}).encode()),
    ("a whole reply after keep-alive lines", b"\n\n\n" + json.dumps({"choices": [{"message": {"content": "hi"}}]}, indent=1).encode()),
]  # fmt: skip


@pytest.mark.parametrize("body", [case[1] for case in STREAMS], ids=[case[0] for case in STREAMS])
@pytest.mark.parametrize("framing", ["chunked", "close"])
def test_odd_streams(body, framing):
    assert ask([stream(body, framing=framing)])[0].text == "hi"


def test_one_byte_at_a_time():
    body = event(chunk("Приве\u2028т 😀")) + event(chunk(finish="stop")) + DONE
    completion, _ = ask([stream(*(body[at : at + 1] for at in range(len(body))))])
    assert (completion.text, completion.finish_reason) == ("Приве\u2028т 😀", "stop")


def test_a_stream_where_a_whole_reply_was_asked_for():
    completion, _ = ask([streamed_text("hi")], stream=False)
    assert (completion.text, completion.finish_reason, completion.closed_early) == ("hi", "stop", False)


def test_pieces_are_handed_out_as_they_come():
    text, thoughts = [], []
    pieces = [{"choices": [{"delta": {"reasoning_content": "hm"}}]}, chunk("a"), chunk("b"), chunk(finish="stop"), DONE]
    ask([stream(*pieces)], Request(on_text=text.append, on_reasoning=thoughts.append))
    assert (text, thoughts) == (["a", "b"], ["hm"])


def test_a_stream_is_closed_when_the_decision_is_whole():
    for_ever = threading.Event()
    answers = [stream(chunk("ab", timings={"cache_n": 3, "prompt_n": 4, "predicted_n": 2}), chunk("cd"), for_ever)]
    with FakeServer(answers) as server:
        completion = endpoint(server).complete(HELLO, Request(closed=lambda piece: "b" in piece))
        assert server.client_gone.wait(10)
    assert (completion.text, completion.finish_reason, completion.closed_early, completion.usage) == ("ab", "stop", True, Usage(7, 2, 3))


def test_closed_early_without_counts_is_estimated():
    completion, _ = ask([stream(chunk("ab"), chunk("cd"), DONE)], Request(closed=lambda piece: True))
    assert completion.text == "ab"
    assert completion.usage.estimated


def test_llamacpp_is_known_by_its_header_or_its_timings():
    timed = stream(chunk("a", "stop", timings={"cache_n": 3, "prompt_n": 4, "predicted_n": 2}), DONE)
    named = stream(chunk("a", "stop"), DONE, headers={"Server": "llama.cpp"})
    for first, asked_again in ((named, True), (timed, True), (streamed_text("a"), False)):
        with FakeServer([first, streamed_text("a")]) as server:
            made = endpoint(server)
            made.complete(HELLO)
            made.complete(HELLO)
        assert ["timings_per_token" in seen.json for seen in server.requests] == [True, asked_again]


def test_counts_in_every_chunk_where_a_server_can_give_them():
    counted = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
    for owner in ("vllm", "sglang"):
        models = {"/v1/models": answer(200, {"data": [{"id": "m", "owned_by": owner, "max_model_len": 4096}]})}
        with FakeServer([stream(chunk("a", usage=counted), chunk("b"), DONE)], models) as server:
            made = endpoint(server)
            assert made.context_window == 4096
            completion = made.complete(HELLO, Request(closed=lambda piece: True))
        assert server.requests[0].json["stream_options"] == {"include_usage": True, "continuous_usage_stats": True}
        assert completion.usage == Usage(9, 2)


def test_a_chunk_that_repeats_the_message_so_far():
    pieces = [{"choices": [{"delta": {"content": piece}, "message": {"content": so_far}}]} for piece, so_far in (("a", "a"), ("b", "ab"))]
    assert ask([stream(*pieces, chunk(finish="stop"), DONE)])[0].text == "ab"


def test_lines_of_json_in_place_of_events():
    lines = b"".join(json.dumps(one).encode() + b"\n" for one in (chunk("a"), chunk("b"), chunk(finish="stop")))
    assert ask([stream(lines)])[0].text == "ab"
    cut = b"".join(json.dumps(one).encode() + b"\n" for one in (chunk("a"), chunk("b")))
    assert ask([stream(cut), streamed_text("whole")])[0].text == "whole"


def test_text_ends_at_a_stop_word_also_where_the_server_ignores_it():
    shown = []
    pieces = [chunk("one EN"), chunk("x EN"), chunk("D two"), chunk("three")]
    completion, _ = ask([stream(*pieces, DONE)], Request(on_text=shown.append), stop=["END", "x."])
    assert (completion.text, completion.finish_reason, "".join(shown)) == ("one ENx ", "stop", "one ENx ")
    assert ask([chat("one END two")], stop=["END"], stream=False)[0].text == "one "
    assert ask([stream(chunk("one EN"), chunk(finish="stop"), DONE)], stop=["END"])[0].text == "one EN"


@pytest.mark.parametrize("end", [[CUT], [RESET], []], ids=["closed", "reset", "orderly"])
def test_a_stream_without_its_end_is_asked_for_again(end):
    restarts = []
    broken = stream(chunk('{"final'), *end)
    completion, seen = ask([broken, streamed_text("whole")], Request(on_restart=lambda: restarts.append(1)))
    assert (completion.text, len(seen), restarts) == ("whole", 2, [1])


def test_what_breaks_after_the_finish_reason_takes_nothing_away():
    assert ask([stream(chunk("hi"), chunk(finish="stop"), RESET)])[0].text == "hi"
    assert ask([stream(chunk("hi"), chunk(finish="stop"), DONE, CUT)])[0].text == "hi"


def test_a_server_that_hangs_after_the_end():
    for_ever = threading.Event()
    assert ask([stream(chunk("hi", "stop"), for_ever)], clock=tick(), timeout_s=1000)[0].text == "hi"
    assert ask([stream(chunk("hi", "stop"), DONE, for_ever)])[0].text == "hi"


def test_streams_that_break_off_twice_are_given_up():
    answers = [stream(chunk("a")), stream(chunk("b")), chat("whole"), chat("again")]
    with FakeServer(answers) as server:
        made = endpoint(server)
        first = made.complete(HELLO)
        made.complete(HELLO)
    assert first.text == "whole"
    assert [note.split(":")[0] for note in first.notes if not note.startswith("asked again")] == [
        "stream_ended_early", "stream_ended_early", "streaming switched off"]  # fmt: skip
    assert ["stream" in seen.json for seen in server.requests] == [True, True, False, False]


def test_a_second_attempt_is_not_stopped_by_a_watch_that_saw_the_first():
    fed = []
    closed = Request(closed=lambda piece: fed.append(piece) or len(fed) > 2)
    completion, _ = ask([stream(chunk("a"), chunk("b"), CUT), streamed_text("cd")], closed)
    assert (completion.text, completion.closed_early, fed) == ("cd", False, ["a", "b"])
    fed.clear()
    again = Request(closed=lambda piece: fed.append(piece) or len(fed) > 1, on_restart=fed.clear)
    assert ask([stream(chunk("a"), CUT), streamed_text("cde")], again)[0].text == "cd"


@pytest.mark.parametrize("finish", ["error", "network_error", "abort"])
def test_a_reply_that_the_server_broke_off_is_asked_for_again(finish):
    assert ask([stream(chunk("par", finish), DONE), streamed_text("whole")])[0].text == "whole"
    assert ask([chat("par", finish), chat("whole")], stream=False)[0].text == "whole"


def test_an_error_inside_a_stream():
    error = {"error": {"code": 502, "message": "Provider returned error"}}
    assert ask([stream(chunk("par"), error), streamed_text("whole")])[0].text == "whole"
    named = stream(chunk("par"), b'event: error\ndata: {"message":"overloaded"}\n\n')
    assert ask([named, streamed_text("whole")])[0].text == "whole"
    assert ask([stream(b"event: error\ndata: oops\n\n"), streamed_text("whole")])[0].text == "whole"
    choices = {"choices": [{"delta": {"content": ""}, "finish_reason": "error"}], "error": {"code": "server_error", "message": "x"}}
    assert ask([stream(chunk("par"), choices), streamed_text("whole")])[0].text == "whole"
