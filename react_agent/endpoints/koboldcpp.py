"""KoboldCpp's own API: /api/v1/generate, and /api/extra/generate/stream for streams."""

from collections.abc import Mapping
from typing import Any

from react_agent.endpoints.http_call import Ask
from react_agent.endpoints.http_checks import MANY_STOP_WORDS
from react_agent.endpoints.http_decode import counts, each, fields, size, string
from react_agent.endpoints.http_llamacpp import window_in
from react_agent.endpoints.http_prompt import PromptEndpoint
from react_agent.endpoints.http_reply import Delta
from react_agent.endpoints.structured import ANY_OBJECT, Mode
from react_agent.endpoints.structured_grammar import grammar_of


class KoboldEndpoint(PromptEndpoint):
    """One KoboldCpp server. base_url: "http://host:port". Settings as in PromptEndpoint.

    It tells its counts in whole replies of newer versions only; else, and in streams, they are estimated and marked. A prompt that
    is too long is cut silently: context_window is asked from the server, so that it does not come to that.
    """

    family = "kobold"
    endings = ("/api/v1/generate", "/api/extra/generate/stream", "/api/v1", "/api", "/v1")
    source_route = "/props"

    def url_for(self, ask: Ask) -> str:
        return self.route_url("/api/extra/generate/stream" if ask.stream else "/api/v1/generate")

    def body_for(self, ask: Ask) -> dict[str, Any]:
        body: dict[str, Any] = {"prompt": self.prompt_for(ask), "max_length": ask.cap}
        body |= self.sampling(seed="sampler_seed", stop="stop_sequence", most_words=MANY_STOP_WORDS)
        if self.temperature == 0:
            body["top_k"] = 1  # the most likely token, in every version
        return body | self.extra_body

    def constraint(self, mode: Mode, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        """A grammar is all that it takes."""
        return {"grammar": grammar_of(ANY_OBJECT if mode == "json_object" else schema)}

    def delta_of(self, data: Mapping[str, Any], whole: bool) -> Delta | None:
        if isinstance(data.get("results"), list):
            result = next(iter(each(data["results"])), {})
            told = counts(result.get("prompt_tokens"), result.get("completion_tokens"))
            return Delta(string(result.get("text")), finish=_reason(result), counts=told, done=True)
        if isinstance(data.get("token"), str):
            return Delta(data["token"], finish=_reason(data))
        return None

    def found_window(self) -> int | None:
        told = fields(self.look_up(self.route_url("/api/extra/true_max_context_length"))).get("value")
        return size(told) or window_in(self.look_up(self.route_url("/props")))

    def model_names(self) -> list[str]:
        name = string(fields(self.look_up(self.route_url("/api/v1/model"))).get("result"))
        return [name] if name else []

    def count_prompt(self, prompt: str) -> int | None:
        return size(fields(self.look_up(self.route_url("/api/extra/tokencount"), {"prompt": prompt})).get("value"))


def _reason(data: Mapping[str, Any]) -> str:
    """Its word for why the model stopped; "null" is what some versions write while it has not."""
    return string(data.get("finish_reason")).replace("null", "")
