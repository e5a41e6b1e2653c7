"""Overhead of the loop itself: microseconds and memory a step, with a scripted model and the trace on.

    python bench/loop.py [STEPS ...]      (default 100 1000 10000)
"""

import json
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
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


def measure(steps: int, folder: Path) -> tuple[float, float]:
    """Microseconds a step, and KiB a step by which the process has grown."""
    agent = Agent(Endless(steps), [square], limits=Limits(max_steps=steps + 1), trace=folder)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    result = agent.run("Go on.")
    seconds = time.perf_counter() - started
    assert result.status == "completed" and len(result.steps) == steps, result.error
    return 1e6 * seconds / steps, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / steps


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        measure(50, Path(folder))
        for steps in [int(word) for word in sys.argv[1:]] or [100, 1000, 10_000]:
            micros, kib = measure(steps, Path(folder))
            print(f"{steps:>6} steps: {micros:7.1f} us a step, {kib:6.2f} KiB a step")


if __name__ == "__main__":
    main()
