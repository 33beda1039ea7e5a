"""Each stage of the pipeline by itself, and the decision about one transition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from mqvitals_agent.alerting.decision import DecisionReason, LastNotification, NotificationStatus, reason_for
from mqvitals_agent.alerting.labels import Labeller
from mqvitals_agent.alerting.pipeline import Pipeline, PipelineState
from mqvitals_agent.alerting.routing import every_receiver
from mqvitals_config.receivers.http import WebhookSettings
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity

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
    assert reason_for(pool(state=state, started=1), last, send_resolved=send_resolved) is reason
    assert reason.notifies is (
        reason in (DecisionReason.STARTED, DecisionReason.SEVERITY_CHANGED, DecisionReason.ENDED)
    )


Decided = tuple[int, str, DecisionReason]


def decided(
    alerts: list[tuple[int, Alert]],
    receivers: list[WebhookSettings],
    last: dict[tuple[int, str], LastNotification] | None = None,
    firing: list[Alert] | None = None,
) -> list[Decided]:
    """(number, receiver, reason) of each, in the order of alerts, then receivers, where nothing waits for its group."""
    least = {str(each.name): Severity[each.min_severity.upper()] for each in receivers}
    root = every_receiver(tuple(least), least)
    root = replace(root, routes=tuple(replace(each, wait=0) for each in root.routes))
    pipeline = Pipeline(Labeller(), root, {str(each.name): each for each in receivers}, {})
    fire = firing or [alert for _, alert in alerts if alert.state is FIRING]
    found = pipeline.dispositions(alerts, fire, PipelineState(last=last or {}), 10**13)
    return [(each.number, delivery.receiver, delivery.reason) for each in found for delivery in each.deliveries]


def reasons(webhook: Webhook, alerts: list[Alert], firing: list[Alert] | None = None) -> list[DecisionReason]:
    """The decision about each alert and one receiver."""
    return [reason for _, _, reason in decided(list(enumerate(alerts, 1)), [webhook()], firing=firing)]


def test_what_never_fired_is_left_out(pool: Pool, webhook: Webhook) -> None:
    """A pending alert, and one that ended before it fired."""
    waiting, ended, real = pool(state=PENDING), pool(state=RESOLVED), pool("BP-05", family="", started=1)
    assert reasons(webhook, [waiting, ended, real]) == [
        DecisionReason.NEVER_FIRED,
        DecisionReason.NEVER_FIRED,
        DecisionReason.STARTED,
    ]


def test_advice_is_left_out(pool: Pool, webhook: Webhook) -> None:
    """Only operational rules notify receivers."""
    kinds = ("review", "operational", "application", "data_quality")
    advice, alert = DecisionReason.ADVICE, DecisionReason.STARTED
    alerts = [pool(f"A-{number}", family="", kind_of_rule=kind, started=1) for number, kind in enumerate(kinds)]
    assert reasons(webhook, alerts) == [advice, alert, advice, advice]


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
    known = {} if last is None else {(1, "ops"): last}
    alert = pool(started=1, severity=severity)
    assert decided([(1, alert)], [receiver], known) == [(1, "ops", reason)]
    ended = replace(alert, state=RESOLVED, ended=4)
    assert decided([(1, ended)], [receiver], known) == [
        (1, "ops", DecisionReason.ENDED if last else DecisionReason.NEVER_SENT)
    ]


def test_advice_is_sent_to_who_wants_all(pool: Pool, webhook: Webhook) -> None:
    """Whatever its severity: it is listed, and only a receiver that takes info gets it."""
    receivers = [webhook(name=least, min_severity=least) for least in ("critical", "warning", "info")]
    advice = pool(kind_of_rule="review", started=1, severity=Severity.CRITICAL)
    assert [reason for _, _, reason in decided([(1, advice)], receivers)] == [
        DecisionReason.ADVICE,
        DecisionReason.ADVICE,
        DecisionReason.STARTED,
    ]
    worse = replace(advice, key=AlertKey("BP-99", advice.key.object))
    assert decided([(1, advice)], receivers[2:], firing=[advice, worse]) == [(1, "info", DecisionReason.INHIBITED)]


def test_an_inhibited_alert_is_left_out_while_it_fires(pool: Pool, webhook: Webhook) -> None:
    """Its end is sent like any other: the receiver may have known it before it was inhibited."""
    mild, bad = pool("BP-01", started=1, severity=Severity.WARNING), pool("BP-03", started=1)
    ended = replace(mild, state=RESOLVED, ended=4)
    last = {(3, "ops"): KNOWN}
    assert [reason for _, _, reason in decided([(1, mild), (2, bad), (3, ended)], [webhook()], last)] == [
        DecisionReason.INHIBITED,
        DecisionReason.STARTED,
        DecisionReason.ENDED,
    ]


def test_one_decision_for_each_receiver(pool: Pool, webhook: Webhook) -> None:
    """In the order of alerts, then receivers."""
    receivers = [webhook(name="ops"), webhook(name="chat")]
    found = decided([(1, pool(started=1)), (2, pool(kind_of_rule="review", started=1))], receivers)
    assert found == [
        (1, "ops", DecisionReason.STARTED),
        (1, "chat", DecisionReason.STARTED),
        (2, "ops", DecisionReason.ADVICE),
        (2, "chat", DecisionReason.ADVICE),
    ]


def test_each_receiver_is_judged_by_what_it_was_sent(pool: Pool, webhook: Webhook) -> None:
    """One knows the alert, one knows it milder, one does not know it, of one it was withheld."""
    receivers = [webhook(name=name) for name in ("knows", "milder", "new", "perhaps")]
    firing = LastNotification(NotificationStatus.FIRING, Severity.CRITICAL)
    last_sent = {
        (7, "knows"): firing,
        (7, "milder"): LastNotification(NotificationStatus.FIRING, Severity.WARNING),
        (7, "perhaps"): firing._replace(withheld=True),
        (8, "new"): firing,
    }
    alert = pool(started=1)
    assert [reason for _, _, reason in decided([(7, alert)], receivers, last_sent)] == [
        DecisionReason.ALREADY_SENT,
        DecisionReason.SEVERITY_CHANGED,
        DecisionReason.STARTED,
        DecisionReason.STARTED,
    ]
    ended = replace(alert, state=RESOLVED, ended=4)
    assert [reason for _, _, reason in decided([(7, ended)], receivers, last_sent)] == [
        DecisionReason.ENDED,
        DecisionReason.ENDED,
        DecisionReason.NEVER_SENT,
        DecisionReason.ENDED,
    ]
