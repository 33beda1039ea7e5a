"""Pauses after failures, calls of the store that are repeated until they succeed, and the state of receivers in it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from mqvitals_agent.clock import Clock
from mqvitals_agent.log import as_change, forget
from mqvitals_agent.notify.outbox import Outbox
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.rows.alerts.notification_rows import LONGEST_PAUSE_MS

_LOG = logging.getLogger(__name__)

T = TypeVar("T")

FIRST_PAUSE_MS: Final = 1_000

NOTE_MS: Final = 60_000
"""How often the store is told that a receiver works, at most."""


def pause_ms(failures: int, chance: float, retry_after_ms: int | None = None) -> int:
    """The pause after this many failures in a row (1 or more), ms.

    Full jitter: ``chance`` (0 to 1, random) of a span that doubles from one second to five minutes, at least one
    second, so that a receiver that comes back does not get everything at once. ``retry_after_ms``, which the receiver
    requested, is the least pause, up to five minutes.
    """
    span = min(FIRST_PAUSE_MS * 2 ** min(failures, 20), LONGEST_PAUSE_MS)
    pause = max(FIRST_PAUSE_MS, int(span * chance))
    return min(max(pause, retry_after_ms or 0), LONGEST_PAUSE_MS)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Retries calls of the store until they succeed: a delivery must be stored before the next one.

    ``about`` names the receiver in the log; ``chance`` returns random numbers from 0 to 1.
    """

    clock: Clock
    chance: Callable[[], float]
    about: str

    async def call(self, function: Callable[[], Awaitable[T]]) -> T:
        """The result of ``function``, called again after each StoreError."""
        key, failures = f"outbox {self.about}", 0
        while True:
            try:
                result = await function()
            except StoreError as error:
                failures += 1
                _LOG.error(str(error), extra=as_change(key, "outbox.failing", receiver=self.about))
                await self.clock.sleep(pause_ms(failures, self.chance()))
            else:
                forget(_LOG, key)
                return result


class ReceiverState:
    """Keeps in the store how a receiver is that is not told through the outbox: when that changes, and now and then that it works."""

    def __init__(self, name: str, outbox: Outbox, retry: RetryPolicy) -> None:
        self._name = name
        self._outbox = outbox
        self._retry = retry
        self._state: tuple[bool, str] | None = None
        self._ts = 0

    async def note(self, error: str = "", *, accepts: bool) -> None:
        """It accepts what it is sent, or nothing of it; ``error`` is what fails all the same."""
        state, now = (accepts, error), self._retry.clock.now()
        if state == self._state and not (accepts and now - self._ts >= NOTE_MS):
            return
        self._state, self._ts = state, now
        await self._retry.call(
            lambda: self._outbox.run(lambda rows: rows.note_receiver(self._name, now, error, accepts=accepts))
        )
