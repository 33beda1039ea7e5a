"""The past of metrics: points and their columns, baselines, the choice of a source, and a history in memory.

The store implements ``MetricHistory``; nothing here reads or writes. Polls and records count the same events, so
increases of two sources over the same time must never be added up: every look into the past takes one source.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from itertools import chain
from typing import NamedTuple, Protocol, TypeVar, overload

from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.timestamps import HOUR_MS, WEEK_MS
from mqvitals_rules.vocabulary.event import CONSOLE, EVENT_CATEGORIES, are_followed, is_event
from mqvitals_rules.vocabulary.metric import Absence, Value


class Point(NamedTuple):
    """One poll: when (ms UTC), the value (None: absent), and the ms since the poll before (None: unknown).

    Of a record: its end, the value, and the length of its own interval.
    """

    ts: int
    value: float | None
    interval_ms: int | None


@dataclass(frozen=True, slots=True)
class ObjectMessage:
    """A console message of a queue manager: when (ms UTC), its id (``CSQP020E``), and the object that it names, if it
    names one.

    ``times``: so often the same was written then. ``inserts`` are (name, text) of what its words name.
    """

    ts: int
    id: str
    object: ObjectName | None = None
    times: int = 1
    inserts: tuple[tuple[str, str], ...] = ()

    def insert(self, name: str) -> str | None:
        """The text of an insert; None: the message has no such insert."""
        return next((text for insert, text in self.inserts if insert == name), None)


_SPARE_BITS = 11
"""A double holds 53 of the 64 bits of a hash."""


def comparable(value: Value) -> float:
    """A number as it is, and of a text one that only the same text has: enough to see that it did not change."""
    return float(hash(value) >> _SPARE_BITS) if isinstance(value, str) else float(value)


class MetricHistory(Protocol):
    """History of single metrics, as far back as the rules need.

    All points of a result come from one source (``covering``): where a metric has both, polls and records are not
    mixed.
    """

    def points(self, object_name: ObjectName, metric: str, since: int) -> Sequence[Point]:
        """Every poll of the object with ts > ``since``, oldest first, absent values included as None."""
        ...

    def covered(self, object_name: ObjectName, metric: str, since: int, window_ms: int) -> Sequence[float]:
        """The values of a window that began at ``since``; none when they do not cover it (``covered_values``)."""
        ...

    def last(self, object_name: ObjectName, metric: str, count: int) -> Sequence[Point]:
        """The newest ``count`` polls, oldest first, absent values included as None."""
        ...

    def baseline(self, object_name: ObjectName, metric: str, now: int, counter: bool) -> float | None:  # noqa: FBT001
        """What the metric usually is at this weekday and hour of its owner's time zone (UTC where that is not known):
        the median of the hour's means in the weeks before.

        Of a ``counter`` the means are increases a second. None with fewer than three such hours.
        """
        ...

    def messages(self, owner: str, ids: frozenset[str], since: int) -> Sequence[ObjectMessage] | None:
        """The console messages and events of an owner with one of ``ids`` and ts > ``since``, oldest first.

        None: no console of it is followed, or a queue of such events is not read; without ids, none of all.
        """
        ...


WEEKS = 8
"""Weeks that a baseline looks back."""

LEAST_HOURS = 3
"""Fewer hours make no baseline."""


ZoneOf = Callable[[str], tzinfo | None]
"""The time zone of an owner; None where it is not known."""


def no_zone(_: str) -> None:
    """No zone is known: hours are those of UTC."""


def hours(now: int, zone: tzinfo | None = None) -> tuple[int, ...]:
    """When the hours began (ms UTC) that are compared with the hour of ``now``, the newest first.

    They are at the same hour of the clock in ``zone``, also where that was changed since. Stored hours are whole hours
    of UTC.
    """
    begin = now - now % HOUR_MS
    begun = [begin - week * WEEK_MS for week in range(1, WEEKS + 1)]
    if zone is None:
        return tuple(begun)
    offset = _offset_ms(begin, zone)
    return tuple(ts + round((offset - _offset_ms(ts, zone)) / HOUR_MS) * HOUR_MS for ts in begun)


def _offset_ms(ts: int, zone: tzinfo) -> int:
    offset = datetime.fromtimestamp(ts / 1000, zone).utcoffset()
    return 0 if offset is None else round(offset.total_seconds() * 1000)


def mean(points: Sequence[Point], *, counter: bool) -> float | None:
    """The mean of an hour's values; of a counter the increase a second. None when there is none."""
    known = [(point.value, point.interval_ms) for point in points if point.value is not None]
    if not counter:
        return _number(sum(value for value, _ in known) / len(known)) if known else None
    timed = [(value, interval) for value, interval in known if interval]
    duration_ms = sum(interval for _, interval in timed)
    return _number(1000 * sum(value for value, _ in timed) / duration_ms) if duration_ms else None


