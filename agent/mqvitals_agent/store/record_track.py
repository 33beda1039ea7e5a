"""The newest records of one object and source in memory: they may come in any order, and each has its own interval."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import nan

from mqvitals_rules.history import Point

BEGINNING = -(1 << 62)

_UNKNOWN = -1
_SPARE = 16


class RecordTrack:
    """Ends, intervals (ms) and a column a metric, all of one length, by time. ``floor``: every record after it is here.

    ``untold``: metrics of which no record up to the floor tells, as somebody found who looked.
    """

    __slots__ = ("_columns", "_intervals", "_ts", "floor", "untold")

    def __init__(self, width: int, floor: int = BEGINNING) -> None:
        self._ts = array("q")
        self._intervals = array("q")
        self._columns = tuple(array("d") for _ in range(width))
        self.floor = floor
        self.untold: set[str] = set()

    def put(self, ts: int, interval_ms: int | None, values: Sequence[float]) -> None:
        """Take in a record. ``values`` has a NaN for what it does not tell, which takes nothing away of what is there.

        One that is too old for the memory changes nothing: it is in the store.
        """
        if ts <= self.floor:
            self.untold.clear()
            return
        place = bisect_left(self._ts, ts)
        if place == len(self._ts) or self._ts[place] != ts:
            self._ts.insert(place, ts)
            self._intervals.insert(place, _UNKNOWN)
            for column in self._columns:
                column.insert(place, nan)
        if interval_ms is not None:
            self._intervals[place] = max(self._intervals[place], interval_ms)
        for column, value in zip(self._columns, values, strict=True):
            if value == value:
                column[place] = value

    def trim(self, now: int, span_ms: int, count: int) -> None:
        """Forget what is older than ``span_ms``, but keep ``count`` records and some more."""
        spare = len(self._ts) - count - _SPARE
        old = min(spare, bisect_right(self._ts, now - span_ms))
        if old > 0:
            self._drop(old)

    def clear(self) -> None:
        """Forget all."""
        if self._ts:
            self._drop(len(self._ts))

    def after(self, since: int, column: int) -> list[Point]:
        """The records that ended after ``since`` and tell the metric of a column, oldest first."""
        start = bisect_right(self._ts, since)
        return [
            Point(ts, value, None if interval == _UNKNOWN else interval)
            for ts, interval, value in zip(
                self._ts[start:], self._intervals[start:], self._columns[column][start:], strict=True
            )
            if value == value
        ]

    def _drop(self, count: int) -> None:
        self.floor = self._ts[count - 1]
        self.untold.clear()
        del self._ts[:count]
        del self._intervals[:count]
        for column in self._columns:
            del column[:count]
