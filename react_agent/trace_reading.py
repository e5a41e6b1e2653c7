"""JSON -> events: each field is what its dataclass says, or the line is no event."""

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from react_agent.trace_events import EVENTS

Reader = Callable[[Any], Any]  # raises TypeError for a value of another type


def reader(hint: Any) -> Reader:
    """Reads JSON data as this type: a dataclass, a tuple, a mapping, a union, a literal, or one of JSON's own."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return lambda value: value
    if isinstance(hint, UnionType):
        return _one_of([reader(each) for each in inner])
    if origin is tuple:
        return _list_of(reader(inner[0])) if inner[-1] is ... else _row_of([reader(each) for each in inner])
    if origin is Mapping:
        return _mapping_of(reader(inner[1]))
    if origin is Literal:
        return lambda value: value if value in inner else _wrong(" or ".join(inner), value)
    return _PLAIN[hint] if hint in _PLAIN else _dataclass(hint)


def _wrong(wanted: str, value: Any) -> Any:
    raise TypeError(f"{value!r:.40} is not {wanted}")


def _exactly(kinds: type | tuple[type, ...], name: str) -> Reader:
    def read(value: Any) -> Any:
        fits = isinstance(value, kinds) and (kinds is bool or not isinstance(value, bool))
        return value if fits and (not isinstance(value, float) or math.isfinite(value)) else _wrong(name, value)

    return read


_PLAIN: Mapping[Any, Reader] = {
    str: _exactly(str, "a text"), bool: _exactly(bool, "true or false"), int: _exactly(int, "a whole number"),
    float: _exactly((int, float), "a number"), type(None): _exactly(type(None), "null"),
}  # fmt: skip


def _one_of(readers: list[Reader]) -> Reader:
    def read(value: Any) -> Any:
        for each in readers[1:]:
            try:
                return each(value)
            except TypeError:
                continue
        return readers[0](value)  # whose words are those for the reader

    return read


def _list_of(item: Reader) -> Reader:
    return lambda value: tuple(map(item, value)) if isinstance(value, list) else _wrong("a list", value)


def _row_of(items: list[Reader]) -> Reader:
    def read(value: Any) -> Any:
        if not isinstance(value, list) or len(value) != len(items):
            return _wrong(f"a list of {len(items)}", value)
        return tuple(item(part) for item, part in zip(items, value, strict=True))

    return read


def _mapping_of(item: Reader) -> Reader:
    return lambda value: {name: item(part) for name, part in value.items()} if isinstance(value, dict) else _wrong("an object", value)


def _dataclass(kind: type[Any]) -> Reader:
    """Keys that it does not know are those of a later version; a missing one has its default, or is an error."""
    hints = get_type_hints(kind)
    readers = {item.name: reader(hints[item.name]) for item in fields(kind)}
    needed = [item.name for item in fields(kind) if item.default is MISSING and item.default_factory is MISSING]

    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            return _wrong("an object", value)
        missing = [name for name in needed if name not in value]
        if missing:
            raise TypeError(f"{missing[0]} is missing")
        return kind(**{name: _field(name, read_part, value[name]) for name, read_part in readers.items() if name in value})

    return read


def _field(name: str, read: Reader, value: Any) -> Any:
    try:
        return read(value)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None


READERS: Mapping[str, Reader] = {name: reader(kind) for name, kind in EVENTS.items()}
