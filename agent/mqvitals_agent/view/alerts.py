"""Alerts as lists and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mqvitals_agent.view.figure import age, clock, day
from mqvitals_agent.view.paint import Painter
from mqvitals_agent.view.severity import WIDEST, Health, health_of
from mqvitals_agent.view.text import cells, fit, safe, wrap
from mqvitals_rules.lifecycle.alert import Alert, AlertState, Severity
from mqvitals_rules.moment import iso

INDENT = 4
DAY_MS = 86_400_000


def worst_first(alerts: Iterable[Alert]) -> list[Alert]:
    """Open alerts before ended ones, then by severity, then the newest first."""
    return sorted(
        alerts, key=lambda alert: (alert.ended is not None, -_shown_severity(alert), -_begin(alert), alert.key)
    )


def at_least(alerts: Iterable[Alert], severity: Severity) -> list[Alert]:
    """Those as severe as ``severity``, or worse, at their worst."""
    return [alert for alert in alerts if alert.worst >= severity]


def summary(alert: Alert) -> str:
    """What is wrong, in words; of several alerts about one object it says which one it is."""
    instance = alert.key.instance
    if not instance or instance in alert.summary:
        return alert.summary
    return f"{instance}: {alert.summary}"


def as_json(alert: Alert) -> dict[str, Any]:
    """The object of ``mqvitals alerts list --json``. Severity is the worst while it was open, times ISO 8601 in UTC."""
    name = alert.key.object
    return {
        "rule": alert.key.rule,
        "severity": alert.worst.name.lower(),
        "state": alert.state.value,
        "queue_manager": name.owner,
        "kind": name.kind,
        "object": str(name),
        "started": iso(_begin(alert)),
        "ended": None if alert.ended is None else iso(alert.ended),
        "summary": summary(alert),
    }


def since(ts: int, now: int) -> str:
    """When something began: the time of day, with the date when that is another day's."""
    return clock(ts) if day(ts) == day(now) else f"{day(ts)} {clock(ts)[:5]}"


def entry(alert: Alert, now: int, width: int, painter: Painter, note: str = "") -> list[str]:
    """One alert as lines: how bad, for how long, since when, which rule, on what; then its summary.

    ``note`` is added to the first line.
    """
    health = health_of(_shown_severity(alert))
    begin, end = _begin(alert), alert.ended
    lasted = age((now if end is None else end) - begin)
    when = (
        f"since {since(begin, now)}"
        if end is None
        else f"{since(begin, now)} - {since(end, now)} {_STATES[alert.state]}"
    )
    head = f"{fit(str(health), WIDEST)}  {lasted:<9}  {when}  {safe(alert.key.rule)}"
    name = safe(str(alert.key.object))
    rest = " " * INDENT
    words = f"{name} {note}".rstrip()
    if cells(head) + 2 + cells(name) <= width:
        lines = wrap(words, width, first=f"{head}  ", rest=rest)
    else:
        # The sign stays whole however narrow it is: it is what colour and eye look for.
        heads = [head] if cells(head) <= width else wrap(head[WIDEST:], width, first=head[:WIDEST] + " ", rest=rest)
        lines = [*heads, *wrap(words, width, first=rest, rest=rest)]
    if end is None:
        lines[0] = painter.line(lines[0], health)
    return [*lines, *wrap(safe(summary(alert)), width, first=rest, rest=rest)]


def listing(alerts: Sequence[Alert], now: int, width: int, painter: Painter) -> list[str]:
    """The lines of ``mqvitals alerts list``."""
    if not alerts:
        return [painter.line(f"{Health.OK}  no alerts", Health.OK)]
    return [line for alert in worst_first(alerts) for line in entry(alert, now, width, painter)]


_STATES = {AlertState.RESOLVED: "ended", AlertState.FIRING: "", AlertState.PENDING: "waiting"}


def _shown_severity(alert: Alert) -> Severity:
    """As it is while open; what it was at worst when it is over."""
    return alert.severity if alert.ended is None else alert.worst


def _begin(alert: Alert) -> int:
    return alert.since if alert.started is None else alert.started
