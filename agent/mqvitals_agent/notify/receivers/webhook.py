"""A receiver that takes Alertmanager's webhook payload by HTTP POST."""

from __future__ import annotations

import hmac
from typing import Final

from mqvitals_agent.notify.message import posted_text
from mqvitals_agent.notify.notification import Notification
from mqvitals_agent.notify.receivers.http import (
    HttpReceiver,
    HttpRequest,
    Revealed,
    header_text,
    revealed_address,
)
from mqvitals_config.receivers.http import WebhookSettings

SIGNATURE: Final = "X-Mqvitals-Signature"


class WebhookReceiver(HttpReceiver[WebhookSettings]):
    """Posts notifications to an address of the site's own, with a token and a signature where there are some."""

    def request(self, notification: Notification, revealed: Revealed) -> HttpRequest:
        """The request for a notification. Raises ValueError when the address or the token cannot be used."""
        settings = self._settings
        message = self._write(notification, self._now())
        body = posted_text(notification, message)
        headers = {}
        if settings.token_file is not None:
            token = header_text(revealed(settings.token_file), settings.token_file, "token")
            headers["Authorization"] = f"Bearer {token}"
        if settings.hmac_secret_file is not None:
            headers[SIGNATURE] = signature(body, revealed(settings.hmac_secret_file), self._now() // 1000)
        return HttpRequest(
            revealed_address(settings.address, revealed),
            body,
            headers,
            frozenset(headers),
            settings.content_type if message.text is not None else "application/json",
        )


def signature(body: str, secret: str, now_s: int) -> str:
    """The header that signs a body at ``now_s`` (seconds UTC): ``t=1795176000,v1=`` and 64 hex digits.

    They are the HMAC with SHA-256 of the time, a full stop and the body, so an old request cannot be sent again later.
    """
    digest = hmac.digest(secret.encode(), f"{now_s}.{body}".encode(), "sha256").hex()
    return f"t={now_s},v1={digest}"
