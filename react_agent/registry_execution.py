"""Foreign code, run so that nothing it raises gets past: tools, their previews, approval callbacks."""

import contextvars
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from react_agent.errors import ToolError

LOOK = 0.05


@dataclass(frozen=True, slots=True)
class Execution:
    """How a piece of foreign code ended: with a value, with its own ToolError, with a crash (traceback text), not in time, or not
    before it was cancelled."""

    value: Any = None
    error: ToolError | None = None
    crash: str = ""
    crash_summary: str = ""
    timed_out: bool = False
    cancelled: bool = False


def attempt(call: Callable[[], Any]) -> Execution:
    """Run call to its end."""
    try:
        try:
            return Execution(value=call())
        except ToolError as error:  # perhaps of a class of its own: what it says is made text here, where it may still crash
            return Execution(error=ToolError(str(error.type), str(error.message), str(error.hint or "")))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # The one broad except of the package. The code is not ours and a run must survive whatever it does: sys.exit(), a
        # RecursionError and a MemoryError included. The traceback goes to the trace; the model is told that the tool failed.
        return Execution(crash=traceback.format_exc(), crash_summary=_summary(error))


def attempt_within(call: Callable[[], Any], seconds: float, cancel: threading.Event | None = None) -> Execution:
    """Run call in a thread of its own and wait for so many seconds, or until cancel is set.

    A Python thread cannot be killed: a call that is given up goes on in the background and what it still does is not seen. The thread
    is a daemon, so that it does not keep the program from ending. Ctrl-C ends the waiting.
    """
    ended: list[Execution | KeyboardInterrupt] = []

    def work() -> None:
        try:
            ended.append(attempt(call))
        except KeyboardInterrupt as error:  # raised by the tool itself; signals only reach the main thread
            ended.append(error)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(work,), name="react-agent-tool", daemon=True)
    try:
        thread.start()
    except RuntimeError as error:  # the system gives no more threads, perhaps because too many calls were given up
        return Execution(crash=traceback.format_exc(), crash_summary=_summary(error))
    _wait(thread, seconds, cancel)
    if not ended:
        cancelled = cancel is not None and cancel.is_set()
        return Execution(cancelled=cancelled, timed_out=not cancelled)
    if isinstance(ended[0], KeyboardInterrupt):
        raise ended[0]
    return ended[0]


def _wait(thread: threading.Thread, seconds: float, cancel: threading.Event | None) -> None:
    """Until the thread has ended, or so many seconds, or until cancel is set, which is looked at every LOOK seconds."""
    end = time.monotonic() + seconds
    while thread.is_alive() and not (cancel and cancel.is_set()) and (left := end - time.monotonic()) > 0:
        thread.join(min(left, threading.TIMEOUT_MAX if cancel is None else LOOK))


def _summary(error: BaseException) -> str:
    """The last line of a traceback, also for an exception whose own text cannot be made."""
    return "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
