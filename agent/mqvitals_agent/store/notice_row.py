"""Notices as rows: what receivers are owed about alerts, and what became of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from mqvitals_agent.store.cell import LAST_MOMENT, integer, moment, moment_or_none, text
from mqvitals_rules.lifecycle.alert import Severity, Transition

KEEP_MS = 30 * 86_400_000
"""How long a notice stays after it is done with."""

_COLUMNS = (
    *("id", "alert_id", "receiver", "status", "severity", "fingerprint", "made_ts", "payload"),
    *("attempts", "next_ts", "error", "done_ts", "outcome"),
)
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM notice"  # noqa: S608


class NoticeStatus(Enum):
    """What a notice says of its alert."""

    FIRING = "firing"
    RESOLVED = "resolved"


class NoticeOutcome(Enum):
    """How a notice ended."""

    ACCEPTED = "accepted"
    REFUSED = "refused"  # the receiver said that it will never take it


@dataclass(frozen=True, slots=True)
class OwedNotice:
    """A notice to be kept until it is delivered. ``made`` is ms UTC, ``payload`` JSON, ``fingerprint`` one for each alert."""

    alert_id: int
    receiver: str
    status: NoticeStatus
    severity: Severity
    fingerprint: str
    made: int
    payload: str


@dataclass(frozen=True, slots=True)
class StoredNotice:
    """A notice and what became of it so far.

    ``attempts`` counts those that failed, ``error`` says why the last one did, ``next_ts`` when the next is due (ms UTC,
    0: at once). ``done_ts`` and ``outcome`` are None while it is owed.
    """

    id: int
    notice: OwedNotice
    attempts: int
    next_ts: int
    error: str
    done_ts: int | None
    outcome: NoticeOutcome | None


class Told(NamedTuple):
    """The last that a receiver was told, or is owed, about an alert."""

    status: NoticeStatus
    severity: Severity


Owed = Callable[[Sequence[tuple[int, Transition]]], Sequence[OwedNotice]]
"""Which notices visible transitions of alerts (with the alerts' numbers) owe; called inside the transaction."""


def insert_notices(connection: sqlite3.Connection, notices: Iterable[OwedNotice]) -> None:
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


def due_notices(connection: sqlite3.Connection, receiver: str, now: int, limit: int) -> list[StoredNotice]:
    """The oldest notices owed to a receiver, in their order, up to the first that is not due at ``now``.

    So nothing overtakes a notice that waits for its next attempt. Raises sqlite3.Error.
    """
    found = []
    for row in connection.execute(
        f"{_SELECT} WHERE receiver = ? AND done_ts IS NULL ORDER BY id LIMIT ?", (receiver, limit)
    ):
        stored = _stored(row)
        if stored.next_ts > now:
            break
        found.append(stored)
    return found


def mark_done(connection: sqlite3.Connection, number: int, ts: int, outcome: NoticeOutcome, error: str) -> None:
    """A notice is done with; those done long ago go. The caller owns the transaction. Raises sqlite3.Error."""
    connection.execute(
        "UPDATE notice SET done_ts = ?, outcome = ?, error = ? WHERE id = ?", (ts, outcome.value, error, number)
    )
    # What was told of an open alert decides what is told next, however long ago it was.
    connection.execute(
        "DELETE FROM notice WHERE done_ts < ? AND alert_id NOT IN (SELECT id FROM alert WHERE state <> 'resolved')",
        (ts - KEEP_MS,),
    )


def mark_failed(connection: sqlite3.Connection, number: int, error: str, next_ts: int) -> None:
    """An attempt failed and the next one is due at ``next_ts``. Raises sqlite3.Error."""
    connection.execute(
        "UPDATE notice SET attempts = attempts + 1, error = ?, next_ts = ? WHERE id = ?",
        (error, min(next_ts, LAST_MOMENT), number),
    )


def read_told(connection: sqlite3.Connection, alerts: Iterable[int]) -> Mapping[tuple[int, str], Told]:
    """(alert, receiver) -> the last notice made about it, of those of ``alerts``. Raises sqlite3.Error."""
    told: dict[tuple[int, str], Told] = {}
    for number in alerts:
        for receiver, status, severity in connection.execute(
            "SELECT receiver, status, severity FROM notice WHERE alert_id = ? ORDER BY id", (number,)
        ):
            told[number, text(receiver)] = Told(NoticeStatus(status), Severity[severity.upper()])
    return told


def read_notices(
    connection: sqlite3.Connection, where: str, parameters: tuple[Any, ...], limit: int
) -> Iterator[StoredNotice]:
    """The newest ``limit`` notices that fulfil ``where`` (a text of ours), newest first. Raises sqlite3.Error."""
    for row in connection.execute(f"{_SELECT} WHERE {where} ORDER BY id DESC LIMIT ?", (*parameters, limit)):
        yield _stored(row)


def _stored(row: tuple[Any, ...]) -> StoredNotice:
    named = dict(zip(_COLUMNS, row, strict=True))
    outcome = named["outcome"]
    return StoredNotice(
        id=integer(named["id"]),
        notice=OwedNotice(
            alert_id=integer(named["alert_id"]),
            receiver=text(named["receiver"]),
            status=NoticeStatus(named["status"]),
            severity=Severity[named["severity"].upper()],
            fingerprint=text(named["fingerprint"]),
            made=moment(named["made_ts"]),
            payload=text(named["payload"]),
        ),
        attempts=integer(named["attempts"]),
        next_ts=moment(named["next_ts"]),
        error=text(named["error"]),
        done_ts=moment_or_none(named["done_ts"]),
        outcome=None if outcome is None else NoticeOutcome(outcome),
    )
