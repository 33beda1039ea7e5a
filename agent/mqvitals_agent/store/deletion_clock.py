"""The time by which old rows are deleted: that of the clock, unless it has leapt ahead a short while ago.

A clock that shows 2055 for a moment would make everything older than ``store.keep``. So a leap of more than an
hour beyond what has elapsed is believed only after the clock has gone on from there for six hours of elapsed time.
Meanwhile deleting goes on as if the clock had not leapt. How far it was believed is a fact in the store, so that a
restart does not believe a wrong clock for want of memory.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from mqvitals_agent.store.file.schema import LEAP_MS
from mqvitals_agent.store.writer import Store
from mqvitals_config.decoding.scalars import format_duration

CONFIRM_MS: Final = 6 * 3_600_000
"""A leap is believed after so much elapsed time."""
KEEP_FACT_MS: Final = 600_000
"""The fact in the store is updated so often."""


class ClockLeap(NamedTuple):
    """A clock that leapt ahead: when that was seen (elapsed time, ms), what it showed then (ms UTC), and by how much
    it had leapt (ms).
    """

    seen: int
    now: int
    by: int


class DeletionDecision(NamedTuple):
    """As of when rows are deleted (ms UTC), the leap that is not believed yet, and why the clock is not followed
    (empty: it is).
    """

    now: int
    leap: ClockLeap | None = None
    reason: str = ""


def decide(now: int, expected: int, steady: int, leap: ClockLeap | None) -> DeletionDecision:
    """As of when to delete, when the clock shows ``now`` and by elapsed time it should be ``expected`` (ms UTC).

    ``steady`` is elapsed time now, ms; ``leap`` what was seen before. A clock behind what is expected is followed: it
    deletes less.
    """
    ahead = now - expected
    if ahead <= LEAP_MS:
        return DeletionDecision(now)
    # Another leap meanwhile begins the wait anew.
    if leap is None or abs((now - leap.now) - (steady - leap.seen)) > LEAP_MS:
        leap = ClockLeap(steady, now, ahead)
    if steady - leap.seen >= CONFIRM_MS:
        return DeletionDecision(now)
    reason = (
        f"the clock has leapt ahead by {format_duration(leap.by // 60_000 * 60_000)}: nothing is deleted by it"
        f" before it has gone on for {format_duration(CONFIRM_MS)}"
    )
    return DeletionDecision(expected, leap, reason)


def trusted_now(store: Store, now: int) -> int:
    """The clock's time ``now`` (ms UTC) as far as the writer of the store believed it. Raises StoreError."""
    trusted = store.trusted_time()
    return now if trusted is None or now - trusted <= LEAP_MS else trusted


class DeletionClock:
    """Remembers how far the clock was believed, here and in ``store``. Use it in the thread of the store."""

    def __init__(self, store: Store, now: int, steady: int) -> None:
        """``now`` (ms UTC) is believed where the store holds no snapshot yet. Raises StoreError."""
        self._store = store
        found = store.trusted_time()
        self._kept = found
        self._trusted = now if found is None else found
        self._steady = steady
        self.decision = DeletionDecision(now)

    def go_on(self, store: Store) -> None:
        """Keep the fact in this file from now on."""
        if self._store is not store:
            self._store, self._kept = store, None

    def as_of(self, now: int, steady: int) -> int:
        """As of when to delete (ms UTC); ``decision`` says why. Raises StoreError when the fact cannot be kept."""
        expected = self._trusted + max(0, steady - self._steady)
        self.decision = decide(now, expected, steady, self.decision.leap)
        self._trusted, self._steady = self.decision.now, steady
        if self._kept is None or not 0 <= self._trusted - self._kept < KEEP_FACT_MS:
            self._store.trust_time(self._trusted)
            self._kept = self._trusted
        return self._trusted
