"""Progress of an evaluation for a person: a bar where rich and a terminal are, else a line a task."""

import contextlib
import importlib.util
import os
import sys
import time
from collections.abc import Callable, Iterator

from react_agent.agent_words import counted_steps
from react_agent.cli import output
from react_agent.cli.view import printable
from react_agent.evaluate_outcome import Outcome

Show = Callable[[Outcome], None]


class Pace:
    """How far an evaluation is, how fast it goes, and how long the rest takes at that rate. total: runs to be made now."""

    def __init__(self, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.total = total
        self.done = self.right = 0
        self._clock = clock
        self._started = clock()

    def add(self, outcome: Outcome) -> None:
        self.done += 1
        self.right += outcome.right

    def __str__(self) -> str:
        seconds = self._clock() - self._started
        if not self.done or seconds <= 0:
            return f"{self.right} right"
        rest = seconds * (self.total - self.done) / self.done
        left = f", {duration(rest)} left" if self.done < self.total else ""
        return f"{self.right} right, {60 * self.done / seconds:.3g} a minute{left}"


def duration(seconds: float) -> str:
    """A length of time to the precision that a person wants: 40 s, 12 min, 3 h 20 min."""
    minutes = round(seconds / 60)
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


@contextlib.contextmanager
def progress(total: int, *, quiet: bool = False) -> Iterator[Show]:
    """Yields what is to be called with each outcome as it comes."""
    pace = Pace(total)
    if quiet:
        yield pace.add
    elif sys.stderr.isatty() and not os.environ.get("NO_COLOR") and importlib.util.find_spec("rich"):
        with _bar(pace) as show:
            yield show
    else:
        yield lambda outcome: _say(pace, outcome)


def _say(pace: Pace, outcome: Outcome) -> None:
    pace.add(outcome)
    output.say(f"{pace.done:>{len(str(pace.total))}}/{pace.total}  {in_a_line(outcome)}  ({pace})")


@contextlib.contextmanager
def _bar(pace: Pace) -> Iterator[Show]:
    from rich.console import Console  # the extra [cli]
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.text import Text

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True, highlight=False), transient=True) as bar:
        shown = bar.add_task(str(pace), total=pace.total)

        def show(outcome: Outcome) -> None:
            pace.add(outcome)
            bar.console.print(Text(in_a_line(outcome), style="green" if outcome.right else "red"))
            bar.update(shown, completed=pace.done, description=str(pace))

        yield show


def in_a_line(outcome: Outcome) -> str:
    """right  sql-03, round 2, 2 steps, 3.1 s; and what is wrong, when it is."""
    name = outcome.id + (f", round {outcome.round}" if outcome.round > 1 else "")
    line = f"{'right' if outcome.right else 'wrong'}  {name}, {counted_steps(outcome.steps)}, {outcome.seconds:.1f} s{_why(outcome)}"
    return printable(" ".join(line.splitlines()))


def _why(outcome: Outcome) -> str:
    if outcome.right:
        return ""
    if outcome.answer is not None:
        return f": {outcome.fault}"
    return f": stopped by {outcome.stop_reason}" + (f": {outcome.error}" if outcome.stop_reason == "endpoint_error" else "")
