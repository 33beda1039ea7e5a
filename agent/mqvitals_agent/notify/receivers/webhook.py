"""A receiver that takes Alertmanager's webhook payload by HTTP POST."""

from __future__ import annotations

import hmac
from typing import Final

from mqvitals_agent.notify.message import posted_text
from mqvitals_agent.notify.notification import Notification
from mqvitals_agent.notify.receivers.http import (
    HttpRequest,
    ReportingHttpReceiver,
    Revealed,
    revealed_address,
)
from mqvitals_agent.notify.receivers.http_text import header_text
from mqvitals_agent.notify.report import ReportMessage, posted_report
from mqvitals_config.receivers.http import WebhookSettings

SIGNATURE: Final = "X-Mqvitals-Signature"


class WebhookReceiver(ReportingHttpReceiver[WebhookSettings]):
    """Posts notifications to an address of the site's own, with a token and a signature where there are some."""

    def request(self, notification: Notification, revealed: Revealed) -> HttpRequest:
        """The request for a notification. Raises ValueError when the address or the token cannot be used."""
        message = self._write(notification, self._now())
        made_by_site = message.text is not None
        content_type = self._settings.content_type if made_by_site else "application/json"
        return self._signed(posted_text(notification, message), revealed, content_type)

    def report_request(self, report: ReportMessage, revealed: Revealed) -> HttpRequest:
        """The request for a report, as ``request``."""
        return self._signed(posted_report(report), revealed, "application/json")

    def _signed(self, body: str, revealed: Revealed, content_type: str) -> HttpRequest:
        settings = self._settings
        headers = {}
        if settings.token_file is not None:
            token = header_text(revealed(settings.token_file), settings.token_file, "token")
            headers["Authorization"] = f"Bearer {token}"
        if settings.hmac_secret_file is not None:
            headers[SIGNATURE] = signature(body, revealed(settings.hmac_secret_file), self._now() // 1000)
        address = revealed_address(settings.address, revealed)
        return HttpRequest(address, body, headers, frozenset(headers), content_type)


def signature(body: str, secret: str, now_s: int) -> str:
    """The header that signs a body at ``now_s`` (seconds UTC): ``t=1795176000,v1=`` and 64 hex digits.

    They are the HMAC with SHA-256 of the time, a full stop and the body, so an old request cannot be sent again later.
    """
    digest = hmac.digest(secret.encode(), f"{now_s}.{body}".encode(), "sha256").hex()
    return f"t={now_s},v1={digest}"
