"""A receiver that takes Alertmanager's webhook payload by HTTP POST."""

from __future__ import annotations

import asyncio
import json
import os
import re
from base64 import b64encode
from collections.abc import Callable, Iterable
from datetime import UTC
from email.utils import parsedate_to_datetime
from urllib.parse import unquote

import aiohttp
from yarl import URL

from mqvitals_agent import __version__
from mqvitals_agent.notify.notification import NOT_ENDED, Notification, without_lone_surrogates
from mqvitals_agent.notify.receiver import DeliveryOutcome, DeliveryStatus
from mqvitals_agent.text.terminal import cut, safe
from mqvitals_agent.threads import BoundedCall, NoAnswerError
from mqvitals_config.receiver import WebhookSettings
from mqvitals_config.scalars import format_duration
from mqvitals_config.secret import SecretError, checked_address, shown_address
from mqvitals_rules.timestamps import iso

_BODY_BYTES = 4096
_EXCERPT_CELLS = 160
_SECRET_PART = re.compile(r"[^/?&=#:@]{6,}")
_TRY_AGAIN = frozenset({408, 425, 429})
_WRONG_TOKEN = frozenset({401, 403, 407})
_WRONG_ADDRESS = frozenset({404, 405, 410})
_LONGEST_RETRY_S = 86_400


class WebhookReceiver:
    """Sends notifications by HTTP.

    Address and token are read for every attempt, so a changed file works without a restart. ``now`` returns the time
    in ms UTC. No text of an outcome holds the address or the token. ``secrets_of`` returns both of a receiver and
    raises SecretError; it may hang, so it runs in a thread.
    """

    def __init__(
        self,
        settings: WebhookSettings,
        now: Callable[[], int],
        secrets_of: Callable[[WebhookSettings], tuple[str, str]] | None = None,
    ) -> None:
        self._settings = settings
        self._now = now
        self._secrets_of = secrets_of or _secrets
        self._reading = BoundedCall()
        self._session: aiohttp.ClientSession | None = None

    async def send(self, notification: Notification, /) -> DeliveryOutcome:
        """Make one attempt. Reading the secrets and waiting for the answer may each take the receiver's timeout."""
        settings = self._settings
        try:
            address, token = await self._reading.run(lambda: self._secrets_of(settings), settings.timeout / 1000)
            checked_address(address)
        except NoAnswerError:
            files = " or ".join(
                secret.origin for secret in (settings.address, settings.token_file) if secret is not None
            )
            within = format_duration(settings.timeout)
            return _failed(f"{files} could not be read within {within}: check its file system")
        except SecretError as error:
            return _failed(str(error))
        except ValueError as error:
            return _failed(f"{settings.address.origin}: {error}")
        if not (token.isascii() and token.isprintable()):
            origin = settings.token_file.origin if settings.token_file else ""
            return _failed(f"the token in {origin} holds characters that a header cannot")
        try:
            return await self._post(address, token, webhook_payload(notification))
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # Their own texts may hold the address.
            return _failed(f"{shown_address(address)} {_failure_text(error, settings.timeout)}")

    async def aclose(self) -> None:
        """Close the session; the next attempt opens another one."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _post(self, address: str, token: str, payload: str) -> DeliveryOutcome:
        """Post the payload. Raises aiohttp.ClientError, OSError and ValueError."""
        url = URL(address)
        headers = {"Content-Type": "application/json", "User-Agent": f"mqvitals/{__version__}"}
        if token:
            url = url.with_user(None)  # aiohttp refuses credentials in both places
            headers["Authorization"] = f"Bearer {token}"
        if self._session is None:
            # Notifications are rare, and a kept connection that the other side has closed would make one be sent twice.
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=1, force_close=True), cookie_jar=aiohttp.DummyCookieJar()
            )
        async with self._session.post(
            url,
            data=payload.encode(),
            headers=headers,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=self._settings.timeout / 1000),
        ) as response:
            status = delivery_status(response.status)
            text = f"{shown_address(address)} answered {response.status}"
            if status is DeliveryStatus.ACCEPTED:
                return DeliveryOutcome(status, text)
            excerpt = body_excerpt(await _body_start(response), _secret_parts(address, token))
            if details := "; ".join(filter(None, (excerpt, settings_hint(response.status)))):
                text += f": {details}"
            return DeliveryOutcome(status, text, retry_after_ms(response.headers.get("Retry-After"), self._now()))


def webhook_payload(notification: Notification) -> str:
    """The JSON of a notification, in ASCII: version 4 of Alertmanager's webhooks."""
    return json.dumps(
        {
            "version": "4",
            "groupKey": notification.key,
            "truncatedAlerts": notification.truncated,
            "status": notification.status.value,
            "receiver": without_lone_surrogates(notification.receiver),
            "groupLabels": dict(notification.labels),
            "commonLabels": dict(notification.common_labels),
            "commonAnnotations": dict(notification.common_annotations),
            "externalURL": "",
            "alerts": [
                {
                    "status": each.status.value,
                    "labels": dict(each.labels),
                    "annotations": dict(each.annotations),
                    "startsAt": iso(each.starts),
                    "endsAt": NOT_ENDED if each.ends is None else iso(each.ends),
                    "generatorURL": "",
                    "fingerprint": each.fingerprint,
                }
                for each in notification.alerts
            ],
        }
    )


