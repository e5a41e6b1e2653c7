"""The weather tools, on Open-Meteo, which needs no key: find a place, then ask for the weather there.

The service is foreign and may misbehave in any way. The tools still end in time, with a value or with a ToolError: 5 seconds for a
connection and for each silence, a deadline for the whole call, 64 kB, no redirect to another host, JSON only, every field checked.
"""

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
import urllib3

from react_agent.errors import ConfigError, ToolError
from react_agent.registry import Tool
from react_agent.tools.weather_reply import CURRENT, UNKNOWN, Place, bad_response, current_weather, places

FORECAST_URL = "https://api.open-meteo.com"
GEOCODING_URL = "https://geocoding-api.open-meteo.com"
MAX_BYTES = 65_536
_SILENCE_S = 5.0
_PAUSES_S = (0.5, 1.0)  # between the tries, of which there is one more
_MAX_REDIRECTS = 3
_HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity"}  # what is not compressed cannot swell


def weather_tools(
    base_url: str = FORECAST_URL, *, geocoding_url: str = GEOCODING_URL, session: requests.Session | None = None,
    deadline_s: float = 12.0, sleep: Callable[[float], None] = time.sleep, clock: Callable[[], float] = time.monotonic,
) -> list[Tool]:  # fmt: skip
    """The tools `search_location` and `get_current_weather`.

    base_url, geocoding_url: where the two services of Open-Meteo are, for an installation of one's own. session: for proxies and
    certificates of one's own. deadline_s: seconds that a call may take with all its tries. Raises ConfigError for what is no address.
    """
    service = _Service(session or requests.Session(), deadline_s, sleep, clock)
    forecast, geocoding = f"{_checked_url(base_url)}/v1/forecast", f"{_checked_url(geocoding_url)}/v1/search"

    def search_location(name: str) -> dict[str, Any]:
        return _search(service, geocoding, name)

    def get_current_weather(latitude: float, longitude: float) -> dict[str, Any]:
        return _weather(service, forecast, latitude, longitude)

    place = {"type": "string", "description": "the place, for example Lisbon or Springfield, Illinois"}
    return [
        _tool(
            "search_location", "Finds places by name: latitude, longitude, region and country. Use it before get_current_weather.",
            search_location, {"name": place}, deadline_s,
        ),
        _tool(
            "get_current_weather", "The weather now at a latitude and longitude, which search_location gives.",
            get_current_weather, {"latitude": _degrees("north", 90), "longitude": _degrees("east", 180)}, deadline_s,
        ),
    ]  # fmt: skip


def _tool(name: str, description: str, function: Callable[..., Any], properties: Mapping[str, Any], deadline_s: float) -> Tool:
    """timeout_s is the net below the service's own deadline, for a server that sends its headers letter by letter."""
    parameters = {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
    return Tool(name, description, parameters, function, read_only=True, untrusted_output=True, volatile=True, timeout_s=deadline_s + 1)


def _degrees(towards: str, most: int) -> dict[str, Any]:
    return {"type": "number", "description": f"degrees {towards}, from -{most} to {most}"}


def _checked_url(url: str) -> str:
    try:
        scheme, host, _ = _origin(url)
    except ValueError:
        scheme, host = "", None
    if scheme not in ("http", "https") or not host or "?" in url or "#" in url:
        raise ConfigError(f"the address of a weather service must be like {FORECAST_URL}, not {url!r}")
    return url.rstrip("/")


@dataclass(frozen=True, slots=True)
class _Again:
    """Why a try failed in a way that another one may not. wait: seconds that the server asks for."""

    error: ToolError
    wait: float = 0.0


@dataclass(frozen=True, slots=True)
class _Service:
    """GET for JSON, with a few tries under one deadline. sleep, clock: seconds."""

    session: requests.Session
    deadline_s: float
    sleep: Callable[[float], None]
    clock: Callable[[], float]

    def get(self, url: str, query: Mapping[str, str]) -> Any:
        """The value of the reply. Raises ToolError timeout, unavailable, rate_limited, too_large, bad_response."""
        deadline, pauses = self.clock() + self.deadline_s, iter(_PAUSES_S)
        while True:
            reply = self._try(url, query, deadline)
            if isinstance(reply, bytes):
                return _decoded(reply)
            wait = max(next(pauses, math.inf), reply.wait)
            if self.clock() + wait >= deadline:
                raise reply.error
            self.sleep(wait)

    def _try(self, url: str, query: Mapping[str, str], deadline: float) -> bytes | _Again:
        try:
            with self._open(url, query, deadline) as response:
                failure = _failure(response)
                return failure or self._body(response, deadline)
        except (requests.Timeout, urllib3.exceptions.TimeoutError):
            raise _timeout() from None
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError):
            return _Again(ToolError("unavailable", "there is no connection to the weather service, or it broke", UNKNOWN))
        except ValueError:  # requests reads the address of a redirect even when it is told not to follow
            raise bad_response("a redirect to no address") from None

    def _open(self, url: str, query: Mapping[str, str], deadline: float) -> requests.Response:
        """The response after redirects within one scheme, host and port; its body is still to be read."""
        for _ in range(_MAX_REDIRECTS + 1):
            seconds = min(_SILENCE_S, deadline - self.clock())
            if seconds <= 0:
                raise _timeout()
            response = self.session.get(url, params=query, headers=_HEADERS, timeout=seconds, stream=True, allow_redirects=False)
            if not response.is_redirect:
                return response
            response.close()
            url, query = _redirected(response.url, response.headers["location"]), {}
        raise bad_response("one redirect after another")

    def _body(self, response: requests.Response, deadline: float) -> bytes:
        body = bytearray()
        while piece := response.raw.read1(8_192, decode_content=False):  # what has arrived, so that the deadline is seen
            body += piece
            if len(body) > MAX_BYTES:
                raise ToolError("too_large", f"the weather service sent more than {MAX_BYTES // 1024} kB", UNKNOWN)
            if self.clock() > deadline:
                raise _timeout()
        return bytes(body)


