"""What a tool call costs, against what people use instead, in the same run.

    python bench/tools.py [calculator] [sql] ...      (default: every part)

calculator: microseconds a calculation, and the answer, against simpleeval (`pip install simpleeval`) and plain eval.
sql: milliseconds a query on the demo shop, in the guarded process that is kept warm, against a bare sqlite3 connection; the first query
starts the process. MiB: resident memory that this process and its child have after all of it.
"""

import importlib.util
import math
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from react_agent.demo import build
from react_agent.errors import ToolError
from react_agent.tools.calculator import calculate
from react_agent.tools.sqlite import SqliteDatabase
from react_agent.tools.sqlite_worker import Worker

REPEATS, CALLS = 7, 300
EXPRESSIONS = ["12+7*5", "347 * 86 - 1429", "250*1.04**12", "sqrt(5**2+12**2)", "19.99*3", "2^10", "17.5% of 1234", "1e308*10"]
QUERIES = [
    "SELECT 1",
    "SELECT count(*) FROM customers WHERE city = 'Lisbon'",
    "SELECT name, price_eur FROM products ORDER BY price_eur DESC LIMIT 5",
    "SELECT c.name, count(*) AS n FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY c.id ORDER BY n DESC LIMIT 10",
    "SELECT * FROM orders",
    "SELECT nosuch FROM orders",
]
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


def attempt(call: Callable[[], Any]) -> str:
    try:
        call()
    except (ToolError, sqlite3.Error) as error:
        return type(error).__name__
    return "rows"


def milliseconds(call: Callable[[], Any]) -> str:
    times = []
    for _ in range(200):
        started = time.perf_counter()
        attempt(call)
        times.append(1e3 * (time.perf_counter() - started))
    return f"{statistics.median(times):.2f}"


def resident(pid: int | None) -> str:
    """The resident memory of a process, where the system tells."""
    try:
        status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        return f"{int(status['VmRSS'].split()[0]) / 1024:.0f}"
    except OSError:
        return "?"


def sql() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, worker = build(Path(folder) / "demo").db, Worker()
        bare = sqlite3.connect(path)
        with SqliteDatabase(path, worker=worker) as guarded:
            started = time.perf_counter()
            guarded.query("SELECT 1")
            rows = [["(the first query)", f"{1e3 * (time.perf_counter() - started):.2f}", "", ""]]
            for query in QUERIES:
                ours = milliseconds(lambda text=query: guarded.query(text))
                theirs = milliseconds(lambda text=query: bare.execute(text).fetchall())
                rows.append([query[:60], ours, theirs, attempt(lambda text=query: guarded.query(text))])
            rows.append(["(the description of the tables)", milliseconds(guarded.tables), "", ""])
            table("sql", ["query", "guarded ms", "bare ms", "gives"], rows)
            print(f"MiB: {resident(os.getpid())} here, {resident(worker.pid)} in the child")
        bare.close()


PARTS: Mapping[str, Callable[[], None]] = {"calculator": calculator, "sql": sql}


def main() -> None:
    chosen = sys.argv[1:] or list(PARTS)
    unknown = [name for name in chosen if name not in PARTS]
    if unknown:
        sys.exit(f"there is no part {unknown[0]}; the parts are: {', '.join(PARTS)}")
    for name in chosen:
        PARTS[name]()


if __name__ == "__main__":
    main()
