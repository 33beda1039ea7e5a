"""Maintenance windows in words and as JSON: those that are on, and the next ones."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mqvitals_agent.alerting.decision import causes_of
from mqvitals_agent.alerting.labels import Labeller
from mqvitals_agent.alerting.maintenance import MaintenanceSpan, MaintenanceWindow, Muting, SiteCalendar, spans_of
from mqvitals_agent.alerting.routing import Route
from mqvitals_agent.text.figure import age
from mqvitals_agent.text.styled import Line, Tone, line, wrapped
from mqvitals_agent.text.terminal import safe
from mqvitals_agent.view.alerts.dispositions import value_in
from mqvitals_rules.lifecycle.alert import AlertState
from mqvitals_rules.timestamps import DAY_MS, iso

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.store.rows.alerts.alert_rows import StoredAlert

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
            first="on    " if on else "next  ",
            rest=" " * 8,
        )
        for window in each.windows:
            text = f"{safe(window.about_text)}: {safe(window.reason)}"
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


class MutedAlert(NamedTuple):
    """An alert that fires, and what mutes it at a time; None: nothing."""

    stored: StoredAlert
    muting: Muting | None


def read_muted(reader: StoreReader, calendar: SiteCalendar, labeller: Labeller, at: int) -> list[MutedAlert]:
    """The operational alerts of a store that fire, and what maintenance would mute at ``at`` (ms UTC). Raises StoreError."""
    alerts = [each for each in reader.alerts(review=False) if each.alert.state is AlertState.FIRING]
    firing = {each.alert.key: each.alert for each in alerts}
    value_of = partial(value_in, reader)
    return [
        MutedAlert(
            each,
            calendar.muted(
                each.alert,
                labeller.labels_of(each.alert),
                causes_of(each.alert, firing),
                at,
                labeller.groups,
                value_of,
            ),
        )
        for each in alerts
    ]


def mutings(reader: StoreReader, calendar: SiteCalendar, labeller: Labeller, now: int) -> dict[int, Muting]:
    """What maintenance mutes at ``now`` (ms UTC), by the numbers of the alerts in the store. Raises StoreError."""
    if not calendar.active(now):
        return {}
    found = read_muted(reader, calendar, labeller, now)
    return {each.stored.id: each.muting for each in found if each.muting is not None}


def muted_lines(
    at: int,
    zone: tzinfo,
    spans: Sequence[MaintenanceSpan],
    routes: Sequence[tuple[Route, str]],
    alerts: Sequence[MutedAlert] | None,
    width: int,
) -> list[Line]:
    """What is muted at ``at`` (ms UTC): windows, routes, and which of the alerts that fire now; None: no store is known."""
    lines = [line(_moment(at, zone), Tone.STRONG)]
    lines += maintenance_lines(spans, at, width) if spans else [line("no maintenance window is on")]
    for route, text in routes:
        lines += wrapped(safe(f"{text}: {route.receiver} is not notified from there"), width, rest="  ")
    if alerts is None:
        return [*lines, *wrapped("(No store is named, so the alerts that fire now are not looked at.)", width)]
    muted = [(each.stored, each.muting) for each in alerts if each.muting is not None]
    lines += wrapped(f"alerts that fire now: {len(alerts)}; of these maintenance would mute {len(muted)}", width)
    for stored, muting in muted:
        alert = stored.alert
        head = f"#{stored.id} {alert.key.rule} {alert.severity.name} {alert.key.object}: {muting.text(at)}"
        lines += wrapped(safe(head), width, first="  ", rest="    ")
    return lines


def muted_json(
    at: int,
    spans: Sequence[MaintenanceSpan],
    routes: Sequence[tuple[Route, str]],
    alerts: Sequence[MutedAlert] | None,
) -> dict[str, Any]:
    """The same for programs; ``alerts`` are null where no store is known."""
    return {
        "at": iso(at),
        "windows": [maintenance_json(each, at) for each in spans],
        "routes": [{"route": route.path, "receiver": route.receiver, "text": text} for route, text in routes],
        "alerts": None
        if alerts is None
        else [
            {
                "id": each.stored.id,
                "rule": each.stored.alert.key.rule,
                "object": str(each.stored.alert.key.object),
                "severity": each.stored.alert.severity.name.lower(),
                "muted_by": None if each.muting is None else each.muting.window.name,
                "until": None if each.muting is None else iso(each.muting.end),
                "why": None if each.muting is None else each.muting.why,
            }
            for each in alerts
        ],
    }


def _moment(ts: int, zone: tzinfo) -> str:
    there = datetime.fromtimestamp(ts // 1000, zone)
    return f"{there:%a %Y-%m-%d %H:%M} {there.tzname() or ''}".rstrip()
