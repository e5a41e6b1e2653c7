"""What llama.cpp's own routes tell, whatever API its server is used through: window, chat template, prompts and their size."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from react_agent.endpoints.http_decode import fields, string
from react_agent.types import Message

LookUp = Callable[[str, Mapping[str, Any] | None], Any]  # HttpEndpoint.look_up


def wire_messages(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Messages as all APIs with roles take them."""
    return [{"role": message.role, "content": message.content} for message in messages]


def window_in(props: Any) -> int | None:
    """The context window in the answer of /props, which KoboldCpp has too."""
    window = fields(fields(props).get("default_generation_settings")).get("n_ctx") or fields(props).get("n_ctx")
    return window if isinstance(window, int) and window > 0 else None


def applied_template(look_up: LookUp, url: str, messages: Sequence[Message]) -> str | None:
    """The prompt that the server makes of messages. url: of /apply-template."""
    return string(fields(look_up(url, {"messages": wire_messages(messages)})).get("prompt")) or None


def count_of(look_up: LookUp, url: str, prompt: str) -> int | None:
    """How many tokens a prompt is. url: of /tokenize."""
    tokens = fields(look_up(url, {"content": prompt, "add_special": True, "parse_special": True})).get("tokens")
    return len(tokens) if isinstance(tokens, list) else None
