"""Replay: a recording drives the collector, exchange by exchange, and each cycle's snapshots go where they are wanted.

A recording's cycle is the number of its interval: 1 + floor((``at`` - first ``at``) / interval). A cycle is over as soon as the next
exchange belongs to a later one, so its snapshots are there before the wait for that exchange begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from mqvitals_agent.connection.exchange import Exchange
from mqvitals_agent.poll.collector import Collector
from mqvitals_rules.snapshot import Snapshot

USUAL_INTERVAL_MS = 30_000
"""For a recording that does not tell its interval."""


@dataclass(frozen=True, slots=True)
class Cycle:
    """One cycle of the recording: its number, when its first exchange was, ms UTC, and its snapshots."""

    number: int
    began: int
    snapshots: tuple[Snapshot, ...]


@dataclass(slots=True)
class Summary:
    """What was replayed. ``unprobed`` counts commands that no probe reads, by name."""

    cycles: int = 0
    exchanges: int = 0
    replies: int = 0
    damaged: int = 0
    unprobed: dict[str, int] = field(default_factory=dict)


class Pace:
    """Waits until an exchange is due: as in life at speed 1, ``speed`` times as fast otherwise, not at all without one.

    ``clock`` gives seconds that only grow, ``sleep`` waits for some.
    """

    def __init__(self, speed: float | None, clock: Callable[[], float], sleep: Callable[[float], None]) -> None:
        self._speed = speed
        self._clock = clock
        self._sleep = sleep
        self._first: int | None = None
        self._began = 0.0

    def wait(self, at: int) -> None:
        """Wait until the moment ``at`` (ms) of the recording has come."""
        if self._speed is None:
            return
        if self._first is None:
            self._first = at
            self._began = self._clock()
            return
        due = self._began + (at - self._first) / 1000 / self._speed
        # Whatever came late is not waited for twice: the due time is counted from the beginning.
        rest = due - self._clock()
        if rest > 0:
            self._sleep(rest)


def replay(
    exchanges: Iterable[Exchange],
    interval_ms: int,
    collector: Collector,
    pace: Pace,
    take: Callable[[Cycle], None],
    summary: Summary,
) -> None:
    """Feed the exchanges, at their pace, and hand over each cycle that is over. ``summary`` is kept up to date meanwhile.

    An exchange out of order counts to the cycle that is under way.
    """
    first: int | None = None
    number, began = 1, 0
    for exchange in exchanges:
        if first is None:
            first = began = exchange.at
        due = 1 + (exchange.at - first) // interval_ms
        if due > number:
            _end(collector, number, began, take, summary)
            number, began = due, exchange.at
        pace.wait(exchange.at)
        collector.feed(exchange)
        summary.exchanges = collector.exchanges
        summary.replies = collector.replies
        summary.damaged = collector.damaged
        summary.unprobed = dict(collector.unprobed)
    if first is not None:
        _end(collector, number, began, take, summary)


def _end(collector: Collector, number: int, began: int, take: Callable[[Cycle], None], summary: Summary) -> None:
    take(Cycle(number, began, collector.end_cycle(number)))
    summary.cycles += 1
