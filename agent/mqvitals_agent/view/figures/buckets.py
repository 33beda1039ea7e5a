"""A series in equal parts of the clock's time: the mean, least, greatest or last value of each, weighted by time.

A value counts for the time that it is about: the increase of a counter, and what a record tells, for its interval; a
polled number or state until the next poll, unless a pause comes first. So polls at mixed distances weigh what they
should, and a part without data is a gap.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta, tzinfo
from itertools import pairwise
from statistics import median
from typing import Final, NamedTuple

from mqvitals_agent.text.chart import TimeRange, longest_distance
from mqvitals_agent.view.figures.trend import Aggregate, Trend, is_known, lengths_of
from mqvitals_rules.timestamps import DAY_MS
from mqvitals_rules.vocabulary.metric import Metric, MetricType

MOST_BUCKETS: Final = 100_000
_LEAST_MS: Final = 1_000
_HIGH_SHARE: Final = 0.95
"""The share of the time that the 95th percentile is not exceeded in."""


class Piece(NamedTuple):
    """A time (ms UTC, the end not included) and the value that holds in it; of a counter the increase a second.

    ``at`` is when it was told. ``holds``: it was told at its beginning, and is taken to go on.
    """

    begin: int
    end: int
    value: float
    at: int
    holds: bool


class Figures(NamedTuple):
    """What is to be said of a series over a time: figures weighted by time, and when the extremes were told (ms UTC).

    Of a counter they are increases a second; ``total`` is its increase. ``covered_ms`` is the time with data.
    """

    avg: float
    min: float
    max: float
    p95: float
    last: float
    total: float
    min_at: int
    max_at: int
    last_at: int
    covered_ms: int


def bucket_edges(span: TimeRange, every_ms: int, zone: tzinfo) -> list[int]:
    """Where the parts begin (ms UTC) that cover ``span``, and where the last one ends: at full steps of the clock in
    ``zone``, counted from midnight; days at midnight, 7 days on Mondays.

    Where clocks go back, a part that is not longer than the hour that comes twice is there twice. Raises ValueError with
    the reason for steps that do not divide a day, and for too many.
    """
    if every_ms < _LEAST_MS or (DAY_MS % every_ms and every_ms % DAY_MS):
        raise ValueError(
            "parts begin with the clock: write one that divides a day, such as 5m, 1h or 6h, or whole days"
        )
    if (span.until - span.since) // every_ms > MOST_BUCKETS:
        raise ValueError(f"that is more than {MOST_BUCKETS:,} parts of the time")
    try:
        found = list(_edges(span, every_ms, zone))
    except OverflowError as error:
        raise ValueError("the time ends beyond the calendar") from error
    begin = max(bisect_right(found, span.since) - 1, 0)
    return found[begin : bisect_right(found, span.until) + 1]


def _edges(span: TimeRange, every_ms: int, zone: tzinfo) -> Iterator[int]:
    day = datetime.fromtimestamp(span.since / 1000, zone).date()
    days = max(every_ms // DAY_MS, 1)
    day = date.fromordinal((day.toordinal() - 1) // days * days + 1)
    edge = span.since - 1
    while edge <= span.until:
        begin = datetime.combine(day, time.min)
        steps = (begin + timedelta(milliseconds=ms) for ms in range(0, DAY_MS, min(every_ms, DAY_MS)))
        for edge in sorted({at for step in steps for at in _moments(step, zone, every_ms)}):
            yield edge
        day += timedelta(days=days)


def _moments(clock: datetime, zone: tzinfo, every_ms: int) -> Iterator[int]:
    """The moment of a clock's time; both where it comes twice, and they are at least a part away from each other."""
    first, second = (int(clock.replace(tzinfo=zone, fold=fold).timestamp()) * 1000 for fold in (0, 1))
    yield first
    if second - first >= every_ms:
        yield second


def pieces_of(view: Trend) -> list[Piece]:
    """The times that the values of a series are about, by their beginning; a time without data has none."""
    points = list(zip(view.points, lengths_of(view), strict=True))
    if view.metric.type is MetricType.COUNTER or view.by_records:
        return sorted(_covered(view, points))
    longest = longest_distance(view.points)
    usual = median([after[0] - before[0] for before, after in pairwise(view.points)]) if len(points) > 1 else 0
    found = []
    for place, ((ts, value), _) in enumerate(points):
        following = points[place + 1][0][0] if place + 1 < len(points) else None
        end = ts + usual if following is None or following - ts > longest else following
        if is_known(value) and end >= ts:
            found.append(Piece(ts, max(int(end), ts + 1), value, ts, holds=True))
    return found


def _covered(view: Trend, points: Iterable[tuple[tuple[int, float | None], int | None]]) -> Iterator[Piece]:
    before: int | None = None
    for (ts, value), length in points:
        if not is_known(value):
            continue
        about = length or (ts - before if before is not None else 0)
        before = ts
        if about > 0:
            rate = 1000 * value / about if view.metric.type is MetricType.COUNTER else value
            yield Piece(ts - about, ts, rate, ts, holds=False)


