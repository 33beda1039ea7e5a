"""The objects that stand out in a metric over a time, worst first: the table of ``mqvitals trend --top``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import nsmallest
from typing import Any, Final, NamedTuple

from mqvitals_agent.store.rows.sealed.rollup import MetricHour
from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.document import column_lines
from mqvitals_agent.text.figure import age, counted, stamp, state, zone_name
from mqvitals_agent.text.terminal import csv_cell, safe, wrap
from mqvitals_agent.view.figures.buckets import figures_of, value_of
from mqvitals_agent.view.figures.trend import Aggregate, Trend, is_known, shown_points, shown_unit, shown_words
from mqvitals_agent.view.trend.hours import figure_of_hours
from mqvitals_agent.view.trend.report import from_to, shown_value, when_words
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Metric, MetricType

CSV_HEADER: Final = "object,metric,by,value,at,covered_s"
_DIGITS: Final = 3


class RankedTrend(NamedTuple):
    """The figure by which an object stands out: its value and when that was told (ms UTC); of a mean and of a percentile
    the ms with data instead. ``view`` is the series without its points.
    """

    view: Trend
    value: float
    at: int | None = None
    covered_ms: int | None = None


class TopList(NamedTuple):
    """The worst objects of a metric, worst first; of how many, and how many more have no value."""

    kind: str
    metric: Metric
    by: Aggregate
    rows: tuple[RankedTrend, ...]
    among: int
    without: int
    by_hours: bool = False
    """Told by what hours came to; ``at`` of its rows is then the begin of the hour."""


def ranked(view: Trend, by: Aggregate) -> RankedTrend | None:
    """The figure of a series, which is not kept; None without data."""
    bare = replace(view, points=(), intervals=())
    if by in (Aggregate.AVG, Aggregate.P95):
        found = figures_of(view)
        return None if found is None else RankedTrend(bare, value_of(found, by), covered_ms=found.covered_ms)
    known = [(value, ts) for ts, value in shown_points(view) if is_known(value)]
    if not known:
        return None
    # The first of equal ones: since when.
    if by is Aggregate.LAST:
        value, at = known[-1]
    else:
        value, at = (min if by is Aggregate.MIN else max)(known, key=lambda each: each[0])
    return RankedTrend(bare, value, at)


def top_lists(trends: Iterable[Trend], by: Aggregate, most: int) -> list[TopList]:
    """The ``most`` worst objects of each metric: the greatest, or by the least value the least. Each series is looked at
    once."""
    rows: dict[tuple[str, str], list[RankedTrend]] = {}
    metrics: dict[tuple[str, str], Metric] = {}
    counts: dict[tuple[str, str], int] = {}
    without: dict[tuple[str, str], int] = {}
    for view in trends:
        key = view.object.kind, view.metric.name
        metrics[key] = view.metric
        counts[key] = counts.get(key, 0) + 1
        found = ranked(view, by)
        if found is None:
            without[key] = without.get(key, 0) + 1
            continue
        rows.setdefault(key, []).append(found)
        if len(rows[key]) > 2 * most + 100:
            rows[key] = _worst(rows[key], by, most)
    return [
        TopList(key[0], metric, by, tuple(_worst(rows.get(key, ()), by, most)), counts[key], without.get(key, 0))
        for key, metric in metrics.items()
    ]


def top_of_hours(
    kind: str,
    metric: Metric,
    by: Aggregate,
    most: int,
    spans: Mapping[ObjectName, MetricHour],
    names: Collection[ObjectName],
    at: Callable[[ObjectName, float], int | None],
) -> TopList:
    """The ``most`` worst of the objects ``names`` by what all hours of the time together came to, as far as there are any.

    ``at`` tells when (ms UTC) an object had a value; it is asked for those in the table, and not for means.
    """
    known = [
        RankedTrend(Trend(name, metric, (), TimeRange(0, 0)), value, covered_ms=whole.covered_ms)
        for name, whole in spans.items()
        if name in names and (value := figure_of_hours(whole, by, metric)) is not None
    ]
    rows = _worst(known, by, most)
    if by is not Aggregate.AVG:
        rows = [each._replace(at=at(each.view.object, each.value)) for each in rows]
    return TopList(kind, metric, by, tuple(rows), len(names), len(names) - len(known), by_hours=True)


def _worst(rows: Iterable[RankedTrend], by: Aggregate, most: int) -> list[RankedTrend]:
    sign = 1 if by is Aggregate.MIN else -1
    return nsmallest(most, rows, key=lambda each: (sign * each.value, each.view.object))


def top_text(found: Sequence[TopList], span: TimeRange, width: int) -> Iterator[str]:
    """The tables below each other."""
    for place, each in enumerate(found):
        if place:
            yield ""
        yield from wrap(f"{each.kind} {each.metric.name}: {each.metric.meaning}", width, rest="  ")
        if each.rows:
            over = each.by in (Aggregate.AVG, Aggregate.P95)
            titles = ("", "Object", f"{each.by.value}", "With data" if over else "When")
            rows = [
                (str(number), safe(str(row.view.object)), _words(row), _told(row, span))
                for number, row in enumerate(each.rows, 1)
            ]
            yield from column_lines([titles, *rows], width, {0, 2})
        more = f"; {counted(each.without, 'object')} without a value" if each.without else ""
        yield from wrap(f"{len(each.rows):,} of {counted(each.among, 'object')}{more}", width, rest="  ")
    hours = "; by whole hours" if any(each.by_hours for each in found) else ""
    yield f"{from_to(span)} {zone_name(span.until)}{hours}"


def _words(row: RankedTrend) -> str:
    if row.view.metric.type is MetricType.STATE:
        return state(row.value, row.view.metric)
    return shown_words(row.view)(row.value)


def _told(row: RankedTrend, span: TimeRange) -> str:
    return when_words(row.at, span) if row.at is not None else age(row.covered_ms or 0)


def top_json(found: Iterable[TopList]) -> dict[str, Any]:
    """``{"top": [{"metric", "kind", "by", "unit", "among", "without_value", "objects": [...]}]}``."""
    return {
        "top": [
            {
                "metric": each.metric.name,
                "kind": each.kind,
                "by": each.by.value,
                "unit": shown_unit(each.rows[0].view) if each.rows else each.metric.unit,
                "among": each.among,
                "without_value": each.without,
                **({"by_hours": True} if each.by_hours else {}),
                "objects": [
                    {"object": str(row.view.object), "value": shown_value(row.value, row.view.metric), **_when(row)}
                    for row in each.rows
                ],
            }
            for each in found
        ]
    }


def _when(row: RankedTrend) -> dict[str, Any]:
    return {"at": stamp(row.at)} if row.at is not None else {"covered_s": round((row.covered_ms or 0) / 1000, _DIGITS)}


def top_csv(found: Iterable[TopList]) -> Iterator[str]:
    """The lines of the tables as CSV."""
    yield CSV_HEADER
    for each in found:
        for row in each.rows:
            value = shown_value(row.value, row.view.metric)
            when = _when(row)
            cells = ("" if value is None else value, when.get("at", ""), when.get("covered_s", ""))
            yield ",".join(map(str, (csv_cell(str(row.view.object)), each.metric.name, each.by.value, *cells)))
