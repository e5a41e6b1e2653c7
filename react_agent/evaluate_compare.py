"""Two evaluations of the same tasks: what changed, and whether it is more than chance."""

from collections.abc import Sequence
from dataclasses import dataclass

from react_agent.evaluate_outcome import Outcome
from react_agent.evaluate_stats import mcnemar
from react_agent.evaluate_sum import Sum, by_task, summed

CHANCE = 0.05  # below this p-value a difference is called more than chance


@dataclass(frozen=True, slots=True)
class Comparison:
    """Before and after, over the tasks that both have with the same question.

    fixed, broken: ids of the tasks that are right more and less often (with one round each: right now, wrong now). p: how likely a
    split at least this uneven is by chance. left_out: ids of tasks that only one of them has, or with another question.
    """

    before: Sum
    after: Sum
    fixed: tuple[str, ...]
    broken: tuple[str, ...]
    p: float
    left_out: tuple[str, ...]

    @property
    def more_than_chance(self) -> bool:
        return self.p < CHANCE

    @property
    def sentence(self) -> str:
        """The comparison for a person."""
        fixed, broken = len(self.fixed), len(self.broken)
        if not self.before.tasks:
            return "The two have no task in common."
        if not fixed + broken:
            return f"All {self.before.tasks} tasks came out the same."
        same = f"{fixed} of {self.before.tasks} tasks got better and {broken} got worse"
        chance = f"if nothing had changed, a split at least this uneven would come about in {_percent(self.p)} of comparisons"
        verdict = "this is more than chance" if self.more_than_chance else "this may be chance"
        return f"{same}; {chance} (exact McNemar test, p = {self.p:.2g}): {verdict}."


def compare(before: Sequence[Outcome], after: Sequence[Outcome]) -> Comparison:
    """Pair the tasks of two evaluations. With several rounds a task counts by the share of its rounds that are right."""
    old, new = by_task(before), by_task(after)
    pairs = [name for name in old if name in new and _same_question(old[name][0], new[name][0])]
    gains = {name: _share(new[name]) - _share(old[name]) for name in pairs}
    fixed = tuple(name for name in pairs if gains[name] > 0)
    broken = tuple(name for name in pairs if gains[name] < 0)
    return Comparison(
        summed([outcome for name in pairs for outcome in old[name]]), summed([outcome for name in pairs for outcome in new[name]]),
        fixed, broken, mcnemar(len(fixed), len(broken)), tuple(name for name in {**old, **new} if name not in gains),
    )  # fmt: skip


def _same_question(one: Outcome, other: Outcome) -> bool:
    return not one.question or not other.question or one.question == other.question


def _share(rounds: Sequence[Outcome]) -> float:
    return sum(outcome.right for outcome in rounds) / len(rounds)


def _percent(p: float) -> str:
    if p < 0.001:
        return "less than 0.1 %"
    return f"{100 * p:.0f} %" if p >= 0.1 else f"{100 * p:.1f} %"
