"""Splunk's HTTP Event Collector: an event for each alert, all events of a notification in one request."""

from __future__ import annotations

import json
from typing import Any, Final

from mqvitals_agent.notify.message import NotificationMessage, cut_text
from mqvitals_agent.notify.notification import Notification
from mqvitals_agent.notify.receivers.http import (
    HttpReceiver,
    HttpRequest,
    Revealed,
    completed_address,
)
from mqvitals_agent.notify.receivers.http_text import header_text
from mqvitals_config.receivers.services import SplunkSettings
from mqvitals_rules.timestamps import iso

MOST_HOST: Final = 255
API: Final = "/services/collector/event"


class SplunkReceiver(HttpReceiver[SplunkSettings]):
    """Posts events to a collector, with its token."""

    def request(self, notification: Notification, revealed: Revealed) -> HttpRequest:
        """The request for a notification. Raises ValueError when address or token cannot be used."""
        settings = self._settings
        messages = self._each(notification)
        token = header_text(revealed(settings.hec_token_file), settings.hec_token_file, "token")
        # The collector takes events one after another, in no list.
        body = "\n".join(json.dumps(splunk_event(each, settings)) for each in messages)
        return HttpRequest(
            completed_address(settings.address, revealed, API),
            body,
            {"Authorization": f"Splunk {token}"},
            frozenset({"Authorization"}),
        )


def splunk_event(of_one: NotificationMessage, settings: SplunkSettings) -> dict[str, Any]:
    """The event of a message of one alert, at the alert's start or, once it has ended, at its end."""
    (message,) = of_one.alerts
    alert = message.alert
    event: dict[str, Any] = {
        "time": (alert.starts if alert.ends is None else alert.ends) / 1000,
        "host": cut_text(alert.labels.get("owner", ""), MOST_HOST) or "mqvitals",
        "source": "mqvitals",
        "sourcetype": settings.sourcetype,
        "event": {
            "status": alert.status.value,
            "fingerprint": alert.fingerprint,
            "starts": iso(alert.starts),
            **({} if alert.ends is None else {"ends": iso(alert.ends)}),
            **({"link": message.link} if message.link else {}),
            **({"message": of_one.text} if of_one.text is not None else {}),
            "labels": dict(alert.labels),
            "annotations": dict(alert.annotations),
        },
    }
    return event if settings.index is None else {**event, "index": settings.index}
