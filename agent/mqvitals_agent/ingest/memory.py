"""What windows and baselines keep in memory: records by object, and hours under way."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import repeat
from math import nan

from mqvitals_agent.ingest.stored_baselines import ComparedHours, FurtherHours, StoredBaselines
from mqvitals_agent.store.older import PastReader
from mqvitals_agent.store.rows.samples.hour_means import HourMean
from mqvitals_rules.history import WEEKS, Point, ZoneOf, middle, no_zone
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import HOUR_MS, WEEK_MS

BEGINNING = -(1 << 62)

UNKNOWN_INTERVAL = -1
_SPARE = 16


class Track:
    """Times, intervals (ms; ``UNKNOWN_INTERVAL``: unknown) and rows of ``width`` values, a value a metric, by time.

    The rows stand one after another in ``cells``: to add one is a single call. ``floor``: everything after it is here.
    """

    __slots__ = ("cells", "floor", "intervals", "ts", "width")

    def __init__(self, width: int, floor: int = BEGINNING) -> None:
        self.ts = array("q")
        self.intervals = array("q")
        self.cells = array("d")
        self.width = width
        self.floor = floor

    def drop(self, count: int) -> None:
        """Forget the oldest ``count``."""
        self.floor = self.ts[count - 1]
        del self.ts[:count]
        del self.intervals[:count]
        del self.cells[: count * self.width]


class RecordTrack(Track):
    """The newest records of one object. ``absent``: metrics that no record up to the floor has, as the store showed."""

    __slots__ = ("absent",)

    def __init__(self, width: int, floor: int = BEGINNING) -> None:
        super().__init__(width, floor)
        self.absent: set[str] = set()

    def put(self, ts: int, interval_ms: int | None, values: Sequence[float]) -> None:
        """Take in a record. ``values`` has a NaN for what it does not hold; a NaN replaces nothing.

        One that is too old for the memory changes nothing: it is in the store.
        """
        if ts <= self.floor:
            self.absent.clear()
            return
        place = bisect_left(self.ts, ts)
        begin = place * self.width
        if place == len(self.ts) or self.ts[place] != ts:
            self.ts.insert(place, ts)
            self.intervals.insert(place, UNKNOWN_INTERVAL)
            self.cells[begin:begin] = array("d", repeat(nan, self.width))
        if interval_ms is not None:
            self.intervals[place] = max(self.intervals[place], interval_ms)
        for column, value in enumerate(values):
            if value == value:
                self.cells[begin + column] = value

    def trim(self, now: int, span_ms: int, count: int) -> None:
        """Forget what is older than ``span_ms``, but keep ``count`` records and some more."""
        spare = len(self.ts) - count - _SPARE
        old = min(spare, bisect_right(self.ts, now - span_ms))
        if old > 0:
            self.drop(old)

    def clear(self) -> None:
        """Forget all."""
        if self.ts:
            self.drop(len(self.ts))

    def after(self, since: int, column: int) -> list[Point]:
        """The records that ended after ``since`` and hold the metric of a column, oldest first."""
        start = bisect_right(self.ts, since)
        return [
            Point(ts, value, None if interval == UNKNOWN_INTERVAL else interval)
            for ts, interval, value in zip(
                self.ts[start:],
                self.intervals[start:],
                self.cells[start * self.width + column :: self.width],
                strict=True,
            )
            if value == value
        ]

    def drop(self, count: int) -> None:
        """Forget the oldest ``count`` records."""
        super().drop(count)
        self.absent.clear()


_Sums = dict[tuple[str, str], dict[ObjectName, list[float]]]
"""Of an hour, by kind and metric: the sum of an object's values, or of the increases, and how many these are, or the ms in which they arose."""


