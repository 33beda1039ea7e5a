"""One request to an engine, and what its answer means for the samples in it."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

import aiohttp
from yarl import URL

from mqvitals_agent import __version__
from mqvitals_agent.notify.receivers.attempt import AttemptError, Reveal, excerpt
from mqvitals_agent.notify.receivers.http import body_start, failure_text
from mqvitals_agent.notify.receivers.http_text import retry_after_ms, secret_parts, settings_hint
from mqvitals_agent.remote_write.access import authorization_of, read_access
from mqvitals_agent.remote_write.protocol import HEADERS
from mqvitals_agent.threads import BoundedCall, NoAnswerError
from mqvitals_config.decoding.scalars import format_duration
from mqvitals_config.decoding.secret import Secret, SecretError
from mqvitals_config.sections.remote_write import RemoteWriteSettings


class Meaning(Enum):
    """What an answer means for the samples of the request."""

    TAKEN = "taken"
    REFUSED = "refused"  # one of them at least, for what it is: repeated as it is the request would be refused again
    TOO_LARGE = "too large"  # the request, whatever is in it
    AGAIN = "again"  # it says nothing about them: the engine, the network or a setting is at fault


@dataclass(frozen=True, slots=True)
class PostOutcome:
    """The outcome of an attempt, with a text for people that holds no secret.

    ``retry_after`` is the least pause that the engine asks for, ms. ``unknown``: it may have taken the samples all the same.
    """

    meaning: Meaning
    text: str = ""
    retry_after: int | None = None
    unknown: bool = False


_TOO_LARGE: Final = 413
_CONFLICT: Final = 409
_AGAIN: Final = frozenset({408, 425, 429})
_OF_SETTINGS: Final = frozenset({401, 403, 404, 405, 407, 410})
_CLIENT_ERRORS: Final = range(400, 500)


def meaning_of(status: int) -> Meaning:
    """The meaning of an HTTP status.

    A wrong password or address, and a redirect, say nothing about samples: nothing is lost by it while the store has them, so
    they wait until the setting is right.
    """
    if 200 <= status < 300:
        return Meaning.TAKEN
    if status == _TOO_LARGE:
        return Meaning.TOO_LARGE
    if status in _CLIENT_ERRORS and status not in _AGAIN | _OF_SETTINGS:
        return Meaning.REFUSED
    return Meaning.AGAIN


class RemoteWriteClient:
    """Posts bodies to an engine over a connection that is kept. Order and pauses are not its business.

    Secrets and certificates are read again after each failure: a changed file works without a restart. ``now`` returns the time
    in ms UTC.
    """

    def __init__(
        self, settings: RemoteWriteSettings, now: Callable[[], int], *, reveal: Reveal = Secret.reveal
    ) -> None:
        self._settings = settings
        self._now = now
        self._reveal = reveal
        self._reading = BoundedCall()
        self._session: aiohttp.ClientSession | None = None
        self._headers: Mapping[str, str] = {}
        self._url = URL()
        self._tls: ssl.SSLContext | bool = True
        self._secrets: frozenset[str] = frozenset()

    @property
    def address(self) -> str:
        """Where it posts to, as far as that is shown."""
        return self._settings.url.origin

    async def post(self, body: bytes) -> PostOutcome:
        """Post a compressed request, once. Raises nothing that the engine or the network can cause."""
        sent = False
        try:
            session = await self._begun()
            sent = True
            answer = await self._post(session, body)
        except AttemptError as error:
            answer = PostOutcome(Meaning.AGAIN, str(error))
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # Their own texts may hold the address.
            text = f"{self.address} {failure_text(error, self._settings.remote_timeout)}"
            unknown = sent and not isinstance(error, aiohttp.ClientConnectorError)
            answer = PostOutcome(Meaning.AGAIN, text, unknown=unknown)
        if answer.meaning is Meaning.AGAIN:
            await self.aclose()
        return answer

    async def aclose(self) -> None:
        """Close the connection; the next request opens another one."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _post(self, session: aiohttp.ClientSession, body: bytes) -> PostOutcome:
        async with session.post(
            self._url, data=body, headers=self._headers, allow_redirects=False, ssl=self._tls
        ) as response:
            meaning = meaning_of(response.status)
            text = f"{self.address} answered {response.status}"
            if meaning is Meaning.TAKEN:
                return PostOutcome(meaning, text)
            said = excerpt(await body_start(response), secret_parts(str(self._url), self._secrets))
            if details := "; ".join(filter(None, (said, settings_hint(response.status)))):
                text += f": {details}"
            pause = retry_after_ms(response.headers.get("Retry-After"), self._now())
            # A server that fails, and whoever is before it, may have handed the samples on.
            return PostOutcome(meaning, text, pause, unknown=response.status >= 500)

    async def _begun(self) -> aiohttp.ClientSession:
        """The session, with secrets and certificates as they are now where it is new. Raises AttemptError and ValueError."""
        if self._session is not None:
            return self._session
        settings = self._settings
        try:
            texts, self._tls = await self._reading.run(self._read, settings.remote_timeout / 1000)
        except NoAnswerError:
            within = format_duration(settings.remote_timeout)
            raise AttemptError(
                f"the files that remote_write names could not be read within {within}: check their file system"
            ) from None
        except SecretError as error:
            raise AttemptError(str(error)) from None
        url = URL(settings.url.reveal())
        headers = {"User-Agent": f"mqvitals/{__version__}", **settings.headers, **HEADERS}
        authorization = authorization_of(settings, texts)
        if authorization:
            headers["Authorization"] = authorization
            url = url.with_user(None)  # aiohttp refuses credentials in both places
        self._url, self._headers, self._secrets = url, headers, frozenset(texts.values())
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=1),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=settings.remote_timeout / 1000),
        )
        return self._session

    def _read(self) -> tuple[dict[Secret, str], ssl.SSLContext | bool]:
        return read_access(self._settings, self._reveal)
