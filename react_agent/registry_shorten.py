"""Cuts JSON data to a number of characters: texts at whole lines, lists at whole items, the biggest parts first."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from react_agent.registry_plain import PartDict, PartList, PartText

_ENTRY = 24  # characters that an entry of a mapping is worth keeping for
_LEAST = 3  # characters of the shortest stand-in, "…" in quotes


json_text: Callable[[Any], str] = json.JSONEncoder(ensure_ascii=False).encode  # as json.dumps, which makes an encoder for each call


def shorten(value: Any, room: int) -> tuple[Any, tuple[str, ...]]:
    """JSON data whose JSON text has at most room characters (3 or more), and what was left out: `result.rows: 12 of 200 items`."""
    fitter = _Fitter()
    return fitter.fit(value, room, "result"), tuple(fitter.cuts)


class _Fitter:
    def __init__(self) -> None:
        self.cuts: list[str] = []

    def fit(self, value: Any, room: int, path: str) -> Any:
        if len(json_text(value)) <= room:
            self._report_parts(value, path)
            return value
        if isinstance(value, list):
            return self._list(value, room, path)
        if isinstance(value, dict):
            return self._dict(value, room, path)
        if isinstance(value, str):
            return self._text(value, room, path)
        self._report(path, 0, 1, "values")
        return "…"

    def _text(self, value: str, room: int, path: str) -> str:
        lines = value.splitlines(keepends=True)
        kept = _count_fitting(lines, room - 2, lambda line: len(json_text(line)) - 2)
        if kept:
            self._report(path, kept, getattr(value, "total_lines", len(lines)), "lines")
            return "".join(lines[:kept])
        length = _count_fitting(value[: max(room, 0)], room - 2, lambda character: len(json_text(character)) - 2)
        self._report(path, length, getattr(value, "total", len(value)), "characters")
        return value[:length]

    def _list(self, value: list[Any], room: int, path: str) -> list[Any]:
        total = getattr(value, "total", len(value))
        kept = _count_fitting(value, room, lambda item: len(json_text(item)) + 2)
        if not kept and value and room >= _LEAST + 2:
            self._report(path, 1, total, "items")
            return [self.fit(value[0], room - 2, f"{path}[0]")]
        self._report(path, kept, total, "items")
        for at, item in enumerate(value[:kept]):
            self._report_parts(item, f"{path}[{at}]")
        return value[:kept]

    def _dict(self, value: dict[str, Any], room: int, path: str) -> dict[str, Any]:
        """Every entry as long as there is room for it; the big ones share what the small ones leave."""
        kept = _count_fitting(value, room - 2, lambda name: max(len(json_text(name)) + 4 + _LEAST, _ENTRY))
        self._report(path, kept, getattr(value, "total", len(value)), "entries")
        names = list(value)[:kept]
        left = room - 2 - sum(len(json_text(name)) + 4 for name in names)
        shares: dict[str, int] = {}
        for number, name in enumerate(sorted(names, key=lambda each: len(json_text(value[each])))):
            shares[name] = min(len(json_text(value[name])), left // (kept - number))
            left -= shares[name]
        return {name: self.fit(value[name], shares[name], f"{path}.{name}") for name in names}

    def _report(self, path: str, kept: int, total: int, unit: str) -> None:
        if kept < total:
            self.cuts.append(f"{path}: {kept:,} of {total:,} {unit}")

    def _report_parts(self, value: Any, path: str) -> None:
        """What the walk over the result had left out already, inside a part that fits."""
        if isinstance(value, PartText):
            self._report(path, len(value), value.total, "characters")
        elif isinstance(value, (PartList, PartDict)):
            self._report(path, len(value), value.total, "items")
        if isinstance(value, list):
            for at, item in enumerate(value):
                self._report_parts(item, f"{path}[{at}]")
        elif isinstance(value, dict):
            for name, item in value.items():
                self._report_parts(item, f"{path}.{name}")


def _count_fitting(parts: Iterable[Any], room: int, size: Callable[[Any], int]) -> int:
    """How many of the first parts have room."""
    count = 0
    for part in parts:
        room -= size(part)
        if room < 0:
            break
        count += 1
    return count
