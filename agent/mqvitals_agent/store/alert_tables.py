"""Alerts, notices and receivers in a database: the same tables and questions in the store's file and in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from mqvitals_agent.store.alerts import StoredAlert, read_alerts
from mqvitals_agent.store.error import UNDECODABLE, store_error
from mqvitals_agent.store.notifications import (
    BuildForNewReceivers,
    LastNotification,
    NotificationOutcome,
    ReceiverChanges,
    StoredNotification,
    count_pending,
    due_notifications,
    ended_but_notified_as_firing,
    last_notifications,
    mark_done,
    mark_failed,
    next_due_ts,
    update_receivers,
)
from mqvitals_rules.lifecycle.alert import Alert


class AlertTables:
    """What is known of alerts and of what receivers are owed about them. Every method raises StoreError.

    ``path`` names the store in the sentences of errors.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    def open_alerts(self) -> tuple[Alert, ...]:
        """Pending and firing alerts, to go on from."""
        with self._explaining("reading"):
            return tuple(stored.alert for stored in read_alerts(self._connection, "state <> 'resolved'"))

    def firing_alerts(self) -> tuple[StoredAlert, ...]:
        """The alerts that are firing, in the order they arose."""
        with self._explaining("reading"):
            return tuple(read_alerts(self._connection, "state = 'firing'"))

    def told(self, alerts: Iterable[int]) -> Mapping[tuple[int, str], LastNotification]:
        """(number of an alert, receiver) -> the last notice that the receiver knows or will know."""
        with self._explaining("reading"):
            return last_notifications(self._connection, alerts)

    def believed(self, receiver: str) -> tuple[StoredAlert, ...]:
        """The alerts that have ended and that a receiver still takes to be firing."""
        with self._explaining("reading"):
            return tuple(ended_but_notified_as_firing(self._connection, receiver))

    def due_notices(self, receiver: str, now: int, limit: int) -> tuple[StoredNotification, ...]:
        """The oldest notices owed to a receiver, in their order, up to the first that is not due at ``now`` (ms UTC).

        So nothing overtakes a notice that waits for its next attempt; but one that was refused is stepped over, with what
        is owed about the same alert.
        """
        with self._explaining("reading"):
            return tuple(due_notifications(self._connection, receiver, now, limit))

    def next_notice(self, receiver: str, now: int) -> int | None:
        """When the next notice to a receiver that waits at ``now`` is due, ms UTC; None: none."""
        with self._explaining("reading"):
            return next_due_ts(self._connection, receiver, now)

    def owed_notices(self) -> Mapping[str, int]:
        """How many notices each receiver is owed, but for those with none."""
        with self._explaining("reading"):
            return count_pending(self._connection)

    def adopt_receivers(self, names: Sequence[str], ts: int, introduced: BuildForNewReceivers) -> ReceiverChanges:
        """From ``ts`` (ms UTC) on ``names`` are the receivers, all or nothing.

        What others are owed is dropped; new ones are owed what ``introduced`` says, which may look into the tables. What
        waits is due at once. Raises also whatever ``introduced`` does.
        """
        try:
            with self._transaction():
                return update_receivers(self._connection, names, ts, introduced)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise store_error(self.path, error, "writing") from error

    def notice_done(self, number: int, ts: int, outcome: NotificationOutcome, error: str = "") -> None:
        """A notice has been accepted, or refused for good because of ``error``; very old ones go."""
        with self._explaining("writing"), self._transaction():
            mark_done(self._connection, number, ts, outcome, error)

    def notice_failed(self, number: int, ts: int, error: str, next_ts: int, *, refused: bool = False) -> None:
        """An attempt at a notice failed at ``ts`` because of ``error``; the next is due at ``next_ts``, ms UTC.

        ``refused``: because of the notice itself.
        """
        with self._explaining("writing"), self._transaction():
            mark_failed(self._connection, number, ts, error, next_ts, refused=refused)

    @contextmanager
    def _explaining(self, doing: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, *UNDECODABLE) as error:
            raise store_error(self.path, error, doing) from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                # When the disk is full SQLite may have rolled back by itself.
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
            raise
