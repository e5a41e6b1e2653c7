"""Sums the outcomes of an evaluation: in all and by kind."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from react_agent.evaluate_outcome import Outcome
from react_agent.evaluate_stats import interval


@dataclass(frozen=True, slots=True)
class Sum:
    """Outcomes in sum. runs: tasks in all their rounds. low, high: the 95 % interval of the share that is right.

    The numbers from steps to seconds are means of a run; cached_tokens is None where an endpoint does not tell. cost: of all runs, None
    where a price is not known. estimated: in how many runs a token count is ours. replies: completions in all. unreadable, repairs,
    notes, stop_reasons: how often each.
    """

    kind: str
    tasks: int
    runs: int
    right: int
    low: float
    high: float
    steps: float
    calls: float
    prompt_tokens: float
    cached_tokens: float | None
    completion_tokens: float
    seconds: float
    cost: float | None
    estimated: int
    replies: int
    unreadable: Mapping[str, int]
    repairs: Mapping[str, int]
    notes: Mapping[str, int]
    stop_reasons: Mapping[str, int]

    @property
    def share(self) -> float:
        return self.right / self.runs if self.runs else 0.0

    @property
    def right_a_round(self) -> float:
        """How many tasks are right in a round, on average."""
        return self.share * self.tasks


def summed(outcomes: Sequence[Outcome], kind: str = "") -> Sum:
    """The sum of these outcomes, under the name of a kind."""
    rounds = by_task(outcomes)
    low, high = interval([[outcome.right for outcome in own] for own in rounds.values()])

    def mean(value: Callable[[Outcome], float]) -> float:
        return sum(map(value, outcomes)) / len(outcomes) if outcomes else 0.0

    cached = [outcome.cached_tokens for outcome in outcomes if outcome.cached_tokens is not None]
    costs = [outcome.cost for outcome in outcomes if outcome.cost is not None]
    return Sum(
        kind, len(rounds), len(outcomes), sum(outcome.right for outcome in outcomes), low, high,
        steps=mean(lambda each: each.steps), calls=mean(lambda each: len(each.calls)),
        prompt_tokens=mean(lambda each: each.prompt_tokens), completion_tokens=mean(lambda each: each.completion_tokens),
        cached_tokens=sum(cached) / len(cached) if cached and len(cached) == len(outcomes) else None,
        seconds=mean(lambda each: each.seconds), cost=sum(costs) if costs and len(costs) == len(outcomes) else None,
        estimated=sum(outcome.estimated for outcome in outcomes),
        replies=sum(outcome.steps for outcome in outcomes), unreadable=_counted(outcomes, lambda each: each.parse_reasons),
        repairs=_counted(outcomes, lambda each: each.repairs), notes=_counted(outcomes, lambda each: each.notes),
        stop_reasons=_counted(outcomes, lambda each: (each.stop_reason,)),
    )  # fmt: skip


def by_kind(outcomes: Iterable[Outcome]) -> list[Sum]:
    """A sum for each kind, in the order of their first outcomes."""
    kinds: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        kinds.setdefault(outcome.kind, []).append(outcome)
    return [summed(own, kind) for kind, own in kinds.items()]


def by_task(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    """The rounds of each task, tasks in the order of their first outcomes."""
    tasks: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        tasks.setdefault(outcome.id, []).append(outcome)
    return tasks


FIGURES = ("95 %", "steps", "calls", "prompt", "cached", "completion", "seconds")


def figures(total: Sum) -> tuple[str, ...]:
    """What stands under FIGURES, for a person; the tokens and what is around them are those of a run."""
    cached = "?" if total.cached_tokens is None else f"{total.cached_tokens:,.0f}"
    return (
        f"{100 * total.low:.0f} to {100 * total.high:.0f}", f"{total.steps:.1f}", f"{total.calls:.1f}", f"{total.prompt_tokens:,.0f}",
        cached, f"{total.completion_tokens:,.0f}", f"{total.seconds:.1f}",
    )  # fmt: skip


def as_dict(total: Sum) -> dict[str, Any]:
    """A sum as plain data."""
    return {**asdict(total), "share": total.share}


def _counted(outcomes: Iterable[Outcome], names: Callable[[Outcome], Iterable[str]]) -> Mapping[str, int]:
    """The most frequent first."""
    return dict(Counter(name for outcome in outcomes for name in names(outcome)).most_common())
