"""What was said in a run, in the JSON that OpenTelemetry's opt-in attributes hold; and attribute values that can be sent."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from react_agent.trace_events import CompletionReceived
from react_agent.types import Message, Usage


def known(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes that have a value, in texts that every exporter can encode (a reply may hold half a surrogate pair)."""
    return {name: _encodable(value) for name, value in attributes.items() if value is not None}


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return [_encodable(item) for item in value] if isinstance(value, list | tuple) else value


def usage_attributes(usage: Usage) -> dict[str, Any]:
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens,
        "react_agent.usage.estimated": usage.estimated or None,
    }


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def messages_json(messages: Iterable[Message]) -> str:
    return as_json([{"role": message.role, "parts": [_text(message.content)]} for message in messages])


def instructions_json(instructions: str) -> str | None:
    return as_json([_text(instructions)]) if instructions else None


def answer_json(answer: str | None) -> str | None:
    return None if answer is None else as_json([{"role": "assistant", "parts": [_text(answer)], "finish_reason": "stop"}])


def reply_json(event: CompletionReceived) -> str:
    reasoning = [{"type": "reasoning", "content": event.reasoning}] if event.reasoning else []
    return as_json([{"role": "assistant", "parts": [*reasoning, _text(event.text)], "finish_reason": event.finish_reason}])


def tools_json(tools: Sequence[Mapping[str, Any]]) -> str | None:
    """The definitions of the tools, as the model is told them."""
    shown = [{"type": "function", **{name: tool.get(name) for name in ("name", "description", "parameters")}} for tool in tools]
    return as_json(shown) if shown else None


def _text(content: str) -> dict[str, str]:
    return {"type": "text", "content": content}
