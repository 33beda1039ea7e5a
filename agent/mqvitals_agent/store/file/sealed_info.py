"""What a store holds of sealed hours and of days that are rolled up: how many, of which time, and how much by kind."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkKey
from mqvitals_agent.store.rows.tables import integer, text
from mqvitals_rules.timestamps import DAY_MS, HOUR_MS

_HOURS: Final = 40
"""So many hours, spread over all, are looked at where not all are."""
_DAYS: Final = 5
"""So many days likewise."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """Chunks from ``begin`` to ``end``, and ``days`` of rolled-up hours from ``first_day`` on; times are ms UTC, None: there
    is none. ``chunks`` is estimated where not all were counted. The weights are bytes of data by kind, of those
    rows that were looked at.
    """

    chunks: int = 0
    begin: int | None = None
    end: int | None = None
    days: int = 0
    first_day: int | None = None
    chunk_weights: Counter[str] = field(default_factory=Counter)
    hour_weights: Counter[str] = field(default_factory=Counter)


def read_sealed(connection: sqlite3.Connection, *, exact: bool) -> Sealed:
    """Look at all rows, or at those of some hours and days. Raises sqlite3.Error."""
    first, last = connection.execute("SELECT (SELECT min(id) FROM chunk), (SELECT max(id) FROM chunk)").fetchone()
    chunks = 0
    weights: Counter[str] = Counter()
    begin = end = None
    if first is not None:
        begin, end = ChunkKey.of(integer(first)).hour, ChunkKey.of(integer(last)).hour + 1
        looked = range(begin, end, 1 if exact else max((end - begin) // _HOURS, 1))
        chunks, weights = _chunks(connection, looked)
        chunks = round(chunks * (end - begin) / len(looked))
    days, of_hours = _hours(connection, exact=exact)
    return Sealed(
        chunks,
        None if begin is None else begin * HOUR_MS,
        None if end is None else end * HOUR_MS,
        len(days),
        days[0] * DAY_MS if days else None,
        weights,
        of_hours,
    )


def _chunks(connection: sqlite3.Connection, hours: range) -> tuple[int, Counter[str]]:
    kinds = _kinds(connection, "chunk_layout")
    weights: Counter[str] = Counter()
    chunks = 0
    query = "SELECT layout, count(*), sum(length(data)) FROM chunk WHERE id >= ? AND id < ? GROUP BY layout"
    for hour in hours:
        bounds = ChunkKey(hour, 0, 0).id, ChunkKey(hour + 1, 0, 0).id
        for layout, count, size in connection.execute(query, bounds):
            chunks += integer(count)
            weights[kinds.get(integer(layout), "")] += integer(size)
    del weights[""]
    return chunks, weights


def _hours(connection: sqlite3.Connection, *, exact: bool) -> tuple[range, Counter[str]]:
    """The days that are rolled up, from the first to the last, and the bytes of some of them by kind."""
    kinds = _kinds(connection, "rollup_metric")
    first, last = connection.execute(
        "SELECT min((SELECT min(day) FROM rollup WHERE metric = m.id)), max((SELECT max(day) FROM rollup WHERE metric = m.id))"
        " FROM rollup_metric AS m"
    ).fetchone()
    if first is None:
        return range(0), Counter()
    days = range(integer(first), integer(last) + 1)
    looked = days if exact else days[:: max(len(days) // _DAYS, 1)]
    weights: Counter[str] = Counter()
    for metric, kind in kinds.items():
        for day in looked:
            query = "SELECT sum(length(data)) FROM rollup WHERE metric = ? AND day = ?"
            (size,) = connection.execute(query, (metric, day)).fetchone()
            weights[kind] += 0 if size is None else integer(size)
    return days, +weights


def _kinds(connection: sqlite3.Connection, table: str) -> Mapping[int, str]:
    found = connection.execute(f"SELECT id, kind FROM {table}")  # noqa: S608 - ours
    return {integer(number): text(kind) for number, kind in found}
