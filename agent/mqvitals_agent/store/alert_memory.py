"""Open alerts, what is owed and who the receivers are, in memory: it decides and sends whatever becomes of the file.

The file follows: ``write_to`` brings it to the state of the memory, with whatever has changed since it last could. So a file
that is full, locked or gone delays no alert, and a new file gets what is open.
"""

# ruff: noqa: S608 - the names of tables and columns are our own; everything else is a bound parameter
from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from mqvitals_agent.store.alert_tables import AlertTables
from mqvitals_agent.store.alerts import AlertRows
from mqvitals_agent.store.migration import migrations
from mqvitals_agent.store.notifications import (
    BuildForNewReceivers,
    BuildNotifications,
    NotificationOutcome,
    ReceiverChanges,
    delete_old_notifications,
    insert_notifications,
)
from mqvitals_rules.lifecycle.alert import Transition

_TABLES = ("alert", "alert_transition", "notice", "receiver")
_ALL = "SELECT max(id) FROM"
_LIVE = "state <> 'resolved' OR id IN (SELECT alert_id FROM notice WHERE done_ts IS NULL)"
"""Alerts that are open, or about which something is owed."""


class AlertMemory(AlertTables):
    """The tables of alerts, notices and receivers in memory. Numbers are the same as in the file, and given once.

    ``path`` names the store in errors. Use it in one thread.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, migrations.made(sqlite3.connect(":memory:", isolation_level=None)))
        self._rows = AlertRows(self._connection)
        self._columns = {
            table: tuple(str(row[1]) for row in self._connection.execute(f"PRAGMA table_info({table})"))
            for table in _TABLES
        }
        self._alerts: set[int] = set()
        self._notices: set[int] = set()
        self._transition = 0
        """Transitions up to this number are in the file."""
        self._receivers = False
        self._anew = False
        """The file may hold what is no longer so."""

    def load(self, file: sqlite3.Connection) -> None:
        """Begin with what is open and owed in a store's file. Raises sqlite3.Error."""
        self._copy(file, "alert", _LIVE)
        self._copy(file, "alert_transition", f"alert_id IN (SELECT id FROM alert WHERE {_LIVE})")
        self._copy(file, "notice", f"alert_id IN (SELECT id FROM alert WHERE {_LIVE})")
        self._copy(file, "receiver", "1")
        # The last rows stay here, so that numbers which SQLite gives go on after them.
        self._copy(file, "alert_transition", f"id = ({_ALL} alert_transition)")
        self._copy(file, "notice", f"id = ({_ALL} notice)")
        self._rows.load()
        self._rows.keep_numbers(file.execute(f"{_ALL} alert").fetchone()[0] or 0)
        self._transition = self._last_transition()

    def take(
        self, transitions: Sequence[Transition], owed: BuildNotifications | None
    ) -> Sequence[tuple[int, Transition]]:
        """Take in what a snapshot changed and what is owed for it; returns the visible transitions with the alerts' numbers.

        Raises what ``owed`` does; nothing is then changed.
        """
        if not transitions:
            return ()
        before = self._last_notice()
        try:
            with self._explaining("writing"), self._transaction():
                visible = self._rows.write(transitions)
                changed = set(self._rows.changed)
                if owed is not None and visible:
                    insert_notifications(self._connection, owed(visible))
        except BaseException:
            self._rows.load()
            raise
        self._rows.keep_numbers()
        self._alerts |= changed
        self._notices.update(range(before + 1, self._last_notice() + 1))
        return visible

    def adopt_receivers(self, names: Sequence[str], ts: int, introduced: BuildForNewReceivers) -> ReceiverChanges:
        """As of any of these tables."""
        waiting = {row[0] for row in self._connection.execute("SELECT id FROM notice WHERE done_ts IS NULL")}
        before = self._last_notice()
        adoption = super().adopt_receivers(names, ts, introduced)
        self._notices |= waiting
        self._notices.update(range(before + 1, self._last_notice() + 1))
        self._receivers = True
        return adoption

    def notice_done(self, number: int, ts: int, outcome: NotificationOutcome, error: str = "") -> None:
        """As of any of these tables."""
        super().notice_done(number, ts, outcome, error)
        self._notices.add(number)
        self._receivers = True

    def notice_failed(self, number: int, ts: int, error: str, next_ts: int, *, refused: bool = False) -> None:
        """As of any of these tables."""
        super().notice_failed(number, ts, error, next_ts, refused=refused)
        self._notices.add(number)
        self._receivers = True

    @property
    def unwritten(self) -> int:
        """How many alerts and notices differ from those in the file."""
        return len(self._alerts) + len(self._notices) + self._receivers

    def write_to(self, file: sqlite3.Connection) -> None:
        """Write what has changed. The caller owns the transaction, and calls ``written`` after it. Raises sqlite3.Error."""
        if self._is_written():
            return
        if self._anew:
            self._settle(file)
        known = self._select("alert", self._alerts)
        gone = self._alerts - {row[0] for row in known}
        for table, column in (("alert_transition", "alert_id"), ("alert", "id")):
            file.executemany(f"DELETE FROM {table} WHERE {column} = ?", [(number,) for number in sorted(gone)])
        self._upsert(file, "alert", known)
        steps = self._connection.execute(
            "SELECT * FROM alert_transition WHERE id > ? AND alert_id IN (SELECT id FROM alert) ORDER BY id",
            (self._transition,),
        )
        self._upsert(file, "alert_transition", steps.fetchall())
        notices = self._select("notice", self._notices)
        self._upsert(file, "notice", notices)
        done = self._columns["notice"].index("done_ts")
        latest = max((row[done] for row in notices if row[done] is not None), default=None)
        if latest is not None:
            delete_old_notifications(file, latest)
        if self._receivers:
            receivers = self._connection.execute("SELECT * FROM receiver ORDER BY name").fetchall()
            file.execute("DELETE FROM receiver")
            self._upsert(file, "receiver", receivers)

    def written(self) -> None:
        """The file has everything now. What it alone has to remember goes from here."""
        if self._is_written():
            return
        self._alerts.clear()
        self._notices.clear()
        self._receivers = self._anew = False
        self._transition = self._last_transition()
        execute = self._connection.execute
        execute(
            f"DELETE FROM notice WHERE alert_id NOT IN (SELECT id FROM alert WHERE {_LIVE}) AND id < ({_ALL} notice)"
        )
        execute(
            "DELETE FROM alert_transition WHERE alert_id NOT IN"
            f" (SELECT id FROM alert WHERE {_LIVE}) AND id < ({_ALL} alert_transition)"
        )
        execute(f"DELETE FROM alert WHERE NOT ({_LIVE})")

    def _is_written(self) -> bool:
        """Whether the file has everything: so it is after most snapshots, which change no alert."""
        return not self.unwritten and self._transition == self._last_transition()

    def all_unwritten(self) -> None:
        """The file is a new one, or has lost some: everything that is here is to be written."""
        self._alerts.update(row[0] for row in self._connection.execute("SELECT id FROM alert"))
        known = "SELECT id FROM notice WHERE alert_id IN (SELECT id FROM alert)"
        self._notices.update(row[0] for row in self._connection.execute(known))
        self._receivers = self._anew = True
        self._transition = 0

    def recall(self, file: sqlite3.Connection, receivers: Iterable[str]) -> None:
        """Fetch from the file what receivers that are new here were told of alerts that have ended. Raises sqlite3.Error."""
        known = {row[0] for row in self._connection.execute("SELECT name FROM receiver")}
        for name in set(receivers) - known:
            about = "SELECT alert_id FROM notice WHERE receiver = ?"
            self._copy(file, "alert", f"state = 'resolved' AND id IN ({about})", (name,))
            self._copy(
                file,
                "notice",
                f"alert_id IN ({about}) AND alert_id IN (SELECT id FROM alert WHERE state = 'resolved')",
                (name,),
            )

    def close(self) -> None:
        """Let go of the memory; a second call does nothing."""
        self._connection.close()

    def _settle(self, file: sqlite3.Connection) -> None:
        """What the file takes to be open or owed and is not here any more has ended, and has been sent, since."""
        alerts = [row[0] for row in file.execute("SELECT id FROM alert WHERE state <> 'resolved'")]
        ended = set(alerts) - {row[0] for row in self._connection.execute("SELECT id FROM alert")}
        file.executemany(
            "UPDATE alert SET state = 'resolved', ended = updated WHERE id = ?", [(number,) for number in ended]
        )
        notices = [row[0] for row in file.execute("SELECT id FROM notice WHERE done_ts IS NULL")]
        sent = set(notices) - {row[0] for row in self._connection.execute("SELECT id FROM notice")}
        file.executemany(
            "UPDATE notice SET done_ts = made_ts, outcome = 'accepted' WHERE id = ?", [(number,) for number in sent]
        )

    def _copy(self, file: sqlite3.Connection, table: str, where: str, parameters: tuple[Any, ...] = ()) -> None:
        columns = ", ".join(self._columns[table])
        rows = file.execute(f"SELECT {columns} FROM {table} WHERE {where}", parameters)
        marks = ", ".join("?" * len(self._columns[table]))
        self._connection.executemany(f"INSERT OR IGNORE INTO {table}({columns}) VALUES({marks})", rows)

    def _select(self, table: str, numbers: Iterable[int]) -> list[tuple[Any, ...]]:
        found = []
        for number in sorted(numbers):
            found += self._connection.execute(f"SELECT * FROM {table} WHERE id = ?", (number,)).fetchall()
        return found

    def _upsert(self, file: sqlite3.Connection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        columns = self._columns[table]
        key, *others = columns
        updates = ", ".join(f"{name} = excluded.{name}" for name in others)
        file.executemany(
            f"INSERT INTO {table}({', '.join(columns)}) VALUES({', '.join('?' * len(columns))})"
            f" ON CONFLICT({key}) DO UPDATE SET {updates}",
            rows,
        )

    def _last_notice(self) -> int:
        return int(self._connection.execute(f"SELECT coalesce(({_ALL} notice), 0)").fetchone()[0])

    def _last_transition(self) -> int:
        return int(self._connection.execute(f"SELECT coalesce(({_ALL} alert_transition), 0)").fetchone()[0])
