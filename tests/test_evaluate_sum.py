"""Sums of outcomes, and what is said of two evaluations."""

import pytest

from react_agent.evaluate_compare import compare
from react_agent.evaluate_outcome import Outcome
from react_agent.evaluate_stats import mcnemar, wilson
from react_agent.evaluate_sum import as_dict, by_kind, figures, summed


def outcome(name, right, round=1, **more):
    return Outcome(name, round=round, right=right, fault="" if right else "wrong", question=f"question {name}", **more)


def results(right, wrong="", **more):
    """An outcome for each letter."""
    return [outcome(name, name in right, **more) for name in sorted(right + wrong)]


CALL = {"tool": "t", "ok": True}
MIXED = [
    outcome("a", True, kind="x", steps=2, calls=(CALL,), prompt_tokens=100, cached_tokens=60, completion_tokens=10, seconds=1.5, cost=0.25,
            stop_reason="answer", repairs=("trailing_comma", "trailing_comma")),
    outcome("b", False, kind="y", steps=4, calls=(CALL, CALL), prompt_tokens=300, cached_tokens=0, completion_tokens=30, seconds=2.5, cost=0.5,
            stop_reason="max_steps", parse_failures=2, parse_reasons=("bad_syntax", "truncated"), notes=("repeated_call",), estimated=True),
]  # fmt: skip


def test_a_sum_is_means_and_counts():
    low, high = wilson(0.5, 2)
    assert as_dict(summed(MIXED, "all")) == {
        "kind": "all", "tasks": 2, "runs": 2, "right": 1, "share": 0.5, "low": low, "high": high, "steps": 3.0, "calls": 1.5,
        "prompt_tokens": 200.0, "cached_tokens": 30.0, "completion_tokens": 20.0, "seconds": 2.0, "cost": 0.75, "estimated": 1, "replies": 6,
        "unreadable": {"bad_syntax": 1, "truncated": 1}, "repairs": {"trailing_comma": 2}, "notes": {"repeated_call": 1},
        "stop_reasons": {"answer": 1, "max_steps": 1},
    }  # fmt: skip
    assert figures(summed(MIXED)) == ("9 to 91", "3.0", "1.5", "200", "30", "20", "2.0")
    assert [(kind.kind, kind.right) for kind in by_kind(MIXED)] == [("x", 1), ("y", 0)]


def test_what_is_not_known_in_one_run_is_not_known_in_the_sum():
    total = summed([*MIXED, outcome("c", True)])
    assert (total.cached_tokens, total.cost, figures(total)[4]) == (None, None, "?")


def test_a_sum_of_nothing_is_nothing():
    total = summed([])
    assert (total.tasks, total.runs, total.share, total.low, total.high, total.steps, total.cost) == (0, 0, 0.0, 0.0, 1.0, 0.0, None)


def test_rounds_count_as_runs_but_not_as_tasks():
    total = summed([outcome(name, name == "a" or round == 1, round) for name in "ab" for round in (1, 2, 3)])
    assert (total.tasks, total.runs, total.right) == (2, 6, 4)
    assert total.right_a_round == pytest.approx(4 / 3)


def test_two_evaluations_are_compared_task_by_task():
    comparison = compare(results("ab", "cdefghijk"), results("bcdefghij", "ak"))
    assert (comparison.fixed, comparison.broken, comparison.left_out) == (tuple("cdefghij"), ("a",), ())
    assert (comparison.before.right, comparison.after.right, comparison.p) == (2, 9, mcnemar(8, 1))
    assert comparison.more_than_chance
    assert comparison.sentence == (
        "8 of 11 tasks got better and 1 got worse; if nothing had changed, a split at least this uneven would come about in 3.9 % of "
        "comparisons (exact McNemar test, p = 0.039): this is more than chance."
    )


SENTENCES = [
    (results("ab", "c"), results("abc"), "1 of 3 tasks got better and 0 got worse; if nothing had changed, a split at least this uneven would "
     "come about in 100 % of comparisons (exact McNemar test, p = 1): this may be chance."),
    (results("", "abcdefghijklm"), results("abcdefghijklm"), "13 of 13 tasks got better and 0 got worse; if nothing had changed, a split at least "
     "this uneven would come about in less than 0.1 % of comparisons (exact McNemar test, p = 0.00024): this is more than chance."),
    (results("ab", "c"), results("ab", "c"), "All 3 tasks came out the same."),
    (results("a"), results("b"), "The two have no task in common."),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "sentence"), SENTENCES, ids=range(len(SENTENCES)))
def test_the_comparison_in_a_sentence(before, after, sentence):
    assert compare(before, after).sentence == sentence


def test_tasks_that_only_one_has_or_with_another_question_are_left_out():
    before, after = results("abc"), results("ab", "d")
    after[0] = Outcome("a", right=False, fault="wrong", question="another question")
    comparison = compare(before, after)
    assert (comparison.left_out, comparison.before.tasks, comparison.broken) == (("a", "c", "d"), 1, ())


def test_with_rounds_a_task_counts_by_its_share():
    before = [outcome("a", round == 1, round) for round in (1, 2, 3)] + [outcome("b", True, round) for round in (1, 2, 3)]
    after = [outcome("a", round < 3, round) for round in (1, 2, 3)] + [outcome("b", True)]
    comparison = compare(before, after)
    assert (comparison.fixed, comparison.broken) == (("a",), ())
