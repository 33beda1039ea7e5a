"""A metric of an object over time: what a chart draws of it, and for which times there are no data.

A counter is drawn as a rate: each increase over the time that it is about, whatever the distance of the polls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from operator import itemgetter
from typing import TYPE_CHECKING, TypeGuard

from mqvitals_agent.store.rows.changes import Change
from mqvitals_agent.text.chart import TimeRange, pauses
from mqvitals_agent.text.figure import moment, quantity, zone_name
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.snapshot import ObjectName, Source
from mqvitals_rules.timestamps import HOUR_MS, MINUTE_MS
from mqvitals_rules.vocabulary.metric import Metric, MetricType

if TYPE_CHECKING:
    from mqvitals_agent.store.result import Series

Points = Sequence[tuple[int, int | float | None]]

_JOINT_MS = 2_000
"""Consecutive intervals may differ by this, ms."""
_SHARED_RECORD_KINDS = ("application", "cf_structure", "queue")
"""Kinds of objects whose samples may combine several records."""


class Aggregate(Enum):
    """What is shown of each part of a time."""

    AVG = "avg"
    MIN = "min"
    MAX = "max"
    P95 = "p95"
    SUM = "sum"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class Trend:
    """One series. ``why`` is the reason when the newest value is absent; ``note`` is a remark.

    ``intervals`` are the ms that each point is about, as ``Series`` has them; none given: unknown. ``by_records``: the
    points are those of records, not of polls. ``kept_from``: samples before that time (ms UTC) have been deleted; None:
    none. ``changes`` are those of the object's definition, oldest first; the ones in its time are marked, as are
    ``restarts`` of its queue manager (ms UTC, oldest first). ``alerts`` are those about the object that fired as warnings
    or worse in this time, in the order in which they arose. With ``every_ms`` and ``aggregate`` the points are those of
    equal parts of the time (``bucketed``): a counter's are rates, or with ``sum`` its increases; those before
    ``hours_until`` (ms UTC, 0: none) are of what hours came to, the others of samples.
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
    restarts: Sequence[int] = ()
    alerts: Sequence[Alert] = ()
    every_ms: int = 0
    aggregate: Aggregate | None = None
    hours_until: int = 0
    damaged: Sequence[int] = ()
    """The begins (ms UTC) of sealed hours that cannot be read."""
    lacking: str = ""
    """Why samples may be missing that an engine has, as a sentence."""

    @property
    def key(self) -> tuple[ObjectName, str]:
        """The object and the metric's name, which tell a series from others."""
        return self.object, self.metric.name


def trend_of(
    name: ObjectName,
    metric: Metric,
    series: Series,
    span: TimeRange,
    why: str = "",
    note: str = "",
    changes: Sequence[Change] = (),
    *,
    restarts: Sequence[int] = (),
    alerts: Sequence[Alert] = (),
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
        restarts=restarts,
        alerts=alerts,
        damaged=series.damaged,
        lacking=series.lacking,
    )


def not_kept(view: Trend) -> str:
    """The sentence that samples of the time, or a part of it, have been deleted or cannot be read; empty where all are
    there.
    """
    count = sum(view.span.since - HOUR_MS < hour <= view.span.until for hour in view.damaged)
    damaged = f"{count:,} hour{' is' if count == 1 else 's are'} damaged (mqvitals store check)" if count else ""
    return "; ".join(filter(None, (_deleted(view), damaged)))


def _deleted(view: Trend) -> str:
    if view.kept_from is None or view.kept_from <= view.span.since:
        return ""
    if view.kept_from > view.span.until:
        return f"Not kept: samples from before {moment(view.kept_from)} {zone_name(view.kept_from)} have been deleted (store.keep, store.limit)"
    return f"not kept before {moment(view.kept_from)} {zone_name(view.kept_from)}"


def unit_of(metric: Metric) -> str:
    """The unit of a series: a counter's values are increases, each over the time since the poll before."""
    if metric.type is MetricType.COUNTER:
        return f"{metric.unit} per interval" if metric.unit not in ("", "count") else "per interval"
    return metric.unit


def charted_unit(metric: Metric) -> str:
    """The unit of a chart: a counter's is a rate."""
    if metric.type is MetricType.COUNTER:
        return f"{metric.unit} per second" if metric.unit not in ("", "count") else "per second"
    return metric.unit


def value_words(metric: Metric) -> Callable[[float], str]:
    """How a chart says its values: a counter's as rates, ``240 msgs/s``."""
    end = "/s" if metric.type is MetricType.COUNTER else ""
    return lambda value: f"{quantity(value, metric.unit)}{end}"


