"""Where the model is and what opens it: from options, else from the environment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from react_agent.endpoints.open_spec import BASE_URL_VARIABLES, DEFAULT_URLS, Spec, parse_spec
from react_agent.errors import ConfigError

_PREFIXES = ("LLM", "OPENAI")
_VENDOR_KEYS = {"openai": ("OPENAI_API_KEY",), "anthropic": ("ANTHROPIC_API_KEY",), "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY")}
LONGEST_KEY = 65536  # bytes of a key file; a longer one is not a key


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """What an endpoint is made from; base_url is a URL or whatever else open_endpoint takes. The key stays out of repr."""

    base_url: str
    model: str = ""
    api_key: str | None = field(default=None, repr=False)


def settings_from(
    env: Mapping[str, str], *, base_url: str | None = None, model: str | None = None, api_key: str | None = None,
    api_key_file: str | Path | None = None, api: str = "",
) -> EndpointSettings:  # fmt: skip
    """Each setting from the first place that has it: the argument, LLM_BASE_URL / LLM_API_KEY / LLM_MODEL, then OPENAI_BASE_URL /
    OPENAI_API_KEY / OPENAI_MODEL. A key may be in a file: api_key_file, or LLM_API_KEY_FILE. The key of a vendor (OPENAI_API_KEY,
    ANTHROPIC_API_KEY, GEMINI_API_KEY) goes to that vendor's address only, or to the one that its ..._BASE_URL names. Without a URL:
    ConfigError.
    """
    url = (base_url or base_url_in(env)).strip()
    if not url:
        raise ConfigError(
            "no endpoint: name a server with --endpoint URL or LLM_BASE_URL (for example http://localhost:8080/v1),"
            " or run a model on this machine with --local"
        )
    spec = parse_spec(url, env, api)
    key = (api_key or "").strip() or key_for(spec, env, api_key_file)
    return EndpointSettings(url, (model or model_for(spec, env)).strip(), key)


def base_url_in(env: Mapping[str, str]) -> str:
    """The endpoint that the environment names, empty when it names none."""
    return _first(env, "BASE_URL")


def model_for(spec: Spec, env: Mapping[str, str]) -> str:
    """The model that goes with an endpoint: the one in its name, else the environment's; OpenAI's only for its API."""
    return spec.model or (_first(env, "MODEL") if spec.api in ("openai", "completions", "") else env.get("LLM_MODEL", ""))


def key_for(spec: Spec, env: Mapping[str, str], file: str | Path | None = None) -> str | None:
    """The key that may be sent to an endpoint, None when there is none. file: one that the user named for it."""
    if file is not None:
        return _from_file(Path(file), "the key file")
    if spec.api in ("generic", "command"):
        return None  # what they need is in the file, or the program's own business
    names = [name for vendor, names in _VENDOR_KEYS.items() if _origin(spec.url) == _home(vendor, env) for name in names]
    for name in (*names, "LLM_API_KEY"):
        if value := env.get(name, "").strip():
            return value
    path = env.get("LLM_API_KEY_FILE", "").strip()
    return _from_file(Path(path), "LLM_API_KEY_FILE") if path else None


def missing_key(spec: Spec) -> str:
    """The variable for the key of an address that answers nobody without one; empty for all others."""
    return next((names[0] for vendor, names in _VENDOR_KEYS.items() if _origin(spec.url) == _origin(DEFAULT_URLS[vendor])), "")


def _home(vendor: str, env: Mapping[str, str]) -> tuple[str, str]:
    """Where a vendor's key belongs."""
    return _origin(env.get(BASE_URL_VARIABLES[vendor], "").strip() or DEFAULT_URLS[vendor])


def _origin(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", url  # the endpoint says what is wrong with it
    return parts.scheme, parts.netloc.rpartition("@")[2].lower()


def _first(env: Mapping[str, str], name: str) -> str:
    return next((value for prefix in _PREFIXES if (value := env.get(f"{prefix}_{name}", "").strip())), "")


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
