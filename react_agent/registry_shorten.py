"""Cuts JSON data to a number of characters: texts at whole lines, lists at whole items, the biggest parts first."""

import json
from collections.abc import Callable
from typing import Any

from react_agent.registry_plain import PartDict, PartList, PartText

_ENTRY = 24  # characters that an entry of a mapping is worth keeping for


def json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def shorten(value: Any, room: int) -> tuple[Any, tuple[str, ...]]:
    """JSON data whose JSON text has at most room characters, and what was left out: `rows: 12 of 200 items`."""
    fitter = _Fitter()
    return fitter.fit(value, room, ""), tuple(fitter.cuts)


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
        return self._text(value if isinstance(value, str) else json_text(value), room, path)

    def _text(self, value: str, room: int, path: str) -> str:
        lines = value.splitlines(keepends=True)
        total = getattr(value, "total_lines", len(lines))
        kept = _count_fitting(lines, room - 2, lambda line: len(json_text(line)) - 2)
        if kept:
            self._report(path, kept, total, "lines")
            return "".join(lines[:kept])
        first = lines[0] if lines else ""
        length = _count_fitting(list(first[: max(room, 0)]), room - 2, lambda character: len(json_text(character)) - 2)
        self._report(path, length, getattr(value, "total", len(value)), "characters")
        return first[:length]

    def _list(self, value: list[Any], room: int, path: str) -> list[Any]:
        total = getattr(value, "total", len(value))
        kept = _count_fitting(value, room, lambda item: len(json_text(item)) + 2)
        self._report(path, max(kept, min(total, 1)), total, "items")
        if kept or not value:
            for at, item in enumerate(value[:kept]):
                self._report_parts(item, f"{path}[{at}]")
            return value[:kept]
        return [self.fit(value[0], room - 2, f"{path}[0]")]

    def _dict(self, value: dict[str, Any], room: int, path: str) -> dict[str, Any]:
        """Every entry as long as there is room for it; the big ones share what the small ones leave."""
        total = getattr(value, "total", len(value))
        kept = _count_fitting(list(value), room, lambda name: max(len(json_text(name)) + 6, _ENTRY))
        self._report(path, kept, total, "entries")
        names = list(value)[:kept]
        left = room - 2 - sum(len(json_text(name)) + 4 for name in names)
        shares: dict[str, int] = {}
        for number, name in enumerate(sorted(names, key=lambda each: len(json_text(value[each])))):
            shares[name] = min(len(json_text(value[name])), left // (kept - number))
            left -= shares[name]
        return {name: self.fit(value[name], shares[name], f"{path}.{name}" if path else name) for name in names}

    def _report(self, path: str, kept: int, total: int, unit: str) -> None:
        if kept < total:
            self.cuts.append(f"{path or 'result'}: {kept:,} of {total:,} {unit}")

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
                self._report_parts(item, f"{path}.{name}" if path else name)


def _count_fitting(parts: list[Any], room: int, size: Callable[[Any], int]) -> int:
    """How many of the first parts have room."""
    used = 0
    for count, part in enumerate(parts):
        used += size(part)
        if used > room:
            return count
    return len(parts)
