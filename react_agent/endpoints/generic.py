"""An API that no family covers, described by a small TOML file."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from react_agent.endpoints.generic_file import PLACEHOLDER, GenericApi, Places
from react_agent.endpoints.http_body import Framing
from react_agent.endpoints.http_call import Ask
from react_agent.endpoints.http_checks import MOST_STOP_WORDS, merged
from react_agent.endpoints.http_decode import content_text, counts, string
from react_agent.endpoints.http_prompt import PromptEndpoint
from react_agent.endpoints.http_reply import Delta
from react_agent.endpoints.templates import AUTO

_SUBSTANCE = ("text", "reasoning", "refusal", "reason")  # without any of these an object is no reply
_ABSENT = object()  # a placeholder without a value: its field is left out


class GenericEndpoint(PromptEndpoint):
    """One model behind an API that read_generic has read from a file. model and template are put in the place of the file's.

    The rest is as in PromptEndpoint; streams are read where the file describes them.
    """

    family = "generic"

    def __init__(
        self, api: GenericApi, model: str = "", api_key: str | None = None, *, template: str = "", stream: bool = True,
        headers: Mapping[str, str] | None = None, context_window: int | None = None, **settings: Any,
    ) -> None:  # fmt: skip
        super().__init__(
            api.url, model or api.model, api_key, template=template or api.template or AUTO, stream=stream and api.stream is not None,
            headers={**api.headers, **(headers or {})}, context_window=context_window or api.context_window, **settings,
        )  # fmt: skip
        self.api = api
        self.framing: Framing = api.framing

    def url_for(self, ask: Ask) -> str:
        return self.api.stream_url if ask.stream and self.api.stream_url else self.base_url

    def body_for(self, ask: Ask) -> dict[str, Any]:
        filled = _filled(self.api.body, lambda name: self._value(name, ask))
        return merged(filled, self.extra_body)

    def delta_of(self, data: Mapping[str, Any], whole: bool) -> Delta | None:
        places = self.api.reply if whole or self.api.stream is None else self.api.stream
        found = {name: _found(data, getattr(places, name)) for name in Places.__slots__}
        if not any(found[name] for name in (_SUBSTANCE if whole else found)):
            return None
        parts = [content_text(value) for value in found["text"]]
        reason = _text(found["reason"])
        prompt, written, cached = (next(iter(found[name]), None) for name in ("input_tokens", "output_tokens", "cached_tokens"))
        return Delta(
            "".join(text for text, _ in parts), _text(found["reasoning"]) or "".join(thought for _, thought in parts),
            _text(found["refusal"]), self.api.reasons.get(reason.casefold(), reason), counts(prompt, written, cached=cached),
            model=_text(found["model"]), done=True in found["done"],
        )  # fmt: skip

    def _value(self, name: str, ask: Ask) -> Any:
        """What a placeholder stands for in one request."""
        if name == "prompt":
            return self.prompt_for(ask)
        if name == "messages":
            return [self.api.message.wire(message.role, message.content) for message in ask.messages]
        value = {
            "model": self.model or None, "max_output_tokens": ask.cap, "temperature": self.temperature, "seed": self.seed,
            "stop": list(self.stop[:MOST_STOP_WORDS]) or None, "stream": ask.stream,
        }[name]  # fmt: skip
        return _ABSENT if value is None else value


def _filled(template: Any, value_of: Callable[[str], Any]) -> Any:
    """A body's template with its placeholders filled in: one that is a whole text by the value itself, one inside a text as text."""
    if isinstance(template, str):
        if alone := PLACEHOLDER.fullmatch(template):
            return value_of(alone[1])
        return PLACEHOLDER.sub(lambda found: _as_text(value_of(found[1])), template)
    if isinstance(template, dict):
        filled = {name: _filled(value, value_of) for name, value in template.items()}
        return {name: value for name, value in filled.items() if value is not _ABSENT}
    if isinstance(template, list):
        return [value for value in (_filled(value, value_of) for value in template) if value is not _ABSENT]
    return template


def _as_text(value: Any) -> str:
    return "" if value is _ABSENT else str(value)


def _text(values: Sequence[Any]) -> str:
    return "".join(map(string, values))


def _found(data: Any, path: str) -> Sequence[Any]:
    """What is at a path, nothing when there is no such place; several values where the path has a *."""
    if not path:
        return ()
    values = [data]
    for name in path.split("."):
        values = [inner for value in values for inner in _step(value, name)]
    return [value for value in values if value is not None]


def _step(value: Any, name: str) -> Sequence[Any]:
    if isinstance(value, dict):
        return (value[name],) if name in value else ()
    if not isinstance(value, list):
        return ()
    if name == "*":
        return value
    return (value[int(name)],) if name.isdecimal() and int(name) < len(value) else ()
