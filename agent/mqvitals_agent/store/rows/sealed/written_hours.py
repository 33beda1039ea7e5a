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


_FEW: Final = 64
"""Times of rows with most columns at the begin of an hour, which are remembered until rows with fewer come."""
_MOST_WIDE: Final = 1024


class HourColumns:
    """The columns in which rows of an hour can have values: of most times few, as definitions are asked for rarely.

    ``every`` are all of them; ``usual`` those of rows at all times that are not in ``wide``.
    """

    __slots__ = ("_first", "every", "usual", "wide")

    def __init__(self) -> None:
        self.every: frozenset[str] = frozenset()
        self.usual: frozenset[str] | None = None
        self.wide: set[int] = set()
        self._first: list[int] = []

    def add(self, ts: int, columns: Collection[str]) -> None:
        """Rows of a time were written that have values in ``columns`` alone."""
        if not self.every.issuperset(columns):
            self.every = self.every.union(columns)
        usual = self.usual
        if usual is None:
            self.usual = frozenset(columns)
        elif not usual.issuperset(columns):
            self._add_wide((ts,))
            return
        elif 2 * len(columns) < len(usual) and len(self._first) < _FEW:
            # What came before was not the usual.
            self._add_wide(self._first)
            self.usual, self._first = frozenset(columns), []
        if len(self._first) < _FEW:
            self._first.append(ts)

    def _add_wide(self, times: Collection[int]) -> None:
        self.wide.update(times)
        if len(self.wide) > _MOST_WIDE:
            self.usual, self._first = self.every, [0] * _FEW
            self.wide.clear()


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
