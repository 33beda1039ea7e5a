"""One step in the lifecycle of an alert: inactive, pending, firing, kept firing, resolved. Pure; time is a parameter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity, Transition, Why
from mqvitals_rules.snapshot import ObjectName

UNKNOWN_POLLS = 3
"""After this many polls in a row without a verdict an alert ends as unknown."""


@dataclass(frozen=True, slots=True)
class HoldPolicy:
    """How long a condition must hold before the alert fires, and how many good polls end it.

    ``hold_ms`` set: the condition must have held since at least so many ms; else on ``hold_polls`` polls in a row, or
    of the last ``hold_of``. ``clear_ms`` set: the good polls must go back at least so many ms, however many they are.
    An unknown poll counts for neither side.
    """

    hold_polls: int = 1
    hold_ms: int | None = None
    clear_polls: int = 3
    hold_of: int | None = None
    clear_ms: int | None = None


class Measured(NamedTuple):
    """A rule's figure as of one poll: in words with its unit, and as a number where it is one.

    ``low_is_bad``: whether low values are the worse ones; None: neither (a state, a text).
    """

    words: str
    number: float | None = None
    low_is_bad: bool | None = None


class Verdict(NamedTuple):
    """The result of one poll: whether the condition and the clear condition hold, the severity (None: unknown), the
    summary.

    ``clear`` and ``severity`` count only for an alert that exists or begins. ``measured`` is None when the rule has no
    figure, or it is absent.
    """

    holds: bool | None
    clear: bool | None
    severity: Severity | None
    summary: str
    measured: Measured | None = None


class AlertIdentity(NamedTuple):
    """The part of an alert that never changes."""

    key: AlertKey
    scope: ObjectName
    kind_of_rule: str
    family: str


def begin(
    identity: AlertIdentity,
    policy: HoldPolicy,
    severity: Severity,
    summary: str,
    now: int,
    measured: Measured | None = None,
) -> Transition:
    """A new alert as its condition holds: pending, or firing at once without a hold."""
    alert = Alert(
        key=identity.key,
        scope=identity.scope,
        kind_of_rule=identity.kind_of_rule,
        family=identity.family,
        state=AlertState.PENDING,
        severity=severity,
        worst=severity,
        since=now,
        updated=now,
        summary=summary,
        true_polls=1,
        worst_value="" if measured is None else measured.words,
        worst_number=None if measured is None else measured.number,
    )
    if _held(alert, policy, now):
        alert = _fire(alert, now)
    return Transition(alert, None, alert.why)


def step(alert: Alert, policy: HoldPolicy, verdict: Verdict, now: int) -> Transition | None:
    """Carry an open alert (pending or firing) over one poll; None when nothing about it changed.

    Unknown neither holds nor breaks a hold, and does not count as good; after three such polls in a row the alert
    ends as unknown. A firing alert whose condition no longer holds goes on firing until its clear condition has held
    long enough.
    """
    if verdict.holds is None:
        after = _unknown(alert, now)
    elif alert.state is AlertState.PENDING:
        after = _pending(alert, policy, verdict, now)
    else:
        after = _firing(alert, policy, verdict, now)
    return None if after is alert else Transition(after, alert, after.why)


def restated(alert: Alert, verdict: Verdict, now: int) -> Transition | None:
    """What a firing alert says at a poll that its rule does not count; None when nothing about it changed.

    The alert states the values of now, or that its condition no longer holds or is unknown. It neither ends nor
    changes its severity; no poll is counted, but one on which the condition holds ends a row of good polls, and
    one with a verdict a row of unknown ones.
    """
    if verdict.holds is None:
        after = _changed(alert, now, unknown_polls=alert.unknown_polls or 1, value_now="")
    elif verdict.holds:
        after = _changed(
            alert,
            now,
            good_polls=0,
            good_since=None,
            unknown_polls=0,
            recent_polls=1,
            summary=verdict.summary,
            value_now="",
        )
    else:
        after = _changed(alert, now, unknown_polls=0, recent_polls=0, value_now=_now(verdict))
    return None if after is alert else Transition(after, alert, after.why)


def forgiven(alert: Alert, polls: int) -> Alert:
    """An open alert that so many polls without a verdict do not bring nearer to its end as unknown.

    For an agent that goes on with it where another one polled: it lacks the history that rules look back on.
    """
    return replace(alert, unknown_polls=min(alert.unknown_polls, -polls)) if polls > 0 else alert


def end(alert: Alert, why: Why, now: int, off_reason: str = "") -> Transition:
    """End an open alert for a reason outside its conditions: the object is gone, the rule is no longer in force."""
    return Transition(replace(_ended(alert, why, now), off_reason=off_reason), alert, why)


def shifted(alert: Alert, by_ms: int, since: int) -> Alert:
    """An open alert as of a clock that was corrected by ``by_ms``: its holds go by the time that has elapsed.

    One that fires began at another time too, unless that was before ``since`` (ms UTC), by another clock. It stays
    the same incident: ``identity`` keeps the beginning by which it is known.
    """
    good = None if alert.good_since is None else max(alert.good_since + by_ms, 1)
    if alert.started is None:
        return replace(alert, since=max(alert.since + by_ms, 1), good_since=good)
    if alert.started < since:
        return replace(alert, good_since=good)
    return replace(
        alert,
        since=max(alert.since + by_ms, 1),
        started=max(alert.started + by_ms, 1),
        updated=max(alert.updated + by_ms, 1),
        good_since=good,
        identity=alert.began_as,
    )


def _held(alert: Alert, policy: HoldPolicy, now: int) -> bool:
    if policy.hold_ms is not None:
        return now - alert.since >= policy.hold_ms
    return alert.true_polls >= policy.hold_polls


def _cleared(alert: Alert, policy: HoldPolicy, now: int) -> bool:
    if policy.clear_ms is not None:
        return alert.good_since is not None and now - alert.good_since >= policy.clear_ms
    return alert.good_polls >= policy.clear_polls


def _fire(alert: Alert, now: int) -> Alert:
    return replace(alert, state=AlertState.FIRING, started=now, updated=now, why=Why.HELD)


def _ended(alert: Alert, why: Why, now: int) -> Alert:
    return replace(alert, state=AlertState.RESOLVED, ended=now, updated=now, why=why, cause=None)


def _changed(alert: Alert, now: int, **changes: Any) -> Alert:
    """The alert with these fields as of ``now``; itself where none of them is another.

    A copy takes longer than a comparison.
    """
    if all(getattr(alert, name) == value for name, value in changes.items()):
        return alert
    return replace(alert, **changes, updated=now)


def _unknown(alert: Alert, now: int) -> Alert:
    after = _changed(alert, now, unknown_polls=alert.unknown_polls + 1, value_now="")
    return _ended(after, Why.UNKNOWN, now) if after.unknown_polls >= UNKNOWN_POLLS else after


def _pending(alert: Alert, policy: HoldPolicy, verdict: Verdict, now: int) -> Alert:
    recent = alert.recent_polls << 1 | bool(verdict.holds)
    if policy.hold_of is not None:
        recent &= (1 << policy.hold_of) - 1
    else:
        recent &= 1
    if not verdict.holds:
        if not recent:
            return _ended(replace(alert, true_polls=0, unknown_polls=0, recent_polls=0), Why.CONDITION_BROKE, now)
        return _changed(alert, now, true_polls=recent.bit_count(), unknown_polls=0, recent_polls=recent)
    severity = alert.severity if verdict.severity is None else verdict.severity
    measured = verdict.measured
    after = _changed(
        alert,
        now,
        true_polls=alert.true_polls + 1 if policy.hold_of is None else recent.bit_count(),
        recent_polls=recent,
        unknown_polls=0,
        severity=severity,
        # The worst while firing: what it was while it waited does not count.
        worst=severity,
        worst_value="" if measured is None else measured.words,
        worst_number=None if measured is None else measured.number,
        summary=verdict.summary,
    )
    return _fire(after, now) if _held(after, policy, now) else after


def _firing(alert: Alert, policy: HoldPolicy, verdict: Verdict, now: int) -> Alert:
    if not verdict.holds and verdict.clear:
        good = alert.good_polls + 1
        since = now if alert.good_since is None else alert.good_since
        after = _changed(
            alert, now, good_polls=good, good_since=since, unknown_polls=0, recent_polls=0, value_now=_now(verdict)
        )
        return _ended(after, Why.CLEARED, now) if _cleared(after, policy, now) else after
    severity = alert.severity if verdict.severity is None else verdict.severity
    # A clear condition that cannot be evaluated is unknown: the good polls before it still count.
    unclear = not verdict.holds and verdict.clear is None
    worst_value, worst_number = _worst(alert, severity, verdict)
    return _changed(
        alert,
        now,
        good_polls=alert.good_polls if unclear else 0,
        good_since=alert.good_since if unclear else None,
        unknown_polls=0,
        recent_polls=int(verdict.holds is True),
        severity=severity,
        worst=max(alert.worst, severity),
        # The summary stays that of the last poll on which the condition held: once it is over it shows how bad it was.
        summary=verdict.summary if verdict.holds else alert.summary,
        why=alert.why if severity is alert.severity else Why.SEVERITY_CHANGED,
        value_now="" if verdict.holds else _now(verdict),
        worst_value=worst_value,
        worst_number=worst_number,
    )


def _now(verdict: Verdict) -> str:
    return "" if verdict.measured is None else verdict.measured.words


def _worst(alert: Alert, severity: Severity, verdict: Verdict) -> tuple[str, float | None]:
    """The worse one of the figure before and of now; where no side is worse, that of the first poll of the
    worst severity.
    """
    measured = verdict.measured
    before = alert.worst_value, alert.worst_number
    if measured is None or not verdict.holds:
        return before
    if not alert.worst_value:
        return measured.words, measured.number
    if measured.low_is_bad is None or measured.number is None or alert.worst_number is None:
        return (measured.words, measured.number) if severity > alert.worst else before
    worse = measured.number < alert.worst_number if measured.low_is_bad else measured.number > alert.worst_number
    return (measured.words, measured.number) if worse else before
