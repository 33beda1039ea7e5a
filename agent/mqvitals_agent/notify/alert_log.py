"""Alerts in the agent's log: a line when one fires, changes its severity or ends, also without receivers."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from mqvitals_agent.alerting.action import fingerprint
from mqvitals_agent.alerting.decision import OPERATIONAL
from mqvitals_agent.log import Fact, as_event
from mqvitals_agent.view.alerts.words import began_ts, duration_words, summary_with_owner
from mqvitals_rules.lifecycle.alert import AlertState, Severity, Transition, Why
from mqvitals_rules.snapshot import Snapshot

_LOG = logging.getLogger(__name__)


_LEVELS = {Severity.CRITICAL: logging.ERROR, Severity.WARNING: logging.WARNING, Severity.INFO: logging.INFO}


def log_alerts(snapshot: Snapshot, transitions: Sequence[Transition]) -> None:
    """Log the visible transitions of operational alerts in a snapshot. Never raises; may be called on any thread.

    Events are ``alert.firing``, ``alert.changed`` (another severity) and ``alert.resolved``; docs/agent.md describes
    their facts. An alert that another one explains is logged too, with that one as ``cause``: the log has everything,
    only notifications are inhibited.
    """
    for transition in transitions:
        alert = transition.after
        if alert.kind_of_rule != OPERATIONAL or alert.started is None:
            continue
        event, text = _event_text(transition)
        _LOG.log(level_of(transition), text, extra=as_event(event, **_facts(transition, group=snapshot.group)))


def level_of(transition: Transition) -> int:
    """The level of the record: by severity while the alert fires, INFO once it has ended."""
    alert = transition.after
    return logging.INFO if alert.state is AlertState.RESOLVED else _LEVELS[alert.severity]


def _event_text(transition: Transition) -> tuple[str, str]:
    alert, before = transition.after, transition.before
    about = f"{alert.key.rule} {alert.key.object}"
    if alert.state is AlertState.RESOLVED:
        reason = "" if alert.why is Why.CLEARED else f": {alert.why_text}"
        return "alert.resolved", f"{about} has ended after {duration_words(alert, alert.updated)}{reason}"
    severity = alert.severity.name
    if before is not None and before.state is AlertState.FIRING and before.severity is not alert.severity:
        return "alert.changed", f"{about} is {severity} now, it was {before.severity.name}"
    return "alert.firing", f"{about} fires, {severity}"


def _facts(transition: Transition, *, group: bool) -> dict[str, Fact]:
    alert, before = transition.after, transition.before
    facts: dict[str, Fact] = {"rule": alert.key.rule, "object": str(alert.key.object)}
    if not group:
        facts["queue_manager"] = alert.key.object.owner
    if alert.key.instance:
        facts["instance"] = alert.key.instance
    facts["severity"] = alert.severity.name.lower()
    if alert.state is AlertState.RESOLVED:
        facts["worst"] = alert.worst.name.lower()
        facts["fired_ms"] = max((alert.updated if alert.ended is None else alert.ended) - began_ts(alert), 0)
        facts["reason"] = alert.why_text
    elif before is not None and before.state is AlertState.FIRING and before.severity is not alert.severity:
        facts["before"] = before.severity.name.lower()
    if alert.cause is not None:
        facts["cause"] = f"{alert.cause.rule} {alert.cause.object}"
    facts["fingerprint"] = fingerprint(alert)
    if alert.worst_value:
        facts["worst_value"] = alert.worst_value
    if alert.value_now:
        facts["value_now"] = alert.value_now
    facts["summary"] = summary_with_owner(alert)
    return facts
