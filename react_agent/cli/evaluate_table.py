"""The sums of `react-agent evaluate` as lines of text."""

from collections.abc import Iterable, Iterator, Sequence

from react_agent.cli.trace_table import most_frequent, table
from react_agent.cli.view import printable
from react_agent.evaluate_compare import Comparison
from react_agent.evaluate_outcome import Outcome
from react_agent.evaluate_sum import FIGURES, Sum, by_kind, by_task, figures, summed

HEAD = ("", "right", "%", *FIGURES)
LABEL = 20  # columns


def sum_lines(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """A row a kind and one for all, what was counted, and the tasks that are not always right."""
    total, kinds = summed(outcomes), by_kind(outcomes)
    yield from table([HEAD, *(_row(kind, kind.kind or "-") for kind in kinds if len(kinds) > 1), _row(total, "all")])
    yield ""
    yield from _counted(total)
    yield from _not_right(outcomes)


def compare_lines(names: tuple[str, str], comparison: Comparison) -> Iterator[str]:
    """A row for each of the two, what changed, and whether it is more than chance."""
    yield from table([HEAD, _row(comparison.before, names[0]), _row(comparison.after, names[1])])
    yield ""
    for label, ids in (("better", comparison.fixed), ("worse", comparison.broken), ("left out", comparison.left_out)):
        if ids:
            yield _line(label, f"{len(ids)}: {', '.join(ids)}")
    yield comparison.sentence


def _row(total: Sum, name: str) -> Sequence[str]:
    return (name, f"{total.right}/{total.runs}", f"{100 * total.share:.0f}", *figures(total))


def _counted(total: Sum) -> Iterator[str]:
    yield "steps to seconds are means of a run; 95 % is the interval that the true share is in"
    if total.estimated:
        yield f"tokens are estimated in {total.estimated} of {total.runs} runs, because the endpoint does not count them"
    if total.cost is not None:
        yield _line("cost", f"{total.cost:.6f}")
    yield _line("stopped by", most_frequent(total.stop_reasons))
    unreadable = sum(total.unreadable.values())
    share = f" ({100 * unreadable / total.replies:.1f} %)" if total.replies else ""
    reasons = f": {most_frequent(total.unreadable)}" if unreadable else ""
    yield _line("unreadable replies", f"{unreadable:,} of {total.replies:,}{share}{reasons}")
    for label, counts in (("repairs", total.repairs), ("guards", total.notes)):
        yield _line(label, most_frequent(counts) or "none")


def _not_right(outcomes: Iterable[Outcome]) -> Iterator[str]:
    wrong: list[str] = []
    sometimes: list[str] = []
    for name, rounds in by_task(outcomes).items():
        right = sum(outcome.right for outcome in rounds)
        if not right:
            wrong.append(name)
        elif right < len(rounds):
            sometimes.append(f"{name} {right}/{len(rounds)}")
    for label, names in (("wrong", wrong), ("sometimes right", sometimes)):
        if names:
            yield _line(label, f"{len(names)}: {', '.join(names)}")


def _line(label: str, text: str) -> str:
    return printable(f"{label:<{LABEL}}{text}")
