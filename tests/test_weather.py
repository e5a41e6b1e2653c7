"""The weather tools against a server on this machine that misbehaves in every way there is."""

import http.server
import json
import socket
import struct
import threading
from contextlib import contextmanager

import pytest
import requests

from react_agent.errors import ConfigError, ToolError
from react_agent.registry import Prepared, ToolRegistry
from react_agent.tools.weather import MAX_BYTES, weather_tools
from react_agent.types import ToolCall

LISBON = {"name": "Lisbon", "latitude": 38.71667, "longitude": -9.13333, "country": "Portugal", "country_code": "PT", "admin1": "Lisbon"}
TEXAN = {"name": "Paris", "latitude": 33.66094, "longitude": -95.55551, "country": "United States", "country_code": "US", "admin1": "Texas"}
FRENCH = {"name": "Paris", "latitude": 48.85341, "longitude": 2.3488, "country": "France", "country_code": "FR", "admin1": "Île-de-France"}
UNITS = {
    "time": "iso8601", "temperature_2m": "°C", "apparent_temperature": "°C", "relative_humidity_2m": "%", "precipitation": "mm",
    "weather_code": "wmo code", "wind_speed_10m": "km/h", "wind_direction_10m": "°",
}  # fmt: skip
CURRENT = {
    "time": "2026-11-30T12:15", "interval": 900, "temperature_2m": 14.2, "apparent_temperature": 12.9, "relative_humidity_2m": 81,
    "precipitation": 0.3, "weather_code": 61, "wind_speed_10m": 18.4, "wind_direction_10m": 225,
}  # fmt: skip
WEATHER = {"latitude": 38.7, "longitude": -9.1, "timezone": "Europe/Lisbon", "current_units": UNITS, "current": CURRENT}
READ = {
    "time": "2026-11-30T12:15", "timezone": "Europe/Lisbon", "conditions": "light rain", "temperature_c": 14.2, "feels_like_c": 12.9,
    "humidity_percent": 81, "precipitation_mm": 0.3, "wind_kmh": 18.4, "wind_from_degrees": 225,
}  # fmt: skip


