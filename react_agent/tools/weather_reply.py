"""What Open-Meteo answers, checked field by field: a reply that is not as documented is an error, never a half-right value.

Fields and codes: https://open-meteo.com/en/docs and https://open-meteo.com/en/docs/geocoding-api.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from react_agent.errors import ToolError

_MAX_TEXT = 80
_COUNTRIES = {"uk": "gb", "usa": "us", "u.s.": "us", "u.k.": "gb"}  # what people write for the codes of the reply
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?")


class _Quantity(NamedTuple):
    """One value of the reply: its name there, its unit, and the range outside of which it is not believed."""

    name: str
    unit: str
    least: float
    most: float


_TEMPERATURE = "temperature_c"
_QUANTITIES: Mapping[str, _Quantity] = {
    _TEMPERATURE: _Quantity("temperature_2m", "°C", -100, 70),
    "feels_like_c": _Quantity("apparent_temperature", "°C", -150, 100),
    "humidity_percent": _Quantity("relative_humidity_2m", "%", 0, 100),
    "precipitation_mm": _Quantity("precipitation", "mm", 0, 1_000),
    "wind_kmh": _Quantity("wind_speed_10m", "km/h", 0, 500),
    "wind_from_degrees": _Quantity("wind_direction_10m", "°", 0, 360),
}
_CONDITIONS: Mapping[int, str] = {
    0: "clear sky", 1: "mainly clear", 2: "partly cloudy", 3: "overcast", 45: "fog", 48: "fog with rime",
    51: "light drizzle", 53: "drizzle", 55: "heavy drizzle", 56: "light freezing drizzle", 57: "freezing drizzle",
    61: "light rain", 63: "rain", 65: "heavy rain", 66: "light freezing rain", 67: "freezing rain",
    71: "light snow", 73: "snow", 75: "heavy snow", 77: "snow grains", 80: "light showers", 81: "showers", 82: "violent showers",
    85: "light snow showers", 86: "heavy snow showers", 95: "thunderstorm",
    96: "thunderstorm with hail", 99: "thunderstorm with heavy hail",
}  # fmt: skip
CURRENT = ",".join([*(quantity.name for quantity in _QUANTITIES.values()), "weather_code"])


@dataclass(frozen=True, slots=True)
class Place:
    """A place that the service knows. latitude, longitude: degrees. Texts are empty where it says nothing."""

    name: str
    region: str
    country: str
    country_code: str
    latitude: float
    longitude: float

    @property
    def whereabouts(self) -> str:
        return ", ".join(part for part in (self.region, self.country) if part) or "an unnamed region"

    def lies_in(self, area: str) -> bool:
        """Whether each part of "Texas, USA" is the region or the country."""
        own = {text.casefold() for text in (self.region, self.country, self.country_code) if text}
        parts = [part.strip().casefold() for part in area.split(",") if part.strip()]
        return all(part in own or _COUNTRIES.get(part) in own for part in parts)

    def as_dict(self) -> dict[str, Any]:
        where = {"name": self.name, "region": self.region, "country": self.country}
        return {key: text for key, text in where.items() if text} | {"latitude": self.latitude, "longitude": self.longitude}


def places(reply: Any) -> list[Place]:
    """The places of a search, best first; an empty list when there is none. Raises ToolError bad_response."""
    found = _object(reply, "the reply").get("results", [])
    if not isinstance(found, list):
        raise bad_response("results is not a list")
    return [_place(_object(each, "a place")) for each in found]


def _place(each: Mapping[str, Any]) -> Place:
    name = _text(each, "name")
    if not name:
        raise bad_response("a place has no name")
    return Place(
        name,
        region=_text(each, "admin1"),
        country=_text(each, "country"),
        country_code=_text(each, "country_code"),
        latitude=_number(each, "latitude", -90, 90),
        longitude=_number(each, "longitude", -180, 180),
    )


def current_weather(reply: Any) -> dict[str, Any]:
    """The weather as flat fields whose names hold their units. Raises ToolError bad_response."""
    whole = _object(reply, "the reply")
    current, units = _object(whole.get("current"), "current"), _object(whole.get("current_units"), "current_units")
    time = current.get("time")
    if not isinstance(time, str) or not _TIME.fullmatch(time):
        raise bad_response("current.time is not a time")
    weather: dict[str, Any] = {"time": time, "timezone": _text(whole, "timezone") or "GMT"}
    code = current.get("weather_code")
    if isinstance(code, int) and not isinstance(code, bool) and code in _CONDITIONS:
        weather["conditions"] = _CONDITIONS[code]
    for key, quantity in _QUANTITIES.items():
        if key != _TEMPERATURE and current.get(quantity.name) is None:
            continue  # the service has no such figure for this place
        weather[key] = _number(current, quantity.name, quantity.least, quantity.most)
        if units.get(quantity.name) != quantity.unit:
            raise bad_response(f"{quantity.name} is not in {quantity.unit}")
    return weather


def bad_response(what: str) -> ToolError:
    return ToolError("bad_response", f"the weather service sent what it should not: {what}", UNKNOWN)


UNKNOWN = "say that the weather is not known now; do not invent it"


def _object(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise bad_response(f"{what} is not an object")
    return value


def _text(value: Mapping[str, Any], key: str) -> str:
    """One short line; empty for null and for what is missing."""
    text = value.get(key)
    if text is not None and not isinstance(text, str):
        raise bad_response(f"{key} is not text")
    return "".join(character for character in text or "" if character.isprintable())[:_MAX_TEXT].strip()


def _number(value: Mapping[str, Any], key: str, least: float, most: float) -> float:
    number = value.get(key)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise bad_response(f"{key} is missing or not a number")
    if not least <= number <= most:  # nor is an infinite one
        raise bad_response(f"{key} is not between {least} and {most}")
    return number
