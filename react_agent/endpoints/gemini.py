"""Google's Gemini: generateContent, and streamGenerateContent with alt=sse."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

from react_agent.endpoints.http_call import Ask
from react_agent.endpoints.http_checks import merged
from react_agent.endpoints.http_decode import Counts, content_text, counts, each, fields, size, string
from react_agent.endpoints.http_endpoint import HttpEndpoint
from react_agent.endpoints.http_reply import Delta
from react_agent.endpoints.roles import strict_roles
from react_agent.endpoints.structured import Mode
from react_agent.types import Message

DEFAULT_URL = "https://generativelanguage.googleapis.com"
_ROLES = {"user": "user", "assistant": "model"}


class GeminiEndpoint(HttpEndpoint):
    """One model behind Gemini's API.

    base_url: the host alone means version v1beta; else everything before /models, as Vertex AI has it. The key goes into
    x-goog-api-key unless key_header says otherwise. What the model thinks counts as output: with a small max_output_tokens nothing
    may be left for the reply. The rest is as in HttpEndpoint; extra_body: {"generationConfig": {"thinkingConfig": {...}}}.
    """

    family = "gemini"

    def __init__(
        self, base_url: str = DEFAULT_URL, model: str = "", api_key: str | None = None, *, key_header: str | None = "x-goog-api-key",
        **settings: Any,
    ) -> None:  # fmt: skip
        super().__init__(base_url, model, api_key, key_header=key_header, **settings)

    def url_for(self, ask: Ask) -> str:
        if ask.stream:
            return self._url(self._model_path() + ":streamGenerateContent", "alt=sse")
        return self._url(self._model_path() + ":generateContent")

    def body_for(self, ask: Ask) -> dict[str, Any]:
        system = [message.content for message in ask.messages if message.role == "system" and message.content.strip()]
        turns = strict_roles([message for message in ask.messages if message.role != "system"])
        config = {"maxOutputTokens": ask.cap, **self.sampling(stop="stopSequences")}
        body: dict[str, Any] = {"contents": [_content(message) for message in turns], "generationConfig": config}
        if system:
            body["systemInstruction"] = {"parts": [{"text": "\n\n".join(system)}]}
        return merged(body, self.extra_body)

    def constraint(self, mode: Mode, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        """responseJsonSchema, since responseSchema has no open objects."""
        if mode == "grammar":
            return None
        config: dict[str, Any] = {"responseMimeType": "application/json"}
        return {"generationConfig": config if mode == "json_object" else {**config, "responseJsonSchema": _known_keywords(schema)}}

    def delta_of(self, data: Mapping[str, Any], whole: bool) -> Delta | None:
        if not isinstance(data.get("candidates"), list) and "usageMetadata" not in data:
            return None
        candidate = next(iter(each(data.get("candidates"))), {})
        parts = fields(candidate.get("content")).get("parts")
        text, reasoning = content_text(parts)
        return Delta(
            text, reasoning, finish=string(candidate.get("finishReason")), counts=_counts(data.get("usageMetadata")),
            calls=_calls(parts), model=string(data.get("modelVersion")),
        )  # fmt: skip

    def found_window(self) -> int | None:
        return size(fields(self.look_up(self._url(self._model_path()))).get("inputTokenLimit")) if self.model else None

    def model_names(self) -> list[str]:
        listed = each(fields(self.look_up(self._url("/models"))).get("models"))
        return [string(entry.get("name")).removeprefix("models/") for entry in listed]

    def _model_path(self) -> str:
        name = quote(self.model, safe="/-._~@")
        return f"/{name}" if name.startswith(("models/", "tunedModels/")) else f"/models/{name}"

    def _url(self, route: str, query: str = "") -> str:
        parts = urlsplit(self.base_url)
        path = parts.path.rstrip("/").partition("/models")[0] or "/v1beta"
        return urlunsplit(parts._replace(path=path + route, query="&".join(part for part in (parts.query, query) if part)))


def _known_keywords(schema: Any) -> Any:
    """A schema without what this API does not take."""
    if not isinstance(schema, Mapping):
        return schema
    return {name: _known_keywords(value) for name, value in schema.items() if name != "maxLength"}


def _content(message: Message) -> dict[str, Any]:
    return {"role": _ROLES[message.role], "parts": [{"text": message.content}]}


def _calls(parts: Any) -> tuple[tuple[int, str, str], ...]:
    """Native function calls that nobody asked for."""
    calls = [fields(part["functionCall"]) for part in each(parts) if "functionCall" in part]
    return tuple((place, string(call.get("name")), json.dumps(call.get("args") or {})) for place, call in enumerate(calls))


def _counts(usage: Any) -> Counts:
    """Thoughts are output too, told apart from the reply."""
    told = fields(usage)
    thoughts, reply = counts(told.get("thoughtsTokenCount"), None).prompt, counts(told.get("candidatesTokenCount"), None).prompt
    written = None if thoughts is None and reply is None else (thoughts or 0) + (reply or 0)
    return counts(told.get("promptTokenCount"), written, told.get("totalTokenCount"), told.get("cachedContentTokenCount"), thoughts)
