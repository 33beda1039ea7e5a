"""A metric of an object over time: as JSON, as CSV, as a chart with its figures in words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import itemgetter
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from mqvitals_agent.store.rows.changes import Change
from mqvitals_agent.text.chart import MARK, Scale, TimeRange, chart, pauses, scale_of_states, scale_of_values
from mqvitals_agent.text.figure import age, clock, day, figure, moment, quantity, stamp, state, zone_name
from mqvitals_agent.text.terminal import cut, safe, wrap
from mqvitals_agent.view.changes import change_words
from mqvitals_rules.snapshot import ObjectName, Source
from mqvitals_rules.vocabulary.metric import Metric, MetricType

if TYPE_CHECKING:
    from mqvitals_agent.store.result import Series

Points = Sequence[tuple[int, int | float | None]]

CSV_HEADER = "at,value"
_UNITS = {"pct": "%", "us": "µs"}
MOST_GAPS = 5
"""The number of gaps that are named; the others are counted."""
_MOST_CHANGES = 5
"""The number of changes of the definition that are named, the newest; all are marked."""
_JOINT_MS = 2_000
"""Consecutive intervals may differ by this, ms."""
_MINUTE_MS = 60_000
_SHARED_RECORD_KINDS = ("application", "cf_structure", "queue")
"""Kinds of objects whose samples may combine several records."""
_CLOCK_SPAN_MS = 2 * 86_400_000
"""A longer chart shows days below, a shorter one times of day."""


@dataclass(frozen=True, slots=True)
class Trend:
    """One series. ``why`` is the reason when the newest value is absent; ``note`` is a remark.

    ``intervals`` are the ms that each point is about, as ``Series`` has them; none given: unknown. ``by_records``: the
    points are those of records, not of polls. ``kept_from``: samples before that time (ms UTC) have been deleted; None:
    none. ``changes`` are those of the object's definition, oldest first; the ones in its time are marked.
    """

    object: ObjectName
    metric: Metric
    points: Points
    span: TimeRange
    why: str = ""
    note: str = ""
    intervals: Sequence[int | None] = ()
    by_records: bool = False
    kept_from: int | None = None
    changes: Sequence[Change] = ()


def trend_of(
    name: ObjectName,
    metric: Metric,
    series: Series,
    span: TimeRange,
    why: str = "",
    note: str = "",
    changes: Sequence[Change] = (),
) -> Trend:
    """The trend of a metric that was read from a store."""
    return Trend(
        name,
        metric,
        series.points,
        span,
        why,
        note,
        series.intervals,
        by_records=series.source is not Source.POLL,
        kept_from=series.kept_from,
        changes=changes,
    )


def not_kept(view: Trend) -> str:
    """The sentence that samples of the time, or a part of it, have been deleted; empty where none have."""
    if view.kept_from is None or view.kept_from <= view.span.since:
        return ""
    if view.kept_from > view.span.until:
        return f"Not kept: samples from before {moment(view.kept_from)} {zone_name(view.kept_from)} have been deleted (store.keep, store.max_size)"
    return f"not kept before {moment(view.kept_from)} {zone_name(view.kept_from)}"


def unit_of(metric: Metric) -> str:
    """The unit of a series: a counter's values are increases, each over the time since the poll before."""
    if metric.type is MetricType.COUNTER:
        return f"{metric.unit} per interval" if metric.unit not in ("", "count") else "per interval"
    return metric.unit


def trend_json(view: Trend) -> dict[str, Any]:
    """The object of ``mqvitals trend --json``. Shares have two decimals, whole numbers stay whole."""
    return {
        "metric": view.metric.name,
        "object": str(view.object),
        "unit": unit_of(view.metric),
        **({} if view.kept_from is None else {"kept_from": stamp(view.kept_from)}),
        "points": [[stamp(ts), _plain(value, view.metric)] for ts, value in view.points],
    }


def trend_csv(view: Trend) -> Iterator[str]:
    """The lines of ``mqvitals trend --csv``; an absent value leaves its field empty."""
    yield CSV_HEADER
    for ts, value in view.points:
        plain = _plain(value, view.metric)
        yield f"{stamp(ts)},{'' if plain is None else plain}"


