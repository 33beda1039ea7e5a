"""ServiceNow's event management: a record of the table em_event for each alert, several in one request."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, Final

from mqvitals_agent.notify.message import NotificationMessage
from mqvitals_agent.notify.notification import Notification
from mqvitals_agent.notify.receivers.http import (
    HttpReceiver,
    HttpRequest,
    Revealed,
    basic_authorization,
    completed_address,
)
from mqvitals_config.receivers.services import ServiceNowSettings
from mqvitals_rules.lifecycle.alert import Severity

API: Final = "/api/global/em/jsonv2"
MOST_WORD: Final = 100
MOST_DESCRIPTION: Final = 4_000

_SEVERITIES = {Severity.CRITICAL: "1", Severity.WARNING: "4", Severity.INFO: "5"}
"""ServiceNow's 1 is critical, 4 a warning, 5 informational."""
_CLEAR = "0"


class ServiceNowReceiver(HttpReceiver[ServiceNowSettings]):
    """Posts records to ServiceNow, as a user of the site's."""

    def request(self, notification: Notification, revealed: Revealed) -> HttpRequest:
        """The request for a notification. Raises ValueError when address or credentials cannot be used."""
        settings = self._settings
        messages = self._each(notification)
        headers = {"Accept": "application/json"}
        hidden: frozenset[str] = frozenset()
        if settings.credentials_file is not None:
            headers["Authorization"] = basic_authorization(settings.credentials_file, revealed)
            hidden = frozenset({"Authorization"})
        body = json.dumps({"records": [servicenow_record(each) for each in messages]})
        return HttpRequest(completed_address(settings.address, revealed, API), body, headers, hidden)


def servicenow_record(of_one: NotificationMessage) -> dict[str, Any]:
    """The record of a message of one alert. A record with its key and severity 0 ends it."""
    (message,) = of_one.alerts
    alert, labels = message.alert, message.alert.labels
    ended = alert.ends is not None
    node = labels.get("queue_manager", "") or labels.get("owner", "") or labels.get("group", "")
    moment = datetime.fromtimestamp((alert.starts if alert.ends is None else alert.ends) / 1000, UTC)
    text = of_one.text
    if text is None:
        text = "\n".join((f"{message.how_bad} {message.what}", *(f"{word}: {fact}" for word, fact in message.facts)))
    return {
        "source": "mqvitals",
        "event_class": labels.get("group", "")[:MOST_WORD],
        "node": node[:MOST_WORD],
        "type": (labels.get("family", "") or labels.get("kind", "") or "mqvitals")[:MOST_WORD],
        "resource": labels.get("object", "")[:MOST_WORD],
        "metric_name": message.rule[:MOST_WORD],
        "severity": _CLEAR if ended else _SEVERITIES[alert.severity],
        "resolution_state": "Closing" if ended else "New",
        "message_key": alert.fingerprint,
        "time_of_event": f"{moment:%Y-%m-%d %H:%M:%S}",
        "description": text[:MOST_DESCRIPTION],
        # A text that holds JSON, as ServiceNow wants it.
        "additional_info": json.dumps(
            {**labels, **alert.annotations, **({"link": message.link} if message.link else {})}
        ),
    }
