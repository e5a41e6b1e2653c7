"""open_endpoint: what a person writes, what a server is, which key goes where, which model is taken."""

import json
from threading import Event

import pytest
from fake_server import Answer, FakeServer, answer, streamed_text
from families import HELLO

import react_agent
from react_agent.endpoints import open_local
from react_agent.endpoints.anthropic import AnthropicEndpoint
from react_agent.endpoints.chat import ChatEndpoint
from react_agent.endpoints.command import CommandEndpoint
from react_agent.endpoints.completions import CompletionsEndpoint
from react_agent.endpoints.gemini import GeminiEndpoint
from react_agent.endpoints.generic import GenericEndpoint
from react_agent.endpoints.koboldcpp import KoboldEndpoint
from react_agent.endpoints.llamacpp import LlamaCppEndpoint
from react_agent.endpoints.ollama import OllamaEndpoint
from react_agent.endpoints.open import open_endpoint
from react_agent.endpoints.open_local import find_local
from react_agent.endpoints.open_probe import Found, recognise
from react_agent.endpoints.open_spec import Spec, parse_spec
from react_agent.endpoints.tgi import TgiEndpoint
from react_agent.errors import ConfigError

DEAD = "http://127.0.0.1:9"


def opened(spec, env=None, **settings):
    return open_endpoint(spec, env=env or {}, **settings)


# what a text names


@pytest.mark.parametrize(("text", "expected"), [
    ("openai:http://h/v1", Spec("openai", "http://h/v1", explicit=True)),
    ("openai:gpt-x", Spec("openai", "https://api.openai.com/v1", "gpt-x", explicit=True)),
    ("completions:http://h:8000", Spec("completions", "http://h:8000", explicit=True)),
    ("ollama:", Spec("ollama", "http://127.0.0.1:11434", explicit=True)),
    ("ollama:qwen2.5:1.5b", Spec("ollama", "http://127.0.0.1:11434", "qwen2.5:1.5b", explicit=True)),
    ("ollama:http://h:1", Spec("ollama", "http://h:1", explicit=True)),
    ("ollama:localhost:1", Spec("ollama", "http://localhost:1", explicit=True)),
    ("ollama:192.168.1.5", Spec("ollama", "http://192.168.1.5", explicit=True)),
    ("llamacpp:", Spec("llamacpp", "http://127.0.0.1:8080", explicit=True)),
    ("kobold:[::1]:5001", Spec("kobold", "http://[::1]:5001", explicit=True)),
    ("anthropic:claude-x", Spec("anthropic", "https://api.anthropic.com", "claude-x", explicit=True)),
    ("gemini:", Spec("gemini", "https://generativelanguage.googleapis.com", explicit=True)),
    ("generic: house.toml", Spec("generic", rest="house.toml", explicit=True)),
    ("command:llm -m 'a b'", Spec("command", rest="llm -m 'a b'", explicit=True)),
    (" http://h:8080 ", Spec("", "http://h:8080")), ("localhost:8080", Spec("", "http://localhost:8080")),
    ("https://api.openai.com", Spec("openai", "https://api.openai.com")), ("http://h/v1", Spec("openai", "http://h/v1")),
    ("http://h/v1/", Spec("openai", "http://h/v1/")), ("https://openrouter.ai/api/v1", Spec("openai", "https://openrouter.ai/api/v1")),
    ("https://h/openai/deployments/d?api-version=1", Spec("openai", "https://h/openai/deployments/d?api-version=1")),
    ("http://h/v1/chat/completions", Spec("openai", "http://h/v1/chat/completions")),
    ("http://h/v1/completions", Spec("completions", "http://h/v1/completions")),
    ("http://h/completion", Spec("llamacpp", "http://h/completion")), ("http://h/v1/messages", Spec("anthropic", "http://h/v1/messages")),
    ("https://api.anthropic.com", Spec("anthropic", "https://api.anthropic.com")),
    ("http://h/api/chat", Spec("ollama", "http://h/api/chat")), ("http://h/api/generate", Spec("ollama", "http://h/api/generate")),
    ("http://h/api/v1/generate", Spec("kobold", "http://h/api/v1/generate")), ("http://h/generate", Spec("tgi", "http://h/generate")),
    ("http://h/generate_stream", Spec("tgi", "http://h/generate_stream")),
    ("https://generativelanguage.googleapis.com/v1beta", Spec("gemini", "https://generativelanguage.googleapis.com/v1beta")),
    ("https://generativelanguage.googleapis.com/v1beta/openai", Spec("openai", "https://generativelanguage.googleapis.com/v1beta/openai")),
], ids=str)  # fmt: skip
def test_what_a_text_names(text, expected):
    assert parse_spec(text, {}) == expected


