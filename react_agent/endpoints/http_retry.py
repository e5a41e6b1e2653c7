"""Time: the deadline of a call, what a server says about waiting, and how long to wait when it says nothing."""

import math
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from react_agent.errors import EndpointError

SLICE_S = 0.1  # a wait looks at the cancel event this often
LONGEST_WAIT_S = 7 * 86400.0  # a server that names a longer one means something else
FIRST_WAIT_S, MAX_WAIT_S = 0.5, 20.0  # of our own waits, before jitter

_UNIT_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_UNIT = r"(?:ms|milliseconds?|s|seconds?|secs?|m|minutes?|mins?|h|hours?|d|days?)(?![a-z])"
_DURATION = re.compile(rf"(\d+(?:\.\d+)?)\s*({_UNIT})?", re.IGNORECASE)
_IN_WORDS = re.compile(
    r"(?:try|retry|wait|available|resets?)\s+(?:your\s+request\s+)?(?:again\s+)?(?:in|after|for)?\s*(?:about\s+|at\s+least\s+)?"
    rf"((?:\d+(?:\.\d+)?\s*{_UNIT}\s*)+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Deadline:
    """When a call must have ended, and whether its caller has given it up. at: in the clock's time, None for never."""

    at: float | None = None
    cancel: threading.Event | None = None
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    @property
    def remaining(self) -> float | None:
        return None if self.at is None else self.at - self.clock()

    def check(self) -> None:
        """Raise EndpointError when the call was cancelled or its time is up."""
        if self.cancel is not None and self.cancel.is_set():
            raise EndpointError("cancelled", "the call was cancelled")
        remaining = self.remaining
        if remaining is not None and remaining <= 0:
            raise EndpointError("timeout", "no complete reply before the deadline", "raise timeout_s, or ask for fewer tokens")

    def wait(self, seconds: float) -> None:
        """Sleep, but notice a cancel and the deadline within SLICE_S."""
        left = seconds
        while left > 0:
            self.check()
            self.sleep(min(left, SLICE_S))
            left -= SLICE_S
        self.check()


def backoff(attempt: int, jitter: float) -> float:
    """Our own wait before a repetition: exponential, capped, full jitter. attempt: from 0. jitter: from 0 to 1, chosen at random."""
    return jitter * min(MAX_WAIT_S, FIRST_WAIT_S * 2.0 ** min(attempt, 16))


def asked_wait(headers: Mapping[str, str], data: Mapping[str, Any], text: str, now: float) -> float | None:
    """How many seconds the server asks to wait, the most exact statement first; None when it says nothing sensible.

    headers: names in lower case. data, text: the error's object and words. now: seconds since the epoch.
    """
    return next((seconds for seconds in _stated(headers, data, text, now) if seconds is not None), None)


def _stated(headers: Mapping[str, str], data: Mapping[str, Any], text: str, now: float) -> Iterator[float | None]:
    millis = _number(headers.get("retry-after-ms"))
    yield None if millis is None else _sane(millis / 1000)
    yield _sane(_number(headers.get("retry-after")))
    yield _until(headers.get("retry-after"), now)
    yield from (_sane(duration(value)) for value in _values(data, "retryDelay"))
    found = _IN_WORDS.search(text)
    yield _sane(duration(found[1])) if found else None
    for name in ("estimated_time", "eta_seconds", "retry_after", "retry_after_seconds"):
        yield from (_sane(_number(value)) for value in _values(data, name))
    yield _reset(headers, now)
    for value in _values(data, "headers"):
        if isinstance(value, dict):
            yield _reset({str(name).lower(): str(reset) for name, reset in value.items()}, now)


def duration(value: object) -> float | None:
    """Seconds of "31s", "1m2.5s", "20ms", "6 minutes", "7.66" or a number; None for anything else."""
    if not isinstance(value, str):
        return _number(value)
    if not value.strip() or _DURATION.sub("", value).strip():
        return None
    total = 0.0
    for found in _DURATION.finditer(value):
        unit = (found[2] or "s").lower()
        total += float(found[1]) * _UNIT_S["ms" if unit.startswith(("ms", "milli")) else unit[0]]
    return total


def _reset(headers: Mapping[str, str], now: float) -> float | None:
    """When the limit that was hit is lifted: of the limits with nothing left, or else of all, the last to be lifted."""
    resets = {name: value for name, value in headers.items() if "ratelimit" in name and "reset" in name}
    spent = {name: value for name, value in resets.items() if headers.get(name.replace("reset", "remaining"), "").strip() == "0"}
    waits = [_sane(_moment(value, now)) for value in (spent or resets).values()]
    return max((wait for wait in waits if wait is not None), default=None)


def _moment(value: str, now: float) -> float | None:
    """A reset is a duration, a number of seconds, a time since the epoch in seconds or milliseconds, or a date."""
    number = _number(value)
    if number is not None and number > 1e12:
        return number / 1000 - now
    if number is not None and number > 1e9:
        return number - now
    if number is not None:
        return number
    seconds = duration(value)
    return seconds if seconds is not None else _until(value, now)


def _until(value: str | None, now: float) -> float | None:
    if not value:
        return None
    try:
        when = parsedate_to_datetime(value)
    except (TypeError, ValueError, IndexError):
        try:
            when = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    try:
        return _sane((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() - now)
    except (OverflowError, ValueError):
        return None


def _values(data: Any, name: str, depth: int = 5) -> Iterator[Any]:
    """Every value of this key in a nested object."""
    if depth == 0:
        return
    if isinstance(data, dict):
        if name in data:
            yield data[name]
        for value in data.values():
            yield from _values(value, name, depth - 1)
    elif isinstance(data, list):
        for value in data[:50]:
            yield from _values(value, name, depth - 1)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _sane(seconds: float | None) -> float | None:
    return seconds if seconds is not None and math.isfinite(seconds) and 0 <= seconds <= LONGEST_WAIT_S else None
