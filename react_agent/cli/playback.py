"""`react-agent resume TRACE` and `react-agent replay TRACE`."""

import argparse
import json
from pathlib import Path

from react_agent.agent import Agent
from react_agent.cli import output
from react_agent.cli.approval import terminal_approval
from react_agent.cli.loading import add_tool_options, tools_from
from react_agent.cli.options import add_endpoint_options, endpoint_from
from react_agent.cli.run import EXIT_CODES, add_output_options, listener_from, show
from react_agent.cli.view import View, make_printer
from react_agent.playback import Recorded, replay, resumable, resume


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    resuming = commands.add_parser(
        "resume", help="go on with a run that was interrupted",
        description="Go on with a run that was interrupted, from the last whole event of its trace. Give the same endpoint and tools as "
        "before. A read-only call that was running is run again; of one with side effects the model is told that its outcome is unknown.",
    )  # fmt: skip
    resuming.add_argument("trace_file", type=Path, metavar="TRACE")
    resuming.add_argument("--demo", action="store_true", help="the run was one on the demo data")
    add_output_options(resuming, traces=False)
    add_endpoint_options(resuming)
    add_tool_options(resuming)
    resuming.set_defaults(run=run_resume)

    replaying = commands.add_parser(
        "replay", help="run the loop again from the recorded replies, without a model",
        description="Run the loop again from the recorded replies, without a model, and report the first difference: the regression test "
        "of your own agent after a change of code, tools or prompts. Exit code 0: no difference, 1: a difference.",
    )  # fmt: skip
    replaying.add_argument("trace_file", type=Path, metavar="TRACE")
    replaying.add_argument("--live", action="store_true", help="run the tools for real (give the tool options too)")
    replaying.add_argument("--demo", action="store_true", help="with --live: the tools of the demo data")
    replaying.add_argument("--lang", choices=("en", "zh"), help="use these prompts in place of the recorded language")
    replaying.add_argument("--json", action="store_true", help="the outcome as one JSON object")
    add_tool_options(replaying)
    replaying.set_defaults(run=run_replay)


def run_resume(args: argparse.Namespace) -> int:
    resumable(args.trace_file)  # a trace that cannot be resumed is said before a model is loaded
    listener_from(args, None)  # and so is an exporter that is not installed
    with endpoint_from(args) as (endpoint, secrets):

        view = None if args.quiet else View(make_printer(), args.verbose)
        listener = listener_from(args, view, secrets)

        def make_agent(run: Recorded) -> Agent:
            return Agent(endpoint, tools_from(args), limits=run.limits, language=run.start.language, instructions=run.start.instructions,
                         approve=terminal_approval(args.approve, before=view.pause if view else None), on_event=listener, secrets=secrets,
                         **run.start.options)  # fmt: skip

        result = resume(args.trace_file, make_agent)
    show(result, args)
    return EXIT_CODES.get(result.stop_reason, 1)


def run_replay(args: argparse.Namespace) -> int:
    options = {"language": args.lang} if args.lang else {}
    if args.live:
        options["approve"] = terminal_approval(args.approve)
    outcome = replay(args.trace_file, tools_from(args) if args.live else None, **options)
    if args.json:
        output.result(json.dumps({
            "same": outcome.same, "difference": outcome.difference, "prompt_difference": outcome.prompt_difference,
            "status": outcome.result.status, "stop_reason": outcome.result.stop_reason, "answer": outcome.result.answer,
        }, ensure_ascii=False))  # fmt: skip
    else:
        for sentence in (outcome.difference, outcome.prompt_difference):
            if sentence:
                output.result(sentence)
        if outcome.same:
            output.result(f"no difference in {len(outcome.result.steps)} steps")
    return 0 if outcome.same else 1
