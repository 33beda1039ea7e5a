"""Which alerts another one stands for: stages of one trouble, of which only the worst is to be notified, and what it brings about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState
from mqvitals_rules.snapshot import ObjectName


def overshadowed(alerts: Iterable[Alert], ranks: Mapping[str, int]) -> dict[AlertKey, AlertKey]:
    """Which firing alerts another one makes superfluous: alert -> the one that stands for it.

    That is what ``stages`` says, or else the alert that explains it if that is no less severe. Where that one is superfluous too, what
    stands for it stands for both.
    """
    listed = list(alerts)
    shadows = stages(listed, ranks)
    firing = {alert.key: alert for alert in listed if alert.state is AlertState.FIRING}
    for key, alert in firing.items():
        cause = None if alert.cause is None else firing.get(alert.cause)
        if cause is not None and key not in shadows and cause.severity >= alert.severity:
            shadows[key] = cause.key
    return {key: _last(key, shadows) for key in shadows}


def stages(alerts: Iterable[Alert], ranks: Mapping[str, int]) -> dict[AlertKey, AlertKey]:
    """Which firing alerts are milder stages of another one's trouble: alert -> the worst member of its family on the same object.

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


def _last(key: AlertKey, shadows: Mapping[AlertKey, AlertKey]) -> AlertKey:
    seen = {key}
    while key in shadows and shadows[key] not in seen:
        key = shadows[key]
        seen.add(key)
    return key