def _timeout() -> ToolError:
    return ToolError("timeout", "the weather service did not answer in time", UNKNOWN)


def _redirected(url: str, location: str) -> str:
    try:
        target = urljoin(url, location)
        stays = _origin(target) == _origin(url)
    except ValueError:  # no address at all
        stays = False
    if not stays:
        raise bad_response("a redirect to another host")
    return target


def _origin(url: str) -> tuple[str, str | None, int | None]:
    """Raises ValueError for what is no address."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port


def _failure(response: requests.Response) -> _Again | None:
    """What is worth another try; raises ToolError for what is not; None for a reply with JSON."""
    status = response.status_code
    if status == 429:
        asked = response.headers.get("retry-after", "")
        wait = float(asked) if asked.isascii() and asked.isdigit() and len(asked) < 6 else 0.0
        return _Again(ToolError("rate_limited", "the weather service asks for fewer requests", UNKNOWN), wait)
    if status >= 500:
        return _Again(ToolError("unavailable", f"the weather service is out of order (status {status})", UNKNOWN))
    if status != 200:
        raise bad_response(f"status {status}")
    if "json" not in response.headers.get("content-type", "").lower() or response.headers.get("content-encoding", "identity") != "identity":
        raise bad_response("something that is not plain JSON")
    return None


def _decoded(body: bytes) -> Any:
    try:
        return json.loads(body, parse_constant=_refuse)
    except (ValueError, RecursionError):  # NaN, bytes that are not UTF-8 and numbers of 5,000 digits are ValueErrors
        raise bad_response("something that is not JSON, or only the beginning of it") from None


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _search(service: _Service, url: str, name: object) -> dict[str, Any]:
    town, _, area = (part.strip() for part in name.partition(",")) if isinstance(name, str) else ("", "", "")
    if len(town) < 2 or len(town) + len(area) > 100 or not (town + area).isprintable():
        raise ToolError("invalid_argument", "name must be the name of a place, of 2 to 100 characters", 'write it like "Lisbon"')
    found = places(service.get(url, {"name": town, "count": "10", "language": "en", "format": "json"}))
    fitting = [place for place in found if place.lies_in(area)]
    if not fitting:
        raise ToolError("not_found", f"no place named {town[:60]!r} was found" + (f" in {area[:60]!r}" if area else ""), _other_way(found))
    return {"places": [place.as_dict() for place in fitting[:5]]}


def _other_way(found: list[Place]) -> str:
    if not found:
        return "check the spelling, or use the name of a larger place nearby; do not invent coordinates"
    areas = dict.fromkeys(place.whereabouts for place in found)
    return f"there is one in: {'; '.join(list(areas)[:4])}"[:250]


def _weather(service: _Service, url: str, latitude: object, longitude: object) -> dict[str, Any]:
    north, east = _checked_degrees("latitude", latitude, 90), _checked_degrees("longitude", longitude, 180)
    query = {"latitude": f"{north:.5f}", "longitude": f"{east:.5f}", "current": CURRENT, "timezone": "auto"}
    return current_weather(service.get(url, query))


def _checked_degrees(name: str, value: object, most: int) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -most <= value <= most:
        hint = "take both from search_location, latitude first"
        raise ToolError("invalid_argument", f"{name} must be a number from -{most} to {most}", hint)
    return float(value)
