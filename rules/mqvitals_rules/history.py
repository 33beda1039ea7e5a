"""The past in memory: enough for tests of rules and for judging without a store."""

from __future__ import annotations

from collections.abc import Sequence

from mqvitals_rules.snapshot import ObjectName, Snapshot
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.windows import Point


class MemoryHistory:
    """Implements ``Windows`` over every snapshot it is given. It forgets nothing."""

    def __init__(self) -> None:
        self._points: dict[ObjectName, dict[str, list[Point]]] = {}

    def add(self, snapshot: Snapshot) -> None:
        """Take in a snapshot: one point for each metric of each polled object, all at the snapshot's time."""
        for reading in snapshot.readings:
            if reading.gone:
                continue
            metrics = self._points.setdefault(reading.object, {})
            for metric, value in reading.values.items():
                points = metrics.setdefault(metric, [])
                interval = snapshot.ts - points[-1].ts if points else None
                if interval == 0:
                    points.pop()  # a second reading of the same cycle belongs to the same point
                    interval = snapshot.ts - points[-1].ts if points else None
                if not isinstance(value, str):
                    points.append(Point(snapshot.ts, None if isinstance(value, Absence) else float(value), interval))

    def points(self, object_name: ObjectName, metric: str, since: int) -> Sequence[Point]:
        """Every poll with ts > ``since``, oldest first."""
        return [point for point in self._points.get(object_name, {}).get(metric, ()) if point.ts > since]

    def last(self, object_name: ObjectName, metric: str, count: int) -> Sequence[Point]:
        """The newest ``count`` polls, oldest first."""
        return self._points.get(object_name, {}).get(metric, [])[-count:] if count > 0 else []
