"""Decides which receivers are notified about an alert, and why. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity, overshadowed

OPERATIONAL = "operational"
"""The ``kind_of_rule`` of rules that someone must act on; everything else is advice."""

LATE_EFFECT_MS = 1_800_000
"""An effect that begins later than this after its cause is notified: no one may be looking at the cause any more."""


class NotificationStatus(Enum):
    """The state of the alert that a notification reports."""

    FIRING = "firing"
    RESOLVED = "resolved"


class LastNotification(NamedTuple):
    """The last notification about an alert that a receiver got or will get.

    ``number`` grows from one to the next, ``group`` is the key of the group with which it was told (empty: alone).
    ``withheld``: someone muted the alert after an attempt that may have reached the receiver. ``refused``: the receiver
    would not take it, and knows of no alert before.
    """

    status: NotificationStatus
    severity: Severity
    number: int = 0
    group: str = ""
    withheld: bool = False
    refused: bool = False


class DecisionReason(Enum):
    """Why a receiver is notified about an alert, or is not."""

    STARTED = "it fires and the receiver does not know it"
    SEVERITY_CHANGED = "it is of another severity than the receiver knows"
    ENDED = "it has ended and the receiver knows it as firing"
    NEVER_FIRED = "it has never fired"
    ADVICE = "it is advice: on the configuration, on applications, or on the quality of data"
    TOO_MILD = "it is milder than the receiver's min_severity"
    INHIBITED = "another alert stands for it: a worse one of its family for the same object, or its cause"
    ALREADY_SENT = "the receiver knows it in this state and severity"
    NEVER_SENT = "it has ended and the receiver never knew it"
    RESOLVED_NOT_WANTED = "it has ended and the receiver does not want to know"
    MAINTENANCE = "its object is in maintenance"
    SILENCED = "a silence matches it"
    ACKNOWLEDGED = "someone has acknowledged it"
    NO_ROUTE = "no route leads to a receiver"
    ROUTE_MUTED = "its route is muted at this time"
    GROUP_WAITS = "it waits for its group"
    UNMUTED = "it still fires and is no longer muted"
    REPEATED = "it still fires and is repeated"

    @property
    def notifies(self) -> bool:
        """True when the receiver gets a notification."""
        return self in _NOTIFIES

    @property
    def mutes(self) -> bool:
        """True when people asked not to be notified about the alert for a while."""
        return self in _MUTES


_NOTIFIES = frozenset(
    {
        DecisionReason.STARTED,
        DecisionReason.SEVERITY_CHANGED,
        DecisionReason.ENDED,
        DecisionReason.UNMUTED,
        DecisionReason.REPEATED,
    }
)
_MUTES = frozenset({DecisionReason.MAINTENANCE, DecisionReason.SILENCED, DecisionReason.ACKNOWLEDGED})


def reason_for(
    alert: Alert, last: LastNotification | None, *, least: Severity = Severity.INFO, send_resolved: bool = True
) -> DecisionReason:
    """Whether a receiver is notified about an alert; ``last`` is the last notification about it to the receiver.

    ``least`` is the least severity that it wants, and only with INFO it wants advice. An alert that the receiver knows and
    that became too mild for it is not sent again before its end.
    """
    if alert.state is AlertState.RESOLVED:
        if last is None or last.refused:
            return DecisionReason.NEVER_SENT
        if last.status is NotificationStatus.RESOLVED:
            return DecisionReason.ALREADY_SENT
        return DecisionReason.ENDED if send_resolved else DecisionReason.RESOLVED_NOT_WANTED
    if alert.state is not AlertState.FIRING:
        return DecisionReason.NEVER_FIRED
    if alert.kind_of_rule != OPERATIONAL:
        if least is not Severity.INFO:
            return DecisionReason.ADVICE
    elif alert.severity < least:
        return DecisionReason.TOO_MILD
    if last is None or last.withheld:
        return DecisionReason.STARTED
    return DecisionReason.ALREADY_SENT if last.severity is alert.severity else DecisionReason.SEVERITY_CHANGED


def inhibitions(
    firing: Sequence[Alert], ranks: Mapping[str, int], known_since: Callable[[Alert, int], int] | None = None
) -> dict[AlertKey, AlertKey]:
    """Which firing alerts are inhibited, each with the alert that stands for it.

    ``ranks``: rule id -> rank in its family. ``known_since``: (alert, when it began) -> since when people can know of it,
    which is later where maintenance muted it; None: since it began.
    """
    begun = {alert.key: alert.since if alert.started is None else alert.started for alert in firing}
    by_key = {alert.key: alert for alert in firing} if known_since is not None else {}
    late = set()
    for alert in firing:
        if alert.cause is None or alert.cause not in begun:
            continue
        since = begun[alert.cause]
        if begun[alert.key] - since > LATE_EFFECT_MS and known_since is not None:
            since = known_since(by_key[alert.cause], since)
        if begun[alert.key] - since > LATE_EFFECT_MS:
            late.add(alert.key)
    return {key: source for key, source in overshadowed(firing, ranks).items() if key not in late}


def causes_of(alert: Alert, firing: Mapping[AlertKey, Alert]) -> list[AlertKey]:
    """What explains an alert, the nearest first, as far as that fires and nothing between them is milder than the alert.

    What is worse than its cause is a fault of its own, such as a page set that is filled by what is not sent.
    """
    found: list[AlertKey] = []
    cause = alert.cause
    while cause is not None and cause in firing and cause not in found:
        if firing[cause].severity < alert.severity:
            break
        found.append(cause)
        cause = firing[cause].cause
    return found
