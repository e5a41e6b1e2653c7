"""What it costs to read traces: seconds and memory for the report of a long run, and for the sum of many.

    python bench/report.py [STEPS ...]      (default 100 1000)
"""

import json
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

from react_agent import Agent, Completion, Limits, ScriptedEndpoint, Usage, tool
from react_agent.report import render_report
from react_agent.report_fold import open_run
from react_agent.report_stats import sum_runs

TRACES = 1_000  # of 10 steps each


@tool(read_only=True)
def look(number: int) -> dict[str, object]:
    """A page of about 1,000 characters."""
    return {"number": number, "rows": [[number, "paid", 12.5]] * 45}


def make(folder: Path, steps: int) -> Path:
    """The trace of a run of so many steps."""
    decisions: list[dict[str, Any]] = [{"action": "look", "action_input": {"number": number}} for number in range(steps - 1)]
    decisions.append({"action": "none", "final_answer": "done"})
    replies = [Completion(json.dumps({"thought": "the next", **decision}), "stop", Usage(1000, 30)) for decision in decisions]
    result = Agent(ScriptedEndpoint(replies), [look], limits=Limits(max_steps=steps + 1), trace=folder).run("Look at all.")
    assert result.status == "completed" and result.trace_path, result.error
    return Path(result.trace_path)


def timed(what: Callable[[], Any]) -> tuple[float, float, Any]:
    """Seconds, peak MiB (of a second run, which is slower), and what came of it."""
    started = time.perf_counter()
    value = what()
    seconds = time.perf_counter() - started
    tracemalloc.start()
    what()
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return seconds, peak, value


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for steps in [int(word) for word in sys.argv[1:]] or [100, 1_000]:
            trace = make(folder, steps)
            seconds, peak, page = timed(lambda trace=trace: render_report(trace))
            sizes = f"{trace.stat().st_size / 1e6:.1f} MB of trace, {len(page.encode()) / 1e6:.1f} MB of page"
            print(f"report of {steps:>6,} steps: {seconds:6.2f} s, peak {peak:6.1f} MiB, {sizes}")
        many = folder / "many"
        many.mkdir()
        whole = make(folder, 10).read_bytes()
        for number in range(TRACES):
            (many / f"{number}.jsonl").write_bytes(whole)
        seconds, peak, total = timed(lambda: sum_runs(open_run(file) for file in many.iterdir()))
        print(f"sum of {total.runs:,} traces of 10 steps: {seconds:.2f} s, peak {peak:.1f} MiB")


if __name__ == "__main__":
    main()
