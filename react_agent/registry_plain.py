"""What a tool returned -> JSON data that is safe to show: strings, numbers, booleans, None, lists and dicts with string keys."""

import dataclasses
import datetime
import decimal
import enum
import inspect
import math
import pathlib
import re
import uuid
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from react_agent.errors import ToolError
from react_agent.registry_masking import without_paths
from react_agent.registry_neutral import neutral

MAX_DEPTH = 50
MAX_INTEGER_BITS = 13_000  # Python refuses to print integers of more than 4,300 digits
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")


class PartText(str):
    """The beginning of a text. total: its whole length in characters; total_lines: in lines."""

    total: int
    total_lines: int


class PartList(list[Any]):
    """The first items of a list. total: how many there are."""

    total: int


class PartDict(dict[str, Any]):
    """The first entries of a mapping. total: how many there are."""

    total: int


def plain(value: Any, room: int) -> Any:
    """JSON data for any value, not much more than room characters of any text or list in it.

    What JSON cannot hold is described: bytes by their number, NaN and infinity by name, an absolute path by its last part.
    Raises ToolError("bad_result") for a value that contains itself or is nested deeper than MAX_DEPTH.
    """
    return _Walk(room).walk(value)


class _Walk:
    """One walk over one value. left: how many more values it may visit, so that shared parts cannot multiply."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.left = 10 * room
        self.inside: list[int] = []

    def walk(self, value: Any) -> Any:
        self.left -= 1
        if value is None or value is True or value is False:
            return value
        if isinstance(value, enum.Enum):
            return self.walk(value.value)
        for kinds, show in _SCALARS:
            if isinstance(value, kinds):
                shown = show(value)
                return self.text(shown) if isinstance(shown, str) else shown
        if isinstance(value, str):
            return self.text(value)
        return self.container(value)

    def text(self, value: str) -> str:
        if len(value) <= self.room:
            return neutral(value)
        part = PartText(neutral(value[: self.room]))
        part.total, part.total_lines = len(value), value.count("\n") + 1
        return part

    def container(self, value: Any) -> Any:
        if id(value) in self.inside:
            raise ToolError("bad_result", "the tool returned a value that contains itself", "its result cannot be shown; go on without it")
        if len(self.inside) >= MAX_DEPTH:
            raise ToolError("bad_result", f"the tool returned a value nested deeper than {MAX_DEPTH} levels", "go on without its result")
        self.inside.append(id(value))
        try:
            return self.opened(value)
        finally:
            self.inside.pop()

    def opened(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return self.mapping(value)
        if isinstance(value, tuple) and hasattr(value, "_asdict"):
            return self.mapping(value._asdict())
        if isinstance(value, (Set, Sequence)):
            return self.items(_sorted(value) if isinstance(value, Set) else value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return self.mapping({field.name: getattr(value, field.name) for field in dataclasses.fields(value)})
        to_list = getattr(value, "tolist", None)  # arrays and scalars of numpy, series of pandas
        if callable(to_list) and not isinstance(value, type):
            return self.walk(to_list())
        return self.text(_described(value))

    def items(self, value: Sequence[Any]) -> list[Any]:
        shown, size = PartList(), 0
        for item in value:
            if size > self.room or self.left <= 0:
                break
            shown.append(self.walk(item))
            size += rough_size(shown[-1])
        shown.total = len(value)
        return shown if len(shown) < shown.total else list(shown)

    def mapping(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        shown = PartDict()
        for key, item in value.items():
            if self.left <= 0 or len(shown) > self.room:
                break
            name = self.key(key)
            shown[name if name not in shown else f"{name} ({type(key).__name__})"] = self.walk(item)
        shown.total = len(value)
        return shown if len(shown) < shown.total else dict(shown)

    def key(self, key: Any) -> str:
        name = self.walk(key)
        if name is None or isinstance(name, bool):
            return {None: "null", True: "true", False: "false"}[name]
        return name if isinstance(name, str) else str(name)


def rough_size(value: Any) -> int:
    """About how many characters JSON data has as JSON, without writing it."""
    if isinstance(value, str):
        return len(value) + 4
    if isinstance(value, list):
        return 2 + sum(map(rough_size, value))
    if isinstance(value, dict):
        return 2 + sum(len(key) + 4 + rough_size(item) for key, item in value.items())
    return 8


def _integer(value: int) -> int | str:
    bits = int.bit_length(value)
    return int(value) if bits <= MAX_INTEGER_BITS else f"<integer of {bits} bits>"


def _float(value: float) -> float | str:
    if math.isfinite(value):
        return float(value)
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _path(value: pathlib.PurePath) -> str:
    return value.name if value.is_absolute() else value.as_posix()


_Show = Callable[[Any], Any]
_SCALARS: tuple[tuple[Any, _Show], ...] = (
    (int, _integer),
    (float, _float),
    ((bytes, bytearray, memoryview), lambda value: f"<{len(value)} bytes>"),
    ((decimal.Decimal, uuid.UUID, datetime.timedelta), str),
    ((datetime.date, datetime.time), lambda value: value.isoformat()),
    (pathlib.PurePath, _path),
)


def _described(value: Any) -> str:
    """Anything else, in its own words when it has some."""
    kind = type(value)
    if inspect.isroutine(value) or isinstance(value, type):
        return f"<{getattr(value, '__name__', 'function')}>"
    if all(getattr(kind, method) is getattr(object, method) for method in ("__str__", "__repr__")):
        return f"<{kind.__name__}>"
    return without_paths(_ADDRESS.sub("", str(value)))


def _sorted(value: Set[Any]) -> list[Any]:
    """The members of a set in an order that does not change from run to run."""
    try:
        return sorted(value)
    except TypeError:
        return sorted(value, key=lambda member: (type(member).__name__, str(member)))
