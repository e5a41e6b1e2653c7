"""How long `import react_agent` takes, against `import requests, jsonschema`, in fresh processes that take turns.

    python bench/startup.py [ROUNDS]
"""

import statistics
import subprocess
import sys
import time


def seconds(code: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - started


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    rows = [(seconds("pass"), seconds("import requests, jsonschema"), seconds("import react_agent")) for _ in range(rounds + 1)][1:]
    empty, base, ours = (statistics.median(column) for column in zip(*rows, strict=True))
    ratio = statistics.median((c - a) / (b - a) for a, b, c in rows)
    print(f"python {1000 * empty:.0f} ms; requests + jsonschema {1000 * base:.0f} ms; react_agent {1000 * ours:.0f} ms")
    print(f"ratio of the imports, without python itself: {ratio:.2f}")


if __name__ == "__main__":
    main()
