"""What a tool call costs, against what people use instead, in the same run.

    python bench/tools.py [calculator] ...      (default: every part)

calculator: microseconds a calculation, and the answer, against simpleeval (`pip install simpleeval`) and plain eval.
"""

import importlib.util
import math
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from react_agent.errors import ToolError
from react_agent.tools.calculator import calculate

REPEATS, CALLS = 7, 300
EXPRESSIONS = ["12+7*5", "347 * 86 - 1429", "250*1.04**12", "sqrt(5**2+12**2)", "19.99*3", "2^10", "17.5% of 1234", "1e308*10"]
FUNCTIONS: Mapping[str, Callable[..., Any]] = {name: value for name, value in vars(math).items() if callable(value)}


def table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    print(f"\n{title}")
    widths = [max(len(row[at]) for row in [columns, *rows]) for at in range(len(columns))]
    for row in [columns, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def microseconds(call: Callable[[], Any]) -> float:
    """The median over repeats of the time of one call."""
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        for _ in range(CALLS):
            call()
        times.append(1e6 * (time.perf_counter() - started) / CALLS)
    return statistics.median(times)


def answer(function: Callable[[str], Any], expression: str) -> str:
    try:
        return str(function(expression))
    except ToolError as error:
        return error.type
    except Exception as error:  # whatever an evaluator raises is what its user sees
        return type(error).__name__


def calculators() -> dict[str, Callable[[str], Any]]:
    found: dict[str, Callable[[str], Any]] = {"calculate": calculate}
    if importlib.util.find_spec("simpleeval"):
        from simpleeval import simple_eval

        found["simpleeval"] = lambda expression: simple_eval(expression, functions=dict(FUNCTIONS))
    found["eval"] = lambda expression: eval(expression, {"__builtins__": {}, **FUNCTIONS})
    return found


def calculator() -> None:
    rows = []
    candidates = calculators()
    for expression in EXPRESSIONS:
        row = [expression]
        for function in candidates.values():
            row += [f"{microseconds(lambda call=function, text=expression: answer(call, text)):.0f}", answer(function, expression)]
        rows.append(row)
    columns = ["expression"] + [cell for name in candidates for cell in (f"{name} us", "gives")]
    table("calculator", columns, rows)


PARTS: Mapping[str, Callable[[], None]] = {"calculator": calculator}


def main() -> None:
    chosen = sys.argv[1:] or list(PARTS)
    unknown = [name for name in chosen if name not in PARTS]
    if unknown:
        sys.exit(f"there is no part {unknown[0]}; the parts are: {', '.join(PARTS)}")
    for name in chosen:
        PARTS[name]()


if __name__ == "__main__":
    main()
