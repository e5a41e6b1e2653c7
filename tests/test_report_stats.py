"""Sums of runs: one run's, and that many add up."""

from functools import reduce
from operator import add

from hypothesis import given
from hypothesis import strategies as st
from report_traces import hostile_events, long_events, started, varied_events, write

from react_agent.report_fold import fold, open_run
from react_agent.report_stats import ToolTotals, Totals, sum_runs, totals_of
from react_agent.trace import Record
from react_agent.types import Usage

RUNS = [
    fold([Record(float(at), event) for at, event in enumerate(events)])
    for events in (varied_events(), varied_events(ended=False), long_events(40), hostile_events("x"), [started()])
]


def test_the_sums_of_a_run(tmp_path):
    assert totals_of(open_run(write(tmp_path / "t", varied_events()))) == Totals(
        runs=1, statuses={"completed": 1}, stop_reasons={"answer": 1}, models={"small-3b": 1}, forced=1, resumes=1, steps=8,
        calls={
            "sql_query": ToolTotals(2, 1, 0, 1, 0.25), "read_doc": ToolTotals(1, 1, 1, 0, 0.1), "write_file": ToolTotals(2, 2, 1, 0, 0.01),
        },
        tool_errors={"tool_crash": 1, "outcome_unknown": 1}, side_effects=2, parse_failures={"no_object": 1},
        repairs={"single_quotes": 1, "trailing_comma": 1}, notes={"compacted": 1, "repeated_call": 1, "answer_sent_back": 1},
        endpoint_errors={"context_overflow": 1}, usage=Usage(5400, 320, 1980, 12, True), seconds=13.75, model_seconds=5.0,
        tool_seconds=0.36, cost=0.00318, unpriced=0,
    )  # fmt: skip


def test_a_run_that_was_cut_at_once_is_counted_as_interrupted():
    assert totals_of(RUNS[-1]) == Totals(runs=1, statuses={"interrupted": 1}, models={"small-3b": 1}, cost=0.0)


@given(st.lists(st.sampled_from(RUNS), max_size=8))
def test_many_runs_add_up_in_any_grouping(runs):
    total = sum_runs(runs)
    assert total.runs == len(runs) == sum(total.statuses.values())
    half = len(runs) // 2
    assert rounded(sum_runs(runs[:half]) + sum_runs(runs[half:])) == rounded(total)
    assert rounded(reduce(add, map(totals_of, reversed(runs)), Totals())) == rounded(total)
    assert total.unpriced == sum(run.cost is None for run in runs)
    assert (total.cost is None) == all(run.cost is None for run in runs)


def rounded(totals):
    """Sums without the noise of the order in which fractions were added."""
    calls = {name: (tool.calls, tool.ran, tool.failed, tool.repeated, round(tool.seconds, 6)) for name, tool in totals.calls.items()}
    numbers = [round(value or 0.0, 6) for value in (totals.seconds, totals.model_seconds, totals.tool_seconds, totals.cost)]
    exact = ("runs", "statuses", "stop_reasons", "models", "steps", "notes", "repairs", "usage", "tool_errors", "parse_failures")
    rest = [getattr(totals, name) for name in exact]
    return calls, numbers, rest
