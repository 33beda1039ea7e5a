"""What the writer of samples knows of hours that are not sealed yet: which were written since they were looked at, and
the columns that rows of an hour can have.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Collection, Mapping
from typing import Final

from mqvitals_agent.store.rows.sealed.chunk_rows import hour_of_ts
from mqvitals_agent.store.rows.tables import KindTables, numbered

EVERY_HOUR: Final = ("", 0)
"""In a set of touched hours: any of them may have been touched."""

_MOST: Final = 4096
"""Hours that are remembered: those of a day and more, of every kind. A store that is never sealed has no end of them."""


_COMMON: Final = 64
"""Rows of more times in an hour are usual: which times these are is not remembered."""
_MOST_SETS: Final = 16


class HourColumns:
    """The columns in which rows of an hour can have values: at most times few, as definitions are asked for rarely.

    ``every`` are all of them.
    """

    __slots__ = ("_times", "_usual", "every")

    def __init__(self) -> None:
        self.every: frozenset[str] = frozenset()
        self._usual: frozenset[str] = frozenset()
        self._times: dict[frozenset[str], list[int]] = {}

    def add(self, ts: int, columns: Collection[str]) -> None:
        """Rows of a time were written that have values in ``columns`` alone."""
        if self._usual.issuperset(columns):
            return
        own = frozenset(columns)
        times = self._times.setdefault(own, [])
        if not times:
            self.every |= own
        times.append(ts)
        if len(times) > _COMMON:
            self._usual |= own
        elif len(self._times) > _MOST_SETS:
            self._usual = self.every
        else:
            return
        self._times = {each: times for each, times in self._times.items() if not self._usual.issuperset(each)}

    def split(self) -> tuple[frozenset[str], frozenset[int]]:
        """The usual columns, and the times at which rows may have others too."""
        usual = self._usual
        if not usual and self._times:
            usual = max(self._times, key=lambda each: len(self._times[each]))
        return usual, frozenset(ts for each, times in self._times.items() if not usual.issuperset(each) for ts in times)


class WrittenHours:
    """Hours that rows were written to. Hours count from 1970 UTC. Use it in the thread of the writer.

    ``touched`` holds the (kind, hour) of which rows were written or deleted: whoever seals one of them takes it out and
    then sees whether it comes back.
    """

    def __init__(self, connection: sqlite3.Connection, tables: Mapping[str, KindTables]) -> None:
        """Raises sqlite3.Error."""
        self.touched: set[tuple[str, int]] = set()
        self._connection = connection
        self._columns: OrderedDict[tuple[str, int], HourColumns] = OrderedDict()
        newest = ((kind, f"SELECT max(ts) FROM {each.history}") for kind, each in tables.items())  # noqa: S608 - ours
        rows = [(kind, connection.execute(query).fetchone()[0]) for kind, query in newest]
        self._newest = {kind: hour_of_ts(ts) for kind, ts in rows if type(ts) is int}
        """The newest hour of each kind that ever had a row: of a later one all rows are written by us."""

    def wrote(self, kind: str, ts: int, columns: Collection[str]) -> None:
        """Rows of a time (ms UTC) were written that have values in ``columns`` alone."""
        hour = hour_of_ts(ts)
        key = kind, hour
        known = self._columns.get(key)
        if known is None and hour > self._newest.get(kind, hour - 1):
            self._newest[kind] = hour
            known = self._columns[key] = HourColumns()
            if len(self._columns) > _MOST:
                self._columns.popitem(last=False)
        if known is not None:
            known.add(ts, columns)
        self._touch(key)

    def disturbed(self, kind: str, hour: int) -> None:
        """Rows of an hour were deleted, or put back with columns that nobody tells."""
        self._columns.pop((kind, hour), None)
        self._newest[kind] = max(self._newest.get(kind, hour), hour)
        self._touch((kind, hour))

    def disturbed_all(self) -> None:
        """Rows of any hours were deleted, or put back."""
        for kind, hour in self._columns:
            self._newest[kind] = max(self._newest.get(kind, hour), hour)
        self._columns.clear()
        self._touch(EVERY_HOUR)

    def columns(self, kind: str, hour: int) -> HourColumns | None:
        """The columns in which rows of an hour can have values; None: in any."""
        return self._columns.get((kind, hour))

    def _touch(self, key: tuple[str, int]) -> None:
        kind, hour = key
        if key != EVERY_HOUR:
            # Its day is done no more, and that before: what is taken when an hour begins is about the hour before.
            self._connection.execute(
                "UPDATE rolled SET day = ?1 - 1 WHERE kind = ?2 AND day >= ?1", numbered((hour - 1) // 24, kind)
            )
        self.touched.add(key)
        if len(self.touched) > _MOST:
            self.touched.clear()
            self.touched.add(EVERY_HOUR)
