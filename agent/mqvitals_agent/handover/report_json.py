"""A handover as plain values for programs: times ISO 8601 in UTC, lengths of time in seconds, figures in their units."""

from __future__ import annotations

import math
from typing import Any

from mqvitals_agent.handover.report import EndedAlerts, Forecast, Handover, Mute, OpenAlert, WorstTrend
from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.view.alerts.actions import audit_json, handling_json
from mqvitals_agent.view.alerts.words import alert_json
from mqvitals_agent.view.history.changes import change_json
from mqvitals_rules.timestamps import iso


def handover_json(report: Handover) -> dict[str, Any]:
    """The object of ``mqvitals report --format json``."""
    quality = report.quality
    return {
        "group": report.group,
        "source": report.origin,
        **_span(report.span),
        "watched": {"rules": report.rules, "objects": report.objects},
        "open": [_open(each) for each in report.opened],
        "ended": [_ended(each) for each in report.ended],
        "muted": [_mute(each) for each in report.mutes],
        "changes": [change_json(each, report.authors.get(each)) for each in report.changes],
        "more_changes": report.more_changes,
        "actions": [audit_json(each) for each in report.actions],
        "more_actions": report.more_actions,
        "trends": [_trend(each) for each in report.trends],
        "forecasts": [_forecast(each, report.span) for each in report.forecasts],
        "quality": {
            "snapshots": dict(quality.snapshots),
            "silent": [_span(gap) for gap in quality.silent],
            "gaps": [{"owner": name, **_span(gap)} for name, gap in quality.gaps],
            "unreachable": [{"owner": name, "polls": count, "of": of} for name, count, of in quality.unreachable],
            "unknown": [
                {"reason": reason.value, "count": count, "rules": list(rules)}
                for reason, count, rules in quality.unknown
            ],
            "remarks": list(quality.remarks),
        },
    }


def _span(span: TimeRange) -> dict[str, str]:
    return {"from": iso(span.since), "to": iso(span.until)}


def _open(each: OpenAlert) -> dict[str, Any]:
    return {
        **alert_json(each.alert),
        "severity_now": each.alert.severity.name.lower(),
        "worst_value": each.alert.worst_value or None,
        **handling_json(each.handling),
        "advice": each.advice.text or None,
        "mqsc": each.advice.mqsc or None,
        "explains": each.explains,
    }


def _ended(each: EndedAlerts) -> dict[str, Any]:
    return {
        **alert_json(each.worst),
        "times": each.times,
        "fired_s": each.fired_ms / 1000,
        "began": iso(each.began),
        "ended": iso(each.ended),
        "worst_value": each.worst_value or None,
        "possible_cause": None
        if each.follows is None
        else {"rule": each.follows.rule, "object": str(each.follows.object)},
        "handled": [handling_json(handling) for handling in each.handled],
    }


def _mute(mute: Mute) -> dict[str, Any]:
    return {"words": mute.words, **_span(mute.span), "hid": [alert_json(alert) for alert in mute.hid]}


def _trend(each: WorstTrend) -> dict[str, Any]:
    return {
        "object": str(each.object),
        "metric": each.metric.name,
        "unit": each.metric.unit,
        "rule": each.rule,
        "limit": each.limit,
        "first": each.start,
        "worst": each.worst,
        "worst_at": iso(each.worst_ts),
        "last": each.last,
        "last_at": iso(each.last_ts),
        "points": [
            [iso(ts), value if value is not None and math.isfinite(value) else None] for ts, value in each.points
        ],
    }


def _forecast(each: Forecast, span: TimeRange) -> dict[str, Any]:
    return {
        "object": str(each.object),
        "metric": each.metric.name,
        "in_s": each.in_ms / 1000,
        "at": iso(span.until + each.in_ms),
        "over_s": each.basis_ms / 1000,
        "now": each.now,
    }
