"""A slice of history as one table: a row for each object and sample, or each object and part of the time.

It is read a day at a time, or as many parts as fill a day, and some objects at a time: a year needs no more memory than
a day. Of an object that has records too, the source that covers such a time best is taken, as for a trend. Parts of whole
hours whose samples are rolled up are told by what hours came to, as a trend tells them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from mqvitals_agent.commandline.table_files import CellType, FileCell, FileColumn
from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.view.figures.buckets import Parts
from mqvitals_agent.view.figures.trend import Aggregate, Trend, trend_of, unit_of
from mqvitals_agent.view.trend.hours import seam_of, with_hours
from mqvitals_agent.view.trend.report import shown_value
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import DAY_MS, HOUR_MS
from mqvitals_rules.vocabulary.metric import Metric, MetricType

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.store.result import Series

_NEAR_MS: Final = 10_800_000
"""So long before and after the parts of a day polls are read too: a value goes on for a while, an increase began before."""

_AT = FileColumn(
    "at", CellType.TIME, "", "when it was taken; of a record when its interval ended; of a part its beginning"
)
_OF_OBJECT = (
    FileColumn("owner", CellType.TEXT, "", "queue manager or queue-sharing group"),
    FileColumn("kind", CellType.TEXT),
    FileColumn("name", CellType.TEXT),
)
_OF_SAMPLE = (
    FileColumn("source", CellType.TEXT, "", "poll, statistics (message), smf (record), import"),
    FileColumn("interval_s", CellType.NUMBER, "s", "the time in which the increases of counters arose"),
)

ShowProgress = Callable[[float], None]
"""Called with the hours of history that are written."""


class Slice(NamedTuple):
    """What to export: objects of one kind, some of its metrics, and the time, parted or not.

    ``codes``: states are MQ's numbers, not words.
    """

    objects: Sequence[ObjectName]
    metrics: Sequence[Metric]
    span: TimeRange
    parts: Parts | None = None
    codes: bool = False


def columns_of(wanted: Slice) -> tuple[FileColumn, ...]:
    """The columns of the table."""
    of_samples = _OF_SAMPLE if wanted.parts is None else ()
    return (_AT, *_OF_OBJECT, *of_samples, *(_column(each, wanted) for each in wanted.metrics))


def _column(metric: Metric, wanted: Slice) -> FileColumn:
    if metric.type is MetricType.STATE:
        return FileColumn(metric.name, CellType.WHOLE if wanted.codes else CellType.TEXT, "", metric.meaning)
    unit = unit_of(metric)
    if wanted.parts is not None and metric.type is MetricType.COUNTER:
        unit = metric.unit if wanted.parts.aggregate is Aggregate.SUM else f"{metric.unit} per second"
    return FileColumn(metric.name, CellType.NUMBER, unit, metric.meaning)


def export_rows(reader: StoreReader, wanted: Slice, progress: ShowProgress) -> Iterator[tuple[FileCell, ...]]:
    """The rows, day by day, in a day object by object, and of an object in order of time. Raises StoreError."""
    named = [_words(each, wanted) for each in wanted.metrics]
    done = 0.0
    seams, firsts = _seams(reader, wanted), _firsts(reader, wanted)
    for window in _windows(wanted, frozenset(seams.values())):
        hours = (window.span.until + 1 - window.span.since) / HOUR_MS
        for place, (name, rows) in enumerate(_rows_of(reader, wanted, window, seams, firsts), 1):
            for row in rows:
                cells = (None if value is None else word(value) for word, value in zip(named, row.values, strict=True))
                yield (row.at, *name, *row.sample, *cells)
            progress(done + hours * place / len(wanted.objects))
        done += hours


class _Row(NamedTuple):
    """When, the source and interval of a sample (of a part none), the values of the metrics."""

    at: int
    sample: tuple[FileCell, ...]
    values: Sequence[float | None]


class _Window(NamedTuple):
    """A time that is read at once, and the ends of the parts in it; without parts it has none."""

    span: TimeRange
    edges: Sequence[int] = ()


def _seams(reader: StoreReader, wanted: Slice) -> Mapping[str, int]:
    """By metric, the beginning of the first part (ms UTC) that samples tell of; those before are told by what hours came to."""
    if wanted.parts is None:
        return {}
    kind = wanted.objects[0].kind
    return {each.name: seam_of(reader, kind, (each,), wanted.parts) for each in wanted.metrics}


def _firsts(reader: StoreReader, wanted: Slice) -> Mapping[ObjectName, int]:
    """When each object was seen first, ms UTC: there are no parts of the time before."""
    if wanted.parts is None:
        return {}
    return {each.name: each.first_ts for each in reader.objects(f"*/{wanted.objects[0].kind}/*", gone=True)}


def _windows(wanted: Slice, breaks: Collection[int]) -> Iterator[_Window]:
    """The time in pieces; parts of the time that begin at one of ``breaks`` begin a piece."""
    if wanted.parts is None:
        since, until = wanted.span
        while since <= until:
            end = min((since // DAY_MS + 1) * DAY_MS - 1, until)
            yield _Window(TimeRange(since, end))
            since = end + 1
        return
    edges: list[int] = []
    for begin, end in pairwise(wanted.parts.edges):
        edges = edges or [begin]
        edges.append(end)
        if end - edges[0] >= DAY_MS or end in breaks or end == wanted.parts.edges[-1]:
            yield _Window(TimeRange(edges[0], end - 1), tuple(edges))
            edges = []


def _rows_of(
    reader: StoreReader, wanted: Slice, window: _Window, seams: Mapping[str, int], firsts: Mapping[ObjectName, int]
) -> Iterator[tuple[ObjectName, Iterator[_Row]]]:
    names = [each.name for each in wanted.metrics]
    if wanted.parts is None:
        for name, series in reader.trends_of(wanted.objects, names, *window.span):
            yield name, _samples([series[each] for each in names])
        return
    parts = wanted.parts._replace(edges=window.edges)
    by_hours = [each for each in names if seams[each] >= window.edges[-1]]
    sampled = [each for each in names if each not in by_hours]
    for near, objects in _with_nearness(reader, wanted.objects):
        span = TimeRange(
            max(window.span.since - near, wanted.span.since), min(window.span.until + near, wanted.span.until)
        )
        found = reader.trends_of(objects, sampled, *span) if sampled else ((name, {}) for name in objects)
        for name, series in found:
            hours = reader.hour_figures(name, by_hours, window.edges[0], window.edges[-1]) if by_hours else {}
            trends = [
                with_hours(Trend(name, each, (), window.span), hours[each.name].hours, parts, window.edges[-1])
                if each.name in hours
                else parts.of(trend_of(name, each, series[each.name], span))
                for each in wanted.metrics
            ]
            yield name, _parts(trends, window.edges[1:], firsts.get(name, 0))


def _with_nearness(reader: StoreReader, objects: Sequence[ObjectName]) -> Iterator[tuple[int, Sequence[ObjectName]]]:
    """The objects, and for how long before and after a piece their samples are read too: a record may be as long as a day."""
    recorded = {name for name in objects if reader.record_sources(name)}
    polled = [name for name in objects if name not in recorded]
    if polled:
        yield _NEAR_MS, polled
    if recorded:
        yield DAY_MS, sorted(recorded)


def _parts(trends: Sequence[Trend], ends: Sequence[int], first: int) -> Iterator[_Row]:
    """The parts that end at ``ends``; those that are over when the object was ``first`` seen (ms UTC) only with a value."""
    for end, *points in zip(ends, *(each.points for each in trends), strict=True):
        values = [value for _, value in points]
        if end > first or any(value is not None for value in values):
            yield _Row(points[0][0], (), values)


def _samples(found: Sequence[Series]) -> Iterator[_Row]:
    """Samples of one time and source are one row, whichever metrics they have."""
    rows: dict[tuple[int, int], tuple[float | None, list[float | None]]] = {}
    for place, series in enumerate(found):
        lengths = series.intervals or (None,) * len(series.points)
        for (ts, value), ms in zip(series.points, lengths, strict=True):
            key = ts, int(series.source)
            row = rows.get(key)
            if row is None:
                row = rows[key] = (None if ms is None else ms / 1000, [None] * len(found))
            row[1][place] = value
    sources = {int(each.source): each.source.name.lower() for each in found}
    for (ts, source), (interval, values) in sorted(rows.items()):
        yield _Row(ts, (sources[source], interval), values)


def _words(metric: Metric, wanted: Slice) -> Callable[[float], FileCell]:
    """How a value of a metric is written: of a sample as it is, of a part as a trend shows it."""
    if metric.type is not MetricType.STATE and wanted.parts is not None:
        return lambda value: shown_value(value, metric)
    if metric.type is not MetricType.STATE or wanted.codes:
        return lambda value: value
    words = {number: word for word, number in reversed(list(metric.values.items()))}
    return lambda value: words.get(int(value), str(value))
