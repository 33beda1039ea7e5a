"""A receiver of another type: its class and settings, and a line in the table of each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.notify import delivery
from mqvitals_agent.notify.delivery import Notifier
from mqvitals_agent.notify.message import WriteMessage
from mqvitals_agent.notify.notification import Notification
from mqvitals_agent.notify.receiver import DeliveryOutcome, DeliveryStatus, send_test_alert
from mqvitals_agent.notify.receivers.webhook import WebhookReceiver
from mqvitals_agent.store.rows.alerts.notification_rows import LONGEST_PAUSE_MS
from mqvitals_config.receivers.http import WebhookSettings
from mqvitals_config.receivers.receiver import ReceiverSettings
from mqvitals_rules.lifecycle.alert import Alert, AlertState

Pool = Callable[..., Alert]
Webhook = Callable[..., WebhookSettings]


LIST: Any = "list"


@dataclass(frozen=True, slots=True)
class ListSettings(ReceiverSettings):
    """Settings of a receiver that appends to a list."""

    type: Any = LIST


@dataclass
class ListReceiver:
    """Fails once, then keeps what it is sent."""

    settings: ReceiverSettings
    now: Callable[[], int]
    outcomes: list[DeliveryOutcome] = field(default_factory=list)
    sent: list[Notification] = field(default_factory=list)
    closed: int = 0

    async def send(self, notification: Notification, /) -> DeliveryOutcome:
        if self.outcomes:
            return self.outcomes.pop(0)
        self.sent.append(notification)
        return DeliveryOutcome(DeliveryStatus.ACCEPTED, "kept")

    def shown(self, notification: Notification, /) -> str:
        return str(notification.key)

    async def aclose(self) -> None:
        self.closed += 1


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[ListReceiver]:
    """The receivers that were made; the type is registered."""
    found: list[ListReceiver] = []

    def make(settings: ReceiverSettings, now: Callable[[], int], _: WriteMessage) -> ListReceiver:
        again = DeliveryOutcome(DeliveryStatus.AGAIN, "not now", LONGEST_PAUSE_MS)
        found.append(ListReceiver(settings, now, [again]))
        return found[-1]

    monkeypatch.setattr(delivery, "RECEIVERS", {**delivery.RECEIVERS, LIST: make})
    return found


async def test_two_types_of_receivers(
    site: Any,
    hook: Any,
    pool: Pool,
    webhook: Webhook,
    settled: Callable[[Any], Awaitable[None]],
    made: list[ListReceiver],
) -> None:
    """Both get the incident, in order, with retries and pauses of their own; in the end both are closed."""
    other = ListSettings(webhook(name="list").name, labels={"site": "north"})
    site.receivers = [webhook(hook.url), other]
    site.change(pool())
    site.change(pool(state=AlertState.RESOLVED))
    notifier = Notifier(site.outbox(), site.clock, lambda _: lambda: 1.0)
    async with site.running(notifier):
        await settled(site)
    (receiver,) = made
    assert receiver.settings is other
    assert [each.status.value for each in receiver.sent] == ["firing", "resolved"]
    assert receiver.sent[0].alerts[0].labels["site"] == "north"
    assert receiver.sent[0].alerts[0].labels["alertname"] == "BP-03"
    assert hook.received == [("firing", "critical"), ("resolved", "critical")]
    assert LONGEST_PAUSE_MS in site.clock.slept
    assert receiver.closed == 1


async def test_the_test_alert_of_another_type(webhook: Webhook) -> None:
    """It goes the same way as a notification, and the receiver is closed."""
    receiver = ListReceiver(webhook(), lambda: 5)
    outcomes = await send_test_alert(receiver, webhook(), 5)
    assert [(status.value, outcome.text) for status, outcome in outcomes] == [("firing", "kept"), ("resolved", "kept")]
    assert [each.alerts[0].labels["test"] for each in receiver.sent] == ["true", "true"]
    assert receiver.closed == 1


async def test_a_webhook_is_what_settings_describe_by_default(webhook: Webhook) -> None:
    """The settings of a configuration file are those of a webhook."""
    clock = VirtualClock(0)
    receiver = delivery.make_receiver(webhook(), clock.now)
    assert isinstance(receiver, WebhookReceiver)
    await receiver.aclose()
