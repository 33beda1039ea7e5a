"""Deletes what is older than a moment from a store that no agent writes: by the retention of the agent, at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Final

from mqvitals_agent.store.deletion.events import ENDED_ALERTS
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.file.database import explained
from mqvitals_agent.store.file.schema import open_reader
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.result import RECORDS, REPLAY
from mqvitals_agent.store.retention import Retention, RetentionPolicy
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkKey, hour_of_ts
from mqvitals_agent.store.rows.sealed.roller import Roller
from mqvitals_agent.store.rows.sealed.sealer import SHORTEST_HOT_MS, Sealer
from mqvitals_agent.store.writer import Store
from mqvitals_config.sections.store import KeepSettings, RawKeep
from mqvitals_rules.timestamps import DAY_MS, HOUR_MS

_STEPS: Final = 500
"""Steps of sealing and rolling up in one transaction: a second or so."""


def prune(
    path: Path, before: int, now: int, told: Callable[[int], None] = lambda _: None, *, hours: bool = False
) -> int:
    """Delete what the agent would, did it keep from ``before`` on; both times are ms UTC. Returns the number of rows.

    Rolled-up hours stay, and are made of whole days before; with ``hours`` those of whole days before ``before`` go too.

    ``told`` is told the rows so far, in short steps: whatever it raises ends the work in order, and so does the death of
    the process; what was deleted until then is consistent. Raises StoreError: another process writes the store.
    """
    with StoreReader.open(path) as reader:
        mode = reader.meta().mode
    rows = 0
    with Store.open(path, replay=mode == REPLAY, records=mode == RECORDS) as store:
        # What is in the folder of SMF files is not known here: as for a folder that cannot be read, no file is forgotten.
        age = now - before
        keep = KeepSettings(RawKeep(age), age if hours else None, age)
        retention = Retention(store, RetentionPolicy(keep, None, unrolled=True), folder=path)
        oldest = retention.oldest()
        if not hours and oldest is not None and oldest // DAY_MS < before // DAY_MS:
            _roll_up(store, before, lambda: told(rows))
        more = True
        while more:
            step = retention.step(now)
            rows, more = rows + step.rows, step.more
            told(rows)
    return rows


def _roll_up(store: Store, before: int, told: Callable[[], None]) -> None:
    """Make the hours of the days that go, as far as they are over; ``told`` is called in short steps."""
    as_of = (before // DAY_MS + 1) * DAY_MS + HOUR_MS + SHORTEST_HOT_MS
    written = store.snapshots.written
    sealer = Sealer(store.tables, written.touched, columns=written.columns)
    roller = Roller(store.tables)
    with store.database.reading() as connection:
        for work in (sealer.round(connection, as_of), roller.round(connection, as_of)):
            more = True
            while more:
                with store.database.writing():
                    more = sum(1 for _ in islice(work, _STEPS)) == _STEPS
                told()


def expired(path: Path, before: int, *, hours: bool = False) -> Mapping[str, int]:
    """How many rows ``prune`` would delete of each table that holds much: samples, sealed hours, snapshots, messages, journal,
    ended alerts, with ``hours`` days of rolled-up hours.

    What belongs to them goes with them. Raises StoreError.
    """
    with closing(open_reader(path)) as connection, explained(path, "reading"):
        there = [
            str(row[0])
            for row in connection.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, 7) = 'sample_' ORDER BY name"
            )
        ]
        conditions = {
            **dict.fromkeys((*there, "snapshot", "journal"), "ts < ?"),
            "message": "last_ts < ?",
            "alert": ENDED_ALERTS,
        }
        found = {
            table: int(connection.execute(f"SELECT count(*) FROM {table} WHERE {where}", (before,)).fetchone()[0])  # noqa: S608
            for table, where in conditions.items()
        }
        of_days = ("rollup", "metric IN (SELECT id FROM rollup_metric) AND day < ?", before // DAY_MS)
        sealed = ("chunk", "id < ?", ChunkKey(hour_of_ts(before), 0, 0).id)
        for table, where, bound in (sealed, of_days) if hours else (sealed,):
            query = f"SELECT count(*) FROM {table} WHERE {where}"  # noqa: S608 - ours
            found[table] = int(connection.execute(query, (bound,)).fetchone()[0])
    return {table: count for table, count in found.items() if count}


def refuse_all(newest: int | None, before: int, path: Path) -> None:
    """Raises StoreError where no sample would be left: the newest is of ``newest``, ms UTC. A clock may be wrong."""
    from mqvitals_agent.text.figure import moment, zone_name

    if newest is not None and newest < before:
        raise StoreError(
            f"nothing of the samples in {path} would be left: the newest is of {moment(newest)} {zone_name(newest)}",
            "name an earlier moment with --before, and check the clock of this machine",
        )