class _Share(NamedTuple):
    """The part of a piece that lies in a bucket, ms."""

    ms: int
    piece: Piece
    begun: bool  # it is told of this time, and not only taken to go on


def _shares(pieces: Iterable[Piece], edges: Sequence[int]) -> list[list[_Share]]:
    """The parts of pieces in each bucket."""
    found: list[list[_Share]] = [[] for _ in range(len(edges) - 1)]
    for piece in pieces:
        place = max(bisect_right(edges, piece.begin) - 1, 0)
        while place < len(found) and edges[place] < piece.end:
            ms = min(piece.end, edges[place + 1]) - max(piece.begin, edges[place])
            if ms > 0:
                found[place].append(_Share(ms, piece, not piece.holds or piece.begin >= edges[place]))
            place += 1
    return found


def _figures(shares: Sequence[_Share]) -> Figures | None:
    """None without data."""
    if not shares:
        return None
    covered = sum(each.ms for each in shares)
    # A value that only goes on from before is no extreme of this time where there are others.
    own = [each.piece for each in shares if each.begun] or [each.piece for each in shares]
    low, high = min(own, key=lambda each: each.value), max(own, key=lambda each: each.value)
    last = max((each.piece for each in shares), key=lambda each: (each.at, each.begin))
    return Figures(
        avg=_mean(shares, covered),
        min=low.value,
        max=high.value,
        p95=_high(shares, covered),
        last=last.value,
        total=sum(each.ms / 1000 * each.piece.value for each in shares),
        min_at=low.at,
        max_at=high.at,
        last_at=last.at,
        covered_ms=covered,
    )


def _mean(shares: Sequence[_Share], covered: int) -> float:
    # Divided at the end, so that the mean of equal whole numbers is that number, unless the sum is too great for one.
    mean = sum(each.ms * each.piece.value for each in shares) / covered
    return mean if math.isfinite(mean) else sum(each.ms / covered * each.piece.value for each in shares)


def _high(shares: Sequence[_Share], covered: int) -> float:
    left = _HIGH_SHARE * covered
    for each in sorted(shares, key=lambda share: share.piece.value):
        left -= each.ms
        if left <= 0:
            break
    return each.piece.value


def figures_of(view: Trend) -> Figures | None:
    """The figures of a series over all of its time; None without data."""
    (shares,) = _shares(pieces_of(view), (view.span.since, view.span.until + 1))
    return _figures(shares)


def bucketed(view: Trend, edges: Sequence[int], every_ms: int, aggregate: Aggregate) -> Trend:
    """The series with one point for each part of the time, at its beginning: (ms UTC, value or None).

    ``intervals`` are the ms of each that data cover. The values of a counter are increases a second, or with ``sum`` the
    increase.
    """
    points: list[tuple[int, float | None]] = []
    covered = []
    for (begin, end), shares in zip(pairwise(edges), _shares(pieces_of(view), edges), strict=True):
        found = _figures(shares)
        points.append((begin, None if found is None else value_of(found, aggregate)))
        # Intervals are measured to the millisecond, each for itself.
        covered.append(0 if found is None else min(found.covered_ms, end - begin))
    span = TimeRange(edges[0], view.span.until)
    return replace(
        view, points=tuple(points), intervals=tuple(covered), span=span, every_ms=every_ms, aggregate=aggregate
    )


class Parts(NamedTuple):
    """How a time is parted: the ends of the parts (ms UTC), their length, and what is told of each; None: the usual."""

    edges: Sequence[int]
    every_ms: int
    aggregate: Aggregate | None = None

    def of(self, view: Trend) -> Trend:
        """The series in these parts; of a state always the last one."""
        return bucketed(view, self.edges, self.every_ms, self.of_metric(view.metric))

    def of_metric(self, metric: Metric) -> Aggregate:
        """What is told of each part of a metric."""
        return self.aggregate or (Aggregate.LAST if metric.type is MetricType.STATE else Aggregate.AVG)

    def since(self, seam: int) -> Parts:
        """The parts that begin at ``seam``, one of the edges, or later."""
        return self._replace(edges=[edge for edge in self.edges if edge >= seam])


def refusal(aggregate: Aggregate, metric: Metric) -> str:
    """Why a metric has no such figure; empty: it has."""
    if metric.type is MetricType.STATE and aggregate is not Aggregate.LAST:
        return f"{metric.name} is a state, of which there is no {aggregate.value}: take last"
    if aggregate is Aggregate.SUM and metric.type is not MetricType.COUNTER:
        return f"{metric.name} counts nothing that could be summed up: take avg, min, max, p95 or last"
    return ""


def value_of(found: Figures, aggregate: Aggregate) -> float:
    """The figure that is meant."""
    match aggregate:
        case Aggregate.AVG:
            return found.avg
        case Aggregate.MIN:
            return found.min
        case Aggregate.MAX:
            return found.max
        case Aggregate.P95:
            return found.p95
        case Aggregate.LAST:
            return found.last
        case Aggregate.SUM:
            return found.total
