"""What a metric's recent past says: pure functions over its polls, oldest first. None is unknown.

Counters come as the increase of each interval, gauges as they were at each poll; an absent value is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan
from operator import mul

from mqvitals_rules.history import UNKNOWN_MS, Point, Polls

LEAST_COVERAGE = 0.8
"""The share of a window that data must cover for its average, least and greatest value to mean anything."""

LEAST_POINTS = 5
"""Fewer values make no trend."""


def rate(points: Sequence[Point]) -> float | None:
    """Increase a second: the increases over the time in which they arose. Increases of unknown duration do not count."""
    if points.__class__ is Polls and points.intervals and min(points.intervals) >= 0:
        total = sum(points.values)
        if total == total:
            duration_ms = sum(points.intervals)
            return _number(total * 1000 / duration_ms) if duration_ms > 0 else None
    increase: float = 0
    duration_ms = 0
    if points.__class__ is Polls and points.intervals is not None:
        for value, gap in zip(points.values, points.intervals, strict=True):
            if value == value and 0 <= gap < UNKNOWN_MS:
                increase += value
                duration_ms += gap
        return _number(increase * 1000 / duration_ms) if duration_ms > 0 else None
    for point in points:
        if point.value is not None and point.interval_ms is not None:
            increase += point.value
            duration_ms += point.interval_ms
    return _number(increase * 1000 / duration_ms) if duration_ms > 0 else None


def delta(points: Sequence[Point]) -> float | None:
    """The sum of the increases; None when there is none at all."""
    if points.__class__ is Polls and points.values:
        total = sum(points.values)
        if total == total:
            return total
        known = points.known
        return _number(sum(known)) if known else None
    increases = [point.value for point in points if point.value is not None]
    return _number(sum(increases)) if increases else None


def average(points: Sequence[Point], since: int, window_ms: int) -> float | None:
    """The mean of the values of a window that began at ``since``; None when it is not covered."""
    values = _covering(points, since, window_ms)
    return _number(sum(values) / len(values)) if values else None


def median(points: Sequence[Point], since: int, window_ms: int) -> float | None:
    """The middle one of the values of a window that began at ``since``; None when it is not covered."""
    values = _covering(points, since, window_ms)
    return middle(values) if values else None


def middle(values: Sequence[float]) -> float | None:
    """The middle one of some values in their order; of an even number of values the mean of the two in the middle."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else _number((ordered[half - 1] + ordered[half]) / 2)


def last_change(points: Sequence[Point]) -> int:
    """When a value was first what it is now; 0 when all values are the same, or there is none."""
    if points.__class__ is Polls and len(set(points.known)) < 2:
        return 0
    changed = 0
    before: float | None = None
    for point in points:
        if point.value is None:
            continue
        if before is not None and point.value != before:
            changed = point.ts
        before = point.value
    return changed


def least(points: Sequence[Point], since: int, window_ms: int) -> float | None:
    """The smallest value of a window that began at ``since``; None when it is not covered."""
    values = _covering(points, since, window_ms)
    return min(values) if values else None


def greatest(points: Sequence[Point], since: int, window_ms: int) -> float | None:
    """The greatest value of a window that began at ``since``; None when it is not covered."""
    values = _covering(points, since, window_ms)
    return max(values) if values else None


def eta(points: Sequence[Point], limit: float, now: int) -> float | None:
    """Seconds from ``now`` until the straight line through the values reaches ``limit``.

    Infinite when the line is flat or leads away from it. 0 when the line crossed the limit since the first of the
    values. None with fewer than ``LEAST_POINTS`` values.
    """
    times: Sequence[int]
    values: Sequence[float]
    if points.__class__ is Polls:
        times, values = points.ts, points.values
        if not points.whole:
            times = [ts for ts, value in zip(times, values, strict=True) if value == value]
            values = points.known
    else:
        times = [point.ts for point in points if point.value is not None]
        values = [point.value for point in points if point.value is not None]
    count = len(values)
    if count < LEAST_POINTS:
        return None
    base = values[0]
    if times[0] < times[-1] and values.count(base) == count:
        return 0.0 if limit == base else inf
    seconds = [(ts - now) / 1000 for ts in times]
    # Measured from the middle of times and values: the sums stay small, and a constant series has exactly no slope.
    middle = sum(seconds) / count
    mean = sum([value - base for value in values]) / count
    aside = [second - middle for second in seconds]
    spread: float = sum(map(mul, aside, aside))
    slope: float = sum(map(mul, aside, [value - base - mean for value in values]))
    if spread <= 0 or slope != slope:
        return None
    slope /= spread
    ahead = limit - base - mean
    if slope == 0:
        return 0.0 if ahead == 0 else inf
    crossing = middle + ahead / slope
    if crossing != crossing:
        return None
    if crossing >= 0:
        return crossing
    return 0.0 if crossing >= seconds[0] else inf


def rising(points: Sequence[Point], rises: int) -> bool | None:
    """Whether each of the last ``rises`` polls was above the one before it; ``points`` are the newest ``rises`` + 1.

    None when a poll is missing or its value absent, unless those present show already that it did not rise.
    """
    values: Sequence[float]
    if points.__class__ is Polls:
        values = points.values
        # The newest first: what does not rise mostly shows it there. Nothing is above or below an absent value.
        if len(values) > 1 and values[-1] <= values[-2]:
            return False
    else:
        values = [point.value for point in points if point.value is not None]
    before = nan
    known = 0
    for value in values:
        if value <= before:
            return False
        if value == value:
            before = value
            known += 1
    return True if known > rises else None


def _covering(points: Sequence[Point], since: int, window_ms: int) -> Sequence[float]:
    if points.__class__ is Polls and points.intervals is None:
        known = points.known
        if not known:
            return []
        if len(known) == len(points):
            return known if points.covered_ms(since) >= LEAST_COVERAGE * window_ms else []
    values = []
    covered = 0
    if points.__class__ is Polls:
        for ts, value, gap in zip(points.ts, points.values, points.gaps, strict=True):
            if value == value:
                values.append(value)
                if 0 <= gap < UNKNOWN_MS:
                    covered += min(gap, ts - since)
        return values if covered >= LEAST_COVERAGE * window_ms else []
    for point in points:
        if point.value is None:
            continue
        values.append(point.value)
        if point.interval_ms is not None:
            # The interval of the first point reaches back to before the window.
            covered += min(point.interval_ms, point.ts - since)
    return values if covered >= LEAST_COVERAGE * window_ms else []


def _number(value: float) -> float | None:
    return value if value == value else None
