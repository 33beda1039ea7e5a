"""Families: rules that describe stages of one trouble, of which only the worst is to be notified."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState
from mqvitals_rules.snapshot import ObjectName


def overshadowed(alerts: Iterable[Alert], ranks: Mapping[str, int]) -> dict[AlertKey, AlertKey]:
    """Which firing alerts a worse member of their family on the same object makes superfluous: alert -> the one that stands for it.

    The worst is the most severe, then the one of the highest rank (``ranks``: rule id -> rank), then the rule id that sorts last.
    Alerts without a family, and those that are not firing, neither shadow nor are shadowed; nor does advice on the
    configuration hide an operational alert.
    """
    families: dict[tuple[str, str, ObjectName], list[Alert]] = {}
    for alert in alerts:
        if alert.family and alert.state is AlertState.FIRING:
            families.setdefault((alert.family, alert.kind_of_rule, alert.scope), []).append(alert)
    shadows: dict[AlertKey, AlertKey] = {}
    for members in families.values():
        worst = max(members, key=lambda alert: (alert.severity, ranks.get(alert.key.rule, 0), alert.key.rule))
        shadows.update((alert.key, worst.key) for alert in members if alert is not worst)
    return shadows