def trend_text(view: Trend, width: int, height: int) -> list[str]:
    """The lines of ``mqvitals trend``: what it is, the chart, and its figures in words."""
    metric = view.metric
    title = f"{safe(str(view.object))}  {metric.name}: {metric.meaning}"
    lines = [*wrap(title, width, rest="  "), *([cut(view.note, width)] if view.note else []), ""]
    present = [(ts, value) for ts, value in view.points if value is not None and math.isfinite(value)]
    if not view.points:
        deleted = not_kept(view)
        whole = view.kept_from is not None and view.kept_from > view.span.until
        none = f"No poll from {_from_to(view.span)} {zone_name(view.span.until)}{f'; {deleted}' if deleted else ''}"
        return [*lines, *wrap(deleted if whole else none, width)]
    if not present:
        reason = f": {view.why}" if view.why else ""
        return [*lines, *wrap(f"Absent at all {_polls(len(view.points), view)}{reason}", width), *_footer(view, width)]
    drawn = chart_data(replace(view, points=_with_gaps(view)))
    lines += chart(
        drawn.points,
        drawn.scale,
        view.span,
        width=width,
        height=height,
        time_label=drawn.time_label,
        steps=drawn.steps,
        marks=[ts for ts, _ in drawn.marks],
    )
    for ts, changed in drawn.marks[-_MOST_CHANGES:]:
        lines += wrap(f"{MARK} {_when(ts, view.span)} {changed}", width, rest="  ")
    if len(drawn.marks) > _MOST_CHANGES:
        lines.append(f"{MARK} {len(drawn.marks) - _MOST_CHANGES:,} earlier")
    words = _states(present, view) if drawn.steps else _extremes(view, present)
    return [*lines, "", *wrap(words, width, rest="  "), *_footer(view, width)]


class ChartData(NamedTuple):
    """What a chart of a trend is drawn from; ``earlier`` are series of other days, by name, their times moved into
    the trend's; ``marks`` the moments at which the definition changed, oldest first, and what changed."""

    points: Points
    scale: Scale
    words: Callable[[float], str]
    time_label: Callable[[int], str]
    earlier: tuple[tuple[str, Points], ...]
    steps: bool
    marks: tuple[tuple[int, str], ...] = ()


def chart_data(trend: Trend, earlier: Sequence[tuple[str, Points]] = ()) -> ChartData:
    """Numbers with a scale of their own, states each on a level of its own.

    The scale covers the series of other days too.
    """
    metric = trend.metric
    since = trend.span.since
    within = tuple((name, tuple(point for point in points if point[0] >= since)) for name, points in earlier)
    series = [tuple(trend.points), *(points for _, points in within)]
    values = [value for points in series for _, value in points if value is not None and math.isfinite(value)]
    label = day if trend.span.until - trend.span.since > _CLOCK_SPAN_MS else clock
    marks = tuple(
        (change.ts, change_words(change)) for change in trend.changes if since <= change.ts <= trend.span.until
    )
    if metric.type is not MetricType.STATE:

        def words(value: float) -> str:
            return quantity(value, metric.unit)

        scale = scale_of_values(values, words, top=100.0 if metric.unit == "pct" else None)
        return ChartData(tuple(trend.points), scale, words, label, within, steps=False, marks=marks)
    scale, levels = scale_of_states(map(int, values), lambda code: state(code, metric))
    names = {level: state(code, metric) for code, level in levels.items()}

    def levelled(points: Points) -> Points:
        return tuple((ts, None if value is None else levels.get(int(value))) for ts, value in points)

    return ChartData(
        levelled(tuple(trend.points)),
        scale,
        lambda level: names.get(level, "?"),
        label,
        tuple((name, levelled(points)) for name, points in within),
        steps=True,
        marks=marks,
    )


def _with_gaps(view: Trend) -> Points:
    """The points, with an absent one in each range that no record covers: no line is drawn across it."""
    if not view.by_records:
        return view.points
    return sorted([*view.points, *((gap.since + 1, None) for gap in gap_spans(view))], key=itemgetter(0))


