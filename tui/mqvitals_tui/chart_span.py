"""How long a chart reaches back: the steps there are, the one that fits what is known, and its name."""

from __future__ import annotations

from dataclasses import replace

from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.view.trend import Trend

_MINUTES = (1, 5, 15, 30, 60, 3 * 60, 6 * 60, 12 * 60, 24 * 60, 3 * 24 * 60, 7 * 24 * 60)

_UNITS = ((24 * 60, "day"), (60, "hour"), (1, "minute"))

SPANS_MS = tuple(minutes * 60_000 for minutes in _MINUTES)
"""The steps, the shortest first."""


def fitting_ms(trend: Trend, most_ms: int) -> int:
    """The shortest step that holds all points of a trend, at most ``most_ms``: a young store fills its chart.

    A trend without points gets the most: that nothing is known is true of all of it.
    """
    if not trend.points:
        return most_ms
    past = trend.span.until - trend.points[0][0]
    return min(next((ms for ms in SPANS_MS if ms >= past), most_ms), most_ms)


def stepped_ms(span_ms: int, step: int) -> int:
    """The step so many after ``span_ms`` (before it, when negative); the first or the last where there is none."""
    position = SPANS_MS.index(span_ms) + step
    return SPANS_MS[min(max(position, 0), len(SPANS_MS) - 1)]


def lately(trend: Trend, span_ms: int) -> Trend:
    """The last ``span_ms`` of a trend."""
    since = trend.span.until - span_ms
    if since <= trend.span.since:
        return trend
    points = tuple(point for point in trend.points if point[0] >= since)
    return replace(trend, points=points, span=TimeRange(since, trend.span.until))


def span_words(ms: int) -> str:
    """A step in words: ``the last 15 minutes``. Raises ValueError for what is no whole number of minutes."""
    minutes, rest = divmod(ms, 60_000)
    if rest:
        raise ValueError(f"{ms} ms is no whole number of minutes")
    size, unit = next((size, unit) for size, unit in _UNITS if minutes % size == 0)
    count = minutes // size
    return f"the last {unit}" if count == 1 else f"the last {count} {unit}s"