@pytest.mark.parametrize(("text", "api", "said"), [
    ("antropic:x", "", "did you mean anthropic:"), ("banana", "", "names no endpoint"), ("", "", "names no endpoint"),
    ("myhost:8080", "", "http://host:port"), ("tgi:", "", "tgi:http://127.0.0.1:8000"), ("tgi:model", "", "needs the URL"),
    ("completions:", "", "needs the URL"), ("http://h", "openia", "did you mean openai"), ("ollama:x", "openai", "give one of them"),
    ("command:cat", "openai", "give one of them"),
])  # fmt: skip
def test_what_names_nothing(text, api, said):
    with pytest.raises(ConfigError) as caught:
        parse_spec(text, {}, api)
    assert said in str(caught.value)


@pytest.mark.parametrize(("env", "text", "url"), [
    ({"OLLAMA_HOST": "0.0.0.0:9999"}, "ollama:m", "http://127.0.0.1:9999"), ({"OLLAMA_HOST": "box"}, "ollama:m", "http://box:11434"),
    ({"OLLAMA_HOST": "https://box"}, "ollama:m", "https://box"), ({"OPENAI_BASE_URL": "http://h/v1"}, "openai:m", "http://h/v1"),
    ({"ANTHROPIC_BASE_URL": "http://gw"}, "anthropic:m", "http://gw"),
    ({"OPENAI_BASE_URL": "http://h"}, "llamacpp:", "http://127.0.0.1:8080"),
])  # fmt: skip
def test_where_the_environment_says_a_family_is(env, text, url):
    assert parse_spec(text, env).url == url


# which endpoint that is


@pytest.mark.parametrize(("spec", "settings", "kind"), [
    (f"openai:{DEAD}", {}, ChatEndpoint), (f"completions:{DEAD}", {}, CompletionsEndpoint),
    (f"ollama:{DEAD}", {"model": "m"}, OllamaEndpoint),
    (f"llamacpp:{DEAD}", {}, LlamaCppEndpoint), (f"tgi:{DEAD}", {}, TgiEndpoint), (f"kobold:{DEAD}", {}, KoboldEndpoint),
    (f"anthropic:{DEAD}", {"model": "m"}, AnthropicEndpoint), (f"gemini:{DEAD}", {"model": "m"}, GeminiEndpoint),
    (DEAD, {"api": "tgi"}, TgiEndpoint), (f"{DEAD}/v1", {}, ChatEndpoint), (f"{DEAD}/v1", {"template": "chatml"}, CompletionsEndpoint),
    (DEAD, {}, ChatEndpoint), (f"ollama:{DEAD}", {"model": "m", "template": "auto"}, OllamaEndpoint), ("command:cat", {}, CommandEndpoint),
])  # fmt: skip
def test_which_endpoint(spec, settings, kind):
    assert type(opened(spec, **settings)) is kind


def test_settings_and_template_are_handed_on(tmp_path):
    made = opened(f"llamacpp:{DEAD}", template="gemma", temperature=0.5, max_output_tokens=9, api_key="k" * 8)
    assert (made.template.name, made.temperature, made.max_output_tokens, made.secrets.values) == ("gemma", 0.5, 9, ("k" * 8,))
    assert opened("command:cat", template="gemma", model="m").describe()["template"] == "gemma"
    file = tmp_path / "x.toml"
    file.write_text(f'url = "{DEAD}"\n[body]\nq = "{{prompt}}"\n[reply]\ntext = "a"\n')
    generic = opened(f"generic:{file}", template="gemma", model="m")
    assert (type(generic), generic.template.name, generic.model) == (GenericEndpoint, "gemma", "m")


@pytest.mark.parametrize(("spec", "settings", "said"), [
    (f"openai:{DEAD}", {"template": "chatml"}, "takes messages, not a prompt"),
    (f"anthropic:{DEAD}", {"template": "chatml", "model": "m"}, "takes messages, not a prompt"),
    (f"llamacpp:{DEAD}", {"template": "x"}, "no prompt template"), ("command:cat", {"temperature": 1}, "no setting 'temperature'"),
    (f"llamacpp:{DEAD}", {"tempreature": 1}, "no setting 'tempreature'"), ("http://", {}, "base URL"),
    ("anthropic:m", {}, "set ANTHROPIC_API_KEY"), ("gemini:m", {}, "set GEMINI_API_KEY"), ("openai:m", {}, "set OPENAI_API_KEY"),
    (f"ollama:{DEAD}", {}, "which model of http://127.0.0.1:9? it lists none"), ("generic:none.toml", {}, "none.toml"),
])  # fmt: skip
def test_what_cannot_be_opened(spec, settings, said):
    with pytest.raises(ConfigError) as caught:
        opened(spec, **settings)
    assert said in str(caught.value)


