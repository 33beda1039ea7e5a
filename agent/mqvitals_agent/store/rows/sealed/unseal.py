"""Chunks become rows again, and go where a clock was wrong.

What lies ahead of a clock that was set back is deleted, and what is deleted within an hour is looked for among rows: the
chunks of that hour are put back as rows first. Whoever seals next seals the hour again. A chunk that cannot be read goes
with what is deleted: nothing of it could be put back, and it must keep no cycle from being stored.
"""

# ruff: noqa: S608 - the names of tables and columns are our own; everything else is a bound parameter
from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from mqvitals_agent.store.rows.sealed.chunk import HourSamples
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkKey, ChunkReader, hour_of_ts
from mqvitals_agent.store.rows.sealed.codec import DamagedChunkError
from mqvitals_agent.store.rows.tables import LAST_MOMENT, NULL, POLL, KindTables, integer, text
from mqvitals_rules.timestamps import DAY_MS, HOUR_MS

_NUMBER: Final = "(id >> 2 & 0xFFFFFF)"
_SOURCE: Final = "(id & 3)"
"""What the number of a chunk's row says, as SQL: see ``ChunkKey``."""


def unseal(
    connection: sqlite3.Connection,
    tables: KindTables,
    number: int,
    source: int,
    hours: Iterable[int],
    before: int = LAST_MOMENT + 1,
) -> None:
    """Put the samples of an object's chunks of ``hours`` back as rows, beneath those that are there; delete the chunks.

    Samples at ``before`` (ms UTC) or later are not put back. The caller owns the transaction. Raises sqlite3.Error, and
    TypeError for a cell that no chunk has.
    """
    row = connection.execute("SELECT owner FROM object WHERE id = ?", (number,)).fetchone()
    reader = ChunkReader()
    for hour in hours:
        if row is not None:
            try:
                found = list(reader.of_object(connection, number, text(row[0]), source, (hour,)))
            except DamagedChunkError:
                found = []
            for samples in found:
                _put_back(connection, tables, number, source, samples, before)
        connection.execute("DELETE FROM chunk WHERE id = ?", (ChunkKey(hour, number, source).id,))


def _put_back(
    connection: sqlite3.Connection, tables: KindTables, number: int, source: int, samples: HourSamples, before: int
) -> None:
    names = [name for name in tables.numbers if name in samples.values]
    listed = "".join(f', "{name}"' for name in names)
    beneath = "".join(f', "{name}" = coalesce("{name}", excluded."{name}")' for name in names)
    rows = zip(samples.ts, samples.intervals, samples.polled, *(samples.values[name] for name in names), strict=True)
    connection.executemany(
        f"INSERT INTO {tables.history}(object_id, source, ts, interval_ms, polled{listed})"
        f" VALUES({number:d}, {source:d}, ?, ?, ?{', ?' * len(names)}) ON CONFLICT(ts, object_id, source) DO UPDATE SET"
        f" interval_ms = coalesce(max(interval_ms, excluded.interval_ms), interval_ms, excluded.interval_ms), polled = max(polled, excluded.polled){beneath}",
        [[NULL if cell is None else cell for cell in row] for row in rows if row[0] < before],
    )


