"""What silences and maintenance windows hid in the time of a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mqvitals_agent.alerting.action import Silence
from mqvitals_agent.alerting.labels import Labeller
from mqvitals_agent.alerting.maintenance import MaintenanceWindow, SiteCalendar, ValueOf, leads_to, spans_of
from mqvitals_agent.handover.report import Mute
from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.view.alerts.words import began_ts, worst_first
from mqvitals_config.sections.matcher import matchers_text
from mqvitals_rules.lifecycle.alert import Alert, AlertKey


def silence_mutes(
    silences: Sequence[Silence], alerts: Sequence[Alert], labeller: Labeller, span: TimeRange
) -> Iterator[Mute]:
    """The silences in force at some time of ``span``, the newest first."""
    for silence in sorted(silences, key=lambda each: (-each.starts, -each.id)):
        shown = TimeRange(max(silence.starts, span.since), min(silence.ends, span.until))
        if shown.since < shown.until:
            hid = [alert for alert in alerts if _fires_in(alert, shown) and silence.matches(labeller.labels_of(alert))]
            words = f"silence {silence.id} by {silence.author}, {matchers_text(silence.matchers)}: {silence.reason}"
            yield Mute(words, shown, tuple(worst_first(hid)))


def maintenance_mutes(
    calendar: SiteCalendar, alerts: Sequence[Alert], labeller: Labeller, span: TimeRange, value_of: ValueOf
) -> Iterator[Mute]:
    """The maintenance windows in ``span``, in the order in which they began. ``value_of`` is as of now."""
    for each in spans_of(calendar.windows, span.since, span.until):
        shown = TimeRange(max(each.span.start, span.since), min(each.span.end, span.until))
        hid = [
            alert for alert in alerts if _fires_in(alert, shown) and _is_meant(alert, each.windows, labeller, value_of)
        ]
        reasons = "; ".join(dict.fromkeys(window.reason for window in each.windows))
        about = "; ".join(dict.fromkeys(window.about_text for window in each.windows))
        yield Mute(f"maintenance '{each.name}', {about}: {reasons}", shown, tuple(worst_first(hid)))


def _is_meant(alert: Alert, windows: Sequence[MaintenanceWindow], labeller: Labeller, value_of: ValueOf) -> bool:
    """Whether a window is about an alert, or a queue manager to which it leads is down as planned."""
    labels, groups = labeller.labels_of(alert), labeller.groups
    if any(window.covers(alert.key.object, labels, groups) for window in windows):
        return True
    if not any(window.planned_down for window in windows):
        return False
    owners = leads_to(alert, _causes(alert), value_of)
    return any(window.down_of(owners, groups) is not None for window in windows)


def _causes(alert: Alert) -> tuple[AlertKey, ...]:
    return () if alert.cause is None else (alert.cause,)


def _fires_in(alert: Alert, span: TimeRange) -> bool:
    return began_ts(alert) < span.until and (alert.ended is None or alert.ended > span.since)
