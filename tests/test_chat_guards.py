"""Time, alarms and secrets of the chat endpoint, and what it asks a server beside the replies."""

import json
import threading

import pytest
from chat_calls import HELLO, OK, ask, endpoint, failing, tick
from fake_server import FakeServer, answer, chat, chunk, stream, streamed_text

from react_agent.endpoints.base import Request
from react_agent.endpoints.chat import ChatEndpoint
from react_agent.errors import EndpointError
from react_agent.types import Message

# time


def test_pings_do_not_hold_a_call_beyond_its_deadline():
    def pings(seen, number):
        return stream(*[b":\n\n"] * 500, threading.Event())

    error, seen = failing(pings, clock=tick(), timeout_s=20)
    assert (error.kind, len(seen)) == ("timeout", 1)


def test_a_timeout_carries_what_had_arrived_and_closes_the_connection():
    with FakeServer([stream(chunk("par"), threading.Event())]) as server:
        made = endpoint(server, clock=tick(), timeout_s=30)
        with pytest.raises(EndpointError) as caught:
            made.complete(HELLO)
        assert server.client_gone.wait(10)
    assert (caught.value.kind, caught.value.partial) == ("timeout", "par")


def test_the_deadline_of_the_run_counts_too():
    error, _ = failing([stream(threading.Event())], Request(deadline=10.0), clock=tick(), timeout_s=1000)
    assert error.kind == "timeout"


def test_the_first_byte_has_a_deadline_of_its_own():
    with FakeServer([stream(threading.Event()), streamed_text("hi")]) as server:
        made = endpoint(server, clock=tick(), timeout_s=10_000, first_byte_timeout_s=5)
        assert made.complete(HELLO).text == "hi"
    assert len(server.requests) == 2


@pytest.mark.parametrize("kind", ["headers", "stream"])
def test_a_cancel_interrupts_a_blocked_read_and_closes_the_connection(kind):
    cancel = threading.Event()

    def reply(seen, number):
        return stream(chunk("par"), threading.Event())

    with FakeServer(reply) as server:
        if kind == "headers":
            server._reply = lambda connection, given: server._hold(connection, threading.Event())
        canceller = threading.Thread(target=lambda: server.started.wait(10) and cancel.set())
        canceller.start()
        with pytest.raises(EndpointError) as caught:
            endpoint(server).complete(HELLO, Request(cancel=cancel))
        canceller.join()
        assert server.client_gone.wait(10)
    assert caught.value.kind == "cancelled"


def test_a_cancel_interrupts_a_wait():
    cancel = threading.Event()
    with FakeServer([answer(503, b"", {"Retry-After": "60"})]) as server:
        made = ChatEndpoint(server.url, sleep=lambda seconds: cancel.set())
        with pytest.raises(EndpointError) as caught:
            made.complete(HELLO, Request(cancel=cancel))
    assert caught.value.kind == "cancelled"


# alarms


def test_a_prompt_that_was_cut_silently_is_noticed():
    long = [Message("system", "be brief"), Message("user", "word " * 160_000)]
    usage = {"prompt_tokens": 16387, "completion_tokens": 5, "total_tokens": 16392}
    completion, _ = ask([chat('{"final_answer":"x"}', usage=usage)], messages=long)
    assert completion.notes[0].startswith("silent_truncation_suspected: the server counted 16387 prompt tokens where about ")


def test_a_count_that_falls_while_the_history_grows():
    with FakeServer([chat("a", usage={"prompt_tokens": tokens, "completion_tokens": 1}) for tokens in (30, 22)]) as server:
        made = endpoint(server)
        first = made.complete(HELLO)
        second = made.complete([*HELLO, Message("assistant", "a"), Message("user", "and now, with more words?")])
    assert first.notes == ()
    assert second.notes[0].startswith("silent_truncation_suspected: the prompt grew")


def test_honest_counts_raise_no_alarm():
    with FakeServer(lambda seen, number: chat("a", usage={"prompt_tokens": 900 + 10 * number, "completion_tokens": 1})) as server:
        made = endpoint(server)
        history = [Message("user", "some words here " * 300)]
        for _ in range(3):
            assert made.complete(history).notes == ()
            history += [Message("assistant", "a"), Message("user", "more")]


# secrets


def test_the_key_is_nowhere_to_be_seen():
    key = "sk-very-secret-1234567890"
    body = {"error": {"message": f"Unsupported parameter: 'stop' with key {key}", "param": "stop"}}
    with FakeServer([answer(400, body), answer(401, {"error": f"wrong key {key} or sk-very-se***7890 or Bearer {key}"})]) as server:
        made = endpoint(server, api_key=key, headers={"X-Gateway-Token": "hidden-too"}, extra_body={"user": key}, stop=["END"])
        with pytest.raises(EndpointError) as caught:
            made.complete(HELLO)
    everything = json.dumps(made.describe()) + repr(made) + str(vars(made)["secrets"]) + str(caught.value) + repr(caught.value.__dict__)
    assert "very-se" not in everything
    assert "hidden-too" not in everything
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_a_placeholder_is_no_secret():
    made = ChatEndpoint("http://models.example.com/v1", api_key="ollama", extra_body={"note": "ask ollama", "more": ["x", {"y": 1}]})
    assert made.warnings == ()
    assert made.describe()["extra_body"] == {"note": "ask ollama", "more": ["x", {"y": 1}]}


