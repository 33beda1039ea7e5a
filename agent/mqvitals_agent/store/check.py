"""A whole look at a store's file, and what can be repaired in it."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from mqvitals_agent.store.cell import LAST_MOMENT
from mqvitals_agent.store.error import UNDECODABLE, StoreError, explained
from mqvitals_agent.store.impossible import count_impossible, drop_impossible
from mqvitals_agent.store.lock import WriterLock
from mqvitals_agent.store.rewind import date_alerts
from mqvitals_agent.store.schema import open_as_it_is
from mqvitals_agent.store.schema_check import Stranger, strangers
from mqvitals_agent.store.table import tables_of
from mqvitals_rules.vocabulary.tables import KINDS

AHEAD_MS = 86_400_000
"""What is dated further ahead of the clock than this is reported: it keeps the agent from dating by its own clock."""

_MOST_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found: rows by table, what SQLite says is wrong, what mqvitals does not make, rows by table with wrong times.

    ``impossible`` are outside any calendar, ``ahead`` more than a day ahead of the clock.
    """

    rows: Mapping[str, int]
    damage: tuple[str, ...] = ()
    strangers: tuple[Stranger, ...] = ()
    impossible: Mapping[str, int] = field(default_factory=dict)
    ahead: Mapping[str, int] = field(default_factory=dict)

    @property
    def good(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.damage or self.strangers or self.impossible or self.ahead)


def check(path: Path, now: int) -> Findings:
    """Look through all of the store at ``path``; ``now`` is the time of the clock, ms UTC. Raises StoreError: it is no store."""
    with closing(open_as_it_is(path)) as connection:
        return _look(path, connection, now)


def repair(path: Path, now: int) -> tuple[Path, Findings]:
    """Drop what cannot be kept; returns the copy that was made before, and what is still wrong.

    What mqvitals does not make and rows with wrong times go; alerts that lie ahead stay, dated ``now``. A file that SQLite finds damaged is left as it is. Raises
    StoreError: another process writes it, there is no space for the copy, it is no store.
    """
    lock = WriterLock(path)
    try:
        with closing(open_as_it_is(path, writing=True)) as connection:
            before = _look(path, connection, now)
            if before.damage:
                raise StoreError(
                    f"the store {path} is damaged ({before.damage[0]}): it cannot be repaired here",
                    "put back a copy, or move it away and let the agent begin a new one",
                )
            copy = _copy(path, connection, now)
            try:
                _drop(connection, before, now)
            except sqlite3.Error as error:
                with suppress(sqlite3.Error):
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                raise explained(path, error, "writing") from error
            return copy, _look(path, connection, now)
    finally:
        lock.release()


def _look(path: Path, connection: sqlite3.Connection, now: int) -> Findings:
    try:
        found = tuple(strangers(connection))
        damage = tuple(str(row[0]) for row in connection.execute(f"PRAGMA integrity_check({_MOST_PROBLEMS:d})"))
        damage = () if damage == ("ok",) else damage
        there = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        if damage or any(each.type in {"table", "view"} for each in found):
            # What stands in a table's place is not asked anything.
            return Findings({}, damage, found)
        tables = [each for each in tables_of(KINDS).values() if each.history in there and each.current in there]
        names = ("owner", "object", "snapshot", "alert", "notice", *(each.history for each in tables))
        rows = {
            name: int(connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0])  # noqa: S608 - names of ours
            for name in names
        }
        impossible = count_impossible(connection, tables, deep=True)
        late = count_impossible(connection, tables, latest=now + AHEAD_MS, deep=True)
        ahead = Counter({table: count - impossible[table] for table, count in late.items()})
    except (sqlite3.Error, *UNDECODABLE) as error:
        if isinstance(error, sqlite3.DatabaseError):
            return Findings({}, (" ".join(str(error).split()),))
        raise explained(path, error, "reading") from error
    return Findings({name: count for name, count in rows.items() if count}, damage, found, +impossible, +ahead)


def _copy(path: Path, connection: sqlite3.Connection, now: int) -> Path:
    at = datetime.fromtimestamp(now / 1000, UTC).strftime("%Y%m%dT%H%M%SZ")
    copy = path.with_name(f"{path.name}.before-repair-{at}")
    if copy.exists():
        raise StoreError(f"{copy} is there already", "try again in a second")
    try:
        with closing(sqlite3.connect(copy)) as target:
            copy.chmod(path.stat().st_mode & 0o777)
            connection.backup(target)
    except (sqlite3.Error, OSError) as error:
        copy.unlink(missing_ok=True)
        raise StoreError(
            f"the store {path} cannot be copied to {copy} ({error}): nothing was changed",
            "see that there is space for a copy",
        ) from error
    return copy


def _drop(connection: sqlite3.Connection, found: Findings, now: int) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for each in found.strangers:
        if each.type in {"trigger", "view", "index", "table"}:
            quoted = each.name.replace('"', '""')
            connection.execute(f'DROP {each.type} IF EXISTS "{quoted}"')
    connection.execute("COMMIT")
    there = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    tables = [each for each in tables_of(KINDS).values() if each.history in there and each.current in there]
    connection.execute("BEGIN IMMEDIATE")
    date_alerts(connection, now, now + AHEAD_MS)
    drop_impossible(connection, tables, latest=min(now + AHEAD_MS, LAST_MOMENT))
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
