"""Alerts in the agent's log: a line when one fires, changes its severity or ends, whether or not there are receivers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mqvitals_agent.journal import Fact, Level
from mqvitals_agent.notify.decision import OPERATIONAL
from mqvitals_agent.notify.payload import fingerprint
from mqvitals_agent.view.alerts import began_ts, duration_words, summary_with_owner
from mqvitals_rules.lifecycle.alert import AlertState, Severity, Transition, Why
from mqvitals_rules.snapshot import Snapshot


class Log(Protocol):
    """Lines about events; ``Journal`` is one."""

    def say(self, event: str, text: str, *, level: Level = "info", **facts: Fact) -> None:
        """Write a line."""
        ...

    def changed(self, key: str, event: str, text: str, *, level: Level = "info", **facts: Fact) -> bool:
        """Write a line when ``text`` differs from the last one for ``key``, and say whether it does.

        An empty text forgets the key, and says whether there was one.
        """
        ...


_LEVELS: dict[Severity, Level] = {Severity.CRITICAL: "error", Severity.WARNING: "warning", Severity.INFO: "info"}


class AlertLog:
    """Writes the visible transitions of operational alerts to a log: what ``Intake`` takes as ``changed``. Never raises.

    Events are ``alert.firing``, ``alert.changed`` (another severity) and ``alert.resolved``; their facts are described in
    docs/agent.md. An alert that another one explains is logged too, with that one as ``cause``: the log keeps everything,
    what is worth a call is decided for receivers.
    """

    def __init__(self, log: Log) -> None:
        self._log = log

    def __call__(self, snapshot: Snapshot, transitions: Sequence[Transition]) -> None:
        """Log the transitions of a snapshot. May be called in any thread that the log allows."""
        for transition in transitions:
            alert = transition.after
            if alert.kind_of_rule != OPERATIONAL or alert.started is None:
                continue
            event, text = _said(transition)
            self._log.say(event, text, level=level_of(transition), **_facts(transition, group=snapshot.group))


def level_of(transition: Transition) -> Level:
    """The level of the line: by the severity while the alert fires, info once it has ended."""
    alert = transition.after
    return "info" if alert.state is AlertState.RESOLVED else _LEVELS[alert.severity]


def _said(transition: Transition) -> tuple[str, str]:
    alert, before = transition.after, transition.before
    about = f"{alert.key.rule} {alert.key.object}"
    if alert.state is AlertState.RESOLVED:
        reason = "" if alert.why is Why.CLEARED else f": {alert.why.value}"
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
        facts["reason"] = alert.why.value
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
