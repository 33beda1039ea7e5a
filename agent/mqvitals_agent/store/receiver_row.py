"""Receivers as rows: whom the agent tells, since when, and how that goes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mqvitals_agent.store.cell import integer, moment, moment_or_none, text
from mqvitals_agent.store.notice_row import NoticeOutcome, OwedNotice, insert_notices

Introduced = Callable[[Sequence[str]], Sequence[OwedNotice]]
"""Which notices receivers are owed that are told of alerts from now on; called inside the transaction."""


@dataclass(frozen=True, slots=True)
class Adoption:
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


def adopt_receivers(connection: sqlite3.Connection, names: Sequence[str], ts: int, introduced: Introduced) -> Adoption:
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
            (ts, NoticeOutcome.DROPPED.value, name),
        ).rowcount
        connection.execute("DELETE FROM receiver WHERE name = ?", (name,))
    connection.execute("UPDATE notice SET next_ts = 0 WHERE done_ts IS NULL AND next_ts <> 0")
    new = [name for name in names if name not in known]
    connection.executemany("INSERT INTO receiver(name, since_ts) VALUES(?, ?)", [(name, ts) for name in new])
    notices = introduced(new) if new else ()
    insert_notices(connection, notices)
    owed = {name: sum(each.receiver == name for each in notices) for name in new}
    return Adoption(dropped, owed)


def count_owed(connection: sqlite3.Connection) -> dict[str, int]:
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
