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
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from mqvitals_agent.store.rows.sealed.chunk import HOUR_MS, Axis, HourSamples, merged
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkKey, ChunkReader, ChunkWriter, hour_of_ts
from mqvitals_agent.store.rows.tables import KindTables, integer, moment, text
from mqvitals_rules.snapshot import Source

SEAL_AFTER_MS: Final = 2 * HOUR_MS
"""An hour is sealed so long after its end: its records of SMF are there by then, most often."""

_OBJECTS: Final = 64
"""Objects whose rows are read together: those of one time stand beside each other."""
_FEWEST, _ROWS, _MOST = 20, 200, 5_000
"""Rows that are deleted at once: adapted to the time that they take."""
_LONG_S: Final = 0.005
"""A statement should take no longer than this, so that a step ends in time."""

Row = tuple[int | float | None, ...]


class SealStep(NamedTuple):
    """What a step did: chunks written, rows deleted."""

    chunks: int = 0
    rows: int = 0


class _Batch(NamedTuple):
    """Objects that are sealed together, by number, with their owners."""

    owners: Mapping[int, str]

    @property
    def bounds(self) -> tuple[int, int]:
        return min(self.owners), max(self.owners)


class Sealer:
    """Seals finished hours of the store behind a connection.

    ``touched`` holds the (kind, hour) of which rows were written or deleted since this was looked at last: who writes
    samples of past hours adds to it. ``steady`` is a clock of seconds.
    """

    def __init__(
        self,
        tables: Mapping[str, KindTables],
        touched: set[tuple[str, int]],
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tables = tables
        self._touched = touched
        self._steady = steady
        self._reader = ChunkReader()
        self._writer = ChunkWriter()
        self._rows = _ROWS

    def load(self) -> None:
        """A transaction was rolled back: forget what was written in it."""
        self._reader = ChunkReader()
        self._writer.load()

    def round(self, connection: sqlite3.Connection, now: int) -> Iterator[SealStep]:
        """Seal all that is due as of ``now`` (ms UTC), a little between two yields, at which the caller may commit.

        Raises sqlite3.Error, DamagedChunkError, TypeError, ValueError.
        """
        bound = (now - SEAL_AFTER_MS) // HOUR_MS
        for kind in self._tables:
            while (hour := self._oldest(connection, kind)) is not None and hour < bound:
                yield from self._hour(connection, kind, hour)

    def _oldest(self, connection: sqlite3.Connection, kind: str) -> int | None:
        """The hour of the oldest row of a kind."""
        (ts,) = connection.execute(f"SELECT min(ts) FROM {self._tables[kind].history}").fetchone()  # noqa: S608
        return None if ts is None else hour_of_ts(moment(ts))

    def _hour(self, connection: sqlite3.Connection, kind: str, hour: int) -> Iterator[SealStep]:
        """Seal an hour of a kind, and delete its rows; again from its beginning when rows of it were written meanwhile."""
        self._touched.discard((kind, hour))
        times = []
        for ts in self._times(connection, kind, hour):
            times.append(ts)
            yield SealStep()
        for batch in self._batches(connection, kind):
            for step in self._seal(connection, kind, hour, batch, times):
                yield step
                if (kind, hour) in self._touched:
                    return
        yield from self._delete(connection, kind, hour)

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
        self, connection: sqlite3.Connection, kind: str, hour: int, batch: _Batch, times: Sequence[int]
    ) -> Iterator[SealStep]:
        tables = self._tables[kind]
        columns = "".join(f', "{name}"' for name in tables.numbers)
        query = (
            f"SELECT object_id, source, ts, interval_ms, polled{columns} FROM {tables.history}"  # noqa: S608
            " WHERE ts = ? AND object_id BETWEEN ? AND ?"
        )
        found: dict[tuple[int, int], list[Row]] = {}
        for ts in times:
            for row in connection.execute(query, (ts, *batch.bounds)):
                key = row[0], row[1]
                known = found.get(key)
                if known is None:
                    found[key] = [row]
                else:
                    known.append(row)
            yield SealStep()
        for (number, source), rows in found.items():
            samples = _samples(rows, tables.numbers)
            owner = batch.owners[number]
            axis = self._axis(connection, hour, owner) if source == Source.POLL else ()
            (before,) = (*self._reader.of_object(connection, number, owner, source, (hour,)), None)[:1]
            if before is not None:
                samples = merged(before, samples)
            self._writer.write(connection, ChunkKey(hour, number, source), kind, samples, axis)
            yield SealStep(chunks=1)

    def _axis(self, connection: sqlite3.Connection, hour: int, owner: str) -> Axis:
        """The axis of an owner and hour, which is written when it is asked for first, and then stays."""
        known = self._reader.axis(connection, hour, owner)
        if known is not None:
            return known
        bounds = hour * HOUR_MS, (hour + 1) * HOUR_MS - 1
        query = "SELECT ts FROM snapshot WHERE owner = ? AND ts BETWEEN ? AND ? ORDER BY ts"
        axis = [moment(ts) for (ts,) in connection.execute(query, (owner, *bounds))]
        self._writer.write_axis(connection, hour, owner, axis)
        return axis

    def _delete(self, connection: sqlite3.Connection, kind: str, hour: int) -> Iterator[SealStep]:
        """Delete the rows of a sealed hour, the oldest first."""
        table, end = self._tables[kind].history, (hour + 1) * HOUR_MS
        while (kind, hour) not in self._touched:
            # The row to stop at: deleting with a limit is not part of every SQLite.
            row = connection.execute(
                f"SELECT ts, object_id, source FROM {table} WHERE ts < ?"  # noqa: S608
                " ORDER BY ts, object_id, source LIMIT 1 OFFSET ?",
                (end, self._rows),
            ).fetchone()
            where, last = ("ts < ?", (end,)) if row is None else ("(ts, object_id, source) < (?, ?, ?)", row)
            began = self._steady()
            deleted = connection.execute(f"DELETE FROM {table} WHERE {where}", last).rowcount  # noqa: S608
            took = self._steady() - began
            if took > _LONG_S:
                self._rows = max(self._rows // 2, _FEWEST)
            elif took < _LONG_S / 4:
                self._rows = min(self._rows * 2, _MOST)
            yield SealStep(rows=deleted)
            if row is None:
                return


def _samples(rows: Sequence[Row], metrics: Sequence[str]) -> HourSamples:
    """Rows of one object and source, rising in time, as columns; metrics without any value are left out."""
    _, _, ts, intervals, polled, *cells = zip(*rows, strict=True)
    return HourSamples(
        ts,
        intervals,
        polled,
        {name: column for name, column in zip(metrics, cells, strict=True) if column.count(None) < len(column)},
    )
