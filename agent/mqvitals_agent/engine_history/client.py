"""Asks an engine for the result of a query over HTTP, and waits for it: for threads that read, not for the event loop.

The time that an answer may take is bounded, and so is its size, compressed or not.
"""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Final
from urllib.parse import unquote, urlencode, urlsplit

from mqvitals_agent import __version__
from mqvitals_agent.engine_history.answer import AnsweredSeries, EngineError, decode_answer, error_of
from mqvitals_agent.notify.receivers.attempt import AttemptError, Reveal, excerpt, os_error_text, tls_trouble
from mqvitals_agent.notify.receivers.http_text import secret_parts, settings_hint
from mqvitals_agent.remote_write.access import authorization_of, basic_authorization, read_access
from mqvitals_config.decoding.scalars import format_duration
from mqvitals_config.decoding.secret import Secret, SecretError
from mqvitals_config.sections.history import HistorySettings

MOST_BYTES: Final = 48 * 1024**2
"""The longest answer that is read, bytes as text."""
_AT_ONCE: Final = 65_536
_EXCERPT_BYTES: Final = 4_096
_QUERY_PATH: Final = "/api/v1/query"
_TOO_MANY: Final = ("too many samples", "maxsamplesper", "max-samples", "maxuniquetimeseries", "limit")
"""Words with which engines refuse queries for what they would read."""
_BROKEN: Final = (OSError, http.client.HTTPException, ValueError, zlib.error)
"""What a request raises whose answer does not come, or is none."""
_UNPROCESSABLE: Final = frozenset({422, 503})


class TooLargeError(EngineError):
    """An answer is larger than is read, or than the engine makes: a smaller part of it is to be asked for."""


