"""`react-agent run QUESTION`: one question, answered with tools."""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from react_agent.agent import Agent
from react_agent.cli import output
from react_agent.cli.advice import AFTER, in_options, resume_command
from react_agent.cli.approval import terminal_approval
from react_agent.cli.loading import add_tool_options, tools_from
from react_agent.cli.options import (
    add_endpoint_options,
    add_limit_options,
    check_trace,
    endpoint_from,
    limits_from,
    read_text,
    trace_target,
)  # fmt: skip
from react_agent.cli.view import View, call_arguments, make_printer
from react_agent.endpoints.base import Endpoint
from react_agent.errors import ConfigError
from react_agent.trace_events import Event
from react_agent.types import RunResult

DEMO_HELP = "a small shop database and documents to try it on"
EXIT_CODES = {"answer": 0, "endpoint_error": 3, "cancelled": 130}


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "run", help="answer one question with tools (the default command)", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Answer one question with tools.",
        epilog="examples:\n"
        '  react-agent --local --demo "How many orders came from customers who live in Lisbon?"\n'
        '  react-agent --endpoint http://localhost:8080/v1 --db shop.db "Which product sells best?"\n'
        '  react-agent --docs manuals/ --json "How long is the guarantee?"\n\n'
        "exit codes: 0 answer, 1 stopped without one, 2 usage, 3 endpoint, 130 Ctrl-C",
    )  # fmt: skip
    parser.add_argument("question", nargs="?", help="the question; - or nothing reads it from standard input")
    add_agent_options(parser)
    add_output_options(parser)
    add_endpoint_options(parser)
    add_limit_options(parser)
    add_tool_options(parser)
    parser.set_defaults(run=run)


def add_agent_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--demo", action="store_true", help=DEMO_HELP)
    parser.add_argument("--lang", default="en", choices=("en", "zh"), help="language of the prompts (default en)")
    parser.add_argument("--instructions", type=Path, metavar="FILE", help="your own instructions, added to the system prompt")
    parser.add_argument("--require-tool", action="store_true",
                        help="no answer without a tool call behind it that succeeded, or that failed and is owned up to")  # fmt: skip
    parser.add_argument("--check-numbers", action="store_true",
                        help="send back once: an answer or a calculation with a number from nowhere, an answer with such a name, or one "
                        "for which a number of the question was not used")  # fmt: skip
    parser.add_argument("--summarise", action="store_true", help="near the window, let the model summarise old observations")


def add_output_options(parser: argparse.ArgumentParser, *, traces: bool = True) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="the result as one JSON object on standard output")
    group.add_argument("--quiet", action="store_true", help="the answer only")
    group.add_argument("--verbose", action="store_true", help="full prompts and replies")
    group.add_argument("--otel", action="store_true", help="OpenTelemetry spans, to where the OTEL_ variables say, else to standard error")
    if traces:
        where = group.add_mutually_exclusive_group()
        where.add_argument("--trace", type=Path, metavar="FILE", help="where the trace goes (default: the user's state folder)")
        where.add_argument("--no-trace", action="store_true", help="write no trace")
        group.add_argument("--fsync", action="store_true", help="wait for the disk after each line of the trace")


def run(args: argparse.Namespace) -> int:
    question = question_from(args)
    prepare(args)
    with endpoint_from(args) as (endpoint, secrets):
        result = agent_from(args, endpoint, secrets).run(question)
    show(result, args)
    return EXIT_CODES.get(result.stop_reason, 1)


def prepare(args: argparse.Namespace) -> None:
    """Find what is wrong with the options before a model is loaded."""
    listener_from(args, None)
    check_trace(args)
    if args.prices is None:
        limits_from(args)
    tools_from(args)
    read_text(args.instructions, "instructions")


def agent_from(args: argparse.Namespace, endpoint: Endpoint, secrets: tuple[str, ...]) -> Agent:
    """The agent that the options describe."""
    view = None if args.quiet else View(make_printer(), args.verbose)
    return Agent(
        endpoint, tools_from(args), limits=limits_from(args, endpoint.model), language=args.lang,
        instructions=read_text(args.instructions, "instructions"), require_tool=args.require_tool, check_numbers=args.check_numbers,
        summarise=args.summarise, on_event=listener_from(args, view, secrets), trace=trace_target(args), fsync=args.fsync, secrets=secrets,
        approve=terminal_approval(args.approve, before=view.pause if view else None),
    )  # fmt: skip


def listener_from(args: argparse.Namespace, view: View | None, secrets: tuple[str, ...] = ()) -> Callable[[Event], None] | None:
    """Who is told of the run's events: the view, and with --otel the spans; nobody when there is neither."""
    if not args.otel:
        return view
    from react_agent.cli.telemetry import with_spans  # the extra [otel]

    return with_spans(view, secrets)


def question_from(args: argparse.Namespace) -> str:
    question: str = args.question or ""
    if question == "-" or (not question and not sys.stdin.isatty()):
        question = sys.stdin.read()
    if not question.strip():
        raise ConfigError('there is no question; write it in quotes behind the options: react-agent --demo --local "How many ...?"')
    return question.strip()


def show(result: RunResult, args: argparse.Namespace) -> None:
    """The answer, or the whole result as JSON, on standard output; where the trace is, on standard error."""
    if args.json:
        output.result(json.dumps(as_dict(result), ensure_ascii=False))
    elif result.answer is not None:
        output.result(result.answer)
    if args.quiet and result.answer is None:
        output.fail(in_options(result.error), AFTER.get(result.stop_reason, ""))
    if result.answer is None and not args.json:
        for call in result.side_effects:
            output.say(f"effect   {call.name}({call_arguments(call.arguments)}) has run")
    if result.trace_path and not args.quiet:
        output.say(f"trace    {result.trace_path}")
    if not args.quiet and (command := resume_command(result)):
        output.say(f"go on    {command}")


def as_dict(result: RunResult) -> dict[str, Any]:
    """The result as plain data, for --json: what happened, without the raw replies (they are in the trace)."""
    calls = [
        {"step": step.number, "tool": step.decision.call.name, "arguments": step.decision.call.arguments,
         "ok": step.observation is not None and step.observation.error is None,
         "error": step.observation.error if step.observation else step.note}
        for step in result.steps if step.decision is not None and step.decision.call is not None
    ]  # fmt: skip
    return {
        "status": result.status, "stop_reason": result.stop_reason, "answer": result.answer, "forced": result.forced, "error": result.error,
        "steps": len(result.steps), "calls": calls, "usage": asdict(result.usage), "seconds": result.seconds, "cost": result.cost,
        "side_effects": [asdict(call) for call in result.side_effects], "run_id": result.run_id, "trace_path": result.trace_path,
    }  # fmt: skip
