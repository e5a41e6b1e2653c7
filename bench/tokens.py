"""How well the size of a prompt is known beforehand, and how much of it the server had cached, from traces of real runs.

    python bench/tokens.py TRACE...      (files or folders)
"""

import statistics
import sys
from pathlib import Path

from react_agent import read_trace


def rows(path: Path) -> list[tuple[int, int, int, int | None, int]]:
    """(step, estimated, reported, cached, prompt before) of each call whose usage is the server's own."""
    found, estimated, before = [], 0, 0
    for record in read_trace(path):
        event = record.event
        if event.name == "request":
            estimated = event.estimated_tokens
        elif event.name == "completion" and not event.usage.estimated:
            found.append((event.step, estimated, event.usage.input_tokens, event.usage.cached_tokens, before))
            before = event.usage.input_tokens
    return found


def main() -> None:
    files = [file for word in sys.argv[1:] for file in (sorted(Path(word).rglob("*.jsonl")) if Path(word).is_dir() else [Path(word)])]
    calls = [row for file in files for row in rows(file)]
    for name, chosen in (("first calls", [r for r in calls if r[0] == 1]), ("second", [r for r in calls if r[0] == 2]),
                         ("third and later", [r for r in calls if r[0] >= 3])):  # fmt: skip
        off = [abs(estimated - reported) / reported for _, estimated, reported, _, _ in chosen]
        if off:
            typical, worst = 100 * statistics.median(off), 100 * max(off)
            print(f"{name:16} {len(off):4} calls: the estimate is off by {typical:.1f} % (median), {worst:.1f} % (most)")
    later = [(cached or 0) - before for step, _, _, cached, before in calls if step >= 2]
    if later:
        short = sum(spare < -32 for spare in later)
        print(f"cached tokens after the first call: {min(later):+} to {max(later):+} against the prompt before, "
              f"{short} of {len(later)} calls below -32")  # fmt: skip


if __name__ == "__main__":
    main()
