"""Hugging Face's Text Generation Inference: /generate and /generate_stream."""

from collections.abc import Mapping
from typing import Any

from react_agent.endpoints.http_call import Ask
from react_agent.endpoints.http_checks import merged
from react_agent.endpoints.http_decode import Counts, counts, fields, size, string
from react_agent.endpoints.http_prompt import PromptEndpoint
from react_agent.endpoints.http_reply import Delta
from react_agent.endpoints.structured import ANY_OBJECT, Mode

_WINDOW_NAMES = ("max_total_tokens", "max_input_tokens", "max_input_length")


class TgiEndpoint(PromptEndpoint):
    """One TGI server. base_url: "http://host:port". Settings as in PromptEndpoint; extra_body: {"parameters": {"top_p": 0.9}}.

    A temperature of 0 is not sent: the server refuses it, and takes the most likely token when there is none. Its stop words stay at
    the end of the text; they are cut off here.
    """

    family = "tgi"
    endings = ("/generate_stream", "/generate", "/v1/chat/completions", "/v1")
    apply_route = "/chat_tokenize"
    apply_field = "templated_text"

    def url_for(self, ask: Ask) -> str:
        return self.route_url("/generate_stream" if ask.stream else "/generate")

    def body_for(self, ask: Ask) -> dict[str, Any]:
        parameters: dict[str, Any] = {"max_new_tokens": ask.cap, "details": True, "return_full_text": False}
        parameters |= {name: value for name, value in self.sampling().items() if name != "temperature" or value}
        return merged({"inputs": self.prompt_for(ask), "parameters": parameters}, self.extra_body)

    def constraint(self, mode: Mode, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        """What this server calls a grammar is a JSON Schema, or a regular expression."""
        value = {"json_object": ANY_OBJECT, "json_schema": schema}.get(mode)
        return None if value is None else {"parameters": {"grammar": {"type": "json", "value": value}}}

    def delta_of(self, data: Mapping[str, Any], whole: bool) -> Delta | None:
        details = fields(data.get("details"))
        told = counts(details.get("input_length"), details.get("generated_tokens"))
        finish = string(details.get("finish_reason"))
        token = data.get("token")
        if isinstance(token, dict):  # the last one repeats the whole text in generated_text
            text = "" if token.get("special") is True else string(token.get("text"))
            return Delta(text, finish=finish, counts=told, done=isinstance(data.get("generated_text"), str))
        if isinstance(data.get("generated_text"), str):
            return Delta(data["generated_text"], finish=finish, counts=told, done=True)
        return None

    def counts_of(self, headers: Mapping[str, str]) -> Counts:
        return counts(headers.get("x-prompt-tokens"), headers.get("x-generated-tokens"))

    def found_window(self) -> int | None:
        info = fields(self.look_up(self.route_url("/info")))
        return next((window for name in _WINDOW_NAMES if (window := size(info.get(name)))), None)

    def model_names(self) -> list[str]:
        name = string(fields(self.look_up(self.route_url("/info"))).get("model_id"))
        return [name] if name else []

    def count_prompt(self, prompt: str) -> int | None:
        tokens = self.look_up(self.route_url("/tokenize"), {"inputs": prompt})
        return len(tokens) if isinstance(tokens, list) else None
