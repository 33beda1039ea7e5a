"""Notifications and receivers as rows: what waits, what was delivered or refused, and how each receiver is."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from mqvitals_agent.store.alerts import StoredAlert, read_alerts
from mqvitals_agent.store.schema import BELIEVED
from mqvitals_agent.store.tables import LAST_MOMENT, integer, moment, moment_or_none, text
from mqvitals_rules.lifecycle.alert import Severity, Transition

KEEP_MS = 30 * 86_400_000
"""How long a notice stays after it is done with."""

LONGEST_PAUSE_MS = 300_000
"""No attempt waits longer for the next. What seems to was noted by a clock that has been set back since: it is due."""

_COLUMNS = (
    *("id", "alert_id", "receiver", "status", "severity", "fingerprint", "made_ts", "payload"),
    *("attempts", "next_ts", "error", "done_ts", "outcome", "refused_ts"),
)
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM notice"  # noqa: S608
_KNOWN = "(outcome IS NULL OR outcome = 'accepted')"
"""What its receiver has heard, or will: of one refused for good, or dropped, it knows nothing."""

# Parameters: now, and now and the longest pause. One that is refused steps aside for what is about other alerts.
_WAITS = "{0}.next_ts > :now AND {0}.next_ts <= :latest"
_DUE = f"""{_SELECT} AS one WHERE receiver = :receiver AND done_ts IS NULL
    AND NOT (refused_ts IS NOT NULL AND {_WAITS.format("one")})
    AND NOT EXISTS (SELECT 1 FROM notice AS earlier WHERE earlier.alert_id = one.alert_id AND earlier.id < one.id
        AND earlier.receiver = :receiver AND earlier.done_ts IS NULL AND earlier.refused_ts IS NOT NULL
        AND {_WAITS.format("earlier")})
    ORDER BY id LIMIT :limit"""  # noqa: S608


class NotificationStatus(Enum):
    """What a notice says of its alert."""

    FIRING = "firing"
    RESOLVED = "resolved"


class NotificationOutcome(Enum):
    """How a notice ended."""

    ACCEPTED = "accepted"
    REFUSED = "refused"  # the receiver would not take it, as often as it was asked
    DROPPED = "dropped"  # the receiver stood in the settings no more


@dataclass(frozen=True, slots=True)
class PendingNotification:
    """A notice to be kept until it is delivered. ``made`` is ms UTC, ``payload`` JSON, ``fingerprint`` one for each alert."""

    alert_id: int
    receiver: str
    status: NotificationStatus
    severity: Severity
    fingerprint: str
    made: int
    payload: str


@dataclass(frozen=True, slots=True)
class StoredNotification:
    """A notice and what became of it so far.

    ``attempts`` counts those that failed, ``error`` says why the last one did, ``next_ts`` when the next is due (ms UTC,
    0: at once), ``refused`` when the receiver first said that this notice is a bad one (None: never). ``done_ts`` and
    ``outcome`` are None while it is owed.
    """

    id: int
    notice: PendingNotification
    attempts: int
    next_ts: int
    error: str
    done_ts: int | None
    outcome: NotificationOutcome | None
    refused: int | None = None


class LastNotification(NamedTuple):
    """The last that a receiver was told, or is owed, about an alert."""

    status: NotificationStatus
    severity: Severity


BuildNotifications = Callable[[Sequence[tuple[int, Transition]]], Sequence[PendingNotification]]
"""Which notices visible transitions of alerts (with the alerts' numbers) owe; called inside the transaction."""


def insert_notifications(connection: sqlite3.Connection, notices: Iterable[PendingNotification]) -> None:
    """Keep notices; the caller owns the transaction. Raises sqlite3.Error."""
    connection.executemany(
        "INSERT INTO notice(alert_id, receiver, status, severity, fingerprint, made_ts, payload)"
        " VALUES(?, ?, ?, ?, ?, ?, ?)",
        [
            (
                *(each.alert_id, each.receiver, each.status.value, each.severity.name.lower()),
                *(each.fingerprint, each.made, each.payload),
            )
            for each in notices
        ],
    )


def due_notifications(connection: sqlite3.Connection, receiver: str, now: int, limit: int) -> list[StoredNotification]:
    """The oldest notices owed to a receiver, in their order, up to the first that is not due at ``now``.

    So nothing overtakes a notice that waits for its next attempt; but one that was refused is stepped over, with what is
    owed about the same alert. Raises sqlite3.Error.
    """
    latest = now + LONGEST_PAUSE_MS
    parameters = {"receiver": receiver, "now": now, "latest": latest, "limit": limit}
    found = []
    for row in connection.execute(_DUE, parameters):
        stored = _stored(row)
        if now < stored.next_ts <= latest:
            break
        found.append(stored)
    return found


def next_due_ts(connection: sqlite3.Connection, receiver: str, now: int) -> int | None:
    """When the next notice that waits at ``now`` will be due, ms UTC; None: none does. Raises sqlite3.Error."""
    (found,) = connection.execute(
        "SELECT min(next_ts) FROM notice WHERE receiver = ? AND done_ts IS NULL AND next_ts > ? AND next_ts <= ?",
        (receiver, now, now + LONGEST_PAUSE_MS),
    ).fetchone()
    return moment_or_none(found)


def mark_done(connection: sqlite3.Connection, number: int, ts: int, outcome: NotificationOutcome, error: str) -> None:
    """A notice is done with; those done long ago go. The caller owns the transaction. Raises sqlite3.Error."""
    connection.execute(
        "UPDATE notice SET done_ts = ?, outcome = ?, error = ? WHERE id = ?", (ts, outcome.value, error, number)
    )
    # Whoever accepts is well, and whoever refuses has at least answered.
    connection.execute(
        "UPDATE receiver SET failing_ts = NULL, error = '',"
        " accepted_ts = CASE ? WHEN 'accepted' THEN ? ELSE accepted_ts END"
        " WHERE name = (SELECT receiver FROM notice WHERE id = ?)",
        (outcome.value, ts, number),
    )
    delete_old_notifications(connection, ts)


def delete_old_notifications(connection: sqlite3.Connection, now: int) -> None:
    """Notices that were done with long before ``now`` (ms UTC) go. The caller owns the transaction. Raises sqlite3.Error."""
    # What was told of an open alert decides what is told next, however long ago it was.
    connection.execute(
        f"DELETE FROM notice WHERE done_ts < {BELIEVED} - :keep"  # noqa: S608
        " AND alert_id NOT IN (SELECT id FROM alert WHERE state <> 'resolved')",
        {"now": now, "keep": KEEP_MS},
    )


def mark_failed(
    connection: sqlite3.Connection, number: int, ts: int, error: str, next_ts: int, *, refused: bool
) -> None:
    """An attempt failed at ``ts`` and the next one is due at ``next_ts``. The caller owns the transaction.

    ``refused``: because of the notice, not because of how the receiver is. Raises sqlite3.Error.
    """
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


def last_notifications(
    connection: sqlite3.Connection, alerts: Iterable[int]
) -> Mapping[tuple[int, str], LastNotification]:
    """(alert, receiver) -> the last notice that the receiver knows or will know, of ``alerts``. Raises sqlite3.Error."""
    told: dict[tuple[int, str], LastNotification] = {}
    for number in alerts:
        for receiver, status, severity in connection.execute(
            f"SELECT receiver, status, severity FROM notice WHERE alert_id = ? AND {_KNOWN} ORDER BY id",  # noqa: S608
            (number,),
        ):
            told[number, text(receiver)] = LastNotification(NotificationStatus(status), Severity[severity.upper()])
    return told


def ended_but_notified_as_firing(connection: sqlite3.Connection, receiver: str) -> Iterator[StoredAlert]:
    """The alerts that have ended and that a receiver still takes to be firing. Raises sqlite3.Error."""
    yield from read_alerts(
        connection,
        "state = 'resolved' AND id IN (SELECT alert_id FROM notice"  # noqa: S608
        f" WHERE receiver = ? AND {_KNOWN} GROUP BY alert_id"
        " HAVING max(id) = max(CASE status WHEN 'firing' THEN id END))",
        (receiver,),
    )


def read_notifications(
    connection: sqlite3.Connection, where: str, parameters: tuple[Any, ...], limit: int
) -> Iterator[StoredNotification]:
    """The newest ``limit`` notices that fulfil ``where`` (a text of ours), newest first. Raises sqlite3.Error."""
    for row in connection.execute(f"{_SELECT} WHERE {where} ORDER BY id DESC LIMIT ?", (*parameters, limit)):
        yield _stored(row)


def _stored(row: tuple[Any, ...]) -> StoredNotification:
    named = dict(zip(_COLUMNS, row, strict=True))
    outcome = named["outcome"]
    return StoredNotification(
        id=integer(named["id"]),
        notice=PendingNotification(
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
"""Which notices receivers are owed that are told of alerts from now on; called inside the transaction."""


@dataclass(frozen=True, slots=True)
class ReceiverChanges:
    """What became of the receivers: notices ``dropped`` by receiver that is no more, and ``owed`` by receiver that is new."""

    dropped: Mapping[str, int]
    owed: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ReceiverRow:
    """A receiver that is told of alerts, moments in ms UTC.

    ``waiting`` notices are owed to it, the ``oldest`` of them made then. ``accepted`` is when it last took one, None:
    never. ``failing`` is since when it takes none because of ``error``, None: it does. ``refused`` counts the owed notices
    that it has refused, ``given_up`` those that are not tried again; ``refusal`` is what it said to the newest of both.
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


def update_receivers(
    connection: sqlite3.Connection, names: Sequence[str], ts: int, introduced: BuildForNewReceivers
) -> ReceiverChanges:
    """From ``ts`` on ``names`` are the receivers. The caller owns the transaction. Raises sqlite3.Error.

    What others are owed is dropped. New ones are owed what ``introduced`` says. What waits is due at once: a person may
    have mended the receiver, and the pause was another run's.
    """
    known = {text(name) for (name,) in connection.execute("SELECT name FROM receiver")}
    in_debt = {
        text(name) for (name,) in connection.execute("SELECT DISTINCT receiver FROM notice WHERE done_ts IS NULL")
    }
    dropped = {}
    for name in sorted((known | in_debt) - set(names)):
        dropped[name] = connection.execute(
            "UPDATE notice SET done_ts = ?, outcome = ?, error = 'no longer a receiver'"
            " WHERE receiver = ? AND done_ts IS NULL",
            (ts, NotificationOutcome.DROPPED.value, name),
        ).rowcount
        connection.execute("DELETE FROM receiver WHERE name = ?", (name,))
    connection.execute("UPDATE notice SET next_ts = 0 WHERE done_ts IS NULL AND next_ts <> 0")
    new = [name for name in names if name not in known]
    connection.executemany("INSERT INTO receiver(name, since_ts) VALUES(?, ?)", [(name, ts) for name in new])
    notices = introduced(new) if new else ()
    insert_notifications(connection, notices)
    owed = {name: sum(each.receiver == name for each in notices) for name in new}
    return ReceiverChanges(dropped, owed)


def count_pending(connection: sqlite3.Connection) -> dict[str, int]:
    """How many notices each receiver is owed, but for those with none. Raises sqlite3.Error."""
    rows = connection.execute("SELECT receiver, count(*) FROM notice WHERE done_ts IS NULL GROUP BY receiver")
    return {text(name): integer(count) for name, count in rows}


def read_receivers(connection: sqlite3.Connection) -> tuple[ReceiverRow, ...]:
    """Every receiver, by name. What has been delivered is not looked at. Raises sqlite3.Error."""
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