class HourlyBaselines:
    """Knows the means of hours that are over, and the baseline: from the store, else from the values it is given.

    ``counters`` are the (kind, metric) that are reported as increases. Hours are those of an owner's zone. ``further`` is as
    for ``StoredBaselines``.
    """

    def __init__(
        self,
        counters: frozenset[tuple[str, str]],
        older: PastReader | None,
        zone_of: ZoneOf = no_zone,
        further: FurtherHours | None = None,
    ) -> None:
        self._compared = ComparedHours(zone_of)
        self._counters = counters
        self._older = older
        self._hours: dict[int, _Sums] = {}
        self._newest = 0
        self._over: dict[tuple[str, str], dict[ObjectName, dict[int, HourMean]]] = {}
        self._stored = None if older is None else StoredBaselines(older, self._compared, further)

    def note(self, name: ObjectName, metric: str, ts: int, interval_ms: int | None, value: float) -> None:
        """Take in a value, or an increase over ``interval_ms``, that was reported at ``ts``. A store has it already."""
        if self._older is not None:
            return
        of = name.kind, metric
        counter = of in self._counters
        weight = interval_ms if counter else 1
        if not weight or weight < 0:
            return
        # A value that is reported when an hour ends is about that hour.
        hour = ts - 1 - (ts - 1) % HOUR_MS
        if hour > self._newest:
            self._newest = hour
        by_metric = self._hours.get(hour)
        if by_metric is None:
            by_metric = self._hours[hour] = {}
        by_object = by_metric.get(of)
        if by_object is None:
            by_object = by_metric[of] = {}
        sums = by_object.get(name)
        if sums is None:
            sums = by_object[name] = [0.0, 0]
        sums[0] += 1000 * value if counter else value
        sums[1] += weight

    def shift(self, by_ms: int) -> None:
        """The clock was corrected by so much: hours that lie ahead of it now were dated by the wrong clock,
        and never end.
        """
        if by_ms >= 0:
            return
        latest = max(self._newest + HOUR_MS + by_ms - 1, 0)
        self._newest = min(self._newest, latest - latest % HOUR_MS)
        for hour in [hour for hour in self._hours if hour > latest]:
            del self._hours[hour]

    def _finish(self) -> None:
        """Make means of the hours that are over."""
        for hour in [hour for hour in self._hours if hour < self._newest]:
            for (_, metric), by_object in self._hours.pop(hour).items():
                for name, (total, weight) in by_object.items():
                    mean = total / weight
                    if mean - mean == 0:  # no infinity, which no database keeps
                        self._keep(HourMean(name, metric, hour, mean, int(weight)))

    def baseline(self, name: ObjectName, metric: str, now: int) -> float | None:
        """What a metric usually is at the weekday and hour of ``now``; None with too few hours. Raises StoreError."""
        if self._stored is not None:
            return middle(self._stored.means(name, metric, now))
        self._newest = max(self._newest, now - now % HOUR_MS)
        self._finish()
        known = self._over.get((name.kind, metric), {}).get(name, {})
        return middle(known[hour].mean for hour in self._compared.of(name.owner, now) if hour in known)

    def hours(self, kind: str, metric: str, begun: Sequence[int]) -> Sequence[HourMean]:
        """The means of hours of all objects of a kind, by their beginnings (ms UTC). Raises StoreError."""
        if self._older is not None:
            return self._older.hours(kind, metric, begun)
        self._finish()
        wanted = frozenset(begun)
        known = self._over.get((kind, metric), {}).values()
        return [each for of_object in known for hour, each in of_object.items() if hour in wanted]

    def _keep(self, mean: HourMean) -> None:
        of_object = self._over.setdefault((mean.object.kind, mean.metric), {}).setdefault(mean.object, {})
        before = of_object.get(mean.hour)
        if before is not None:
            weight = before.weight + mean.weight
            mean = mean._replace(mean=(before.mean * before.weight + mean.mean * mean.weight) / weight, weight=weight)
        of_object[mean.hour] = mean
        for hour in [hour for hour in of_object if hour < self._newest - (WEEKS + 1) * WEEK_MS]:
            del of_object[hour]