class QueryClient:
    """Asks an engine over a connection that is kept. Use it from one thread; ``close`` it.

    Secrets and certificates are read again for each new connection.
    """

    def __init__(
        self,
        settings: HistorySettings,
        *,
        reveal: Reveal = Secret.reveal,
        most_bytes: int = MOST_BYTES,
        steady_s: Callable[[], float] = time.monotonic,
    ) -> None:
        assert settings.url is not None, "a backend without an address is a problem of the settings"
        self._settings = settings
        self._url = settings.url
        self._reveal = reveal
        self._most_bytes = most_bytes
        self._steady_s = steady_s
        self._connection: http.client.HTTPConnection | None = None
        self._path = ""
        self._headers: dict[str, str] = {}
        self._secrets: frozenset[str] = frozenset()

    @property
    def engine(self) -> str:
        """Where it asks, as far as that is shown."""
        return self._url.origin

    def close(self) -> None:
        """Close the connection; the next query opens another one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def ask(self, query: str, at: int) -> tuple[AnsweredSeries, ...]:
        """The series of an instant query as of ``at`` (ms UTC).

        Raises TooLargeError, and EngineError where there is no answer.
        """
        parameters = {
            "query": query,
            "time": f"{at / 1000:.3f}",
            "timeout": f"{self._settings.timeout}ms",
            # Nothing of an answer is to be missing without a word: as Thanos and VictoriaMetrics write it.
            "partial_response": "false",
            "deny_partial_response": "1",
            # Of VictoriaMetrics: the newest samples too.
            "nocache": "1",
        }
        return decode_answer(self._post(urlencode(parameters).encode()), self.engine)

    def _post(self, body: bytes) -> bytes:
        kept = self._connection is not None
        try:
            return self._exchange(body)
        except (http.client.RemoteDisconnected, ConnectionError) as error:
            self.close()
            if not kept:
                raise self._failure(error) from None
        except _BROKEN as error:
            self.close()
            raise self._failure(error) from None
        # The engine has closed a connection that nobody used for a while.
        try:
            return self._exchange(body)
        except _BROKEN as error:
            self.close()
            raise self._failure(error) from None

    def _exchange(self, body: bytes) -> bytes:
        """One request. Raises EngineError and one of ``_BROKEN``."""
        timeout_s = self._settings.timeout / 1000
        ends = self._steady_s() + timeout_s
        connection = self._connected()
        if connection.sock is None:
            connection.connect()
        # What trickles in keeps a socket's own time limit from ever coming: the connection is cut when the time is over.
        timer = threading.Timer(max(ends - self._steady_s(), 0), _cut, (connection.sock,))
        timer.daemon = True
        timer.start()
        try:
            connection.request("POST", self._path, body, self._headers)
            response = connection.getresponse()
            found = self._body(response)
        except _BROKEN:
            if self._steady_s() >= ends:
                raise TimeoutError from None
            raise
        finally:
            timer.cancel()
        if self._steady_s() >= ends:
            # A connection that is cut among the headers looks like an answer without a body.
            raise TimeoutError
        if response.status == http.client.OK:
            return found
        self.close()
        raise self._refusal(response.status, found)

    def _body(self, response: http.client.HTTPResponse) -> bytes:
        """The body of an answer as text; of a refusal its beginning. Raises TooLargeError."""
        most = self._most_bytes if response.status == http.client.OK else _EXCERPT_BYTES
        packed = response.headers.get("Content-Encoding", "").strip().lower() == "gzip"
        unpack = zlib.decompressobj(zlib.MAX_WBITS + 16) if packed else None
        parts: list[bytes] = []
        size = 0
        while size <= most and (read := response.read1(_AT_ONCE)):
            part = read if unpack is None else unpack.decompress(read, most + 1 - size)
            size += len(part)
            parts.append(part)
        if size <= most:
            response.read()  # nothing more, but only this ends a response whose length was announced
            return b"".join(parts)
        self.close()
        if response.status != http.client.OK:
            return b"".join(parts)[:most]
        raise TooLargeError(
            f"{self.engine} answered with more than {self._most_bytes // 1024**2} MB", "ask for less at once"
        )

    def _refusal(self, status: int, body: bytes) -> EngineError:
        said = excerpt(body, secret_parts(self._url.reveal(), self._secrets))
        with suppress(ValueError, RecursionError):
            said = error_of(json.loads(body)) or said
        said = excerpt(said, secret_parts(self._url.reveal(), self._secrets))
        text = f"{self.engine} answered {status}" + (f": {said}" if said else "")
        if status in _UNPROCESSABLE and any(words in said.lower() for words in _TOO_MANY):
            return TooLargeError(text, "ask for less at once")
        return EngineError(text, settings_hint(status) or "its log says more")

    def _failure(self, error: Exception) -> EngineError:
        """Why there is no answer; the texts of errors may hold the address and are not shown."""
        match error:
            case TimeoutError():
                within = format_duration(self._settings.timeout)
                return EngineError(f"{self.engine} did not answer within {within}", "see history.timeout")
            case ssl.SSLError():
                return EngineError(f"{self.engine} {tls_trouble(error)}", "check history.tls_config")
            case http.client.RemoteDisconnected() | ConnectionResetError() | BrokenPipeError():
                return EngineError(f"{self.engine} closed the connection without an answer", "check history.url")
            case OSError():
                return EngineError(
                    f"{self.engine} cannot be reached ({os_error_text(error)})", "is it running? check history.url"
                )
            case _:
                return EngineError(
                    f"{self.engine} does not answer as an HTTP server ({type(error).__name__})", "check history.url"
                )

    def _connected(self) -> http.client.HTTPConnection:
        """The connection, with secrets and certificates as they are now where it is new. Raises EngineError."""
        if self._connection is not None:
            return self._connection
        try:
            texts, tls = read_access(self._settings, self._reveal)
            authorization = authorization_of(self._settings, texts)
        except (SecretError, AttemptError, ValueError) as error:
            raise EngineError(f"history: {error}", "check the files that history names") from None
        address = urlsplit(self._url.reveal())
        secrets = set(texts.values())
        if not authorization and address.username is not None:
            name, password = unquote(address.username), unquote(address.password or "")
            authorization = basic_authorization(name, password)
            secrets |= {name, password}
        self._secrets = frozenset(filter(None, secrets))
        self._headers = {
            "User-Agent": f"mqvitals/{__version__}",
            **self._settings.headers,
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        if authorization:
            self._headers["Authorization"] = authorization
        self._path = address.path.rstrip("/").removesuffix(_QUERY_PATH) + _QUERY_PATH
        if address.query:
            self._path += f"?{address.query}"
        timeout_s = self._settings.timeout / 1000
        host = address.hostname or ""
        if address.scheme == "https":
            self._connection = http.client.HTTPSConnection(
                host, address.port, timeout=timeout_s, context=_context(tls=tls)
            )
        else:
            self._connection = http.client.HTTPConnection(host, address.port, timeout=timeout_s)
        return self._connection


def _context(*, tls: ssl.SSLContext | bool) -> ssl.SSLContext:
    if isinstance(tls, ssl.SSLContext):
        return tls
    context = ssl.create_default_context()
    if not tls:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _cut(connection: socket.socket) -> None:
    """End whatever waits for a connection."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
