"""Stores with sealed hours, for tests of what is done with them; and what samples they hold, read without the readers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from mqvitals_agent.store.rows.sealed.chunk import HOUR_MS
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkReader
from mqvitals_agent.store.rows.sealed.sealer import SEAL_AFTER_MS, Sealer
from mqvitals_agent.store.writer import Store
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source

HOUR = HOUR_MS
DAY = 24 * HOUR
BEGAN = 20_000 * DAY
"""A midnight, UTC."""

Samples = dict[tuple[str, int, int, int], tuple[Any, ...]]
"""By kind, object, source and time, in this order: interval, polled, then the kind's columns by their names."""


def at(hours: float) -> int:
    """So many hours after ``BEGAN``, ms UTC."""
    return int(BEGAN + hours * HOUR)


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
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info(sample_{kind})")]
            names = sorted({*columns} - {"ts", "object_id", "source", "interval_ms", "polled"})
            for hour in range(span[0], span[1] + 1) if span else ():
                for source in (1, 2, 3):
                    for number, samples in reader.of_hour(connection, hour, kind, numbers, source):
                        absent: Sequence[Any] = (None,) * len(samples.ts)
                        for place, ts in enumerate(samples.ts):
                            values = [samples.values.get(name, absent)[place] for name in names]
                            found[kind, number, source, ts] = (
                                samples.intervals[place],
                                samples.polled[place],
                                *values,
                            )
            listed = ", ".join(f'"{name}"' for name in ("object_id", "source", "ts", "interval_ms", "polled", *names))
            for number, source, ts, *cells in connection.execute(f"SELECT {listed} FROM sample_{kind}"):
                under = found.get((kind, number, source, ts), (None,) * len(cells))
                found[kind, number, source, ts] = tuple(
                    old if new is None else new for new, old in zip(cells, under, strict=True)
                )
    return found


def hours_of(samples: Samples) -> set[int]:
    """The hours of which there are samples."""
    return {ts // HOUR_MS for _, _, _, ts in samples}
