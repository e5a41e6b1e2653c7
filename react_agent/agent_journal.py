"""Where a run says what it does: the trace first, then the listener; along a playback nothing is written twice."""

import threading
from collections.abc import Callable

from react_agent.agent_playback import Playback
from react_agent.errors import TraceError
from react_agent.trace import Trace
from react_agent.trace_events import Event, Noted
from react_agent.types import StopReason


class RunStopped(Exception):
    """Ends the loop from inside, with the reason and a sentence for a person."""

    def __init__(self, reason: StopReason, error: str = "") -> None:
        super().__init__(error or reason)
        self.reason: StopReason = reason
        self.error = error


class Journal:
    """The trace, the listener and the playback of one run. step: the number of the step at work, for notes."""

    def __init__(self, trace: Trace | None, playback: Playback, listener: Callable[[Event], None] | None, cancel: threading.Event) -> None:
        self.trace = trace
        self.playback = playback
        self.listener = listener
        self.cancel = cancel
        self.step = 1

    @property
    def path(self) -> str | None:
        return str(self.trace.path) if self.trace else None

    def emit(self, event: Event) -> None:
        """Record the event, then tell the listener. Raises RunStopped when it cannot be recorded: nothing runs unrecorded."""
        seen = event.recorded and self.playback.passed(event)
        if self.trace is not None and not seen:
            try:
                self.trace.write(event)
            except TraceError as error:
                self.trace.close()
                self.trace = None
                raise RunStopped("trace_error", f"{error}; nothing runs unrecorded, so the run ends here") from None
        if self.listener is not None:
            self.listener(event)

    def note(self, slug: str, message: str) -> None:
        self.emit(Noted(self.step, slug, message))

    def close(self) -> None:
        if self.trace is not None:
            self.trace.close()
