"""What server is behind a URL: a handful of look-ups side by side, without a key, and what their answers give away."""

import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from react_agent.endpoints.http import HttpClient
from react_agent.endpoints.http_decode import each, fields, string
from react_agent.endpoints.http_endpoint import HttpEndpoint
from react_agent.endpoints.http_retry import Deadline
from react_agent.endpoints.http_secrets import without_user
from react_agent.endpoints.http_url import beside
from react_agent.errors import EndpointError

PROBE_S = 3.0            # for all look-ups together
PROBE_BYTES = 4 << 20    # a list of models is no longer
ROUTES = ("/api/extra/version", "/props", "/api/version", "/info", "/v1/models")
# owned_by in the list of models -> the server and its family.
_OWNERS = {
    "llamacpp": ("llama.cpp", "openai"), "vllm": ("vLLM", "openai"), "sglang": ("SGLang", "openai"), "library": ("Ollama", "ollama"),
    "organization_owner": ("LM Studio", "openai"), "koboldcpp": ("KoboldCpp", "kobold"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """A server. server: its program, for people. api: the family that asks it best."""

    url: str
    server: str
    api: str
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int = 0
    headers: Mapping[str, str] | None = None
    data: Any = None


def recognise(url: str, seconds: float | None = None) -> Found | None:
    """The server behind a URL, None when nothing there is known. Takes no longer than seconds (PROBE_S), and sends no key."""
    url, seconds = without_user(url), PROBE_S if seconds is None else seconds
    client = HttpClient(connect_timeout_s=seconds, max_bytes=PROBE_BYTES)
    with ThreadPoolExecutor(len(ROUTES), "endpoint-probe") as pool:
        answers = dict(zip(ROUTES, pool.map(lambda route: _asked(client, beside(url, route, ("/",)), seconds), ROUTES), strict=True))
    client.close()
    listed = (string(entry.get("id")) for entry in each(_data(answers, "/v1/models").get("data")))
    models = tuple(name for name in listed if name)
    server, api = next(((server, api) for server, api, fits in _SIGNS if fits(answers)), None) or _compatible(answers)
    return Found(url, server, api, models) if server else None


def _asked(client: HttpClient, url: str, seconds: float) -> _Answer:
    """One look-up; an answer that is none where nothing came."""
    try:
        with client.exchange("GET", url, HttpEndpoint.base_headers, None, Deadline(time.monotonic() + seconds)) as exchange:
            text = exchange.read()
            return _Answer(exchange.status, exchange.headers, json.loads(text) if exchange.status == 200 else None)
    except (EndpointError, ValueError, RecursionError):
        return _Answer()


Answers = Mapping[str, _Answer]


def _data(answers: Answers, route: str) -> dict[str, Any]:
    return fields(answers[route].data)


def _is_kobold(answers: Answers) -> bool:
    return "kobold" in string(_data(answers, "/api/extra/version").get("result")).lower()


def _is_llamacpp(answers: Answers) -> bool:
    told = any("llama.cpp" in (answer.headers or {}).get("server", "") for answer in answers.values())
    return told or "default_generation_settings" in _data(answers, "/props")


def _is_ollama(answers: Answers) -> bool:
    """Programs that are no model server have an /api/version too."""
    return "version" in _data(answers, "/api/version") and _data(answers, "/v1/models").get("object") == "list"


def _is_tgi(answers: Answers) -> bool:
    info = _data(answers, "/info")
    return "model_id" in info and any(name in info for name in ("max_total_tokens", "max_input_tokens", "max_input_length"))


# KoboldCpp answers as llama.cpp and as Ollama too, so that the order matters.
_SIGNS: tuple[tuple[str, str, Callable[[Answers], bool]], ...] = (
    ("KoboldCpp", "kobold", _is_kobold), ("llama.cpp", "openai", _is_llamacpp), ("Ollama", "ollama", _is_ollama), ("TGI", "tgi", _is_tgi),
)  # fmt: skip


def _compatible(answers: Answers) -> tuple[str, str]:
    """What a server that lists its models as OpenAI does calls itself, and its family; nothing when it does not list them."""
    listed = _data(answers, "/v1/models").get("data")
    if not isinstance(listed, list):
        return "", ""
    owners = (string(entry.get("owned_by")) for entry in each(listed))
    return next((_OWNERS[owner] for owner in owners if owner in _OWNERS), ("OpenAI-compatible server", "openai"))
