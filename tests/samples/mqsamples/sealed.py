"""Stores with sealed hours, for tests of what is done with them; and what samples they hold, read without the readers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from mqvitals_agent.store.file.migration import make_tables
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkReader
from mqvitals_agent.store.rows.sealed.sealer import SEAL_AFTER_MS, Sealer
from mqvitals_agent.store.rows.tables import tables_of
from mqvitals_agent.store.writer import Store
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.timestamps import HOUR_MS
from mqvitals_rules.vocabulary.tables import KINDS

HOUR = HOUR_MS
DAY = 24 * HOUR
BEGAN = 20_000 * DAY
"""A midnight, UTC."""

Samples = dict[tuple[str, int, int, int], dict[str, Any]]
"""By kind, object, source and time, in this order: the interval, whether it was polled, and the values that are there."""


def at(hours: float) -> int:
    """So many hours after ``BEGAN``, ms UTC."""
    return int(BEGAN + hours * HOUR)


def bare_store(owners: Mapping[int, str]) -> sqlite3.Connection:
    """A store in memory that no writer has opened, with a queue of each number, whose owner that is."""
    connection = make_tables(sqlite3.connect(":memory:", isolation_level=None))
    for statement in tables_of(KINDS)["queue"].statements({}):
        connection.execute(statement)
    connection.executemany(
        "INSERT INTO object(id, owner, kind, name, first_ts) VALUES(?, ?, 'queue', ?, 0)",
        [(number, owner, f"Q{number}") for number, owner in owners.items()],
    )
    return connection


def fill(make: Any, store: Store, hours: Iterable[float], names: Iterable[str] = ("A", "B")) -> None:
    """In each hour a poll of queues and the log, and a record of the first queue that ended then."""
    names = tuple(names)
    for hour in hours:
        ts = at(hour)
        readings = [replace(make.status(2, name, depth=int(hour), puts=1), ts=ts) for name in names]
        log = Reading(ObjectName("QM01", "log"), "LOG", ts, {"used_pct": hour}, 10_000)
        store.write(replace(make.snapshot(int(hour * 60) + 1, *readings, log), ts=ts, clock_ms=None), make.verdict())
        record = Reading(make.queue(names[0]), "SMF", ts, {"max_depth": int(hour)}, HOUR, poll=False, source=Source.SMF)
        store.write(Snapshot("QM01", False, 0, ts, (record,)), make.verdict())


def seal_all(store: Store, until: int) -> None:
    """Seal what rows there are of the hours before that of ``until``, ms UTC."""
    with store.database.writing() as connection:
        for _ in Sealer(store.tables, store.snapshots.written.touched).round(connection, until + SEAL_AFTER_MS):
            pass


def held(path: Path, kinds: Iterable[str] = ("queue", "log")) -> Samples:
    """All samples of a store, of chunks with the rows laid over them."""
    found: Samples = {}
    with closing(sqlite3.connect(path)) as connection:
        owners: dict[str, dict[int, str]] = {kind: {} for kind in kinds}
        for number, owner, kind in connection.execute("SELECT id, owner, kind FROM object"):
            owners[kind][number] = owner
        reader = ChunkReader()
        span = reader.span(connection)
        for kind, numbers in owners.items():
            for hour in range(span[0], span[1] + 1) if span else ():
                for source in (1, 2, 3):
                    for number, samples in reader.of_hour(connection, hour, kind, numbers, source):
                        columns = {"interval_ms": samples.intervals, "polled": samples.polled, **samples.values}
                        for place, ts in enumerate(samples.ts):
                            found[kind, number, source, ts] = {
                                name: cells[place] for name, cells in columns.items() if cells[place] is not None
                            }
            rows = connection.execute(f"SELECT * FROM sample_{kind}")
            listed = [column[0] for column in rows.description]
            for row in rows:
                cells = {name: cell for name, cell in zip(listed, row, strict=True) if cell is not None}
                key = kind, cells.pop("object_id"), cells.pop("source"), cells.pop("ts")
                found[key] = {**found.get(key, {}), **cells}
    return found


def hours_of(samples: Samples) -> set[int]:
    """The hours of which there are samples."""
    return {ts // HOUR_MS for _, _, _, ts in samples}
