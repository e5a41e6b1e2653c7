"""Knows the everyday schemas of tools by sight: checking one against JSON Schema's own schema takes a hundred times longer."""

from collections.abc import Callable, Mapping
from typing import Any

TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")


def is_plain(schema: Any) -> bool:
    """Whether a schema is certainly right: an object schema of the keywords below, each as it must be. False says nothing."""
    return isinstance(schema, Mapping) and schema.get("type", "object") == "object" and _is_schema(schema)


def _is_schema(schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return isinstance(schema, bool)
    return all(keyword in _RIGHT and _RIGHT[keyword](value) for keyword, value in schema.items())


def _is_type(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and len(set(map(str, value))) == len(value) and all(part in TYPES for part in value)
    return value in TYPES


def _are_schemas(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(name, str) and _is_schema(part) for name, part in value.items())


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value) and len(set(value)) == len(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_RIGHT: Mapping[str, Callable[[Any], bool]] = {
    "type": _is_type, "properties": _are_schemas, "required": _are_names, "additionalProperties": _is_schema, "items": _is_schema,
    "description": lambda value: isinstance(value, str), "title": lambda value: isinstance(value, str),
    "default": lambda value: True, "enum": lambda value: isinstance(value, list), "minimum": _is_number, "maximum": _is_number,
    "minLength": _is_size, "maxLength": _is_size, "minItems": _is_size, "maxItems": _is_size,
}  # fmt: skip
