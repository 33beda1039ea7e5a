"""The functions of the language: windows over the past of a metric, console messages, and what each accepts.

Points come oldest first: counters as the increase of each interval, gauges as at each poll. None is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from operator import mul
from typing import NamedTuple

from mqvitals_rules.expression.context import Context
from mqvitals_rules.history import UNKNOWN_MS, Point, Polls, covered_values
from mqvitals_rules.timestamps import HOUR_MS
from mqvitals_rules.vocabulary.metric import MetricType

LEAST_POINTS = 5
"""Fewer values make no trend."""


LEAST_INTERVAL_MS = 60_000
"""Increases over less time than this say nothing about an hour."""


def rate(points: Sequence[Point], least_ms: int = 1) -> float | None:
    """Increase a second: the increases over the time in which they arose; None where that is less than ``least_ms``.

    Increases of unknown duration do not count.
    """
    if points.__class__ is Polls and points.intervals and min(points.intervals) >= 0:
        total = sum(points.values)
        if total == total:
            duration_ms = sum(points.intervals)
            return _number(total * 1000 / duration_ms) if duration_ms >= least_ms else None
    increase: float = 0
    duration_ms = 0
    if points.__class__ is Polls and points.intervals is not None:
        for value, gap in zip(points.values, points.intervals, strict=True):
            if value == value and 0 <= gap < UNKNOWN_MS:
                increase += value
                duration_ms += gap
        return _number(increase * 1000 / duration_ms) if duration_ms >= least_ms else None
    for point in points:
        if point.value is not None and point.interval_ms is not None:
            increase += point.value
            duration_ms += point.interval_ms
    return _number(increase * 1000 / duration_ms) if duration_ms >= least_ms else None


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


def is_unchanged(points: Sequence[Point], since: int, window_ms: int) -> bool | None:
    """Whether there was one value in a window that began at ``since``.

    None where the values do not cover the window, unless two of them differ.
    """
    values = points.known if points.__class__ is Polls else [point.value for point in points]
    known = {value for value in values if value is not None}
    if len(known) > 1:
        return False
    return True if covered_values(points, since, window_ms) else None


Calculate = Callable[[Sequence[float]], float | None]
"""A function of the values of a window, of which there is at least one."""


def mean(values: Sequence[float]) -> float | None:
    """The mean; None where it is no number."""
    return _number(sum(values) / len(values))


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


def is_rising(points: Sequence[Point], rises: int) -> bool | None:
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


def _number(value: float) -> float | None:
    return value if value == value else None


USUAL_WINDOW = "5m"
"""The window of a function that is given none."""

SHORTEST_WINDOW_MS = 1000
LONGEST_WINDOW_MS = 366 * 86_400_000
MOST_RISES = 100


class WindowUse(NamedTuple):
    """The use of a window: the newest ``window_ms``, or the newest ``polls`` polls; the other of the two is 0.

    The history that it needs is kept.
    """

    function: str
    kind: str
    metric: str
    window_ms: int
    polls: int


LimitMetric = tuple[Context, str, str]
"""A metric of a limit: whose, its kind and its name."""

Look = Callable[..., float | None]
"""(context, kind, metric, window_ms) -> a number; None: unknown. ``eta``: (..., limit, metrics of the limit)."""


@dataclass(frozen=True, slots=True)
class WindowFunction:
    """A function over a window: which metrics it takes, and how it is calculated.

    ``on_switches``: it also takes a state with the two values 0 and 1. ``timeless``: types of which it takes
    no window.
    """

    name: str
    looks: Mapping[MetricType, Look]
    usage: str
    takes_limit: bool = False
    on_switches: bool = False
    timeless: frozenset[MetricType] = frozenset()

    def look(self, type_: MetricType) -> Look:
        """The calculation for a metric of a type."""
        return self.looks.get(type_) or self.looks[MetricType.GAUGE]


def _rate(context: Context, kind: str, metric: str, window_ms: int) -> float | None:
    points = context.points(kind, metric, context.now - window_ms)
    return rate(points, LEAST_INTERVAL_MS if window_ms >= HOUR_MS else 1)


def _delta(context: Context, kind: str, metric: str, window_ms: int) -> float | None:
    return delta(context.points(kind, metric, context.now - window_ms))


def _look_over(calculate: Calculate) -> Look:
    def look(context: Context, kind: str, metric: str, window_ms: int) -> float | None:
        values = context.covered(kind, metric, window_ms)
        return calculate(values) if values else None

    return look


def _eta(
    context: Context, kind: str, metric: str, window_ms: int, limit: float, parts: Sequence[LimitMetric] = ()
) -> float | None:
    since = context.now - window_ms
    for other, other_kind, other_metric in parts:
        since = max(since, last_change(other.points(other_kind, other_metric, since)) - 1)
    return eta(context.points(kind, metric, since), limit, context.now)


def _usual(context: Context, kind: str, metric: str, _: int) -> float | None:
    return context.baseline(kind, metric, counter=False)


def _usual_rate(context: Context, kind: str, metric: str, _: int) -> float | None:
    return context.baseline(kind, metric, counter=True)


def _share_now(context: Context, kind: str, metric: str, _: int) -> float | None:
    own = context.value(kind, metric)
    return _share(own, context.total(kind, metric, 0)) if isinstance(own, int | float) else None


def _share_of_increase(context: Context, kind: str, metric: str, window_ms: int) -> float | None:
    own = _delta(context, kind, metric, window_ms)
    return None if own is None else _share(own, context.total(kind, metric, window_ms))


def _share(own: float, total: float | None) -> float | None:
    part = own / total if total is not None and total > 0 else None
    return part if part == part else None


def rising(context: Context, kind: str, metric: str, rises: int) -> bool | None:
    """Whether the last ``rises`` polls were each above the one before."""
    return is_rising(context.last(kind, metric, rises + 1), rises)


def unchanged(context: Context, kind: str, metric: str, window_ms: int) -> bool | None:
    """Whether a metric had one value over the whole window."""
    since = context.now - window_ms
    return is_unchanged(context.points(kind, metric, since), since, window_ms)


_GAUGE, _COUNTER = MetricType.GAUGE, MetricType.COUNTER

WINDOW_FUNCTIONS: Mapping[str, WindowFunction] = {
    function.name: function
    for function in (
        WindowFunction("rate", {_COUNTER: _rate}, 'rate(counter, "5m")'),
        WindowFunction("delta", {_COUNTER: _delta}, 'delta(counter, "5m")'),
        WindowFunction("avg", {_GAUGE: _look_over(mean)}, 'avg(gauge, "5m")'),
        WindowFunction("median", {_GAUGE: _look_over(middle)}, 'median(gauge, "1h")'),
        WindowFunction("min", {_GAUGE: _look_over(min)}, 'min(gauge, "5m")', on_switches=True),
        WindowFunction("max", {_GAUGE: _look_over(max)}, 'max(gauge, "5m")', on_switches=True),
        WindowFunction("eta", {_GAUGE: _eta}, 'eta(gauge, limit, "10m")', takes_limit=True),
        WindowFunction(
            "baseline",
            {_GAUGE: _usual, _COUNTER: _usual_rate},
            "baseline(gauge) or baseline(counter)",
            timeless=frozenset((_GAUGE, _COUNTER)),
        ),
        WindowFunction(
            "share",
            {_GAUGE: _share_now, _COUNTER: _share_of_increase},
            'share(gauge) or share(counter, "5m")',
            timeless=frozenset((_GAUGE,)),
        ),
    )
}

EXTREMES: Mapping[str, Callable[..., float]] = {"min": min, "max": max}
"""Functions that are also about two or more numbers."""

MEMBER_FUNCTIONS: Mapping[str, str] = {
    "any": "any(kind, condition)",
    "count": "count(kind, condition)",
    "sum": "sum(kind, number)",
    "most": "most(kind, number)",
    "least": "least(kind, number)",
}
"""Functions of members, and how each is written."""

CONDITION_FUNCTIONS = ("present", "rising", "unchanged", "any", "seen", "open", "startswith", "endswith")
"""Functions that are true or false, not a number."""

FUNCTIONS = (
    *WINDOW_FUNCTIONS,
    *MEMBER_FUNCTIONS,
    "seen",
    "open",
    "times",
    "latest",
    "latest_text",
    "elapsed",
    "rising",
    "unchanged",
    "startswith",
    "endswith",
    "abs",
    "present",
)
"""Every name that can be called."""


def seen(context: Context, ids: frozenset[str], window_ms: int, quiet: bool) -> bool | None:  # noqa: FBT001
    """Whether there was a message with one of these ids in the window; None: no console is followed."""
    found = context.messages(ids, context.now - window_ms, quiet=quiet)
    return None if found is None else bool(found)


EVER = -1
"""A moment (ms UTC) before every message."""


def is_open(context: Context, begin: frozenset[str], ends: frozenset[str], quiet: bool) -> bool | None:  # noqa: FBT001
    """Whether the newest message ``begin`` is newer than all messages ``ends``; None: no console is followed."""
    began = context.messages(begin, EVER, quiet=quiet)
    if not began:
        return None if began is None else False
    ended = context.messages(ends, EVER)
    return not ended or began[-1].ts > ended[-1].ts


def times(context: Context, ids: frozenset[str], window_ms: int, quiet: bool) -> int | None:  # noqa: FBT001
    """How many messages with one of these ids there were in the window; None: no console is followed."""
    found = context.messages(ids, context.now - window_ms, quiet=quiet)
    return None if found is None else sum(message.times for message in found)


_NUMBER = re.compile(r"[0-9]{1,18}(\.[0-9]{1,18})?")


def latest(context: Context, code: str, insert: str) -> float | None:
    """An insert of the newest message with this id as a number; None: there is none, or it is no decimal number."""
    found = latest_text(context, code, insert)
    if found is None or not _NUMBER.fullmatch(found):
        return None
    return float(found) if "." in found else int(found)


def latest_text(context: Context, code: str, insert: str) -> str | None:
    """An insert of the newest message with this id as it was written; None: there is none."""
    found = context.messages(frozenset((code,)), EVER)
    return found[-1].insert(insert) if found else None


def elapsed(context: Context, first: str, second: str, window_ms: int) -> float | None:
    """Seconds from a message ``first`` to the next ``second``, the newest such pair in the window; None:
    there is none.
    """
    began: int | None = None
    took: float | None = None
    for message in context.messages(frozenset((first, second)), context.now - window_ms) or ():
        if message.id == first:
            began = message.ts
        elif began is not None:
            took = (message.ts - began) / 1000
            began = None
    return took
