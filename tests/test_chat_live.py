"""The chat endpoint against a real llama.cpp server with the smallest model: the same values in every way of asking."""

import threading

import pytest

from react_agent.endpoints.base import Request
from react_agent.endpoints.chat import ChatEndpoint
from react_agent.errors import EndpointError
from react_agent.local import fetch, serve
from react_agent.types import Message

pytestmark = pytest.mark.live
COUNT = (Message("system", "You are terse."), Message("user", "Count from 1 to 20."))


@pytest.fixture(scope="module")
def url():
    with serve(fetch("smollm2-135m")) as server:
        yield server.base_url


def endpoint(url, **settings):
    return ChatEndpoint(url, model="smollm2-135m", **{"max_output_tokens": 40, **settings})


def test_streamed_and_whole_are_the_same(url):
    streamed, whole = endpoint(url).complete(COUNT), endpoint(url, stream=False).complete(COUNT)
    for one in (streamed, whole):
        assert (one.finish_reason, one.usage.output_tokens, one.usage.estimated) == ("length", 40, False)
    assert (streamed.text, streamed.model, streamed.usage.input_tokens) == (whole.text, whole.model, whole.usage.input_tokens)


def test_a_stream_that_is_closed_early_keeps_the_servers_own_counts(url):
    made, seen = endpoint(url), []
    full = made.complete(COUNT)
    early = made.complete(COUNT, Request(closed=lambda piece: seen.append(piece) or len(seen) == 5))
    assert full.text.startswith(early.text)
    assert (early.closed_early, early.finish_reason, early.usage.estimated) == (True, "stop", False)
    assert early.usage.input_tokens == full.usage.input_tokens
    assert 5 <= early.usage.output_tokens < full.usage.output_tokens


def test_the_server_counts_as_it_charges(url):
    made = endpoint(url)
    assert made.context_window == 8192
    assert made.count_tokens(COUNT) == made.complete(COUNT).usage.input_tokens


@pytest.mark.parametrize("stream", [True, False])
def test_a_cancel_frees_the_server(url, stream):
    """The server has one slot: had it gone on, the next call would wait for thousands of tokens."""
    cancel = threading.Event()
    made = endpoint(url, stream=stream, max_output_tokens=4000)
    threading.Timer(0.5, cancel.set).start()
    with pytest.raises(EndpointError) as caught:
        made.complete([Message("user", "Write a very long story.")], Request(cancel=cancel))
    assert caught.value.kind == "cancelled"
    assert endpoint(url, timeout_s=30).complete(COUNT, Request(max_output_tokens=1)).usage.output_tokens == 1


def test_a_prompt_that_is_too_long(url):
    with pytest.raises(EndpointError) as caught:
        endpoint(url).complete([Message("user", "word " * 9000)])
    assert (caught.value.kind, caught.value.limit) == ("context_overflow", 8192)
    assert caught.value.used > 9000


def test_roles_that_the_server_refuses(url):
    history = [*COUNT, Message("assistant", "1"), Message("assistant", "2")]
    assert endpoint(url).complete(history).notes[0].startswith("roles made strict")


def test_stop_words(url):
    for stream in (True, False):
        completion = endpoint(url, stop=["3."], stream=stream).complete(COUNT)
        assert (completion.finish_reason, "3." in completion.text) == ("stop", False)