def test_notes_do_not_show_the_key():
    body = {"error": {"message": "Unsupported parameter: 'stop' for topsecret99", "param": "stop"}}
    completion, _ = ask([answer(400, body), OK], api_key="topsecret99", stop=["END"])
    assert completion.notes == ("parameter 'stop' dropped: Unsupported parameter: 'stop' for [key]",)


def test_a_key_over_plain_http_to_another_machine_is_warned_of():
    made = ChatEndpoint("http://models.example.com/v1", api_key="secret-key")
    assert made.warnings == ("the key travels unencrypted: models.example.com is reached over http://, use https://",)
    assert ChatEndpoint("https://models.example.com/v1", api_key="secret-key").warnings == ()
    assert ChatEndpoint("http://models.example.com/v1").warnings == ()
    assert ChatEndpoint("http://localhost:1/v1", api_key="secret-key").warnings == ()


def test_a_redirect_does_not_carry_the_key_elsewhere():
    with FakeServer([OK]) as other, FakeServer([answer(307, b"", {"Location": f"{other.url}/v1/chat/completions"})]) as server:
        with pytest.raises(EndpointError) as caught:
            endpoint(server, api_key="secret-key").complete(HELLO)
        assert other.requests == []
    assert other.url in caught.value.message


def test_a_redirect_on_the_same_server_is_followed():
    moved = answer(308, b"", {"Location": "/v1/chat/completions/"})
    _, seen = ask([moved, OK], api_key="secret-key")
    assert [one.path for one in seen] == ["/v1/chat/completions", "/v1/chat/completions/"]
    assert seen[1].json == seen[0].json
    error, _ = failing(lambda seen, number: moved)
    assert "again and again" in error.message


def test_a_proxy_is_never_asked_for_this_machine(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    assert ask([OK])[0].text == '{"final_answer":"ok"}'


def test_a_proxy_is_used_for_other_machines(monkeypatch):
    with FakeServer([OK]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        ChatEndpoint("http://models.example.com/v1").complete(HELLO)
    assert proxy.requests[0].path == "http://models.example.com/v1/chat/completions"


# what is only nice to know


def test_the_window_is_asked_for_once_and_only_when_it_is_wanted():
    props = {"/props": answer(200, {"default_generation_settings": {"n_ctx": 4096}, "total_slots": 1})}
    with FakeServer([chat("hi", headers={"Server": "llama.cpp"})], props) as server:
        made = endpoint(server)
        made.complete(HELLO)
        assert server.looked_up == []
        assert [made.context_window, made.context_window] == [4096, 4096]
    assert [seen.path for seen in server.looked_up] == ["/props"]


@pytest.mark.parametrize(("entry", "window"), [
    ({"id": "m", "max_model_len": 32768}, 32768), ({"id": "m", "meta": {"n_ctx": 8192}}, 8192),
    ({"id": "m", "context_length": 128000}, 128000),
    ({"id": "other", "max_model_len": 5}, None), ({"id": "m"}, None), ({"id": "m", "context_window": True}, None),
])  # fmt: skip
def test_the_window_from_the_list_of_models(entry, window):
    with FakeServer([], {"/v1/models": answer(200, {"data": [{"id": "a"}, entry]})}) as server:
        assert endpoint(server).context_window == window


@pytest.mark.parametrize("body", ["<html>", b"\xff", "[1, 2]", "{}", '{"data": [3]}', "null"])
def test_look_ups_that_fail_say_nothing(body):
    with FakeServer([], {"/v1/models": answer(200, body), "/props": answer(200, body)}) as server:
        assert endpoint(server).context_window is None


def test_tokens_are_counted_by_llamacpp_itself():
    look_ups = {"/apply-template": answer(200, {"prompt": "<s>hello"}), "/tokenize": answer(200, {"tokens": [1, 2, 3]})}
    with FakeServer([chat("hi", headers={"Server": "llama.cpp"})], look_ups) as server:
        made = endpoint(server)
        assert made.count_tokens(HELLO) is None
        made.complete(HELLO)
        assert made.count_tokens(HELLO) == 3
    assert server.looked_up[1].json == {"content": "<s>hello", "add_special": True, "parse_special": True}


def test_describe_names_the_settings():
    made = ChatEndpoint("http://localhost:8080/v1?key=abcdef", "m", extra_body={"top_k": 5}, stop=["END"])
    assert made.describe() == {
        "endpoint": "openai", "url": "http://localhost:8080/v1", "model": "m", "temperature": 0.0, "max_output_tokens": 512, "stream": True,
        "stop": ["END"], "seed": None, "extra_body": {"top_k": 5}, "timeout_s": 120.0, "structured": "off",
    }  # fmt: skip
    assert repr(made) == "ChatEndpoint('http://localhost:8080/v1', model='m')"


def test_connections_are_used_again():
    ports = set()
    with FakeServer(lambda seen, number: streamed_text("hi")) as server:
        serve, made = server._serve, endpoint(server)
        server._serve = lambda connection: (ports.add(connection.getpeername()[1]), serve(connection))
        for _ in range(3):
            made.complete(HELLO)
        made.close()
    assert len(ports) == 1


def test_many_threads_share_an_endpoint():
    with FakeServer(lambda seen, number: streamed_text(seen.json["messages"][0]["content"])) as server:
        made, got = endpoint(server), {}

        def one(n):
            got[n] = made.complete([Message("user", f"number {n}")]).text

        threads = [threading.Thread(target=one, args=(n,)) for n in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert got == {n: f"number {n}" for n in range(12)}
