"""`react-agent tools` lists the tools; `react-agent tool NAME '{...}'` runs one by hand, exactly as the model would."""

import argparse
import json
import sys
from typing import Any

from react_agent.cli import output
from react_agent.cli.approval import terminal_approval
from react_agent.cli.loading import OPTION_OF, add_tool_options, tools_from
from react_agent.cli.run import DEMO_HELP
from react_agent.cli.view import printable
from react_agent.errors import ConfigError
from react_agent.registry import Gate, Prepared, Tool, ToolRegistry, signature
from react_agent.types import Observation, ToolCall


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    lister = commands.add_parser(
        "tools", help="list the tools: names, parameters, flags and limits", description="List the tools that the options name.",
        epilog="example: react-agent tools --db shop.db --tools my_tools.py",
    )  # fmt: skip
    lister.add_argument("--json", action="store_true", help="everything, with the JSON Schemas, as one JSON list")
    add_tool_options(lister)
    lister.add_argument("--demo", action="store_true", help=DEMO_HELP)
    lister.set_defaults(run=list_tools)
    runner = commands.add_parser(
        "tool", help="run one tool by hand, exactly as the model would",
        description="Run one tool and print the observation that the model would get. Exit code 1 when it failed.",
        epilog="""example: react-agent tool sql_query '{"query": "SELECT count(*) FROM orders"}' --db shop.db""",
    )  # fmt: skip
    runner.add_argument("name", help="the tool")
    runner.add_argument("arguments", nargs="?", help="its arguments as one JSON object (default {}); - reads standard input")
    add_tool_options(runner)
    runner.add_argument("--demo", action="store_true", help=DEMO_HELP)
    runner.set_defaults(run=run_tool)


def list_tools(args: argparse.Namespace) -> int:
    registry = tools_from(args)
    if args.json:
        output.result(json.dumps([as_dict(tool) for tool in registry], ensure_ascii=False, indent=2))
        return 0
    rows = [("tool", "flags", "limit", "parameters"), *(row(tool) for tool in registry)]
    widths = [max(len(line[column]) for line in rows) for column in range(3)]
    for line in rows:
        cells = [cell.ljust(width) for cell, width in zip(line[:3], widths, strict=True)]
        output.result("  ".join([*cells, line[3]]).rstrip())
    output.say(f"observations: at most {registry.max_observation:,} characters")
    return 0


def row(tool: Tool) -> tuple[str, str, str, str]:
    limit = "-" if tool.timeout_s is None else f"{tool.timeout_s:g} s"
    return tool.name, ", ".join(flags(tool)), limit, printable(signature(tool.parameters)) or "-"


def flags(tool: Tool) -> list[str]:
    """What a person should know before using it."""
    named = (("untrusted output", tool.untrusted_output), ("volatile", tool.volatile), ("preview", tool.preview is not None))
    return ["read-only" if tool.read_only else "asks first", *(name for name, is_set in named if is_set)]


def as_dict(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name, "description": tool.description, "parameters": tool.parameters, "read_only": tool.read_only,
        "untrusted_output": tool.untrusted_output, "volatile": tool.volatile, "timeout_s": tool.timeout_s,
    }  # fmt: skip


def run_tool(args: argparse.Namespace) -> int:
    registry = tools_from(args)
    if args.name not in registry and (option := OPTION_OF.get(args.name)):
        raise ConfigError(f"{args.name} comes with {option}")
    call = ToolCall(args.name, arguments_of("{}" if args.arguments is None else args.arguments))
    observation = observe(registry, call, Gate(terminal_approval(args.approve)))
    output.result(observation.content)
    return 0 if observation.error is None else 1


def observe(registry: ToolRegistry, call: ToolCall, gate: Gate) -> Observation:
    """The three stages; what only a person should see goes to standard error."""
    prepared = registry.prepare(call, gate)
    if not isinstance(prepared, Prepared):
        return prepared
    for coercion in prepared.coercions:
        output.say(f"read as: {printable(coercion)}")
    outcome = registry.finalize(prepared, registry.execute(prepared), gate)
    if outcome.crash:
        output.say(printable(outcome.crash))
    return outcome.observation


def arguments_of(text: str) -> dict[str, Any]:
    """The JSON object on the command line or, for -, on standard input."""
    written = sys.stdin.read() if text == "-" else text
    try:
        found = json.loads(written)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"the arguments are not JSON: {error}; write one object in single quotes: '{{\"name\": \"value\"}}'") from None
    if not isinstance(found, dict):
        raise ConfigError(f"the arguments must be one JSON object, not {type(found).__name__}: '{{\"name\": \"value\"}}'")
    return found
