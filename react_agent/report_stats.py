"""Sums runs: what one run or many used, called, and had to repair."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

from react_agent.report_view import RunView, StepView
from react_agent.types import Usage


@dataclass(frozen=True, slots=True)
class Summable:
    """Adds field by field: numbers and usages are summed, mappings merged, and None (not known) counts as nothing."""

    def __add__(self, other: Self) -> Self:
        values = {item.name: _plus(getattr(self, item.name), getattr(other, item.name)) for item in fields(self)}
        return type(self)(**values)


def _plus(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, Mapping):
        return {key: _plus(a.get(key), b.get(key)) for key in {**a, **b}}
    return a + b


@dataclass(frozen=True, slots=True)
class ToolTotals(Summable):
    """Calls of one tool that the model made: how many ran, failed (refused ones included), were answered from memory; seconds."""

    calls: int = 0
    ran: int = 0
    failed: int = 0
    repeated: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Totals(Summable):
    """Runs, summed.

    statuses: "interrupted" is one of them. steps: completions. forced: answers that were asked for on the last step. calls: by tool.
    tool_errors, parse_failures and endpoint_errors: by slug; notes: what guards said, by slug; repairs: by name. cost: of the runs
    whose prices are known, None when there is none; unpriced: how many are not known.
    """

    runs: int = 0
    statuses: Mapping[str, int] = field(default_factory=dict)
    stop_reasons: Mapping[str, int] = field(default_factory=dict)
    models: Mapping[str, int] = field(default_factory=dict)
    forced: int = 0
    resumes: int = 0
    steps: int = 0
    calls: Mapping[str, ToolTotals] = field(default_factory=dict)
    tool_errors: Mapping[str, int] = field(default_factory=dict)
    side_effects: int = 0
    parse_failures: Mapping[str, int] = field(default_factory=dict)
    repairs: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, int] = field(default_factory=dict)
    endpoint_errors: Mapping[str, int] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    model_seconds: float = 0.0
    tool_seconds: float = 0.0
    cost: float | None = None
    unpriced: int = 0


def totals_of(run: RunView) -> Totals:
    """One run's totals."""
    steps, end = run.steps, run.end
    return Totals(
        runs=1, statuses={run.status: 1}, stop_reasons={end.stop_reason: 1} if end else {}, models=dict.fromkeys(run.models[:1], 1),
        forced=int(end is not None and end.forced), resumes=run.resumes,
        steps=sum(step.completion is not None for step in steps), calls=_calls(steps),
        tool_errors=_count(step.ended.error for step in steps if step.ended and step.ended.error),
        side_effects=len(run.side_effects),
        parse_failures=_count(step.unreadable.reason for step in steps if step.unreadable),
        repairs=_count(name for step in steps if step.decision for name, _ in step.decision.repairs),
        notes=_count(note.slug for step in steps for note in step.notes),
        endpoint_errors=_count(attempt.failure.kind for step in steps for attempt in step.attempts if attempt.failure),
        usage=run.usage, seconds=run.seconds, model_seconds=sum(step.model_seconds for step in steps),
        tool_seconds=sum(step.tool_seconds for step in steps), cost=run.cost, unpriced=int(run.cost is None),
    )  # fmt: skip


def sum_runs(runs: Iterable[RunView]) -> Totals:
    """All runs in one value; they are read one by one."""
    total = Totals()
    for run in runs:
        total += totals_of(run)
    return total


def _count(slugs: Iterable[str]) -> Mapping[str, int]:
    return dict(Counter(slugs))


def _calls(steps: Iterable[StepView]) -> Mapping[str, ToolTotals]:
    calls: dict[str, ToolTotals] = {}
    for step in steps:
        if step.decision is None or step.decision.tool is None:
            continue
        ran, failed = step.started is not None, step.outcome in ("call_failed", "call_cut")
        one = ToolTotals(1, int(ran), int(failed), int(step.outcome == "call_repeated"), step.tool_seconds)
        calls[step.decision.tool] = calls.get(step.decision.tool, ToolTotals()) + one
    return calls
