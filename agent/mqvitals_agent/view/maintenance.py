"""Maintenance windows in words and as JSON: those that are on, and the next ones."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Any, Final

from mqvitals_agent.alerting.calendar import DAY_MS
from mqvitals_agent.alerting.maintenance import MaintenanceSpan, MaintenanceWindow, SiteCalendar, spans_of
from mqvitals_agent.text.figure import age
from mqvitals_agent.text.styled import Line, Tone, line, wrapped
from mqvitals_agent.text.terminal import safe
from mqvitals_rules.timestamps import iso

DAYS_AHEAD: Final = 14
"""So many days ahead windows are shown, unless more are asked for."""


def maintenance_spans(calendar: SiteCalendar, now: int, days: int = DAYS_AHEAD) -> list[MaintenanceSpan]:
    """The windows that are on at ``now`` (ms UTC) and those that begin in the next days, the first one first.

    ``alerting.configured.calendar_of(settings)`` makes the calendar.
    """
    return spans_of(calendar.windows, now, now + days * DAY_MS)


def maintenance_lines(spans: Sequence[MaintenanceSpan], now: int, width: int) -> list[Line]:
    """Windows in lines: name, times by the wall clock of their zone, what they are about, why. Those that are on are bold.

    ``spans`` are as of ``maintenance_spans``, ``now`` is ms UTC, ``width`` is in cells. Without any it is one line.
    """
    found: list[Line] = []
    for each in spans:
        on = each.span.start <= now
        found += wrapped(
            f"{safe(each.name)}: {when_text(each, now)}",
            width,
            Tone.STRONG if on else Tone.PLAIN,
            first="now   " if on else "next  ",
            rest=" " * 8,
        )
        for window in each.windows:
            text = f"{safe(window.objects_text())}: {safe(window.reason)}"
            found += wrapped(text, width, Tone.FAINT, first=" " * 6, rest=" " * 8)
    return found or [line("no maintenance is planned for this time")]


def when_text(each: MaintenanceSpan, now: int) -> str:
    """``until Mon 2026-11-23 06:00 CET, for 3 h 0 m``, or from when until when and how long before it begins."""
    start, end = (_moment(moment, each.zone) for moment in each.span)
    if each.span.start <= now:
        return f"until {end}, for {age(each.span.end - now)}"
    return f"{start} to {end}, in {age(each.span.start - now)}"


def maintenance_json(each: MaintenanceSpan, now: int) -> dict[str, Any]:
    """A window in ``mqvitals maintenance list --json``."""
    return {
        "name": each.name,
        "on": each.span.start <= now < each.span.end,
        "starts": iso(each.span.start),
        "ends": iso(each.span.end),
        "local_starts": datetime.fromtimestamp(each.span.start // 1000, each.zone).isoformat(),
        "local_ends": datetime.fromtimestamp(each.span.end // 1000, each.zone).isoformat(),
        "time_zone": str(each.zone),
        "entries": [window_json(window) for window in each.windows],
    }


def window_json(window: MaintenanceWindow) -> dict[str, Any]:
    """What an entry is about, and why."""
    return {
        "reason": window.reason,
        "planned_down": window.planned_down,
        "queue_managers": [each.text.removesuffix("/*") for each in window.queue_managers],
        "objects": [each.text for each in window.objects],
        "matchers": [str(each) for each in window.matchers],
    }


def _moment(ts: int, zone: tzinfo) -> str:
    there = datetime.fromtimestamp(ts // 1000, zone)
    return f"{there:%a %Y-%m-%d %H:%M} {there.tzname() or ''}".rstrip()
