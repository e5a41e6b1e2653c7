"""OpenAI's older /v1/completions: one prompt in, one text out; at vLLM, llama.cpp, LM Studio, LocalAI and many others."""

from collections.abc import Mapping
from typing import Any

from react_agent.endpoints.chat import ChatEndpoint
from react_agent.endpoints.http_call import Ask
from react_agent.endpoints.http_llamacpp import count_of
from react_agent.endpoints.http_prompt import PromptEndpoint
from react_agent.endpoints.structured import ANY_OBJECT, Mode


class CompletionsEndpoint(PromptEndpoint, ChatEndpoint):
    """One model behind an OpenAI-compatible URL, asked without roles. Settings as in PromptEndpoint.

    max_tokens is always sent: where it is missing, OpenAI writes 16 tokens. On a llama.cpp server the model's own template makes
    the prompt.
    """

    family = "completions"
    path = "/completions"
    apply_route = "/apply-template"
    source_route = "/props"

    def body_for(self, ask: Ask) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self.model} if self.model else {}
        body["prompt"] = self.prompt_for(ask)
        return body | self.parameters_for(ask)

    def constraint(self, mode: Mode, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        """llama.cpp ignores response_format on this route; the others do not know its json_schema."""
        fields = super().constraint(mode, schema)
        if mode == "grammar" or self.ladder.learned.server not in ("", "llama.cpp"):
            return fields
        own = {"json_schema": ANY_OBJECT if mode == "json_object" else schema}
        return own if self.ladder.learned.server else {**own, **(fields or {})}

    @property
    def applies(self) -> bool:
        return super().applies and self.may_be_llamacpp

    def count_prompt(self, prompt: str) -> int | None:
        return count_of(self.look_up, self.route_url("/tokenize"), prompt) if self.may_be_llamacpp else None
