"""`react-agent evaluate TASKS`: tasks with known answers, how many were right and what they cost; `--compare A B`: what changed."""

import argparse
import io
import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

from react_agent.agent import Agent
from react_agent.cli import output
from react_agent.cli.approval import terminal_approval
from react_agent.cli.evaluate_progress import progress
from react_agent.cli.evaluate_results import run_compare, show, write_page
from react_agent.cli.loading import add_tool_options, load_module, tools_from
from react_agent.cli.options import add_endpoint_options, add_limit_options, count, endpoint_from, limits_from, read_text
from react_agent.cli.run import add_agent_options
from react_agent.endpoints.base import Endpoint
from react_agent.errors import ConfigError
from react_agent.evaluate import Evaluation, evaluate, kept, to_do
from react_agent.evaluate_checks import Functions
from react_agent.evaluate_lines import LineFile
from react_agent.evaluate_outcome import Outcome, read_outcomes
from react_agent.evaluate_page import MARK
from react_agent.evaluate_sum import summed
from react_agent.evaluate_tasks import Task, chosen, read_tasks
from react_agent.prompt import load
from react_agent.registry import ToolRegistry
from react_agent.report import is_report

MAX_STEPS = 8
# What --without takes away, as settings of the agent.
WITHOUT: dict[str, dict[str, Any]] = {
    "examples": {"examples": False}, "decisions": {"raw_history": True}, "early-stop": {"early_stop": False},
    "retry": {"retry_failed_input": False}, "suggestion": {"suggest_tool": False},
    "guards": {"require_tool": False, "check_numbers": False, "retry_failed_input": False},
}  # fmt: skip


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "evaluate", help="run tasks with known answers; say how many were right and what they cost",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Run tasks with known answers, and say how many were right, how sure that is, and what they cost.",
        epilog="examples:\n"
        "  react-agent evaluate tasks.jsonl --local --db shop.db --docs docs/ --out a.jsonl --traces traces/ --page a.html\n"
        "  react-agent evaluate tasks.jsonl --endpoint http://localhost:8080/v1 --db shop.db --out b.jsonl --parallel 4\n"
        "  react-agent evaluate --compare a.jsonl b.jsonl\n\n"
        "exit codes: 0 it ran (1 with --need when fewer were right), 2 usage, 3 endpoint, 130 Ctrl-C",
    )  # fmt: skip
    parser.add_argument("tasks", nargs="*", type=Path, metavar="TASKS", help="JSON Lines, one task a line (docs/evaluate.md)")
    add_evaluation_options(parser)
    add_agent_options(parser)
    add_endpoint_options(parser)
    add_limit_options(parser, max_steps=MAX_STEPS)
    add_tool_options(parser)
    parser.set_defaults(run=run)


def add_evaluation_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("evaluation")
    group.add_argument("--only", action="append", default=[], metavar="KIND|ID", help="these tasks only; * and ? stand for anything")
    group.add_argument("--first", type=count, metavar="N", help="the first N of them only")
    group.add_argument("--repeat", type=count, default=1, metavar="N", help="rounds (default 1)")
    group.add_argument("--parallel", type=count, default=1, metavar="N", help="tasks at once (default 1)")
    group.add_argument("--out", type=Path, metavar="FILE.jsonl", help="where each outcome goes as it comes, one line of JSON each")
    group.add_argument("--resume", action="store_true", help="leave out what --out has; it is judged again")
    group.add_argument("--traces", type=Path, metavar="FOLDER", help="where the trace of each run goes")
    group.add_argument("--page", type=Path, metavar="FILE.html", help="an HTML page with the failures first; with reports of the traces")
    group.add_argument("--need", type=count, metavar="N", help="exit with 1 when fewer tasks are right (with --repeat: on average)")
    group.add_argument("--checks", action="append", default=[], metavar="FILE.py|MODULE", help="the functions that python checks name")
    group.add_argument("--without", action="append", default=[], choices=sorted(WITHOUT),
                       help="to measure what it is worth: examples (worked ones, in the prompt), decisions (in the history, not raw "
                       "replies), early-stop (of a reply), suggestion (of the tool to begin with), retry (after a failed input), "
                       "guards (retry, and --require-tool and --check-numbers where a task needs a tool)")  # fmt: skip
    group.add_argument("--compare", nargs=2, type=Path, metavar=("A", "B"), help="run nothing: what changed between two --out files, and "
                       "whether it is more than chance; with TASKS they are judged again")  # fmt: skip
    group.add_argument("--json", action="store_true", help="the sum as one JSON object on standard output")
    group.add_argument("--quiet", action="store_true", help="no progress")


def run(args: argparse.Namespace) -> int:
    tasks = chosen(read_tasks(args.tasks, functions_from(args.checks)), args.only)[: args.first] if args.tasks else []
    if args.compare:
        before, after = args.compare
        return run_compare(before, after, tasks, as_json=args.json)
    if not tasks:
        raise ConfigError("name a file of tasks, or two files of results with --compare")
    evaluation = measured(args, tasks)
    show(evaluation, len(tasks) * args.repeat, as_json=args.json)
    if args.page:
        write_page(args.page, evaluation.outcomes)
    if evaluation.ending == "cancelled" and args.out is not None:
        output.say("go on    the same command with --resume")
    return exit_code(evaluation, args.need, args.stopped.name)


