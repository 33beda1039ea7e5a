"""When a report is due: a pure decision about the times in the settings, what was sent, and the time now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Final

from cronsim import CronSim, CronSimError

from mqvitals_agent.store.rows.alerts.reports import ReportRow
from mqvitals_config.decoding.scalars import time_zone
from mqvitals_config.sections.reports import ReportSettings, cron_of

SEND_WITHIN_MS: Final = 6 * 3_600_000
"""A report is sent this long after its moment at most; then it is given up."""
LATE_MS: Final = 5 * 60_000
"""One that is sent later than this after its moment says so."""
_AHEAD_MS: Final = 60_000
_FARTHEST_MS: Final = 400 * 86_400_000
"""A time that never comes is looked for no further ahead than this."""


@dataclass(frozen=True, slots=True)
class ReportTimes:
    """The moments at which a report is sent: five fields of cron, in a zone."""

    cron: str
    zone: tzinfo
    words: str

    @classmethod
    def of(cls, settings: ReportSettings, group_zone: str | None) -> ReportTimes:
        """Those of valid settings; ``group_zone`` is the zone of the group, if it has one."""
        name = settings.time_zone or group_zone
        return cls(cron_of(settings.at), UTC if name is None else time_zone(name), f"{settings.at} {name or 'UTC'}")

    def after(self, ts: int) -> Iterator[int]:
        """The moments after ``ts``, ms UTC; none that come twice because clocks go back."""
        try:
            for each in CronSim(self.cron, datetime.fromtimestamp(ts // 1000, self.zone)):
                found = int(each.timestamp()) * 1000
                if found - ts > _FARTHEST_MS:
                    return
                if found > ts:
                    yield found
        except (CronSimError, OverflowError, ValueError):
            return


@dataclass(frozen=True, slots=True)
class ReportDecision:
    """What is to be done about a report now.

    ``due`` is the moment for which it is sent (None: none), ``skipped`` counts the moments before it that are given up,
    ``at`` is the next moment at which this must be decided anew. ``row`` is what is known from now on.
    """

    row: ReportRow
    due: int | None
    skipped: int
    at: int


def decide_report(times: ReportTimes, row: ReportRow | None, now: int) -> ReportDecision:
    """Decide about a report at ``now`` (ms UTC); ``row`` is what is known of it, None: it is new.

    A new report, and one whose times have changed, is sent at its next moment. Of several moments that are over only the
    newest is sent, and none that is older than ``SEND_WITHIN_MS``.
    """
    if row is None or row.schedule != times.words or row.handled > now + _AHEAD_MS:
        # A clock that was ahead and has been corrected has left a moment that is still to come.
        row = ReportRow(times.words, now, None if row is None else row.sent)
    due, skipped, upcoming = None, 0, now + _FARTHEST_MS
    for moment in times.after(max(row.handled, now - _FARTHEST_MS)):
        if moment > now:
            upcoming = moment
            break
        if due is not None:
            # Given up for a newer one, and counted once.
            row, skipped = replace(row, handled=due), skipped + 1
        due = moment
    if due is None:
        return ReportDecision(row, None, 0, upcoming)
    if now - due > SEND_WITHIN_MS:
        return ReportDecision(dealt_with(row, due), None, skipped + 1, upcoming)
    if row.next_ts > now and row.next_ts <= now + SEND_WITHIN_MS:
        return ReportDecision(row, None, skipped, min(row.next_ts, upcoming))
    return ReportDecision(row, due, skipped, upcoming)


def dealt_with(row: ReportRow, moment: int, sent: int | None = None) -> ReportRow:
    """What is known once a moment is dealt with; ``sent``: when the receiver took the report, None: it was given up."""
    return ReportRow(row.schedule, moment, row.sent if sent is None else sent)


def tried_again(row: ReportRow, error: str, next_ts: int) -> ReportRow:
    """What is known after an attempt that failed."""
    return replace(row, attempts=row.attempts + 1, error=error, next_ts=next_ts)
