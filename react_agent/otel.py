"""OpenTelemetry: a listener that makes a run's events into spans. Needs the extra [otel]; docs/otel.md lists what is told.

Importing this module raises ConfigError where the extra is not installed.
"""

import threading
import time
from collections.abc import Callable, Sequence
from importlib import metadata

from react_agent.errors import ConfigError

try:
    from opentelemetry import trace
except ImportError:
    raise ConfigError("OpenTelemetry is not installed: pip install 'react-agent[otel]'") from None

from react_agent.otel_run import RunSpans, Settings
from react_agent.trace import Masker
from react_agent.trace_events import Event, RunEnded, RunResumed, RunStarted


class Spans:
    """A listener for Agent(on_event=...): a span for each run, and in it one for each call of the model and each tool.

    tracer: None takes the global provider's. content: also tell what was said (prompts, replies, arguments, results, messages of
    errors); without it nothing of that is in any span. secrets: values that are masked in it. agent_name: tells your agents apart.
    conversation_id: what several runs have in common. clock: seconds, for the time to the first chunk.
    One listener serves any number of threads: a run's events all come from the thread that it is in.
    """

    def __init__(
        self, tracer: trace.Tracer | None = None, *, content: bool = False, secrets: Sequence[str] = (),
        agent_name: str = "react_agent", conversation_id: str = "", clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        tracer = tracer or trace.get_tracer("react_agent", _version())
        self._settings = Settings(tracer, content, Masker(tuple(secrets)), agent_name, conversation_id, clock)
        self._here = _Thread()

    def __call__(self, event: Event) -> None:
        runs = self._here.runs
        if isinstance(event, RunResumed):
            self._here.replayed = event.replayed
        elif isinstance(event, RunStarted):
            self._begin(event)
        elif runs:
            runs[-1].hear(event)
            if isinstance(event, RunEnded):
                runs.pop()

    def _begin(self, event: RunStarted) -> None:
        """A run that starts inside a tool is one of its agents; any other still open here has ended by an exception."""
        here = self._here
        while here.runs and not here.runs[-1].in_tool:
            here.runs.pop().abandon()
        here.runs.append(RunSpans(self._settings, event, here.replayed))
        here.replayed = 0


class _Thread(threading.local):
    """The runs that are open in a thread, the innermost last; replayed: of the run that is about to start (see RunResumed)."""

    def __init__(self) -> None:
        self.runs: list[RunSpans] = []
        self.replayed = 0


def both(*listeners: Callable[[Event], None]) -> Callable[[Event], None]:
    """One listener that tells each of several, in this order."""

    def tell(event: Event) -> None:
        for listener in listeners:
            listener(event)

    return tell


def _version() -> str | None:
    try:
        return metadata.version("react-agent")
    except metadata.PackageNotFoundError:
        return None
