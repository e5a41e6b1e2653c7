"""What the registry adds to a tool call, stage by stage, and what a hostile call can cost at the most.

    python bench/registry.py
"""

import statistics
import time
import timeit
from collections.abc import Callable
from typing import Any

from react_agent.errors import ToolError
from react_agent.registry import Gate, Prepared, ToolRegistry, tool
from react_agent.registry_arguments import ArgumentChecker
from react_agent.types import ToolCall

REPEATS, CALLS = 7, 500


@tool(read_only=True)
def find(query: str, limit: int = 3) -> list[str]:
    """Find things."""
    return [query] * limit


@tool(read_only=True)
def rows(count: int) -> dict[str, Any]:
    """Many rows."""
    return {"columns": ["number", "text"], "rows": [[number, f"text {number}"] for number in range(count)], "row_count": count}


def microseconds(call: Callable[[], Any]) -> float:
    """The median over repeats of the time of one call."""
    return 1e6 * statistics.median(timeit.repeat(call, number=CALLS, repeat=REPEATS)) / CALLS


def stages() -> None:
    registry, gate = ToolRegistry([find, rows]), Gate()
    call, textual = ToolCall("find", {"query": "a", "limit": 3}), ToolCall("find", {"query": "a", "limit": "3"})
    prepared, many = registry.prepare(call, gate), registry.prepare(ToolCall("rows", {"count": 200}), gate)
    assert isinstance(prepared, Prepared) and isinstance(many, Prepared)
    raw, long = registry.execute(prepared), registry.execute(many)
    for name, work in (
        ("prepare", lambda: registry.prepare(call, gate)),
        ("prepare, one coercion", lambda: registry.prepare(textual, gate)),
        ("prepare, refused", lambda: registry.prepare(ToolCall("find", {"qery": "a"}), gate)),
        ("execute", lambda: registry.execute(prepared)),
        ("execute, with a time limit", lambda: registry.execute(prepared, 60.0)),
        ("finalize", lambda: registry.finalize(prepared, raw, gate)),
        ("finalize, 200 rows cut to 3,000 characters", lambda: registry.finalize(many, long, gate)),
    ):
        print(f"{name:<45}{microseconds(work):>8.0f} µs")


def hostile() -> None:
    """The dearest arguments we know, as seconds until they are refused."""
    tree = {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/tree"}}]}
    deep: Any = ["x"]
    for _ in range(45):
        deep = [deep, *["x"] * 40]
    for name, schema, value in (
        ("a pattern that explodes, 100 times", {"type": "array", "items": {"pattern": "(a+)+$"}}, ["a" * 4000 + "b"] * 100),
        ("1,900 values under a schema in a circle", {"$ref": "#/$defs/tree"}, deep),
        ("1,900 texts for numbers", {"type": "array", "items": {"type": "integer"}}, ["1"] * 1899 + ["x"]),
        ("2,000,000 characters", {"type": "string", "maxLength": 10}, "x" * 1_999_000),
    ):
        checker = ArgumentChecker("t", {"type": "object", "properties": {"v": schema}, "$defs": {"tree": tree}})
        started = time.perf_counter()
        try:
            checker.check({"v": value})
        except ToolError:
            print(f"{name:<45}{time.perf_counter() - started:>8.2f} s")


if __name__ == "__main__":
    stages()
    hostile()
