"""The moments at which cycles begin, their numbers, and how their samples are dated."""

from __future__ import annotations


class Grid:
    """Multiples of the interval from the service's beginning on, all in ms. A moment that was slept through is left out.

    ``number`` is that of the cycle under way, ``now`` the clock's moment at which it began. ``began`` is how its samples
    are dated: the same, but never earlier than what is stored already. While the clock stands behind that, ``began``
    leads by ``lead`` and goes half as fast as the clock until that has caught up: so samples keep their order and about
    their distances.
    """

    def __init__(self, interval_ms: int) -> None:
        self.interval_ms = interval_ms
        self.begin: int | None = None
        self.number = 0
        self.now = 0
        self.began = -1
        self.next = 0
        self._first = 0
        self._left_out = 0

    @property
    def lead(self) -> int:
        """By how much the dates of samples are ahead of the clock."""
        return self.began - self.now

    def start(self, begin: int, last: int, last_ts: int = -1) -> None:
        """The first cycle begins now, at ``begin``, and follows the stored cycle number ``last``, dated ``last_ts``."""
        self.begin, self.now, self.next, self._first = begin, begin, begin, begin
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
        self._date(now)

    def step(self, now: int) -> int:
        """Begin a cycle at ``now``; returns the moment of the grid that it belongs to."""
        if now < self._first or now < self.next - self.interval_ms:
            # The clock was set back: its grid begins anew.
            self._first = self.next = now
        moment = self._first + (now - self._first) // self.interval_ms * self.interval_ms
        missed = max(0, moment - self.next) // self.interval_ms
        self.number += 1 + missed
        self._left_out += missed
        self._date(now)
        self.next = moment + self.interval_ms
        return moment

    def left_out(self, until: int) -> int:
        """How many cycles should have begun before a moment and did not."""
        return self._left_out + max(0, -((self.next - until) // self.interval_ms))

    def _date(self, now: int) -> None:
        passed = now - self.now
        self.now = now
        self.began = max(now, self.began + max(1, passed // 2))
