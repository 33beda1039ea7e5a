"""Alerts that a receiver is sent again and again while they fire, and for a while after their end, as rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from mqvitals_agent.alerting.decision import LastNotification, NotificationStatus
from mqvitals_agent.store.rows.tables import integer, moment_or_none, text
from mqvitals_rules.lifecycle.alert import Severity

_COLUMNS = "alert_id, receiver, identity, severity, ends_ts, payload"


@dataclass(frozen=True, slots=True)
class ResentAlert:
    """An alert as a receiver has it.

    ``identity`` is one for each set of labels, by which the receiver tells alerts apart. ``ends`` is ms UTC, None while it
    fires; ``payload`` is JSON, as that of a notification.
    """

    alert_id: int
    receiver: str
    identity: str
    severity: Severity
    ends: int | None
    payload: str

    @property
    def key(self) -> tuple[str, str]:
        """What identifies its row."""
        return self.receiver, self.identity


@dataclass(frozen=True, slots=True)
class ResentChanges:
    """Rows that are new or differ, and the keys of those that go."""

    written: tuple[ResentAlert, ...] = ()
    dropped: tuple[tuple[str, str], ...] = ()

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """Of all rows that change."""
        return (*(each.key for each in self.written), *self.dropped)


NOTHING_RESENT: Final = ResentChanges()


def read_resent(connection: sqlite3.Connection, receiver: str | None = None) -> tuple[ResentAlert, ...]:
    """The alerts of a receiver, or of all. Raises sqlite3.Error."""
    return tuple(
        ResentAlert(
            integer(alert),
            text(name),
            text(identity),
            Severity[text(severity).upper()],
            moment_or_none(ends),
            text(payload),
        )
        for alert, name, identity, severity, ends, payload in connection.execute(
            f"SELECT {_COLUMNS} FROM resent WHERE receiver = coalesce(?, receiver) ORDER BY alert_id, identity",  # noqa: S608
            (receiver,),
        )
    )


def write_resent(connection: sqlite3.Connection, changes: ResentChanges) -> None:
    """Write them; the caller owns the transaction. Raises sqlite3.Error."""
    connection.executemany("DELETE FROM resent WHERE receiver = ? AND identity = ?", changes.keys)
    connection.executemany(
        f"INSERT INTO resent({_COLUMNS}) VALUES(?, ?, ?, ?, ?, ?)",
        [
            (each.alert_id, each.receiver, each.identity, each.severity.name.lower(), each.ends, each.payload)
            for each in changes.written
        ],
    )


def last_of_resent(connection: sqlite3.Connection, alerts: Iterable[int]) -> dict[tuple[int, str], LastNotification]:
    """(number of an alert, receiver) -> how the receiver has it; as ``read_last``. Raises sqlite3.Error."""
    wanted = frozenset(alerts)
    found: dict[tuple[int, str], LastNotification] = {}
    for alert, receiver, severity, ends in connection.execute(
        # Of one that fires with other labels than before, the one that fires.
        "SELECT alert_id, receiver, severity, ends_ts FROM resent ORDER BY ends_ts IS NULL, ends_ts"
    ):
        if alert in wanted:
            status = NotificationStatus.FIRING if ends is None else NotificationStatus.RESOLVED
            found[integer(alert), text(receiver)] = LastNotification(status, Severity[severity.upper()])
    return found
