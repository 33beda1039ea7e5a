"""What the samples of an hour came to: how many values, between which bounds, their sum, the last one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median_low
from typing import Final

from mqvitals_agent.store.rows.sealed.chunk import HourSamples
from mqvitals_agent.store.rows.sealed.codec import Cells, Number

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


def hour_of(samples: HourSamples, counters: frozenset[str], before: int | None = None) -> Mapping[str, MetricHour]:
    """By metric, the hour of every metric that has any value; ``counters`` are those whose values are increases.

    ``before`` is the time of the sample before the first, ms UTC, None: unknown. Each value of a gauge stands for the
    time since the sample before; where that is much longer than usual there was a gap, and it stands for a usual time.
    """
    held = _held(samples, before)
    found: dict[str, MetricHour] = {}
    for name, cells in samples.values.items():
        covered = _covered(samples, held) if name in counters else held
        hour = _of_metric(cells, covered, counter=name in counters)
        if hour is not None:
            found[name] = hour
    return found


def together(first: MetricHour, second: MetricHour) -> MetricHour:
    """Two spans of a metric, the earlier one first, as one."""
    return MetricHour(
        first.count + second.count,
        min(first.lowest, second.lowest),
        max(first.highest, second.highest),
        first.total + second.total,
        first.covered_ms + second.covered_ms,
        second.last,
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
    values = [value for value in cells if value is not None]
    if not values:
        return None
    if len(values) == len(cells):
        spans = covered
    else:
        spans = [ms for ms, value in zip(covered, cells, strict=True) if value is not None]
    total = sum(values) if counter else sum(value * ms for value, ms in zip(values, spans, strict=True))
    return MetricHour(len(values), min(values), max(values), total, sum(spans), values[-1])
