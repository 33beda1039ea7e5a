"""The past in memory: enough for tests of rules and for judging without a store."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence

from mqvitals_rules.baseline import usual
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.source_choice import covering, newest
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.windows import Message, Point

_Points = dict[str, list[Point]]


class MemoryHistory:
    """Implements ``Windows`` over every snapshot it is given. It forgets nothing."""

    def __init__(self) -> None:
        self._points: dict[ObjectName, dict[Source, _Points]] = {}
        self._messages: dict[str, list[Message]] = {}

    def add(self, snapshot: Snapshot) -> None:
        """Take in a snapshot: one point for each metric of each object.

        Those of polls are at the snapshot's time, those of records at the end of the record, in whatever order they come.
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
                if not isinstance(value, str):
                    points.append(Point(snapshot.ts, None if isinstance(value, Absence) else float(value), interval))

    def points(self, object_name: ObjectName, metric: str, since: int) -> Sequence[Point]:
        """Every poll, or record, with ts > ``since``, oldest first."""
        told = {
            source: [point for point in points if point.ts > since]
            for source, points in self._told(object_name, metric).items()
        }
        return covering(told, since)[1]

    def last(self, object_name: ObjectName, metric: str, count: int) -> Sequence[Point]:
        """The newest ``count`` polls, or records, oldest first."""
        return newest(self._told(object_name, metric))[1][-count:] if count > 0 else []

    def baseline(self, object_name: ObjectName, metric: str, now: int, counter: bool) -> float | None:  # noqa: FBT001
        """What the metric usually is at this weekday and hour: of polls, or of records, whichever tell more of these hours."""
        return usual(lambda begin, end: self._hour(object_name, metric, begin, end), now, counter=counter)

    def _hour(self, name: ObjectName, metric: str, begin: int, end: int) -> Sequence[Point]:
        told = {
            source: [point for point in points if begin < point.ts <= end]
            for source, points in self._told(name, metric).items()
        }
        return covering(told, begin)[1]

    def add_message(self, owner: str, message: Message) -> None:
        """Take in a console message, in whatever order they come. From the first one on the owner's console is followed."""
        insort(self._messages.setdefault(owner, []), message, key=lambda each: each.ts)

    def follow(self, owner: str) -> None:
        """From now on the owner's console is followed, though there is no message yet."""
        self._messages.setdefault(owner, [])

    def messages(self, owner: str, ids: frozenset[str], since: int) -> Sequence[Message] | None:
        """The messages of an owner with one of ``ids`` and ts > ``since``, oldest first; None: its console is not followed."""
        told = self._messages.get(owner)
        return None if told is None else [each for each in told if each.id in ids and each.ts > since]

    def _told(self, name: ObjectName, metric: str) -> Mapping[Source, Sequence[Point]]:
        return {source: metrics.get(metric, []) for source, metrics in self._points.get(name, {}).items()}


def _insert(metrics: _Points, record: Reading) -> None:
    for metric, value in record.values.items():
        if isinstance(value, str | Absence):
            continue
        points = metrics.setdefault(metric, [])
        place = bisect_left(points, record.ts, key=lambda point: point.ts)
        same = place < len(points) and points[place].ts == record.ts
        points[place : place + same] = [Point(record.ts, float(value), record.interval_ms)]
