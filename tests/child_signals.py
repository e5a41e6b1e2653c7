"""For children that tests interrupt: they hear the signals, also where the tests run under nohup or in the background."""

import signal


def heard() -> None:
    """As a child's preexec_fn: what is ignored there would stay ignored in it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
