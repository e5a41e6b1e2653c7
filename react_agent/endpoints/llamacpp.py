"""llama.cpp's own /completion: a prompt, which the server's own chat template makes, and every sampling option it has."""

from collections.abc import Mapping
from typing import Any

from react_agent.endpoints.http_call import Ask
from react_agent.endpoints.http_checks import MANY_STOP_WORDS
from react_agent.endpoints.http_decode import counts, each, fields, string
from react_agent.endpoints.http_llamacpp import count_of, window_in
from react_agent.endpoints.http_prompt import PromptEndpoint
from react_agent.endpoints.http_reply import Delta
from react_agent.endpoints.structured import ANY_OBJECT, Mode
from react_agent.endpoints.structured_grammar import grammar_of

_OLD_FLAGS = {"stopped_limit": "limit", "stopped_word": "word", "stopped_eos": "eos"}  # before stop_type


class LlamaCppEndpoint(PromptEndpoint):
    """One llama.cpp server. base_url: "http://host:port". Settings as in PromptEndpoint; extra_body: grammar, min_p, id_slot, ...

    Every piece of a stream carries the server's counts, so that one that is closed early has them too.
    """

    family = "llamacpp"
    endings = ("/completion", "/v1/chat/completions", "/v1/completions", "/v1")
    apply_route = "/apply-template"
    source_route = "/props"

    def url_for(self, ask: Ask) -> str:
        return self.route_url("/completion")

    def body_for(self, ask: Ask) -> dict[str, Any]:
        body = {"prompt": self.prompt_for(ask), "n_predict": ask.cap, "stream": ask.stream}
        return body | self.sampling(most_words=MANY_STOP_WORDS) | self.extra_body

    def constraint(self, mode: Mode, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        if mode == "grammar":
            return {"grammar": grammar_of(schema)}
        return {"json_schema": ANY_OBJECT if mode == "json_object" else schema}

    def delta_of(self, data: Mapping[str, Any], whole: bool) -> Delta | None:
        if not isinstance(data.get("content"), str):
            return None
        ended = whole or data.get("stop") is True
        cached = fields(data.get("timings")).get("cache_n")
        return Delta(
            data["content"], finish=_reason(data) if ended else None, done=ended, model=string(data.get("model")), server="llama.cpp",
            counts=counts(data.get("tokens_evaluated"), data.get("tokens_predicted"), cached=cached),
        )  # fmt: skip

    def found_window(self) -> int | None:
        return window_in(self.look_up(self.route_url("/props")))

    def model_names(self) -> list[str]:
        return [string(entry.get("id")) for entry in each(fields(self.look_up(self.route_url("/v1/models"))).get("data"))]

    def count_prompt(self, prompt: str) -> int | None:
        return count_of(self.look_up, self.route_url("/tokenize"), prompt)


def _reason(data: Mapping[str, Any]) -> str | None:
    """Why the model stopped: "limit" also where it was the window that ended."""
    return string(data.get("stop_type")) or next((word for flag, word in _OLD_FLAGS.items() if data.get(flag) is True), None)