def middle(means: Iterable[float | None]) -> float | None:
    """The median of the hours that are known; None when they are too few."""
    known = [each for each in means if each is not None]
    if len(known) < LEAST_HOURS:
        return None
    from statistics import median  # a heavy import that few commands need

    return _number(median(known))


def usual(
    of_hour: Callable[[int, int], Sequence[Point]], now: int, *, counter: bool, zone: tzinfo | None = None
) -> float | None:
    """The baseline as of ``now``.

    ``of_hour`` gives the points with a time after its first and up to its second argument.
    """
    return middle(mean(of_hour(begin, begin + HOUR_MS), counter=counter) for begin in hours(now, zone))


def _number(value: float) -> float | None:
    return value if value == value else None


UNKNOWN_MS = 1 << 61
"""A gap longer than this reaches back to the beginning: there was no poll before."""


class Polls(Sequence[Point]):
    """A sequence of points as columns, which makes a point only on access.

    ``values`` has NaN for what is absent. ``intervals`` are as reported, negative where unknown; None: each is the
    time since the poll before, the first one's since ``before``.
    """

    __slots__ = ("before", "intervals", "ts", "values")

    def __init__(self, ts: array[int], values: array[float], intervals: array[int] | None, before: int) -> None:
        self.ts = ts
        self.values = values
        self.intervals = intervals
        self.before = before

    @property
    def whole(self) -> bool:
        """Whether there are values, and none is absent."""
        total = sum(self.values)
        return total == total and len(self.ts) > 0

    @property
    def known(self) -> Sequence[float]:
        """The values that are there."""
        return [value for value in self.values if value == value]

    @property
    def gaps(self) -> Sequence[int]:
        """The ms since the poll before of each poll; negative, or ``UNKNOWN_MS`` and more, where that is not known."""
        if self.intervals is not None:
            return self.intervals
        return [ts - before for ts, before in zip(self.ts, chain((self.before,), self.ts), strict=False)]

    def __len__(self) -> int:
        return len(self.ts)

    def __iter__(self) -> Iterator[Point]:
        for ts, value, gap in zip(self.ts, self.values, self.gaps, strict=True):
            yield Point(ts, value if value == value else None, gap if 0 <= gap < UNKNOWN_MS else None)

    @overload
    def __getitem__(self, place: int) -> Point: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Point]: ...

    def __getitem__(self, place: int | slice) -> Point | Sequence[Point]:
        if isinstance(place, slice):
            return list(self)[place]
        place = range(len(self.ts))[place]
        ts, value = self.ts[place], self.values[place]
        if self.intervals is not None:
            gap = self.intervals[place]
        else:
            gap = ts - (self.ts[place - 1] if place else self.before)
        return Point(ts, value if value == value else None, gap if 0 <= gap < UNKNOWN_MS else None)

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as a list


LEAST_COVERAGE = 0.8
"""The share of a window that data must cover for its average, least and greatest value to mean anything."""


