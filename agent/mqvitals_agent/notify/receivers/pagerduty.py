"""PagerDuty: an event of the Events API v2 for each group of alerts, so one incident a group, which ends with the group."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any, Final

from mqvitals_agent.notify.message import AlertMessage, NotificationMessage, cut_text
from mqvitals_agent.notify.notification import Notification
from mqvitals_agent.notify.receivers.http import HttpReceiver, HttpRequest, Revealed, revealed_address
from mqvitals_config.receivers.services import PagerDutySettings
from mqvitals_rules.timestamps import iso

MOST_SUMMARY: Final = 1_024
MOST_DETAIL: Final = 2_000
MOST_ALERTS: Final = 50
"""Alerts in the details of an event, which may have 512 KB."""


class PagerDutyReceiver(HttpReceiver[PagerDutySettings]):
    """Posts events to a service of PagerDuty, which answers 202."""

    def request(self, notification: Notification, revealed: Revealed) -> HttpRequest:
        """The request for a notification. Raises ValueError when the address cannot be used."""
        settings = self._settings
        message = self._write(notification, self._now())
        event = pagerduty_event(notification, message, revealed(settings.routing_key_file))
        return HttpRequest(revealed_address(settings.address, revealed), json.dumps(event))


def dedup_key(group_key: str) -> str:
    """What PagerDuty knows a group by: a digest of its key, which may be longer than the 255 characters that it takes."""
    return "mqvitals-" + blake2b(group_key.encode("utf-8", "replace"), digest_size=16).hexdigest()


def pagerduty_event(notification: Notification, message: NotificationMessage, routing_key: str) -> dict[str, Any]:
    """The event that opens, changes or ends the incident of a group."""
    event: dict[str, Any] = {
        "routing_key": routing_key,
        "dedup_key": dedup_key(notification.key),
        "event_action": "resolve" if message.resolved else "trigger",
        "client": "mqvitals",
    }
    labels = notification.common_labels
    worst = min(message.alerts, key=lambda each: (each.alert.ends is not None, -each.alert.severity), default=None)
    payload = {
        "summary": message.title or "mqvitals",
        "source": labels.get("owner", "") or labels.get("group", "") or "mqvitals",
        "severity": message.severity.name.lower(),
        "timestamp": iso(worst.alert.starts) if worst else "",
        "component": labels.get("object", "") or (worst.where if worst else ""),
        "group": labels.get("group", ""),
        "class": labels.get("alertname", "") or (worst.rule if worst else ""),
    }
    event["payload"] = {name: cut_text(text, MOST_SUMMARY) for name, text in payload.items() if text}
    event["payload"]["custom_details"] = _details(message)
    links = {each.link: each.what for each in message.alerts[:MOST_ALERTS] if each.link}
    if links:
        event["links"] = [{"href": link, "text": cut_text(what, 255)} for link, what in links.items()]
    return event


def _details(message: NotificationMessage) -> dict[str, Any]:
    if message.text is not None:
        return {"text": message.text}
    more = message.more + len(message.alerts[MOST_ALERTS:])
    details: dict[str, Any] = {"alerts": [_alert(each) for each in message.alerts[:MOST_ALERTS]]}
    return {**details, "more_alerts": more} if more else details


def _alert(each: AlertMessage) -> dict[str, str]:
    facts = {word: cut_text(text, MOST_DETAIL) for word, text in each.facts}
    return {"severity": each.how_bad, "what": cut_text(each.what, MOST_DETAIL), **facts}
