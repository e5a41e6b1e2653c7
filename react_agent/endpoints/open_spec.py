"""What a person writes to name an endpoint: NAME:URL, NAME:MODEL, generic:FILE, command:PROGRAM ARGS, or a URL alone."""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from react_agent.endpoints import anthropic, gemini, ollama
from react_agent.errors import ConfigError

OPENAI_URL = "https://api.openai.com/v1"
# Where a family is when no URL is given; empty: it must be given.
DEFAULT_URLS = {
    "openai": OPENAI_URL, "completions": "", "ollama": ollama.DEFAULT_URL, "llamacpp": "http://127.0.0.1:8080",
    "anthropic": anthropic.DEFAULT_URL, "gemini": gemini.DEFAULT_URL, "tgi": "", "kobold": "http://127.0.0.1:5001",
}  # fmt: skip
APIS = tuple(DEFAULT_URLS)
BASE_URL_VARIABLES = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL", "gemini": "GEMINI_BASE_URL"}
_WITH_MODEL = ("openai", "ollama", "anthropic", "gemini")  # what stands behind the colon may be a model
_FORMS = "openai:URL, completions:URL, ollama:[URL|MODEL], llamacpp:URL, anthropic:[MODEL], gemini:[MODEL], tgi:URL, kobold:URL, " \
         "generic:FILE, command:PROGRAM ARGS, or http://host:port"  # fmt: skip
_HOST = re.compile(r"(?:localhost|\d+\.\d+\.\d+\.\d+|\[[0-9a-fA-F:]+\])(?::\d+)?(?:/\S*)?")
_BY_HOST = {"api.openai.com": "openai", "api.anthropic.com": "anthropic"}
_BY_PATH = (
    (r"/openai(/|$)|/chat/completions$", "openai"), (r"/completions$", "completions"), (r"/completion$", "llamacpp"),
    (r"/messages$", "anthropic"), (r":(stream)?generateContent$|/v1beta$", "gemini"),
    (r"/api/v1/generate$|/api/extra/generate/stream$", "kobold"), (r"/api/(chat|generate)$", "ollama"),
    (r"/generate(_stream)?$", "tgi"), (r"/v\d+$", "openai"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Spec:
    """api: a family of APIS, "generic", "command", or empty where only the server can tell. explicit: the person named it.

    url: of an HTTP family. rest: the file or the command. model: where one was named.
    """

    api: str
    url: str = ""
    model: str = ""
    rest: str = ""
    explicit: bool = False


def parse_spec(text: str, env: Mapping[str, str], api: str = "") -> Spec:
    """What a text names. api: the family for a URL alone. env: where else a family may be told to be. Raises ConfigError."""
    text = text.strip()
    name, colon, rest = text.partition(":")
    if api and api not in APIS:
        raise ConfigError(f"there is no API {api!r}{_near(api)}; there are {', '.join(APIS)}")
    if colon and name in (*APIS, "generic", "command"):
        if api and api != name:
            raise ConfigError(f"{text!r} names the API {name}, --api (or api=) names {api}: give one of them")
        return Spec(name, rest=rest.strip(), explicit=True) if name not in APIS else _of_family(name, rest.strip(), env)
    if "://" in text or _HOST.fullmatch(text):
        url = text if "://" in text else f"http://{text}"
        return Spec(api or _by_url(url), url, explicit=bool(api))
    raise ConfigError(f"{text!r} names no endpoint{_near(name)}; it is one of {_FORMS}")


def _of_family(name: str, rest: str, env: Mapping[str, str]) -> Spec:
    if "://" in rest:
        return Spec(name, rest, explicit=True)
    if _HOST.fullmatch(rest):
        return Spec(name, f"http://{rest}", explicit=True)
    url = _told_url(name, env) or DEFAULT_URLS[name]
    if not url or (rest and name not in _WITH_MODEL):
        raise ConfigError(f"{name}: needs the URL of the server behind the colon, for example {name}:http://127.0.0.1:8000")
    return Spec(name, url, model=rest, explicit=True)


def _told_url(name: str, env: Mapping[str, str]) -> str:
    """Where the environment says that a family is."""
    if name != "ollama":
        return env.get(BASE_URL_VARIABLES.get(name, ""), "").strip()
    host = env.get("OLLAMA_HOST", "").strip().replace("0.0.0.0", "127.0.0.1")
    if not host or "://" in host:
        return host
    return f"http://{host}" if re.search(r":\d+$", host) else f"http://{host}:11434"


def _by_url(url: str) -> str:
    """The family that a URL gives away by its host or by its path."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""  # the endpoint says what is wrong with it
    path = parts.path.rstrip("/")
    by_path = next((api for pattern, api in _BY_PATH if re.search(pattern, path)), "")
    if parts.hostname == "generativelanguage.googleapis.com":
        return "openai" if by_path == "openai" and "/openai" in path else "gemini"
    return _BY_HOST.get(parts.hostname or "", by_path)


def _near(name: str) -> str:
    close = difflib.get_close_matches(name.lower(), (*APIS, "generic", "command"), 1)
    return f" (did you mean {close[0]}:?)" if close else ""
