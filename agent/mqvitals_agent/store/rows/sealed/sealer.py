"""Sealing: the samples of finished hours become chunks and figures of the hour, and their rows are deleted.

A kind and hour is sealed a while after it is over, object by object, in short transactions between the cycles. Its rows are
deleted once all of its objects are sealed. Whoever reads takes a chunk and lays over it what rows there are of the same
time: before, during and after sealing that is the same. A process that dies in between loses and doubles nothing: the
next one seals what rows are left together with the chunk that is there. Records that come late are rows of an old hour, which is
sealed again.
"""

from __future__ import annotations

import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from mqvitals_agent.store.rows.sealed.chunk import Axis, HourSamples, merged
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkKey, ChunkReader, ChunkWriter, hour_of_ts
from mqvitals_agent.store.rows.sealed.codec import Cells, DamagedChunkError, SparseCells
from mqvitals_agent.store.rows.sealed.written_hours import EVERY_HOUR, HourColumns
from mqvitals_agent.store.rows.tables import KindTables, integer, moment, text
from mqvitals_rules.snapshot import Source
from mqvitals_rules.timestamps import HOUR_MS

SEAL_AFTER_MS: Final = 2 * HOUR_MS
"""An hour is sealed so long after its end at the earliest: its records of SMF are there by then, most often."""
SHORTEST_HOT_MS: Final = SEAL_AFTER_MS + HOUR_MS
"""So long after its begin."""

_OBJECTS: Final = 64
"""Objects whose rows are read together: those of one time stand beside each other."""
_FEWEST, _ROWS, _MOST = 20, 200, 5_000
"""Rows that are deleted at once: adapted to the time that they take."""
_LONG_S: Final = 0.005
"""A statement should take no longer than this, so that a step ends in time."""

Row = tuple[int | float | None, ...]
_FIXED: Final = 4
"""Columns of a row before those of the metrics."""
_SOURCE_BITS: Final = 3
_SOURCES: Final = (1 << _SOURCE_BITS) - 1
"""An object and a source are read as one number."""


def last_due(now: int, hot_ms: int) -> int:
    """The last hour that is sealed as of ``now``, ms UTC, when hours stay rows until ``hot_ms`` after their begin."""
    return (now - hot_ms) // HOUR_MS


class SealStep(NamedTuple):
    """What a step did: chunks written, rows deleted; and the chunk that was there and could not be read, None: none.

    What could be read of that time has taken its place.
    """

    chunks: int = 0
    rows: int = 0
    damaged: ChunkKey | None = None


class _Batch(NamedTuple):
    """Objects that are sealed together, by number, with their owners."""

    owners: Mapping[int, str]

    @property
    def bounds(self) -> tuple[int, int]:
        return min(self.owners), max(self.owners)


class _RowColumns(NamedTuple):
    """The columns that are read of rows: ``every`` at times that are ``wide``, else only the first of them, the ``usual`` ones."""

    usual: Sequence[str]
    every: Sequence[str]
    wide: Collection[int]

    @classmethod
    def of(cls, names: Sequence[str], known: HourColumns | None) -> _RowColumns:
        """Those of an hour of a kind with the metrics ``names``."""
        if known is None:
            return cls(names, names, ())
        few, wide = known.split()
        usual = tuple(name for name in names if name in few)
        rest = (name for name in names if name in known.every and name not in few)
        return cls(usual, (*usual, *rest), wide)


