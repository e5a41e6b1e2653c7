"""What an endpoint's description is in OpenTelemetry's words: the provider, the operation, the server, the settings of a request."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlsplit

# Well-known values of gen_ai.provider.name, by the host that serves them.
PROVIDERS = (
    ("*api.openai.com", "openai"),
    ("*.openai.azure.com", "azure.ai.openai"),
    ("*.services.ai.azure.com", "azure.ai.inference"),
    ("*.models.ai.azure.com", "azure.ai.inference"),
    ("api.anthropic.com", "anthropic"),
    ("bedrock*.amazonaws.com", "aws.bedrock"),
    ("generativelanguage.googleapis.com", "gcp.gemini"),
    ("*aiplatform.googleapis.com", "gcp.vertex_ai"),
    ("api.cohere.*", "cohere"),
    ("api.deepseek.com", "deepseek"),
    ("api.groq.com", "groq"),
    ("api.mistral.ai", "mistral_ai"),
    ("api.moonshot.*", "moonshot_ai"),
    ("api.perplexity.ai", "perplexity"),
    ("api.x.ai", "x_ai"),
    ("*.ml.cloud.ibm.com", "ibm.watsonx.ai"),
)
# Where the host says nothing, the family of the API does: under its own name, or one of these.
FAMILIES = {"completions": "openai", "llamacpp": "llama_cpp", "gemini": "gcp.gemini"}
DEFAULT_PORTS = {"https": 443, "http": 80}
SAMPLING = ("temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty")


def operation_of(endpoint: Mapping[str, Any]) -> str:
    """An endpoint with a template makes one text of the messages."""
    return "text_completion" if endpoint.get("template") else "chat"


def model_attributes(endpoint: Mapping[str, Any]) -> dict[str, Any]:
    """Whose model it is. None: not told."""
    host, _ = _server(endpoint)
    family = str(endpoint.get("endpoint") or "")
    known = next((provider for pattern, provider in PROVIDERS if fnmatchcase(host or "", pattern)), None)
    return {
        "gen_ai.provider.name": known or FAMILIES.get(family, family) or None,
        "gen_ai.request.model": endpoint.get("model") or None,
    }


def call_attributes(endpoint: Mapping[str, Any]) -> dict[str, Any]:
    """What is the same in every call of a run: the model, the server, the settings that are sent. None: not told."""
    body = _fields(endpoint.get("extra_body"))
    sent = {**endpoint, **body}  # as the endpoint builds its request
    stop, choices = sent.get("stop"), _number(body.get("n"))
    host, port = _server(endpoint)
    return {
        "gen_ai.operation.name": operation_of(endpoint),
        **model_attributes(endpoint),
        **{f"gen_ai.request.{name}": _number(sent.get(name)) for name in SAMPLING},
        "gen_ai.request.seed": sent.get("seed"),
        "gen_ai.request.stop_sequences": ([stop] if isinstance(stop, str) else stop) or None,
        "gen_ai.request.stream": endpoint.get("stream"),
        "gen_ai.request.choice.count": None if choices in (None, 1) else choices,
        "gen_ai.output.type": _output_type(body),
        "server.address": host,
        "server.port": port,
    }


def _server(endpoint: Mapping[str, Any]) -> tuple[str | None, int | None]:
    try:
        url = urlsplit(str(endpoint.get("url") or ""))
        return url.hostname, (url.port or DEFAULT_PORTS.get(url.scheme)) if url.hostname else None
    except ValueError:  # an endpoint of the user's own may describe itself as it likes
        return None, None


def _output_type(body: Mapping[str, Any]) -> str | None:
    """The format that was asked of the server; None when none was."""
    wanted = str(_fields(body.get("response_format")).get("type") or "")
    return "json" if wanted.startswith("json") else "text" if wanted == "text" else None


def _fields(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _number(value: Any) -> int | float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
