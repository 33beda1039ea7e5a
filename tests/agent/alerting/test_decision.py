"""Each stage of the pipeline by itself, and the decision about one transition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from mqvitals_agent.alerting.decision import (
    DecisionReason,
    LastNotification,
    NotificationStatus,
    decide,
    exclusion,
    reason_for,
)
from mqvitals_config.receivers.http import WebhookSettings
from mqvitals_rules.lifecycle.alert import Alert, AlertState, Severity

PENDING, FIRING, RESOLVED = AlertState.PENDING, AlertState.FIRING, AlertState.RESOLVED
Pool = Callable[..., Alert]
Webhook = Callable[..., WebhookSettings]


@pytest.mark.parametrize(
    ("state", "last", "send_resolved", "reason"),
    [
        (FIRING, None, True, DecisionReason.STARTED),
        (FIRING, LastNotification(NotificationStatus.FIRING, Severity.CRITICAL), True, DecisionReason.ALREADY_SENT),
        (FIRING, LastNotification(NotificationStatus.FIRING, Severity.WARNING), True, DecisionReason.SEVERITY_CHANGED),
        (RESOLVED, None, True, DecisionReason.NEVER_SENT),
        (RESOLVED, LastNotification(NotificationStatus.FIRING, Severity.WARNING), True, DecisionReason.ENDED),
        (
            RESOLVED,
            LastNotification(NotificationStatus.FIRING, Severity.WARNING),
            False,
            DecisionReason.RESOLVED_NOT_WANTED,
        ),
        (RESOLVED, LastNotification(NotificationStatus.RESOLVED, Severity.CRITICAL), True, DecisionReason.ALREADY_SENT),
        (PENDING, None, True, DecisionReason.NEVER_FIRED),
    ],
)
def test_the_decision(
    pool: Pool,
    webhook: Webhook,
    state: AlertState,
    last: LastNotification | None,
    send_resolved: bool,
    reason: DecisionReason,
) -> None:
    """By what the receiver knows, and how the alert is."""
    assert reason_for(pool(state=state, started=1), last, webhook(send_resolved=send_resolved)) is reason
    assert reason.notifies is (
        reason in (DecisionReason.STARTED, DecisionReason.SEVERITY_CHANGED, DecisionReason.ENDED)
    )


def reasons(alerts: list[Alert], inhibited: Any = None) -> list[DecisionReason | None]:
    return [exclusion(each, inhibited or {}) for each in alerts]


def test_what_never_fired_is_left_out(pool: Pool) -> None:
    """A pending alert, and one that ended before it fired."""
    waiting, ended, real = pool(state=PENDING), pool(state=RESOLVED), pool(started=1)
    assert reasons([waiting, ended, real]) == [DecisionReason.NEVER_FIRED, DecisionReason.NEVER_FIRED, None]


def test_advice_is_left_out(pool: Pool) -> None:
    """Only operational rules notify receivers."""
    kinds = ("review", "operational", "application", "data_quality")
    advice = DecisionReason.ADVICE
    assert reasons([pool(kind_of_rule=kind, started=1) for kind in kinds]) == [advice, None, advice, advice]


KNOWN = LastNotification(NotificationStatus.FIRING, Severity.WARNING)


@pytest.mark.parametrize(
    ("severity", "last", "least", "reason"),
    [
        (Severity.INFO, None, "warning", DecisionReason.TOO_MILD),
        (Severity.INFO, None, "info", DecisionReason.STARTED),
        (Severity.WARNING, None, "critical", DecisionReason.TOO_MILD),
        (Severity.WARNING, None, "warning", DecisionReason.STARTED),
        (Severity.CRITICAL, None, "critical", DecisionReason.STARTED),
        (Severity.CRITICAL, KNOWN, "warning", DecisionReason.SEVERITY_CHANGED),
        (Severity.INFO, KNOWN, "warning", DecisionReason.TOO_MILD),
        (Severity.INFO, KNOWN, "info", DecisionReason.SEVERITY_CHANGED),
        (Severity.WARNING, KNOWN, "warning", DecisionReason.ALREADY_SENT),
    ],
)
def test_what_is_too_mild_is_not_sent(
    pool: Pool,
    webhook: Webhook,
    severity: Severity,
    last: LastNotification | None,
    least: str,
    reason: DecisionReason,
) -> None:
    """Each receiver by its own setting; one that knows a worse alert gets its end, though it became too mild."""
    receiver = webhook(min_severity=least)
    alert = pool(started=1, severity=severity)
    assert reason_for(alert, last, receiver) is reason
    ended = replace(alert, state=RESOLVED, ended=4)
    assert reason_for(ended, last, receiver) is (DecisionReason.ENDED if last else DecisionReason.NEVER_SENT)


def test_advice_is_sent_to_who_wants_all(pool: Pool, webhook: Webhook) -> None:
    """Whatever its severity: it is listed, and only a receiver that takes info gets it."""
    receivers = [webhook(name=least, min_severity=least) for least in ("critical", "warning", "info")]
    advice = pool(kind_of_rule="review", started=1, severity=Severity.CRITICAL)
    assert [each.reason for each in decide([(1, advice)], receivers, {}, {})] == [
        DecisionReason.ADVICE,
        DecisionReason.ADVICE,
        DecisionReason.STARTED,
    ]
    (one,) = decide([(1, advice)], receivers[:2], {}, {})
    assert (one.receiver, one.reason) == (None, DecisionReason.ADVICE)
    (covered,) = decide([(1, advice)], receivers, {advice.key: advice.key}, {})
    assert covered.reason is DecisionReason.INHIBITED


def test_an_inhibited_alert_is_left_out_while_it_fires(pool: Pool) -> None:
    """Its end is sent like any other: the receiver may have known it before it was inhibited."""
    mild, bad = pool("BP-01", started=1), pool("BP-03", started=1)
    ended = replace(mild, state=RESOLVED, ended=4)
    assert reasons([mild, bad, ended], {mild.key: bad.key}) == [DecisionReason.INHIBITED, None, None]


def test_one_decision_for_each_receiver(pool: Pool, webhook: Webhook) -> None:
    """An excluded alert has one decision, any other as many as there are receivers; in the order of alerts, then receivers."""
    ops, chat = webhook(name="ops"), webhook(name="chat")
    found = decide([(1, pool(started=1)), (2, pool(kind_of_rule="review", started=1))], [ops, chat], {}, {})
    assert [(each.number, each.receiver, each.reason) for each in found] == [
        (1, ops, DecisionReason.STARTED),
        (1, chat, DecisionReason.STARTED),
        (2, None, DecisionReason.ADVICE),
    ]


def test_each_receiver_is_judged_by_what_it_was_sent(pool: Pool, webhook: Webhook) -> None:
    """One knows the alert, one knows it milder, one does not know it."""
    receivers = [webhook(name=name) for name in ("knows", "milder", "new")]
    last_sent = {
        (7, "knows"): LastNotification(NotificationStatus.FIRING, Severity.CRITICAL),
        (7, "milder"): LastNotification(NotificationStatus.FIRING, Severity.WARNING),
        (8, "new"): LastNotification(NotificationStatus.FIRING, Severity.CRITICAL),
    }
    assert [each.reason for each in decide([(7, pool(started=1))], receivers, {}, last_sent)] == [
        DecisionReason.ALREADY_SENT,
        DecisionReason.SEVERITY_CHANGED,
        DecisionReason.STARTED,
    ]


def test_the_first_reason_for_exclusion_counts(pool: Pool, webhook: Webhook) -> None:
    """That an alert never fired comes before what kind it is, and that before what stands for it; one decision for all."""
    covered = {pool().key: pool("BP-01").key}
    pending, advice = pool(state=PENDING, kind_of_rule="review"), pool(started=1, kind_of_rule="review")
    found = decide([(1, pending), (2, advice), (3, pool(started=1))], [webhook()], covered, {})
    assert [(each.receiver, each.reason) for each in found] == [
        (None, DecisionReason.NEVER_FIRED),
        (None, DecisionReason.ADVICE),
        (None, DecisionReason.INHIBITED),
    ]
