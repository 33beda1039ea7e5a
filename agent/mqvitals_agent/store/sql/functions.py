"""SQL functions that read sealed hours and hours of days, for the views.

A view steps over the times of a chunk with ``json_each`` and asks for one cell at a time: a column that a statement does
not name is never decoded, and of the others all cells of an hour are decoded at once.
"""

from __future__ import annotations

import json
import sqlite3
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from mqvitals_agent.store.error import UnknownNameError
from mqvitals_agent.store.file.database import explained
from mqvitals_agent.store.file.schema import columns_of
from mqvitals_agent.store.reading.hours import HourQueries, mean_of
from mqvitals_agent.store.rows.samples.kind_samples import KindSamples, ObjectSpan
from mqvitals_agent.store.rows.sealed.chunk import HourSamples
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkKey
from mqvitals_agent.store.rows.sealed.overlay import column
from mqvitals_agent.store.rows.tables import tables_of, text
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import DAY_MS, HOUR_MS
from mqvitals_rules.vocabulary.metric import MetricType
from mqvitals_rules.vocabulary.tables import KINDS

TIMES, CELL, HOURS = "mqvitals_times", "mqvitals_cell", "mqvitals_hours"
"""The names of the functions."""

INTERVAL, POLLED = "interval_ms", "polled"
"""Columns of a chunk that are no metrics."""

_MOST_HOURS: Final = 64
"""Chunks that are remembered: a statement that joins views reads some of them by turns."""


class StoreFunctions:
    """The functions of one connection. They raise what reading raises, which SQLite turns into an error of the statement."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        """Register them. ``path`` names the store in messages. Raises sqlite3.Error."""
        self._connection = connection
        self._path = path
        self._tables = tables_of(KINDS)
        columns = columns_of(connection)
        self._columns = {kind: columns.get(each.history, frozenset()) for kind, each in self._tables.items()}
        self._version = -1, -1
        self._kinds: dict[str, KindSamples] = {}
        self._hours: OrderedDict[int, _DecodedHour] = OrderedDict()
        self._asked: dict[str, set[str]] = {}
        self._reader: HourQueries | None = None
        connection.create_function(TIMES, 1, self._times)
        connection.create_function(CELL, 3, self._cell)
        connection.create_function(HOURS, 5, self._figures)

    def _times(self, row: int) -> str:
        """The times of a chunk's samples (ms UTC, rising) as a JSON list; ``row`` is the number of its row."""
        (others,) = self._connection.execute("PRAGMA data_version").fetchone()
        if self._version != (others, self._connection.total_changes):
            # The statement sees the store as of another moment than the one before.
            self._version = others, self._connection.total_changes
            self._kinds.clear()
            self._hours.clear()
        opened = self._hours.get(row) or self._open(row)
        self._asked[opened.kind] = opened.asked = set()
        return json.dumps([*opened.samples.ts])

    def _cell(self, row: int, place: int, name: str) -> int | float | None:
        """A metric, or the interval (ms), of the sample at a place of a chunk."""
        opened = self._hours.get(row) or self._open(row)
        cells = opened.cells.get(name)
        if cells is None:
            cells = opened.cells[name] = column(self._samples(opened, (name,)), name)
        opened.asked.add(name)
        return cells[place]

    def _open(self, row: int) -> _DecodedHour:
        key = ChunkKey.of(row)
        owner, kind = self._connection.execute("SELECT owner, kind FROM object WHERE id = ?", (key.number,)).fetchone()
        opened = _DecodedHour(key, text(owner), text(kind))
        # What a statement asked of the hour before it asks of this one.
        wanted = sorted(self._asked.get(opened.kind, set()) - {INTERVAL, POLLED})
        opened.samples = self._samples(opened, wanted)
        opened.cells = {name: column(opened.samples, name) for name in wanted}
        opened.cells |= {INTERVAL: opened.samples.intervals, POLLED: opened.samples.polled}
        if len(self._hours) >= _MOST_HOURS:
            self._hours.popitem(last=False)
        self._hours[row] = opened
        return opened

    def _samples(self, opened: _DecodedHour, wanted: Sequence[str]) -> HourSamples:
        """The samples of an hour: its chunk with the rows laid over it that are still or again there."""
        key, tables = opened.key, self._tables[opened.kind]
        unknown = [name for name in wanted if name not in tables.numbers]
        if unknown:
            raise LookupError(f"{opened.kind} has no {unknown[0]!r} in history")
        samples = self._kinds.get(opened.kind)
        if samples is None:
            samples = self._kinds[opened.kind] = KindSamples(tables, self._columns[opened.kind])
        begin = key.hour * HOUR_MS
        span = ObjectSpan(key.number, opened.owner, wanted, key.source, begin, begin + HOUR_MS - 1)
        found = samples.of_object(self._connection, span)
        if samples.damaged:
            samples.damaged.clear()
            warnings.warn(
                f"an hour of {opened.owner}/{opened.kind} in {self._path} is damaged and left out; 'mqvitals store check'"
                " tells more",
                stacklevel=2,
            )
        return found

    def _figures(self, owner: str, kind: str, name: str, metric: str, day: int) -> str:
        """The hours of a metric in a day (counted from 1970 UTC) as a JSON list of lists.

        Of each its begin (s UTC), the number of values, the lowest, highest and mean one, the increase of a counter, the
        time that is covered (s), the last value. A state has a last one alone.
        """
        reader = self._reader
        if reader is None:
            # The connection is that of the statement: both see the store as of one moment.
            reader = self._reader = _HoursOfStatement(self._path, self._connection, KINDS, 0.0)
        known = next((each for each in KINDS[kind].metrics if each.name == metric), None)
        if known is None:
            return "[]"
        counter = known.type is MetricType.COUNTER
        try:
            found = reader.hour_figures(ObjectName(owner, kind, name), (metric,), day * DAY_MS, (day + 1) * DAY_MS)
        except UnknownNameError:
            return "[]"
        rows = []
        for begin, each in found[metric].hours:
            figures: tuple[float | None, ...] = each.lowest, each.highest, mean_of(each, counter=counter)
            if known.type is MetricType.STATE:
                figures = None, None, None
            total = each.total if counter else None
            rows.append([begin // 1000, each.count, *figures, total, each.covered_ms / 1000, each.last])
        return json.dumps(rows)


class _HoursOfStatement(HourQueries):
    """Hours read within a statement: how long that may take its own connection decides."""

    @contextmanager
    def _query(self) -> Iterator[sqlite3.Connection]:
        with explained(self.path, "reading"):
            yield self._connection


class _DecodedHour:
    """The samples of a chunk, as far as they are decoded."""

    def __init__(self, key: ChunkKey, owner: str, kind: str) -> None:
        self.key = key
        self.owner = owner
        self.kind = kind
        self.samples = HourSamples((), (), (), {})
        self.cells: dict[str, Sequence[Any]] = {}
        self.asked: set[str] = set()