def covered_values(points: Sequence[Point], since: int, window_ms: int) -> Sequence[float]:
    """The values of a window that began at ``since``, oldest first; none when they do not cover the window."""
    if points.__class__ is Polls and points.intervals is None:
        # The usual case, for thousands of objects: written out.
        known, times, before = points.values, points.ts, points.before
        if not known:
            return []
        total = sum(known)
        if total == total:
            if times[0] - before >= UNKNOWN_MS:
                before = times[0]
            covered = times[-1] - max(before, since)
            return known if covered >= LEAST_COVERAGE * window_ms else []
    values = []
    covered = 0
    if points.__class__ is Polls:
        for ts, value, gap in zip(points.ts, points.values, points.gaps, strict=True):
            if value == value:
                values.append(value)
                if 0 <= gap < UNKNOWN_MS:
                    covered += min(gap, ts - since)
        return values if covered >= LEAST_COVERAGE * window_ms else []
    for point in points:
        if point.value is None:
            continue
        values.append(point.value)
        if point.interval_ms is not None:
            # The interval of the first point reaches back to before the window.
            covered += min(point.interval_ms, point.ts - since)
    return values if covered >= LEAST_COVERAGE * window_ms else []


class SourcePoint(Protocol):
    """A value of a source: the end of its interval (ms UTC), the interval's length (None: unknown), and the number."""

    @property
    def ts(self) -> int:
        """The end, ms UTC."""
        ...

    @property
    def interval_ms(self) -> int | None:
        """The length, ms."""
        ...

    @property
    def value(self) -> float | None:
        """The number; None: absent."""
        ...


AS_WELL = 0.8
"""A source that covers this share of what the best one covers is as good: a missed poll is no reason to change."""

_NEVER = -(1 << 62)

T = TypeVar("T", bound=SourcePoint)


def covering(by_source: Mapping[Source, Sequence[T]], since: int) -> tuple[Source, Sequence[T]]:
    """The first source, polls before records, whose values cover the time after ``since`` about as well as any
    source's.

    So the records of a queue manager answer for hours without polls, and its polls for all others.
    """
    if by_source.keys() == {Source.POLL}:
        # Most objects have no records.
        return Source.POLL, by_source[Source.POLL]
    covered = {source: _covered(points, since) for source, points in sorted(by_source.items())}
    most = max(covered.values(), default=0)
    if most > 0:
        chosen = next(source for source, ms in covered.items() if ms >= AS_WELL * most)
    else:
        chosen = _first_present(by_source)
    return chosen, by_source.get(chosen, ())


def newest(by_source: Mapping[Source, Sequence[T]]) -> tuple[Source, Sequence[T]]:
    """The source with the newest value, as current state takes it; of equal ones the first, polls before records."""
    last = {source: _last(points) for source, points in sorted(by_source.items())}
    latest = max(last.values(), default=_NEVER)
    chosen = Source.POLL if latest == _NEVER else next(source for source, ts in last.items() if ts == latest)
    return chosen, by_source.get(chosen, ())


def _first_present(by_source: Mapping[Source, Sequence[T]]) -> Source:
    """Without intervals: the first source that has any value, else the polls, whose absences have reasons."""
    return next((source for source in sorted(by_source) if _last(by_source[source]) != _NEVER), Source.POLL)


def _covered(points: Sequence[SourcePoint], since: int) -> int:
    if isinstance(points, Polls):
        columns = zip(points.ts, points.values, points.gaps, strict=True)
        return sum([min(ts - since, gap) for ts, value, gap in columns if value == value and 0 <= gap < UNKNOWN_MS])
    return sum(
        min(point.interval_ms, point.ts - since)
        for point in points
        if point.value is not None and point.interval_ms is not None
    )


def _last(points: Sequence[SourcePoint]) -> int:
    return next((point.ts for point in reversed(points) if point.value is not None), _NEVER)


_Points = dict[str, list[Point]]


