"""When a figure reaches a limit: by its daily or weekly course and its growth from day to day, with a range.

Two whole days are the least from which growth can be told from the course of a day, two weeks that from which it can be
told from the course of a week. With less, and where a figure leaves its course, the line of the last hour decides
(``forecast``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from itertools import pairwise
from statistics import fmean
from typing import Final, NamedTuple

from mqvitals_agent.text.figure import age
from mqvitals_agent.view.figures.forecast import BASIS_MS, LineForecast, line_forecast
from mqvitals_rules.timestamps import HOUR_MS

DAY_HOURS, WEEK_HOURS = 24, 168
LONGEST_MS: Final = 28 * DAY_HOURS * HOUR_MS
"""The past that a forecast looks at."""

_REPEATED: Final = 0.75
"""The share of the hours of a day (week) that must be known of two days (weeks) for there to be a course."""
_LEAST_RATIO: Final = 5.0
"""How many times its own uncertainty the growth must be."""
_LEAST_RISING: Final = 0.7
"""The share of hours that must be higher than on the day before."""
_STILL: Final = 0.25
"""Growth has stopped where the last day brought less than this share of it."""
_WIDTH: Final = 2.0
"""The range of a forecast: so many standard deviations to both sides."""
_LEAVES: Final = 4.0
"""A value that is so many standard deviations above its course has left it."""
_AHEAD: Final = 3
"""A time is told up to so many times the past that it rests on."""


class LimitForecast(NamedTuple):
    """When a limit is reached (ms UTC), not before ``earliest`` and not after ``latest`` (None: that is too far to say),
    and by what; or None with the reason why there is no forecast.
    """

    at: int | None
    earliest: int | None = None
    latest: int | None = None
    by: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Course:
    """The usual values of the hours of a day or a week, and the growth from one to the next.

    ``means`` are (hour, value) by the hour of the period, each the mean of ``counts`` hours; hours are counted since 1970
    UTC. ``slope`` is the growth an hour, ``doubt`` its standard deviation, ``spread`` that of an hour's value. ``hours``
    is how much of the past it rests on.
    """

    period: int
    means: Mapping[int, tuple[float, float]]
    counts: Mapping[int, int]
    slope: float
    doubt: float
    spread: float
    hours: int
    key: Callable[[int], int]

    def at(self, hour: int) -> tuple[float, float] | None:
        """The value that is to be expected in an hour, and its standard deviation; None for one never seen."""
        place = self.key(hour)
        if place not in self.means:
            return None
        middle, value = self.means[place]
        doubt = self.spread**2 * (1 + 1 / self.counts[place]) + (self.doubt * (hour - middle)) ** 2
        return value + self.slope * (hour - middle), math.sqrt(doubt)


def forecast(
    hourly: Sequence[tuple[int, float | None]],
    recent: Iterable[tuple[int, float | None]],
    now: int,
    limit: float,
    zone: tzinfo,
    *,
    falls: bool = False,
) -> LimitForecast:
    """When a figure reaches ``limit``, as of ``now`` (ms UTC); with ``falls`` from above.

    ``hourly`` are the means of the hours of the past (when each began, ms UTC), ``recent`` the points of the last hour at
    least, both oldest first. The hours of a day are those of ``zone``.
    """
    sign = -1.0 if falls else 1.0
    last_hour = [(ts, None if value is None else sign * value) for ts, value in recent if ts > now - BASIS_MS]
    known = [(ts // HOUR_MS, sign * value) for ts, value in hourly if value is not None and math.isfinite(value)]
    newest = next((value for _, value in reversed(last_hour) if value is not None and math.isfinite(value)), None)
    if newest is None:
        return LimitForecast(None, reason="no value in the last hour")
    if newest >= sign * limit:
        return LimitForecast(None, reason="the limit is reached already")
    course = course_of(known, zone)
    if course is None:
        return _by_line(line_forecast(last_hour, now, sign * limit), now)
    expected = course.at(now // HOUR_MS)
    if expected is not None and newest > expected[0] + _LEAVES * max(expected[1], abs(course.slope)):
        beyond = _by_line(line_forecast(last_hour, now, sign * limit), now)
        if beyond.at is not None:
            return beyond
    if reason := _refusal(course, known):
        return LimitForecast(None, reason=reason)
    return _crossing(course, now, sign * limit)


def _by_line(line: LineForecast, now: int) -> LimitForecast:
    full = line.full
    if full.ms is None:
        short = "there are fewer than two whole days, and by the last hour: "
        return LimitForecast(None, reason=f"{short}{full.reason}")
    latest = None if line.latest_ms is None else now + line.latest_ms
    return LimitForecast(now + full.ms, now + line.soonest_ms, latest, f"the line of the last {age(full.basis_ms)}")


def course_of(known: Sequence[tuple[int, float]], zone: tzinfo) -> Course | None:
    """The course of a week where two are known, else that of a day where two are known; None: neither.

    ``known`` are (hour since 1970 UTC, mean), oldest first.
    """

    def key(period: int) -> Callable[[int], int]:
        def place(hour: int) -> int:
            shown = datetime.fromtimestamp(hour * 3600, zone)
            return (shown.weekday() * DAY_HOURS if period == WEEK_HOURS else 0) + shown.hour

        return place

    for period in (WEEK_HOURS, DAY_HOURS):
        groups: dict[int, list[tuple[int, float]]] = {}
        place = key(period)
        for hour, value in known:
            groups.setdefault(place(hour), []).append((hour, value))
        repeated = {at: told for at, told in groups.items() if len(told) > 1}
        if len(repeated) >= _REPEATED * period:
            return _fitted(repeated, period, place)
    return None


def _fitted(groups: Mapping[int, Sequence[tuple[int, float]]], period: int, key: Callable[[int], int]) -> Course:
    """The growth that the hours of a period have in common, by least squares around the mean of each."""
    means = {at: (fmean(hour for hour, _ in told), fmean(value for _, value in told)) for at, told in groups.items()}
    along = both = 0.0
    count = 0
    for at, told in groups.items():
        middle, mean = means[at]
        count += len(told)
        along += sum((hour - middle) ** 2 for hour, _ in told)
        both += sum((hour - middle) * (value - mean) for hour, value in told)
    slope = both / along
    left = sorted(
        (hour, value - means[at][1] - slope * (hour - means[at][0]))
        for at, told in groups.items()
        for hour, value in told
    )
    squares = sum(rest * rest for _, rest in left)
    spread = math.sqrt(squares / max(count - len(groups) - 1, 1))
    # Hours that follow each other deviate alike: they count for less than as many of chance.
    alike = sum(one[1] * other[1] for one, other in pairwise(left) if other[0] == one[0] + 1)
    share = min(max(alike / squares, 0.0), 0.99) if squares > 0 else 0.0
    doubt = spread * math.sqrt((1 + share) / (1 - share) / along)
    hours = left[-1][0] - left[0][0] + 1
    return Course(period, means, {at: len(told) for at, told in groups.items()}, slope, doubt, spread, hours, key)


def _refusal(course: Course, known: Sequence[tuple[int, float]]) -> str:
    """Why growth that a course shows tells nothing of what comes; empty: it does."""
    of_hour, period = dict(known), course.period
    rises = [value - of_hour[hour - period] for hour, value in known if hour - period in of_hour]
    if course.slope <= 0 or not rises or sum(rise > 0 for rise in rises) < _LEAST_RISING * len(rises):
        return "it does not grow from day to day" if period == DAY_HOURS else "it does not grow from week to week"
    if fmean(rises[-DAY_HOURS:]) < _STILL * course.slope * period:
        return "it has stopped growing"
    if course.slope < _LEAST_RATIO * course.doubt:
        return "it does not grow beyond what its usual course leaves open"
    return ""


def _crossing(course: Course, now: int, limit: float) -> LimitForecast:
    begin = now // HOUR_MS + 1
    most = _AHEAD * course.hours
    found: dict[str, int] = {}
    for hour in range(begin, begin + most):
        expected = course.at(hour)
        if expected is None:
            continue
        value, doubt = expected
        for name, bound in _bounds(value, doubt):
            if bound >= limit:
                found.setdefault(name, hour * HOUR_MS)
        if "latest" in found:
            break
    days = round(course.hours / DAY_HOURS)
    if "at" not in found:
        return LimitForecast(
            None, reason=f"that is more than {most // DAY_HOURS} days ahead, by {days} days of the past"
        )
    by = f"the {'weekly' if course.period == WEEK_HOURS else 'daily'} course of {days} days"
    return LimitForecast(found["at"], found["earliest"], found.get("latest"), by)


def _bounds(value: float, doubt: float) -> Iterator[tuple[str, float]]:
    yield "earliest", value + _WIDTH * doubt
    yield "at", value
    yield "latest", value - _WIDTH * doubt
