"""Runs a set of tasks and says how many were right, and what they cost."""

import collections
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from react_agent.agent import Agent
from react_agent.errors import ConfigError
from react_agent.evaluate_checks import Task, right, task_from
from react_agent.types import RunResult, Step


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one task in one round. calls: {"tool", "ok", "error"}; tokens are sums over the run."""

    id: str
    kind: str
    question: str
    right: bool
    answer: str | None
    expected: Any
    status: str
    stop_reason: str
    steps: int
    calls: tuple[Mapping[str, Any], ...]
    prompt_tokens: int
    cached_tokens: int | None
    completion_tokens: int
    estimated: bool
    seconds: float
    parse_failures: int
    parse_reasons: tuple[str, ...]
    repairs: tuple[str, ...]
    error: str = ""
    trace: str | None = None
    round: int = 1


def read_tasks(path: str | os.PathLike[str]) -> list[Task]:
    """The tasks of a JSON Lines file; ConfigError names the line that is none, and a second use of an id."""
    tasks = [task_from(body, where) for where, body in _lines(path)]
    twice = [name for name, count in collections.Counter(task.id for task in tasks).items() if count > 1]
    if not tasks or twice:
        raise ConfigError(f"{path} holds no tasks" if not tasks else f"{path}: these ids are used more than once: {', '.join(twice)}")
    return tasks


def read_outcomes(path: str | os.PathLike[str]) -> list[Outcome]:
    """Finished outcomes of an earlier evaluation; a last line that was cut does not count."""
    known = {item.name for item in fields(Outcome)}
    outcomes = []
    for where, body in _lines(path, cut_is_fine=True):
        try:
            values: dict[str, Any] = {name: tuple(item) if isinstance(item, list) else item for name, item in body.items() if name in known}
            outcomes.append(Outcome(**values))
        except TypeError as error:
            raise ConfigError(f"{where}: not an outcome of an evaluation: {error}") from None
    return outcomes


def _lines(path: str | os.PathLike[str], cut_is_fine: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}") from None
    for number, line in enumerate(text.split("\n"), 1):
        where = f"{path}, line {number}"
        if not line.strip():
            continue
        try:
            body = json.loads(line)
        except ValueError as error:
            if cut_is_fine and not text.endswith("\n") and number == text.count("\n") + 1:
                return
            raise ConfigError(f"{where}: not JSON: {error}") from None
        if not isinstance(body, dict):
            raise ConfigError(f"{where}: not a JSON object")
        yield where, body


def evaluate(
    tasks: Sequence[Task], agent: Agent, *, parallel: int = 1, repeat: int = 1, done: Iterable[Outcome] = (),
    on_outcome: Callable[[Outcome], None] | None = None, cancel: threading.Event | None = None,
) -> list[Outcome]:  # fmt: skip
    """Run every task that is not among `done`, `parallel` at a time, `repeat` rounds.

    on_outcome: called in this thread as each one ends. cancel, or Ctrl-C: running tasks are stopped and left out, what is finished is
    returned (Ctrl-C is raised again after they have ended).
    """
    cancel = cancel or threading.Event()
    outcomes = list(done)
    have = {(outcome.id, outcome.round) for outcome in outcomes}
    todo = [(task, number) for number in range(1, repeat + 1) for task in tasks if (task.id, number) not in have]

    def one(task: Task, number: int) -> Outcome | None:
        if cancel.is_set():
            return None
        result = agent.run(task.question, cancel=cancel)
        return None if cancel.is_set() else outcome_of(task, result, number)

    with ThreadPoolExecutor(parallel, thread_name_prefix="evaluate") as pool:
        waiting = {pool.submit(one, task, number) for task, number in todo}
        try:
            for future in _as_they_end(waiting):
                outcome = future.result()
                if outcome is not None:
                    outcomes.append(outcome)
                    if on_outcome is not None:
                        on_outcome(outcome)
        except BaseException:
            cancel.set()
            raise
    return outcomes


def _as_they_end(waiting: set[Future[Outcome | None]]) -> Iterator[Future[Outcome | None]]:
    while waiting:
        ended, waiting = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)  # short, so that Ctrl-C is heard
        yield from ended


def outcome_of(task: Task, result: RunResult, number: int = 1) -> Outcome:
    """Judge one run."""
    calls = tuple(call for step in result.steps if (call := _call(step)) is not None)
    reasons = tuple(step.parse_error.split(":")[0] for step in result.steps if step.parse_error)
    repairs = tuple(repair.name for step in result.steps if step.decision for repair in step.decision.repairs)
    usage = result.usage
    return Outcome(
        task.id, task.kind, task.question, right(task, result.answer, calls), result.answer, task.answer, result.status, result.stop_reason,
        len(result.steps), calls, usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.estimated, result.seconds,
        len(reasons), reasons, repairs, result.error, result.trace_path, number,
    )  # fmt: skip


def _call(step: Step) -> dict[str, Any] | None:
    """A call that got an observation, also one answered from memory."""
    if step.decision is None or step.decision.call is None or step.observation is None:
        return None
    call = step.decision.call
    return {"tool": call.name, "ok": step.observation.error is None, "error": step.observation.error, "arguments": call.arguments}


def to_line(outcome: Outcome) -> str:
    """One outcome as a JSON line."""
    return json.dumps(asdict(outcome), ensure_ascii=False, default=str)
