"""Posting a notice to a receiver's webhook."""

from __future__ import annotations

import asyncio
import os
import re
from base64 import b64encode
from collections.abc import Callable
from typing import Protocol
from urllib.parse import unquote

import aiohttp
from yarl import URL

from mqvitals_agent import __version__
from mqvitals_agent.bounded_call import BoundedCall, NoAnswerError
from mqvitals_agent.notify.answer import Answer, Verdict, retry_after_ms, shown_body, to_be_mended, verdict_of
from mqvitals_config.receiver import Receiver
from mqvitals_config.scalars import format_duration
from mqvitals_config.secret import SecretError, checked_address, shown_address

_BODY_BYTES = 4096
_PIECE = re.compile(r"[^/?&=#:@]{6,}")


class Post(Protocol):
    """Makes one attempt at delivering a notice."""

    async def __call__(self, receiver: Receiver, payload: str) -> Answer:
        """What came of it; raises nothing that a receiver or the network can cause."""
        ...


class WebhookPost:
    """Posts by HTTP. Address and token are read anew for every attempt: a changed file works without a restart.

    ``now`` is the time in ms UTC. Neither address nor token stands in any text that this class gives back. ``secrets_of``
    gives a receiver's address and token, raises SecretError, and may hang: it runs in a thread.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        now: Callable[[], int],
        secrets_of: Callable[[Receiver], tuple[str, str]] | None = None,
    ) -> None:
        self._session = session
        self._now = now
        self._secrets_of = secrets_of or _secrets
        self._reading = BoundedCall()

    async def __call__(self, receiver: Receiver, payload: str) -> Answer:
        """One attempt: its secrets are read and its answer comes within the receiver's timeout each."""
        limit_s = receiver.timeout / 1000
        try:
            address, token = await self._reading.run(lambda: self._secrets_of(receiver), limit_s)
            checked_address(address)
        except NoAnswerError:
            kept = " or ".join(
                secret.origin for secret in (receiver.address, receiver.token_file) if secret is not None
            )
            within = format_duration(receiver.timeout)
            return Answer(Verdict.AGAIN, f"{kept} could not be read within {within}: see to its file system")
        except SecretError as error:
            return Answer(Verdict.AGAIN, str(error))
        except ValueError as error:
            return Answer(Verdict.AGAIN, f"{receiver.address.origin}: {error}")
        if not (token.isascii() and token.isprintable()):
            origin = receiver.token_file.origin if receiver.token_file else ""
            return Answer(Verdict.AGAIN, f"the token in {origin} holds characters that a header cannot")
        host = shown_address(address)
        try:
            url = URL(address)
            headers = {"Content-Type": "application/json", "User-Agent": f"mqvitals/{__version__}"}
            if token:
                url = url.with_user(None)  # a header of both would be refused
                headers["Authorization"] = f"Bearer {token}"
            async with self._session.post(
                url,
                data=payload.encode(),
                headers=headers,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=limit_s),
            ) as response:
                verdict = verdict_of(response.status)
                if verdict is Verdict.ACCEPTED:
                    return Answer(verdict, f"{host} answered {response.status}")
                body = await _beginning(response)
                said = "; ".join(
                    filter(None, (shown_body(body, _pieces(address, token)), to_be_mended(response.status)))
                )
                return Answer(
                    verdict,
                    f"{host} answered {response.status}" + (f": {said}" if said else ""),
                    retry_after_ms(response.headers.get("Retry-After"), self._now()),
                )
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # Their own texts may hold the address.
            return Answer(Verdict.AGAIN, f"{host} {_explained(error, receiver.timeout)}")


def open_session() -> aiohttp.ClientSession:
    """A session for one receiver: no cookies, no connection kept. To be closed.

    Notices are rare, and a kept connection that the other side has closed would make one be sent twice.
    """
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=1, force_close=True), cookie_jar=aiohttp.DummyCookieJar()
    )


def _secrets(receiver: Receiver) -> tuple[str, str]:
    """The address and the token, which is empty without one. Raises SecretError."""
    token = receiver.token_file.reveal().strip() if receiver.token_file else ""
    return receiver.address.reveal().strip(), token


async def _beginning(response: aiohttp.ClientResponse) -> bytes:
    """What has come of a body, at most a few KB. The status has told what matters: a body that fails is no body."""
    body = b""
    try:
        while len(body) < _BODY_BYTES and (chunk := await response.content.read(_BODY_BYTES - len(body))):
            body += chunk
    except (aiohttp.ClientError, OSError):
        return body
    return body


def _pieces(address: str, token: str) -> set[str]:
    """Every text that may be a secret and that an answer may repeat."""
    tail = address.partition("://")[2].partition("/")[2]
    userinfo = address.partition("://")[2].rpartition("@")[0]
    found = {address, token, *_PIECE.findall(tail), *_PIECE.findall(userinfo)}
    found |= {unquote(piece) for piece in found}
    if userinfo:
        # As the header has them.
        found.add(b64encode(unquote(userinfo).encode()).decode())
    return {piece for piece in found if piece}


def _explained(error: Exception, timeout_ms: int) -> str:
    match error:
        case TimeoutError() | asyncio.TimeoutError():
            return f"did not answer within {format_duration(timeout_ms)}"
        case aiohttp.ClientConnectorDNSError():
            return "cannot be found: its name is not known"
        case aiohttp.ClientSSLError():
            return "cannot be trusted: the TLS handshake failed, or its certificate is not accepted"
        case aiohttp.ClientConnectorError():
            return f"cannot be reached ({_cause(error.os_error)})"
        case aiohttp.ServerDisconnectedError() | ConnectionError():
            return "closed the connection without an answer"
        case _:
            return f"cannot be posted to ({type(error).__name__})"


def _cause(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else type(error).__name__
