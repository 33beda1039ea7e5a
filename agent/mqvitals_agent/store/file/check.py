"""The check of a whole store, and its repair."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from mqvitals_agent.store.error import UNDECODABLE, StoreError, store_error
from mqvitals_agent.store.file.chunk_check import ChunkCheck, check_chunks, drop_chunks
from mqvitals_agent.store.file.database import explained, transaction
from mqvitals_agent.store.file.integrity import (
    OF_PEOPLE,
    count_invalid_times,
    date_alerts_ahead,
    drop_invalid_times,
)
from mqvitals_agent.store.file.long_work import LongWork, copy_pages, count_rows, find_damage
from mqvitals_agent.store.file.rollup_check import RollupCheck, check_rollups, drop_rollups
from mqvitals_agent.store.file.schema import ForeignObject, foreign_objects, open_as_it_is
from mqvitals_agent.store.file.store_file import WriterLock
from mqvitals_agent.store.rows.tables import LAST_MOMENT, KindTables, tables_of
from mqvitals_rules.vocabulary.tables import KINDS

AHEAD_MS = 86_400_000
"""What is dated further ahead of the clock than this is reported: it keeps the agent from dating by its own clock."""


@dataclass(frozen=True, slots=True)
class IntegrityReport:
    """What was found: rows by table, what SQLite says is wrong, what mqvitals does not make, rows by table with wrong
    times, and sealed and rolled-up hours that cannot be read.

    ``impossible`` are outside any calendar, ``ahead`` more than a day ahead of the clock.
    """

    rows: Mapping[str, int]
    damage: tuple[str, ...] = ()
    strangers: tuple[ForeignObject, ...] = ()
    impossible: Mapping[str, int] = field(default_factory=dict)
    ahead: Mapping[str, int] = field(default_factory=dict)
    sealed: ChunkCheck = field(default_factory=ChunkCheck)
    rolled: RollupCheck = field(default_factory=RollupCheck)

    @property
    def good(self) -> bool:
        """Whether nothing is wrong."""
        unreadable = self.sealed.damaged or self.rolled.damaged
        return not (self.damage or self.strangers or self.impossible or self.ahead or unreadable)


def check(path: Path, now: int, work: LongWork | None = None) -> IntegrityReport:
    """Look through all of the store at ``path``; ``now`` is the time of the clock, ms UTC.

    Raises StoreError: it is no store.
    """
    with closing(open_as_it_is(path)) as connection:
        return _look(path, connection, now, work or LongWork())


def repair(path: Path, now: int, work: LongWork | None = None) -> tuple[Path, IntegrityReport]:
    """Drop what cannot be kept; returns the copy that was made before, and what is still wrong.

    What mqvitals does not make, rows with wrong times and hours that cannot be read go; alerts that lie ahead stay, dated
    ``now``. A file that SQLite finds damaged is left as it is. Raises StoreError: another process writes it, there is no space for the
    copy, it is no store.
    """
    lock = WriterLock(path)
    try:
        with closing(open_as_it_is(path, writing=True)) as connection:
            work = work or LongWork()
            before = _look(path, connection, now, work)
            if before.damage:
                raise StoreError(
                    f"the store {path} is damaged ({before.damage[0]}): it cannot be repaired here",
                    "restore a copy, or move it away and let the agent start a new one",
                )
            with explained(path, "reading"):
                work.check()
            copy = _copy(path, connection, now, work)
            with explained(path, "writing"):
                work.check()
                work.begin("repairing")
                _drop(connection, before, now)
            return copy, _look(path, connection, now, work)
    finally:
        lock.release()


def _look(path: Path, connection: sqlite3.Connection, now: int, work: LongWork) -> IntegrityReport:
    try:
        found = tuple(foreign_objects(connection))
        damage = find_damage(connection, work)
        if damage or any(each.type in {"table", "view"} for each in found):
            # Something else in a table's place is not read.
            return IntegrityReport({}, damage, found)
        tables = _existing_tables(connection)
        names = (
            "owner",
            "object",
            "snapshot",
            "alert",
            *OF_PEOPLE,
            "notice",
            "chunk",
            "rollup",
            *(each.history for each in tables),
        )
        rows = count_rows(connection, names, work)
        work.begin("looking for impossible dates")
        with work.on(connection):
            impossible = count_invalid_times(connection, tables, deep=True)
            late = count_invalid_times(connection, tables, latest=now + AHEAD_MS, deep=True)
        sealed, rolled = check_chunks(connection, work), check_rollups(connection, work)
        ahead = Counter({table: count - impossible[table] for table, count in late.items()})
    except (sqlite3.Error, *UNDECODABLE) as error:
        if work.stopped:
            raise store_error(path, error, "reading") from error
        if isinstance(error, sqlite3.DatabaseError):
            return IntegrityReport({}, (" ".join(str(error).split()),))
        raise store_error(path, error, "reading") from error
    counted = {name: count for name, count in rows.items() if count}
    return IntegrityReport(counted, damage, found, +impossible, +ahead, sealed, rolled)


def _existing_tables(connection: sqlite3.Connection) -> list[KindTables]:
    there = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    return [each for each in tables_of(KINDS).values() if each.history in there and each.current in there]


def _copy(path: Path, connection: sqlite3.Connection, now: int, work: LongWork) -> Path:
    at = datetime.fromtimestamp(now / 1000, UTC).strftime("%Y%m%dT%H%M%SZ")
    copy = path.with_name(f"{path.name}.before-repair-{at}")
    if copy.exists():
        raise StoreError(f"{copy} is there already", "try again in a second")
    try:
        with closing(sqlite3.connect(copy)) as target:
            copy.chmod(path.stat().st_mode & 0o777)
            copy_pages(connection, target, work)
    except (sqlite3.Error, OSError) as error:
        copy.unlink(missing_ok=True)
        raise StoreError(
            f"the store {path} cannot be copied to {copy} ({error}): nothing was changed",
            "see that there is space for a copy",
        ) from error
    return copy


def _drop(connection: sqlite3.Connection, found: IntegrityReport, now: int) -> None:
    with transaction(connection):
        for each in found.strangers:
            if each.type in {"trigger", "view", "index", "table"}:
                quoted = each.name.replace('"', '""')
                connection.execute(f'DROP {each.type} IF EXISTS "{quoted}"')
    with transaction(connection):
        date_alerts_ahead(connection, now, now + AHEAD_MS)
        drop_chunks(connection, found.sealed.damaged)
        drop_rollups(connection, found.rolled.damaged)
        drop_invalid_times(connection, _existing_tables(connection), latest=min(now + AHEAD_MS, LAST_MOMENT))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
