"""What all receivers over HTTP have in common: one attempt, what its answer means, and that no secret is ever shown."""

from __future__ import annotations

import asyncio
import ssl
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from urllib.parse import urlsplit

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from mqvitals_agent import __version__
from mqvitals_agent.notify.message import NotificationMessage, messages_of_each
from mqvitals_agent.notify.notification import Notification
from mqvitals_agent.notify.receiver import DeliveryOutcome, DeliveryStatus
from mqvitals_agent.notify.receivers.attempt import (
    HIDDEN,
    AttemptError,
    Credentials,
    MessageReceiver,
    again,
    excerpt,
    os_error_text,
    readable,
)
from mqvitals_agent.notify.receivers.http_text import (
    WRONG_ADDRESS,
    WRONG_TOKEN,
    header_text,
    retry_after_ms,
    secret_parts,
    settings_hint,
)
from mqvitals_agent.notify.report import ReportMessage
from mqvitals_config.decoding.scalars import format_duration
from mqvitals_config.decoding.secret import Secret, WebAddress, checked_address, shown_address
from mqvitals_config.receivers.http import HttpSettings

_BODY_BYTES = 4096
_TRY_AGAIN = frozenset({408, 425, 429})

Revealed = Callable[[Secret], str]
"""The text of a secret, without blanks around it."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request with a body. ``hidden`` names those of ``headers`` that hold a secret."""

    address: str
    body: str
    headers: Mapping[str, str] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    content_type: str = "application/json"
    method: str = "POST"


BuildRequest = Callable[[Revealed], HttpRequest]


