"""Causes: which firing alert explains another one, by the causes that rules name and the relations between objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState
from mqvitals_rules.snapshot import ObjectName

Touches = Callable[[ObjectName, ObjectName], bool | None]
"""Whether a fault of one object can affect another: they are the same or belong together. None: not known."""


class Partners(NamedTuple):
    """Firing alerts of other queue managers that can be causes.

    ``caused_by``: rule -> the rules of ``alerts`` that explain it where its channel leads to their object
    (``leads_to``).
    """

    alerts: tuple[Alert, ...]
    caused_by: Mapping[str, frozenset[str]]
    leads_to: Touches


def explained(
    alerts: Iterable[Alert],
    caused_by: Mapping[str, frozenset[str]],
    touches: Touches,
    partners: Partners | None = None,
) -> dict[AlertKey, AlertKey]:
    """The cause of each firing alert that has one: of the alerts of a rule in ``caused_by`` about an object it
    touches, or of ``partners``.

    While it is not known how two objects belong together, as after a restart, the cause that an alert had before
    remains. Of several the most severe counts, then the one that began first. No alert explains itself in the end:
    where alerts would explain each other in a circle, the most severe of them, then the first, is the one without a
    cause. So it is where several queue managers report the same with one rule.
    """
    firing = [alert for alert in alerts if alert.state is AlertState.FIRING]
    by_rule: dict[str, list[Alert]] = {}
    for alert in firing:
        by_rule.setdefault(alert.key.rule, []).append(alert)
    causes: dict[AlertKey, AlertKey] = {}
    # The most severe come last, so that in a circle the others already lead to them.
    for alert in sorted(firing, key=_weight, reverse=True):
        found = [
            other
            for rule in caused_by.get(alert.key.rule, ())
            for other in by_rule.get(rule, ())
            if other.key != alert.key and _explains(other, alert, touches) and not _leads(other.key, alert.key, causes)
        ]
        if partners is not None and alert.key.rule in partners.caused_by:
            rules = partners.caused_by[alert.key.rule]
            found += [
                other
                for other in partners.alerts
                if other.key.rule in rules
                and other.cause != alert.key
                and (other.key.rule != alert.key.rule or _weight(other) < _weight(alert))
                and _explains(other, alert, partners.leads_to)
            ]
        if found:
            causes[alert.key] = min(found, key=_weight).key
    return causes


def _explains(other: Alert, alert: Alert, touches: Touches) -> bool:
    touching = touches(alert.scope, other.scope)
    return alert.cause == other.key if touching is None else touching


def _weight(alert: Alert) -> tuple[int, int, AlertKey]:
    return -alert.severity, alert.since if alert.started is None else alert.started, alert.key


def _leads(key: AlertKey, to: AlertKey, causes: Mapping[AlertKey, AlertKey]) -> bool:
    while key != to:
        if key not in causes:
            return False
        key = causes[key]
    return True
