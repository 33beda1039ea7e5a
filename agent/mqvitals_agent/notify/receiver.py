"""What every receiver of notifications implements, and the test alert of ``mqvitals alerts test``.

A new type of receiver is one module in ``receivers/`` with a class like ``NotificationReceiver`` and a line in
``delivery.RECEIVERS``, and its settings in ``mqvitals_config.receivers``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from hashlib import blake2b
from typing import Protocol

from mqvitals_agent.alerting.decision import NotificationStatus
from mqvitals_agent.notify.notification import Notification, NotifiedAlert, notification_of_one
from mqvitals_config.receivers.receiver import ReceiverSettings


class DeliveryStatus(Enum):
    """Whether a notification is delivered."""

    ACCEPTED = "accepted"
    REFUSED = "refused"  # the receiver rejects this notification; it may accept others
    AGAIN = "try again"


@dataclass(frozen=True, slots=True)
class DeliveryOutcome:
    """The result of one attempt: ``text`` on one line for people, ``retry_after_ms`` as the receiver requested it."""

    status: DeliveryStatus
    text: str
    retry_after_ms: int | None = None


class NotificationReceiver(Protocol):
    """Sends notifications to one receiver. Order, retries and pauses are decided by ``delivery``."""

    async def send(self, notification: Notification, /) -> DeliveryOutcome:
        """Make one attempt. Raises nothing that the receiver or the network can cause."""
        ...

    def shown(self, notification: Notification, /) -> str:
        """What ``send`` would send, for people, on several lines. It reads no secret, so it shows none."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


def trial_alerts(now: int) -> tuple[NotifiedAlert, NotifiedAlert]:
    """A test alert, firing and then resolved, at ``now`` (ms UTC). Labels and annotations mark it as a test."""
    firing = NotifiedAlert(
        labels={"alertname": "MQVITALS-TEST", "severity": "info", "kind": "agent", "test": "true"},
        annotations={
            "summary": "This is a test of mqvitals: nothing is wrong",
            "advice": "No action is needed. 'mqvitals alerts test' was run to see whether this arrives.",
        },
        fingerprint=blake2b(f"test {now}".encode(), digest_size=8).hexdigest(),
        starts=now,
    )
    return firing, replace(firing, ends=now)


def trial_notifications(settings: ReceiverSettings, now: int) -> tuple[Notification, Notification]:
    """The test alert as the receiver of ``settings`` gets it, firing and then resolved, at ``now`` (ms UTC)."""
    firing, resolved = (
        notification_of_one(alert.with_labels(settings.labels), str(settings.name)) for alert in trial_alerts(now)
    )
    return firing, resolved


def shown_test_alert(receiver: NotificationReceiver, settings: ReceiverSettings, now: int) -> list[str]:
    """What ``send_test_alert`` would send, for people. Nothing is sent."""
    return [receiver.shown(notification) for notification in trial_notifications(settings, now)]


async def send_test_alert(
    receiver: NotificationReceiver, settings: ReceiverSettings, now: int
) -> Sequence[tuple[NotificationStatus, DeliveryOutcome]]:
    """Send the test alert, firing and, once that is accepted, resolved.

    Returns the outcome of each; closes the receiver.
    """
    outcomes: list[tuple[NotificationStatus, DeliveryOutcome]] = []
    try:
        for notification in trial_notifications(settings, now):
            outcome = await receiver.send(notification)
            outcomes.append((notification.status, outcome))
            if outcome.status is not DeliveryStatus.ACCEPTED:
                break
    finally:
        await receiver.aclose()
    return outcomes