class HttpClient:
    """Makes single requests. Order, retries and pauses are not its business.

    Secrets and certificates are read for every attempt, so a changed file works without a restart. ``now`` returns the time
    in ms UTC. No text of an outcome holds a secret.
    """

    def __init__(self, settings: HttpSettings, now: Callable[[], int], credentials: Credentials) -> None:
        self._settings = settings
        self._now = now
        self._credentials = credentials
        self._session: aiohttp.ClientSession | None = None

    async def attempt(self, build: BuildRequest) -> DeliveryOutcome:
        """Send the request that ``build`` makes, once. Raises nothing that the receiver or the network can cause.

        Reading the secrets and waiting for the answer may each take the receiver's timeout.
        """
        settings = self._settings
        try:
            texts, tls = await self._credentials.read()
        except AttemptError as error:
            return error.outcome
        try:
            request = build(lambda secret: texts[secret])
            headers = self._headers(request, lambda secret: texts[secret])
        except ValueError as error:
            return again(str(error))
        try:
            return await self._send(request, headers, tls, texts)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # Their own texts may hold the address.
            return again(f"{shown_address(request.address)} {failure_text(error, settings.timeout)}")

    def shown(self, build: BuildRequest) -> str:
        """The request that ``build`` makes, for people: no secret is read for it, so none is in it."""
        request = build(_masked)
        address = request.address if HIDDEN in request.address else shown_address(request.address)
        lines = [f"{request.method} {address}"]
        for name, value in self._headers(request, _masked).items():
            lines.append(f"{name}: {HIDDEN if name in request.hidden else value}")
        return "\n".join([*lines, "", readable(request.body)])

    async def aclose(self) -> None:
        """Close the session; the next attempt opens another one."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _headers(self, request: HttpRequest, revealed: Revealed) -> CIMultiDict[str]:
        """All headers of a request. Raises ValueError when a secret cannot be the value of one."""
        headers = CIMultiDict({"Content-Type": request.content_type, "User-Agent": f"mqvitals/{__version__}"})
        headers.update(self._settings.headers)
        headers.update(
            {name: header_text(revealed(secret), secret) for name, secret in self._settings.headers_files.items()}
        )
        headers.update(request.headers)
        return headers

    async def _send(
        self,
        request: HttpRequest,
        headers: CIMultiDict[str],
        tls: ssl.SSLContext | None,
        texts: Mapping[Secret, str],
    ) -> DeliveryOutcome:
        """Send a request. Raises aiohttp.ClientError, OSError and ValueError."""
        settings = self._settings
        url = URL(request.address)
        if "Authorization" in headers:
            url = url.with_user(None)  # aiohttp refuses credentials in both places
        if self._session is None:
            # Notifications are rare, and a kept connection that the other side has closed would make one be sent twice.
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=1, force_close=True), cookie_jar=aiohttp.DummyCookieJar()
            )
        async with self._session.request(
            request.method,
            url,
            data=request.body.encode() or None,
            headers=headers,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=settings.timeout / 1000),
            ssl=tls or True,
            proxy=settings.proxy,
            proxy_headers=_proxy_headers(settings, texts),
        ) as response:
            status = delivery_status(response.status)
            text = f"{shown_address(request.address)} answered {response.status}"
            if status is DeliveryStatus.ACCEPTED:
                return DeliveryOutcome(status, text)
            said = excerpt(await body_start(response), secret_parts(request.address, texts.values()))
            if details := "; ".join(filter(None, (said, settings_hint(response.status)))):
                text += f": {details}"
            return DeliveryOutcome(status, text, retry_after_ms(response.headers.get("Retry-After"), self._now()))


H = TypeVar("H", bound=HttpSettings)


class HttpReceiver(MessageReceiver[H], ABC, Generic[H]):
    """A receiver that gets each notification in one request."""

    def _begin(self) -> None:
        self._http = HttpClient(self._settings, self._now, self._credentials)

    @abstractmethod
    def request(self, notification: Notification, revealed: Revealed) -> HttpRequest:
        """The request for a notification. Raises ValueError, without a secret in it, when a secret cannot be used."""

    def _each(self, notification: Notification) -> list[NotificationMessage]:
        """A message for each alert, for services that keep each by itself."""
        return messages_of_each(notification, self._write, self._now())

    async def send(self, notification: Notification, /) -> DeliveryOutcome:
        """Make one attempt."""
        return await self._http.attempt(lambda revealed: self.request(notification, revealed))

    def shown(self, notification: Notification, /) -> str:
        """The request for a notification, without secrets."""
        return self._http.shown(lambda revealed: self.request(notification, revealed))

    async def aclose(self) -> None:
        """Close the session."""
        await self._http.aclose()


class ReportingHttpReceiver(HttpReceiver[H]):
    """One that also gets each report in one request."""

    @abstractmethod
    def report_request(self, report: ReportMessage, revealed: Revealed) -> HttpRequest:
        """The request for a report. Raises ValueError, without a secret in it, when a secret cannot be used."""

    async def send_report(self, report: ReportMessage, /) -> DeliveryOutcome:
        """Make one attempt."""
        return await self._http.attempt(lambda revealed: self.report_request(report, revealed))


def revealed_address(address: Secret, revealed: Revealed) -> str:
    """The address that a secret holds. Raises ValueError, which names the secret, when it is none."""
    text = revealed(address)
    if text == HIDDEN:
        return address.origin if isinstance(address, WebAddress) else f"{HIDDEN} address in {address.origin}"
    try:
        return checked_address(text)
    except ValueError as error:
        raise ValueError(f"{address.origin}: {error}") from None


def completed_address(address: Secret, revealed: Revealed, path: str) -> str:
    """The address that a secret holds; one without a path gets ``path``. Raises ValueError when it is none."""
    found = revealed_address(address, revealed)
    parts = urlsplit(found)
    return found.rstrip("/") + path if parts.netloc and parts.path in ("", "/") and not parts.query else found


def basic_authorization(credentials: Secret, revealed: Revealed) -> str:
    """The header of the ``user:password`` that a secret holds. Raises ValueError when it holds none."""
    user, colon, password = revealed(credentials).partition(":")
    if not colon and user != HIDDEN:
        raise ValueError(f"{credentials.origin} holds no user:password")
    return aiohttp.encode_basic_auth(user, password)


def delivery_status(status: int) -> DeliveryStatus:
    """The meaning of an HTTP status.

    A redirect is not followed: the notification would go to an address that no setting names. A redirect, a wrong
    token or a wrong address says nothing about the notification itself, so it is tried again.
    """
    if 200 <= status < 300:
        return DeliveryStatus.ACCEPTED
    if 400 <= status < 500 and status not in _TRY_AGAIN | WRONG_TOKEN | WRONG_ADDRESS:
        return DeliveryStatus.REFUSED
    return DeliveryStatus.AGAIN


def _proxy_headers(settings: HttpSettings, texts: Mapping[Secret, str]) -> Mapping[str, str] | None:
    if settings.proxy_credentials_file is None:
        return None
    user, _, password = texts[settings.proxy_credentials_file].partition(":")
    # aiohttp sends it to the proxy alone, as Proxy-Authorization.
    return {"Authorization": aiohttp.encode_basic_auth(user, password)}


def _masked(_: Secret) -> str:
    return HIDDEN


async def body_start(response: aiohttp.ClientResponse) -> bytes:
    """At most a few KB of a body. The status is what counts, so a body that fails counts as ended."""
    body = b""
    try:
        while len(body) < _BODY_BYTES and (chunk := await response.content.read(_BODY_BYTES - len(body))):
            body += chunk
    except (aiohttp.ClientError, OSError):
        return body
    return body


def failure_text(error: Exception, timeout: int) -> str:
    """Why a request has no answer, which was waited for as long as ``timeout``, ms: what follows the name of the address."""
    match error:
        case TimeoutError() | asyncio.TimeoutError():
            return f"did not answer within {format_duration(timeout)}"
        case aiohttp.ClientHttpProxyError():
            hint = settings_hint(error.status) if error.status == 407 else ""
            return f"cannot be reached: the proxy answered {error.status}" + (f"; {hint}" if hint else "")
        case aiohttp.ClientProxyConnectionError():
            return f"cannot be reached: the proxy does not answer ({os_error_text(error.os_error)})"
        case aiohttp.ClientConnectorDNSError():
            return "cannot be found: its name is not known"
        case aiohttp.ClientSSLError():
            return "cannot be trusted: the TLS handshake failed, or its certificate is not accepted"
        case aiohttp.ClientConnectorError():
            return f"cannot be reached ({os_error_text(error.os_error)})"
        case aiohttp.ServerDisconnectedError() | ConnectionError():
            return "closed the connection without an answer"
        case _:
            return f"cannot be posted to ({type(error).__name__})"
