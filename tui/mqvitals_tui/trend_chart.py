"""A trend as the chart widget needs it: numbers with a scale, states each on a level of its own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from mqvitals_agent.text.chart import Scale, scale_of_states, scale_of_values
from mqvitals_agent.text.figure import clock, day, quantity, state
from mqvitals_agent.view.trend import Trend
from mqvitals_rules.vocabulary.metric import Metric, MetricType
from mqvitals_tui.feed import Points

_LATELY = 2 * 86_400_000
"""A chart longer than this (ms) shows days below, a shorter one times of day."""


class Drawing(NamedTuple):
    """What ``BrailleChart.show`` is given."""

    points: Points
    scale: Scale
    words: Callable[[float], str]
    time_label: Callable[[int], str]
    earlier: tuple[tuple[str, Points], ...]
    steps: bool


_UNITS = {"pct": "%", "us": "µs", "count": "", "number": ""}


def unit_words(metric: Metric) -> str:
    """The unit as a person writes it; a counter's values are increases from one poll to the next."""
    unit = _UNITS.get(metric.unit, metric.unit)
    if metric.type is MetricType.COUNTER:
        return f"{unit} per interval".strip()
    return unit


def drawing(trend: Trend, earlier: tuple[tuple[str, Points], ...] = ()) -> Drawing:
    """Scale and words for a trend; the series of other days have a part in the scale."""
    metric = trend.metric
    since = trend.span.since
    earlier = tuple((name, tuple(point for point in points if point[0] >= since)) for name, points in earlier)
    series = [tuple(trend.points), *(points for _, points in earlier)]
    values = [value for points in series for _, value in points if value is not None and math.isfinite(value)]
    label = day if trend.span.until - trend.span.since > _LATELY else clock
    if metric.type is not MetricType.STATE:

        def words(value: float) -> str:
            return quantity(value, metric.unit)

        scale = scale_of_values(values, words, top=100.0 if metric.unit == "pct" else None)
        return Drawing(tuple(trend.points), scale, words, label, earlier, steps=False)
    scale, levels = scale_of_states(map(int, values), lambda code: state(code, metric))
    names = {level: state(code, metric) for code, level in levels.items()}

    def levelled(points: Points) -> Points:
        return tuple((ts, None if value is None else levels.get(int(value))) for ts, value in points)

    return Drawing(
        levelled(tuple(trend.points)),
        scale,
        lambda level: names.get(level, "?"),
        label,
        tuple((name, levelled(points)) for name, points in earlier),
        steps=True,
    )
