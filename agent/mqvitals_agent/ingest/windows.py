"""The past that rules look at: the newest polls in memory, what is older from the store."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from math import nan
from typing import NamedTuple

from mqvitals_agent.ingest.memory import BEGINNING as _BEGINNING
from mqvitals_agent.ingest.memory import UNKNOWN_INTERVAL, HourlyBaselines, RecordTrack, Track
from mqvitals_agent.ingest.messages import MessageWindow
from mqvitals_agent.ingest.stored_baselines import FurtherHours
from mqvitals_agent.store.older import PastReader
from mqvitals_agent.store.rows.samples.hour_means import HourMean
from mqvitals_agent.store.rows.samples.sample import Poll, Sample
from mqvitals_rules.expression import WindowUse
from mqvitals_rules.history import (
    LEAST_COVERAGE,
    UNKNOWN_MS,
    ObjectMessage,
    Point,
    Polls,
    ZoneOf,
    comparable,
    covered_values,
    covering,
    newest,
    no_zone,
)
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence, Kind, MetricType, Reported
from mqvitals_rules.vocabulary.tables import KINDS

_RECENT_MS = 3_600_000
_RECORDS_MS = 4 * 3_600_000
"""So far back, beyond what rules look at, records are read at the start: the newest may be that old."""

_POLL = Source.POLL
_PORTION = 16
"""So many polls at least are forgotten at once."""


class WindowedMetric(NamedTuple):
    """A metric that rules look back on: how long (``span_ms``) and how many ``polls``, whichever is more.

    ``baseline``: they ask what it usually is.
    """

    @classmethod
    def by(cls, use: WindowUse) -> WindowedMetric:
        """What a rule's look into the past needs."""
        return cls(use.kind, use.metric, use.window_ms, max(1, use.polls), use.function == "baseline")

    kind: str
    metric: str
    span_ms: int = 0
    polls: int = 1
    baseline: bool = False


class _WindowPlan:
    """What to keep of the objects of one kind."""

    __slots__ = ("counters", "index", "metrics", "places", "polls", "span_ms", "stored", "texts", "usual")

    def __init__(self, kind: Kind, wanted: Sequence[WindowedMetric]) -> None:
        self.metrics = tuple(dict.fromkeys(each.metric for each in wanted))
        self.index = {metric: number for number, metric in enumerate(self.metrics)}
        self.span_ms = max(each.span_ms for each in wanted)
        self.polls = max(each.polls for each in wanted)
        types = {metric.name: metric.type for metric in kind.metrics}
        self.usual = tuple(
            (self.index[metric], metric) for metric in sorted({each.metric for each in wanted if each.baseline})
        )
        # Of a text it is noted only whether it changed; the store has no past of it.
        self.texts = tuple(self.index[metric] for metric in self.metrics if types[metric] is MetricType.TEXT)
        self.stored = tuple(metric for metric in self.metrics if types[metric] is not MetricType.TEXT)
        self.counters = frozenset(metric for metric in self.metrics if types[metric] is MetricType.COUNTER)
        self.places = {metric: (number, metric in self.counters) for metric, number in self.index.items()}
        """Of each metric its column, and whether it is a counter."""

    def make_comparable(self, values: list[float]) -> None:
        """Put a number in the place of each text."""
        for place in self.texts:
            values[place] = comparable(values[place])

    def from_store(self, values: Iterable[float | None]) -> list[float]:
        """The values of ``stored`` metrics as those of all ``metrics``."""
        found = [nan if value is None else value for value in values]
        for place in self.texts:
            found.insert(place, nan)
        return found


