"""The moments at which cycles begin, and their numbers."""

from __future__ import annotations


class Grid:
    """Multiples of the interval from the service's beginning on, all in ms. A moment that was slept through is left out.

    ``number`` and ``began`` are those of the cycle under way; time never runs back from one cycle to the next.
    """

    def __init__(self, interval_ms: int) -> None:
        self.interval_ms = interval_ms
        self.begin: int | None = None
        self.number = 0
        self.began = -1
        self.next = 0
        self._first = 0

    def start(self, begin: int, last: int, last_ts: int = -1) -> None:
        """The first cycle begins now, at ``begin``, and follows the stored cycle number ``last`` that began at ``last_ts``."""
        self.begin, self.next, self._first = begin, begin, begin
        self.number = last
        self.began = last_ts

    def change(self, interval_ms: int) -> None:
        """Another interval, whose grid begins with the next cycle."""
        if interval_ms != self.interval_ms:
            self.interval_ms = interval_ms
            self._first = self.next

    def close(self, now: int) -> None:
        """A last cycle, for what came after the end of the one under way."""
        self.number += 1
        self.began = max(now, self.began + 1)

    def step(self, now: int) -> int:
        """Begin a cycle at ``now``; returns the moment of the grid that it belongs to."""
        if now < self._first or now < self.next - self.interval_ms:
            # The clock was set back: its grid begins anew.
            self._first = self.next = now
        moment = self._first + (now - self._first) // self.interval_ms * self.interval_ms
        missed = max(0, moment - self.next) // self.interval_ms
        self.number += 1 + missed
        self.began = max(now, self.began + 1)
        self.next = moment + self.interval_ms
        return moment
