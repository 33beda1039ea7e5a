"""Notifications as rows of the store: what a receiver is told about one alert is a row, which waits, is delivered or refused."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Final

from mqvitals_agent.alerting.decision import LastNotification, NotificationStatus
from mqvitals_agent.store.file.schema import BELIEVED
from mqvitals_agent.store.rows.alerts.resent import last_of_resent
from mqvitals_agent.store.rows.tables import integer, moment, moment_or_none, text
from mqvitals_rules.lifecycle.alert import Severity

KEEP_MS = 30 * 86_400_000
"""How long a notification stays in the store after its end."""

LONGEST_PAUSE_MS = 300_000
"""No attempt waits longer for the next. What seems to was noted by a clock that has been set back since: it is due."""

_COLUMNS = (
    *("id", "alert_id", "receiver", "status", "severity", "fingerprint", "made_ts", "payload"),
    *("attempts", "next_ts", "error", "refused_ts", "number", "group_key", "group_labels", "repeated"),
)
_NAMES = ", ".join(f"n.{name}" for name in _COLUMNS)
KNOWN = "(outcome IS NULL OR outcome = 'accepted')"
"""Notifications that the receiver got or will get: not those refused for good, withheld or dropped."""
_TOLD = f"({KNOWN} OR outcome = 'refused' OR (outcome = 'withheld' AND (tried = 1 OR attempts > 0)))"
"""These, those that were refused for good, and those that were withheld after an attempt that may have arrived."""
TAKEN_TO_FIRE = (
    f"SELECT alert_id FROM notice WHERE receiver = ? AND {KNOWN} GROUP BY alert_id"  # noqa: S608
    " HAVING max(id) = max(CASE status WHEN 'firing' THEN id END)"
)
"""The alerts of which the last that a receiver knows is that they fire."""

MOST_TOLD: Final = 400
"""Alerts that one notification tells; what else is to be told follows in further ones."""
ROWS_OF: Final = f"(id BETWEEN :number AND :number + {MOST_TOLD - 1} AND number = :number)"
"""The rows of a notification ``:number``: they follow each other."""
MOST_BESIDE: Final = 100
"""Alerts that fire on in the group and are shown beside those that are told."""


class NotificationOutcome(Enum):
    """How a notification ended."""

    ACCEPTED = "accepted"
    REFUSED = "refused"  # the receiver would not take it, as often as it was asked
    DROPPED = "dropped"  # the receiver stood in the settings no more
    WITHHELD = "withheld"  # someone muted the alert before it was sent


@dataclass(frozen=True, slots=True)
class PendingNotification:
    """What a receiver is told about one alert, kept until it is delivered.

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
class PendingGroup:
    """Alerts of one receiver that are told together: one notification, or several where there are very many.

    ``key`` and ``labels`` are those of their group; the key is empty for an alert that is told alone.
    """

    alerts: tuple[PendingNotification, ...]
    key: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class StoredNotification:
    """A notification and its state. ``number`` is its own, which every attempt has.

    ``alerts`` are told, ``beside`` fire on in the group as the receiver knows them, of which ``truncated`` are left out.
    ``attempts`` counts those that failed, ``error`` says why the last one did, ``next_ts`` when the next is due (ms
    UTC, 0: at once), ``refused`` when the receiver first refused this notification (None: never).
    """

    number: int
    receiver: str
    alerts: tuple[PendingNotification, ...]
    attempts: int
    next_ts: int
    error: str
    refused: int | None = None
    key: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    repeated: bool = False
    beside: tuple[PendingNotification, ...] = ()
    truncated: int = 0


