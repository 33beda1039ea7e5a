"""Figures of a buffer pool that take weeks: the lowest free share of a whole day, and how it falls from week to week."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta, tzinfo
from itertools import pairwise
from typing import Final

from mqvitals_agent.store.older import PastReader
from mqvitals_rules.history import ZoneOf
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.timestamps import HOUR_MS
from mqvitals_rules.vocabulary.metric import Absence, Reported

POOL: Final = "buffer_pool"
_LOWS: Final = ("free_pct", "low_pct")
"""Of polls, and of the intervals of records."""
DAY_LOW, DAY_LOW_FALL = "day_low_pct", "day_low_fall_pct"

DAYS: Final = 3
"""So many days are compared, a week apart: the load of a weekday is like that of the same weekday."""
LEAST_HOURS: Final = 12
"""Fewer hours with a value are no day."""
_AGES: Final = (1, 2)
"""How many days ago the newest of them is: it must be rolled up, or short enough to be read at once."""
_AT_ONCE: Final = 20_000
_SETTLED_MS: Final = 600_000


class PoolFigures:
    """Adds the figures to the readings of buffer pools. ``older`` has the hours; without it nothing is known.

    Days are those of the zone of the queue manager.
    """

    def __init__(self, older: PastReader | None, zone_of: ZoneOf) -> None:
        self._older = older
        self._zone_of = zone_of
        self._read_at: dict[str, int] = {}
        """By queue manager: the hour as of which the figures were read, counted from 1970."""
        self._figures: dict[ObjectName, tuple[float, float]] = {}

    def added(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with the figures of its pools. Raises StoreError."""
        found = [
            place
            for place, reading in enumerate(snapshot.readings)
            if reading.object.kind == POOL and reading.source is Source.POLL and reading.answered and not reading.gone
        ]
        if not found:
            return snapshot
        hour = (snapshot.ts - _SETTLED_MS) // HOUR_MS
        if self._older is not None and self._read_at.get(snapshot.owner) != hour:
            self._read(self._older, snapshot.owner, snapshot.ts)
            if not self._older.failing:
                self._read_at[snapshot.owner] = hour
        readings = list(snapshot.readings)
        for place in found:
            readings[place] = self._with(readings[place])
        return replace(snapshot, readings=tuple(readings))

    def shift(self) -> None:
        """The clock was corrected."""
        self._read_at.clear()

    def _with(self, reading: Reading) -> Reading:
        known = self._figures.get(reading.object)
        added: Mapping[str, Reported] = (
            dict.fromkeys((DAY_LOW, DAY_LOW_FALL), Absence.WINDOW)
            if known is None
            else dict(zip((DAY_LOW, DAY_LOW_FALL), known, strict=True))
        )
        return replace(reading, values={**reading.values, **added})

    def _read(self, older: PastReader, owner: str, now: int) -> None:
        found: dict[ObjectName, tuple[float, float]] = {}
        for age in _AGES:
            days = compared_days(now, age, self._zone_of(owner))
            lows: list[dict[ObjectName, dict[int, float]]] = []
            for hours in days:
                of_day: dict[ObjectName, dict[int, float]] = {}
                for metric in _LOWS:
                    for name, figures in older.hours_of_kind(POOL, metric, hours, _AT_ONCE).items():
                        if name.owner == owner:
                            of_pool = of_day.setdefault(name, {})
                            for hour, figure in figures.items():
                                of_pool[hour] = min(of_pool.get(hour, figure.lowest), figure.lowest)
                lows.append(of_day)
            for name in lows[0]:
                if name not in found:
                    hourly = [of_day.get(name, {}) for of_day in lows]
                    if all(len(each) >= LEAST_HOURS for each in hourly):
                        found[name] = fall_of([min(each.values()) for each in hourly])
        if not older.failing:
            self._figures = {name: each for name, each in self._figures.items() if name.owner != owner} | found


def compared_days(now: int, age: int, zone: tzinfo | None) -> Sequence[Sequence[int]]:
    """The hours, by their begin (ms UTC), of the day that was ``age`` days ago in ``zone``, and of the same weekday of the
    weeks before; the newest day first.
    """
    used = zone or UTC
    today = datetime.fromtimestamp(now / 1000, used).date()
    found = []
    for week in range(DAYS):
        day = today - timedelta(days=age + 7 * week)
        begin, end = (
            int(datetime.combine(each, time(), used).timestamp() * 1000) for each in (day, day + timedelta(days=1))
        )
        found.append(range(-(-begin // HOUR_MS) * HOUR_MS, end, HOUR_MS))
    return found


def fall_of(lows: Sequence[float]) -> tuple[float, float]:
    """The newest of the lowest values of days a week apart, the newest first, and by how much a day these fell.

    0 unless each day was lower than the one a week before: one heavy day is no trend.
    """
    falls = all(newer < older for newer, older in pairwise(lows))
    return lows[0], (lows[-1] - lows[0]) / (7 * (len(lows) - 1)) if falls else 0.0