def rewind_chunks(connection: sqlite3.Connection, tables: Iterable[KindTables], owner: str, ts: int) -> None:
    """Delete what chunks hold of the polls of ``owner`` at or after ``ts``, ms UTC, and the rollups of these days.

    The hour of ``ts`` becomes rows. The caller owns the transaction. Raises sqlite3.Error.
    """
    hour, day = hour_of_ts(ts), ts // DAY_MS
    by_kind: Mapping[str, KindTables] = {each.kind: each for each in tables}
    (newest,) = connection.execute("SELECT max(id) FROM chunk").fetchone()
    if newest is not None and ChunkKey.of(integer(newest)).hour >= hour:
        # Of whatever kind: a kind that this version does not know has no rows either.
        bounds = ChunkKey(hour, 0, 0).id, ChunkKey(hour + 1, 0, 0).id
        found = connection.execute(
            f"SELECT o.id, o.kind FROM chunk AS c JOIN object AS o ON o.id = (c.id >> 2 & 0xFFFFFF)"
            f" WHERE c.id >= ? AND c.id < ? AND (c.id & 3) = {POLL} AND o.owner = ?",
            (*bounds, owner),
        ).fetchall()
        for number, kind in found:
            if (known := by_kind.get(text(kind))) is not None:
                unseal(connection, known, integer(number), POLL, (hour,), ts)
        connection.execute(
            f"DELETE FROM chunk WHERE id >= ? AND {_SOURCE} = {POLL}"
            f" AND {_NUMBER} IN (SELECT id FROM object WHERE owner = ?)",
            (bounds[1], owner),
        )
    connection.execute(
        "DELETE FROM rollup WHERE metric IN (SELECT id FROM rollup_metric) AND day >= ?"
        f" AND source = {POLL} AND object_id IN (SELECT id FROM object WHERE owner = ?)",
        (day, owner),
    )
    connection.execute("UPDATE rolled SET day = ?1 WHERE day > ?1", (day - 1,))


def unseal_records(
    connection: sqlite3.Connection, tables: KindTables, number: int, source: int, first: int, last: int
) -> Sequence[int]:
    """Put back as rows the hours in which an object has records of ``source`` with ``first`` <= end < ``last``.

    Returns these hours. The caller owns the transaction. Raises sqlite3.Error, and TypeError as ``unseal``.
    """
    ends = connection.execute(
        "SELECT DISTINCT ts / ? FROM record WHERE object_id = ? AND source = ? AND ts >= ? AND ts < ?",
        (HOUR_MS, number, source, first, last),
    )
    hours = [integer(hour) for (hour,) in ends]
    unseal(connection, tables, number, source, hours)
    # A sample of an hour's begin is about the hour before, maybe of the day before.
    connection.executemany(
        "DELETE FROM rollup WHERE metric IN (SELECT id FROM rollup_metric) AND day = ? AND object_id = ? AND source = ?",
        [(day, number, source) for day in sorted({(hour - back) // 24 for hour in hours for back in (0, 1)})],
    )
    return hours


def count_chunks_outside(connection: sqlite3.Connection, latest: int) -> int:
    """How many chunks are of hours before 1970 or after that of ``latest``, ms UTC. Raises sqlite3.Error."""
    counts = connection.execute(
        "SELECT (SELECT count(*) FROM chunk WHERE id < 0), (SELECT count(*) FROM chunk WHERE id >= ?)",
        (ChunkKey(hour_of_ts(latest) + 1, 0, 0).id,),
    ).fetchone()
    return sum(map(integer, counts))


def drop_chunks_outside(connection: sqlite3.Connection, latest: int) -> None:
    """Delete these chunks, and rollups of days after that of ``latest``, ms UTC. Axes stay: readers remember them.

    The caller owns the transaction. Raises sqlite3.Error.
    """
    hour, day = hour_of_ts(latest), latest // DAY_MS
    connection.execute("DELETE FROM chunk WHERE id < 0 OR id >= ?", (ChunkKey(hour + 1, 0, 0).id,))
    connection.execute(
        "DELETE FROM rollup WHERE metric IN (SELECT id FROM rollup_metric) AND (day < 0 OR day > ?)", (day,)
    )
    connection.execute("UPDATE rolled SET day = ?1 WHERE day > ?1", (day,))


def has_chunk(connection: sqlite3.Connection, number: int, last: int) -> bool:
    """Whether there is a chunk of an object whose samples end at ``last`` (ms UTC) or before. Raises sqlite3.Error.

    Looked for from the oldest hour that has chunks on, one seek an hour.
    """
    (oldest,) = connection.execute("SELECT min(id) FROM chunk").fetchone()
    if oldest is None:
        return False
    query = "SELECT 1 FROM chunk WHERE id BETWEEN ? AND ? LIMIT 1"
    sources = 0, 3
    return any(
        connection.execute(query, [ChunkKey(hour, number, source).id for source in sources]).fetchone() is not None
        for hour in range(ChunkKey.of(integer(oldest)).hour, hour_of_ts(last) + 1)
    )
