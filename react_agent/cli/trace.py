"""`react-agent report`, `react-agent show` and `react-agent stats`: what traces tell, as a page, in the terminal, and summed."""

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from react_agent.cli import output
from react_agent.cli.options import count
from react_agent.cli.trace_show import show_run, show_step
from react_agent.cli.trace_table import stats_lines
from react_agent.cli.view import make_printer
from react_agent.errors import ConfigError, TraceError
from react_agent.report import is_report, render_report
from react_agent.report_data import json_text, messages_data, run_data, totals_data
from react_agent.report_fold import fold, open_run, standing
from react_agent.report_stats import sum_runs
from react_agent.report_view import RunView, StepView
from react_agent.trace import read_trace


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    report = commands.add_parser(
        "report", help="write a run as one HTML page",
        description="Write a run as one HTML page that needs no network: its steps with time and tokens, what was sent and what came back.",
    )  # fmt: skip
    report.add_argument("trace", type=Path, metavar="TRACE", help="the file of a run, whole or cut")
    report.add_argument("-o", "--output", metavar="FILE",
                        help="where to (default: beside the trace, as .html); a folder, or - for standard output")  # fmt: skip
    report.set_defaults(run=run_report)

    show = commands.add_parser("show", help="print a run in the terminal", description="Print a run in the terminal, step by step.")
    show.add_argument("trace", type=Path, metavar="TRACE", help="the file of a run, whole or cut")
    show.add_argument("--step", type=count, metavar="N", help="this step only")
    show.add_argument("--raw", action="store_true", help="with raw requests and replies; of one step the whole request, put together")
    show.add_argument("--json", action="store_true", help="as one JSON object")
    show.set_defaults(run=run_show)

    stats = commands.add_parser(
        "stats", help="sum many traces",
        description="Sum many traces: how the runs ended, calls and their failures, unreadable replies, repairs, tokens, time and cost. "
        "A file that is no trace is named and passed over.",
    )  # fmt: skip
    stats.add_argument("traces", nargs="+", type=Path, metavar="TRACE", help="a file, or a folder with .jsonl files in it, at any depth")
    stats.add_argument("--json", action="store_true", help="as one JSON object")
    stats.set_defaults(run=run_stats)


def run_report(args: argparse.Namespace) -> int:
    page = render_report(args.trace)
    if args.output == "-":
        sys.stdout.buffer.write(page.encode())  # the page says that it is UTF-8, whatever the terminal speaks
        sys.stdout.flush()
        return 0
    target = _target(args.trace, args.output)
    try:
        target.write_text(page, encoding="utf-8", newline="\n")
    except OSError as error:
        raise ConfigError(f"cannot write {target}: {error.strerror}; name another file with -o") from None
    output.result(str(target))
    return 0


def _target(trace: Path, named: str | None) -> Path:
    """Where the report goes. Nothing but a report is overwritten unasked, and never the trace."""
    target = trace.with_suffix(".html") if named is None else Path(named)
    if target.is_dir():
        target = target / f"{trace.stem}.html"
    if target.exists() and target.samefile(trace):
        raise ConfigError(f"{target} is the trace itself; name another file with -o")
    if named is None and target.exists() and not is_report(target):
        raise ConfigError(f"{target} exists and is no report; name a file with -o")
    return target


def run_show(args: argparse.Namespace) -> int:
    records = read_trace(args.trace)
    run = fold(records, args.trace.name)
    step = None if args.step is None else _step(run, args.step)
    if args.json:
        output.result(json_text(_shown_data(run, step, args.raw), indent=2))
        return 0
    events = [record.event for record in standing(records)]
    printer = make_printer(sys.stdout)
    if step is None:
        show_run(run, events, printer, args.raw)
    else:
        show_step(run, step, events, printer, args.raw)
    return 0


def _step(run: RunView, number: int) -> StepView:
    for step in run.steps:
        if step.number == number:
            return step
    has = f"the steps 1 to {run.steps[-1].number}" if run.steps else "no step"
    raise ConfigError(f"there is no step {number}: {run.name} has {has}")


def _shown_data(run: RunView, step: StepView | None, raw: bool) -> object:
    """The run's data, or the step's; raw: with the messages of each request put together."""
    data = run_data(run)
    if raw:
        requests = list(run.requests())
        for each in data["steps"]:
            each["requests"] = [messages_data(messages) for number, _, messages in requests if number == each["step"]]
    return data if step is None else next(each for each in data["steps"] if each["step"] == step.number)


def run_stats(args: argparse.Namespace) -> int:
    damaged: dict[str, str] = {}
    totals = sum_runs(_runs(_files(args.traces), damaged))
    for message in damaged.values():
        output.say(f"passed over: {message}")
    if not totals.runs:
        raise TraceError("there is no trace to sum: " + ("no file could be read" if damaged else "no .jsonl file was found"))
    if args.json:
        output.result(json_text({**totals_data(totals), "damaged": damaged}, indent=2))
    else:
        output.result("\n".join(stats_lines(totals)))
    return 0


def _files(named: Sequence[Path]) -> Iterator[Path]:
    """The files that are named, and those in the folders that are; each once."""
    seen: set[Path] = set()
    for path in named:
        for file in sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]:
            if file.resolve() not in seen:
                seen.add(file.resolve())
                yield file


def _runs(files: Iterable[Path], damaged: dict[str, str]) -> Iterator[RunView]:
    """The runs, one at a time; what could not be read goes into damaged, by path, with what was wrong."""
    for file in files:
        try:
            yield open_run(file)
        except TraceError as error:
            damaged[str(file)] = str(error)
