"""Being told to stop by a signal: the command ends in order, as after Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGHUP)

GRACE_S = 5.0
"""A terminal that is closed sends SIGHUP twice, a service manager both: for so long the first one is enough."""


class Stopped(KeyboardInterrupt):
    """SIGTERM or SIGHUP came. Whatever ends in order at Ctrl-C does so at this too."""


class Stop:
    """Which signal came, if any."""

    def __init__(self) -> None:
        self.number = 0
        self._came = 0.0

    @property
    def code(self) -> int | None:
        """The exit code that tells which signal ended the program, as a shell writes it; None when none came."""
        return 128 + self.number if self.number else None

    def on_signal(self, number: int, _: FrameType | None) -> None:
        """Raise Stopped where the program is, unless it is ending already."""
        now = time.monotonic()
        if self.number and now - self._came < GRACE_S:
            return
        self.number, self._came = self.number or number, now
        raise Stopped


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Within, SIGTERM and SIGHUP raise Stopped. One that is ignored (``nohup``) stays so."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number, handler in before.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, stop.on_signal)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            if stop.number:
                # The program is about to end with the exit code of the first signal; the next must not kill it before.
                signal.signal(number, signal.SIG_IGN)
            else:
                signal.signal(number, handler if handler is not None else signal.SIG_DFL)
