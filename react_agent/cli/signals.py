"""SIGTERM and SIGHUP end the program as Ctrl-C does: the run is cancelled, its trace is whole, and what was started is stopped."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

NAMES = ("SIGTERM", "SIGHUP")  # the second is not known to Windows
CANCELLED = 130


class Stopped:
    """Which signal came, 0 for none; a second one of its kind ends the program at once."""

    def __init__(self) -> None:
        self.signal = 0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.signal = number
        signal.signal(number, signal.SIG_DFL)
        raise KeyboardInterrupt(signal.Signals(number).name)

    @property
    def name(self) -> str:
        """What stopped the program, for a person."""
        return signal.Signals(self.signal).name if self.signal else "Ctrl-C"

    def code(self, code: int) -> int:
        """The exit code: 128 and the signal's number where it was the signal that ended a run."""
        return 128 + self.signal if self.signal and code == CANCELLED else code


@contextlib.contextmanager
def stopped_by_signals() -> Iterator[Stopped]:
    """Inside, these signals are a KeyboardInterrupt; one that is ignored (nohup) stays ignored. Only the main thread can do that."""
    stopped, before = Stopped(), {}
    if threading.current_thread() is threading.main_thread():
        numbers = [getattr(signal, name) for name in NAMES if hasattr(signal, name)]
        before = {number: signal.getsignal(number) for number in numbers if signal.getsignal(number) is signal.SIG_DFL}
    for number in before:
        signal.signal(number, stopped)
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
