"""The chart of a trend, or of several: rates for counters, shares from 0 to 100, states each on a level of its own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from mqvitals_agent.text.chart import Scale, scale_around, scale_of_states, scale_of_values
from mqvitals_agent.text.chart_lines import Chart, ChartLimit, ChartSeries, ShadedSpan
from mqvitals_agent.text.figure import clock, day, object_words, state
from mqvitals_agent.text.terminal import safe
from mqvitals_agent.view.figures.trend import (
    Points,
    Trend,
    drawn_points,
    is_known,
    longest_joined,
    shown_unit,
    shown_words,
)
from mqvitals_agent.view.history.changes import change_words
from mqvitals_rules.lifecycle.alert import Alert, Severity
from mqvitals_rules.vocabulary.metric import Metric, MetricType

_NEAR_LIMIT: Final = 2
"""A threshold of at most so many times the greatest value is within the scale."""
_CLOCK_SPAN_MS: Final = 2 * 86_400_000
"""A longer chart shows days below, a shorter one times of day."""

MOST_CHARTS: Final = 4
"""Charts of one object that stand together."""
MOST_SERIES: Final = 4
"""Series of one chart: more cannot be told apart."""


def board_of(metrics: Sequence[Metric]) -> tuple[tuple[int, ...], ...]:
    """The charts of these metrics, each as positions among them: one joins the first chart of its unit with room left.

    States, whose levels are their own, have a chart each. At most ``MOST_CHARTS``; later ones are left out.
    """
    charts: list[list[int]] = []
    for position, metric in enumerate(metrics):
        fitting = (each for each in charts if len(each) < MOST_SERIES and _joins(metrics[each[0]], metric))
        found = next(fitting, None)
        if found is not None:
            found.append(position)
        elif len(charts) < MOST_CHARTS:
            charts.append([position])
    return tuple(map(tuple, charts))


def _joins(first: Metric, other: Metric) -> bool:
    numbers = MetricType.STATE not in (first.type, other.type)
    return numbers and first.unit == other.unit and first.type is other.type


def chart_of(
    trends: Sequence[Trend],
    *,
    earlier: Sequence[tuple[str, Points]] = (),
    limits: Sequence[ChartLimit] = (),
    shaded: Sequence[ShadedSpan] = (),
    zoomed: bool = False,
    cursor: int | None = None,
) -> Chart:
    """The chart of one trend, or of several of the same time; the first gives the scale at the left and the time axis.

    Numbers have a scale that covers those of other days too (``earlier``: the first trend's at other days, by name,
    their times moved into its own), and its limits where they are near; shares have one from 0 to 100, unless
    ``zoomed``. Trends of another unit have a scale of their own each. Counters are rates. States have a level each.
    """
    first, *others = trends
    since = first.span.since
    metric = first.metric
    within = [(name, tuple(point for point in points if point[0] >= since)) for name, points in earlier]
    label = day if first.span.until - since > _CLOCK_SPAN_MS else clock
    told = [(change.ts, change_words(change)) for change in first.changes]
    told += [(ts, f"{safe(first.object.owner)} restarted") for ts in first.restarts]
    marks = tuple(sorted(each for each in told if since <= each[0] <= first.span.until))
    if metric.type is MetricType.STATE:
        levels = _Levels.of([first.points, *(points for _, points in within)], metric)
        series = [ChartSeries(_name(first, trends), levels.points(first.points))]
        series += [_foreign(each, trends, zoomed=zoomed) for each in others]
        behind = tuple(ChartSeries(name, levels.points(points)) for name, points in within)
        shown = Chart(tuple(series), levels.scale, first.span, levels.words, label, behind, steps=True)
        return replace(shown, shaded=tuple(shaded), marks=marks, cursor=cursor)
    unit = shown_unit(first)
    alike = [each for each in trends if shown_unit(each) == unit and each.metric.type is not MetricType.STATE]
    lines = {id(each): drawn_points(each) for each in trends}
    values = [value for each in alike for _, value in lines[id(each)]]
    values += [value for _, points in within for _, value in points]
    words = shown_words(first)
    scale = _scale([value for value in values if value is not None], first, limits, zoomed=zoomed)
    own = {id(each) for each in alike}
    series = [
        ChartSeries(_name(each, trends), lines[id(each)], longest=longest_joined(each))
        if id(each) in own
        else _foreign(each, trends, zoomed=zoomed)
        for each in trends
    ]
    behind = tuple(ChartSeries(name, points) for name, points in within)
    shown = Chart(tuple(series), scale, first.span, words, label, behind, tuple(limits), tuple(shaded), marks)
    return replace(shown, cursor=cursor, steps=bool(first.every_ms))


def alert_spans(alerts: Iterable[Alert], until: int) -> tuple[ShadedSpan, ...]:
    """The times in which warnings and worse fired; of those that still do, to ``until`` (ms UTC)."""
    return tuple(
        ShadedSpan(each.started, until if each.ended is None else each.ended, each.severity)
        for each in alerts
        if each.started is not None and each.severity >= Severity.WARNING
    )


def _name(trend: Trend, trends: Sequence[Trend]) -> str:
    """What tells a trend from the others of a chart: its metric, its object, or both."""
    metrics, objects = {each.metric.name for each in trends}, {each.object for each in trends}
    if len(objects) == 1:
        return trend.metric.name
    return object_words(trend.object) if len(metrics) == 1 else f"{object_words(trend.object)} {trend.metric.name}"


def _foreign(trend: Trend, trends: Sequence[Trend], *, zoomed: bool) -> ChartSeries:
    """A series in a chart of another unit: with a scale of its own."""
    if trend.metric.type is MetricType.STATE:
        levels = _Levels.of([trend.points], trend.metric)
        return ChartSeries(_name(trend, trends), levels.points(trend.points), levels.scale, levels.words)
    points = drawn_points(trend)
    values = [value for _, value in points if value is not None]
    scale = _scale(values, trend, (), zoomed=zoomed)
    return ChartSeries(_name(trend, trends), points, scale, shown_words(trend), longest_joined(trend))


def _scale(values: Sequence[float], trend: Trend, limits: Sequence[ChartLimit], *, zoomed: bool) -> Scale:
    words = shown_words(trend)
    if zoomed:
        return scale_around(values, words)
    top = 100.0 if trend.metric.unit == "pct" else None
    finite = [value for value in values if math.isfinite(value)]
    # A threshold far beyond the values would press them flat.
    near = [each.value for each in limits if finite and 0 <= each.value <= _NEAR_LIMIT * max(finite)]
    return scale_of_values([*finite, *near], words, top=top)


class _Levels(NamedTuple):
    """States on a scale: a level of its own for each that was seen."""

    scale: Scale
    levels: Mapping[int, float]
    names: Mapping[float, str]

    @classmethod
    def of(cls, series: Iterable[Points], metric: Metric) -> _Levels:
        codes = [int(value) for points in series for _, value in points if is_known(value) and value is not None]
        scale, levels = scale_of_states(codes, lambda code: state(code, metric))
        return cls(scale, levels, {level: state(code, metric) for code, level in levels.items()})

    def points(self, points: Points) -> Points:
        return tuple(
            (ts, self.levels.get(int(value)) if is_known(value) and value is not None else None) for ts, value in points
        )

    def words(self, level: float) -> str:
        return self.names.get(level, "?")