def insert_groups(connection: sqlite3.Connection, groups: Iterable[PendingGroup]) -> None:
    """Insert notifications of groups, each under the id of its first row; the caller owns the transaction.

    Raises sqlite3.Error.
    """
    (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM notice").fetchone()
    row = integer(last)
    rows: list[tuple[Any, ...]] = []
    for group in groups:
        labels = json.dumps(dict(group.labels))
        for index, each in enumerate(group.alerts):
            row += 1
            if index % MOST_TOLD == 0:
                number = row
            rows.append(
                (
                    *(
                        row,
                        each.alert_id,
                        each.receiver,
                        each.status.value,
                        each.severity.name.lower(),
                        each.fingerprint,
                    ),
                    *(each.made, each.payload, number, group.key, labels, group.repeated),
                )
            )
    connection.executemany(
        "INSERT INTO notice(id, alert_id, receiver, status, severity, fingerprint, made_ts, payload, number, group_key,"
        " group_labels, repeated) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )


def delete_old_notifications(connection: sqlite3.Connection, now: int) -> None:
    """Delete notifications that ended long before ``now`` (ms UTC).

    The caller owns the transaction. Raises sqlite3.Error.
    """
    # The last notification about an open alert decides about the next one, however old it is.
    connection.execute(
        f"DELETE FROM notice WHERE done_ts < {BELIEVED} - :keep AND id NOT IN (SELECT max(id) FROM notice"  # noqa: S608
        " WHERE alert_id IN (SELECT id FROM alert WHERE state <> 'resolved' OR ending = 1) GROUP BY alert_id, receiver, outcome)",
        {"now": now, "keep": KEEP_MS},
    )


def read_waiting(connection: sqlite3.Connection, receiver: str) -> Iterator[StoredNotification]:
    """The pending notifications of a receiver, the oldest first. Raises sqlite3.Error."""
    rows: list[dict[str, Any]] = []
    for row in connection.execute(
        f"SELECT {_NAMES} FROM notice AS n WHERE receiver = ? AND done_ts IS NULL ORDER BY number, id",  # noqa: S608
        (receiver,),
    ):
        named = dict(zip(_COLUMNS, row, strict=True))
        if rows and rows[0]["number"] != named["number"]:
            yield _stored(rows)
            rows = []
        rows.append(named)
    if rows:
        yield _stored(rows)


def with_others(connection: sqlite3.Connection, stored: StoredNotification) -> StoredNotification:
    """With the alerts that fire on in its group, as the receiver was told them before. Raises sqlite3.Error."""
    if not stored.key:
        return stored
    own = {each.alert_id for each in stored.alerts}
    known = [
        integer(row)
        for row, alert in connection.execute(
            "SELECT max(n.id), n.alert_id FROM notice AS n JOIN alert AS a ON a.id = n.alert_id"  # noqa: S608
            " WHERE n.receiver = :receiver AND n.group_key = :key AND n.number < :number"
            # One that the receiver refused may be why: it stays out of the others.
            f" AND {KNOWN} AND (outcome IS NOT NULL OR refused_ts IS NULL) AND a.state = 'firing' AND a.muted = 0 GROUP BY n.alert_id",
            {"receiver": stored.receiver, "key": stored.key, "number": stored.number},
        )
        if alert not in own
    ]
    beside = []
    for row in known[:MOST_BESIDE]:
        cells = connection.execute(f"SELECT {_NAMES} FROM notice AS n WHERE id = ?", (row,)).fetchone()  # noqa: S608
        beside.append(_pending(dict(zip(_COLUMNS, cells, strict=True))))
    return replace(stored, beside=tuple(beside), truncated=len(known) - len(beside))


def read_last(connection: sqlite3.Connection, alerts: Iterable[int]) -> dict[tuple[int, str], LastNotification]:
    """(number of an alert, receiver) -> the last notification that the receiver has or will get, or would not take.

    Raises sqlite3.Error.
    """
    alerts = tuple(alerts)
    found: dict[tuple[int, str], LastNotification] = {}
    for alert in alerts:
        for receiver, status, severity, number, key, outcome in connection.execute(
            f"SELECT receiver, status, severity, id, group_key, outcome FROM notice WHERE alert_id = ? AND {_TOLD} ORDER BY id",  # noqa: S608
            (alert,),
        ):
            before = found.get((alert, text(receiver)))
            unknown = before is None or before.refused
            found[alert, text(receiver)] = LastNotification(
                NotificationStatus(status),
                Severity[severity.upper()],
                number,
                text(key),
                withheld=outcome == NotificationOutcome.WITHHELD.value,
                refused=outcome == NotificationOutcome.REFUSED.value and unknown,
            )
    return found | last_of_resent(connection, alerts)


def _pending(named: Mapping[str, Any]) -> PendingNotification:
    return PendingNotification(
        alert_id=integer(named["alert_id"]),
        receiver=text(named["receiver"]),
        status=NotificationStatus(named["status"]),
        severity=Severity[named["severity"].upper()],
        fingerprint=text(named["fingerprint"]),
        made=moment(named["made_ts"]),
        payload=text(named["payload"]),
    )


def _stored(rows: Sequence[Mapping[str, Any]]) -> StoredNotification:
    first = rows[0]
    return StoredNotification(
        number=integer(first["number"]),
        receiver=text(first["receiver"]),
        alerts=tuple(map(_pending, rows)),
        attempts=integer(first["attempts"]),
        next_ts=moment(first["next_ts"]),
        error=text(first["error"]),
        refused=moment_or_none(first["refused_ts"]),
        key=text(first["group_key"]),
        labels=labels_in(first["group_labels"]),
        repeated=bool(first["repeated"]),
    )


def labels_in(cell: str) -> dict[str, str]:
    """The labels of a group, from their cell; none where the cell is damaged, since they are no more than a title."""
    try:
        found = json.loads(text(cell))
    except ValueError:
        return {}
    return {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else {}
