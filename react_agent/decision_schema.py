"""The JSON Schema of a decision, for servers that can hold a reply to one."""

from collections.abc import Iterable, Mapping
from typing import Any

from react_agent.registry import Tool

LONGEST_THOUGHT = 400  # characters; without a cap, what a model may not write elsewhere goes into its thought
_SIMPLE = ("string", "number", "integer", "boolean")


def decision_schema(tools: Iterable[Tool]) -> dict[str, Any]:
    """The shape of a reply that may call one of these tools or finish; without tools it can only finish.

    One flat object with its keys in the order of the prompt, none of them required where there are tools: a call has no final_answer
    and an answer nothing else, as the prompt shows them, and a model that has to write all keys writes on where it should end. The
    arguments are those of all tools together, none of them required either: small models follow a small schema, half the servers know
    neither alternatives nor references, and parser and registry check a reply in any case. It never forbids a call that they would take.
    """
    tools = tuple(tools)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "thought": {"type": "string", "maxLength": LONGEST_THOUGHT},
            "action": {"type": "string", "enum": [*(tool.name for tool in tools), "none"]},
            "action_input": _arguments(tools),
            "final_answer": {"type": ["string", "null"] if tools else "string"},
        },
        "additionalProperties": False,
    }
    return schema if tools else {**schema, "required": ["final_answer"]}


def _arguments(tools: Iterable[Tool]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for tool in tools:
        if _is_open(tool.parameters):
            return {"type": "object"}
        for name, schema in tool.parameters.get("properties", {}).items():
            plain = _plain(schema)
            found[name] = plain if found.get(name, plain) == plain else {}
    return {"type": "object", "properties": found, "additionalProperties": False} if found else {"type": "object"}


def _is_open(parameters: Mapping[str, Any]) -> bool:
    """Whether arguments of any name are allowed. A schema that only does not forbid them means those that it names."""
    extra = parameters.get("additionalProperties", not parameters.get("properties"))
    return extra is not False or bool({"patternProperties", "$ref", "allOf", "anyOf", "oneOf"} & parameters.keys())


def _plain(schema: Any) -> dict[str, Any]:
    """What every server understands of a parameter's schema; {} is any value."""
    if not isinstance(schema, Mapping):
        return {}
    kind = schema.get("type")
    if kind == "array":
        return {"type": "array", "items": _plain(schema.get("items"))}
    if kind not in _SIMPLE:
        return {}
    choices = schema.get("enum")
    return {"type": kind, "enum": list(choices)} if kind == "string" and choices else {"type": kind}
