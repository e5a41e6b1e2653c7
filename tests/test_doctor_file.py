"""What the doctor keeps: written at once, read when it can be used, and told when it changes a run."""

import json
import os
from dataclasses import asdict

import pytest
from fake_model import fake_model
from fake_server import FakeServer, answer, chat

from react_agent.doctor import CHECKS, Patient, examine
from react_agent.doctor_file import MOST_DAYS, Known, file_for, known_from, read, teach, write
from react_agent.endpoints.base import Request
from react_agent.endpoints.chat import ChatEndpoint
from react_agent.errors import ConfigError
from react_agent.types import Message

NOW = 1_800_000_000.0
KNOWN = Known("vllm", 4096, True, False, ("seed", "stop"), {"max_tokens": "max_completion_tokens"}, 256, ("json_schema",), NOW)
HELLO = [Message("system", "s"), Message("user", "hello")]


def endpoint(url="http://127.0.0.1:9", **settings):
    return ChatEndpoint(url, "m", **settings)


def test_what_is_written_is_read(tmp_path):
    file = file_for(tmp_path, endpoint())
    assert read(file) is None
    write(file, KNOWN, [])
    assert read(file, NOW) == KNOWN
    write(file, Known(written=NOW), [])
    assert read(file, NOW) == Known(written=NOW)
    assert [entry.name for entry in file.parent.iterdir()] == [file.name]


def test_a_file_for_each_endpoint_and_model(tmp_path):
    made = [ChatEndpoint("http://127.0.0.1:9", "a"), ChatEndpoint("http://127.0.0.1:9", "b"), ChatEndpoint("http://127.0.0.1:8", "a")]
    files = {file_for(tmp_path, one) for one in made} | {file_for(tmp_path, made[0], "small")}
    assert len(files) == 4
    assert file_for(tmp_path, made[0], "small") == file_for(tmp_path, ChatEndpoint("http://127.0.0.1:7", "a"), "small")
    assert file_for(tmp_path, ChatEndpoint("http://u:pw@127.0.0.1/v1?key=abc", "x/../y")).name.startswith("openai-127.0.0.1-v1-x-..-y-")


def changed(**changes):
    """A file's text with something else in it."""
    known = {**asdict(KNOWN), **changes.pop("known", {})}
    return json.dumps({"version": 1, "written": "", "findings": [], "known": known, **changes})


@pytest.mark.parametrize("text", [
    "", "{", "[]", "null", '{"version": 1}', changed(version=2), changed(known={"window": "many"}), changed(known={"more": 1}),
    changed(known={"dropped": 3}), changed(known={"enforced": [1]}), changed(known={"renamed": []}), changed(known={"written": "today"}),
    "[" * 100_000,
], ids=range(13))  # fmt: skip
def test_a_file_that_cannot_be_used_is_none(tmp_path, text):
    file = tmp_path / "f.json"
    file.write_text(text, "utf-8")
    assert read(file, NOW) is None


def test_a_whole_file_is_one_of_those_but_for_its_fault(tmp_path):
    (tmp_path / "f.json").write_text(changed(), "utf-8")
    assert read(tmp_path / "f.json", NOW) == KNOWN


def test_what_is_old_is_left_aside(tmp_path):
    write(tmp_path / "f.json", KNOWN, [])
    assert read(tmp_path / "f.json", NOW + (MOST_DAYS - 1) * 86400) == KNOWN
    assert read(tmp_path / "f.json", NOW + (MOST_DAYS + 1) * 86400) is None


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "endpoints").write_text("in the way")
    with pytest.raises(ConfigError, match="cannot be kept"):
        write(file_for(tmp_path, endpoint()), KNOWN, [])
    assert os.listdir(tmp_path) == ["endpoints"]


def test_an_endpoint_begins_with_what_is_known_and_says_so_once():
    with FakeServer([chat("a"), chat("b")]) as server:
        made = endpoint(server.url, stop=["END"], seed=3)
        teach(made, KNOWN)
        one, two = made.complete(HELLO), made.complete(HELLO)
        assert made.context_window == 4096
    body = server.requests[0].json
    assert [message["role"] for message in body["messages"]] == ["user"]
    assert (body["max_completion_tokens"], "seed" in body, "stop" in body, "stream" in body) == (256, False, False, False)
    assert two.notes == () and one.notes == (
        "known from react-agent doctor of 2027-01-15: roles made strict; no streaming; no seed; no stop; max_tokens renamed to"
        " max_completion_tokens; output limited to 256 tokens (--fresh finds out anew)",
    )  # fmt: skip


def test_what_changes_nothing_is_no_note():
    with FakeServer([chat("a")]) as server:
        made = endpoint(server.url, stream=False)
        teach(made, Known("other", 4096, enforced=("json_schema",), written=NOW))
        assert made.complete(HELLO).notes == ()


def test_a_window_that_the_server_tells_or_the_user_goes_first():
    props = {"/props": answer(200, {"default_generation_settings": {"n_ctx": 2048}})}
    with FakeServer([], props) as server:
        asked, named = endpoint(server.url), endpoint(server.url, context_window=1024)
        for made in (asked, named):
            teach(made, Known(window=4096))
        assert (asked.context_window, named.context_window) == (2048, 1024)


@pytest.mark.parametrize(("enforced", "sent"), [(("json_object", "json_schema"), "json_schema"), (("json_object",), None), ((), None)])
def test_auto_needs_no_probe(enforced, sent):
    with FakeServer([chat("a")]) as server:
        made = endpoint(server.url, structured="auto", stream=False)
        teach(made, Known("other", enforced=enforced, written=NOW))
        completion = made.complete(HELLO, Request(schema={"type": "object"}))
    assert [seen.json.get("response_format", {}).get("type") for seen in server.requests] == [sent]
    assert "structured output" in completion.notes[0]


@pytest.mark.parametrize(("habits", "expected"), [
    ({}, {"stream": True, "strict_roles": False, "dropped": (), "enforced": ("json_schema", "json_object")}),
    ({"turns": "strict", "enforces": ()}, {"strict_roles": True, "enforced": ()}),
    ({"system": "refused"}, {"strict_roles": True}),
    ({"stream": "refused"}, {"stream": False}),
])  # fmt: skip
def test_what_is_known_after_an_examination(habits, expected):
    with fake_model({"/props": answer(200, {"default_generation_settings": {"n_ctx": 8192}})}, **habits) as server:
        made = endpoint(server.url)
        checks = [check for check in CHECKS if check[0] in ("server", "window", "system", "turns", "streaming", "structured")]
        known = known_from(made, list(examine(Patient(made, 20), checks=checks)), NOW)
    assert (known.server, known.window, known.written) == ("llama.cpp", 8192, NOW)
    assert {name: getattr(known, name) for name in expected} == expected
