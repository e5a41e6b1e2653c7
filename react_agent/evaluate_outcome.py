"""What became of a task: judged, written as a line of JSON, and read again."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from react_agent.errors import ConfigError
from react_agent.evaluate_lines import read_lines
from react_agent.evaluate_tasks import Task
from react_agent.types import RunResult, Step


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one task in one round.

    fault: what is wrong with the answer, "" when it is right. calls: {"tool", "ok", "error", "arguments"} of each call, also one that was
    answered from memory. Tokens are sums over the run; estimated: at least one of them is ours. parse_failures: unreadable replies,
    parse_reasons: why, one each. repairs, notes: by name, as often as they were made (notes: what a guard said to a step).
    setup: what was measured, in words.
    """

    id: str
    kind: str = ""
    round: int = 1
    right: bool = False
    fault: str = ""
    answer: str | None = None
    expected: str = ""
    question: str = ""
    status: str = ""
    stop_reason: str = ""
    error: str = ""
    forced: bool = False
    steps: int = 0
    calls: tuple[Mapping[str, Any], ...] = ()
    prompt_tokens: int = 0
    cached_tokens: int | None = None
    completion_tokens: int = 0
    estimated: bool = False
    seconds: float = 0.0
    cost: float | None = None
    parse_failures: int = 0
    parse_reasons: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    trace: str | None = None
    setup: str = ""

    @property
    def key(self) -> tuple[str, int]:
        return self.id, self.round


def outcome_of(task: Task, result: RunResult, number: int = 1, setup: str = "") -> Outcome:
    """Judge one run. number: the round."""
    steps, usage = result.steps, result.usage
    reasons = tuple(step.parse_error.partition(":")[0] for step in steps if step.parse_error)
    run = Outcome(
        task.id, round=number, answer=result.answer, status=result.status, stop_reason=result.stop_reason, error=result.error,
        forced=result.forced, steps=len(steps), calls=tuple(call for step in steps if (call := _call(step)) is not None),
        prompt_tokens=usage.input_tokens, cached_tokens=usage.cached_tokens, completion_tokens=usage.output_tokens,
        estimated=usage.estimated, seconds=result.seconds, cost=result.cost, parse_failures=len(reasons), parse_reasons=reasons,
        repairs=tuple(repair.name for step in steps if step.decision for repair in step.decision.repairs),
        notes=tuple(step.note for step in steps if step.note), trace=result.trace_path, setup=setup,
    )  # fmt: skip
    return judged(run, task)


def judged(outcome: Outcome, task: Task) -> Outcome:
    """The same run, held against the task as it is now."""
    fault = task.fault(outcome.answer, outcome.calls)
    return replace(outcome, kind=task.kind, question=task.question, expected=task.check.expected, right=not fault, fault=fault)


def _call(step: Step) -> dict[str, Any] | None:
    if step.decision is None or step.decision.call is None or step.observation is None:
        return None
    call, error = step.decision.call, step.observation.error
    return {"tool": call.name, "ok": error is None, "error": error, "arguments": call.arguments}


def read_outcomes(path: str | os.PathLike[str]) -> list[Outcome]:
    """The outcomes of a results file, the last one of each task and round; ConfigError names a line that is none.

    Of each line only the id is needed, so that another program's results can be judged too. A last line that was cut does not count.
    """
    found = (_outcome(body, where) for where, body in read_lines(path, cut_is_fine=True))
    return list({outcome.key: outcome for outcome in found}.values())


def _outcome(body: Mapping[str, Any], where: str) -> Outcome:
    values: dict[str, Any] = {name: tuple(body[name]) if isinstance(body[name], list) else body[name] for name in _FITS if name in body}
    wrong = [name for name, value in values.items() if not _FITS[name](value)]
    if wrong or "id" not in values:
        what = f"{wrong[0]} is {body[wrong[0]]!r:.80}" if wrong else "it has no id"
        raise ConfigError(f"{where}: not an outcome of an evaluation: {what}")
    return Outcome(**values)


def _is_a(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kind)


def _are_texts(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(item, str) for item in value)


def _are_calls(value: Any) -> bool:
    return isinstance(value, tuple) and all(
        isinstance(call, dict) and isinstance(call.get("tool"), str) and isinstance(call.get("ok"), bool) for call in value
    )


_FITS: Mapping[str, Callable[[Any], bool]] = {
    **{item.name: _are_texts if item.default == () else _is_a(type(item.default)) for item in fields(Outcome)},
    "id": _is_a(str), "calls": _are_calls,
    "seconds": lambda value: isinstance(value, int | float), "cost": lambda value: isinstance(value, int | float | None),
    "answer": lambda value: isinstance(value, str | None), "trace": lambda value: isinstance(value, str | None),
    "cached_tokens": lambda value: isinstance(value, int | None),
}  # fmt: skip
