"""Microseconds per reply, by kind and beside other parsers, and the growth on hostile input.

    python bench/parser.py [--rounds N] [--no-hostile]

json.loads, json_repair and LangChain's parse_json_markdown are measured where they are installed; they only read the JSON, so
their times hold no check of what it says.
"""

import argparse
import contextlib
import importlib
import json
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "fuzz"))

from mutants import registry, replies
from parser_shapes import hostile

from react_agent.errors import ParseError
from react_agent.parser import parse_decision
from react_agent.types import Completion
from react_agent.watch import DecisionWatcher

MEGABYTE = 1_000_000
PEERS = {"json_repair": ("json_repair", "loads"), "langchain": ("langchain_core.utils.json", "parse_json_markdown")}
TOOLS = registry([{"name": "search", "parameters": ["query"]}, {"name": "sql", "parameters": ["query", "database"]}])


def seconds(function: Callable[[], object], times: int = 1) -> float:
    """The shortest of several runs."""
    found = []
    for _ in range(times):
        started = time.perf_counter()
        function()
        found.append(time.perf_counter() - started)
    return min(found)


def parse(text: str, reason: str = "stop", tools=TOOLS) -> None:
    with contextlib.suppress(ParseError):
        parse_decision(Completion(text, reason), tools)


def peers() -> dict[str, Callable[[str], object]]:
    """Other parsers of JSON that are installed."""
    found: dict[str, Callable[[str], object]] = {"json.loads": json.loads}
    for name, (module, function) in PEERS.items():
        try:
            found[name] = getattr(importlib.import_module(module), function)
        except ImportError:
            print(f"{name} is not installed")
    return found


def quiet(function: Callable[[str], object], text: str) -> None:
    with contextlib.suppress(Exception):  # a peer may raise anything on a broken reply; its time counts all the same
        function(text)


def by_kind(rounds: int) -> None:
    """Microseconds by kind: the median over a kind's cases of each case's shortest run."""
    cases = [case for case in replies("parser.jsonl") if len(case.text) < 20_000]
    others = peers()
    times: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for case in cases:
        times[case.kind]["parse_decision"].append(seconds(lambda case=case: parse(case.text, case.finish_reason, case.tools), rounds))
        for name, function in others.items():
            times[case.kind][name].append(seconds(lambda function=function, case=case: quiet(function, case.text), rounds))
    names = ["parse_decision", *others]
    print(f"\nmicroseconds a reply   {''.join(f'{name:>16}' for name in names)}")
    everything = {name: [second for kind in times.values() for second in kind[name]] for name in names}
    for kind, found in [*sorted(times.items()), ("all", everything)]:
        print(f"{kind:22} {''.join(f'{statistics.median(found[name]) * 1e6:16.1f}' for name in names)}")
    valid = times["valid"]
    print(f"valid replies: {statistics.median(valid['parse_decision']) / statistics.median(valid['json.loads']):.1f} times json.loads")


def growth() -> int:
    """How many hostile megabytes take longer than a second, or more than 20 times a tenth of them."""
    bad = 0
    for name, make in hostile().items():
        for what, run in (("parse", parse), ("watch", watch)):
            tenth, whole = (took(run, make(size)) for size in (MEGABYTE // 10, MEGABYTE))
            slow = whole > 1 or (whole > 0.1 and whole > 20 * tenth)
            bad += slow
            if slow or whole > 0.3:
                print(f"{what} {name:45} {whole:7.3f} s, x{whole / tenth:.0f}{'  <-- too slow' if slow else ''}")
    return bad


def took(run: Callable[[str], None], text: str) -> float:
    """The processor's seconds: what else the machine does is not counted."""
    started = time.process_time()
    run(text)
    return time.process_time() - started


def watch(text: str) -> None:
    watcher = DecisionWatcher()
    for at in range(0, len(text), 40):
        watcher.feed(text[at : at + 40])


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=20)
    options.add_argument("--no-hostile", action="store_true")
    given = options.parse_args()
    by_kind(given.rounds)
    if given.no_hostile:
        return 0
    print(f"\nhostile megabytes, those above 0.3 s of {len(hostile()) * 2}:")
    bad = growth()
    print("all within a second and linear" if not bad else f"{bad} too slow")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
