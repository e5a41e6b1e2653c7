"""Anthropic's /v1/messages, which llama.cpp, Ollama, LM Studio and others have too."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from react_agent.endpoints.http_call import Ask
from react_agent.endpoints.http_decode import Counts, content_text, counts, each, fields, size, string
from react_agent.endpoints.http_endpoint import HttpEndpoint
from react_agent.endpoints.http_llamacpp import window_in, wire_messages
from react_agent.endpoints.http_reply import Delta
from react_agent.endpoints.roles import strict_roles
from react_agent.endpoints.structured import Mode
from react_agent.types import Message

DEFAULT_URL = "https://api.anthropic.com"
VERSION = "2023-06-01"


class AnthropicEndpoint(HttpEndpoint):
    """One model behind Anthropic's API. base_url: "https://host", ".../v1" or ".../v1/messages"; a gateway's prefix stays.

    The temperature is sent only when it is given: newer models refuse it. seed is not part of this API and is not sent. The key
    goes into x-api-key unless key_header says otherwise. The rest is as in HttpEndpoint.
    """

    family = "anthropic"
    endings = ("/v1/messages", "/v1")
    auto_modes = ()  # only when it is asked for in so many words: the vendor refuses objects that are open, as a tool's arguments are
    base_headers = {**HttpEndpoint.base_headers, "anthropic-version": VERSION}

    def __init__(
        self, base_url: str = DEFAULT_URL, model: str = "", api_key: str | None = None, *,
        temperature: float | None = None, key_header: str | None = "x-api-key", **settings: Any,
    ) -> None:  # fmt: skip
        super().__init__(base_url, model, api_key, temperature=temperature, key_header=key_header, **settings)

    def url_for(self, ask: Ask) -> str:
        return self.route_url("/v1/messages")

    def body_for(self, ask: Ask) -> dict[str, Any]:
        body = {**self._asked_of(ask.messages), "max_tokens": ask.cap, "stream": ask.stream}
        return body | self.sampling(seed="", stop="stop_sequences") | self.extra_body

    def constraint(self, mode: Mode, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        return {"output_config": {"format": {"type": "json_schema", "schema": schema}}} if mode == "json_schema" else None

    def delta_of(self, data: Mapping[str, Any], whole: bool) -> Delta | None:
        kind = data.get("type")
        if kind == "message":
            text, reasoning = content_text(data.get("content"))
            return Delta(
                text, reasoning, _refusal(data), string(data.get("stop_reason")), _counts(data.get("usage")),
                _calls(data.get("content")), string(data.get("model")), done=True,
            )  # fmt: skip
        if kind == "message_start":  # its count of the output is only a beginning
            message = fields(data.get("message"))
            told = replace(_counts(message.get("usage")), completion=None)
            return Delta(counts=told, model=string(message.get("model")))
        if kind == "message_delta":
            ended = fields(data.get("delta"))
            return Delta(refusal=_refusal(ended), finish=string(ended.get("stop_reason")), counts=_counts(data.get("usage")))
        if kind in ("content_block_start", "content_block_delta"):
            return _piece(data)
        return Delta(done=True) if kind == "message_stop" else None

    def count_tokens(self, messages: Sequence[Message]) -> int | None:
        """The server's own count, asked for on this machine only."""
        if not self.on_this_machine:
            return None
        counted = self.look_up(self.route_url("/v1/messages/count_tokens"), self._asked_of(messages))
        return size(fields(counted).get("input_tokens"))

    def found_window(self) -> int | None:
        if self.on_this_machine:
            return window_in(self.look_up(self.route_url("/props")))
        if not self.model:
            return None
        return size(fields(self.look_up(self.route_url(f"/v1/models/{quote(self.model, safe='')}"))).get("max_input_tokens"))

    def model_names(self) -> list[str]:
        return [string(entry.get("id")) for entry in each(fields(self.look_up(self.route_url("/v1/models"))).get("data"))]

    def _asked_of(self, messages: Sequence[Message]) -> dict[str, Any]:
        """The model and what it is asked: the system text apart, the turns in order, none of them empty."""
        system = "\n\n".join(message.content for message in messages if message.role == "system" and message.content.strip())
        turns = strict_roles([message for message in messages if message.role != "system"])
        return {"model": self.model, **({"system": system} if system else {}), "messages": wire_messages(turns)}


def _piece(data: Mapping[str, Any]) -> Delta:
    """A block that begins, or a piece of it: text, thinking, or a native tool call that nobody asked for."""
    block = fields(data.get("content_block")) or fields(data.get("delta"))
    index = data.get("index")
    place = index if isinstance(index, int) else 0
    if block.get("type") == "tool_use":
        return Delta(calls=((place, string(block.get("name")), ""),))
    if "partial_json" in block:
        return Delta(calls=((place, "", string(block.get("partial_json"))),))
    return Delta(string(block.get("text")), string(block.get("thinking")))


def _calls(content: Any) -> tuple[tuple[int, str, str], ...]:
    blocks = [block for block in each(content) if block.get("type") == "tool_use"]
    return tuple((place, string(block.get("name")), json.dumps(block.get("input"))) for place, block in enumerate(blocks))


def _refusal(ended: Mapping[str, Any]) -> str:
    """What a refusal says about itself, where it says anything."""
    details = fields(ended.get("stop_details"))
    return string(details.get("explanation")) or string(details.get("category")) if ended.get("stop_reason") == "refusal" else ""


def _counts(usage: Any) -> Counts:
    """input_tokens leaves out what came from, or went into, the cache."""
    told = fields(usage)
    fresh, written, cached = (
        counts(told.get(name), None).prompt for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    )
    prompt = None if fresh is None else fresh + (written or 0) + (cached or 0)
    return counts(prompt, told.get("output_tokens"), cached=cached)