def gap_spans(view: Trend) -> tuple[TimeRange, ...]:
    """The time ranges without data, oldest first.

    For polls: runs of absent values and pauses without polls. For records: the time between the end of a record with a
    value and the beginning of the next one's interval.
    """
    present = [(ts, length) for (ts, value), length in zip(view.points, _lengths(view), strict=True) if _is(value)]
    if view.by_records and all(length is not None for _, length in present):
        return tuple(_uncovered(view, [(ts, length or 0) for ts, length in present]))
    return tuple(pauses(view.points))


def _uncovered(view: Trend, present: Sequence[tuple[int, int]]) -> Iterator[TimeRange]:
    covered: int | None = None
    for ts, length in present:
        # A sample that combines several records is dated at the nearest full minute.
        rounded = view.object.kind in _SHARED_RECORD_KINDS and ts % _MINUTE_MS == 0
        spare = max(_JOINT_MS, length // 2 if rounded else 0)
        if covered is not None and ts - length - covered > spare:
            yield TimeRange(covered, ts - length)
        covered = ts if covered is None else max(covered, ts)


def _lengths(view: Trend) -> Sequence[int | None]:
    return view.intervals or (None,) * len(view.points)


def _is(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _extremes(view: Trend, present: Sequence[tuple[int, int | float]]) -> str:
    metric = view.metric
    last_ts, last = present[-1]
    low_ts, low = min(present, key=lambda point: point[1])
    high_ts, high = max(present, key=lambda point: point[1])
    newest = view.points[-1][0]
    since = "" if last_ts == newest else f" at {moment(last_ts)}, then absent{f': {view.why}' if view.why else ''}"
    words = (
        f"last {figure(last, metric)}{since}; min {figure(low, metric)} at {_when(low_ts, view.span)}"
        f"; max {figure(high, metric)} at {_when(high_ts, view.span)}"
    )
    if metric.type is not MetricType.COUNTER:
        return words
    rate = _rate(view)
    total = quantity(sum(value for _, value in present), metric.unit)
    return f"{words}; total {total}" + (
        f", on average {quantity(rate, metric.unit)} per second" if rate is not None else ""
    )


def _states(present: Sequence[tuple[int, int | float]], view: Trend) -> str:
    metric = view.metric
    last = state(present[-1][1], metric)
    times = Counter(state(value, metric) for _, value in present)
    return f"last {last}; seen: " + ", ".join(f"{name} at {_polls(count, view)}" for name, count in times.most_common())


def _footer(view: Trend, width: int) -> list[str]:
    times = [ts for ts, _ in view.points]
    distances = [after - before for before, after in pairwise(times)]
    every = f", one every {age(int(median(distances)))}" if distances else ""
    found = gap_spans(view)
    named = ", ".join(f"{_when(gap.since, view.span)} to {_when(gap.until, view.span)}" for gap in found[:MOST_GAPS])
    more = f" and {len(found) - MOST_GAPS:,} more" if len(found) > MOST_GAPS else ""
    breaks = f"{len(found):,} gap{'' if len(found) == 1 else 's'} ({named}{more})" if found else "no gaps"
    unit = unit_of(replace(view.metric, unit=_UNITS.get(view.metric.unit, view.metric.unit)))
    parts = [
        f"{_polls(len(times), view)}{every}, {breaks}",
        f"{_from_to(TimeRange(times[0], times[-1]))} {zone_name(times[-1])}",
    ]
    if deleted := not_kept(view):
        parts.append(deleted)
    return wrap("; ".join(parts) + (f"; unit: {unit}" if unit else ""), width, rest="  ")


def _rate(view: Trend) -> float | None:
    """The increase per second over the intervals with a value; None where they are not known."""
    increase, ms = 0.0, 0
    for (_, value), length in zip(view.points, _lengths(view), strict=True):
        if _is(value) and value is not None and length:
            increase += value
            ms += length
    return 1000 * increase / ms if ms else None


def _plain(value: int | float | None, metric: Metric) -> int | float | None:
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return None
    return round(value, 2) if metric.unit == "pct" else value


def _polls(count: int, view: Trend) -> str:
    return f"{count} {'record' if view.by_records else 'poll'}{'' if count == 1 else 's'}"


def _when(ts: int, span: TimeRange) -> str:
    return clock(ts) if day(span.since) == day(span.until) else moment(ts)


def _from_to(span: TimeRange) -> str:
    return f"{moment(span.since)} to {_when(span.until, span)}"
