"""`react-agent parse [FILE]`: what the parser makes of a reply."""

import argparse
import sys
from pathlib import Path

from react_agent.cli import output
from react_agent.errors import ParseError
from react_agent.parser import canonical, parse_decision
from react_agent.registry import ToolRegistry
from react_agent.types import Completion


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser("parse", help="show what the parser makes of a reply")
    command.add_argument("file", nargs="?", help="a file with the reply; standard input without it")
    command.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    data = Path(args.file).read_bytes() if args.file else sys.stdin.buffer.read()
    try:
        decision = parse_decision(Completion(data.decode("utf-8", "replace")), ToolRegistry())
    except ParseError as error:
        output.result(str(error))
        return 1
    output.result(canonical(decision))
    return 0
