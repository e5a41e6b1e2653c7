"""Ollama's own API: /api/chat, and /api/generate when the prompt is made here."""

import json
from collections.abc import Mapping
from typing import Any

from react_agent.endpoints.http_call import Ask
from react_agent.endpoints.http_checks import MANY_STOP_WORDS, merged
from react_agent.endpoints.http_decode import counts, each, fields, size, string
from react_agent.endpoints.http_llamacpp import wire_messages
from react_agent.endpoints.http_prompt import PromptEndpoint
from react_agent.endpoints.http_reply import Delta
from react_agent.endpoints.http_retry import Deadline
from react_agent.endpoints.structured import Mode
from react_agent.endpoints.templates import AUTO, Template

DEFAULT_URL = "http://127.0.0.1:11434"
LEAST_WINDOW = 8192  # what is asked for where nobody has set more; Ollama's own default may be 4096, and it cuts without a word


class OllamaEndpoint(PromptEndpoint):
    """One model of an Ollama server.

    template: empty leaves it to Ollama (/api/chat); a name, "auto" or a Template makes the prompt here (/api/generate, raw).
    think: True, False or "low", "medium", "high" for models that can; None leaves it to the model.
    context_window: sent with each request as num_ctx. None: what the model's file sets, else what the model is loaded with, but at
    least 8192 if the model has as much.
    The rest is as in PromptEndpoint; extra_body: {"options": {"top_k": 5}, "keep_alive": "1h"}.
    """

    family = "ollama"
    endings = ("/api/chat", "/api/generate", "/api", "/v1/chat/completions", "/v1")
    framing = "ndjson"

    def __init__(
        self, base_url: str = DEFAULT_URL, model: str = "", api_key: str | None = None, *,
        template: str | Template = "", think: bool | str | None = None, **settings: Any,
    ) -> None:  # fmt: skip
        super().__init__(base_url, model, api_key, template=template or AUTO, **settings)
        self.think = think
        self.makes_prompt = bool(template)

    def url_for(self, ask: Ask) -> str:
        return self.route_url("/api/generate" if self.makes_prompt else "/api/chat")

    def body_for(self, ask: Ask) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self.model, "stream": ask.stream, "options": self._options(ask)}
        if self.makes_prompt:
            body |= {"prompt": self.prompt_for(ask), "raw": True}
        else:
            body["messages"] = wire_messages(ask.messages)
        if self.think is not None:
            body["think"] = self.think
        return merged(body, self.extra_body)

    def constraint(self, mode: Mode, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        return None if mode == "grammar" else {"format": "json" if mode == "json_object" else schema}

    def delta_of(self, data: Mapping[str, Any], whole: bool) -> Delta | None:
        message = data.get("message")
        if not isinstance(message, dict):
            if not isinstance(data.get("response"), str):
                return None
            message = {"content": data["response"], "thinking": data.get("thinking")}
        done = data.get("done") is True
        return Delta(
            string(message.get("content")), string(message.get("thinking")), finish=string(data.get("done_reason")) if done else None,
            counts=counts(data.get("prompt_eval_count"), data.get("eval_count")), calls=_calls(message.get("tool_calls")),
            model=string(data.get("model")), done=done,
        )  # fmt: skip

    def found_window(self) -> int | None:
        shown = fields(self.look_up(self.route_url("/api/show"), {"model": self.model}))
        if set_in_file := _parameter(string(shown.get("parameters")), "num_ctx"):
            return set_in_file
        about = fields(shown.get("model_info"))
        largest = next((length for name in about if name.endswith(".context_length") and (length := size(about[name]))), LEAST_WINDOW)
        return max(self._loaded_window(), min(LEAST_WINDOW, largest))

    def template_source(self, deadline: Deadline) -> tuple[int, str]:
        status, shown = self.asked(self.route_url("/api/show"), {"model": self.model}, deadline)
        return status, string(fields(shown).get("template"))

    def model_names(self) -> list[str]:
        return [string(entry.get("name")) for entry in each(fields(self.look_up(self.route_url("/api/tags"))).get("models"))]

    def describe(self) -> dict[str, Any]:
        described = {**super().describe(), "think": self.think}
        return described if self.makes_prompt else {**described, "template": ""}

    def _options(self, ask: Ask) -> dict[str, Any]:
        window = {} if self.context_window is None else {"num_ctx": self.context_window}
        return {"num_predict": ask.cap, **window, **self.sampling(most_words=MANY_STOP_WORDS)}

    def _loaded_window(self) -> int:
        """The window of the model as it is loaded now; 0 when it is not."""
        loaded = each(fields(self.look_up(self.route_url("/api/ps"))).get("models"))
        names = {self.model, f"{self.model}:latest"}
        ours = (entry for entry in loaded if names & {entry.get("name"), entry.get("model")})
        return next((window for entry in ours if (window := size(entry.get("context_length")))), 0)


def _calls(calls: Any) -> tuple[tuple[int, str, str], ...]:
    """Native tool calls; their arguments come as an object."""
    functions = [fields(call.get("function")) for call in each(calls)]
    return tuple((place, string(function.get("name")), json.dumps(function.get("arguments"))) for place, function in enumerate(functions))


def _parameter(parameters: str, name: str) -> int | None:
    """A number that a model's file sets: lines of a name and a value."""
    lines = (line.split() for line in parameters.splitlines())
    return next((int(words[1]) for words in lines if len(words) == 2 and words[0] == name and words[1].isdecimal()), None)