class MemoryHistory:
    """Implements ``MetricHistory`` over every snapshot it is given. It keeps everything."""

    def __init__(self, zone_of: ZoneOf = no_zone) -> None:
        self._zone_of = zone_of
        self._points: dict[ObjectName, dict[Source, _Points]] = {}
        self._messages: dict[str, list[ObjectMessage]] = {}
        self._followed: dict[str, set[str]] = {}

    def add(self, snapshot: Snapshot) -> None:
        """Take in a snapshot: one point for each metric of each object.

        Those of polls are at the snapshot's time, those of records at the end of the record, in any order.
        """
        for reading in snapshot.readings:
            if reading.gone:
                continue
            metrics = self._points.setdefault(reading.object, {}).setdefault(reading.source, {})
            if reading.source is not Source.POLL:
                _insert(metrics, reading)
                continue
            for metric, value in reading.values.items():
                points = metrics.setdefault(metric, [])
                interval = snapshot.ts - points[-1].ts if points else None
                if interval == 0:
                    points.pop()  # a second reading of the same cycle belongs to the same point
                    interval = snapshot.ts - points[-1].ts if points else None
                points.append(Point(snapshot.ts, None if isinstance(value, Absence) else comparable(value), interval))

    def points(self, object_name: ObjectName, metric: str, since: int) -> Sequence[Point]:
        """Every poll, or record, with ts > ``since``, oldest first."""
        by_source = {
            source: [point for point in points if point.ts > since]
            for source, points in self._by_source(object_name, metric).items()
        }
        return covering(by_source, since)[1]

    def covered(self, object_name: ObjectName, metric: str, since: int, window_ms: int) -> Sequence[float]:
        """The values of a window that they cover."""
        return covered_values(self.points(object_name, metric, since), since, window_ms)

    def last(self, object_name: ObjectName, metric: str, count: int) -> Sequence[Point]:
        """The newest ``count`` polls, or records, oldest first."""
        return newest(self._by_source(object_name, metric))[1][-count:] if count > 0 else []

    def baseline(self, object_name: ObjectName, metric: str, now: int, counter: bool) -> float | None:  # noqa: FBT001
        """What the metric usually is at this weekday and hour: of polls, or of records, whichever cover more of these
        hours.
        """
        zone = self._zone_of(object_name.owner)
        return usual(lambda begin, end: self._hour(object_name, metric, begin, end), now, counter=counter, zone=zone)

    def _hour(self, name: ObjectName, metric: str, begin: int, end: int) -> Sequence[Point]:
        by_source = {
            source: [point for point in points if begin < point.ts <= end]
            for source, points in self._by_source(name, metric).items()
        }
        return covering(by_source, begin)[1]

    def add_message(self, owner: str, message: ObjectMessage) -> None:
        """Take in a message, in any order. From the first one on the owner's console, or all its events, are followed."""
        self._followed.setdefault(owner, set()).update(EVENT_CATEGORIES if is_event(message.id) else (CONSOLE,))
        insort(self._messages.setdefault(owner, []), message, key=lambda each: each.ts)

    def follow(self, owner: str) -> None:
        """From now on the owner's console is followed, though there is no message yet."""
        self._followed.setdefault(owner, set()).add(CONSOLE)

    def messages(self, owner: str, ids: frozenset[str], since: int) -> Sequence[ObjectMessage] | None:
        """The messages of an owner with one of ``ids`` and ts > ``since``, oldest first; None: they are not followed."""
        if not are_followed(self._followed.get(owner, ()), ids):
            return None
        return [each for each in self._messages.get(owner, ()) if each.id in ids and each.ts > since]

    def _by_source(self, name: ObjectName, metric: str) -> Mapping[Source, Sequence[Point]]:
        return {source: metrics.get(metric, []) for source, metrics in self._points.get(name, {}).items()}


def _insert(metrics: _Points, record: Reading) -> None:
    for metric, value in record.values.items():
        if isinstance(value, Absence):
            continue
        points = metrics.setdefault(metric, [])
        place = bisect_left(points, record.ts, key=lambda point: point.ts)
        same = place < len(points) and points[place].ts == record.ts
        points[place : place + same] = [Point(record.ts, comparable(value), record.interval_ms)]
