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
    codes = ("pass", "import requests, jsonschema", "import react_agent", "import requests, jsonschema\nfrom react_agent import Agent")
    rows = [[seconds(code) for code in codes] for _ in range(rounds + 1)][1:]
    for code, column in zip(codes, zip(*rows, strict=True), strict=True):
        print(f"{1000 * statistics.median(column):6.0f} ms  {'; '.join(code.splitlines())}")
    for code, place in ((codes[2], 2), (codes[3], 3)):
        ratio = statistics.median((row[place] - row[0]) / (row[1] - row[0]) for row in rows)
        print(f"{ratio:6.2f} times the imports of requests and jsonschema: {'; '.join(code.splitlines())}")


if __name__ == "__main__":
    main()
