"""Notifications and receivers as rows: what waits, what was delivered or refused, and how each receiver is."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from mqvitals_agent.alerting.decision import LastNotification, NotificationStatus
from mqvitals_agent.store.error import store_error
from mqvitals_agent.store.file.database import StoreDatabase
from mqvitals_agent.store.file.schema import BELIEVED
from mqvitals_agent.store.rows.alerts import StoredAlert, read_alerts
from mqvitals_agent.store.rows.tables import LAST_MOMENT, integer, moment, moment_or_none, text
from mqvitals_rules.lifecycle.alert import Severity, Transition

KEEP_MS = 30 * 86_400_000
"""How long a notification stays in the store after its end."""

LONGEST_PAUSE_MS = 300_000
"""No attempt waits longer for the next. What seems to was noted by a clock that has been set back since: it is due."""

_COLUMNS = (
    *("id", "alert_id", "receiver", "status", "severity", "fingerprint", "made_ts", "payload"),
    *("attempts", "next_ts", "error", "done_ts", "outcome", "refused_ts"),
)
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM notice"  # noqa: S608
_KNOWN = "(outcome IS NULL OR outcome = 'accepted')"
"""Notifications that the receiver got or will get: not those refused for good, or dropped."""

# Parameters: now, and now and the longest pause. One that is refused steps aside for what is about other alerts.
_WAITS = "{0}.next_ts > :now AND {0}.next_ts <= :latest"
_DUE = f"""{_SELECT} AS one WHERE receiver = :receiver AND done_ts IS NULL
    AND NOT (refused_ts IS NOT NULL AND {_WAITS.format("one")})
    AND NOT EXISTS (SELECT 1 FROM notice AS earlier WHERE earlier.alert_id = one.alert_id AND earlier.id < one.id
        AND earlier.receiver = :receiver AND earlier.done_ts IS NULL AND earlier.refused_ts IS NOT NULL
        AND {_WAITS.format("earlier")})
    ORDER BY id LIMIT :limit"""  # noqa: S608


class NotificationOutcome(Enum):
    """How a notification ended."""

    ACCEPTED = "accepted"
    REFUSED = "refused"  # the receiver would not take it, as often as it was asked
    DROPPED = "dropped"  # the receiver stood in the settings no more


@dataclass(frozen=True, slots=True)
class PendingNotification:
    """A notification that is kept until it is delivered.

    ``made`` is ms UTC, ``payload`` JSON, ``fingerprint`` one for each alert.
    """

    alert_id: int
    receiver: str
    status: NotificationStatus
    severity: Severity
    fingerprint: str
    made: int
    payload: str


@dataclass(frozen=True, slots=True)
class StoredNotification:
    """A notification and its state.

    ``attempts`` counts those that failed, ``error`` says why the last one did, ``next_ts`` when the next is due (ms
    UTC, 0: at once), ``refused`` when the receiver first refused this notification (None: never). ``done_ts`` and
    ``outcome`` are None while it is pending.
    """

    id: int
    notification: PendingNotification
    attempts: int
    next_ts: int
    error: str
    done_ts: int | None
    outcome: NotificationOutcome | None
    refused: int | None = None


BuildNotifications = Callable[[Sequence[tuple[int, Transition]]], Sequence[PendingNotification]]
"""Builds the notifications for visible transitions (with the alerts' numbers); called inside the transaction."""


def insert_notifications(connection: sqlite3.Connection, notifications: Iterable[PendingNotification]) -> None:
    """Insert notifications; the caller owns the transaction. Raises sqlite3.Error."""
    connection.executemany(
        "INSERT INTO notice(alert_id, receiver, status, severity, fingerprint, made_ts, payload)"
        " VALUES(?, ?, ?, ?, ?, ?, ?)",
        [
            (
                *(each.alert_id, each.receiver, each.status.value, each.severity.name.lower()),
                *(each.fingerprint, each.made, each.payload),
            )
            for each in notifications
        ],
    )


def delete_old_notifications(connection: sqlite3.Connection, now: int) -> None:
    """Delete notifications that ended long before ``now`` (ms UTC).

    The caller owns the transaction. Raises sqlite3.Error.
    """
    # The last notification about an open alert decides about the next one, however old it is.
    connection.execute(
        f"DELETE FROM notice WHERE done_ts < {BELIEVED} - :keep"  # noqa: S608
        " AND alert_id NOT IN (SELECT id FROM alert WHERE state <> 'resolved')",
        {"now": now, "keep": KEEP_MS},
    )


def _stored(row: tuple[Any, ...]) -> StoredNotification:
    named = dict(zip(_COLUMNS, row, strict=True))
    outcome = named["outcome"]
    return StoredNotification(
        id=integer(named["id"]),
        notification=PendingNotification(
            alert_id=integer(named["alert_id"]),
            receiver=text(named["receiver"]),
            status=NotificationStatus(named["status"]),
            severity=Severity[named["severity"].upper()],
            fingerprint=text(named["fingerprint"]),
            made=moment(named["made_ts"]),
            payload=text(named["payload"]),
        ),
        attempts=integer(named["attempts"]),
        next_ts=moment(named["next_ts"]),
        error=text(named["error"]),
        done_ts=moment_or_none(named["done_ts"]),
        outcome=None if outcome is None else NotificationOutcome(outcome),
        refused=moment_or_none(named["refused_ts"]),
    )


BuildForNewReceivers = Callable[[Sequence[str]], Sequence[PendingNotification]]
"""Builds the notifications to receivers that are new; called inside the transaction."""


@dataclass(frozen=True, slots=True)
class ReceiverChanges:
    """How many notifications were ``dropped``, by removed receiver, and ``created``, by new receiver."""

    dropped: Mapping[str, int]
    created: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ReceiverRow:
    """A receiver and its state, times in ms UTC.

    ``waiting`` notifications are pending, the ``oldest`` made then. ``accepted`` is when it last accepted one, None:
    never. ``failing`` is since when it accepts none because of ``error``, None: it does. ``refused`` counts the
    pending ones that it has refused, ``given_up`` those that are not tried again; ``refusal`` is what it said to the
    newest of both.
    """

    name: str
    since: int
    accepted: int | None
    failing: int | None
    error: str
    waiting: int
    oldest: int | None
    refused: int
    given_up: int
    refusal: str


def read_receivers(connection: sqlite3.Connection) -> tuple[ReceiverRow, ...]:
    """Every receiver, by name; reads no delivered notification. Raises sqlite3.Error."""
    found = []
    for name, since, accepted, failing, error in connection.execute(
        "SELECT name, since_ts, accepted_ts, failing_ts, error FROM receiver ORDER BY name"
    ).fetchall():
        waiting, first = connection.execute(
            "SELECT count(*), min(id) FROM notice WHERE receiver = ? AND done_ts IS NULL", (name,)
        ).fetchone()
        oldest = connection.execute("SELECT made_ts FROM notice WHERE id = ?", (first,)).fetchone()
        refused, given_up, last = connection.execute(
            "SELECT count(*) FILTER (WHERE outcome IS NULL), count(*) FILTER (WHERE outcome = 'refused'),"
            " max(id) FILTER (WHERE outcome IS NULL OR outcome = 'refused')"
            " FROM notice WHERE receiver = ? AND refused_ts IS NOT NULL",
            (name,),
        ).fetchone()
        refusal = connection.execute("SELECT error FROM notice WHERE id = ?", (last,)).fetchone()
        found.append(
            ReceiverRow(
                text(name),
                moment(since),
                moment_or_none(accepted),
                moment_or_none(failing),
                text(error),
                integer(waiting),
                None if oldest is None else moment(oldest[0]),
                integer(refused),
                integer(given_up),
                "" if refusal is None else text(refusal[0]),
            )
        )
    return tuple(found)


def read_last(connection: sqlite3.Connection, alerts: Iterable[int]) -> dict[tuple[int, str], LastNotification]:
    """(number of an alert, receiver) -> the last notification that the receiver has or will get. Raises sqlite3.Error."""
    found: dict[tuple[int, str], LastNotification] = {}
    for number in alerts:
        for receiver, status, severity in connection.execute(
            f"SELECT receiver, status, severity FROM notice WHERE alert_id = ? AND {_KNOWN} ORDER BY id",  # noqa: S608
            (number,),
        ):
            found[number, text(receiver)] = LastNotification(NotificationStatus(status), Severity[severity.upper()])
    return found


class NotificationRepository:
    """Pending notifications and receivers. Every method raises StoreError."""

    def __init__(self, database: StoreDatabase) -> None:
        self._database = database

    def last(self, alerts: Iterable[int]) -> Mapping[tuple[int, str], LastNotification]:
        """(number of an alert, receiver) -> the last notification that the receiver has or will get."""
        with self._database.reading() as connection:
            return read_last(connection, alerts)

    def ended_unnotified(self, receiver: str) -> tuple[StoredAlert, ...]:
        """The alerts that have ended and whose last notification to a receiver reports them as firing."""
        with self._database.reading() as connection:
            return tuple(
                read_alerts(
                    connection,
                    "state = 'resolved' AND id IN (SELECT alert_id FROM notice"  # noqa: S608
                    f" WHERE receiver = ? AND {_KNOWN} GROUP BY alert_id"
                    " HAVING max(id) = max(CASE status WHEN 'firing' THEN id END))",
                    (receiver,),
                )
            )

    def due(self, receiver: str, now: int, limit: int) -> tuple[StoredNotification, ...]:
        """The oldest pending notifications to a receiver, in their order, up to the first that is not due at ``now``
        (ms UTC).

        So nothing overtakes a notification that waits for its next attempt; but one that was refused is skipped, with
        everything about the same alert.
        """
        latest = now + LONGEST_PAUSE_MS
        parameters = {"receiver": receiver, "now": now, "latest": latest, "limit": limit}
        found = []
        with self._database.reading() as connection:
            for row in connection.execute(_DUE, parameters):
                stored = _stored(row)
                if now < stored.next_ts <= latest:
                    break
                found.append(stored)
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
            rows = connection.execute("SELECT receiver, count(*) FROM notice WHERE done_ts IS NULL GROUP BY receiver")
            return {text(name): integer(count) for name, count in rows}

    def done(self, number: int, ts: int, outcome: NotificationOutcome, error: str = "") -> None:
        """A notification was accepted, or refused for good because of ``error``; very old ones are deleted."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE notice SET done_ts = ?, outcome = ?, error = ? WHERE id = ?", (ts, outcome.value, error, number)
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
                "UPDATE notice SET attempts = attempts + 1, error = ?, next_ts = ?,"
                " refused_ts = CASE WHEN ? THEN coalesce(refused_ts, ?) ELSE refused_ts END WHERE id = ?",
                (error, min(next_ts, LAST_MOMENT), refused, ts, number),
            )
            connection.execute(
                "UPDATE receiver SET failing_ts = CASE WHEN ? THEN NULL ELSE coalesce(failing_ts, ?) END, error = ?"
                " WHERE name = (SELECT receiver FROM notice WHERE id = ?)",
                (refused, ts, "" if refused else error, number),
            )

    def update_receivers(self, names: Sequence[str], ts: int, build: BuildForNewReceivers) -> ReceiverChanges:
        """From ``ts`` (ms UTC) on ``names`` are the receivers, all or nothing.

        What is pending for others is dropped; ``build`` makes the notifications to new ones, and may read the store.
        What waits is due at once: a person may have repaired the receiver, and the pause was another run's. Raises
        also whatever ``build`` raises.
        """
        database = self._database
        try:
            with database.transaction():
                return _update_receivers(database.connection, names, ts, build)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise store_error(database.path, error, "writing") from error


def _update_receivers(
    connection: sqlite3.Connection, names: Sequence[str], ts: int, build: BuildForNewReceivers
) -> ReceiverChanges:
    known = {text(name) for (name,) in connection.execute("SELECT name FROM receiver")}
    pending = {
        text(name) for (name,) in connection.execute("SELECT DISTINCT receiver FROM notice WHERE done_ts IS NULL")
    }
    dropped = {}
    for name in sorted((known | pending) - set(names)):
        dropped[name] = connection.execute(
            "UPDATE notice SET done_ts = ?, outcome = ?, error = 'no longer a receiver'"
            " WHERE receiver = ? AND done_ts IS NULL",
            (ts, NotificationOutcome.DROPPED.value, name),
        ).rowcount
        connection.execute("DELETE FROM receiver WHERE name = ?", (name,))
    connection.execute("UPDATE notice SET next_ts = 0 WHERE done_ts IS NULL AND next_ts <> 0")
    new = [name for name in names if name not in known]
    connection.executemany("INSERT INTO receiver(name, since_ts) VALUES(?, ?)", [(name, ts) for name in new])
    notifications = build(new) if new else ()
    insert_notifications(connection, notifications)
    added = {name: sum(each.receiver == name for each in notifications) for name in new}
    return ReceiverChanges(dropped, added)
