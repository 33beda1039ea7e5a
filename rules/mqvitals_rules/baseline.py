"""What a metric usually is: at the same hour (UTC) of the same weekday of the weeks before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import median

from mqvitals_rules.windows import Point

HOUR_MS = 3_600_000
WEEK_MS = 7 * 24 * HOUR_MS

WEEKS = 8
"""So far back it looks."""

LEAST_HOURS = 3
"""Fewer hours tell nothing of what is usual."""


def hours(now: int) -> tuple[int, ...]:
    """When the hours began (ms UTC) that are compared with the hour of ``now``, the newest first."""
    begin = now - now % HOUR_MS
    return tuple(begin - week * WEEK_MS for week in range(1, WEEKS + 1))


def mean(points: Sequence[Point], *, counter: bool) -> float | None:
    """The mean of an hour's values; of a counter the increase a second. None when there is none."""
    known = [(point.value, point.interval_ms) for point in points if point.value is not None]
    if not counter:
        return _number(sum(value for value, _ in known) / len(known)) if known else None
    timed = [(value, interval) for value, interval in known if interval]
    duration_ms = sum(interval for _, interval in timed)
    return _number(1000 * sum(value for value, _ in timed) / duration_ms) if duration_ms else None


def middle(means: Iterable[float | None]) -> float | None:
    """The median of the hours that are known; None when they are too few."""
    known = [each for each in means if each is not None]
    return _number(median(known)) if len(known) >= LEAST_HOURS else None


def usual(of_hour: Callable[[int, int], Sequence[Point]], now: int, *, counter: bool) -> float | None:
    """The baseline as of ``now``. ``of_hour`` gives the points with a time after its first and up to its second argument."""
    return middle(mean(of_hour(begin, begin + HOUR_MS), counter=counter) for begin in hours(now))


def _number(value: float) -> float | None:
    return value if value == value else None
