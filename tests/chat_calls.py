"""One call of a chat endpoint against a scripted server, for the tests of everything that can happen in it."""

from itertools import count

import pytest
from fake_server import FakeServer, answer, chat, stream

from react_agent.endpoints.base import PLAIN
from react_agent.endpoints.chat import ChatEndpoint
from react_agent.errors import EndpointError
from react_agent.types import Message

HELLO = (Message("system", "be brief"), Message("user", "hello"))
OK = chat('{"final_answer":"ok"}')


def endpoint(server, **settings):
    """An endpoint whose waits take no time; what it slept is in its list slept."""
    slept = []
    made = ChatEndpoint(server.url, **{"model": "m", "sleep": slept.append, "jitter": lambda: 1.0, **settings})
    made.slept = slept
    return made


def ask(answers, request=PLAIN, look_ups=None, messages=HELLO, **settings):
    """(completion, what the server saw) of one call."""
    with FakeServer(answers, look_ups) as server:
        return endpoint(server, **settings).complete(messages, request), server.requests


def failing(answers, request=PLAIN, look_ups=None, messages=HELLO, **settings):
    """(the EndpointError, what the server saw) of one call."""
    with FakeServer(answers, look_ups) as server, pytest.raises(EndpointError) as caught:
        endpoint(server, **settings).complete(messages, request)
    return caught.value, server.requests


def tick():
    """A clock that moves on by a second each time it is looked at."""
    seconds = count()
    return lambda: float(next(seconds))


def http_answers(replies):
    return [stream(reply["sse"].encode()) if "sse" in reply else answer(reply["status"], reply["body"]) for reply in replies]
