"""When cycles begin, how their samples are dated, and which queries are due in a cycle.

Cycles begin by elapsed time, so that a wall clock that is set neither delays nor hastens them. Samples are dated by
the wall clock. Where that is set back, samples may lie ahead of it: ``CycleClock`` decides which of the two is
believed.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from mqvitals_agent.poll.queries import (
    MANY_REPLIES,
    IntervalStretch,
    ScheduledQuery,
    is_due,
    slowdown,
    stretched_interval,
)

RECENT_MS: Final = 600_000
"""Samples that are younger than this by elapsed time are deleted for a clock that was set back. Older samples are
trusted more than the clock.
"""
FAR_MS: Final = 366 * 86_400_000
"""A run that begins later than this after the newest sample begins by a wrong clock: no agent pauses that long."""
EXACT_MS: Final = 300_000
"""A clock that is set back by as much as it was set ahead before, within this tolerance, is right again."""


CORRECTION_MS: Final = 1_000
"""A smaller difference is no correction: the two clocks are read in ms, one after the other."""


class DatingReason(Enum):
    """How a cycle is dated, and why."""

    CLOCK = "by the clock"
    RECENT = "by the clock: all samples that lie ahead of it were taken in the last minutes"
    RETURNED = (
        "by the clock: it takes back an earlier step ahead, after which all samples that lie ahead of it were taken"
    )
    BEHIND = "after the newest sample: samples lie ahead of the clock, and may be right"

    @property
    def deletes(self) -> bool:
        """Whether samples lie ahead of the cycle: the store deletes them."""
        return self in (DatingReason.RECENT, DatingReason.RETURNED)


class _Jump(NamedTuple):
    """A step ahead of the clock: ``before`` is the newest date before it, ``least`` to ``most`` ms take it back."""

    before: int
    least: int
    most: int


class CycleClock:
    """Multiples of the interval from the service's beginning on, in ms of elapsed time.

    A moment that was slept through is left out.

    ``number`` is that of the cycle under way, ``now`` the wall clock's moment at which it began (ms UTC) and
    ``steady`` the elapsed time then. ``began`` is how its samples are dated, for the reason ``dating``. As a rule it
    is ``now``. While samples lie ahead of the clock that may be right, ``began`` leads by ``lead`` and goes half as
    fast until the clock has caught up: so samples keep their order.

    ``correction`` is by how many ms the wall clock was set since the cycle before, ``shift`` by how many dates of
    this cycle differ from those of the cycle before beyond what has elapsed: what is remembered with its date has to
    be shifted by it.
    """

    def __init__(self, interval_ms: int) -> None:
        self.interval_ms = interval_ms
        self.begin: int | None = None
        self.number = 0
        self.now = 0
        self.steady = 0
        self.began = -1
        self.dating = DatingReason.CLOCK
        self.correction = 0
        self.shift = 0
        self.next = 0
        self._first = 0
        self._left_out = 0
        self._cycles = 0
        self._recent: deque[tuple[int, int]] = deque()
        self._sure = -1
        self._jump: _Jump | None = None

    @property
    def lead(self) -> int:
        """By how much the dates of samples are ahead of the clock."""
        return self.began - self.now

    def start(self, begin: int, steady: int, last: int, last_ts: int = -1) -> None:
        """The first cycle begins now, at ``begin`` (``steady`` by elapsed time), and follows the stored cycle
        ``last``, dated ``last_ts``.
        """
        self.begin, self.now = begin, begin
        self.next = self._first = self.steady = steady
        self.number = last
        self.began = self._sure = last_ts
        if last_ts >= 0 and begin - last_ts > FAR_MS:
            self._jump = _Jump(last_ts, (begin - last_ts) // 2, begin - last_ts)

    def change(self, interval_ms: int) -> None:
        """Another interval, whose grid begins with the next cycle."""
        if interval_ms != self.interval_ms:
            self.interval_ms = interval_ms
            self._first = self.next

    def close(self, now: int, steady: int) -> None:
        """A last cycle, for what came after the end of the one under way."""
        self.number += 1
        self._date(now, steady)

    def step(self, now: int, steady: int) -> int:
        """Begin a cycle at ``now``; returns the moment of the grid that it belongs to, ms of elapsed time."""
        moment = self._first + max(0, steady - self._first) // self.interval_ms * self.interval_ms
        missed = max(0, moment - self.next) // self.interval_ms
        self.number += 1 + missed
        self._left_out += missed
        self._date(now, steady)
        self.next = moment + self.interval_ms
        return moment

    def left_out(self, until: int) -> int:
        """How many cycles should have begun before a moment of elapsed time and did not."""
        return self._left_out + max(0, -((self.next - until) // self.interval_ms))

    def wall(self, steady: int) -> int:
        """The time of day, ms UTC, at a moment of elapsed time in this cycle, by the clock as it was when the
        cycle began.
        """
        return self.now + steady - self.steady

    def _date(self, now: int, steady: int) -> None:
        passed = max(0, steady - self.steady)
        before = self.began
        self.correction = now - self.now - passed
        self._forget(steady)
        self.dating = self._dating(now)
        if self.dating is DatingReason.BEHIND:
            self.began = before + max(1, passed // 2)
        else:
            self.began = now
        if self.dating.deletes:
            self._recent = deque(each for each in self._recent if each[1] < now)
            self._sure = min(self._sure, now - 1)
            self._jump = None
        elif self.dating is DatingReason.CLOCK and self.correction > EXACT_MS:
            self._jump = _Jump(before, self.correction - EXACT_MS, self.correction + EXACT_MS)
        # The first cycle follows on another run, of which nothing is remembered with its date.
        self.shift = self.began - before - passed if self._cycles else 0
        self.now, self.steady = now, steady
        self._cycles += 1
        self._recent.append((steady, self.began))

    def _dating(self, now: int) -> DatingReason:
        if now > self.began:
            return DatingReason.CLOCK
        if self.correction > -CORRECTION_MS:
            return DatingReason.BEHIND
        if now > self._sure:
            return DatingReason.RECENT
        jump = self._jump
        if jump is not None and now > jump.before and jump.least <= -self.correction <= jump.most:
            return DatingReason.RETURNED
        return DatingReason.BEHIND

    def _forget(self, steady: int) -> None:
        """Samples that are no longer recent are trusted."""
        oldest = steady - max(RECENT_MS, 2 * self.interval_ms)
        while self._recent and self._recent[0][0] < oldest:
            self._sure = max(self._sure, self._recent.popleft()[1])


class QueryInterval(NamedTuple):
    """How often a form of command is sent, ms, and how many times that was doubled."""

    form: str
    interval_ms: int
    doubled: int


_NOT_STRETCHED = IntervalStretch()


@dataclass(slots=True)
class _PlannedQuery:
    query: ScheduledQuery
    configured_ms: int
    asked: int | None = None
    under_way: bool = False
    stretch: IntervalStretch = _NOT_STRETCHED
    floor_ms: int = 0
    unanswered: int = 0

    @property
    def interval_ms(self) -> int:
        """The interval in force."""
        return max(self.stretch.of(self.configured_ms), self.floor_ms)


def _not_sooner(question: str, unanswered: int) -> int:
    """For whom a query without an answer waits until it is due."""
    del question, unanswered
    return sys.maxsize


class Schedule:
    """When each query was sent last. One that is still under way is not sent a second time."""

    def __init__(
        self,
        queries: Iterable[ScheduledQuery],
        configured: Callable[[str], int],
        before: Schedule | None = None,
        *,
        retry_ms: Callable[[str, int], int] = _not_sooner,
        anew: bool = False,
    ) -> None:
        """``configured`` returns the usual interval of a query, ms, by its name; ``retry_ms`` after how many ms it is
        sent again when it got no answer so many times in a row, if that is sooner.

        A query that was in ``before`` keeps its state; with ``anew`` all are due, except those under way.
        """
        self._retry_ms = retry_ms
        self._entries = {query: _PlannedQuery(query, configured(query.question)) for query in queries}
        for query, old in () if before is None else before._entries.items():
            entry = self._entries.get(query)
            if entry is not None:
                entry.under_way = old.under_way
                entry.asked = None if anew and not old.under_way else old.asked
                if entry.configured_ms == old.configured_ms:
                    entry.stretch, entry.floor_ms, entry.unanswered = old.stretch, old.floor_ms, old.unanswered

    def take_due(self, moment: int) -> tuple[ScheduledQuery, ...]:
        """The queries that are due at this moment of the grid, in their order; from now on they are under way."""
        found = []
        for entry in self._entries.values():
            wait = entry.interval_ms
            if entry.unanswered:
                wait = min(wait, self._retry_ms(entry.query.question, entry.unanswered))
            if not entry.under_way and is_due(moment, entry.asked, wait):
                entry.asked, entry.under_way = moment, True
                found.append(entry.query)
        return tuple(found)

    def answered(
        self, query: ScheduledQuery, elapsed_ms: int, *, silent: bool, retry: bool = False, replies: int = 0
    ) -> str:
        """It was answered with so many ``replies``, or no answer came (``silent``); ``retry``: one may come
        sooner than it is due.

        Returns why its interval changes, empty when it does not.
        """
        entry = self._entries.get(query)
        if entry is None:
            return ""  # a query that a reload has removed may still be under way
        entry.under_way = False
        entry.unanswered = entry.unanswered + 1 if retry else 0
        entry.stretch, reason = stretched_interval(entry.stretch, entry.configured_ms, elapsed_ms, silent=silent)
        if query.question in MANY_REPLIES and not silent:
            before = entry.interval_ms
            entry.floor_ms = entry.configured_ms * slowdown(query.question, replies)
            if entry.interval_ms != before:
                return reason or f"{replies} replies: asked every {entry.interval_ms / 1000:g} s"
        return reason

    def replace(self, query: ScheduledQuery, other: ScheduledQuery) -> None:
        """Another query takes the place of one that was answered; it is under way."""
        self._entries = {
            other if each is query or each == query else each: entry for each, entry in self._entries.items()
        }
        entry = self._entries.get(other)
        if entry is not None:
            entry.query, entry.under_way = other, True

    def slow_down(self, question: str, scope: str, interval_of: Callable[[int], int]) -> str:
        """Lengthen the interval of a question about this member; ``interval_of`` makes it of the configured one, ms.

        Returns why it changes, empty when it does not.
        """
        reason = ""
        for entry in self._entries.values():
            if (entry.query.question, entry.query.scope) != (question, scope):
                continue
            floor = interval_of(entry.configured_ms)
            if floor != max(entry.floor_ms, entry.configured_ms):
                reason = f"as many channels are in use, server connections are asked for every {floor / 1000:g} s"
            entry.floor_ms = floor
        return reason

    def missed(self, query: ScheduledQuery) -> None:
        """It was not sent: it is due."""
        entry = self._entries.get(query)
        if entry is not None:
            entry.under_way, entry.asked = False, None

    def intervals(self) -> Iterator[QueryInterval]:
        """The interval in force of each form of command: the shortest of its queries."""
        found: dict[str, QueryInterval] = {}
        for entry in self._entries.values():
            form = entry.query.form
            interval = QueryInterval(form, entry.interval_ms, entry.stretch.doubled)
            before = found.get(form)
            if before is None or interval.interval_ms < before.interval_ms:
                found[form] = interval
        return iter(found.values())
