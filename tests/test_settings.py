"""Where the model is and what opens it."""

import pytest

from react_agent.endpoints.settings import EndpointSettings, settings_from
from react_agent.errors import ConfigError

LLM = {"LLM_BASE_URL": "http://llm/v1", "LLM_API_KEY": "llm-key", "LLM_MODEL": "llm-model"}
OPENAI = {"OPENAI_BASE_URL": "http://openai/v1", "OPENAI_API_KEY": "openai-key", "OPENAI_MODEL": "openai-model"}
FLAGS = {"base_url": "http://flag/v1", "api_key": "flag-key", "model": "flag-model"}


@pytest.mark.parametrize(("env", "flags", "expected"), [
    ({**LLM, **OPENAI}, FLAGS, ("http://flag/v1", "flag-model", "flag-key")),
    ({**LLM, **OPENAI}, {}, ("http://llm/v1", "llm-model", "llm-key")),
    (OPENAI, {}, ("http://openai/v1", "openai-model", "openai-key")),
    ({"LLM_BASE_URL": " http://h/v1 "}, {}, ("http://h/v1", "", None)),
    ({**OPENAI, "LLM_MODEL": "m", "LLM_API_KEY": "  "}, {}, ("http://openai/v1", "m", "openai-key")),
    ({}, {"base_url": "http://h"}, ("http://h", "", None)),
])  # fmt: skip
def test_the_first_place_that_has_it(env, flags, expected):
    assert settings_from(env, **flags) == EndpointSettings(*expected)


def test_what_the_options_name_goes_before_the_environments_model():
    assert settings_from(LLM, base_url="ollama:qwen2.5:1.5b") == EndpointSettings("ollama:qwen2.5:1.5b", "qwen2.5:1.5b", "llm-key")
    assert settings_from(OPENAI, base_url="ollama:http://h").model == ""
    assert settings_from(LLM, base_url="http://h", api="tgi").model == "llm-model"


def test_a_vendors_key_goes_to_its_address_only():
    """tests/test_open.py has the table."""
    assert settings_from(OPENAI, base_url="http://elsewhere/v1").api_key is None
    assert settings_from({**OPENAI, **LLM}, base_url="http://openai/v1").api_key == "openai-key"
    assert settings_from({**OPENAI, **LLM}, base_url="generic:house.toml").api_key is None
    assert settings_from(LLM, base_url="http://[::1").api_key == "llm-key"


def test_without_a_url_the_error_says_what_to_set():
    with pytest.raises(ConfigError) as caught:
        settings_from({"LLM_API_KEY": "k", "LLM_BASE_URL": " "})
    assert all(word in str(caught.value) for word in ("--endpoint", "LLM_BASE_URL", "--local"))


def test_a_key_from_a_file(tmp_path):
    file = tmp_path / "key"
    file.write_text("\ufeff file-key \n")
    assert settings_from(LLM, api_key_file=file).api_key == "file-key"
    assert settings_from({"LLM_BASE_URL": "http://h", "LLM_API_KEY_FILE": str(file), **OPENAI}).api_key == "file-key"
    assert settings_from({**LLM, "LLM_API_KEY_FILE": str(file)}).api_key == "llm-key"


@pytest.mark.parametrize("content", [b"", b"  \n", b"two words", b"\xff\xfe\x00", b"a" * 70_000])
def test_a_file_that_holds_no_key(tmp_path, content):
    file = tmp_path / "key"
    file.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        settings_from(LLM, api_key_file=file)
    assert str(file) in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        settings_from(LLM, api_key_file=tmp_path / "none")


def test_the_key_is_not_in_the_repr():
    assert "llm-key" not in repr(settings_from(LLM))
