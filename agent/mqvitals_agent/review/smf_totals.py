"""Totals of every object over the period of a health check: sums, extremes and means of its samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from heapq import heappush, heappushpop
from typing import Final, NamedTuple

from mqvitals_agent.text.chart import TimeRange
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Absence, Reported


def number(values: Mapping[str, Reported], metric: str) -> float | None:
    """The value of a metric if it is a number; None: absent."""
    value = values.get(metric)
    return None if value is None or isinstance(value, str | Absence) else value


@dataclass(slots=True)
class ObjectTotals:
    """The totals of one object; ``length_ms`` adds up the known lengths of its intervals.

    A total is None, not zero, where no record reports it.
    """

    length_ms: int = 0
    _sums: dict[str, float] = field(default_factory=dict)
    _high: dict[str, tuple[float, int]] = field(default_factory=dict)
    _low: dict[str, tuple[float, int]] = field(default_factory=dict)
    _last: dict[str, Reported] = field(default_factory=dict)
    _means: dict[str, tuple[float, float]] = field(default_factory=dict)

    def add(self, values: Mapping[str, Reported], *metrics: str) -> None:
        """Add counters."""
        for metric in metrics:
            value = number(values, metric)
            if value is not None:
                self._sums[metric] = self._sums.get(metric, 0) + value

    def extremes(self, values: Mapping[str, Reported], ts: int, *metrics: str) -> None:
        """Compare gauges; of equal ones the first counts."""
        for metric in metrics:
            value = number(values, metric)
            if value is None:
                continue
            if metric not in self._high or value > self._high[metric][0]:
                self._high[metric] = value, ts
            if metric not in self._low or value < self._low[metric][0]:
                self._low[metric] = value, ts

    def keep(self, values: Mapping[str, Reported], *metrics: str) -> None:
        """Keep the last values."""
        for metric in metrics:
            value = values.get(metric)
            if value is not None and not isinstance(value, Absence):
                self._last[metric] = value

    def weigh(self, values: Mapping[str, Reported], metric: str, weight: float | None) -> None:
        """Add a gauge to its weighted mean."""
        value = number(values, metric)
        if value is not None and weight:
            total, weights = self._means.get(metric, (0.0, 0.0))
            self._means[metric] = total + value * weight, weights + weight

    def sum(self, *metrics: str) -> float | None:
        """The sum of the counters that were reported; None: none was."""
        known = [self._sums[metric] for metric in metrics if metric in self._sums]
        return sum(known) if known else None

    def highest(self, metric: str) -> tuple[float, int] | None:
        """The highest value and the end of its interval, ms UTC."""
        return self._high.get(metric)

    def lowest(self, metric: str) -> tuple[float, int] | None:
        """The lowest value and the end of its interval, ms UTC."""
        return self._low.get(metric)

    def last(self, metric: str) -> Reported | None:
        """The last value."""
        return self._last.get(metric)

    def last_number(self, metric: str) -> float | None:
        """The last value, if it is a number."""
        return number(self._last, metric)

    def mean(self, metric: str) -> float | None:
        """The weighted mean."""
        found = self._means.get(metric)
        return found[0] / found[1] if found and found[1] else None

    def share_of_time(self, metric: str) -> float | None:
        """A counter of microseconds as a percentage of all intervals."""
        value = self.sum(metric)
        return None if value is None or not self.length_ms else value / self.length_ms / 10

    def per_second(self, metric: str) -> float | None:
        """A counter per second of all intervals."""
        value = self.sum(metric)
        return None if value is None or not self.length_ms else value * 1000 / self.length_ms

    def each(self, metric: str, by: str) -> float | None:
        """A counter divided by another."""
        one, other = self.sum(metric), self.sum(by)
        return None if one is None or not other else one / other


CELLS: Final = 14
"""The number of points in the chart of a pool's free buffers."""
MOST_INTERVALS: Final = 12
"""The number of intervals of pools that are listed."""
_STRESS_PCT: Final = 20
"""Free buffers at or below which an interval is listed: the documents' limit for pools of short-lived messages."""
BLOCK_MB: Final = 4096 / (1 << 20)
VERBS: Final = ("open", "close", "get", "put", "put1", "inq", "set")


class _TotalMetrics(NamedTuple):
    """The metrics of a kind that are counters, of which the extremes count, and of which the last value counts."""

    sums: tuple[str, ...] = ()
    extremes: tuple[str, ...] = ()
    last: tuple[str, ...] = ()


_TASK: Final = _TotalMetrics(("requests", "cpu_us", "elapsed_us"), ("busy_pct",))
_METRICS: Final[Mapping[str, _TotalMetrics]] = {
    "buffer_pool": _TotalMetrics(("dwt", "dmc", "sos", "imw", "rio"), ("low_pct",), ("total",)),
    "page_set": _TotalMetrics(
        ("full_count", "imm_writes", "expand_count"), ("used_pct",), ("total_pages", "used_pct", "buffer_pool")
    ),
    "log": _TotalMetrics(
        (
            *("ci_writes", "checkpoints", "suspends", "wtb", "pagein", "thrsh", "serial_writes", "reads_archive"),
            *("io_count_copy1", "io_count_copy2", "io_time_us_copy1", "io_time_us_copy2"),
        ),
        ("write_mb_s", "io_max_us_copy1", "io_max_us_copy2"),
    ),
    "channel_initiator": _TotalMetrics(
        extremes=("current", "active", "storage31_kb"), last=("current_max", "active_max")
    ),
    "adapter": _TASK,
    "dispatcher": _TASK,
    "ssl_task": _TASK,
    "dns_task": _TASK,
    "channel": _TotalMetrics(
        ("interval_msgs", "interval_batches", "full_batches"), ("nettime_min_us", "nettime_max_us"), ("batchsz",)
    ),
    "cf_structure": _TotalMetrics(("full_count", "redrives"), ("avg_call_us", "peak_entries")),
    "application": _TotalMetrics(("cpu_us", *(f"{verb}_{part}" for verb in VERBS for part in ("n", "et_us", "ct_us")))),
}


