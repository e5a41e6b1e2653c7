"""Listens to a reply while it streams: is the decision whole, and what does the person see of it."""

from collections.abc import Callable

from react_agent.trace_events import Event, TextArrived
from react_agent.watch import DecisionWatcher
from react_agent.watch_answer import AnswerStream


class Hearing:
    """What an endpoint calls during one call (see Request). restart() forgets what was heard: the stream broke and begins anew."""

    def __init__(self, step: int, listener: Callable[[Event], None] | None) -> None:
        self._step = step
        self._listener = listener
        self._watcher = DecisionWatcher()
        self._answer = AnswerStream()

    def closed(self, piece: str) -> bool:
        return self._watcher.feed(piece)

    def text(self, piece: str) -> None:
        self._tell(TextArrived(self._step, piece, answer=self._answer.feed(piece)))

    def reasoning(self, piece: str) -> None:
        self._tell(TextArrived(self._step, piece, reasoning=True))

    def restart(self) -> None:
        self._watcher, self._answer = DecisionWatcher(), AnswerStream()
        self._tell(TextArrived(self._step, "", restart=True))

    def _tell(self, event: TextArrived) -> None:
        if self._listener is not None:
            self._listener(event)
