"""Open alerts, what people did about them, pending notifications and receivers in memory: alerts are decided and sent
whatever becomes of the file.

``write_to`` brings the file to the state of the memory. So a file that is full, locked or missing delays no alert,
and a new file gets what is open.
"""

# ruff: noqa: S608 - the names of tables and columns are our own; everything else is a bound parameter
from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from mqvitals_agent.store.file.database import StoreDatabase
from mqvitals_agent.store.file.migration import make_tables
from mqvitals_agent.store.rows.alerts.actions import NO_ACTIONS, carry_over, read_actions
from mqvitals_agent.store.rows.alerts.alert_rows import AlertRepository
from mqvitals_agent.store.rows.alerts.notification_rows import ROWS_OF, NotificationOutcome, delete_old_notifications
from mqvitals_agent.store.rows.alerts.notifications import NotificationChanges, NotificationRepository, UpdateOutbox
from mqvitals_agent.store.rows.alerts.receivers import ReceiverChanges
from mqvitals_agent.store.rows.alerts.resent import ResentChanges, read_resent, write_resent
from mqvitals_rules.lifecycle.alert import Transition

_TABLES = ("alert", "alert_transition", "notice", "receiver", "alert_group", "resent")
_ALL = "SELECT max(id) FROM"
_LIVE = "state <> 'resolved' OR ending = 1 OR id IN (SELECT alert_id FROM notice WHERE done_ts IS NULL)"
"""Alerts that are open, whose end is still to be told, or that have a pending notification."""