def measured(args: argparse.Namespace, tasks: Sequence[Task]) -> Evaluation:
    """Run what is left of the tasks. What is wrong with the options is found before a model is loaded, and none is when nothing is left."""
    check_places(args)
    done = read_outcomes(args.out) if args.resume and args.out.exists() else []
    have = kept(tasks, done, args.repeat)
    todo = len(to_do(tasks, have, args.repeat))
    if not todo:
        for setup in dict.fromkeys(outcome.setup for outcome in have):
            output.say(f"nothing is left to run; these are results of: {setup or 'a setup that the file does not name'}")
        return Evaluation(have)
    if args.prices is None:  # else they are looked up by the model's name
        limits_from(args)
    tools, instructions = tools_from(args), read_text(args.instructions, "instructions")
    with endpoint_from(args) as (endpoint, secrets):
        setup = setup_of(args, endpoint)
        check_setup(have, setup, args.out)
        agents = agents_from(args, endpoint, tools, instructions, secrets)
        results = LineFile(args.out, append=args.resume) if args.out else None
        with results or nullcontext(), progress(todo, quiet=args.quiet) as shown:

            def keep(outcome: Outcome) -> None:
                if results is not None:
                    results.append(asdict(outcome))
                shown(outcome)

            return evaluate(tasks, agents, parallel=args.parallel, repeat=args.repeat, done=done, setup=setup, on_outcome=keep)


def check_places(args: argparse.Namespace) -> None:
    """Raise ConfigError for a place that nothing could be written to at the end of a long evaluation."""
    if args.resume and args.out is None:
        raise ConfigError("--resume goes on in the file of --out; name it")
    for path in (args.out, args.page):
        if path is not None and not path.parent.is_dir():
            raise ConfigError(f"cannot write {path}: there is no folder {path.parent}")
    if args.out is not None and args.out.exists() and not args.resume:
        raise ConfigError(f"{args.out} exists; go on in it with --resume, or name another file")
    if args.page is not None and args.page.exists() and not is_report(args.page, MARK):
        raise ConfigError(f"{args.page} exists and is no page of an evaluation; name another file with --page")
    if args.traces is not None:
        try:
            args.traces.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"cannot make the folder {args.traces}: {error.strerror}") from None


def setup_of(args: argparse.Namespace, endpoint: Endpoint) -> str:
    """What is measured, in words."""
    prompts, told = load(args.lang), endpoint.describe()
    model = next((str(told[name]) for name in ("model", "url", "command", "endpoint") if told.get(name)), "")
    options = {
        f"temperature {told.get('temperature')}": told.get("temperature") is not None, "own instructions": args.instructions is not None,
        "require-tool": args.require_tool, "check-numbers": args.check_numbers, "summarise": args.summarise,
        **{f"without {name}": True for name in sorted(args.without)},
    }  # fmt: skip
    return ", ".join([
        model, f"prompts {prompts.name}@{prompts.digest}", f"at most {args.max_steps} steps of {args.max_output_tokens} tokens",
        *(name for name, is_set in options.items() if is_set),
    ])  # fmt: skip


def check_setup(have: Sequence[Outcome], setup: str, path: Path) -> None:
    """Raise ConfigError when earlier outcomes were measured with something else: their sum would mean nothing."""
    other = next((outcome.setup for outcome in have if outcome.setup not in ("", setup)), None)
    if other is not None:
        raise ConfigError(f"{path} holds results of another setup; name another file with --out\nthere: {other}\nnow:   {setup}")


def agents_from(args: argparse.Namespace, endpoint: Endpoint, tools: ToolRegistry, instructions: str, secrets: tuple[str, ...]
                ) -> Callable[[Task, int], Agent]:  # fmt: skip
    """Makes the agent of each run: all alike, each with a trace of its own. Nobody is asked: what --approve does not name is refused."""
    limits = limits_from(args, endpoint.model)
    approve = terminal_approval(args.approve, answers=io.StringIO())
    switches = {name: value for taken in args.without for name, value in WITHOUT[taken].items()}

    def make(task: Task, number: int) -> Agent:
        needed = task.needs_tool
        guards: dict[str, Any] = {"require_tool": args.require_tool or needed, "check_numbers": args.check_numbers or needed}
        return Agent(
            endpoint, tools, limits=limits, language=args.lang, instructions=instructions, summarise=args.summarise, approve=approve,
            trace=trace_file(args.traces, task.id, number), secrets=secrets, **(guards | switches),
        )  # fmt: skip

    return make


def trace_file(folder: Path | None, name: str, number: int) -> Path | None:
    """Where the trace of a task's run goes: named by the task, with nothing in it that a file name cannot have."""
    if folder is None:
        return None
    plain = re.sub(r"[^\w.-]+", "_", name).lstrip(".")[:100] or "task"
    return folder / (f"{plain}.jsonl" if number == 1 else f"{plain}.round-{number}.jsonl")


def functions_from(specs: Sequence[str]) -> Functions:
    """The functions that these modules define, by name."""
    found: dict[str, Callable[..., Any]] = {}
    for spec in specs:
        module = load_module(spec)
        own = {name: value for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__}
        found |= {name: value for name, value in own.items() if callable(value) and not name.startswith("_")}
    return found


def exit_code(evaluation: Evaluation, need: int | None, stopped_by: str) -> int:
    """0 when it ran; otherwise why not, said on standard error."""
    total = summed(evaluation.outcomes)
    if evaluation.ending == "cancelled":
        output.say(f"stopped by {stopped_by}")
        return 130
    if evaluation.ending == "endpoint_error":
        output.fail(f"the endpoint failed several times in a row: {evaluation.error}", "With --resume this goes on where it stopped.")
        return 3
    if need is not None and round(total.right_a_round, 9) < need:
        output.say(f"needed {need}, and {total.right_a_round:g} are right")
        return 1
    return 0