# which key goes where


ALL_KEYS = {"OPENAI_API_KEY": "openai-key", "ANTHROPIC_API_KEY": "anthropic-key", "GEMINI_API_KEY": "gemini-key", "LLM_API_KEY": "llm-key"}
VENDORS = {name: key for name, key in ALL_KEYS.items() if name != "LLM_API_KEY"}


MOVED = {**VENDORS, "OPENAI_BASE_URL": "http://h/v1"}


@pytest.mark.parametrize(("spec", "env", "key"), [
    ("openai:m", ALL_KEYS, "openai-key"), ("anthropic:m", ALL_KEYS, "anthropic-key"), ("gemini:m", ALL_KEYS, "gemini-key"),
    ("https://generativelanguage.googleapis.com/v1beta/openai", VENDORS, "gemini-key"),
    ("openai:https://other.example/v1", ALL_KEYS, "llm-key"), ("openai:https://other.example/v1", VENDORS, None),
    ("https://api.openai.com.evil.example/v1", VENDORS, None), ("http://api.openai.com/v1", VENDORS, None),
    (f"anthropic:{DEAD}", VENDORS, None), ("http://h/v1", MOVED, "openai-key"), ("openai:m", MOVED, "openai-key"),
    (f"ollama:{DEAD}", VENDORS, None), (f"tgi:{DEAD}", {"LLM_API_KEY": "llm-key"}, "llm-key"),
])  # fmt: skip
def test_a_vendors_key_goes_to_its_address_only(spec, env, key):
    sent = opened(spec, env, model="m").secrets.headers
    assert [text.removeprefix("Bearer ") for text in sent.values()] == ([] if key is None else [key])


def test_a_vendors_key_that_belongs_elsewhere_is_not_taken():
    with pytest.raises(ConfigError, match="wants a key"):
        opened("https://api.openai.com/v1", MOVED, model="m")


# what a server is


def models(owner, *names):
    return {"/v1/models": answer(200, {"object": "list", "data": [{"id": name, "owned_by": owner} for name in names]})}


SERVERS = [
    ("llama.cpp", "openai", {"/props": answer(200, {"default_generation_settings": {"n_ctx": 4096}}), **models("llamacpp", "m.gguf")}),
    ("llama.cpp", "openai", {"/props": answer(401, {"error": {"message": "Invalid API Key"}}, {"Server": "llama.cpp"})}),
    ("KoboldCpp", "kobold", {"/api/extra/version": answer(200, {"result": "KoboldCpp", "version": "1.90"}),
                             "/api/version": answer(200, {"version": "0.7.0"}), **models("koboldcpp", "koboldcpp/m"),
                             "/props": answer(200, {"default_generation_settings": {"n_ctx": 4096}})}),
    ("Ollama", "ollama", {"/api/version": answer(200, {"version": "0.12.0"}), **models("library", "qwen2.5:1.5b", "llama3.2:1b")}),
    ("Ollama", "ollama", {"/api/version": answer(200, {"version": "0.12.0"}), "/v1/models": answer(200, {"object": "list", "data": None})}),
    ("Ollama", "ollama", models("library", "m")),
    ("TGI", "tgi", {"/info": answer(200, {"model_id": "org/m", "max_total_tokens": 4096}), **models("org/m", "org/m")}),
    ("vLLM", "openai", models("vllm", "org/m")), ("SGLang", "openai", models("sglang", "m")),
    ("LM Studio", "openai", models("organization_owner", "m")), ("OpenAI-compatible server", "openai", models("someone", "m")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "api", "look_ups"), SERVERS, ids=[f"{name}-{place}" for place, (name, _, _) in enumerate(SERVERS)])
def test_what_a_server_is(name, api, look_ups):
    with FakeServer([], look_ups) as server:
        found = recognise(server.url)
        assert (found.server, found.api, found.url) == (name, api, server.url)
        assert all("authorization" not in seen.headers and seen.method == "GET" for seen in server.looked_up)


