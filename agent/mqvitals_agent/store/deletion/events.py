"""Deletes what is not of samples: messages, changes, the journal, ended alerts, actions of people, what is known of records."""

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
        yield from self._deleting.in_pieces(
            "DELETE FROM message WHERE id IN (SELECT id FROM message WHERE last_ts < ?1 ORDER BY last_ts LIMIT ?2)",
            bound,
        )

    def changes(self, bound: int) -> Iterator[int]:
        """Changes of definitions from before ``bound``, and the oldest of too many."""
        yield from self._deleting.in_pieces(
            "DELETE FROM change WHERE id IN (SELECT id FROM change WHERE ts < ?1 ORDER BY ts LIMIT ?2)", bound
        )
        yield from self._deleting.in_pieces(
            "DELETE FROM change WHERE id IN (SELECT id FROM change ORDER BY ts DESC, id DESC LIMIT ?2 OFFSET ?1)",
            MOST_CHANGES,
        )

    def journal(self, bound: int) -> Iterator[int]:
        """Entries of the journal from before ``bound``; of too many also the oldest."""
        yield from self._deleting.in_pieces(
            "DELETE FROM journal WHERE id IN (SELECT id FROM journal WHERE ts < ?1 ORDER BY ts LIMIT ?2)", bound
        )
        yield from self._deleting.in_pieces(
            "DELETE FROM journal WHERE id IN (SELECT id FROM journal ORDER BY ts DESC, id DESC LIMIT ?2 OFFSET ?1)",
            MOST_ENTRIES,
        )

    def alerts(self, bound: int) -> Iterator[int]:
        """Alerts that ended before ``bound``, with transitions, notifications, acknowledgements and notes; not those with a
        pending notification.

        The last one stays, so that no number is given twice.
        """
        while True:
            numbers = self._deleting.connection.execute(
                f"SELECT id, ended FROM alert WHERE {ENDED_ALERTS} ORDER BY ended LIMIT ?",  # noqa: S608 - ours
                (bound, self._deleting.rows),
            ).fetchall()
            if not numbers:
                return
            keys = [(number,) for number, _ in numbers]
            deleted = 0
            for table, key in (*((table, "alert_id") for table in OF_ALERTS), ("alert", "id")):
                found = self._deleting.connection.executemany(f"DELETE FROM {table} WHERE {key} = ?", keys)  # noqa: S608
                deleted += found.rowcount
            self._deleting.note(ALERTS_FROM, moment(numbers[-1][1]) + 1)
            yield deleted

    def actions(self, bound: int, now: int) -> Iterator[int]:
        """Silences that ended before ``bound``, and of the audit what is older, and older than a year.

        The last one of each stays, so that no number is given twice.
        """
        yield from self._deleting.in_pieces(
            "DELETE FROM silence WHERE id IN (SELECT id FROM silence WHERE ends_ts < ?1"
            " AND id < (SELECT max(id) FROM silence) ORDER BY ends_ts LIMIT ?2)",
            bound,
        )
        yield from self._deleting.in_pieces(
            "DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE ts < ?1"
            " AND id < (SELECT max(id) FROM audit) ORDER BY ts LIMIT ?2)",
            min(bound, now - AUDIT_KEPT_MS),
        )
        yield from self._deleting.in_pieces(
            "DELETE FROM audit WHERE id IN (SELECT id FROM audit ORDER BY id DESC LIMIT ?2 OFFSET ?1)", MOST_AUDIT
        )

    def records(self, bound: int) -> Iterator[int]:
        """What is remembered of SMF records that ended before ``bound``, and of files that are there no more."""
        yield from self._deleting.in_pieces(
            "DELETE FROM smf_record WHERE id IN (SELECT id FROM smf_record WHERE ts < ?1 ORDER BY ts LIMIT ?2)", bound
        )
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

    def _files(self) -> frozenset[str] | None:
        """The files in the watched folder as the store names them; None: it cannot be read now."""
        if self._folder is None:
            return frozenset()
        try:
            with os.scandir(os.fsencode(self._folder)) as entries:
                return frozenset(entry.name.decode("utf-8", "backslashreplace") for entry in entries)
        except OSError:
            return None
