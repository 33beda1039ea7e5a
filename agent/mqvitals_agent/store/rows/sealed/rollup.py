"""What the samples of an hour came to: how many values, between which bounds, their sum, the last one.

A sample is about the time before it: one that is taken when an hour ends is of that hour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise
from operator import mul
from statistics import median_low
from typing import Final, cast

from mqvitals_agent.store.rows.sealed.chunk import HourSamples
from mqvitals_agent.store.rows.sealed.codec import Cells, Number, SparseCells
from mqvitals_rules.timestamps import HOUR_MS

LONGEST_HOLD: Final = 2.5
"""A value holds for at most so many usual distances of polls: beyond is a gap, of which nothing is known."""


@dataclass(frozen=True, slots=True)
class MetricHour:
    """A metric of an object over an hour, or over hours together.

    ``total`` is the increase of a counter; of others the sum of each value times the ms for which it held. ``covered_ms``
    are the ms for which any value held, or in which the increase arose: gaps count nowhere. ``last`` is the newest value.
    """

    count: int
    lowest: Number
    highest: Number
    total: Number
    covered_ms: int
    last: Number

    @property
    def mean(self) -> float | None:
        """Of a gauge its mean over the time that is covered; of a counter its increase a ms. None: nothing is covered."""
        return self.total / self.covered_ms if self.covered_ms else None


def figured_hour(ts: int) -> int:
    """The hour that a sample of ``ts`` (ms UTC) is of, counted from 1970 UTC."""
    return (ts - 1) // HOUR_MS


def figures(
    samples: HourSamples, earlier: HourSamples | None, counters: frozenset[str], *, records: bool
) -> Mapping[str, MetricHour]:
    """``hour_of`` an hour as readers see its samples; ``earlier`` are those of the hour before, None: there are none.

    A poll in which only other probes answered is a sample of what these reported alone; of ``records`` each is one of
    what it holds alone.
    """
    if not records and all(samples.polled) and (earlier is None or all(earlier.polled)):
        return hour_of(samples, counters, earlier.ts[-1] if earlier is not None and earlier.ts else None)
    found: dict[str, MetricHour] = {}
    for name, cells in samples.values.items():
        kept = _kept(samples, cells, records=records)
        ts, intervals = list(compress(samples.ts, kept)), list(compress(samples.intervals, kept))
        own = HourSamples(ts, intervals, [1] * len(ts), {name: list(compress(cells, kept))})
        before = None
        if earlier is not None:
            absent: Cells = [None] * len(earlier.ts)
            last = _kept(earlier, earlier.values.get(name, absent), records=records)
            before = next((ts for ts, there in zip(reversed(earlier.ts), reversed(last), strict=True) if there), None)
        found.update(hour_of(own, counters, before, records=records))
    return found


def _kept(samples: HourSamples, cells: Cells, *, records: bool) -> Sequence[bool]:
    polled = zip(samples.polled, cells, strict=True)
    return [value is not None or (bool(own) and not records) for own, value in polled]


def hour_of(
    samples: HourSamples, counters: frozenset[str], before: int | None = None, *, records: bool = False
) -> Mapping[str, MetricHour]:
    """By metric, the hour of every metric that has any value; ``counters`` are those whose values are increases.

    ``before`` is the time of the sample before the first, ms UTC, None: unknown. Each value of a gauge stands for the
    time since the sample before; where that is much longer than usual there was a gap, and it stands for a usual time.
    Each value of ``records`` stands for the record's own interval.
    """
    held = _held(samples, before)
    intervals = _covered(samples, held)
    if records:
        held = intervals
    found: dict[str, MetricHour] = {}
    for name, cells in samples.values.items():
        covered = intervals if name in counters else held
        hour = _of_metric(cells, covered, counter=name in counters)
        if hour is not None:
            found[name] = hour
    return found


def together(spans: Sequence[MetricHour]) -> MetricHour:
    """Spans of a metric that follow each other, the earliest first, as one. Raises ValueError without any."""
    return MetricHour(
        sum([each.count for each in spans]),
        min([each.lowest for each in spans]),
        max([each.highest for each in spans]),
        sum([each.total for each in spans]),
        sum([each.covered_ms for each in spans]),
        spans[-1].last,
    )


def _held(samples: HourSamples, before: int | None) -> Sequence[int]:
    """For how long each sample holds, ms."""
    ts = samples.ts
    steps = [later - earlier for earlier, later in pairwise(ts)]
    usual = median_low(steps) if steps else next((each for each in samples.intervals if each), 0)
    first = usual if before is None else ts[0] - before if ts else 0
    longest = usual * LONGEST_HOLD
    return [step if step <= longest else usual for step in (first, *steps)] if ts else []


def _covered(samples: HourSamples, held: Sequence[int]) -> Sequence[int]:
    return [hold if ms is None else ms for ms, hold in zip(samples.intervals, held, strict=True)]


def _of_metric(cells: Cells, covered: Sequence[int], *, counter: bool) -> MetricHour | None:
    values: Sequence[Number]
    spans: Sequence[int]
    if type(cells) is SparseCells:
        values, spans = cells.present, [covered[place] for place in cells.places]
    elif cells.count(None):
        there = [(value, ms) for value, ms in zip(cells, covered, strict=True) if value is not None]
        values, spans = [value for value, _ in there], [ms for _, ms in there]
    else:
        values, spans = cast("Sequence[Number]", cells), covered
    if not values:
        return None
    lowest, highest, covered_ms = min(values), max(values), sum(spans)
    if counter:
        total = sum(values)
    elif lowest == highest and type(lowest) is int:
        total = lowest * covered_ms
    else:
        total = sum(map(mul, values, spans))
    return MetricHour(len(values), lowest, highest, total, covered_ms, values[-1])
