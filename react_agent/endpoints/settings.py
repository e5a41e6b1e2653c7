"""Where the model is and what opens it: from options, else from the environment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from react_agent.errors import ConfigError

_PREFIXES = ("LLM", "OPENAI")
LONGEST_KEY = 65536  # bytes of a key file; a longer one is not a key


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """What an endpoint is made from. The key stays out of repr."""

    base_url: str
    model: str = ""
    api_key: str | None = field(default=None, repr=False)


def settings_from(
    env: Mapping[str, str], *, base_url: str | None = None, model: str | None = None, api_key: str | None = None,
    api_key_file: str | Path | None = None,
) -> EndpointSettings:  # fmt: skip
    """Each setting from the first place that has it: the argument, LLM_BASE_URL / LLM_API_KEY / LLM_MODEL, then OPENAI_BASE_URL /
    OPENAI_API_KEY / OPENAI_MODEL. A key may be in a file: api_key_file, or LLM_API_KEY_FILE. Without a URL: ConfigError.
    """
    url = base_url or _first(env, "BASE_URL")
    if not url:
        raise ConfigError(
            "no endpoint: name a server with --endpoint URL or LLM_BASE_URL (for example http://localhost:8080/v1),"
            " or run a model on this machine with --local"
        )
    return EndpointSettings(url.strip(), (model or _first(env, "MODEL")).strip(), _key(env, api_key, api_key_file))


def _first(env: Mapping[str, str], name: str) -> str:
    return next((value for prefix in _PREFIXES if (value := env.get(f"{prefix}_{name}", "").strip())), "")


def _key(env: Mapping[str, str], given: str | None, file: str | Path | None) -> str | None:
    if given:
        return given.strip() or None
    if file is not None:
        return _from_file(Path(file), "the key file")
    if value := env.get("LLM_API_KEY", "").strip():
        return value
    if path := env.get("LLM_API_KEY_FILE", "").strip():
        return _from_file(Path(path), "LLM_API_KEY_FILE")
    return env.get("OPENAI_API_KEY", "").strip() or None


def _from_file(path: Path, what: str) -> str:
    """The key in a file: its text without the white space around it."""
    try:
        with path.open("rb") as stream:
            raw = stream.read(LONGEST_KEY + 1)
        key = raw.decode("utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{what} {path} cannot be read: {error}") from None
    if not key or len(raw) > LONGEST_KEY or len(key.split()) != 1:
        raise ConfigError(f"{what} {path} must hold the key and nothing else")
    return key
