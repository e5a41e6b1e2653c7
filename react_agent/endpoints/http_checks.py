"""Settings of an endpoint that cannot be, said before the first request: servers accept much of it and then do something else."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from react_agent.errors import ConfigError

MOST_STOP_WORDS = 4    # that all servers take, and that a caller may give
MANY_STOP_WORDS = 16   # that servers without a limit of their own are told
_OURS = {"messages", "prompt", "inputs", "contents", "stream", "model"}


def check_url(url: str) -> str:
    """A base URL, without white space and fragment."""
    url = url.strip()
    if "://" not in url:
        raise ConfigError(f"the base URL needs http:// or https:// in front: {url!r}; did you mean {'http://' + url!r}?")
    try:
        parts = urlsplit(url)
        port_is_valid = parts.port is None or parts.port > 0
    except ValueError:
        port_is_valid = False
    if not port_is_valid or parts.scheme not in ("http", "https") or not parts.hostname or any(char.isspace() for char in url):
        raise ConfigError("the base URL must look like http://localhost:8080/v1")
    return parts._replace(fragment="").geturl()


def check_stop(stop: Sequence[str]) -> tuple[str, ...]:
    words = (stop,) if isinstance(stop, str) else tuple(stop)
    if len(words) > MOST_STOP_WORDS or not all(isinstance(word, str) and word for word in words):
        raise ConfigError(f"stop must be at most {MOST_STOP_WORDS} words, none of them empty (an empty one stops every reply at once)")
    return words


def check_body(extra_body: Mapping[str, Any] | None) -> dict[str, Any]:
    body = dict(extra_body or {})
    if ours := sorted(_OURS & body.keys()):
        raise ConfigError(f"extra_body must not hold {', '.join(ours)}: the endpoint sets them itself")
    try:
        json.dumps(body, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"extra_body must be JSON: {error}") from None
    return body


def merged(body: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """A request's body with the caller's extra fields; an object that both have (options, parameters) is merged too."""
    inner = {name: {**body[name], **value} for name, value in extra.items() if isinstance(value, dict) and isinstance(body.get(name), dict)}
    return {**body, **extra, **inner}


def check_numbers(
    *, temperature: float | None, max_output_tokens: int, timeout_s: float, connect_timeout_s: float, first_byte_timeout_s: float | None,
    max_retries: int, max_response_bytes: int,
) -> None:  # fmt: skip
    if temperature is not None and not (math.isfinite(temperature) and temperature >= 0):
        raise ConfigError(f"temperature must be 0 or more (or None, to leave it to the server), not {temperature}")
    for name, count, least in (
        ("max_output_tokens", max_output_tokens, 1), ("max_retries", max_retries, 0), ("max_response_bytes", max_response_bytes, 1),
    ):  # fmt: skip
        if count < least:
            raise ConfigError(f"{name} must be at least {least}, not {count}")
    times = (("timeout_s", timeout_s), ("connect_timeout_s", connect_timeout_s), ("first_byte_timeout_s", first_byte_timeout_s))
    for name, seconds in times:
        if seconds is not None and not (math.isfinite(seconds) and seconds > 0):
            raise ConfigError(f"{name} must be a number of seconds above 0, not {seconds}")