@pytest.mark.parametrize("look_ups", [
    {}, {route: answer(200, "<html>app</html>") for route in ("/props", "/info", "/v1/models", "/api/version")},
    {"/api/version": answer(200, {"version": "0.6.5"})}, {"/v1/models": answer(401, {"error": "Unauthorized"})},
    {"/info": answer(200, {"version": 1})}, {"/props": answer(200, [1, 2])}, {"/v1/models": answer(200, "[" * 100_000)},
    {"/v1/models": answer(302, b"", {"Location": "http://127.0.0.1:9/v1/models"})},
])  # fmt: skip
def test_what_is_no_model_server(look_ups):
    with FakeServer([], look_ups) as server:
        assert recognise(server.url) is None


def test_a_server_that_never_answers_costs_no_more_than_the_time_for_it():
    hanging = {route: Answer(200, {}, [Event(), b"x"]) for route in ("/props", "/info", "/v1/models", "/api/version", "/api/extra/version")}
    with FakeServer([], hanging) as server:
        assert recognise(server.url, 0.2) is None


def test_no_key_and_no_password_goes_into_a_probe():
    with FakeServer([streamed_text("ok")], models("vllm", "m")) as server:
        made = opened(server.url.replace("//", "//me:password@"), api_key="secret-key")
        made.complete(HELLO)
    assert all("authorization" not in seen.headers for seen in server.looked_up)
    assert server.requests[0].headers["authorization"] == "Bearer secret-key"


@pytest.mark.parametrize(("look_ups", "settings", "kind"), [
    (SERVERS[0][2], {}, ChatEndpoint), (SERVERS[0][2], {"template": "chatml"}, LlamaCppEndpoint), (SERVERS[2][2], {}, KoboldEndpoint),
    (SERVERS[3][2], {"model": "llama3.2:1b"}, OllamaEndpoint), (SERVERS[-5][2], {}, TgiEndpoint), (SERVERS[-4][2], {}, ChatEndpoint),
    (SERVERS[-4][2], {"template": "chatml"}, CompletionsEndpoint), ({}, {}, ChatEndpoint),
])  # fmt: skip
def test_a_url_alone_is_asked_as_its_server_wants(look_ups, settings, kind):
    with FakeServer([], look_ups) as server:
        assert type(opened(server.url, **settings)) is kind


# which model is taken


def test_the_only_model_of_a_server_need_not_be_named():
    with FakeServer([], models("vllm", "org/m")) as server:
        assert opened(server.url).model == "org/m"
        assert opened(server.url, {"LLM_MODEL": "other"}).model == "other"
        assert opened(server.url, {"LLM_MODEL": "other"}, model="mine").model == "mine"
    with FakeServer([], models("vllm", "a", "b")) as server:
        assert opened(server.url).model == ""
    tags = {"/api/tags": answer(200, {"models": [{"name": "qwen2.5:1.5b"}]})}
    with FakeServer([], tags) as server:
        assert opened(f"ollama:{server.url}").model == "qwen2.5:1.5b"


def test_one_of_several_models_must_be_named_where_the_api_wants_one():
    said = r"it has qwen2.5:1.5b, llama3.2:1b; name one with --model"
    with FakeServer([], SERVERS[3][2]) as server, pytest.raises(ConfigError, match=said):
        opened(server.url)


def test_openais_model_is_for_its_api_only():
    assert opened(f"ollama:{DEAD}", {"OPENAI_MODEL": "gpt", "LLM_MODEL": "m"}).model == "m"
    assert opened(f"openai:{DEAD}", {"OPENAI_MODEL": "gpt"}).model == "gpt"
    assert opened("anthropic:claude-x", {"LLM_MODEL": "m", "ANTHROPIC_API_KEY": "anthropic-key"}).model == "claude-x"


# what runs here


def test_the_servers_of_this_machine_are_found(monkeypatch):
    with FakeServer([], SERVERS[3][2]) as first, FakeServer([], {}) as no_model, FakeServer([], SERVERS[-4][2]) as second:
        monkeypatch.setattr(open_local, "PORTS", (first.port, no_model.port, 9, second.port))
        ollama = Found(first.url, "Ollama", "ollama", ("qwen2.5:1.5b", "llama3.2:1b"))
        assert find_local() == [ollama, Found(second.url, "vLLM", "openai", ("org/m",))]


def test_none_is_found_where_nobody_looks():
    assert find_local() == []


def test_the_public_name():
    assert react_agent.open_endpoint is open_endpoint
    assert "127.0.0.1" in json.dumps(react_agent.open_endpoint(f"openai:{DEAD}", env={}).describe())