class PoolInterval(NamedTuple):
    """A buffer pool in one interval, in an order in which the worst is the greatest; so the lowest free share and the
    end of the interval (ms UTC) are negative.
    """

    sos: float
    dmc: float
    dwt: float
    negative_free_pct: float
    negative_ts: int
    name: ObjectName


class PeriodTotals:
    """The totals of all objects. ``span`` (ms UTC) is the period of all records."""

    def __init__(self, span: TimeRange) -> None:
        self._span = span
        self._sums: dict[str, dict[str, dict[ObjectName, ObjectTotals]]] = {}
        self._courses: dict[ObjectName, dict[int, float]] = {}
        self._worst: dict[str, list[PoolInterval]] = {}

    def take(self, snapshot: Snapshot) -> None:
        """Add the samples of a snapshot."""
        for reading in snapshot.readings:
            name = reading.object
            sums = self._sums.setdefault(name.owner, {}).setdefault(name.kind, {}).setdefault(name, ObjectTotals())
            sums.length_ms += reading.interval_ms or 0
            self._enter(name, sums, reading)

    def owners(self) -> tuple[str, ...]:
        """Queue managers and groups with samples."""
        return tuple(sorted(self._sums))

    def of(self, owner: str, kind: str) -> Mapping[ObjectName, ObjectTotals]:
        """The objects of a kind; numbers in numerical order."""
        found = self._sums.get(owner, {}).get(kind, {})
        return {name: found[name] for name in sorted(found, key=_order)}

    def course(self, pool: ObjectName) -> list[tuple[int, float | None]]:
        """The lowest free share of a pool at ``CELLS`` points of the period; None: not reported."""
        course, length = self._courses.get(pool, {}), self._length
        return [(self._span.since + (2 * cell + 1) * length // (2 * CELLS), course.get(cell)) for cell in range(CELLS)]

    @property
    def _length(self) -> int:
        return max(self._span.until - self._span.since, 1)

    def worst(self, owner: str) -> list[PoolInterval]:
        """The intervals in which buffer pools were under stress, the worst first, at most ``MOST_INTERVALS``."""
        return sorted(self._worst.get(owner, ()), reverse=True)

    def _enter(self, name: ObjectName, sums: ObjectTotals, reading: Reading) -> None:
        values, ts = reading.values, reading.ts
        metrics = _METRICS.get(name.kind)
        if metrics is None:
            return
        sums.add(values, *metrics.sums)
        sums.extremes(values, ts, *metrics.extremes)
        sums.keep(values, *metrics.last)
        if name.kind == "buffer_pool":
            self._put_course(name, reading)
            self._put_worst(name, reading)
        elif name.kind == "log":
            both = number(values, "ci_writes")
            if both is not None and reading.interval_ms:
                sums.extremes({"mb_s": both * BLOCK_MB * 1000 / reading.interval_ms}, ts, "mb_s")
            sums.weigh(values, "write_mb_s", reading.interval_ms)
        elif name.kind == "channel":
            # An interval without messages has the weight of one: there was a round trip.
            sums.weigh(values, "nettime_avg_us", number(values, "interval_msgs") or 1)

    def _put_course(self, name: ObjectName, reading: Reading) -> None:
        """A record counts for all points that its interval touches."""
        value = number(reading.values, "low_pct")
        if value is None:
            return
        course = self._courses.setdefault(name, {})
        ends = reading.ts - 1
        first, last = self._cell(ends - (reading.interval_ms or 1) + 1), self._cell(ends)
        for cell in range(first, last + 1):
            course[cell] = min(value, course.get(cell, value))

    def _put_worst(self, name: ObjectName, reading: Reading) -> None:
        low, *counts = (number(reading.values, metric) for metric in ("low_pct", "sos", "dmc", "dwt"))
        if low is None or (not any(counts) and low > _STRESS_PCT):
            return
        sos, dmc, dwt = (each or 0 for each in counts)
        found = PoolInterval(sos, dmc, dwt, -low, -reading.ts, name)
        worst = self._worst.setdefault(name.owner, [])
        if len(worst) < MOST_INTERVALS:
            heappush(worst, found)
        else:
            heappushpop(worst, found)

    def _cell(self, ts: int) -> int:
        return min(max((ts - self._span.since) * CELLS // self._length, 0), CELLS - 1)


def _order(name: ObjectName) -> tuple[int, str]:
    return (
        (int(name.name), "")
        if name.name.isascii() and name.name.isdigit() and len(name.name) < 10
        else (1 << 40, name.name)
    )
