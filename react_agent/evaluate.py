"""Runs a set of tasks, any number at once, and keeps what became of each."""

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Self

from react_agent.agent import Agent
from react_agent.evaluate_outcome import Outcome, judged, outcome_of
from react_agent.evaluate_tasks import Task

MOST_ENDPOINT_ERRORS = 5  # in a row: the server is gone, and what follows would not measure the model
HEARING_S = 0.5           # between two looks for Ctrl-C, which Windows does not hear while it waits

Ending = Literal["done", "cancelled", "endpoint_error"]
Job = tuple[Task, int]


@dataclass(slots=True)
class Evaluation:
    """What an evaluation has come to. outcomes: in the order of the tasks, when it is over. ending: why it is over. error: what the
    endpoint said last, where that is why."""

    outcomes: list[Outcome] = field(default_factory=list)
    ending: Ending = "done"
    error: str = ""
    _failures: int = 0

    def add(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        self._failures = self._failures + 1 if outcome.stop_reason == "endpoint_error" else 0
        if self._failures >= MOST_ENDPOINT_ERRORS:
            self.ending, self.error = "endpoint_error", outcome.error


def evaluate(
    tasks: Sequence[Task], agent_for: Callable[[Task, int], Agent], *, parallel: int = 1, repeat: int = 1, done: Iterable[Outcome] = (),
    setup: str = "", on_outcome: Callable[[Outcome], None] | None = None, cancel: threading.Event | None = None,
) -> Evaluation:  # fmt: skip
    """Run every task in every round that is not among `done`, `parallel` at a time.

    agent_for: makes the agent of a task and its round; called in several threads. done: of an earlier evaluation, see kept().
    setup: what is measured, in words; it stands in each outcome. on_outcome: called in this thread as each run ends.
    cancel, or Ctrl-C: running tasks are stopped and left out, what is finished is returned. The event is set, too, when the
    evaluation ends early by itself. Raises what agent_for and on_outcome raise, after the running tasks have been stopped.
    """
    evaluation = Evaluation(kept(tasks, done, repeat))
    cancel = cancel or threading.Event()

    def run(job: Job) -> Outcome | None:
        task, number = job
        if cancel.is_set():
            return None
        result = agent_for(task, number).run(task.question, cancel=cancel)
        return None if result.status == "cancelled" else outcome_of(task, result, number, setup)

    def take(outcome: Outcome) -> None:
        evaluation.add(outcome)
        if on_outcome is not None:
            on_outcome(outcome)

    with _Crew(run, to_do(tasks, evaluation.outcomes, repeat), parallel, cancel) as crew:
        _collect(crew, evaluation, take)
    if cancel.is_set() and evaluation.ending == "done":
        evaluation.ending = "cancelled"
    evaluation.outcomes = _in_order(evaluation.outcomes, tasks)
    return evaluation


def _in_order(outcomes: Iterable[Outcome], tasks: Sequence[Task]) -> list[Outcome]:
    place = {task.id: number for number, task in enumerate(tasks)}
    return sorted(outcomes, key=lambda outcome: (place[outcome.id], outcome.round))


def _collect(crew: "_Crew", evaluation: Evaluation, take: Callable[[Outcome], None]) -> None:
    """Take outcomes until there are no more, or it is to end; then also those that ended while the others were being stopped."""
    try:
        while evaluation.ending == "done" and crew.left:
            for outcome in crew.ended():
                take(outcome)
    except KeyboardInterrupt:
        evaluation.ending = "cancelled"
    crew.stop()
    for outcome in crew.ended():
        take(outcome)


def kept(tasks: Sequence[Task], done: Iterable[Outcome], repeat: int) -> list[Outcome]:
    """The outcomes that need not be run again, in the order of the tasks and judged by them as they are now: not those of other tasks, of
    a question that has changed, of rounds beyond the last one, or of runs that the endpoint ended."""
    by_id = {task.id: task for task in tasks}
    have = (
        judged(outcome, task) for outcome in done
        if (task := by_id.get(outcome.id)) is not None and outcome.question in ("", task.question)
        and outcome.round <= repeat and outcome.stop_reason != "endpoint_error"
    )  # fmt: skip
    return _in_order(have, tasks)


def to_do(tasks: Sequence[Task], done: Iterable[Outcome], repeat: int) -> list[Job]:
    """What is left, round by round."""
    have = {outcome.key for outcome in done}
    return [(task, number) for number in range(1, repeat + 1) for task in tasks if (task.id, number) not in have]


class _Crew:
    """Threads that run jobs. left: how many have not been handed out by ended(). At the end of a with block all threads have ended."""

    def __init__(self, run: Callable[[Job], Outcome | None], jobs: Sequence[Job], parallel: int, cancel: threading.Event) -> None:
        self.left = len(jobs)
        self._cancel = cancel
        self._ended: queue.SimpleQueue[Future[Outcome | None]] = queue.SimpleQueue()
        self._pool = ThreadPoolExecutor(parallel, thread_name_prefix="evaluate")
        for job in jobs:
            self._pool.submit(run, job).add_done_callback(self._ended.put)

    def ended(self) -> Iterator[Outcome]:
        """What has ended since the last time; waits a moment for the first. Raises what a run raised."""
        wait = HEARING_S
        while self.left:
            try:
                future = self._ended.get(timeout=wait)
            except queue.Empty:
                return
            self.left -= 1
            wait = 0
            if not future.cancelled() and (outcome := future.result()) is not None:
                yield outcome

    def stop(self) -> None:
        """Stop what runs, and let nothing more begin; waits for the threads."""
        if self.left:
            self._cancel.set()
        self._pool.shutdown(cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()
