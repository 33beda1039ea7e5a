"""The agent as a process: systemd's notification protocol (sd_notify(3)), signals, and a deadline for ending.

Without ``NOTIFY_SOCKET`` in the environment nothing is sent. A message that cannot be sent is lost: the agent does
not depend on a reader.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from mqvitals_agent.clock import Clock
from mqvitals_agent.text.terminal import safe

_LONGEST_STATUS = 400

_DEADLINE_S = 10.0
"""The process ends this long after the first signal that asks for it, whatever hangs."""

_SECOND_DEADLINE_S = 2.0
"""The same after a second signal."""


class ServiceManager:
    """Sends the agent's state to a service manager. Use it from one thread.

    ``address`` is that of its datagram socket, empty for none; ``watchdog_us`` the longest time between two keep-alive
    messages, microseconds, 0: none are expected. ``steady`` returns a monotonic time, seconds.
    """

    def __init__(
        self, address: str = "", watchdog_us: int = 0, *, steady: Callable[[], float] = time.monotonic
    ) -> None:
        # A path, or a name in the abstract name space, which is written with "@" in front.
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._steady = steady
        self._ready = self._stopping = False
        self._cycle_at = steady()
        self.watchdog_ms = watchdog_us / 1000 if self._address else 0.0

    @classmethod
    def of(cls, environ: Mapping[str, str], pid: int | None = None) -> ServiceManager:
        """The service manager that ``environ`` names.

        A watchdog for another process than ``pid`` (default: this one) is ignored.
        """
        address = environ.get("NOTIFY_SOCKET", "")
        every = environ.get("WATCHDOG_USEC", "")
        meant = environ.get("WATCHDOG_PID", "")
        ours = not meant or meant == str(os.getpid() if pid is None else pid)
        usable = address.startswith(("/", "@")) and len(address) > 1
        return cls(address if usable else "", int(every) if ours and every.isascii() and every.isdigit() else 0)

    def starting(self, longest_ms: int) -> None:
        """The first cycle may take ``longest_ms`` from now, longer than the manager waits by default."""
        self._send("STATUS=the first cycle is under way", f"EXTEND_TIMEOUT_USEC={longest_ms * 1000}")

    def cycle(self, status: str) -> None:
        """A cycle is evaluated and stored, or kept for later: the agent is ready. ``status`` is a sentence."""
        self._cycle_at = self._steady()
        if self._stopping:
            return
        ready = () if self._ready else ("READY=1",)
        self._ready = True
        self._send(*ready, f"STATUS={_one_line(status)}")

    def reloading(self) -> None:
        """The settings are about to be read again; ``reloaded`` must follow."""
        if self._ready and not self._stopping:
            self._send("RELOADING=1", f"MONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}")

    def reloaded(self) -> None:
        """The settings have been read again, whether they are in force or refused."""
        if self._ready and not self._stopping:
            self._send("READY=1")

    def stopping(self, reason: str) -> None:
        """The agent has begun to end."""
        if not self._stopping:
            self._stopping = True
            self._send("STOPPING=1", f"STATUS={_one_line(reason)}")

    async def watch(
        self, answers: Callable[[], Awaitable[object]], longest_ms: Callable[[], int], clock: Clock
    ) -> None:
        """Send a keep-alive message twice in each watchdog interval while the agent works. Runs until cancelled.

        ``answers`` returns when the store's thread answers: while it hangs, nothing is sent. Nor is anything sent
        when the last cycle ended longer than ``longest_ms`` and a watchdog interval ago. ``clock`` sleeps in real
        time.
        """
        if self.watchdog_ms <= 0:
            return
        while True:
            await answers()
            silent_ms = (self._steady() - self._cycle_at) * 1000
            if silent_ms <= longest_ms() + self.watchdog_ms:
                self._send("WATCHDOG=1")
            await clock.sleep(self.watchdog_ms / 2)

    def _send(self, *assignments: str) -> None:
        if not self._address:
            return
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
            channel.settimeout(0)
            channel.sendto("\n".join(assignments).encode(), self._address)


def _one_line(text: str) -> str:
    return safe(" ".join(text.split()))[:_LONGEST_STATUS]


class Deadline:
    """Ends the process some time after a signal that asks for its end, whatever keeps it from ending in order.

    What the store has not got by then is lost as in a power failure.
    """

    def __init__(
        self,
        first_s: float = _DEADLINE_S,
        second_s: float = _SECOND_DEADLINE_S,
        leave: Callable[[int], object] = os._exit,
    ) -> None:
        """``leave`` ends the process with an exit code."""
        self._after = [first_s, second_s]
        self._leave = leave
        self._over = threading.Event()

    def on_signal(self, number: int, _: object) -> None:
        """Start the timer, a shorter one at the second signal."""
        if self._after:
            threading.Thread(target=self._wait, args=(self._after.pop(0), number), daemon=True).start()

    def over(self) -> None:
        """The process ends in order: cancel the timers."""
        self._over.set()

    def _wait(self, limit_s: float, number: int) -> None:
        if not self._over.wait(limit_s):
            self._leave(128 + number)


@contextmanager
def handled_signals(
    on_terminate: Callable[[], None], on_interrupt: Callable[[], None], on_hangup: Callable[[], None]
) -> Iterator[None]:
    """Within, SIGTERM, SIGINT and SIGHUP call these on the running event loop and raise nothing.

    Ignored signals stay ignored.
    """
    loop = asyncio.get_running_loop()
    actions = {signal.SIGTERM: on_terminate, signal.SIGINT: on_interrupt, signal.SIGHUP: on_hangup}
    before = {number: signal.getsignal(number) for number in actions}
    taken = [number for number in actions if before[number] != signal.SIG_IGN]
    if threading.current_thread() is not threading.main_thread():
        taken = []
    deadline = Deadline()
    for number in taken:
        loop.add_signal_handler(number, actions[number])
        if number != signal.SIGHUP:
            # The loop gets the signal through its file descriptor; this also runs while something blocks the loop.
            signal.signal(number, deadline.on_signal)
    try:
        yield
    finally:
        deadline.over()
        for number in taken:
            loop.remove_signal_handler(number)
            signal.signal(number, before[number])