class Sealer:
    """Seals finished hours of the store behind a connection.

    ``touched`` holds the (kind, hour) of which rows were written or deleted since this was looked at last, or
    ``EVERY_HOUR``: who writes samples adds to it. ``columns`` tells in which columns rows of a kind and hour can have
    values, None: in any. ``steady`` is a clock of seconds.
    """

    def __init__(
        self,
        tables: Mapping[str, KindTables],
        touched: set[tuple[str, int]],
        steady: Callable[[], float] = time.monotonic,
        *,
        columns: Callable[[str, int], HourColumns | None] = lambda *_: None,
    ) -> None:
        self._tables = tables
        self._touched = touched
        self._steady = steady
        self._columns = columns
        self._reader = ChunkReader()
        self._writer = ChunkWriter()
        self._rows = _ROWS

    def load(self) -> None:
        """Forget what is remembered of the file: a transaction was rolled back, or others may have written."""
        self._reader = ChunkReader()
        self._writer.load()

    def round(self, connection: sqlite3.Connection, now: int, hot_ms: int = SHORTEST_HOT_MS) -> Iterator[SealStep]:
        """Seal all that is due as of ``now`` (ms UTC), a little between two yields, at which the caller may commit.

        Due is an hour that began ``hot_ms`` ago. Raises sqlite3.Error, TypeError, ValueError.
        """
        last = last_due(now, hot_ms)
        for kind in self._tables:
            while (hour := self._oldest(connection, kind)) is not None and hour <= last:
                yield from self._hour(connection, kind, hour)

    def _oldest(self, connection: sqlite3.Connection, kind: str) -> int | None:
        """The hour of the oldest row of a kind."""
        (ts,) = connection.execute(f"SELECT min(ts) FROM {self._tables[kind].history}").fetchone()  # noqa: S608
        return None if ts is None else hour_of_ts(moment(ts))

    def _hour(self, connection: sqlite3.Connection, kind: str, hour: int) -> Iterator[SealStep]:
        """Seal an hour of a kind, and delete its rows; again from its beginning when rows of it were written meanwhile."""
        self._touched.difference_update(((kind, hour), EVERY_HOUR))
        times = []
        for ts in self._times(connection, kind, hour):
            times.append(ts)
            yield SealStep()
        columns = _RowColumns.of(self._tables[kind].numbers, self._columns(kind, hour))
        for batch in self._batches(connection, kind):
            for step in self._seal(connection, kind, hour, batch, times, columns):
                yield step
                if self._is_touched(kind, hour):
                    return
        yield from self._delete(connection, kind, hour)

    def _is_touched(self, kind: str, hour: int) -> bool:
        return (kind, hour) in self._touched or EVERY_HOUR in self._touched

    def _times(self, connection: sqlite3.Connection, kind: str, hour: int) -> Iterator[int]:
        """The times of all rows of an hour: one seek each."""
        ts, end = hour * HOUR_MS - 1, (hour + 1) * HOUR_MS
        query = f"SELECT min(ts) FROM {self._tables[kind].history} WHERE ts > ? AND ts < ?"  # noqa: S608
        while (row := connection.execute(query, (ts, end)).fetchone())[0] is not None:
            ts = moment(row[0])
            yield ts

    @staticmethod
    def _batches(connection: sqlite3.Connection, kind: str) -> Sequence[_Batch]:
        rows = connection.execute("SELECT id, owner FROM object WHERE kind = ? ORDER BY id", (kind,)).fetchall()
        return [
            _Batch({integer(number): text(owner) for number, owner in rows[begin : begin + _OBJECTS]})
            for begin in range(0, len(rows), _OBJECTS)
        ]

    def _seal(
        self,
        connection: sqlite3.Connection,
        kind: str,
        hour: int,
        batch: _Batch,
        times: Sequence[int],
        columns: _RowColumns,
    ) -> Iterator[SealStep]:
        history = self._tables[kind].history
        few, all_ = (
            f"SELECT object_id << {_SOURCE_BITS} | source, ts, interval_ms, polled{_listed(names)} FROM {history}"  # noqa: S608
            " WHERE ts = ? AND object_id BETWEEN ? AND ?"
            for names in (columns.usual, columns.every)
        )
        found: defaultdict[int, list[Row]] = defaultdict(list)
        for ts in times:
            for row in connection.execute(all_ if ts in columns.wide else few, (ts, *batch.bounds)):
                found[row[0]].append(row)
            yield SealStep()
        for number_and_source in tuple(found):
            # Rows go as they are used: to free those of all objects at once takes as long as a step may.
            rows = found.pop(number_and_source)
            number, source = number_and_source >> _SOURCE_BITS, number_and_source & _SOURCES
            owner = batch.owners.get(number)
            if owner is None:
                continue  # of an object that was forgotten: nobody can ask for them
            samples, damaged = _samples(rows, columns), None
            place = ChunkKey(hour, number, source)
            try:
                # Before the axis, which is made anew where it is lost: what referred to the lost one is lost too.
                for before in self._reader.of_object(connection, number, owner, source, (hour,)):
                    samples = merged(before, samples)
            except DamagedChunkError:
                damaged = place
            samples = _in_order(samples, self._tables[kind].numbers)
            axis = self._axis(connection, hour, owner) if source == Source.POLL else ()
            try:
                self._writer.write(connection, place, kind, samples, axis)
            except TypeError:
                self._writer.write(connection, place, kind, _numbers_alone(samples), axis)
            yield SealStep(1, damaged=damaged)

    def _axis(self, connection: sqlite3.Connection, hour: int, owner: str) -> Axis:
        """The axis of an owner and hour, which is written when it is asked for first, and then stays."""
        try:
            known = self._reader.axis(connection, hour, owner)
        except DamagedChunkError:
            return ()  # what refers to it is lost; times are then kept in each chunk
        if known is not None:
            return known
        bounds = hour * HOUR_MS, (hour + 1) * HOUR_MS - 1
        query = "SELECT ts FROM snapshot WHERE owner = ? AND ts BETWEEN ? AND ? ORDER BY ts"
        axis = [moment(ts) for (ts,) in connection.execute(query, (owner, *bounds))]
        self._writer.write_axis(connection, hour, owner, axis)
        return axis

    def _delete(self, connection: sqlite3.Connection, kind: str, hour: int) -> Iterator[SealStep]:
        """Delete the rows of a sealed hour, the oldest first, as long as no others come."""
        table, begin, end = self._tables[kind].history, hour * HOUR_MS, (hour + 1) * HOUR_MS
        while not self._is_touched(kind, hour):
            # The row to stop at: deleting with a limit is not part of every SQLite.
            row = connection.execute(
                f"SELECT ts, object_id, source FROM {table} WHERE ts >= ? AND ts < ?"  # noqa: S608
                " ORDER BY ts, object_id, source LIMIT 1 OFFSET ?",
                (begin, end, self._rows),
            ).fetchone()
            where, last = ("ts < ?", (end,)) if row is None else ("(ts, object_id, source) < (?, ?, ?)", row)
            began = self._steady()
            # Rows of earlier hours that have come since are not sealed.
            deleted = connection.execute(f"DELETE FROM {table} WHERE ts >= ? AND {where}", (begin, *last)).rowcount  # noqa: S608
            took = self._steady() - began
            if took > _LONG_S:
                self._rows = max(self._rows // 2, _FEWEST)
            elif took < _LONG_S / 4:
                self._rows = min(self._rows * 2, _MOST)
            yield SealStep(rows=deleted)
            if row is None:
                return


def _samples(rows: Sequence[Row], columns: _RowColumns) -> HourSamples:
    """Rows of one object and source, rising in time, as columns; metrics without any value are left out."""
    # Where a row ends after the usual columns, so do these: the others are made of the rows that have them.
    _, ts, intervals, polled, *cells = zip(*rows, strict=False)
    values: dict[str, Cells] = {
        name: column for name, column in zip(columns.every, cells, strict=False) if column.count(None) < len(column)
    }
    begin = _FIXED + len(columns.usual)
    if len(cells) < len(columns.every):
        wide = tuple(place for place, row in enumerate(rows) if len(row) > begin)
        more = zip(*(rows[place][begin:] for place in wide), strict=True)
        for name, column in zip(columns.every[len(columns.usual) :], more, strict=False):
            absent = column.count(None)
            if not absent:
                values[name] = SparseCells(len(rows), wide, column)
            elif absent < len(column):
                there = [(place, value) for place, value in zip(wide, column, strict=True) if value is not None]
                values[name] = SparseCells(len(rows), *zip(*there, strict=True))
    return HourSamples(ts, intervals, polled, values)


def _in_order(samples: HourSamples, names: Sequence[str]) -> HourSamples:
    """The samples with their metrics in the order of ``names``, and what else there is behind: few layouts hold all chunks."""
    values = samples.values
    return samples._replace(values={name: values[name] for name in dict.fromkeys((*names, *values)) if name in values})


def _listed(names: Sequence[str]) -> str:
    return "".join(f', "{name}"' for name in names)


def _numbers_alone(samples: HourSamples) -> HourSamples:
    """The samples without what is no number: no writer of ours stores such, and no reader takes it."""
    values = {
        name: [value if type(value) in {int, float} else None for value in cells]
        for name, cells in samples.values.items()
    }
    return samples._replace(values=values)
