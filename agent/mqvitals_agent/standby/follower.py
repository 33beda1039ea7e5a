"""Follows the active agent's alerts over HTTP, as long as this agent waits."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import ssl
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import aiohttp

from mqvitals_agent import __version__
from mqvitals_agent.log import as_change, as_event, forget
from mqvitals_agent.standby.wire import STANDBY_PATH
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.rows.alerts.alert_feed import FeedChange, FeedError, changes_from
from mqvitals_agent.text.terminal import safe
from mqvitals_agent.threads import BoundedCall, NoAnswerError
from mqvitals_config.decoding.secret import SecretError, shown_address
from mqvitals_config.sections.standby import StandbySettings

_LOG = logging.getLogger(__name__)

WAIT_S: Final = 10.0
"""How long the other agent may wait for news until it answers that there is none."""
_GRACE_S: Final = 5.0
_READ_S: Final = 5.0
_LONGEST_BYTES: Final = 256 * 1024**2
_KEY: Final = "the other agent"

TakeOver = Callable[[Sequence[FeedChange], bool], Awaitable[None]]
"""Stores changes, or with True a whole state. Raises StoreError and FeedError."""


@dataclass(frozen=True, slots=True)
class PeerStanding:
    """What the other agent says of itself; ``since`` is ms UTC, ``name`` that of its machine. Empty texts: not known."""

    role: str = ""
    name: str = ""
    since: int | None = None


class FollowError(Exception):
    """The other agent could not be followed; the message is a clause, with no secret in it."""


class Follower:
    """Asks the other agent for what has changed, in ``run``. Used on the event loop's thread.

    ``retry_s`` is the pause after a failure. ``steady`` is a real clock of seconds.
    """

    def __init__(
        self,
        settings: StandbySettings,
        take_over: TakeOver,
        *,
        retry_s: float = 1.0,
        wait_s: float = WAIT_S,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._take_over = take_over
        self._retry_s = retry_s
        self._wait_s = wait_s
        self._steady = steady
        self._name = secrets.token_hex(8)
        self._token = ""
        self._reading = BoundedCall()
        self._answered: float | None = None
        self.peer = PeerStanding()
        """As the other agent said last."""
        self.follows = False
        """Whether all that the other agent told is stored here."""

    def heard(self, within_s: float) -> bool:
        """Whether the other agent has answered within this time."""
        return self._answered is not None and self._steady() - self._answered <= within_s

    async def run(self) -> None:
        """Follow until cancelled."""
        address = self._settings.peer
        if address is None:
            return
        shown = shown_address(address.reveal())
        connector = aiohttp.TCPConnector(limit=1)
        async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as session:
            while True:
                try:
                    await self._ask(session, address.reveal().rstrip("/") + STANDBY_PATH)
                except (FollowError, FeedError, StoreError) as error:
                    self._token = ""
                    self.follows = False
                    _LOG.warning(
                        f"the alerts of the other agent, {shown}, cannot be followed: {error}",
                        extra=as_change(_KEY, "standby.not_following", peer=shown),
                    )
                    await asyncio.sleep(self._retry_s)

    async def _ask(self, session: aiohttp.ClientSession, url: str) -> None:
        """One question and its answer, stored. Raises FollowError, FeedError and StoreError."""
        headers, tls = await self._credentials()
        found = await self._get(session, url, headers, tls)
        self.peer = _peer_of(found)
        self._answered = self._steady()
        if self.peer.role != "active":
            self.follows = False
            self._token = ""
            with suppress(TimeoutError):
                await asyncio.sleep(self._retry_s)
            return
        whole, token = found.get("whole") is True, found.get("token")
        if not isinstance(token, str) or (not whole and token != self._token and not self._token):
            raise FollowError("its answer is none that this version understands")
        changes = changes_from(found.get("changes"))
        if changes or whole:
            await self._take_over(changes, whole)
        self._token = token
        if not self.follows:
            self.follows = True
            forget(_LOG, _KEY)
            _LOG.info(
                f"the alerts of the other agent are followed{f', {self.peer.name}' if self.peer.name else ''}",
                extra=as_event("standby.following", peer=self.peer.name),
            )

    async def _get(
        self, session: aiohttp.ClientSession, url: str, headers: dict[str, str], tls: ssl.SSLContext | None
    ) -> dict[str, Any]:
        wait_s = self._wait_s if self.follows else 0
        try:
            async with session.get(
                url,
                params={"follower": self._name, "after": self._token, "wait": f"{wait_s:g}"},
                headers=headers,
                allow_redirects=False,
                ssl=tls or True,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=_GRACE_S, sock_read=wait_s + _GRACE_S),
            ) as response:
                if response.status != 200:
                    raise FollowError(f"it answered {response.status}{_hint(response.status)}")
                if (response.content_length or 0) > _LONGEST_BYTES:
                    raise FollowError("its answer is too long")
                found = await response.json()
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            # Its own text may hold the address.
            raise FollowError(_failure_words(error)) from None
        if not isinstance(found, dict):
            raise FollowError("its answer is none that this version understands")
        return found

    async def _credentials(self) -> tuple[dict[str, str], ssl.SSLContext | None]:
        try:
            return await self._reading.run(self._read_credentials, _READ_S)
        except NoAnswerError:
            raise FollowError("token_file or ca_file of standby could not be read: check its file system") from None

    def _read_credentials(self) -> tuple[dict[str, str], ssl.SSLContext | None]:
        headers = {"User-Agent": f"mqvitals/{__version__}"}
        settings = self._settings
        try:
            if settings.token_file is not None:
                headers["Authorization"] = f"Bearer {settings.token_file.reveal().strip()}"
            tls = None if settings.ca_file is None else ssl.create_default_context(cafile=settings.ca_file)
        except SecretError as error:
            raise FollowError(str(error)) from None
        except (OSError, ssl.SSLError):
            raise FollowError(f"ca_file {settings.ca_file} cannot be read, or holds no certificates in PEM") from None
        return headers, tls


def _peer_of(found: dict[str, Any]) -> PeerStanding:
    role, name, since = found.get("role"), found.get("name"), found.get("since")
    return PeerStanding(
        safe(role) if isinstance(role, str) else "",
        safe(name) if isinstance(name, str) else "",
        since if isinstance(since, int) else None,
    )


def _failure_words(error: Exception) -> str:
    match error:
        case TimeoutError():
            return "it does not answer in time"
        case aiohttp.ClientSSLError():
            return "the TLS handshake failed, or its certificate is not accepted: check ca_file of standby"
        case OSError() if error.errno:
            return f"it cannot be reached ({os.strerror(error.errno)})"
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientPayloadError():
            return "it closed the connection without an answer"
        case _:
            return f"its answer cannot be read ({type(error).__name__})"


def _hint(status: int) -> str:
    if status in (401, 403):
        return ": check token_file of standby, which is that of its serve.token_file"
    if status == 404:
        return ": is it of an earlier version?"
    return ""
