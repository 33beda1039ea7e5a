"""Receivers as rows of the store: which there are, and how each is."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mqvitals_agent.store.rows.alerts.notification_rows import TAKEN_TO_FIRE, NotificationOutcome
from mqvitals_agent.store.rows.tables import integer, moment, moment_or_none, text


@dataclass(frozen=True, slots=True)
class ReceiverChanges:
    """How many notifications were ``dropped``, by removed receiver, and the names of the ``new`` receivers."""

    dropped: Mapping[str, int]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReceiverRow:
    """A receiver and its state, times in ms UTC.

    ``waiting`` notifications are pending, the ``oldest`` made then. ``accepted`` is when it last accepted one, None:
    never. ``failing`` is since when it accepts none because of ``error``, None: it does, though with an ``error`` a member of
    its cluster does not. ``refused`` counts the alerts in
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
        if failing is not None and not waiting:
            # What is sent again and again waits since the receiver accepts nothing.
            (waiting,) = connection.execute("SELECT count(*) FROM resent WHERE receiver = ?", (name,)).fetchone()
            oldest = (failing,) if waiting else None
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


def update_receivers(
    connection: sqlite3.Connection, names: Sequence[str], ts: int, introduce: Callable[[], None]
) -> ReceiverChanges:
    """From ``ts`` (ms UTC) on ``names`` are the receivers; ``introduce`` is called when there are new ones.

    What is pending for others is dropped, what waits is due at once. The caller owns the transaction. Raises sqlite3.Error,
    and whatever ``introduce`` raises.
    """
    known = {text(name) for (name,) in connection.execute("SELECT name FROM receiver")}
    pending = {
        text(name) for (name,) in connection.execute("SELECT DISTINCT receiver FROM notice WHERE done_ts IS NULL")
    }
    dropped = {}
    for name in sorted((known | pending) - set(names)):
        (dropped[name],) = connection.execute(
            "SELECT count(DISTINCT number) FROM notice WHERE receiver = ? AND done_ts IS NULL", (name,)
        ).fetchone()
        connection.execute(
            "UPDATE notice SET done_ts = ?, outcome = ?, error = 'no longer a receiver'"
            " WHERE receiver = ? AND done_ts IS NULL",
            (ts, NotificationOutcome.DROPPED.value, name),
        )
        connection.execute("DELETE FROM receiver WHERE name = ?", (name,))
        connection.execute("DELETE FROM alert_group WHERE receiver = ?", (name,))
        connection.execute("DELETE FROM resent WHERE receiver = ?", (name,))
    # The run before may have had any of them under way when it ended.
    connection.execute("UPDATE notice SET next_ts = 0, tried = 1 WHERE done_ts IS NULL")
    new = tuple(name for name in names if name not in known)
    connection.executemany("INSERT INTO receiver(name, since_ts) VALUES(?, ?)", [(name, ts) for name in new])
    # One that was a receiver before is told the end of what it takes to be firing.
    connection.executemany(
        f"UPDATE alert SET ending = 1 WHERE state = 'resolved' AND id IN ({TAKEN_TO_FIRE})",  # noqa: S608
        [(name,) for name in new],
    )
    if new:
        introduce()
    return ReceiverChanges(dropped, new)


def note_receiver(connection: sqlite3.Connection, name: str, ts: int, error: str, *, accepts: bool) -> None:
    """At ``ts`` (ms UTC) a receiver accepts what it is sent, or nothing of it; ``error`` is what fails all the same.

    The caller owns the transaction. Raises sqlite3.Error.
    """
    connection.execute(
        "UPDATE receiver SET accepted_ts = CASE WHEN :accepts THEN :ts ELSE accepted_ts END,"
        " failing_ts = CASE WHEN :accepts THEN NULL ELSE coalesce(failing_ts, :ts) END, error = :error"
        " WHERE name = :name",
        {"accepts": accepts, "ts": ts, "error": error, "name": name},
    )
