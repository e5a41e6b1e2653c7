"""Where a run says what it does: the trace first, then the listener; along a playback nothing is written twice."""

import logging
import threading
from collections.abc import Callable

from react_agent.agent_playback import Playback
from react_agent.errors import TraceError
from react_agent.registry_execution import attempt
from react_agent.trace import Trace
from react_agent.trace_events import Event, Noted, RunEnded
from react_agent.types import StopReason

_LOG = logging.getLogger("react_agent")
Listener = Callable[[Event], None]

class RunStopped(Exception):
    """Ends the loop from inside, with the reason and a sentence for a person."""

    def __init__(self, reason: StopReason, error: str = "") -> None:
        super().__init__(error or reason)
        self.reason: StopReason = reason
        self.error = error


class Journal:
    """The trace, the listener and the playback of one run. cancel: what the caller may set, None when nobody can. step: the number of
    the step at work, for notes. last: the event that was recorded last. path: where the trace is, also after it could not be written
    any more."""

    def __init__(self, trace: Trace | None, playback: Playback, listener: Listener | None, cancel: threading.Event | None) -> None:
        self.trace = trace
        self.path = str(trace.path) if trace else None
        self.playback = playback
        self.listener = listener
        self.cancel = cancel
        self.step = 1
        self.last: Event | None = None
        self._complained = False

    @property
    def cancelled(self) -> bool:
        """Whether the caller wants the run to end; along a playback nothing is done that could be stopped."""
        return self.cancel is not None and self.cancel.is_set() and not self.playback.active

    def emit(self, event: Event) -> None:
        """Record the event, then tell the listener. Raises RunStopped when it cannot be recorded (nothing runs unrecorded), and where a
        replay is no longer as it was (nothing runs behind a difference)."""
        seen = event.recorded and self.playback.passed(event)
        if self.playback.difference and not isinstance(event, RunEnded):
            raise RunStopped("cancelled", self.playback.difference)
        if self.trace is not None and not seen:
            self._write(self.trace, event)
        self.last = event
        self.tell(event)

    def _write(self, trace: Trace, event: Event) -> None:
        try:
            trace.write(event)
        except TraceError as error:
            trace.close()
            self.trace = None
            raise RunStopped("trace_error", f"{error}; nothing runs unrecorded, so the run ends here") from None

    def tell(self, event: Event) -> None:
        """Call the listener. When it fails, that is logged once, and the run goes on: what it has cost and changed is not lost for it."""
        if self.listener is None:
            return
        crash = told(self.listener, event)
        if crash and not self._complained:
            self._complained = True
            _LOG.error("the listener (on_event) failed at %s; the run goes on:\n%s", event.name, crash)

    def note(self, slug: str, message: str) -> None:
        self.emit(Noted(self.step, slug, message))

    def end(self, ended: RunEnded) -> None:
        """Record the end, once, also when Ctrl-C comes meanwhile; a trace that cannot be written is only logged."""
        for _ in range(2):
            try:
                if self.last is not ended:
                    self.emit(ended)
            except RunStopped as stopped:
                _LOG.error("%s", stopped.error)
            except KeyboardInterrupt:
                continue
            break
        if self.trace is not None:
            self.trace.close()


def told(listener: Listener, event: Event) -> str:
    """Tell a listener of an event; returns the traceback when it failed. Only KeyboardInterrupt gets through."""
    outcome = attempt(lambda: listener(event))
    return outcome.crash or str(outcome.error or "")
