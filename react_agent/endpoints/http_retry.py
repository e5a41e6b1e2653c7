"""Time: the deadline of a call, what a server says about waiting, and how long to wait when it says nothing."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from react_agent.errors import EndpointError

SLICE_S = 0.1  # a wait looks at the cancel event this often


@dataclass(frozen=True, slots=True)
class Deadline:
    """When a call must have ended, and whether its caller has given it up. at: in the clock's time, None for never."""

    at: float | None = None
    cancel: threading.Event | None = None
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    @property
    def remaining(self) -> float | None:
        return None if self.at is None else self.at - self.clock()

    def check(self) -> None:
        """Raise EndpointError when the call was cancelled or its time is up."""
        if self.cancel is not None and self.cancel.is_set():
            raise EndpointError("cancelled", "the call was cancelled")
        remaining = self.remaining
        if remaining is not None and remaining <= 0:
            raise EndpointError("timeout", "no complete reply before the deadline", "raise timeout_s, or ask for fewer tokens")

    def wait(self, seconds: float) -> None:
        """Sleep, but notice a cancel and the deadline within SLICE_S."""
        left = seconds
        while left > 0:
            self.check()
            self.sleep(min(left, SLICE_S))
            left -= SLICE_S
        self.check()
