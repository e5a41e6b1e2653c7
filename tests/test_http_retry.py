"""Waits: every format in which a server asks for one, and the deadline that bounds them all."""

import threading
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_agent.endpoints.http_retry import MAX_WAIT_S, Deadline, asked_wait, backoff, duration
from react_agent.errors import EndpointError

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC).timestamp()


def at(seconds):
    return datetime.fromtimestamp(NOW + seconds, UTC)


HEADERS = [
    ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
    ({"retry-after": "2"}, 2), ({"retry-after": " 2.5 "}, 2.5), ({"retry-after": "0"}, 0),
    ({"retry-after": format_datetime(at(30), usegmt=True)}, 30),
    ({"retry-after": format_datetime(at(-30), usegmt=True)}, None),
    ({"retry-after": "Fri, 01 Jan 2100 00:00:00 GMT"}, None),
    ({"retry-after": "Fri, 99 Foo 2100"}, None), ({"retry-after": "-1"}, None), ({"retry-after": "nan"}, None),
    ({"retry-after": "inf"}, None),
    ({"retry-after": "1e400"}, None), ({"retry-after": ""}, None), ({"retry-after": "soon"}, None), ({"retry-after": "9999999999"}, None),
    ({"x-ratelimit-reset-requests": "1s"}, 1), ({"x-ratelimit-reset-requests": "6m0s"}, 360), ({"x-ratelimit-reset-tokens": "20ms"}, 0.02),
    ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "7.66s"}, 7.66),
    ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1s", "x-ratelimit-remaining-tokens": "9",
      "x-ratelimit-reset-tokens": "60s"}, 1),
    ({"x-ratelimit-reset": str(int(NOW) + 12)}, 12), ({"x-ratelimit-reset": str((int(NOW) + 12) * 1000)}, 12),
    ({"x-ratelimit-reset": "12"}, 12),
    ({"anthropic-ratelimit-requests-reset": at(12).isoformat()}, 12),
    ({"anthropic-ratelimit-requests-reset": at(12).isoformat().replace("+00:00", "Z")}, 12),
    ({"retry-after": "-1", "x-ratelimit-reset": "12"}, 12),
    ({}, None),
]  # fmt: skip
BODIES = [
    ({"error": {"details": [{"retryDelay": "31s"}]}}, "", 31), ({"error": {"details": [{"retryDelay": "1m2.5s"}]}}, "", 62.5),
    ({"error": {"details": [{"retryDelay": "soon"}]}}, "", None), ({"error": {"details": [{"retryDelay": None}]}}, "", None),
    ({"estimated_time": 20.0}, "", 20), ({"loading": {"eta_seconds": 12}}, "", 12), ({"error": {"retry_after": "3"}}, "", 3),
    ({"error": {"metadata": {"headers": {"X-RateLimit-Reset": str((int(NOW) + 5) * 1000)}}}}, "", 5),
    ({}, "Please try again in 7.66s. Visit our site", 7.66), ({}, "Please try again in 1h2m3s.", 3723), ({}, "try again in 20ms", 0.02),
    ({}, "Please retry after 6 seconds.", 6), ({}, "Please retry in 31.5s.", 31.5), ({}, "Try again in 2 minutes", 120),
    ({}, "wait 3 seconds", 3), ({}, "Please wait for 10 s before", 10), ({}, "try again in a moment", None), ({}, "retry 3 times", None),
    ({}, "try again in 1 day", 86400), ({}, "limit of 5 requests per 60 seconds", None),
]  # fmt: skip


@pytest.mark.parametrize(("headers", "expected"), HEADERS, ids=str)
def test_waits_in_headers(headers, expected):
    assert asked_wait(headers, {}, "", NOW) == (expected if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(("body", "text", "expected"), BODIES, ids=str)
def test_waits_in_bodies(body, text, expected):
    assert asked_wait({}, body, text, NOW) == (expected if expected is None else pytest.approx(expected))


NAMES = ["retry-after", "retry-after-ms", "x-ratelimit-reset", "x-ratelimit-reset-tokens"]


@given(st.dictionaries(st.sampled_from(NAMES), st.text(max_size=30)), st.text())
def test_no_header_and_no_text_does_any_harm(headers, text):
    wait = asked_wait(headers, {"retryDelay": text, "details": [text]}, text, NOW)
    assert wait is None or 0 <= wait <= 7 * 86400


@pytest.mark.parametrize(("text", "seconds"), [
    ("", None), ("s", None), ("5 parsecs", None), ("1h 30m", 5400), (5, 5), (True, None), (None, None),
])  # fmt: skip
def test_durations(text, seconds):
    assert duration(text) == seconds


def test_our_own_waits_grow_to_a_cap():
    assert [backoff(attempt, 1.0) for attempt in range(4)] == [0.5, 1.0, 2.0, 4.0]
    assert backoff(50, 1.0) == MAX_WAIT_S
    assert backoff(3, 0.0) == 0


def test_a_deadline_is_noticed_and_a_wait_never_longer_than_asked():
    now, slept = [0.0], []

    def sleep(seconds):
        now[0] += seconds
        slept.append(seconds)

    deadline = Deadline(10.0, None, lambda: now[0], sleep)
    deadline.wait(3.05)
    assert sum(slept) == pytest.approx(3.05)
    assert deadline.remaining == pytest.approx(6.95)
    with pytest.raises(EndpointError) as caught:
        deadline.wait(20)
    assert (caught.value.kind, now[0] < 10.2) == ("timeout", True)
    assert Deadline().remaining is None


def test_a_cancel_is_noticed_before_anything_is_done():
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(EndpointError) as caught:
        Deadline(None, cancel).wait(5)
    assert caught.value.kind == "cancelled"
