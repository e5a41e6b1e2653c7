"""Every family that llama.cpp serves, against a real server with the smallest model: the same values, whichever way it is asked."""

from dataclasses import replace

import pytest

from react_agent.endpoints.anthropic import AnthropicEndpoint
from react_agent.endpoints.base import PLAIN, Request
from react_agent.endpoints.chat import ChatEndpoint
from react_agent.endpoints.completions import CompletionsEndpoint
from react_agent.endpoints.llamacpp import LlamaCppEndpoint
from react_agent.endpoints.open import open_endpoint
from react_agent.endpoints.open_probe import recognise
from react_agent.errors import EndpointError
from react_agent.local import fetch, serve
from react_agent.types import Message

pytestmark = pytest.mark.live
MODEL = "smollm2-135m"
COUNT = (Message("system", "You are terse."), Message("user", "Count from 1 to 20."))
FAMILIES = {"openai": ChatEndpoint, "completions": CompletionsEndpoint, "llamacpp": LlamaCppEndpoint, "anthropic": AnthropicEndpoint}
WAYS = [pytest.param(name, stream, id=f"{name}-{'stream' if stream else 'whole'}") for name in FAMILIES for stream in (True, False)]


@pytest.fixture(scope="module")
def url():
    with serve(fetch(MODEL)) as server:
        yield server.base_url


def asked(url, family, stream, request=PLAIN, messages=COUNT, **settings):
    made = FAMILIES[family](url, MODEL, **{"temperature": 0, "max_output_tokens": 40, "stream": stream, **settings})
    return made.complete(messages, request)


def value(completion):
    """A completion without what differs from call to call: its time, and what the server still had in its cache."""
    return replace(completion, seconds=0.0, usage=replace(completion.usage, cached_tokens=None))


@pytest.mark.parametrize(("family", "stream"), WAYS)
def test_a_reply_that_is_cut(url, family, stream):
    got = asked(url, family, stream)
    assert value(got) == value(asked(url, "openai", True))
    assert (got.finish_reason, got.usage.output_tokens, got.usage.estimated, got.notes) == ("length", 40, False, ())


@pytest.mark.parametrize(("family", "stream"), WAYS)
def test_a_reply_that_ends_at_a_stop_word(url, family, stream):
    got = asked(url, family, stream, stop=["3."])
    expected = asked(url, "openai", True, stop=["3."])
    assert (got.text, got.finish_reason) == (expected.text, "stop")
    assert "3." not in got.text


@pytest.mark.parametrize("family", FAMILIES)
def test_a_stream_that_is_closed_early(url, family):
    """All but Anthropic's API carry the server's counts in every piece."""
    seen = []
    got = asked(url, family, True, Request(closed=lambda piece: seen.append(piece) or len(seen) == 5))
    assert (got.closed_early, got.finish_reason, got.usage.estimated) == (True, "stop", family == "anthropic")
    assert got.usage.input_tokens == asked(url, family, False).usage.input_tokens


@pytest.mark.parametrize(("family", "stream"), WAYS)
def test_a_prompt_that_is_too_long(url, family, stream):
    with pytest.raises(EndpointError) as caught:
        asked(url, family, stream, messages=[Message("user", "word " * 9000)])
    assert (caught.value.kind, caught.value.limit) == ("context_overflow", 8192)
    assert caught.value.used > 9000


@pytest.mark.parametrize("family", FAMILIES)
def test_the_server_counts_as_it_charges_and_tells_its_window(url, family):
    made = FAMILIES[family](url, MODEL, max_output_tokens=1)
    charged = made.complete(COUNT).usage.input_tokens
    assert (made.context_window, made.count_tokens(COUNT)) == (8192, charged)


@pytest.mark.parametrize("family", ["completions", "llamacpp"])
def test_a_template_of_ours_is_the_servers_own(url, family):
    """SmolLM2 is trained on ChatML."""
    assert asked(url, family, True, template="chatml").text == asked(url, family, True).text


def test_the_server_is_recognised(url):
    root = url.removesuffix("/v1")
    found = recognise(root)
    assert (found.server, found.api) == ("llama.cpp", "openai")
    assert type(open_endpoint(root)) is ChatEndpoint
    assert type(open_endpoint(root, template="chatml")) is LlamaCppEndpoint
    assert open_endpoint(root, max_output_tokens=8).complete(COUNT).text
