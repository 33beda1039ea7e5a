"""The service manager that started the agent (systemd), told by its notification protocol how the agent is: sd_notify(3).

Without ``NOTIFY_SOCKET`` in the environment there is none, and nothing is sent. A message that cannot be sent is lost: the
agent does not depend on anybody reading it.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from mqvitals_agent.clock import Clock
from mqvitals_agent.text.terminal import safe

_LONGEST_STATUS = 400


class ServiceManager:
    """Sends the agent's state to a service manager. Use it from one thread.

    ``address`` is that of its datagram socket, empty for none; ``watchdog_us`` is how often at least it wants a sign of life,
    microseconds, 0 for never. ``steady`` gives a time that only goes forward, seconds.
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
        """The one that ``environ`` names. A watchdog that is meant for another process than ``pid`` (default: this one) is none."""
        address = environ.get("NOTIFY_SOCKET", "")
        every = environ.get("WATCHDOG_USEC", "")
        meant = environ.get("WATCHDOG_PID", "")
        ours = not meant or meant == str(os.getpid() if pid is None else pid)
        usable = address.startswith(("/", "@")) and len(address) > 1
        return cls(address if usable else "", int(every) if ours and every.isascii() and every.isdigit() else 0)

    def starting(self, longest_ms: int) -> None:
        """The first cycle may take ``longest_ms`` from now on, which may be longer than the manager waits by itself."""
        self._send("STATUS=the first cycle is under way", f"EXTEND_TIMEOUT_USEC={longest_ms * 1000}")

    def cycle(self, status: str) -> None:
        """A cycle has been judged and stored, or kept for later: the agent is ready. ``status`` says it in a sentence."""
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
        """Send a sign of life twice in each watchdog interval, for as long as the agent does its work. Runs until it is cancelled.

        ``answers`` returns when the thread that judges and stores has come round to it: while that hangs, no sign is sent.
        Nor is one when the last cycle was over longer than ``longest_ms`` (and a watchdog interval) ago. ``clock`` sleeps in
        real time.
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
