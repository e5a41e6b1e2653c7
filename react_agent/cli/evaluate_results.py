"""What `react-agent evaluate` says at the end: the sum, the comparison, the page."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from react_agent.cli import output
from react_agent.cli.evaluate_table import compare_lines, sum_lines
from react_agent.errors import ConfigError, TraceError
from react_agent.evaluate import Evaluation
from react_agent.evaluate_compare import compare
from react_agent.evaluate_outcome import Outcome, judged, read_outcomes
from react_agent.evaluate_page import render_page
from react_agent.evaluate_sum import as_dict, by_kind, summed
from react_agent.evaluate_tasks import Task
from react_agent.report import is_report, render_report
from react_agent.report_data import json_text


def show(evaluation: Evaluation, asked: int, *, as_json: bool) -> None:
    """The sum on standard output. asked: how many runs there would be in all."""
    outcomes = evaluation.outcomes
    if as_json:
        output.result(json_text({
            "ending": evaluation.ending, "asked": asked, "setup": list(dict.fromkeys(outcome.setup for outcome in outcomes)),
            "sum": as_dict(summed(outcomes, "all")), "kinds": [as_dict(each) for each in by_kind(outcomes)],
            "wrong": [{"id": each.id, "round": each.round, "fault": each.fault} for each in outcomes if not each.right],
        }, indent=2))  # fmt: skip
    elif outcomes:
        output.result("\n".join(sum_lines(outcomes)))
    if len(outcomes) < asked:
        output.say(f"{len(outcomes)} of {asked} runs are done")


def run_compare(before: Path, after: Path, tasks: Sequence[Task], *, as_json: bool) -> int:
    """What changed between two files of results."""
    comparison = compare(*(results(path, tasks) for path in (before, after)))
    if not comparison.before.tasks:
        raise ConfigError(f"{before} and {after} have no task in common")
    if as_json:
        data = {**asdict(comparison), "before": as_dict(comparison.before), "after": as_dict(comparison.after)}
        output.result(json_text({**data, "more_than_chance": comparison.more_than_chance, "sentence": comparison.sentence}, indent=2))
    else:
        output.result("\n".join(compare_lines((before.name, after.name), comparison)))
    return 0


def results(path: Path, tasks: Sequence[Task]) -> list[Outcome]:
    """The outcomes of a file; with tasks only theirs, judged again."""
    outcomes = read_outcomes(path)
    if tasks:
        by_id = {task.id: task for task in tasks}
        return [judged(outcome, by_id[outcome.id]) for outcome in outcomes if outcome.id in by_id]
    unjudged = next((outcome.id for outcome in outcomes if not outcome.right and not outcome.fault), None)
    if unjudged is not None:
        raise ConfigError(f"{path} does not say whether {unjudged} is right; name the file of tasks, too")
    return outcomes


def write_page(path: Path, outcomes: Sequence[Outcome]) -> None:
    """The page, and beside each trace its report."""
    for outcome in outcomes:
        if outcome.trace is not None:
            _write_report(Path(outcome.trace))
    _write(path, render_page(outcomes, path.parent))
    output.say(f"page     {path}")


def _write_report(trace: Path) -> None:
    """A file that is no report is not overwritten, and a trace that is gone has none."""
    target = trace.with_suffix(".html")
    if not trace.is_file() or (target.exists() and not is_report(target)):
        return
    try:
        _write(target, render_report(trace))
    except TraceError as error:
        output.say(f"no report: {error}")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from None
