"""Notifications and receivers as rows: what waits, what was delivered or refused, and how each receiver is."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Final

from mqvitals_agent.alerting.decision import LastNotification, NotificationStatus
from mqvitals_agent.alerting.grouping import AlertGroup
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
    *("attempts", "next_ts", "error", "refused_ts", "number", "group_key", "group_labels", "repeated"),
)
_NAMES = ", ".join(f"n.{name}" for name in _COLUMNS)
_KNOWN = "(outcome IS NULL OR outcome = 'accepted')"
"""Notifications that the receiver got or will get: not those refused for good, withheld or dropped."""
_TOLD = f"({_KNOWN} OR outcome = 'refused' OR (outcome = 'withheld' AND (tried = 1 OR attempts > 0)))"
"""These, those that were refused for good, and those that were withheld after an attempt that may have arrived."""
_TAKEN_TO_FIRE = (
    f"SELECT alert_id FROM notice WHERE receiver = ? AND {_KNOWN} GROUP BY alert_id"  # noqa: S608
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


BuildNotifications = Callable[[Sequence[tuple[int, Transition]]], Sequence[PendingNotification]]
"""Builds the notifications for visible transitions (with the alerts' numbers); called inside the transaction."""


def insert_notifications(connection: sqlite3.Connection, notifications: Iterable[PendingNotification]) -> None:
    """Insert notifications, each of one alert; the caller owns the transaction. Raises sqlite3.Error."""
    insert_groups(connection, [PendingGroup((each,)) for each in notifications])


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
        labels=_labels(first["group_labels"]),
        repeated=bool(first["repeated"]),
    )


def _labels(cell: str) -> dict[str, str]:
    """The labels of a group; none where the cell is damaged, since they are no more than a title."""
    try:
        found = json.loads(text(cell))
    except ValueError:
        return {}
    return {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else {}


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
    never. ``failing`` is since when it accepts none because of ``error``, None: it does. ``refused`` counts the alerts in
    pending ones that it has refused, ``given_up`` those in such that are not tried again; ``refusal`` is what it said to the
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
            "SELECT count(*), min(number) FROM"
            " (SELECT DISTINCT number FROM notice WHERE receiver = ? AND done_ts IS NULL)",
            (name,),
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
    """(number of an alert, receiver) -> the last notification that the receiver has or will get, or would not take.

    Raises sqlite3.Error.
    """
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
    return found


def read_groups(connection: sqlite3.Connection) -> dict[tuple[str, str], AlertGroup]:
    """(receiver, key) -> the state of each group that has something to tell, or was told something. Raises sqlite3.Error."""
    return {
        (text(receiver), text(key)): AlertGroup(
            receiver, key, moment_or_none(waiting), moment_or_none(urgent), moment_or_none(told), _labels(labels)
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

    def ended_unnotified(self, receiver: str) -> tuple[StoredAlert, ...]:
        """The alerts that have ended and whose last notification to a receiver reports them as firing."""
        with self._database.reading() as connection:
            return tuple(
                read_alerts(
                    connection,
                    f"state = 'resolved' AND id IN ({_TAKEN_TO_FIRE})",
                    (receiver,),
                )
            )

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
            for rows in _numbered(connection, receiver):
                alerts = {integer(row["alert_id"]) for row in rows}
                waits = now < moment(rows[0]["next_ts"]) <= latest
                if alerts & behind or (waits and rows[0]["refused_ts"] is not None):
                    behind |= alerts
                    continue
                if waits or len(found) == limit:
                    break
                found.append(_with_others(connection, _stored(rows)))
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
        connection.execute("DELETE FROM alert_group WHERE receiver = ?", (name,))
    # The run before may have had any of them under way when it ended.
    connection.execute("UPDATE notice SET next_ts = 0, tried = 1 WHERE done_ts IS NULL")
    new = [name for name in names if name not in known]
    connection.executemany("INSERT INTO receiver(name, since_ts) VALUES(?, ?)", [(name, ts) for name in new])
    # One that was a receiver before is told the end of what it takes to be firing.
    connection.executemany(
        f"UPDATE alert SET ending = 1 WHERE state = 'resolved' AND id IN ({_TAKEN_TO_FIRE})",  # noqa: S608
        [(name,) for name in new],
    )
    (before,) = connection.execute("SELECT coalesce(max(id), 0) FROM notice").fetchone()
    insert_notifications(connection, build(new) if new else ())
    (made,) = connection.execute("SELECT json_group_array(receiver) FROM notice WHERE id > ?", (before,)).fetchone()
    receivers = json.loads(made)
    return ReceiverChanges(dropped, {name: receivers.count(name) for name in new})


def _numbered(connection: sqlite3.Connection, receiver: str) -> Iterator[list[dict[str, Any]]]:
    """The pending rows of a receiver, those of one notification together, in their order."""
    rows: list[dict[str, Any]] = []
    for row in connection.execute(
        f"SELECT {_NAMES} FROM notice AS n WHERE receiver = ? AND done_ts IS NULL ORDER BY number, id",  # noqa: S608
        (receiver,),
    ):
        named = dict(zip(_COLUMNS, row, strict=True))
        if rows and rows[0]["number"] != named["number"]:
            yield rows
            rows = []
        rows.append(named)
    if rows:
        yield rows


def _with_others(connection: sqlite3.Connection, stored: StoredNotification) -> StoredNotification:
    """With the alerts that fire on in its group, as the receiver was told them before."""
    if not stored.key:
        return stored
    own = {each.alert_id for each in stored.alerts}
    known = [
        integer(row)
        for row, alert in connection.execute(
            "SELECT max(n.id), n.alert_id FROM notice AS n JOIN alert AS a ON a.id = n.alert_id"  # noqa: S608
            " WHERE n.receiver = :receiver AND n.group_key = :key AND n.number < :number"
            # One that the receiver refused may be why: it stays out of the others.
            f" AND {_KNOWN} AND (outcome IS NOT NULL OR refused_ts IS NULL) AND a.state = 'firing' AND a.muted = 0 GROUP BY n.alert_id",
            {"receiver": stored.receiver, "key": stored.key, "number": stored.number},
        )
        if alert not in own
    ]
    beside = []
    for row in known[:MOST_BESIDE]:
        cells = connection.execute(f"SELECT {_NAMES} FROM notice AS n WHERE id = ?", (row,)).fetchone()  # noqa: S608
        beside.append(_pending(dict(zip(_COLUMNS, cells, strict=True))))
    return replace(stored, beside=tuple(beside), truncated=len(known) - len(beside))


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
    if changes.groups is not None:
        connection.execute("DELETE FROM alert_group")
        connection.executemany(
            "INSERT INTO alert_group(receiver, key, labels, waiting_ts, urgent_ts, told_ts) VALUES(?, ?, ?, ?, ?, ?)",
            [
                (each.receiver, each.key, json.dumps(dict(each.labels)), each.waiting, each.urgent, each.told)
                for each in changes.groups.values()
            ],
        )
