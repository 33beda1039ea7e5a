"""The outbox as rows of the store: what waits for which receiver, the groups of alerts, and which alerts are muted."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from mqvitals_agent.alerting.decision import LastNotification
from mqvitals_agent.alerting.grouping import AlertGroup
from mqvitals_agent.store.error import store_error
from mqvitals_agent.store.file.database import StoreDatabase
from mqvitals_agent.store.rows.alerts.notification_rows import (
    LONGEST_PAUSE_MS,
    ROWS_OF,
    NotificationOutcome,
    PendingGroup,
    StoredNotification,
    delete_old_notifications,
    insert_groups,
    labels_in,
    read_last,
    read_waiting,
    with_others,
)
from mqvitals_agent.store.rows.alerts.receivers import (
    ReceiverChanges,
    ReceiverRow,
    note_receiver,
    read_receivers,
    update_receivers,
)
from mqvitals_agent.store.rows.alerts.resent import (
    NOTHING_RESENT,
    ResentAlert,
    ResentChanges,
    read_resent,
    write_resent,
)
from mqvitals_agent.store.rows.tables import LAST_MOMENT, integer, moment_or_none, text
from mqvitals_rules.lifecycle.alert import Transition

UpdateOutbox = Callable[[Sequence[tuple[int, Transition]]], None]
"""Makes the notifications that visible transitions (with the alerts' numbers) lead to; called inside their transaction."""


@dataclass(frozen=True, slots=True)
class NotificationChanges:
    """What the pipeline changes at once. ``groups`` are all groups after it.

    ``withheld`` are numbers of alerts whose undelivered beginnings are not sent, ``told`` those whose end needs not be told
    any more, ``muted`` and ``unmuted`` those that are so from now on. ``sending`` are notifications under way, which are
    not withheld. ``ts`` is ms UTC.
    """

    ts: int
    pending: tuple[PendingGroup, ...] = ()
    groups: Mapping[tuple[str, str], AlertGroup] | None = None
    withheld: tuple[int, ...] = ()
    told: tuple[int, ...] = ()
    muted: tuple[int, ...] = ()
    unmuted: tuple[int, ...] = ()
    sending: frozenset[int] = frozenset()
    resent: ResentChanges = NOTHING_RESENT


def read_groups(connection: sqlite3.Connection) -> dict[tuple[str, str], AlertGroup]:
    """(receiver, key) -> the state of each group that has something to tell, or was told something. Raises sqlite3.Error."""
    return {
        (text(receiver), text(key)): AlertGroup(
            receiver, key, moment_or_none(waiting), moment_or_none(urgent), moment_or_none(told), labels_in(labels)
        )
        for receiver, key, labels, waiting, urgent, told in connection.execute(
            "SELECT receiver, key, labels, waiting_ts, urgent_ts, told_ts FROM alert_group"
        )
    }


def read_mutes(connection: sqlite3.Connection) -> tuple[frozenset[int], dict[int, int]]:
    """The numbers of the firing alerts that are muted; of those that were, the newest row of a notification when that ended.

    Raises sqlite3.Error.
    """
    muted, unmuted = set(), {}
    for number, now, before in connection.execute(
        "SELECT id, muted, unmuted FROM alert WHERE state = 'firing' AND (muted = 1 OR unmuted IS NOT NULL)"
    ):
        if now:
            muted.add(integer(number))
        if before is not None:
            unmuted[integer(number)] = integer(before)
    return frozenset(muted), unmuted


class NotificationRepository:
    """Pending notifications and receivers. Every method raises StoreError."""

    def __init__(self, database: StoreDatabase) -> None:
        self._database = database

    def last(self, alerts: Iterable[int]) -> Mapping[tuple[int, str], LastNotification]:
        """(number of an alert, receiver) -> the last notification that the receiver has or will get."""
        with self._database.reading() as connection:
            return read_last(connection, alerts)

    def groups(self) -> Mapping[tuple[str, str], AlertGroup]:
        """(receiver, key) -> the state of each group that has something to tell, or was told something."""
        with self._database.reading() as connection:
            return read_groups(connection)

    def mutes(self) -> tuple[frozenset[int], Mapping[int, int]]:
        """As ``read_mutes``."""
        with self._database.reading() as connection:
            return read_mutes(connection)

    def undelivered(self) -> frozenset[int]:
        """The numbers of the alerts whose beginning, or another severity, is not delivered yet."""
        with self._database.reading() as connection:
            rows = connection.execute("SELECT alert_id FROM notice WHERE done_ts IS NULL AND status = 'firing'")
            return frozenset(integer(alert) for (alert,) in rows)

    def resent(self, receiver: str | None = None) -> tuple[ResentAlert, ...]:
        """The alerts that a receiver, or each (None), is sent again and again."""
        with self._database.reading() as connection:
            return read_resent(connection, receiver)

    def note_receiver(self, name: str, ts: int, error: str = "", *, accepts: bool) -> None:
        """At ``ts`` (ms UTC) a receiver that is not told through the outbox accepts what it is sent, or nothing of it.

        ``error`` is what fails, all the same.
        """
        with self._database.writing() as connection:
            note_receiver(connection, name, ts, error, accepts=accepts)

    def receivers(self) -> tuple[ReceiverRow, ...]:
        """As ``read_receivers``."""
        with self._database.reading() as connection:
            return read_receivers(connection)

    def newest(self) -> int:
        """The number of the newest row; 0 without any."""
        with self._database.reading() as connection:
            return integer(connection.execute("SELECT coalesce(max(id), 0) FROM notice").fetchone()[0])

    def apply(self, changes: NotificationChanges) -> None:
        """Make the changes, all or none; within a transaction of the caller, as part of it."""
        with self._database.writing_within() as connection:
            _apply(connection, changes)

    def due(self, receiver: str, now: int, limit: int = 1) -> tuple[StoredNotification, ...]:
        """The oldest pending notifications to a receiver that may be sent at ``now`` (ms UTC), in their order.

        Nothing overtakes one that waits for its next attempt; but one that was refused is skipped, with everything that
        shares an alert with it, so that of each alert everything is told in its order.
        """
        latest = now + LONGEST_PAUSE_MS
        behind: set[int] = set()
        found: list[StoredNotification] = []
        with self._database.reading() as connection:
            for stored in read_waiting(connection, receiver):
                alerts = {each.alert_id for each in stored.alerts}
                waits = now < stored.next_ts <= latest
                if alerts & behind or (waits and stored.refused is not None):
                    behind |= alerts
                    continue
                if waits or len(found) == limit:
                    break
                found.append(with_others(connection, stored))
        return tuple(found)

    def next_due(self, receiver: str, now: int) -> int | None:
        """When the next notification to a receiver that waits at ``now`` is due, ms UTC; None: none."""
        with self._database.reading() as connection:
            (found,) = connection.execute(
                "SELECT min(next_ts) FROM notice WHERE receiver = ? AND done_ts IS NULL AND next_ts > ? AND next_ts <= ?",
                (receiver, now, now + LONGEST_PAUSE_MS),
            ).fetchone()
            return moment_or_none(found)

    def pending_counts(self) -> Mapping[str, int]:
        """How many notifications are pending for each receiver that has any."""
        with self._database.reading() as connection:
            rows = connection.execute("SELECT DISTINCT receiver, number FROM notice WHERE done_ts IS NULL")
            return Counter(text(name) for name, _ in rows)

    def done(self, number: int, ts: int, outcome: NotificationOutcome, error: str = "") -> None:
        """A notification was accepted, or refused for good because of ``error``; very old ones are deleted."""
        with self._database.writing() as connection:
            connection.execute(
                f"UPDATE notice SET done_ts = :ts, outcome = :outcome, error = :error WHERE {ROWS_OF} AND done_ts IS NULL",  # noqa: S608
                {"ts": ts, "outcome": outcome.value, "error": error, "number": number},
            )
            # A receiver that accepts works, and one that refuses has at least answered.
            connection.execute(
                "UPDATE receiver SET failing_ts = NULL, error = '',"
                " accepted_ts = CASE ? WHEN 'accepted' THEN ? ELSE accepted_ts END"
                " WHERE name = (SELECT receiver FROM notice WHERE id = ?)",
                (outcome.value, ts, number),
            )
            delete_old_notifications(connection, ts)

    def failed(self, number: int, ts: int, error: str, next_ts: int, *, refused: bool = False) -> None:
        """An attempt failed at ``ts`` because of ``error``; the next is due at ``next_ts``, ms UTC.

        ``refused``: because of the notification itself, not of the receiver's state.
        """
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE notice SET attempts = attempts + 1, error = :error, next_ts = :next,"  # noqa: S608
                " refused_ts = CASE WHEN :refused THEN coalesce(refused_ts, :ts) ELSE refused_ts END"
                f" WHERE {ROWS_OF} AND done_ts IS NULL",
                {
                    "error": error,
                    "next": min(next_ts, LAST_MOMENT),
                    "refused": refused,
                    "ts": ts,
                    "number": number,
                },
            )
            connection.execute(
                "UPDATE receiver SET failing_ts = CASE WHEN ? THEN NULL ELSE coalesce(failing_ts, ?) END, error = ?"
                " WHERE name = (SELECT receiver FROM notice WHERE id = ?)",
                (refused, ts, "" if refused else error, number),
            )

    def split(self, number: int) -> None:
        """Make two notifications of one that was refused, so that what is wrong with one alert holds up few others."""
        with self._database.writing() as connection:
            rows = [
                integer(row)
                for (row,) in connection.execute(
                    f"SELECT id FROM notice WHERE {ROWS_OF} AND done_ts IS NULL ORDER BY id",  # noqa: S608
                    {"number": number},
                )
            ]
            half = rows[len(rows) // 2 :]
            connection.executemany("UPDATE notice SET number = ? WHERE id = ?", [(half[0], row) for row in half])

    def update_receivers(self, names: Sequence[str], ts: int, introduce: Callable[[], None]) -> ReceiverChanges:
        """From ``ts`` (ms UTC) on ``names`` are the receivers, all or nothing.

        What is pending for others is dropped. When there are new ones ``introduce`` is called within the transaction, where
        they are known, and may make what they are to be told. What waits is due at once: a person may have repaired the
        receiver, and the pause was another run's. Raises also whatever ``introduce`` raises.
        """
        database = self._database
        try:
            with database.transaction():
                return update_receivers(database.connection, names, ts, introduce)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise store_error(database.path, error, "writing") from error


def _apply(connection: sqlite3.Connection, changes: NotificationChanges) -> None:
    sending = ", ".join(map(str, sorted(changes.sending)))
    connection.executemany(
        "UPDATE notice SET done_ts = ?, outcome = 'withheld', error = 'its alert is muted'"  # noqa: S608 - numbers of ours
        f" WHERE alert_id = ? AND done_ts IS NULL AND status = 'firing' AND number NOT IN ({sending})",
        [(changes.ts, alert) for alert in changes.withheld],
    )
    for column, value, alerts in (
        ("ending", 0, changes.told),
        ("muted", 1, changes.muted),
        ("muted", 0, changes.unmuted),
    ):
        connection.executemany(f"UPDATE alert SET {column} = {value} WHERE id = ?", [(each,) for each in alerts])  # noqa: S608
    connection.executemany(
        "UPDATE alert SET unmuted = (SELECT coalesce(max(id), 0) FROM notice) WHERE id = ?",
        [(each,) for each in changes.unmuted],
    )
    insert_groups(connection, changes.pending)
    write_resent(connection, changes.resent)
    if changes.groups is not None:
        connection.execute("DELETE FROM alert_group")
        connection.executemany(
            "INSERT INTO alert_group(receiver, key, labels, waiting_ts, urgent_ts, told_ts) VALUES(?, ?, ?, ?, ?, ?)",
            [
                (each.receiver, each.key, json.dumps(dict(each.labels)), each.waiting, each.urgent, each.told)
                for each in changes.groups.values()
            ],
        )
