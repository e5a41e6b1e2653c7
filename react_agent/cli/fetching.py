"""Progress of a download for a person: a bar on a terminal, a line every tenth in a pipe."""

import contextlib
import sys
from collections.abc import Callable, Iterator

from react_agent.cli import output
from react_agent.local import Progress


@contextlib.contextmanager
def progress_bar(name: str) -> Iterator[Callable[[Progress], None]]:
    """Yields the callback for fetch(); says nothing when the file is there already."""
    yield _Lines(name, sys.stderr.isatty())


class _Lines:
    def __init__(self, name: str, terminal: bool) -> None:
        self._name = name
        self._terminal = terminal
        self._tenth = -1

    def __call__(self, progress: Progress) -> None:
        if progress.source == "check" or not progress.total:
            return
        tenth = 10 * progress.done // progress.total
        if tenth != self._tenth:
            self._tenth = tenth
            output.say(f"{self._name}: {progress.done / 1e6:,.0f} of {progress.total / 1e6:,.0f} MB ({progress.source})")
