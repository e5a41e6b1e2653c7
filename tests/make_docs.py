"""Writes what the documents say from what the program does: `python tests/make_docs.py`. tests/test_docs.py checks that it was run."""

import argparse
import io
import os
import re
from pathlib import Path

from react_agent import cli
from react_agent.cli.view import PlainPrinter, View
from react_agent.trace import read_trace
from react_agent.trace_events import RunEnded

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "data" / "golden" / "demo.jsonl"
COMMAND = 'python run_react.py --local --demo "How many orders came from customers who live in Lisbon?"'
WIDTH = 96


def cli_reference() -> str:
    """docs/cli.md: the help of every command."""
    made, commands = cli.parser()
    parts = ["# Commands and options\n", "Made from the program itself by `python tests/make_docs.py`.\n", block(made)]
    for name, parser in commands.items():
        parts += [f"\n## {name}\n", block(parser)]
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for inner, inner_parser in action.choices.items():
                    parts += [f"\n### {name} {inner}\n", block(inner_parser)]
    return "\n".join(parts) + "\n"


def block(parser: argparse.ArgumentParser) -> str:
    os.environ["COLUMNS"] = str(WIDTH)
    return f"```text\n{parser.format_help().rstrip()}\n```"


def transcript() -> str:
    """The golden run as a terminal shows it."""
    screen = io.StringIO()
    view = View(PlainPrinter(screen))
    answer = ""
    for record in read_trace(GOLDEN):
        view(record.event)
        if isinstance(record.event, RunEnded):
            answer = record.event.answer or ""
    shown = "\n".join(line.rstrip() for line in screen.getvalue().splitlines())
    return f"```text\n$ {COMMAND}\n{shown}\n{answer}\n```"


def with_transcript(readme: str) -> str:
    return re.sub(r"<!-- transcript -->.*?<!-- /transcript -->", lambda _: f"<!-- transcript -->\n{transcript()}\n<!-- /transcript -->",
                  readme, flags=re.S)  # fmt: skip


def main() -> None:
    (ROOT / "docs").mkdir(exist_ok=True)
    (ROOT / "docs" / "cli.md").write_text(cli_reference(), "utf-8")
    for name in ("README.md", "README.zh-CN.md"):
        file = ROOT / name
        if file.exists():
            file.write_text(with_transcript(file.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
