"""Type hints -> JSON Schema, and JSON values -> what the hints promise."""

import dataclasses
import enum
import inspect
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from react_agent.errors import ConfigError, ToolError

Adapt = Callable[[Any], Any]
SUPPORTED = "int, float, bool, str, Literal, Enum, list[...], dict[str, ...], TypedDict, dataclass, unions of them, Optional, Annotated"
_SCALARS: dict[Any, str] = {int: "integer", float: "number", bool: "boolean", str: "string", type(None): "null", None: "null"}
_LISTS, _DICTS = (list, Sequence), (dict, Mapping)


@dataclass(frozen=True, slots=True)
class Kind:
    """A hint, described. adapt: JSON value -> Python value, None when they are the same; it returns what is not its own as it is."""

    schema: dict[str, Any]
    adapt: Adapt | None = None


def describe(hint: Any, where: str, inside: tuple[Any, ...] = ()) -> Kind:
    """One hint -> its Kind. where: for the ConfigError. inside: the classes being described, to see a circle."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        kind = describe(arguments[0], where, inside)
        words = next((word for word in arguments[1:] if isinstance(word, str)), "")
        return Kind({**kind.schema, "description": words}, kind.adapt) if words else kind
    if origin in (typing.Required, typing.NotRequired):
        return describe(arguments[0], where, inside)
    if origin is typing.Literal:
        return _literal(arguments, where)
    if origin in (typing.Union, types.UnionType):
        return _union([describe(argument, where, inside) for argument in arguments], where)
    if hint in _LISTS or origin in _LISTS:
        return _list(describe(arguments[0], where, inside) if arguments else Kind({}))
    if hint in _DICTS or origin in _DICTS:
        return _dict(arguments, where, inside)
    return _plain(hint, where, inside)


def _plain(hint: Any, where: str, inside: tuple[Any, ...]) -> Kind:
    """A hint that is no generic: Any, a scalar, an alias or a class."""
    if hint is Any:
        return Kind({})
    alias = getattr(hint, "__supertype__", None) or getattr(hint, "__value__", None)  # NewType; `type X = ...` of Python 3.12
    if alias is not None and not isinstance(hint, type):
        return describe(alias, where, inside)
    try:
        scalar = _SCALARS.get(hint)
    except TypeError:  # not hashable, so no hint that we know
        scalar = None
    if scalar:
        return Kind({"type": scalar})
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return _enum(hint, where)
    if isinstance(hint, type) and (typing.is_typeddict(hint) or dataclasses.is_dataclass(hint)):
        return _record(hint, where, inside)
    raise ConfigError(f"{where}: the type {_name(hint)} cannot be described to a model; use {SUPPORTED}, or give parameters=")


def _literal(values: tuple[Any, ...], where: str) -> Kind:
    if not all(type(value) in _SCALARS for value in values):
        raise ConfigError(f"{where}: a Literal may hold text, numbers, booleans and None only")
    return Kind(_choices(values))


def _enum(cls: type[enum.Enum], where: str) -> Kind:
    values = [member.value for member in cls]
    if not values or not all(isinstance(value, (str, int, float)) for value in values):
        raise ConfigError(f"{where}: the values of {cls.__name__} must be text or numbers, so that JSON can hold them")
    return Kind(_choices(values), lambda value: cls(value) if isinstance(value, (str, int, float)) and value in values else value)


def _choices(values: Sequence[Any]) -> dict[str, Any]:
    names = list(dict.fromkeys(_json_type(value) for value in values))
    return {"type": names[0] if len(names) == 1 else names, "enum": list(values)}


def _json_type(value: Any) -> str:
    return next(name for kind, name in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (object, "null"))
                if isinstance(value, kind))  # fmt: skip


def _union(kinds: list[Kind], where: str) -> Kind:
    adapts = [kind.adapt for kind in kinds if kind.adapt]
    if len(adapts) > 1:
        raise ConfigError(f"{where}: a union may hold one Enum or dataclass at most: a model's value does not say which one it is")
    if all(kind.schema.keys() == {"type"} for kind in kinds):
        return Kind({"type": [kind.schema["type"] for kind in kinds]})
    return Kind({"anyOf": [kind.schema for kind in kinds]}, adapts[0] if adapts else None)


def _list(item: Kind) -> Kind:
    adapt = item.adapt
    schema = {"type": "array", "items": item.schema} if item.schema else {"type": "array"}
    return Kind(schema, adapt and (lambda value: [adapt(part) for part in value] if isinstance(value, list) else value))


def _dict(arguments: tuple[Any, ...], where: str, inside: tuple[Any, ...]) -> Kind:
    if not arguments:
        return Kind({"type": "object"})
    if arguments[0] is not str:
        raise ConfigError(f"{where}: the keys of a dict must be str, as in JSON, not {_name(arguments[0])}")
    item = describe(arguments[1], where, inside)
    adapt = item.adapt
    schema = {"type": "object", "additionalProperties": item.schema} if item.schema else {"type": "object"}
    return Kind(schema, adapt and (lambda value: {key: adapt(part) for key, part in value.items()} if isinstance(value, dict) else value))


def _record(cls: type, where: str, inside: tuple[Any, ...]) -> Kind:
    """A TypedDict or a dataclass."""
    if cls in inside:
        raise ConfigError(f"{where}: {cls.__name__} refers to itself, which cannot be described; give parameters=")
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except (NameError, TypeError, SyntaxError) as error:
        raise ConfigError(f"{where}: a hint in {cls.__name__} cannot be resolved: {error}") from error
    defaults = {} if typing.is_typeddict(cls) else {field.name: _default(field) for field in dataclasses.fields(cls) if field.init}
    names = defaults or hints
    kinds = {}
    for name in names:
        kind = describe(hints[name], f"{where}, field {name!r}", (*inside, cls))
        kinds[name] = completed(kind, defaults.get(name, inspect.Parameter.empty), "")
    if typing.is_typeddict(cls):
        required: frozenset[str] = getattr(cls, "__required_keys__", frozenset())
        return object_kind(kinds, [name for name in names if name in required])
    whole = object_kind(kinds, [name for name in names if defaults[name] is inspect.Parameter.empty])
    return Kind(whole.schema, _maker(cls, whole.adapt))


def _maker(cls: type, adapt: Adapt | None) -> Adapt:
    def make(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        try:
            return cls(**(adapt(value) if adapt else value))
        except ValueError as error:  # what its __post_init__ says of values that the schema let pass
            raise ToolError("bad_arguments", str(error), "correct the arguments and call the tool again") from error

    return make


def _default(field: "dataclasses.Field[Any]") -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    return inspect.Parameter.empty if field.default_factory is dataclasses.MISSING else field.default_factory


def object_kind(kinds: Mapping[str, Kind], required: list[str]) -> Kind:
    """An object with these properties and no others."""
    schema = {"type": "object", "properties": {name: kind.schema for name, kind in kinds.items()}, "required": required,
              "additionalProperties": False}  # fmt: skip
    adapts = {name: kind.adapt for name, kind in kinds.items() if kind.adapt}

    def adapt(value: Any) -> Any:
        return {name: adapts[name](part) if name in adapts else part for name, part in value.items()} if isinstance(value, dict) else value

    return Kind(schema, adapt if adapts else None)


def completed(kind: Kind, default: Any, words: str) -> Kind:
    """The kind with the description from the docstring, unless it has its own, and the default value; null too where None is that."""
    schema = dict(kind.schema)
    words = schema.pop("description", words)
    if default is None and not _takes_null(schema):
        schema = _union([Kind(schema), Kind({"type": "null"})], "").schema
    value = default.value if isinstance(default, enum.Enum) else default
    if words:
        schema["description"] = words
    if isinstance(value, (str, int)) or (isinstance(value, float) and math.isfinite(value)):
        schema["default"] = value
    return Kind(schema, kind.adapt)


def _takes_null(schema: Mapping[str, Any]) -> bool:
    types = schema.get("type", ())
    return not schema or types == "null" or "null" in types or any(map(_takes_null, schema.get("anyOf", ())))


def _name(hint: Any) -> str:
    return getattr(hint, "__name__", None) or repr(hint)
