"""Whether every rolled-up hour can be read: the row of each metric is decoded with that of what all of them cover."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from mqvitals_agent.store.file.long_work import LongWork
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkKey
from mqvitals_agent.store.rows.sealed.codec import DamagedChunkError
from mqvitals_agent.store.rows.sealed.rollup_rows import DAY_HOURS, decode_covers, decode_day
from mqvitals_agent.store.rows.tables import integer, text
from mqvitals_rules.snapshot import ObjectName

_AT_ONCE: Final = 5_000
"""Rows that are read in one transaction: some 50 ms, so that the log of a writer does not wait for it."""

_ROWS: Final = """
    SELECT r.metric, r.day, r.object_id, r.source, r.data, m.kind, m.metric, c.data
    FROM rollup AS r
    LEFT JOIN rollup_metric AS m ON m.id = r.metric
    LEFT JOIN rollup_metric AS n ON n.kind = m.kind AND n.metric = ''
    LEFT JOIN rollup AS c ON c.metric = n.id AND c.day = r.day AND c.object_id = r.object_id AND c.source = r.source
    WHERE (r.metric, r.day, r.object_id, r.source) > (?, ?, ?, ?)
    ORDER BY r.metric, r.day, r.object_id, r.source LIMIT ?
"""
"""Rows in order of their keys, with the row of all metrics of the same object, day and source."""

_Key = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class UnreadableDay:
    """The hours of a day that cannot be read: of which object (None: of none that is there), and why not.

    ``metric`` is empty where those of all metrics cannot be read, else that of the row ``of``. ``day`` counts from 1970 UTC.
    """

    kind: str
    metric: str
    of: int
    day: int
    number: int
    source: int
    object: ObjectName | None
    why: str


@dataclass(frozen=True, slots=True)
class RollupCheck:
    """How many rows of rolled-up hours were read, and the days of objects that could not be."""

    rows: int = 0
    damaged: tuple[UnreadableDay, ...] = ()


def check_rollups(connection: sqlite3.Connection, work: LongWork) -> RollupCheck:
    """Decode every row. A writer may go on meanwhile. Raises sqlite3.Error."""
    read = 0
    # What all metrics of a day need is told once.
    damaged: dict[tuple[str | int, str, int, int, int], UnreadableDay] = {}
    with work.on(connection):
        (total,) = connection.execute("SELECT count(*) FROM rollup").fetchone()
        work.begin("reading rolled-up hours", total, " rows", lambda: read)
        for rows in _pages(connection):
            for (of, day, number, source), data, kind, metric, cover in rows:
                found = _fault(data, metric, cover)
                if found is not None:
                    name, why = found
                    damaged[of if kind is None else kind, name, day, number, source] = UnreadableDay(
                        kind or "", name, of, day, number, source, _name(connection, number), why
                    )
            read += len(rows)
            work.check()
    return RollupCheck(read, tuple(damaged.values()))


def drop_rollups(connection: sqlite3.Connection, damaged: Iterable[UnreadableDay]) -> None:
    """Delete rows that cannot be read; days of which there are chunks are due to be rolled up again.

    A day without any stays done: nothing of it can be made again, and readers would look for samples of all days since.
    The caller owns the transaction. Raises sqlite3.Error.
    """
    for each in damaged:
        key = each.day, each.number, each.source
        if each.metric or not each.kind:
            connection.execute(
                "DELETE FROM rollup WHERE metric = ? AND day = ? AND object_id = ? AND source = ?", (each.of, *key)
            )
        else:
            connection.execute(
                "DELETE FROM rollup WHERE metric IN (SELECT id FROM rollup_metric WHERE kind = ?)"
                " AND day = ? AND object_id = ? AND source = ?",
                (each.kind, *key),
            )
        if _has_chunk(connection, *key):
            connection.execute(
                "UPDATE rolled SET day = ? WHERE kind = ? AND day >= ?", (each.day - 1, each.kind, each.day)
            )


def _pages(
    connection: sqlite3.Connection,
) -> Iterator[list[tuple[_Key, object, str | None, str | None, object]]]:
    """Key, data, kind and metric of all rows, with the row of all metrics; each page within a transaction of its own."""
    after: _Key = (-(1 << 63),) * 4
    while True:
        connection.execute("BEGIN")
        try:
            rows = [
                (
                    (integer(of), integer(day), integer(number), integer(source)),
                    data,
                    None if kind is None else text(kind),
                    None if metric is None else text(metric),
                    cover,
                )
                for of, day, number, source, data, kind, metric, cover in connection.execute(_ROWS, (*after, _AT_ONCE))
            ]
        finally:
            connection.execute("COMMIT")
        if not rows:
            return
        yield rows
        after = rows[-1][0]


def _fault(data: object, metric: str | None, cover: object) -> tuple[str, str] | None:
    """The metric that cannot be read, empty for all of a day, and why not; None: nothing is wrong with the row."""
    if metric is None:
        return "", "there is no such metric"
    if cover is None:
        return "", "which hours they cover is missing"
    if type(cover) is not bytes or type(data) is not bytes:
        return metric, "the hours of a day are damaged"
    try:
        covers = decode_covers(cover)
    except DamagedChunkError as error:
        return "", str(error)
    if not covers:
        return "", "which hours they cover is missing"
    if not metric:
        return None
    try:
        decode_day(covers, data)
    except DamagedChunkError as error:
        return metric, str(error)
    return None


def _name(connection: sqlite3.Connection, number: int) -> ObjectName | None:
    row = connection.execute("SELECT owner, kind, name FROM object WHERE id = ?", (number,)).fetchone()
    return None if row is None else ObjectName(*map(text, row))


def _has_chunk(connection: sqlite3.Connection, day: int, number: int, source: int) -> bool:
    """Whether there are samples of a day, the last of which is that of the next one's begin."""
    try:
        rows = [(ChunkKey(day * DAY_HOURS + hour, number, source).id,) for hour in range(DAY_HOURS + 1)]
    except ValueError:
        return False
    query = "SELECT 1 FROM chunk WHERE id = ?"
    return any(connection.execute(query, row).fetchone() is not None for row in rows)
