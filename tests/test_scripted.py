"""The scripted endpoint: replies in order, requests remembered, handed out as a stream would."""

import threading

import pytest

from react_agent.endpoints.base import Request
from react_agent.endpoints.scripted import ScriptedEndpoint
from react_agent.errors import EndpointError
from react_agent.types import Completion, Message, Usage

HELLO = [Message("user", "hello")]


def test_replies_in_order_and_requests_remembered():
    endpoint = ScriptedEndpoint(["one", Completion("two", "length", Usage(5, 6), model="m")])
    request = Request(max_output_tokens=9)
    first, second = endpoint.complete(HELLO), endpoint.complete([*HELLO, Message("assistant", "one")], request)
    assert (first.text, first.finish_reason, first.model, first.usage.estimated) == ("one", "stop", "scripted", True)
    assert second == Completion("two", "length", Usage(5, 6), model="m")
    assert endpoint.requests == [((HELLO[0],), Request()), ((HELLO[0], Message("assistant", "one")), request)]


def test_exceptions_are_raised_and_a_script_ends():
    endpoint = ScriptedEndpoint([EndpointError("timeout", "late"), "one"])
    with pytest.raises(EndpointError, match="late"):
        endpoint.complete(HELLO)
    assert endpoint.complete(HELLO).text == "one"
    with pytest.raises(EndpointError) as caught:
        endpoint.complete(HELLO)
    assert (caught.value.kind, str(caught.value)) == ("bad_response", "the script has no more replies: it held 2, and this is call 3")


def test_a_function_in_place_of_a_list():
    endpoint = ScriptedEndpoint(lambda messages, request: f"{messages[-1].content}, {request.max_output_tokens}")
    assert endpoint.complete(HELLO, Request(max_output_tokens=3)).text == "hello, 3"


def test_a_reply_is_closed_early_as_a_stream_would_be():
    text, seen = "x" * 20 + "}" + "y" * 40, []
    completion = ScriptedEndpoint([text]).complete(HELLO, Request(on_text=seen.append, closed=lambda piece: "}" in piece))
    assert completion.text == "".join(seen) == text[:32]
    assert (completion.finish_reason, completion.closed_early) == ("stop", True)


def test_reasoning_is_handed_out_too():
    thoughts = []
    ScriptedEndpoint([Completion("a", reasoning="hm")]).complete(HELLO, Request(on_reasoning=thoughts.append))
    assert thoughts == ["hm"]


def test_a_cancelled_call_is_not_made():
    cancel = threading.Event()
    cancel.set()
    endpoint = ScriptedEndpoint(["one"])
    with pytest.raises(EndpointError) as caught:
        endpoint.complete(HELLO, Request(cancel=cancel))
    assert (caught.value.kind, endpoint.requests) == ("cancelled", [])


def test_what_it_says_of_itself():
    endpoint = ScriptedEndpoint([], model="m", context_window=4096)
    assert endpoint.describe() == {"endpoint": "scripted", "model": "m", "context_window": 4096}
    assert (endpoint.context_window, endpoint.max_output_tokens, endpoint.count_tokens(HELLO)) == (4096, 512, None)
