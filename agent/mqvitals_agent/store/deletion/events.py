"""Deletes what is not of samples: messages, changes, the journal, ended alerts, actions of people, what is known of records."""

# ruff: noqa: S608 - the names of tables are our own; everything else is a bound parameter
from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mqvitals_agent.store.deletion.deleting import Deleting
from mqvitals_agent.store.file.integrity import OF_ALERTS
from mqvitals_agent.store.file.schema import ALERTS_FROM
from mqvitals_agent.store.rows.alerts.actions import AUDIT_KEPT_MS, MOST_AUDIT
from mqvitals_agent.store.rows.changes import MOST_CHANGES
from mqvitals_agent.store.rows.journal import MOST_ENTRIES
from mqvitals_agent.store.rows.tables import moment, text

ENDED_ALERTS: Final = (
    "state = 'resolved' AND ended < ? AND id < (SELECT max(id) FROM alert) AND ending = 0"
    " AND NOT EXISTS (SELECT 1 FROM notice WHERE alert_id = alert.id AND done_ts IS NULL)"
)
"""A condition: an alert that ended before a moment (ms UTC) and may go."""


class EventDeletion:
    """Deletes events. Times are ms UTC; every generator yields rows after each statement.

    ``folder`` is where SMF records are read from, as a file that is still there must not be forgotten. Every method raises
    sqlite3.Error.
    """

    def __init__(self, deleting: Deleting, folder: Path | None) -> None:
        self._deleting = deleting
        self._folder = folder

    def messages(self, bound: int) -> Iterator[int]:
        """Console messages that came last before ``bound``."""
        yield from self._older("message", "last_ts", bound)

    def changes(self, bound: int) -> Iterator[int]:
        """Changes of definitions from before ``bound``, and the oldest of too many."""
        yield from self._older("change", "ts", bound)
        yield from self._but_newest("change", "ts DESC, id DESC", MOST_CHANGES)

    def journal(self, bound: int) -> Iterator[int]:
        """Entries of the journal from before ``bound``; of too many also the oldest."""
        yield from self._older("journal", "ts", bound)
        yield from self._but_newest("journal", "ts DESC, id DESC", MOST_ENTRIES)

    def alerts(self, bound: int) -> Iterator[int]:
        """Alerts that ended before ``bound``, with transitions, notifications, acknowledgements and notes; not those with a
        pending notification.

        The last one stays, so that no number is given twice.
        """
        while True:
            numbers = self._deleting.connection.execute(
                f"SELECT id, ended FROM alert WHERE {ENDED_ALERTS} ORDER BY ended LIMIT ?",
                (bound, self._deleting.rows),
            ).fetchall()
            if not numbers:
                return
            keys = [(number,) for number, _ in numbers]
            deleted = 0
            for table, key in (*((table, "alert_id") for table in OF_ALERTS), ("alert", "id")):
                found = self._deleting.connection.executemany(f"DELETE FROM {table} WHERE {key} = ?", keys)
                deleted += found.rowcount
            self._deleting.note(ALERTS_FROM, moment(numbers[-1][1]) + 1)
            yield deleted

    def actions(self, bound: int, now: int) -> Iterator[int]:
        """Silences that ended before ``bound``, and of the audit what is older, and older than a year.

        The last one of each stays, so that no number is given twice.
        """
        yield from self._older("silence", "ends_ts", bound, but_last=True)
        yield from self._older("audit", "ts", min(bound, now - AUDIT_KEPT_MS), but_last=True)
        yield from self._but_newest("audit", "id DESC", MOST_AUDIT)

    def records(self, bound: int) -> Iterator[int]:
        """What is remembered of SMF records that ended before ``bound``, and of files that are there no more."""
        yield from self._older("smf_record", "ts", bound)
        owner, kind = "", ""
        while True:
            found = self._deleting.connection.execute(
                "SELECT owner, kind FROM smf_part WHERE (owner, kind) > (?, ?) ORDER BY owner, kind LIMIT 1",
                (owner, kind),
            ).fetchone()
            if found is None:
                break
            owner, kind = text(found[0]), text(found[1])
            # Several parts have one end: whole ends go.
            yield from self._deleting.in_pieces(
                "DELETE FROM smf_part WHERE owner = ?1 AND kind = ?2 AND ts IN (SELECT ts FROM smf_part"
                " WHERE owner = ?1 AND kind = ?2 AND ts < ?3 ORDER BY ts LIMIT ?4)",
                owner,
                kind,
                bound,
            )
        there = self._files()
        if there is None:
            return
        old = self._deleting.connection.execute("SELECT name FROM smf_file WHERE ts < ?", (bound,)).fetchall()
        gone = [(name,) for (name,) in old if text(name) not in there]
        yield self._deleting.connection.executemany("DELETE FROM smf_file WHERE name = ?", gone).rowcount if gone else 0

    def _older(self, table: str, column: str, bound: int, *, but_last: bool = False) -> Iterator[int]:
        """Rows whose time in ``column`` is before ``bound``, the oldest first; ``but_last``: not that of the highest number."""
        last = f" AND id < (SELECT max(id) FROM {table})" if but_last else ""
        yield from self._deleting.in_pieces(
            f"DELETE FROM {table} WHERE id IN"
            f" (SELECT id FROM {table} WHERE {column} < ?1{last} ORDER BY {column} LIMIT ?2)",
            bound,
        )

    def _but_newest(self, table: str, order: str, most: int) -> Iterator[int]:
        """All rows but the first ``most`` in this order."""
        yield from self._deleting.in_pieces(
            f"DELETE FROM {table} WHERE id IN (SELECT id FROM {table} ORDER BY {order} LIMIT ?2 OFFSET ?1)", most
        )

    def _files(self) -> frozenset[str] | None:
        """The files in the watched folder as the store names them; None: it cannot be read now."""
        if self._folder is None:
            return frozenset()
        try:
            with os.scandir(os.fsencode(self._folder)) as entries:
                return frozenset(entry.name.decode("utf-8", "backslashreplace") for entry in entries)
        except OSError:
            return None