def charted_points(points: Points, intervals: Sequence[int | None], metric: Metric) -> Points:
    """The points as charts show them: a counter's increases a second, each over the time (ms) that it is about.

    Where no intervals are known an increase is about the time since the value before; the first one is left absent.
    """
    if metric.type is not MetricType.COUNTER:
        return tuple(points)
    rates: list[tuple[int, float | None]] = []
    before: int | None = None
    for (ts, value), length in zip(points, intervals or (None,) * len(points), strict=True):
        if value is None or not math.isfinite(value):
            rates.append((ts, None))
            continue
        about = length or (ts - before if before is not None else 0)
        rates.append((ts, 1000 * value / about if about > 0 else None))
        before = ts
    return tuple(rates)


def is_rate(view: Trend) -> bool:
    """Whether the values that are shown are those of a counter a second."""
    return view.metric.type is MetricType.COUNTER and view.aggregate is not Aggregate.SUM


def shown_unit(view: Trend) -> str:
    """The unit of the values that a chart shows."""
    return charted_unit(view.metric) if is_rate(view) else view.metric.unit


def shown_words(view: Trend) -> Callable[[float], str]:
    """How the values that a chart shows are said."""
    return value_words(view.metric) if is_rate(view) else lambda value: quantity(value, view.metric.unit)


def shown_points(view: Trend) -> Points:
    """The points with the values that a chart shows: of a counter its rates."""
    return view.points if view.every_ms else charted_points(view.points, view.intervals, view.metric)


def drawn_points(view: Trend) -> Points:
    """The points as a chart draws them: rates for a counter, and an absent one in each range without data.

    A poll without an answer is no gap where the next increase covers its time too. The value of a part of the time goes
    on to its end.
    """
    if view.every_ms:
        return (*view.points, *((view.span.until, value) for _, value in view.points[-1:]))
    points = charted_points(view.points, lengths_of(view), view.metric)
    if not _is_covered(view):
        return points
    gaps = [(gap.since + 1, None) for gap in gap_spans(view)]
    ends_absent = points[-1:] if points and not is_known(points[-1][1]) else ()
    return sorted([*(point for point in points if is_known(point[1])), *gaps, *ends_absent], key=itemgetter(0))


def _is_covered(view: Trend) -> bool:
    """Whether each value says which time it is about, so that what lies between two of them is known."""
    if not (view.by_records or view.metric.type is MetricType.COUNTER):
        return False
    return all(
        length is not None for (_, value), length in zip(view.points, lengths_of(view), strict=True) if is_known(value)
    )


def longest_joined(view: Trend) -> float | None:
    """The longest distance of two points that are joined; there is no limit where gaps have points of their own."""
    return math.inf if view.every_ms or _is_covered(view) else None


def gap_spans(view: Trend) -> tuple[TimeRange, ...]:
    """The time ranges without data, oldest first.

    For polls: runs of absent values and pauses without polls, unless the increase of a counter covers them. For
    records: the time between the end of a record with a value and the beginning of the next one's interval.
    """
    if view.every_ms:
        return tuple(_empty_parts(view))
    present = [
        (ts, length) for (ts, value), length in zip(view.points, lengths_of(view), strict=True) if is_known(value)
    ]
    if view.by_records and all(length is not None for _, length in present):
        return tuple(_uncovered(view, [(ts, length or 0) for ts, length in present]))
    covers = {ts: ts - (length or 0) - _JOINT_MS for ts, length in present} if _is_covered(view) else {}
    return tuple(gap for gap in pauses(view.points) if covers.get(gap.until, gap.until) > gap.since)


def _empty_parts(view: Trend) -> Iterator[TimeRange]:
    """Runs of parts without data, each from its beginning to that of the next part with data."""
    since: int | None = None
    for ts, value in (*view.points, (view.span.until, 0)):
        if not is_known(value):
            since = ts if since is None else since
        elif since is not None:
            yield TimeRange(since, ts)
            since = None


def _uncovered(view: Trend, present: Sequence[tuple[int, int]]) -> Iterator[TimeRange]:
    covered: int | None = None
    for ts, length in present:
        # A sample that combines several records is dated at the nearest full minute.
        rounded = view.object.kind in _SHARED_RECORD_KINDS and ts % MINUTE_MS == 0
        spare = max(_JOINT_MS, length // 2 if rounded else 0)
        if covered is not None and ts - length - covered > spare:
            yield TimeRange(covered, ts - length)
        covered = ts if covered is None else max(covered, ts)


def lengths_of(view: Trend) -> Sequence[int | None]:
    """The ms that each point is about; None: unknown."""
    return view.intervals or (None,) * len(view.points)


def is_known(value: float | None) -> TypeGuard[float]:
    """Whether there is a number that can be drawn."""
    return value is not None and math.isfinite(value)
