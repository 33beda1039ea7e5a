"""Parts of a time of ``mqvitals trend`` that are whole hours: told by what hours came to, where these are rolled up or the
samples are gone, and by samples after that.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import add, mul
from typing import TYPE_CHECKING

from mqvitals_agent.store.rows.sealed.rollup import MetricHour, together
from mqvitals_agent.view.figures.buckets import Parts, figures_of, refusal, value_of
from mqvitals_agent.view.figures.trend import Aggregate, Trend
from mqvitals_rules.timestamps import HOUR_MS
from mqvitals_rules.vocabulary.metric import Metric, MetricType

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader


Hours = Sequence[tuple[int, MetricHour]]
"""Hours by their begin (ms UTC), oldest first."""


def seam_of(reader: StoreReader, kind: str, metrics: Sequence[Metric], parts: Parts) -> int:
    """The beginning (ms UTC) of the first part that samples tell of; that of the first part: they tell of all.

    Parts are told by hours where each is whole hours of UTC, and hours know the figure that is asked for, of every one of
    the metrics. Raises StoreError.
    """
    begin = parts.edges[0]
    if not all(tells(parts.of_metric(metric), metric) for metric in metrics):
        return begin
    known = min((reader.rolled_until(kind, metric.name) for metric in metrics), default=0)
    place = bisect_right(parts.edges, known) - 1
    if place <= 0 or any(edge % HOUR_MS for edge in parts.edges[: place + 1]):
        return begin
    return parts.edges[place]


def tells(aggregate: Aggregate, metric: Metric) -> bool:
    """Whether hours know a figure: the bounds of a counter in an hour are those of its increases, whatever their time, and
    no rates.
    """
    if metric.type is MetricType.COUNTER:
        return aggregate in (Aggregate.AVG, Aggregate.SUM)
    return aggregate is not Aggregate.P95


def with_hours(young: Trend, hours: Hours, parts: Parts, seam: int) -> Trend:
    """The series in parts: those before ``seam`` from hours, the others as ``young`` has them."""
    aggregate = parts.of_metric(young.metric)
    edges = [edge for edge in parts.edges if edge <= seam]
    points: list[tuple[int, float | None]] = []
    covered: list[int | None] = []
    by_part: dict[int, list[MetricHour]] = {}
    for ts, hour in hours:
        by_part.setdefault(bisect_right(edges, ts) - 1, []).append(hour)
    for place, (begin, end) in enumerate(pairwise(edges)):
        value, ms = _value(by_part.get(place, ()), aggregate, young.metric)
        points.append((begin, value))
        covered.append(min(ms, end - begin))
    kept_from = None if hours else young.kept_from
    return replace(
        young,
        points=(*points, *young.points),
        intervals=(*covered, *young.intervals),
        span=young.span._replace(since=parts.edges[0]),
        every_ms=parts.every_ms,
        aggregate=aggregate,
        kept_from=kept_from,
        hours_until=seam,
    )


def figures_with_hours(young: Trend, hours: Hours) -> Mapping[Aggregate, float]:
    """The figures of a series over all of its time, of which ``young`` has the samples and ``hours`` tell of what was before:
    those that both know.
    """
    known, metric = figures_of(young), young.metric
    wanted = [each for each in Aggregate if not refusal(each, metric)]
    own = {} if known is None else {each: value_of(known, each) for each in wanted}
    if not hours:
        return own
    whole = together([hour for _, hour in hours])
    told = {each: figure_of_hours(whole, each, metric) for each in wanted if tells(each, metric)}
    earlier = {each: value for each, value in told.items() if value is not None}
    if known is None:
        return earlier
    both = earlier.keys() & own.keys()
    found = {each: own[each] for each in both}
    if Aggregate.AVG in both:
        weights = whole.covered_ms, known.covered_ms
        values = earlier[Aggregate.AVG], own[Aggregate.AVG]
        found[Aggregate.AVG] = sum(map(mul, weights, values)) / sum(weights)
    for aggregate, together_ in ((Aggregate.MIN, min), (Aggregate.MAX, max), (Aggregate.SUM, add)):
        if aggregate in both:
            found[aggregate] = together_(earlier[aggregate], own[aggregate])
    return found


def _value(hours: Sequence[MetricHour], aggregate: Aggregate, metric: Metric) -> tuple[float | None, int]:
    """The figure of the hours of a part, and the ms that they cover."""
    if not hours:
        return None, 0
    whole = together(hours)
    return figure_of_hours(whole, aggregate, metric), whole.covered_ms


def figure_of_hours(whole: MetricHour, aggregate: Aggregate, metric: Metric) -> float | None:
    """A figure that hours know (``tells``) of one hour, or of several together; None: nothing is covered, so that there is
    no mean, and no sum of what did not increase.
    """
    counter = metric.type is MetricType.COUNTER
    mean = whole.mean
    found: Mapping[Aggregate, float | None] = {
        Aggregate.AVG: None if mean is None else 1000 * mean if counter else mean,
        Aggregate.MIN: whole.lowest,
        Aggregate.MAX: whole.highest,
        Aggregate.LAST: whole.last,
        Aggregate.SUM: whole.total if whole.total or whole.covered_ms else None,
    }
    return found[aggregate]
