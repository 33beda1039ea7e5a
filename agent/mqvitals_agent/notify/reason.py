"""Why a receiver is told of an alert, or is not."""

from __future__ import annotations

from enum import Enum

from mqvitals_agent.store.notice_row import NoticeStatus, Told
from mqvitals_rules.lifecycle.alert import Alert, AlertState


class Reason(Enum):
    """What was decided about a transition and a receiver; kept with the candidate, so that it can be asked."""

    OPEN = "not decided yet"
    STARTED = "it fires and the receiver does not know it"
    SEVERITY_CHANGED = "it is of another severity than the receiver knows"
    ENDED = "it has ended and the receiver knows it as firing"
    NEVER_FIRED = "it has never fired"
    ADVICE = "it is advice: on the configuration, on applications, or on what data are worth"
    COVERED = "another alert stands for it: a worse one of its family for the same object, or what explains it"
    ALREADY_TOLD = "the receiver knows it just so"
    NEVER_TOLD = "it has ended and the receiver was never told of it"
    RESOLVED_NOT_WANTED = "it has ended and the receiver does not want to know"

    @property
    def told(self) -> bool:
        """True when the receiver gets a notice."""
        return self in _TOLD


_TOLD = frozenset({Reason.STARTED, Reason.SEVERITY_CHANGED, Reason.ENDED})


def decide(alert: Alert, told: Told | None, *, send_resolved: bool) -> Reason:
    """Whether a receiver is to be told of an alert as it is now; ``told`` is the last it was told about this alert."""
    if alert.state is AlertState.RESOLVED:
        if told is None:
            return Reason.NEVER_TOLD
        if told.status is NoticeStatus.RESOLVED:
            return Reason.ALREADY_TOLD
        return Reason.ENDED if send_resolved else Reason.RESOLVED_NOT_WANTED
    if alert.state is not AlertState.FIRING:
        return Reason.NEVER_FIRED
    if told is None:
        return Reason.STARTED
    return Reason.ALREADY_TOLD if told.severity is alert.severity else Reason.SEVERITY_CHANGED
