"""Deletes what is older than a moment from a store that no agent writes: by the retention of the agent, at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.file.database import explained
from mqvitals_agent.store.file.schema import open_reader
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.result import RECORDS, REPLAY
from mqvitals_agent.store.retention import Retention, RetentionPolicy
from mqvitals_agent.store.writer import Store

_ENDED: Final = (
    "state = 'resolved' AND ended < ? AND ending = 0 AND id < (SELECT max(id) FROM alert)"
    " AND NOT EXISTS (SELECT 1 FROM notice WHERE alert_id = alert.id AND done_ts IS NULL)"
)


def prune(path: Path, before: int, now: int, told: Callable[[int], None] = lambda _: None) -> int:
    """Delete what the agent would, did it keep from ``before`` on; both times are ms UTC. Returns the number of rows.

    ``told`` is told the rows so far, in short steps: whatever it raises ends the work in order, and so does the death of
    the process; what was deleted until then is consistent. Raises StoreError: another process writes the store.
    """
    with StoreReader.open(path) as reader:
        mode = reader.meta().mode
    rows = 0
    with Store.open(path, replay=mode == REPLAY, records=mode == RECORDS) as store:
        # What is in the folder of SMF files is not known here: as for a folder that cannot be read, no file is forgotten.
        retention = Retention(store, RetentionPolicy.of(now - before, None), folder=path)
        more = True
        while more:
            step = retention.step(now)
            rows, more = rows + step.rows, step.more
            told(rows)
    return rows


def expired(path: Path, before: int) -> Mapping[str, int]:
    """How many rows ``prune`` would delete of each table that holds much: samples, snapshots, messages, journal, ended alerts.

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
            "alert": _ENDED,
        }
        found = {
            table: int(connection.execute(f"SELECT count(*) FROM {table} WHERE {where}", (before,)).fetchone()[0])  # noqa: S608
            for table, where in conditions.items()
        }
    return {table: count for table, count in found.items() if count}


def refuse_all(newest: int | None, before: int, path: Path) -> None:
    """Raises StoreError where no sample would be left: the newest is of ``newest``, ms UTC. A clock may be wrong."""
    from mqvitals_agent.text.figure import moment, zone_name

    if newest is not None and newest < before:
        raise StoreError(
            f"nothing of the samples in {path} would be left: the newest is of {moment(newest)} {zone_name(newest)}",
            "name an earlier moment with --before, and check the clock of this machine",
        )
