"""Any server with OpenAI's /v1/chat/completions: llama.cpp, vLLM, Ollama, LM Studio, OpenRouter, Azure, a company gateway."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from react_agent.endpoints.http_call import Ask
from react_agent.endpoints.http_decode import Counts, content_text, counts, fields, string
from react_agent.endpoints.http_endpoint import HttpEndpoint
from react_agent.endpoints.http_llamacpp import applied_template, count_of, window_in, wire_messages
from react_agent.endpoints.http_reply import Delta
from react_agent.endpoints.roles import strict_roles
from react_agent.endpoints.structured import Mode, response_format
from react_agent.endpoints.structured_grammar import grammar_of
from react_agent.types import Message

_OWNERS = {"llamacpp": "llama.cpp", "vllm": "vllm", "sglang": "sglang"}  # owned_by in the list of models -> the server
_GRAMMARS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "llama.cpp": lambda grammar: {"grammar": grammar}, "vllm": lambda grammar: {"structured_outputs": {"grammar": grammar}},
    "sglang": lambda grammar: {"ebnf": grammar},
}  # fmt: skip
_WINDOW_NAMES = ("max_model_len", "context_window", "context_length", "max_context_length", "loaded_context_length", "n_ctx")


class ChatEndpoint(HttpEndpoint):
    """One model behind an OpenAI-compatible URL.

    base_url: "http://host:port", ".../v1" or ".../v1/chat/completions"; a query such as Azure's api-version is kept. The rest is
    as in HttpEndpoint. On a llama.cpp server the token counts of a stream that is closed early are the server's own.
    """

    family = "openai"
    path = "/chat/completions"

    def url_for(self, ask: Ask) -> str:
        return self._url(self.path)

    def body_for(self, ask: Ask) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self.model} if self.model else {}
        return body | {"messages": wire_messages(ask.messages)} | self.parameters_for(ask)

    def parameters_for(self, ask: Ask) -> dict[str, Any]:
        """All of a request's body but what the model is asked."""
        body: dict[str, Any] = {"max_tokens": ask.cap, **self.sampling()}
        if ask.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}, **self._counts_in_every_chunk()}
        return body | self.extra_body

    def constraint(self, mode: Mode, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        if mode != "grammar":
            return {"response_format": response_format(mode, schema)}
        grammar, server = grammar_of(schema), self.ladder.learned.server
        if server in _GRAMMARS:
            return _GRAMMARS[server](grammar)
        return {"grammar": grammar, "grammar_string": grammar}  # LocalAI and others; text-generation-webui

    def delta_of(self, data: Mapping[str, Any], whole: bool) -> Delta | None:
        if not isinstance(data.get("choices"), list) or (whole and not data["choices"]):
            return None
        choice = next((fields(choice) for choice in data["choices"]), {})
        names = ("message", "delta") if whole else ("delta", "message")  # some chunks carry the message so far beside the piece
        message = next((fields(choice[name]) for name in names if name in choice), {})
        text, inner_reasoning = content_text(message.get("content"))
        reasoning = string(message.get("reasoning_content")) or string(message.get("reasoning")) or inner_reasoning
        return Delta(
            text or string(choice.get("text")), reasoning, string(message.get("refusal")), string(choice.get("finish_reason")) or None,
            _counts(data), _calls(message.get("tool_calls")), string(data.get("model")), "llama.cpp" if data.get("timings") else "",
        )  # fmt: skip

    def count_tokens(self, messages: Sequence[Message]) -> int | None:
        """The exact number where the server turned out to be llama.cpp on this machine, by its template and its tokenizer."""
        if self.ladder.learned.server != "llama.cpp" or not self.on_this_machine:
            return None
        sent = strict_roles(messages) if self.ladder.learned.strict_roles else messages
        prompt = applied_template(self.look_up, self.route_url("/apply-template"), sent)
        return None if prompt is None else count_of(self.look_up, self.route_url("/tokenize"), prompt)

    def found_window(self) -> int | None:
        if self.may_be_llamacpp:
            window = window_in(self.look_up(self.route_url("/props")))
            if window is not None:
                self.ladder.learn(server="llama.cpp")
                return window
        entries = [entry for entry in self._models() if self._is_ours(entry)]
        owner = next((_OWNERS[string(entry.get("owned_by"))] for entry in entries if entry.get("owned_by") in _OWNERS), "")
        if owner:
            self.ladder.learn(server=owner)
        return next((window for entry in entries if (window := _window(entry))), None)

    def model_names(self) -> list[str]:
        return [string(entry.get("id")) for entry in self._models() if string(entry.get("id"))]

    @property
    def may_be_llamacpp(self) -> bool:
        """It is one, or it is a server on this machine that has not said yet what it is."""
        known = self.ladder.learned.server
        return known == "llama.cpp" or (not known and self.on_this_machine)

    def _counts_in_every_chunk(self) -> dict[str, Any]:
        """What makes a server report its counts all along, so that a stream may be closed early; nobody else is sent such fields."""
        if self.ladder.learned.server in ("vllm", "sglang"):
            return {"stream_options": {"include_usage": True, "continuous_usage_stats": True}}
        return {"timings_per_token": True} if self.may_be_llamacpp else {}

    def _models(self) -> list[dict[str, Any]]:
        listed = fields(self.look_up(self._url("/models"))).get("data")
        return [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []

    def _is_ours(self, entry: Mapping[str, Any]) -> bool:
        return not self.model or entry.get("id") == self.model or entry.get("owned_by") == "llamacpp"

    def _url(self, route: str) -> str:
        """A route beside the one for chats, or for completions."""
        parts = urlsplit(self.base_url)
        path = parts.path.rstrip("/").removesuffix("/chat/completions").removesuffix("/completions")
        if not path and not parts.path.rstrip("/"):
            path = "/v1"
        return urlunsplit(parts._replace(path=path + route))

    def route_url(self, route: str) -> str:
        """The URL of a route above /v1, where llama.cpp has its own."""
        parts = urlsplit(self._url(""))
        return urlunsplit(parts._replace(path=parts.path.removesuffix("/v1") + route))


def _counts(data: Mapping[str, Any]) -> Counts | None:
    """usage; else, in the chunks of a llama.cpp stream, the timings."""
    usage, timings = fields(data.get("usage")), fields(data.get("timings"))
    if usage:
        cached = fields(usage.get("prompt_tokens_details")).get("cached_tokens", usage.get("prompt_cache_hit_tokens"))
        reasoning = fields(usage.get("completion_tokens_details")).get("reasoning_tokens")
        return counts(usage.get("prompt_tokens"), usage.get("completion_tokens"), usage.get("total_tokens"), cached, reasoning)
    if timings:
        fresh = counts(timings.get("prompt_n"), timings.get("predicted_n"), None, None)
        cached = counts(timings.get("cache_n"), None).prompt
        return Counts(None if fresh.prompt is None else fresh.prompt + (cached or 0), fresh.completion, cached)
    return None


def _calls(calls: Any) -> tuple[tuple[int, str, str], ...]:
    """Native tool calls: (index, name, arguments), each perhaps only a piece."""
    found = []
    for place, call in enumerate(calls if isinstance(calls, list) else []):
        function, index = fields(fields(call).get("function")), fields(call).get("index")
        found.append((index if isinstance(index, int) else place, string(function.get("name")), string(function.get("arguments"))))
    return tuple(found)


def _window(entry: Mapping[str, Any]) -> int | None:
    """How many tokens a model of a list has room for, under any of its names."""
    for source in (entry, fields(entry.get("meta"))):
        for name in _WINDOW_NAMES:
            value = source.get(name)
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                return value
    return None
