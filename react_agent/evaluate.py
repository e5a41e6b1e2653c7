"""Runs a set of tasks, any number at once, and keeps what became of each."""

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Literal

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
    setup: what is measured, in words; it stands in each outcome. on_outcome: called as each run ends, in the thread of that run (where
    no Ctrl-C can interrupt it), by one thread at a time. cancel, or Ctrl-C: running tasks are stopped and left out, what is finished is
    returned. The event is set, too, when the evaluation ends early by itself. Raises what agent_for and on_outcome raise, after the
    running tasks have been stopped.
    """
    evaluation = Evaluation(kept(tasks, done, repeat))
    cancel, taking = cancel or threading.Event(), threading.Lock()

    def run(job: Job) -> None:
        task, number = job
        if cancel.is_set():
            return
        result = agent_for(task, number).run(task.question, cancel=cancel)
        if result.status == "cancelled":
            return
        outcome = outcome_of(task, result, number, setup)
        with taking:
            evaluation.add(outcome)
            if evaluation.ending == "endpoint_error":
                cancel.set()
            if on_outcome is not None:
                on_outcome(outcome)

    _run_all(run, to_do(tasks, evaluation.outcomes, repeat), parallel, cancel)
    if cancel.is_set() and evaluation.ending == "done" and to_do(tasks, evaluation.outcomes, repeat):
        evaluation.ending = "cancelled"
    evaluation.outcomes = _in_order(evaluation.outcomes, tasks)
    return evaluation


def _run_all(run: Callable[[Job], None], jobs: Sequence[Job], parallel: int, cancel: threading.Event) -> None:
    """Run the jobs in threads, all of which have ended when this returns; Ctrl-C sets cancel, a second one gets out at once. Raises what
    a job raised, which sets cancel too.

    The jobs keep what they have done themselves, and this thread only waits: Ctrl-C, which Python hears in the main thread, cannot
    come between a result and its keeping.
    """

    def ended_badly(future: Future[None]) -> None:
        if future.exception():
            cancel.set()

    with ThreadPoolExecutor(parallel, thread_name_prefix="evaluate") as pool:
        left: set[Future[None]] = set()
        try:
            for job in jobs:
                left.add(future := pool.submit(run, job))
                future.add_done_callback(ended_badly)
            while left:
                ended, left = wait(left, HEARING_S, FIRST_EXCEPTION)
                for future in ended:
                    future.result()
        except KeyboardInterrupt:
            cancel.set()
        finally:
            if left:
                cancel.set()


def _in_order(outcomes: Iterable[Outcome], tasks: Sequence[Task]) -> list[Outcome]:
    place = {task.id: number for number, task in enumerate(tasks)}
    return sorted(outcomes, key=lambda outcome: (place[outcome.id], outcome.round))


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
