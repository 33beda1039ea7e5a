"""Alerts in order, in words and as JSON, and what the rule of one advises."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.figure import age, clock, day, told_in_zone
from mqvitals_agent.view.alerts.past_words import LATER_WORDS
from mqvitals_rules.instant_context import InstantContext
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, Severity, Standing, Why
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import iso
from mqvitals_rules.vocabulary.metric import Absence, Reported

if TYPE_CHECKING:
    from mqvitals_agent.alerting.labels import Labels
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_rules.ruleset.ruleset import RuleSet

_NO_LABELS: Labels = MappingProxyType({})

UNKNOWN_NOW = "unknown"
"""What stands for the figure of an alert that has none now."""


def worst_first(alerts: Iterable[Alert]) -> list[Alert]:
    """Open alerts before ended ones, then by severity, then the newest first."""
    return sorted(
        alerts, key=lambda alert: (alert.ended is not None, -shown_severity(alert), -began_ts(alert), alert.key)
    )


def grouped_by_cause(alerts: Iterable[Alert], covered: Mapping[AlertKey, AlertKey]) -> list[Alert]:
    """Worst first, and after each open alert those that it covers (``covered``: alert -> the alert that covers it)."""
    listed = worst_first(alerts)
    keys = {alert.key for alert in listed if alert.ended is None}
    under: dict[AlertKey, list[Alert]] = {}
    heads = []
    for alert in listed:
        stands = covered.get(alert.key) if alert.ended is None else None
        if stands in keys and stands != alert.key:
            under.setdefault(stands, []).append(alert)
        else:
            heads.append(alert)
    return [each for alert in heads for each in (alert, *(under.get(alert.key, ()) if alert.ended is None else ()))]


def at_least(alerts: Iterable[Alert], severity: Severity) -> list[Alert]:
    """Those as severe as ``severity``, or worse, at their worst: by the severity that ``alert_json`` gives."""
    return [alert for alert in alerts if alert.worst >= severity]


def summary(alert: Alert) -> str:
    """The summary, its times in the zone that is shown; where a rule has several alerts about one object, it begins
    with the instance."""
    text, instance = told_in_zone(alert.summary, alert.updated), alert.key.instance
    return text if not instance or instance in text else f"{instance}: {text}"


def summary_with_owner(alert: Alert) -> str:
    """The summary with the owner's name, for places where nothing else names it: ``QM01: buffer pool 3: 4 % free``."""
    text, owner = open_summary(alert), alert.key.object.owner
    stands = re.search(rf"(?<![\w./%]){re.escape(owner)}(?![\w./%])", text)
    return text if stands or not owner else f"{owner}: {text}"


def ended_words(alert: Alert) -> str:
    """An ended alert in words: how it ended, after how long, at which value, and its summary."""
    lasting = duration_words(alert, alert.updated)
    if alert.why is Why.CLEARED:
        figures = [f"{alert.value_now} now"] if alert.value_now else []
        figures += [f"{alert.worst_value} at worst"] if alert.worst_value else []
        within = f" ({', '.join(figures)})" if figures else ""
        return f"over after {lasting}{within}; it was: {summary_with_owner(alert)}"
    return f"ended after {lasting}, {alert.why_text}; it was: {summary_with_owner(alert)}"


def full_json(alert: Alert, labels: Labels = _NO_LABELS) -> dict[str, Any]:
    """The object of ``mqvitals alerts list --json --full``: ``alert_json``, and the rule's figure at its worst and
    as it is since the condition no longer holds."""
    return {
        **alert_json(alert, labels),
        "worst_value": alert.worst_value or None,
        "value_now": alert.value_now or None,
    }


