"""Overhead of the loop itself: time and memory a step, with a scripted model and the trace on.

The last column compares with json.dumps of the same events, measured in the same run: it says the same on a quick machine and on a
slow or busy one.

    python bench/loop.py [STEPS ...]      (default 100 1000 10000)
"""

import json
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from react_agent import Agent, Completion, Limits, Message, Usage, tool
from react_agent.endpoints.base import Request


class Endless:
    """Calls a tool with another argument each time; keeps nothing."""

    model, max_output_tokens, context_window = "endless", 512, 8000

    def __init__(self, steps: int) -> None:
        self._left = steps

    def complete(self, messages: Sequence[Message], request: Request) -> Completion:
        self._left -= 1
        body = {"thought": "the next one", "action": "square", "action_input": {"n": self._left}, "final_answer": None}
        if self._left <= 0:
            body = {"thought": "done", "action": "none", "action_input": {}, "final_answer": "done"}
        return Completion(json.dumps(body), "stop", Usage(1000, 30))

    def count_tokens(self, messages: Sequence[Message]) -> None:
        return None

    def describe(self) -> dict[str, str]:
        return {"endpoint": "endless"}


@tool(read_only=True)
def square(n: int) -> int:
    """The square of a number."""
    return n * n


def measure(steps: int, folder: Path) -> tuple[float, float, float, float]:
    """A step's microseconds, those of the processor, those of json.dumps for its events, and the KiB by which the process has grown."""
    agent = Agent(Endless(steps), [square], limits=Limits(max_steps=steps + 1), trace=folder)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started, cpu = time.perf_counter(), time.process_time()
    result = agent.run("Go on.")
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    assert result.status == "completed" and len(result.steps) == steps and result.trace_path, result.error
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / steps
    return 1e6 * seconds / steps, 1e6 * cpu / steps, encoding(Path(result.trace_path)), grown


def encoding(trace: Path) -> float:
    """Microseconds of the processor for json.dumps of the events of a step: those of the first fifty steps, many times."""
    with trace.open(encoding="utf-8") as lines:
        events = [event for event in map(json.loads, islice(lines, 260)) if 1 <= event.get("step", 0) <= 50]
    started = time.process_time()
    for event in 40 * events:
        json.dumps(event)
    return 1e6 * (time.process_time() - started) / (40 * 50)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        measure(50, Path(folder))
        for steps in [int(word) for word in sys.argv[1:]] or [100, 1000, 10_000]:
            micros, cpu, dumps, kib = measure(steps, Path(folder))
            print(f"{steps:>6} steps: {micros:6.1f} us a step ({cpu:6.1f} of the processor), {kib:5.2f} KiB a step, "
                  f"{cpu / dumps:4.1f} times json.dumps of its events ({dumps:.1f} us)")  # fmt: skip


if __name__ == "__main__":
    main()
