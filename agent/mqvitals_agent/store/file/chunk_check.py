"""Whether every sealed hour can be read: each chunk is decoded and compared with what its row says of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from mqvitals_agent.store.file.long_work import LongWork
from mqvitals_agent.store.rows.sealed.chunk import HourSamples
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkKey, ChunkReader
from mqvitals_agent.store.rows.sealed.codec import DamagedChunkError
from mqvitals_agent.store.rows.tables import integer, text
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import HOUR_MS

_AT_ONCE: Final = 500
"""Chunks that are read in one transaction: a tenth of a second, so that the log of a writer does not wait for it."""


@dataclass(frozen=True, slots=True)
class UnreadableChunk:
    """The samples of an hour that cannot be read: of which object (None: of none that is there), and why not.

    ``hour`` is its begin, ms UTC; ``row`` the number of its row.
    """

    row: int
    object: ObjectName | None
    hour: int
    why: str


@dataclass(frozen=True, slots=True)
class ChunkCheck:
    """How many chunks were read, with how many samples, and those that could not be read."""

    chunks: int = 0
    samples: int = 0
    damaged: tuple[UnreadableChunk, ...] = ()


def check_chunks(connection: sqlite3.Connection, work: LongWork) -> ChunkCheck:
    """Decode every chunk. A writer may go on meanwhile. Raises sqlite3.Error."""
    reader = ChunkReader()
    objects: Mapping[int, ObjectName] = {}
    chunks = samples = 0
    damaged: list[UnreadableChunk] = []
    (total,) = connection.execute("SELECT count(*) FROM chunk").fetchone()
    work.begin("reading sealed hours", total, " chunks", lambda: chunks)
    with work.on(connection):
        for rows in _pages(connection):
            numbers = {ChunkKey.of(row).number for row, _ in rows}
            if not numbers <= objects.keys():
                objects = _objects(connection)
            for row, count in rows:
                key = ChunkKey.of(row)
                name = objects.get(key.number)
                why = "" if name is not None else "there is no such object"
                if name is not None:
                    try:
                        found = _read(connection, reader, key, name)
                    except (DamagedChunkError, TypeError) as error:
                        why = str(error)
                    else:
                        why = _contradiction(found, key, count)
                        samples += len(found.ts)
                if why:
                    damaged.append(UnreadableChunk(row, name, key.hour * HOUR_MS, why))
            chunks += len(rows)
            work.check()
    return ChunkCheck(chunks, samples, tuple(damaged))


def drop_chunks(connection: sqlite3.Connection, damaged: Iterable[UnreadableChunk]) -> None:
    """Delete damaged chunks, with the entries of their records. The caller owns the transaction. Raises sqlite3.Error."""
    for each in damaged:
        key = ChunkKey.of(each.row)
        connection.execute("DELETE FROM chunk WHERE id = ?", (each.row,))
        tables = [] if each.object is None else [f"sample_{each.object.kind}"]
        there = "".join(
            f" AND ts NOT IN (SELECT ts FROM {table} WHERE object_id = record.object_id AND source = record.source"  # noqa: S608
            " AND ts BETWEEN ?3 AND ?4)"
            for table in tables
        )
        # Records that came late are rows, and stay.
        connection.execute(
            f"DELETE FROM record WHERE object_id = ?1 AND source = ?2 AND ts BETWEEN ?3 AND ?4{there}",  # noqa: S608
            (key.number, key.source, each.hour, each.hour + HOUR_MS - 1),
        )


def _pages(connection: sqlite3.Connection) -> Iterator[list[tuple[int, int]]]:
    """The numbers of all rows with what each says of its samples' number; each page within a transaction of its own."""
    after: int | None = None
    while True:
        connection.execute("BEGIN")
        try:
            query = "SELECT id, n FROM chunk WHERE ?1 IS NULL OR id > ?1 ORDER BY id LIMIT ?2"
            rows = [(integer(row), integer(count)) for row, count in connection.execute(query, (after, _AT_ONCE))]
            if not rows:
                return
            yield rows
        finally:
            connection.execute("COMMIT")
        after = rows[-1][0]


def _objects(connection: sqlite3.Connection) -> Mapping[int, ObjectName]:
    found = connection.execute("SELECT id, owner, kind, name FROM object")
    return {integer(number): ObjectName(text(owner), text(kind), text(name)) for number, owner, kind, name in found}


def _read(connection: sqlite3.Connection, reader: ChunkReader, key: ChunkKey, name: ObjectName) -> HourSamples:
    (found,) = reader.of_object(connection, key.number, name.owner, key.source, (key.hour,))
    return found


def _contradiction(found: HourSamples, key: ChunkKey, count: int) -> str:
    """What in a chunk that can be decoded cannot be; empty: nothing."""
    times = found.ts
    if len(times) != count:
        return f"it has {len(times):,} samples, and should have {count:,}"
    if any(later <= earlier for earlier, later in pairwise(times)):
        return "its times do not rise"
    if times and not key.hour * HOUR_MS <= times[0] <= times[-1] < (key.hour + 1) * HOUR_MS:
        return "its times are of another hour"
    return ""
