"""Lossless coercions of a model's arguments, only where the schema leaves one reading."""

import json
import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

MAX_TEXT, MAX_CHECKS = 20_000, 10_000
EXACT = 2**53  # below it a float that is a whole number is that number
_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (list, "array"), (dict, "object"), (type(None), "null"),
)  # fmt: skip


def json_type(value: Any) -> str:
    return next(name for kind, name in _TYPES if isinstance(value, kind))


class Coercer:
    """Walks arguments along their schema. Where a value is not valid and its text is the JSON of one that is, takes that one.

    is_valid(value, schema) and resolve($ref) belong to the whole schema. notes: each coercion, as `limit: '3' -> 3`.
    A value that is valid as it stands is never touched, so that "3" stays text wherever text is allowed. What would take more than
    MAX_CHECKS validated values (deep arguments under a schema that refers to itself) is left as it is.
    """

    def __init__(self, is_valid: Callable[[Any, Any], bool], resolve: Callable[[str], Any]) -> None:
        self._is_valid = is_valid
        self._resolve = resolve
        self._left = MAX_CHECKS
        self.notes: list[str] = []

    def coerce(self, value: Any, schema: Any, path: str = "") -> Any:
        """The value, or what it must have meant under the schema."""
        if not isinstance(schema, Mapping) or self._fits(value, schema) or self._left <= 0:
            return value
        if "$ref" in schema:
            return self.coerce(value, self._resolve(schema["$ref"]), path)
        for branches in (schema.get("anyOf"), schema.get("oneOf")):
            if branches:
                return self._one_branch(value, branches, path)
        for part in schema.get("allOf", ()):
            value = self.coerce(value, part, path)
        read = self._read(value, _allowed(schema))
        if read is not value:
            self.notes.append(f"{path or 'arguments'}: {_shown(value)} -> {_shown(read)}")
        return self._inside(read, schema, path)

    def _fits(self, value: Any, schema: Any) -> bool:
        self._left -= _count(value)
        return self._left > 0 and self._is_valid(value, schema)

    def _one_branch(self, value: Any, branches: list[Any], path: str) -> Any:
        """What the value means in the only branch in which it can be made to mean something."""
        found: list[tuple[Any, list[str]]] = []
        mark = len(self.notes)
        for branch in branches:
            read = self.coerce(value, branch, path)
            if self._fits(read, branch) and not any(_same(read, other) for other, _ in found):
                found.append((read, self.notes[mark:]))
            del self.notes[mark:]
        if len(found) != 1:
            return value
        self.notes += found[0][1]
        return found[0][0]

    def _inside(self, value: Any, schema: Mapping[str, Any], path: str) -> Any:
        if isinstance(value, dict):
            known, rest = schema.get("properties", {}), schema.get("additionalProperties")
            dot = f"{path}." if path else ""
            return {key: self.coerce(item, known.get(key, rest), f"{dot}{key}") for key, item in value.items()}
        if isinstance(value, list):
            first, rest = schema.get("prefixItems", []), schema.get("items")
            return [self.coerce(item, first[at] if at < len(first) else rest, f"{path}[{at}]") for at, item in enumerate(value)]
        return value

    def _read(self, value: Any, allowed: frozenset[str]) -> Any:
        """The value in an allowed type, or itself."""
        if json_type(value) in allowed:
            return value
        if isinstance(value, float) and "integer" in allowed:
            return int(value) if value.is_integer() and abs(value) < EXACT else value
        if not isinstance(value, str) or len(value) > MAX_TEXT:
            return value
        try:
            read = _json_of(value)
        except (ValueError, RecursionError):
            return value
        if json_type(read) in allowed or (isinstance(read, int) and not isinstance(read, bool) and "number" in allowed):
            return read
        return _whole(value) if isinstance(read, float) and "integer" in allowed else value


def _whole(text: str) -> int | str:
    """The whole number that a text like 3.0 or 1e3 is to its last digit, or the text itself."""
    number = Decimal(text.strip())
    return int(number) if abs(number) < EXACT and number == number.to_integral_value() else text


def _allowed(schema: Mapping[str, Any]) -> frozenset[str]:
    """The JSON types that the schema names, by type, enum or const."""
    types = schema.get("type", ())
    if types:
        return frozenset([types] if isinstance(types, str) else types)
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return frozenset(json_type(value) for value in values)


def _json_of(text: str) -> Any:
    """The JSON value that a text is; also True and False as Python writes them. Raises ValueError."""
    word = text.strip()
    if word in ("True", "False"):
        return word == "True"
    return json.loads(word, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_no_double)


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number) or (number == 0 and Decimal(text) != 0):
        raise ValueError("no JSON reader can hold this number")
    return number


def _no_double(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def _count(value: Any) -> int:
    """How many values there are in a value, itself included."""
    parts = value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
    return 1 + sum(map(_count, parts))


def _same(a: Any, b: Any) -> bool:
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def _shown(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:59]}…"