class Server(http.server.ThreadingHTTPServer):
    """Answers each request with the next of its replies, the last one for ever; remembers the paths it was asked for."""

    daemon_threads = True
    block_on_close = False

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies, self.paths, self.stopped = [], [], threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def next_reply(self):
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.paths.append(self.path)
        try:
            self.server.next_reply()(self)
        except OSError:
            self.close_connection = True  # the client had enough

    def log_message(self, *words):
        pass

    def answer(self, body, status=200, kind="application/json; charset=utf-8", **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def sends(value, **how):
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return lambda handler: handler.answer(body, **how)


def redirects(location):
    return lambda handler: handler.answer(b"", status=302, Location=location.replace("HERE", handler.server.url))


def resets(handler):
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def breaks_off(handler):
    handler.answer(b'{"current": {"temperature_2m": 1', Content_Length="5000")
    handler.close_connection = True


def raw(*pieces):
    """Bytes as they are, then the end of the connection."""

    def reply(handler):
        handler.wfile.write(b"".join(pieces))
        handler.close_connection = True

    return reply


CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


def drips(handler):
    """A body without an end, a letter at a time."""
    handler.answer(b"", Content_Length="60000")
    while not handler.server.stopped.wait(0.01):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def drips_headers(handler):
    while not handler.server.stopped.wait(0.01):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n"[:1])
        handler.wfile.flush()


def is_silent(handler):
    handler.server.stopped.wait(30)


def is_huge(handler):
    handler.answer(b"", Content_Length=str(10**12))
    while not handler.server.stopped.is_set():
        handler.wfile.write(b" " * 65_536)


@pytest.fixture
def server():
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield running
        running.stopped.set()
        running.shutdown()
        thread.join()


@contextmanager
def asking(server, *replies, deadline_s=12.0):
    """The two tools' functions, and the pauses that they took."""
    server.replies = list(replies)
    pauses = []
    with requests.Session() as session:
        session.trust_env = False
        tools = weather_tools(server.url, geocoding_url=server.url + "/geo/", session=session, deadline_s=deadline_s, sleep=pauses.append)
        yield tools[0].function, tools[1].function, pauses


def refusal(call, *arguments):
    with pytest.raises(ToolError) as caught:
        call(*arguments)
    error = caught.value
    assert error.message and error.hint and len(error.message + error.hint) < 400
    assert "127.0.0.1" not in error.message + error.hint
    return error.type


def test_a_place_and_its_weather(server):
    with asking(server, sends({"results": [LISBON]}), sends(WEATHER)) as (search, weather, pauses):
        where = {"latitude": 38.71667, "longitude": -9.13333}
        assert search("Lisbon") == {"places": [{"name": "Lisbon", "region": "Lisbon", "country": "Portugal", **where}]}
        assert weather(38.71667, -9.13333) == READ
    assert server.paths[0] == "/geo/v1/search?name=Lisbon&count=10&language=en&format=json"
    assert server.paths[1].startswith("/v1/forecast?latitude=38.71667&longitude=-9.13333&current=temperature_2m%2C")
    assert pauses == []


PLACES = [
    ("Paris", ["Île-de-France", "Texas"]),
    ("Paris, France", ["Île-de-France"]),
    ("Paris, Texas", ["Texas"]),
    ("paris ,texas , usa", ["Texas"]),
]


@pytest.mark.parametrize(("name", "regions"), PLACES)
def test_a_region_or_country_narrows_a_search(server, name, regions):
    with asking(server, sends({"results": [FRENCH, TEXAN]})) as (search, _, _):
        assert [place["region"] for place in search(name)["places"]] == regions
    assert server.paths[0].lower().startswith("/geo/v1/search?name=paris&")


def test_a_place_that_does_not_exist_is_not_found(server):
    with asking(server, sends({"generationtime_ms": 0.5}), sends({"results": []}), sends({"results": [FRENCH, TEXAN]})) as (search, _, _):
        assert refusal(search, "Nowhere") == "not_found"
        assert refusal(search, "Nowhere") == "not_found"
        with pytest.raises(ToolError) as caught:
            search("Paris, Ontario")
    assert caught.value.type == "not_found"
    assert caught.value.hint == "there is one in: Île-de-France, France; Texas, United States"


def test_a_name_is_only_a_name(server):
    with asking(server, sends({"results": [LISBON]})) as (search, _, _):
        search("a&count=99#../x?y")
    assert server.paths == ["/geo/v1/search?name=a%26count%3D99%23..%2Fx%3Fy&count=10&language=en&format=json"]


@pytest.mark.parametrize("name", [None, 5, "", "  ", "x", ", France", "y" * 101, "a\nb", "a\x00b", ["Lisbon"]])
def test_what_is_no_name_is_not_sent(server, name):
    with asking(server, sends({})) as (search, _, _):
        assert refusal(search, name) == "invalid_argument"
    assert server.paths == []


NO_DEGREES = [(91, 0), (-90.1, 0), (0, 180.1), (0, -181), (float("nan"), 0), (0, float("inf")), ("38", 0), (True, 0), (10**400, 0)]


@pytest.mark.parametrize("pair", NO_DEGREES)
def test_degrees_out_of_range_are_not_sent(server, pair):
    with asking(server, sends(WEATHER)) as (_, weather, _):
        assert refusal(weather, *pair) == "invalid_argument"
    assert server.paths == []


def test_the_ends_of_the_world_are_in_range(server):
    with asking(server, sends(WEATHER)) as (_, weather, _):
        assert weather(-90, 180) == weather(90.0, -180.0) == READ


def without(whole, *names):
    return {key: value for key, value in whole.items() if key not in names}


@pytest.mark.parametrize("code", [1234, True, 1.0, "1", None, [1]])
def test_what_the_service_does_not_know_of_a_place_is_left_out(server, code):
    current = {**without(CURRENT, "precipitation"), "apparent_temperature": None, "weather_code": code}
    with asking(server, sends({**WEATHER, "current": current})) as (_, weather, _):
        assert weather(1, 2) == without(READ, "precipitation_mm", "feels_like_c", "conditions")


def now(**changed):
    return {**WEATHER, "current": {**CURRENT, **changed}}


GOOD = json.dumps(WEATHER).encode()
WRONG_VALUES = [
    [], None, "sunny", {}, {"current": CURRENT}, {**WEATHER, "current": None}, {**WEATHER, "timezone": 5},
    {**WEATHER, "current": without(CURRENT, "temperature_2m")}, {**WEATHER, "current": without(CURRENT, "time")},
    now(temperature_2m="14.2"), now(temperature_2m=None), now(temperature_2m=True), now(temperature_2m=451), now(temperature_2m=[]),
    now(temperature_2m=float("nan")), now(temperature_2m=float("inf")), now(relative_humidity_2m=-1), now(time="now"), now(time=5),
    {**WEATHER, "current_units": {**UNITS, "temperature_2m": "°F"}}, {**WEATHER, "current_units": {}},
]  # fmt: skip
WRONG_BODIES = [
    GOOD.replace(b"14.2", b"1e999"), GOOD.replace(b"14.2", b"9" * 5000), GOOD[:-20], b"", b"\xff\xfe{}", b"[" * 60_000, GOOD + b"}",
]  # fmt: skip
WRONG_REPLIES = [
    sends(b"<html>busy</html>", kind="text/html"), sends(GOOD, kind="text/plain"), sends(GOOD, Content_Encoding="gzip"),
    sends({"error": True, "reason": "no"}, status=400), *(sends({}, status=status) for status in (204, 302, 304, 403, 404)),
    redirects("http://localhost.example/v1/forecast"), redirects("https://127.0.0.1/v1/forecast"), redirects("http://127.0.0.1:1/"),
    redirects("//[bad/"), redirects("http://x:port/"), redirects("file:///etc/x"), redirects("/again"),
]  # fmt: skip
WRONG = [*map(sends, WRONG_VALUES), *map(sends, WRONG_BODIES), *WRONG_REPLIES]


@pytest.mark.parametrize("reply", WRONG)
def test_a_reply_that_is_not_as_documented_is_a_bad_response(server, reply):
    with asking(server, reply) as (_, weather, pauses):
        assert refusal(weather, 1, 2) == "bad_response"
    assert pauses == []


BAD_PLACES = [
    [], {"results": {}}, {"results": ["Lisbon"]}, {"results": [without(LISBON, "latitude")]}, {"results": [{**LISBON, "latitude": 91}]},
    {"results": [{**LISBON, "longitude": "9"}]}, {"results": [{**LISBON, "name": ""}]}, {"results": [{**LISBON, "country": 7}]},
]  # fmt: skip


@pytest.mark.parametrize("value", BAD_PLACES)
def test_a_search_result_that_is_not_as_documented_is_a_bad_response(server, value):
    with asking(server, sends(value)) as (search, _, _):
        assert refusal(search, "Lisbon") == "bad_response"


def test_texts_of_the_service_are_short_lines(server):
    place = {**LISBON, "name": "Lis\n\x1b[31mbon" + "x" * 500, "admin1": None}
    with asking(server, sends({"results": [place]})) as (search, _, _):
        found = search("Lisbon")["places"][0]
    assert found["name"] == ("Lis[31mbon" + "x" * 500)[:80] and "region" not in found


def test_a_body_in_chunks_is_read(server):
    body = json.dumps(WEATHER).encode()
    with asking(server, raw(CHUNKED, b"%x\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n" % (5, body[:5], len(body) - 5, body[5:]))) as (_, weather, _):
        assert weather(1, 2) == READ


def test_a_redirect_within_the_host_is_followed(server):
    with asking(server, redirects("/v2/forecast?latitude=1"), redirects("HERE/v3"), sends(WEATHER)) as (_, weather, _):
        assert weather(1, 2) == READ
    assert server.paths[1:] == ["/v2/forecast?latitude=1", "/v3"]


BUSY, DOWN = sends({}, status=429), sends(b"<html>", status=503, kind="text/html")
TRANSIENT = [
    ([BUSY], [0.5]),
    ([DOWN, DOWN], [0.5, 1.0]),
    ([resets], [0.5]),
    ([breaks_off], [0.5]),
    ([sends({}, status=429, Retry_After="2")], [2.0]),
    ([sends({}, status=429, Retry_After="Wed, 21 Oct 2026 07:28:00 GMT")], [0.5]),
    ([sends({}, status=429, Retry_After="-5")], [0.5]),
]


@pytest.mark.parametrize(("replies", "waited"), TRANSIENT)
def test_what_may_pass_is_tried_again(server, replies, waited):
    with asking(server, *replies, sends(WEATHER)) as (_, weather, pauses):
        assert weather(1, 2) == READ
    assert pauses == waited


LASTING = [
    (BUSY, "rate_limited", [0.5, 1.0]),
    (sends({}, status=429, Retry_After="3600"), "rate_limited", []),
    (sends({}, status=429, Retry_After="9" * 400), "rate_limited", [0.5, 1.0]),
    (sends({}, status=500), "unavailable", [0.5, 1.0]),
    (resets, "unavailable", [0.5, 1.0]),
    (breaks_off, "unavailable", [0.5, 1.0]),
    (raw(b""), "unavailable", [0.5, 1.0]),
    (raw(b"SSH-2.0-hello\r\n"), "unavailable", [0.5, 1.0]),
    (raw(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 200, b"\r\n{}"), "unavailable", [0.5, 1.0]),
    (raw(CHUNKED, b"zz\r\n{}"), "unavailable", [0.5, 1.0]),
    (raw(CHUNKED, b"ff\r\n{}"), "unavailable", [0.5, 1.0]),
]


@pytest.mark.parametrize(("reply", "slug", "waited"), LASTING)
def test_what_does_not_pass_is_given_up_after_three_tries(server, reply, slug, waited):
    with asking(server, reply) as (_, weather, pauses):
        assert refusal(weather, 1, 2) == slug
    assert pauses == waited
    assert len(server.paths) == len(waited) + 1


def test_a_host_that_does_not_answer_is_unavailable():
    with socket.socket() as closed, requests.Session() as session:
        closed.bind(("127.0.0.1", 0))
        session.trust_env = False
        tools = weather_tools(f"http://127.0.0.1:{closed.getsockname()[1]}", session=session, sleep=lambda seconds: None)
        assert refusal(tools[1].function, 1, 2) == "unavailable"


@pytest.mark.parametrize(("reply", "slug"), [(drips, "timeout"), (is_silent, "timeout"), (is_huge, "too_large")])
def test_a_body_cannot_hold_or_fill_the_caller(server, reply, slug):
    with asking(server, reply, deadline_s=0.3) as (_, weather, _):
        assert refusal(weather, 1, 2) == slug
    assert len(server.paths) == 1


def test_headers_without_an_end_are_stopped_by_the_registry(server):
    server.replies = [drips_headers]
    tool = weather_tools(server.url, deadline_s=0.2)[1]
    call = Prepared(tool, ToolCall(tool.name, {"latitude": 1, "longitude": 2}))
    assert ToolRegistry([tool]).execute(call).timed_out


def test_a_body_of_exactly_the_cap_is_read(server):
    body = json.dumps(WEATHER).encode()
    with asking(server, sends(body + b" " * (MAX_BYTES - len(body))), sends(body + b" " * (MAX_BYTES + 1 - len(body)))) as (_, weather, _):
        assert weather(1, 2) == READ
        assert refusal(weather, 1, 2) == "too_large"


def test_no_try_begins_after_the_deadline(server):
    times = iter(range(0, 1000, 10))
    server.replies = [DOWN]
    with requests.Session() as session:
        session.trust_env = False
        tools = weather_tools(server.url, session=session, clock=lambda: next(times), sleep=lambda seconds: None)
        assert refusal(tools[1].function, 1, 2) == "unavailable"
    assert len(server.paths) == 1


def test_the_tools():
    tools = weather_tools()
    assert [tool.name for tool in tools] == ["search_location", "get_current_weather"]
    assert all(tool.read_only and tool.volatile and tool.untrusted_output and tool.timeout_s == 13 for tool in tools)
    assert [tool.parameter_names for tool in tools] == [("name",), ("latitude", "longitude")]
    assert len(ToolRegistry(tools)) == 2


NO_ADDRESSES = ["", "api.open-meteo.com", "ftp://x.example", "http://", "https://x.example/?key=1", "file:///etc", "http://[x", "http://x:y"]


@pytest.mark.parametrize("url", NO_ADDRESSES)
def test_an_address_that_is_none_is_a_config_error(url):
    with pytest.raises(ConfigError, match="address of a weather service"):
        weather_tools(url)
    with pytest.raises(ConfigError, match="address of a weather service"):
        weather_tools(geocoding_url=url)