def delivery_status(status: int) -> DeliveryStatus:
    """The meaning of an HTTP status.

    A redirect is not followed: the notification would go to an address that no setting names. A redirect, a wrong
    token or a wrong address says nothing about the notification itself, so it is tried again.
    """
    if 200 <= status < 300:
        return DeliveryStatus.ACCEPTED
    if 400 <= status < 500 and status not in _TRY_AGAIN | _WRONG_TOKEN | _WRONG_ADDRESS:
        return DeliveryStatus.REFUSED
    return DeliveryStatus.AGAIN


def settings_hint(status: int) -> str:
    """The setting to check after an HTTP status; empty when the status says nothing about the settings."""
    if status in _WRONG_TOKEN:
        return "check its token, or the name and password in its address"
    if status in _WRONG_ADDRESS or 300 <= status < 400:
        return "check its address"
    return ""


def retry_after_ms(header: str | None, now: int) -> int | None:
    """``Retry-After`` as ms from ``now`` (ms UTC): seconds or a date; None when it is missing or unreadable."""
    if not header:
        return None
    header = header.strip()
    if header.isascii() and header.isdigit():
        return min(int(header[:9]), _LONGEST_RETRY_S) * 1000
    try:
        when = parsedate_to_datetime(header)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return min(max(int(when.timestamp() * 1000) - now, 0), _LONGEST_RETRY_S * 1000)


def body_excerpt(body: bytes, secrets: Iterable[str]) -> str:
    """The beginning of an answer's body on one line, without those of ``secrets`` that it repeats."""
    text = body.decode("utf-8", "replace")
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "(hidden)")
    return cut(safe(" ".join(text.split())), _EXCERPT_CELLS)


def _failed(text: str) -> DeliveryOutcome:
    return DeliveryOutcome(DeliveryStatus.AGAIN, text)


def _secrets(settings: WebhookSettings) -> tuple[str, str]:
    """The address and the token, which is empty without one. Raises SecretError."""
    token = settings.token_file.reveal().strip() if settings.token_file else ""
    return settings.address.reveal().strip(), token


async def _body_start(response: aiohttp.ClientResponse) -> bytes:
    """At most a few KB of a body. The status is what counts, so a body that fails counts as ended."""
    body = b""
    try:
        while len(body) < _BODY_BYTES and (chunk := await response.content.read(_BODY_BYTES - len(body))):
            body += chunk
    except (aiohttp.ClientError, OSError):
        return body
    return body


def _secret_parts(address: str, token: str) -> set[str]:
    """Every text that may be a secret and that an answer may repeat."""
    tail = address.partition("://")[2].partition("/")[2]
    userinfo = address.partition("://")[2].rpartition("@")[0]
    found = {address, token, *_SECRET_PART.findall(tail), *_SECRET_PART.findall(userinfo)}
    found |= {unquote(part) for part in found}
    if userinfo:
        # The form of the Authorization header.
        found.add(b64encode(unquote(userinfo).encode()).decode())
    return {part for part in found if part}


def _failure_text(error: Exception, timeout_ms: int) -> str:
    match error:
        case TimeoutError() | asyncio.TimeoutError():
            return f"did not answer within {format_duration(timeout_ms)}"
        case aiohttp.ClientConnectorDNSError():
            return "cannot be found: its name is not known"
        case aiohttp.ClientSSLError():
            return "cannot be trusted: the TLS handshake failed, or its certificate is not accepted"
        case aiohttp.ClientConnectorError():
            return f"cannot be reached ({_os_error_text(error.os_error)})"
        case aiohttp.ServerDisconnectedError() | ConnectionError():
            return "closed the connection without an answer"
        case _:
            return f"cannot be posted to ({type(error).__name__})"


def _os_error_text(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else type(error).__name__
