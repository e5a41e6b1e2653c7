"""Any server with OpenAI's /v1/chat/completions: llama.cpp, vLLM, Ollama, LM Studio, OpenRouter, Azure, a company gateway."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from react_agent.endpoints.base import PLAIN, Request
from react_agent.endpoints.estimate import estimate_prompt, estimate_tokens
from react_agent.endpoints.http import Exchange, HttpClient
from react_agent.endpoints.http_reply import Delta, Reply
from react_agent.endpoints.http_retry import Deadline
from react_agent.endpoints.http_stream import sse_events
from react_agent.errors import EndpointError
from react_agent.types import Completion, FinishReason, Message, Usage

FINISH: Mapping[str | None, FinishReason] = {"length": "length", "stop": "stop", "content_filter": "content_filter"}


class ChatEndpoint:
    """Talks to one model behind an OpenAI-compatible URL; base_url with or without /v1 or /v1/chat/completions."""

    def __init__(
        self, base_url: str, model: str = "", api_key: str | None = None, *, temperature: float | None = 0.0,
        max_output_tokens: int = 512, stream: bool = True, timeout_s: float = 120.0, connect_timeout_s: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self.model = model
        self.max_output_tokens = max_output_tokens
        self.context_window: int | None = None
        self._url = chat_url(base_url)
        self._api_key = api_key
        self._temperature = temperature
        self._stream = stream
        self._timeout_s = timeout_s
        self._clock = clock
        self._client = HttpClient(connect_timeout_s=connect_timeout_s)

    def complete(self, messages: Sequence[Message], request: Request = PLAIN) -> Completion:
        started = self._clock()
        ends = [started + self._timeout_s] + ([request.deadline] if request.deadline is not None else [])
        deadline = Deadline(min(ends), request.cancel, self._clock)
        body = json.dumps(self._body(messages, request), allow_nan=False).encode()
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if self._api_key:
            headers["Authorization"] = f"Bearer {self._api_key}"
        reply = Reply(request)
        with self._client.exchange("POST", self._url, headers, body, deadline) as exchange:
            if exchange.status != 200:
                raise EndpointError("server_error", f"HTTP {exchange.status}: {exchange.read()[:300]}", status=exchange.status)
            self._read(exchange, reply)
        finish: FinishReason = "stop" if reply.closed_early else FINISH.get(reply.finish, "unknown")
        usage = reply.usage or Usage(estimate_prompt(messages), estimate_tokens(reply.text), estimated=True)
        return Completion(
            reply.text, finish, usage, "".join(reply.reasoning), reply.refusal, reply.closed_early, reply.model, self._clock() - started,
        )  # fmt: skip

    def count_tokens(self, messages: Sequence[Message]) -> int | None:
        return None

    def describe(self) -> dict[str, Any]:
        return {"endpoint": "openai", "url": self._url, "model": self.model}

    def _body(self, messages: Sequence[Message], request: Request) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model, "messages": [{"role": m.role, "content": m.content} for m in messages],
            "max_tokens": request.max_output_tokens or self.max_output_tokens, "stream": self._stream,
        }  # fmt: skip
        if self._temperature is not None:
            body["temperature"] = self._temperature
        if self._stream:
            body |= {"stream_options": {"include_usage": True}, "timings_per_token": True}
        return body

    def _read(self, exchange: Exchange, reply: Reply) -> None:
        if not self._stream:
            reply.add(_delta(json.loads(exchange.read()), "message"))
            return
        for event in sse_events(exchange.chunks()):
            if event.data.strip() == "[DONE]" or reply.add(_delta(json.loads(event.data), "delta")):
                return


def chat_url(base_url: str) -> str:
    """The URL of the chat route; a query (Azure's api-version) stays."""
    parts = urlsplit(base_url)
    path = parts.path.rstrip("/")
    if not path.endswith("/chat/completions"):
        path = (path or "/v1") + "/chat/completions"
    return urlunsplit(parts._replace(path=path))


def _delta(data: dict[str, Any], key: str) -> Delta:
    choice = (data.get("choices") or [{}])[0]
    message = choice.get(key) or {}
    return Delta(
        message.get("content") or "", message.get("reasoning_content") or message.get("reasoning") or "", message.get("refusal") or "",
        choice.get("finish_reason"), _usage(data), data.get("model") or "",
    )  # fmt: skip


def _usage(data: dict[str, Any]) -> Usage | None:
    if usage := data.get("usage"):
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
        return Usage(usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0), cached)
    if timings := data.get("timings"):
        return Usage(timings["cache_n"] + timings["prompt_n"], timings["predicted_n"], timings["cache_n"])
    return None
