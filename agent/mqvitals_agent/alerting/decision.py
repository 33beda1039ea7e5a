"""Decides which receivers are notified about an alert, and why. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from mqvitals_config.receiver import ReceiverSettings
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
    ``withheld``: someone muted the alert after an attempt that may have reached the receiver.
    """

    status: NotificationStatus
    severity: Severity
    number: int = 0
    group: str = ""
    withheld: bool = False


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


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision about an alert (``number`` in the store) and a receiver; None: about all receivers."""

    number: int
    alert: Alert
    receiver: ReceiverSettings | None
    reason: DecisionReason


def decide(
    alerts: Iterable[tuple[int, Alert]],
    receivers: Sequence[ReceiverSettings],
    inhibited: Mapping[AlertKey, AlertKey],
    last_sent: Mapping[tuple[int, str], LastNotification],
) -> list[Decision]:
    """A decision for each numbered alert and receiver, in their order; one alone for an alert that no receiver gets.

    ``inhibited`` is what ``inhibitions`` returns for all firing alerts. ``last_sent`` maps (number of the alert, name
    of the receiver) to the last notification that the receiver knows or will know.
    """
    decisions = []
    wanted = any(map(wants_advice, receivers))
    for number, alert in alerts:
        reason = exclusion(alert, inhibited, advice=wanted)
        if reason is not None:
            decisions.append(Decision(number, alert, None, reason))
            continue
        for receiver in receivers:
            reason = reason_for(alert, last_sent.get((number, receiver.name)), receiver)
            decisions.append(Decision(number, alert, receiver, reason))
    return decisions


def wants_advice(receiver: ReceiverSettings) -> bool:
    """Whether the receiver takes advice too."""
    return receiver.min_severity == "info"


def exclusion(alert: Alert, inhibited: Mapping[AlertKey, AlertKey], *, advice: bool = False) -> DecisionReason | None:
    """Why no receiver is notified about an alert; None when each receiver is decided about by itself.

    ``advice``: there is a receiver that wants it.
    """
    if alert.started is None:
        return DecisionReason.NEVER_FIRED
    if alert.kind_of_rule != OPERATIONAL and not advice:
        return DecisionReason.ADVICE
    # The key alone could mean an incident that ended in the same cycle as the next began.
    if alert.ended is None and alert.key in inhibited:
        return DecisionReason.INHIBITED
    return None


def reason_for(alert: Alert, last: LastNotification | None, receiver: ReceiverSettings) -> DecisionReason:
    """Whether a receiver is notified about an alert; ``last`` is the last notification about it to the receiver.

    An alert that the receiver knows and that became too mild for it is not sent again before its end.
    """
    if alert.state is AlertState.RESOLVED:
        if last is None:
            return DecisionReason.NEVER_SENT
        if last.status is NotificationStatus.RESOLVED:
            return DecisionReason.ALREADY_SENT
        return DecisionReason.ENDED if receiver.send_resolved else DecisionReason.RESOLVED_NOT_WANTED
    if alert.state is not AlertState.FIRING:
        return DecisionReason.NEVER_FIRED
    if alert.kind_of_rule != OPERATIONAL and not wants_advice(receiver):
        return DecisionReason.ADVICE
    if alert.severity < Severity[receiver.min_severity.upper()]:
        return DecisionReason.TOO_MILD
    if last is None or last.withheld:
        return DecisionReason.STARTED
    return DecisionReason.ALREADY_SENT if last.severity is alert.severity else DecisionReason.SEVERITY_CHANGED


def inhibitions(firing: Sequence[Alert], ranks: Mapping[str, int]) -> dict[AlertKey, AlertKey]:
    """Which firing alerts are inhibited, each with the alert that stands for it.

    ``ranks``: rule id -> rank in its family.
    """
    begun = {alert.key: alert.since if alert.started is None else alert.started for alert in firing}
    late = {
        alert.key
        for alert in firing
        if alert.cause is not None and begun[alert.key] - begun.get(alert.cause, begun[alert.key]) > LATE_EFFECT_MS
    }
    return {key: source for key, source in overshadowed(firing, ranks).items() if key not in late}
