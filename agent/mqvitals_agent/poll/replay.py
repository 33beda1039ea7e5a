"""Replay: a recording drives the collector, exchange by exchange, and each cycle's snapshots go where they are wanted.

A recording's cycle is the number of its interval: 1 + floor((``at`` - first ``at``) / interval). A cycle is over as
soon as the next exchange belongs to a later one, so its snapshots are there before the wait for that exchange begins.

Time never runs back. Lines stand in the order of ``at``; one that is dated earlier than a line before it counts to
the cycle that is under way, and to the moment when that began if it lies before it, so that every snapshot is later
than the one before. A jump far ahead is noted, and no pause is waited for longer than an interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from mqvitals_agent.connection.connection import OF_QUEUES, Exchange
from mqvitals_agent.poll.collector import Collector
from mqvitals_rules.snapshot import Snapshot

DEFAULT_INTERVAL_MS = 30_000
"""For a recording without an interval in its header."""

_GAP_MS = 3_600_000
_GAP_INTERVALS = 100
_GAPS_KEPT = 20
_LONGEST_SLEEP_S = 1e9  # the operating system refuses much longer ones, which a speed near 0 would ask for


@dataclass(frozen=True, slots=True)
class ReplayCycle:
    """One cycle of the recording: its number, when its first exchange was, ms UTC, and its snapshots."""

    number: int
    began: int
    snapshots: tuple[Snapshot, ...]


class TimeJump(NamedTuple):
    """A jump of more than an hour and a hundred intervals: the line after it, the times before and after, ms UTC."""

    line: int
    before: int
    at: int


@dataclass(slots=True)
class ReplaySummary:
    """What was replayed. ``unprobed`` counts commands that no probe reads, by name.

    ``disordered`` counts the exchanges dated earlier than one before them, ``first_disordered`` is the line of the
    first. ``gap_count`` counts the jumps ahead, ``gaps`` holds the first of them. ``without_replies`` counts the
    commands with neither replies nor an error, ``first_without_replies`` is the line of the first.
    """

    cycles: int = 0
    exchanges: int = 0
    replies: int = 0
    damaged: int = 0
    unprobed: Mapping[str, int] = field(default_factory=dict)
    disordered: int = 0
    first_disordered: int = 0
    gap_count: int = 0
    gaps: list[TimeJump] = field(default_factory=list)
    without_replies: int = 0
    first_without_replies: int = 0


class ReplayPace:
    """Waits until an exchange is due: in real time at speed 1, ``speed`` times as fast otherwise, not at all without one.

    ``clock`` gives seconds that only grow, ``sleep`` waits for some.
    """

    def __init__(self, speed: float | None, clock: Callable[[], float], sleep: Callable[[float], None]) -> None:
        self._speed = speed
        self._clock = clock
        self._sleep = sleep
        self._last: int | None = None
        self._due = 0.0

    def wait(self, at: int, longest_ms: int) -> None:
        """Wait until the moment ``at`` (ms) of the recording has come.

        Of the time since the moment waited for before, what is longer than ``longest_ms`` is skipped.
        """
        if self._speed is None:
            return
        if self._last is None:
            self._last = at
            self._due = self._clock()
            return
        if at <= self._last:
            return
        # Whatever came late is not waited for twice: the due time is counted on from the one before, not from now.
        self._due += min(at - self._last, longest_ms) / 1000 / self._speed
        self._last = at
        rest = self._due - self._clock()
        if rest > 0:
            self._sleep(min(rest, _LONGEST_SLEEP_S))


def replay(
    exchanges: Iterable[Exchange],
    interval_ms: int,
    collector: Collector,
    pace: ReplayPace,
    take: Callable[[ReplayCycle], None],
    summary: ReplaySummary,
    created: int | None = None,
) -> None:
    """Feed the exchanges, at their pace, and hand over each cycle that is over. ``summary`` is kept up to date meanwhile.

    Cycles are counted from the first exchange; or from ``created``, when recording began, where that is less than an
    interval before it: the recorder's own cycles began there.
    """
    first: int | None = None
    summary.unprobed = collector.unprobed
    number, began, latest = 1, 0, 0
    for exchange in exchanges:
        if first is None:
            first = began = latest = exchange.at
            if created is not None and 0 <= exchange.at - created < interval_ms:
                first = created
        _note_time(exchange, latest, interval_ms, summary)
        if not (exchange.replies or exchange.error or exchange.command in OF_QUEUES):
            summary.without_replies += 1
            summary.first_without_replies = summary.first_without_replies or exchange.line
        latest = max(latest, exchange.at)
        due = 1 + (exchange.at - first) // interval_ms
        if due > number:
            _end(collector, number, began, take, summary)
            number, began = due, exchange.at
        pace.wait(exchange.at, interval_ms)
        collector.feed(exchange if exchange.at >= began else replace(exchange, at=began))
        summary.exchanges = collector.exchanges
        summary.replies = collector.replies
        summary.damaged = collector.damaged
    if first is not None:
        _end(collector, number, began, take, summary)


def _note_time(exchange: Exchange, latest: int, interval_ms: int, summary: ReplaySummary) -> None:
    """Note an exchange that is dated earlier than the ``latest`` before it, or much later."""
    if exchange.at < latest:
        summary.disordered += 1
        summary.first_disordered = summary.first_disordered or exchange.line
    elif exchange.at - latest > max(_GAP_MS, _GAP_INTERVALS * interval_ms):
        summary.gap_count += 1
        if len(summary.gaps) < _GAPS_KEPT:
            summary.gaps.append(TimeJump(exchange.line, latest, exchange.at))


def _end(
    collector: Collector, number: int, began: int, take: Callable[[ReplayCycle], None], summary: ReplaySummary
) -> None:
    take(ReplayCycle(number, began, collector.end_cycle(number)))
    summary.cycles += 1
