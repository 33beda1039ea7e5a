"""Prometheus' Alertmanager, by version 2 of its API: alerts of one request, each with the time until which it fires.

Alertmanager takes an alert for ended when that time is over. So what fires is sent again long before it, see ``resending``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from mqvitals_agent.notify.message import LinkOf, WriteMessage, message_of
from mqvitals_agent.notify.notification import Notification, NotifiedAlert, notification_of_one
from mqvitals_agent.notify.receiver import DeliveryOutcome, DeliveryStatus
from mqvitals_agent.notify.receivers.attempt import Credentials, Reveal
from mqvitals_agent.notify.receivers.http import (
    HttpClient,
    HttpRequest,
    Revealed,
    basic_authorization,
    revealed_address,
)
from mqvitals_agent.notify.receivers.http_text import header_text
from mqvitals_config.decoding.secret import Secret
from mqvitals_config.receivers.services import AlertmanagerSettings
from mqvitals_rules.timestamps import iso

API: Final = "/api/v2/alerts"
VALID_RESENDS: Final = 4
"""For so many times of ``resend`` an alert fires on without being sent again, as Prometheus has it."""


class AlertmanagerMember:
    """A member of the cluster. ``name`` is its address without what may be a secret."""

    def __init__(
        self,
        settings: AlertmanagerSettings,
        address: Secret,
        now: Callable[[], int],
        reveal: Reveal,
        link_of: LinkOf,
    ) -> None:
        self.name = address.origin
        self._settings = settings
        self._address = address
        self._now = now
        self._link_of = link_of
        self._http = HttpClient(settings, now, Credentials(settings, reveal))

    async def push(self, alerts: Sequence[NotifiedAlert], /) -> DeliveryOutcome:
        """Make one attempt to send alerts."""
        return await self._http.attempt(lambda revealed: self._request(alerts, revealed))

    def shown(self, alerts: Sequence[NotifiedAlert]) -> str:
        """The request, without secrets."""
        return self._http.shown(lambda revealed: self._request(alerts, revealed))

    async def aclose(self) -> None:
        """Close the session."""
        await self._http.aclose()

    def _request(self, alerts: Sequence[NotifiedAlert], revealed: Revealed) -> HttpRequest:
        settings = self._settings
        headers = {}
        if settings.token_file is not None:
            token = header_text(revealed(settings.token_file), settings.token_file, "token")
            headers["Authorization"] = f"Bearer {token}"
        if settings.credentials_file is not None:
            headers["Authorization"] = basic_authorization(settings.credentials_file, revealed)
        until = self._now() + VALID_RESENDS * settings.resend
        body = json.dumps([alertmanager_alert(each, until, self._link_of(each)) for each in alerts])
        address = revealed_address(self._address, revealed).rstrip("/")
        if not address.endswith(API):
            address += API
        return HttpRequest(address, body, headers, frozenset(headers))


class AlertmanagerReceiver:
    """The members of a cluster of Alertmanagers. ``write`` gives the link to an alert's own page, its ``generatorURL``."""

    def __init__(
        self,
        settings: AlertmanagerSettings,
        now: Callable[[], int],
        *,
        write: WriteMessage = message_of,
        reveal: Reveal = Secret.reveal,
    ) -> None:
        def link_of(alert: NotifiedAlert) -> str:
            # Without a link and a template there is nothing to write.
            if write is message_of:
                return ""
            return write(notification_of_one(alert, str(settings.name)), now()).alerts[0].link

        self.resend_ms = settings.resend
        self.members = tuple(
            AlertmanagerMember(settings, address, now, reveal, link_of) for address in settings.addresses
        )

    async def send(self, notification: Notification, /) -> DeliveryOutcome:
        """Make one attempt at each member, for a test alert; the outcome is the worst of them."""
        found = [await each.push(notification.alerts) for each in self.members]
        worst = max(found, key=lambda outcome: _BADNESS.index(outcome.status))
        return DeliveryOutcome(worst.status, "; ".join(each.text for each in found), worst.retry_after_ms)

    def shown(self, notification: Notification, /) -> str:
        """The request to each member, without secrets."""
        return "\n\n".join(each.shown(notification.alerts) for each in self.members)

    async def aclose(self) -> None:
        """Close the sessions."""
        for each in self.members:
            await each.aclose()


_BADNESS = (DeliveryStatus.ACCEPTED, DeliveryStatus.REFUSED, DeliveryStatus.AGAIN)


def alertmanager_alert(alert: NotifiedAlert, until: int, link: str = "") -> dict[str, Any]:
    """An alert as Alertmanager takes it; one that fires does so until ``until`` (ms UTC) unless it is sent again."""
    return {
        "labels": dict(alert.labels),
        "annotations": dict(alert.annotations),
        "startsAt": iso(alert.starts),
        "endsAt": iso(until if alert.ends is None else alert.ends),
        **({"generatorURL": link} if link else {}),
    }