class AlertMemory:
    """The tables of alerts, notifications and receivers in memory. Numbers are the same as in the file, and given once.

    ``path`` names the store in errors. ``changed`` is called after each change of a notification or receiver by its
    repository, ``new_receivers`` before receivers are updated. Use it from one thread.
    """

    def __init__(
        self,
        path: Path,
        *,
        changed: Callable[[], None] = lambda: None,
        new_receivers: Callable[[Sequence[str]], None] = lambda _: None,
    ) -> None:
        self._connection = make_tables(sqlite3.connect(":memory:", isolation_level=None))
        self._database = StoreDatabase(path, self._connection)
        self.alerts = AlertRepository(self._database)
        self.notifications: NotificationRepository = _MemoryNotifications(self, self._database)
        self.on_change = changed
        self.on_new_receivers = new_receivers
        self._columns = {
            table: tuple(str(row[1]) for row in self._connection.execute(f"PRAGMA table_info({table})"))
            for table in _TABLES
        }
        self._alerts: set[int] = set()
        self._notifications: set[int] = set()
        self._transition = 0
        """Transitions up to this number are in the file."""
        self._receivers = False
        self._groups = False
        self._resent: set[tuple[str, str]] = set()
        self._rewrite = False
        """The file may hold what is out of date."""
        self._began = 0
        self.actions = NO_ACTIONS
        """What people did about alerts, as it was last read."""

    def load(self, file: sqlite3.Connection) -> None:
        """Copy what is open and pending from a store's file. Raises sqlite3.Error."""
        self._copy(file, "alert", _LIVE)
        self._copy(file, "alert_transition", f"alert_id IN (SELECT id FROM alert WHERE {_LIVE})")
        self._copy(file, "notice", f"alert_id IN (SELECT id FROM alert WHERE {_LIVE})")
        self._copy(file, "receiver", "1")
        self._copy(file, "alert_group", "1")
        self._copy(file, "resent", "1")
        # The last rows stay here, so that numbers which SQLite gives go on after them.
        self._copy(file, "alert_transition", f"id = ({_ALL} alert_transition)")
        self._copy(file, "notice", f"id = ({_ALL} notice)")
        self.alerts.load()
        self.alerts.keep_numbers(file.execute(f"{_ALL} alert").fetchone()[0] or 0)
        self._transition = self._last_transition()
        self.actions = read_actions(file)

    def take(
        self, transitions: Sequence[Transition], update_outbox: UpdateOutbox | None
    ) -> Sequence[tuple[int, Transition]]:
        """Store the transitions of a snapshot and the notifications they lead to.

        Returns the visible transitions with the alerts' numbers. Raises what ``update_outbox`` raises; nothing is then changed.
        """
        if not transitions:
            return ()
        before = self._last_notification()
        try:
            with self._database.writing():
                visible = self.alerts.write(transitions)
                changed = set(self.alerts.changed)
                if update_outbox is not None and visible:
                    update_outbox(visible)
        except BaseException:  # raised again; the memory is as it was before the transition
            self.alerts.load()
            raise
        self.alerts.keep_numbers()
        self._alerts |= changed
        self._note_new_notifications(before)
        return visible

    def note_notification(self, number: int) -> None:
        """A notification, and perhaps the state of its receiver, differs from the file."""
        self._notifications.update(self._rows_of(ROWS_OF, number=number))
        self._receivers = True
        self.on_change()

    def apply(self, changes: NotificationChanges, apply: Callable[[], None]) -> None:
        """Run ``apply``, which makes the changes, and note what then differs from the file.

        Within the transaction of a snapshot the file follows with that.
        """
        before = self._last_notification()
        alone = not self._connection.in_transaction
        waiting = {
            row
            for alert in changes.withheld
            for row in self._rows_of("alert_id = :alert AND done_ts IS NULL", alert=alert)
        }
        apply()
        self._notifications |= waiting
        self._note_new_notifications(before)
        self._alerts.update(changes.told, changes.muted, changes.unmuted)
        self._groups |= changes.groups is not None
        self._resent.update(changes.resent.keys)
        if alone:
            self.on_change()

    def split(self, number: int, split: Callable[[], None]) -> None:
        """Run ``split``, which makes two notifications of one, and note what then differs from the file."""
        rows = self._rows_of(ROWS_OF, number=number)
        split()
        self._notifications.update(rows)
        self.on_change()

    def note_receiver(self) -> None:
        """The state of a receiver differs from the file."""
        self._receivers = True
        self.on_change()

    def _rows_of(self, where: str, **parameters: int) -> list[int]:
        return [row[0] for row in self._connection.execute(f"SELECT id FROM notice WHERE {where}", parameters)]

    def update_receivers(self, update: Callable[[], ReceiverChanges]) -> ReceiverChanges:
        """Run ``update``, which changes receivers and notifications, and note what then differs from the file."""
        waiting = self._rows_of("done_ts IS NULL")
        before = self._last_notification()
        self._resent.update(each.key for each in read_resent(self._connection))
        changes = update()
        self._notifications.update(waiting)
        self._note_new_notifications(before)
        self._alerts.update(row[0] for row in self._connection.execute("SELECT id FROM alert WHERE ending = 1"))
        self._receivers = self._groups = True
        self.on_change()
        return changes

    def _note_new_notifications(self, before: int) -> None:
        self._notifications.update(range(before + 1, self._last_notification() + 1))

    @property
    def unwritten(self) -> int:
        """How many alerts and notifications differ from those in the file."""
        return len(self._alerts) + len(self._notifications) + len(self._resent) + (self._receivers or self._groups)

    def write_to(self, file: sqlite3.Connection) -> None:
        """Write what has changed.

        The caller owns the transaction, and calls ``written`` after it. Raises sqlite3.Error.
        """
        if self._is_written():
            return
        if self._rewrite:
            self._end_outdated(file)
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
        notices = self._select("notice", self._notifications)
        self._upsert(file, "notice", notices)
        done = self._columns["notice"].index("done_ts")
        latest = max((row[done] for row in notices if row[done] is not None), default=None)
        if latest is not None:
            delete_old_notifications(file, latest)
        if self._receivers:
            receivers = self._connection.execute("SELECT * FROM receiver ORDER BY name").fetchall()
            file.execute("DELETE FROM receiver")
            self._upsert(file, "receiver", receivers)
        if self._groups:
            file.execute("DELETE FROM alert_group")
            columns = self._columns["alert_group"]
            file.executemany(
                f"INSERT INTO alert_group({', '.join(columns)}) VALUES({', '.join('?' * len(columns))})",
                self._connection.execute(f"SELECT {', '.join(columns)} FROM alert_group").fetchall(),
            )
        if self._resent:
            kept = {each.key: each for each in read_resent(self._connection) if each.key in self._resent}
            write_resent(file, ResentChanges(tuple(kept.values()), tuple(self._resent - set(kept))))
        if self._rewrite:
            carry_over(file, self.actions, self._began)

    def written(self) -> None:
        """The file has everything now: delete here what only the file has to keep."""
        if self._is_written():
            return
        self._alerts.clear()
        self._notifications.clear()
        self._resent.clear()
        self._receivers = self._groups = self._rewrite = False
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
        """Whether the file has everything, as after most snapshots, which change no alert."""
        return not self.unwritten and self._transition == self._last_transition()

    def all_unwritten(self, now: int) -> None:
        """The file is new at ``now`` (ms UTC), or has lost rows: write everything that is here."""
        self._began = now
        self._alerts.update(row[0] for row in self._connection.execute("SELECT id FROM alert"))
        known = "SELECT id FROM notice WHERE alert_id IN (SELECT id FROM alert)"
        self._notifications.update(row[0] for row in self._connection.execute(known))
        self._resent.update(each.key for each in read_resent(self._connection))
        self._receivers = self._groups = self._rewrite = True
        self._transition = 0

    def load_receivers(self, file: sqlite3.Connection, receivers: Iterable[str]) -> None:
        """Copy from the file the notifications about ended alerts to receivers that are new here.

        Raises sqlite3.Error.
        """
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
        """Close the memory; a second call does nothing."""
        self._connection.close()

    def _end_outdated(self, file: sqlite3.Connection) -> None:
        """What is open or pending in the file and is no longer here has ended, or was sent, since."""
        alerts = [row[0] for row in file.execute("SELECT id FROM alert WHERE state <> 'resolved'")]
        ended = set(alerts) - {row[0] for row in self._connection.execute("SELECT id FROM alert")}
        file.executemany(
            "UPDATE alert SET state = 'resolved', ended = updated, ending = 0 WHERE id = ?",
            [(number,) for number in ended],
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

    def _last_notification(self) -> int:
        return int(self._connection.execute(f"SELECT coalesce(({_ALL} notice), 0)").fetchone()[0])

    def _last_transition(self) -> int:
        return int(self._connection.execute(f"SELECT coalesce(({_ALL} alert_transition), 0)").fetchone()[0])


class _MemoryNotifications(NotificationRepository):
    """Notes which rows differ from the file."""

    def __init__(self, memory: AlertMemory, database: StoreDatabase) -> None:
        super().__init__(database)
        self._memory = memory

    def done(self, number: int, ts: int, outcome: NotificationOutcome, error: str = "") -> None:
        super().done(number, ts, outcome, error)
        self._memory.note_notification(number)

    def failed(self, number: int, ts: int, error: str, next_ts: int, *, refused: bool = False) -> None:
        super().failed(number, ts, error, next_ts, refused=refused)
        self._memory.note_notification(number)

    def note_receiver(self, name: str, ts: int, error: str = "", *, accepts: bool) -> None:
        super().note_receiver(name, ts, error, accepts=accepts)
        self._memory.note_receiver()

    def apply(self, changes: NotificationChanges) -> None:
        apply = super().apply
        self._memory.apply(changes, lambda: apply(changes))

    def split(self, number: int) -> None:
        split = super().split
        self._memory.split(number, lambda: split(number))

    def update_receivers(self, names: Sequence[str], ts: int, introduce: Callable[[], None]) -> ReceiverChanges:
        self._memory.on_new_receivers(names)
        update = super().update_receivers
        return self._memory.update_receivers(lambda: update(names, ts, introduce))
