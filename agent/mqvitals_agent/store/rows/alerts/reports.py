"""Reports that are sent at set times, as rows: for each report and receiver the moment up to which it is dealt with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mqvitals_agent.store.file.database import StoreDatabase
from mqvitals_agent.store.rows.tables import LAST_MOMENT, integer, moment_or_none, text

ReportKey = tuple[str, str]
"""The names of a report and of a receiver."""


@dataclass(frozen=True, slots=True)
class ReportRow:
    """What is known of a report for one receiver; times are ms UTC.

    ``schedule`` is when it is sent, as the settings had it. All moments of it up to ``handled`` are dealt with: sent, or
    given up. ``sent`` is when the receiver last took one. The moment after that has been tried ``attempts`` times, last
    without success because of ``error``, and is tried again at ``next_ts``.
    """

    schedule: str
    handled: int
    sent: int | None = None
    attempts: int = 0
    next_ts: int = 0
    error: str = ""


class ReportRepository:
    """The rows of reports. Each method is a transaction of its own and raises StoreError."""

    def __init__(self, database: StoreDatabase) -> None:
        self._database = database

    def read(self) -> Mapping[ReportKey, ReportRow]:
        """All rows. One dated outside any calendar is passed over."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT name, receiver, schedule, handled_ts, sent_ts, attempts, next_ts, error FROM report"
            )
            return {
                (text(name), text(receiver)): ReportRow(
                    text(schedule),
                    integer(handled),
                    moment_or_none(sent),
                    integer(attempts),
                    integer(next_ts),
                    text(error),
                )
                for name, receiver, schedule, handled, sent, attempts, next_ts, error in rows
                if all(0 <= integer(each or 0) <= LAST_MOMENT for each in (handled, sent, next_ts))
            }

    def keep(self, keys: Iterable[ReportKey]) -> None:
        """Delete the rows of all other reports and receivers: they are no longer in the settings."""
        wanted = set(keys)
        with self._database.writing() as connection:
            known = connection.execute("SELECT name, receiver FROM report").fetchall()
            for key in known:
                if key not in wanted:
                    connection.execute("DELETE FROM report WHERE name = ? AND receiver = ?", key)

    def write(self, key: ReportKey, row: ReportRow) -> None:
        """Keep the row of a report and a receiver."""
        with self._database.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO report(name, receiver, schedule, handled_ts, sent_ts, attempts, next_ts, error)"
                " VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
                (*key, row.schedule, row.handled, row.sent, row.attempts, row.next_ts, row.error),
            )