class PollTrack(Track):
    """The newest polls of one object. ``before`` is the time of the poll before the first one here."""

    __slots__ = ("before",)

    def __init__(self, width: int, floor: int) -> None:
        super().__init__(width, floor)
        self.before = _BEGINNING

    def append(self, ts: int, interval: int, values: Sequence[float]) -> None:
        """Add the newest poll."""
        self.cells.extend(array("d", values))  # all of them or none
        self.ts.append(ts)
        self.intervals.append(interval)

    def shift(self, by_ms: int) -> None:
        """Date all polls anew. What is older is read from the store, which has the dates from before."""
        self.ts = array("q", [ts + by_ms for ts in self.ts])
        if self.before != _BEGINNING:
            self.before += by_ms
        if by_ms < 0 and self.floor != _BEGINNING:
            self.floor += by_ms

    def drop(self, count: int) -> None:
        """Forget the oldest ``count`` polls."""
        self.before = self.ts[count - 1]
        super().drop(count)


class WindowHistory:
    """Implements ``mqvitals_rules.history.MetricHistory`` for the metrics that rules look back on.

    Give it every snapshot, in order, before the rules see it. ``older`` reads what has left the memory, and what was
    there before this process began; without it nothing is older. A snapshot that the store holds already changes
    nothing. A point's interval is the time since the object's poll before; of a counter, the time that its increase
    covers, so that an increase after a poll without answer is not taken for that of one interval. Records are points at
    their own ends, in whatever order they come; what polls and records both hold is taken from one of them
    (``mqvitals_rules.history``).
    """

    def __init__(
        self,
        wanted: Iterable[WindowedMetric],
        *,
        older: PastReader | None = None,
        kinds: Mapping[str, Kind] = KINDS,
        zone_of: ZoneOf = no_zone,
        further: FurtherHours | None = None,
    ) -> None:
        """``wanted`` may name a metric several times. ``further`` is as for ``StoredBaselines``.

        Raises KeyError for a kind or metric that the vocabulary does not have, StoreError.
        """
        by_kind: dict[str, list[WindowedMetric]] = {}
        for each in wanted:
            by_kind.setdefault(each.kind, []).append(each)
        self._plans = {kind: _WindowPlan(kinds[kind], each) for kind, each in by_kind.items()}
        self._older = older
        counters = {(kind, metric) for kind, plan in self._plans.items() for metric in plan.counters}
        self._usual = HourlyBaselines(frozenset(counters), older, zone_of, further)
        self._messages = MessageWindow(older)
        self._tracks: dict[ObjectName, PollTrack] = {}
        self._recorded: dict[ObjectName, dict[Source, RecordTrack]] = {}
        self._ended: list[ObjectName] = []
        self._floors: dict[tuple[str, str], int] = {}
        self._looked_at: ObjectName | None = None
        self._plan: _WindowPlan
        self._track: PollTrack
        self._cycle = -1
        self._owners: set[str] = set()
        """Those whose snapshot of the cycle has been taken in."""
        if older is not None:
            self._prime(older)

    def add(self, snapshot: Snapshot) -> None:
        """Take in a snapshot: one point for each object that was polled in it."""
        self._looked_at = None
        while self._ended:
            ended = self._ended.pop()
            self._tracks.pop(ended, None)
            for recorded in self._recorded.get(ended, {}).values():
                recorded.clear()
        if snapshot.cycle != self._cycle or snapshot.owner in self._owners:
            # Between the snapshots of one cycle the store does not change: a look for each would find the same.
            self._messages.renew()
            self._cycle, self._owners = snapshot.cycle, set()
        self._owners.add(snapshot.owner)
        ts = snapshot.ts
        polled: dict[ObjectName, Reading] = {}
        beside: dict[ObjectName, list[Reading]] = {}
        plans = self._plans
        for reading in snapshot.readings:
            name = reading.object
            plan = plans.get(name.kind)
            if plan is None:
                continue
            if reading.source is not _POLL:
                self._add_record(reading, plan, ts)
            elif reading.poll and polled.setdefault(name, reading) is reading:
                continue
            elif not plan.index.keys().isdisjoint(reading.values):
                beside.setdefault(name, []).append(reading)
        tracks = self._tracks
        noting = self._older is None
        for name, reading in polled.items():
            plan = plans[name.kind]
            track = tracks.get(name)
            if track is None:
                track = tracks[name] = self._begin(name, plan)
            elif track.ts[-1] >= ts:
                continue
            values = _numbers(reading.values, plan)
            if beside and name in beside:
                _fill(values, plan, beside[name])
            if plan.texts:
                plan.make_comparable(values)
            interval = reading.interval_ms
            track.append(ts, UNKNOWN_INTERVAL if interval is None else interval, values)
            if noting and plan.usual:
                self._note_usual(plan, name, ts, interval, values)
            self._trim(track, plan, ts)
            if reading.gone:
                self._ended.append(name)

    def shift(self, by_ms: int) -> None:
        """The clock was corrected by so much: polls stay as long ago as time has elapsed since."""
        for track in self._tracks.values():
            track.shift(by_ms)
        self._usual.shift(by_ms)
        if by_ms < 0:
            self._floors = {key: floor + by_ms for key, floor in self._floors.items()}

    def points(self, object_name: ObjectName, metric: str, since: int) -> Sequence[Point]:
        """Every poll of the object with ts > ``since``, oldest first, absent values included as None.

        Raises KeyError for a metric that was not wanted, StoreError when older polls cannot be read.
        """
        if object_name is not self._looked_at:
            self._look_at(object_name)
        plan, track = self._plan, self._track
        column, counter = plan.places[metric]
        # Written out, as thousands of objects are looked at in each cycle.
        times = track.ts
        start = bisect_right(times, since)
        polls: Sequence[Point] = Polls(
            times[start:],
            track.cells[start * track.width + column :: track.width],
            track.intervals[start:] if counter else None,
            times[start - 1] if start else track.before,
        )
        if start == 0 and since < track.floor and self._older is not None and column not in plan.texts:
            polls = [*self._from_store(plan, object_name, metric, first=since + 1, last=track.floor), *polls]
        # First whether there are any records at all: a look-up by name for each window of each object is worth sparing.
        recorded = self._recorded.get(object_name) if self._recorded else None
        if not recorded:
            return polls
        found = {
            source: points
            for source, track in recorded.items()
            if (points := self._records(object_name, metric, source, track, since))
        }
        return covering({_POLL: polls, **found}, since)[1] if found else polls

    def covered(self, object_name: ObjectName, metric: str, since: int, window_ms: int) -> Sequence[float]:
        """The values of a window that began at ``since``, as ``covered_values`` of the ``points``. Raises as these."""
        if object_name is not self._looked_at:
            self._look_at(object_name)
        track = self._track
        column, counter = self._plan.places[metric]
        here = since >= track.floor or self._older is None
        if here and not counter and (not self._recorded or object_name not in self._recorded):
            # The usual case, for thousands of objects: without points of the polls.
            times = track.ts
            start = bisect_right(times, since)
            if start == len(times):
                return ()
            before = times[start - 1] if start else track.before
            if times[start] - before >= UNKNOWN_MS:
                before = times[start]
            # Absent values can only make less of it.
            if times[-1] - max(before, since) < LEAST_COVERAGE * window_ms:
                return ()
            values = track.cells[start * track.width + column :: track.width]
            total = sum(values)
            if total == total:
                return values
        return covered_values(self.points(object_name, metric, since), since, window_ms)

    def baseline(self, object_name: ObjectName, metric: str, now: int, counter: bool) -> float | None:  # noqa: ARG002, FBT001
        """What the metric usually is at this weekday and hour.

        Raises StoreError when the weeks before cannot be read.
        """
        return self._usual.baseline(object_name, metric, now)

    def hours(self, kind: str, metric: str, begun: Sequence[int]) -> Sequence[HourMean]:
        """The means of hours of all objects of a kind, by their beginnings (ms UTC). Raises StoreError."""
        return self._usual.hours(kind, metric, begun)

    def _note_usual(
        self, plan: _WindowPlan, name: ObjectName, ts: int, interval_ms: int | None, values: Sequence[float]
    ) -> None:
        for place, metric in plan.usual:
            value = values[place]
            if value == value:
                self._usual.note(name, metric, ts, interval_ms, value)

    def last(self, object_name: ObjectName, metric: str, count: int) -> Sequence[Point]:
        """The newest ``count`` polls, oldest first, absent values included as None. Raises as ``points``."""
        if object_name is not self._looked_at:
            self._look_at(object_name)
        plan, track = self._plan, self._track
        column, counter = plan.places[metric]
        if count < 1:
            return []
        times = track.ts
        here = len(times)
        start = here - count if here > count else 0
        polls: Sequence[Point] = Polls(
            times[start:],
            track.cells[start * track.width + column :: track.width],
            track.intervals[start:] if counter else None,
            times[start - 1] if start else track.before,
        )
        if here < count and track.floor != _BEGINNING and self._older is not None:
            polls = [*self._from_store(plan, object_name, metric, last=track.floor, newest=count - here), *polls]
        if not self._recorded:
            return polls
        recorded = self._recorded.get(object_name)
        if not recorded:
            return polls
        found = {
            source: points
            for source, track in recorded.items()
            if (points := self._last_records(object_name, metric, source, track, count))
        }
        return newest({_POLL: polls, **found})[1] if found else polls

    def messages(self, owner: str, ids: frozenset[str], since: int) -> Sequence[ObjectMessage] | None:
        """The console messages of an owner as ``MessageWindow``; None: no console of it is followed.

        Raises StoreError.
        """
        return self._messages.messages(owner, ids, since)

    def _records(
        self, name: ObjectName, metric: str, source: Source, track: RecordTrack, since: int
    ) -> Sequence[Point]:
        plan = self._plans[name.kind]
        points = track.after(since, plan.index[metric])
        if since >= track.floor or self._older is None or plan.index[metric] in plan.texts:
            return points
        older = self._older.samples(name, metric, source, first=since + 1, last=track.floor)
        return [*_as_points(older), *points]

    def _last_records(
        self, name: ObjectName, metric: str, source: Source, track: RecordTrack, count: int
    ) -> Sequence[Point]:
        points = track.after(_BEGINNING, self._plans[name.kind].index[metric])
        missing = count - len(points)
        if missing > 0 and self._older is not None and track.floor != _BEGINNING and metric not in track.absent:
            older = self._older.samples(name, metric, source, last=track.floor, newest=missing)
            if not older and not self._older.failing:
                track.absent.add(metric)
            points = [*_as_points(older), *points]
        return points[-count:]

    def _add_record(self, record: Reading, plan: _WindowPlan, now: int) -> None:
        track = self._record_track(record, plan)
        values = _numbers(record.values, plan)
        plan.make_comparable(values)
        track.put(record.ts, record.interval_ms, values)
        if plan.usual:
            self._note_usual(plan, record.object, record.ts, record.interval_ms, values)
        track.trim(now, plan.span_ms, plan.polls)

    def _record_track(self, record: Reading | Poll, plan: _WindowPlan, floor: int = _BEGINNING) -> RecordTrack:
        tracks = self._recorded.setdefault(record.object, {})
        track = tracks.get(record.source)
        if track is None:
            track = tracks[record.source] = RecordTrack(len(plan.metrics), floor)
        return track

    def _look_at(self, name: ObjectName) -> None:
        """Find the polls of an object: the rules of one object look back several times, one after another.

        Raises KeyError for a kind of which nothing was wanted.
        """
        plan = self._plans[name.kind]
        self._looked_at, self._plan = name, plan
        self._track = self._tracks.get(name) or self._begin(name, plan)

    def _begin(self, name: ObjectName, plan: _WindowPlan) -> PollTrack:
        return PollTrack(len(plan.metrics), self._floors.get((name.owner, name.kind), _BEGINNING))

    def _from_store(
        self,
        plan: _WindowPlan,
        name: ObjectName,
        metric: str,
        *,
        first: int = _BEGINNING,
        last: int,
        newest: int | None = None,
    ) -> list[Point]:
        assert self._older is not None, "asked only when there is a store"
        # One poll more than asked for, so that the first has an interval.
        if newest is not None:
            samples = self._older.samples(name, metric, last=last, newest=newest + 1)
        else:
            before = self._older.samples(name, metric, last=first - 1, newest=1)
            samples = before + self._older.samples(name, metric, first=first, last=last)
        counter = metric in plan.counters
        points = []
        previous: int | None = None
        for ts, interval, value in samples:
            gap = None if previous is None else ts - previous
            points.append(Point(ts, value, interval if counter else gap))
            previous = ts
        if newest is not None:
            return points[-newest:]
        return [point for point in points if point.ts >= first]

    def _trim(self, track: PollTrack, plan: _WindowPlan, now: int) -> None:
        times = track.ts
        spare = len(times) - plan.polls
        # Deleting at the front moves what is behind it: done in portions, and only when a portion is due.
        if spare < _PORTION or times[_PORTION - 1] > now - plan.span_ms:
            return
        count = _PORTION
        while count < spare and times[count] <= now - plan.span_ms:
            count += 1
        track.drop(count)

    def _prime(self, older: PastReader) -> None:
        """Read back what would be in memory had this process run all along."""
        every = older.owners()
        # Who is known by records alone has no polls.
        owners = [owner for owner in every if owner.last_cycle]
        newest = max((owner.last_ts for owner in every), default=0)
        for kind, plan in self._plans.items():
            # A kind may be polled less often than its owner: four snapshots for each poll that is wanted.
            first = {
                owner.name: min(
                    older.snapshot_times(owner.name, newest=4 * plan.polls + 1)[0], owner.last_ts - plan.span_ms
                )
                for owner in owners
            }
            latest = max((owner.last_ts for owner in owners), default=0)
            begin = min((since for since in first.values() if latest - since <= plan.span_ms + _RECENT_MS), default=0)
            for owner in owners:
                # For one that stopped long ago, not all polls of the others since then are read.
                if first[owner.name] < begin:
                    first[owner.name] = owner.last_ts + 1
            self._floors.update({(owner, kind): since - 1 for owner, since in first.items()})
            for poll in older.polls(kind, plan.stored, begin):
                since = first[poll.object.owner]
                if poll.ts < since:
                    continue
                track = self._tracks.get(poll.object)
                if track is None:
                    track = self._tracks[poll.object] = PollTrack(len(plan.metrics), since - 1)
                interval = UNKNOWN_INTERVAL if poll.interval_ms is None else poll.interval_ms
                track.append(poll.ts, interval, plan.from_store(poll.values))
            since = newest - plan.span_ms - _RECORDS_MS
            for record in older.records(kind, plan.stored, since):
                recorded = self._record_track(record, plan, since - 1)
                recorded.put(record.ts, record.interval_ms, plan.from_store(record.values))


def _as_points(samples: Iterable[Sample]) -> list[Point]:
    return [Point(sample.ts, sample.value, sample.interval_ms) for sample in samples]


def _numbers(values: Mapping[str, Reported], plan: _WindowPlan) -> list[float]:
    """What is kept of a reading: NaN for what is absent, a text as it is."""
    found = map(values.get, plan.metrics)
    return [nan if value is None or value.__class__ is Absence else value for value in found]  # type: ignore[misc]


def _fill(values: list[float], plan: _WindowPlan, readings: Iterable[Reading]) -> None:
    """Put in the values of other answers of the same snapshot. Absence never replaces a value."""
    for reading in readings:
        for metric, place in plan.index.items():
            value = reading.values.get(metric)
            if value is not None and value.__class__ is not Absence and value == value:
                values[place] = value  # type: ignore[assignment]