def alert_json(alert: Alert, labels: Labels = _NO_LABELS) -> dict[str, Any]:
    """An alert in ``mqvitals status --json`` and ``alerts list --json``; its summary is the one that people read.

    Severity is the worst while it was open, times ISO 8601 in UTC. ``labels`` are those that routes and silences match,
    with the severity as it is now.
    """
    name = alert.key.object
    return {
        "rule": alert.key.rule,
        "severity": alert.worst.name.lower(),
        "state": alert.state.value,
        "queue_manager": name.owner,
        "kind": name.kind,
        "object": str(name),
        "started": iso(began_ts(alert)),
        "ended": None if alert.ended is None else iso(alert.ended),
        "summary": open_summary(alert),
        "labels": dict(labels),
    }


def since_words(ts: int, now: int) -> str:
    """When something began: the time of day, with the date when it is not today."""
    return clock(ts) if day(ts) == day(now) else f"{day(ts)} {clock(ts)[:5]}"


def object_key(alert: Alert) -> str:
    """The whole name of the object that Enter opens: the one that the rule evaluates, or that a command asked."""
    return str(alert.key.object if alert.scope.kind == "agent" else alert.scope)


def shown_severity(alert: Alert) -> Severity:
    """The current severity of an open alert, the worst of an ended one."""
    return alert.severity if alert.ended is None else alert.worst


def began_ts(alert: Alert) -> int:
    """When it started to fire, or for a pending alert when its condition first held; ms UTC."""
    return alert.since if alert.started is None else alert.started


def duration_words(alert: Alert, now: int) -> str:
    """How long it has been, or was, firing."""
    return age((now if alert.ended is None else alert.ended) - began_ts(alert))


def short_summary(alert: Alert) -> str:
    """The summary for use beside the object's name, without that name: ``queue X: depth 7`` is ``depth 7``.

    The mark of words that were said later than the moment shown stays.
    """
    text, name = summary(alert), alert.key.object.name
    mark = LATER_WORDS if text.startswith(LATER_WORDS) else ""
    subject, colon, rest = text.partition(": ")
    return _as_it_stands(alert, f"{mark}{rest}" if colon and rest and name and subject.endswith(f" {name}") else text)


def open_summary(alert: Alert) -> str:
    """The summary of an open alert; when its condition does not hold now, or is unknown, it begins with that."""
    return _as_it_stands(alert, summary(alert))


def _as_it_stands(alert: Alert, text: str) -> str:
    """The summary is that of the last poll at which the condition held; what is now comes first, as its end may be
    cut off."""
    if alert.ended is not None or alert.standing is Standing.HOLDS:
        return text
    now = f"now {alert.value_now or UNKNOWN_NOW}"
    match alert.standing:
        case Standing.UNKNOWN:
            words = now
        case Standing.CLEARING:
            words = f"clearing, {now}" if _has_figure(alert) else "clearing"
        case _:
            words = now if _has_figure(alert) else "no longer so"
    return f"{words}, was: {text}"


def _has_figure(alert: Alert) -> bool:
    return bool(alert.value_now or alert.worst_value)


@dataclass(frozen=True, slots=True)
class AlertAdvice:
    """What to do about an alert: the rule's advice and the MQSC command to type next; either may be empty."""

    text: str = ""
    mqsc: str = ""


def read_advice(reader: StoreReader, alert: Alert, rules: RuleSet) -> AlertAdvice:
    """What the alert's rule advises; empty when it is no longer in force. Raises StoreError."""
    compiled = rules.rule_of(alert)
    if compiled is None:
        return AlertAdvice()
    known: dict[ObjectName, Mapping[str, CurrentValue]] = {}

    def lookup(kind: str, metric: str) -> Reported:
        name = alert.scope if kind == alert.scope.kind else ObjectName(alert.scope.owner, kind)
        if name not in known:
            known[name] = reader.current(name) if reader.has(name) else {}
        latest = known[name].get(metric)
        return Absence.NOT_ASKED if latest is None else latest.value

    context = InstantContext(lookup, alert.updated, alert.scope.name)
    return AlertAdvice(compiled.advise(alert.scope, context), compiled.command(alert.scope, context))
