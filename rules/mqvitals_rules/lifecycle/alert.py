"""Alerts: identity, state and transitions; and which alert of a family stands for the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import NamedTuple

from mqvitals_rules.snapshot import ObjectName


class Severity(IntEnum):
    """The severity of an alert; the worst is the greatest."""

    INFO = 1
    WARNING = 2
    CRITICAL = 3


class AlertState(Enum):
    """A state of the lifecycle of an alert; without an alert the rule is inactive."""

    PENDING = "pending"
    FIRING = "firing"
    RESOLVED = "resolved"


class Why(Enum):
    """The reason of a transition; shown to people and kept."""

    CONDITION_HOLDS = "the condition holds; waiting for the hold"
    HELD = "the condition has held long enough"
    SEVERITY_CHANGED = "the severity changed"
    CONDITION_BROKE = "the condition did not hold long enough"
    CLEARED = "the clear condition held"
    UNKNOWN = "nothing could be known for three polls"
    GONE = "the object no longer exists"
    UNWATCHED = "its queue manager is no longer watched"
    RULE_REMOVED = "the rule is no longer in force"
    TURNED_OFF = "turned off by the settings"


class Standing(Enum):
    """How an open alert stands as of the last poll; only while its condition holds is its summary about now."""

    HOLDS = "the condition holds"
    EASED = "the condition no longer holds, and the clear condition does not hold yet"
    CLEARING = "the clear condition holds, not yet for long enough"
    UNKNOWN = "the condition is unknown"


class AlertKey(NamedTuple):
    """The identity of an alert.

    ``object`` is the object the alert is about; ``instance`` distinguishes several that are about one object (for a
    refused command, the command: ``INQUIRE_ARCHIVE``), else empty.
    """

    rule: str
    object: ObjectName
    instance: str = ""


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert from its first true poll to its end. Times are ms since 1970 UTC.

    ``scope`` is the object the rule looks at (differs from ``key.object`` only where a rule's alert is about another
    object). ``severity`` is now, ``worst`` the worst while it was firing (pending: as if). ``true_polls`` counts the
    polls on which the condition held until it fired, ``good_polls`` those in a row on the clear side since,
    ``unknown_polls`` those in a row that could not be evaluated (negative: so many more are forgiven). ``recent_polls`` has a bit for each of the last known
    polls while it waited, the newest lowest: 1 where the condition held; once it fires only that of the last known
    poll. ``good_since`` is the time of the first of
    ``good_polls``. ``cause`` is the firing alert that explains this one, while it is firing. ``started`` is when it
    began firing, ``since`` when the condition first held. ``value_now`` is its rule's figure
    (``CompiledRule.figure``) in words as of the last poll, when the condition did not hold; empty while it holds,
    since ``summary`` then shows the figure, and while it is unknown. ``worst_value`` is the figure at its worst while it was firing,
    ``worst_number`` the same as a number in the metric's own unit; empty and None where the rule has no figure.
    ``identity`` is when it began firing by the clock of then, where that clock has been corrected since; None:
    ``started`` is that. ``off_reason`` is the site's reason where its settings turned the rule off for the object.
    """

    key: AlertKey
    scope: ObjectName
    kind_of_rule: str
    family: str
    state: AlertState
    severity: Severity
    worst: Severity
    since: int
    updated: int
    summary: str
    started: int | None = None
    ended: int | None = None
    why: Why = Why.CONDITION_HOLDS
    true_polls: int = 0
    good_polls: int = 0
    unknown_polls: int = 0
    recent_polls: int = 1
    good_since: int | None = None
    cause: AlertKey | None = None
    value_now: str = ""
    worst_value: str = ""
    worst_number: float | None = None
    identity: int | None = None
    off_reason: str = ""

    @property
    def standing(self) -> Standing:
        """How it stands as of the last poll. Only with ``HOLDS`` does ``summary`` state values of that poll."""
        if self.unknown_polls:
            return Standing.UNKNOWN
        if self.good_polls:
            return Standing.CLEARING
        return Standing.HOLDS if self.recent_polls & 1 else Standing.EASED

    @property
    def why_text(self) -> str:
        """The reason of its last transition in words, with that of the site."""
        return f"{self.why.value} ({self.off_reason})" if self.off_reason else self.why.value

    @property
    def began_as(self) -> int | None:
        """The beginning by which receivers identify the incident, ms UTC: it never changes."""
        return self.started if self.identity is None else self.identity


@dataclass(frozen=True, slots=True)
class Transition:
    """An alert after a change. ``visible`` is false for internal changes: a counter of polls, another summary."""

    after: Alert
    before: Alert | None
    why: Why

    @property
    def visible(self) -> bool:
        """True when it started firing, changed severity, or ended after firing."""
        if self.after.started is None:
            return False
        return (
            self.before is None
            or self.before.state is not self.after.state
            or self.before.severity is not self.after.severity
        )


def overshadowed(alerts: Iterable[Alert], ranks: Mapping[str, int]) -> dict[AlertKey, AlertKey]:
    """Which firing alerts another one inhibits: alert -> the one that stands for it.

    That is the one of ``stages``, or else the alert that explains it if that is no less severe. Where that one is
    inhibited too, what stands for it stands for both.
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
    """Which firing alerts are milder stages of another's fault: alert -> the worst of its family on the same object.

    The worst is the most severe, then the one of the highest rank (``ranks``: rule id -> rank), then the rule id that
    sorts last. Alerts without a family, and those that are not firing, neither shadow nor are shadowed; nor does
    advice on the configuration hide an operational alert.
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
