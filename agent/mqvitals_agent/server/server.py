"""The server itself: where it listens, who may ask, what it answers, and how much it takes on at a time."""

from __future__ import annotations

import asyncio
import errno
import hmac
import logging
import math
import os
import ssl
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeVar

from aiohttp import hdrs, web

from mqvitals_agent.errors import MqvitalsError
from mqvitals_agent.log import as_event
from mqvitals_agent.openmetrics.exposition import Format
from mqvitals_agent.openmetrics.segments import Page
from mqvitals_agent.standby.wire import LONGEST_WAIT_S, STANDBY_PATH
from mqvitals_agent.threads import BoundedCall, NoAnswerError, ThreadWorker
from mqvitals_agent.view.status_json import STATUS_PATH
from mqvitals_config.decoding.secret import SecretError
from mqvitals_config.decoding.source import open_regular
from mqvitals_config.sections.serve import ListenAddress, ServeSettings, ServeTlsSettings

_LOG = logging.getLogger(__name__)
_K = TypeVar("_K")
_T = TypeVar("_T")
_PROTOCOL_LOG = logging.getLogger(f"{__name__}.protocol")
_PROTOCOL_LOG.disabled = True
"""What aiohttp says of requests that are no HTTP: anything may connect to a port, and it is answered."""

MOST_CONNECTIONS: Final = 64
MOST_REQUESTS: Final = 16
"""Requests for pages that are made, or sent, at a time."""
_ANSWER_S: Final = 60.0
_WRITE_S: Final = 30.0
"""A page must be made and taken within the first of these times, and taken within the second."""
_FIRST_REQUEST_S: Final = 10.0
"""A connection must have asked something by then."""
_IDLE_S: Final = 75.0
_READ_S: Final = 5.0
"""A token or a certificate must be read within this time."""
_AGAIN_S: Final = 30.0
"""Where it cannot listen it tries again after this time."""
_CHUNK: Final = 1 << 18

_OF_THE_ADDRESS: Final = frozenset({errno.EADDRINUSE, errno.EADDRNOTAVAIL, errno.EACCES})

_METRICS: Final = "/metrics"
_JSON: Final = "application/json; charset=utf-8"
_OPEN: Final = frozenset({"/-/healthy", "/-/ready"})
"""Paths that need no token: they say nothing of the group."""


@dataclass(frozen=True, slots=True)
class Served:
    """What there is to serve. ``metrics`` and ``status`` are called in a thread of the server's, one at a time.

    ``unready`` says why the agent is not ready; empty: it is. ``refused`` is called for each request that was refused.
    ``standby`` answers another agent that follows this one: (who asks, the token of the last answer, how long it waits for
    news, seconds) -> an object of JSON; None: there is but one agent.
    """

    metrics: Callable[[Format], Page]
    status: Callable[[], bytes]
    unready: Callable[[], str]
    refused: Callable[[], None] = lambda: None
    standby: Callable[[str, str, float], Awaitable[bytes]] | None = None


class AgentServer:
    """Serves while ``run`` runs, within one event loop."""

    def __init__(self, settings: ServeSettings, served: Served) -> None:
        self._settings = settings
        self._served = served
        self._worker = ThreadWorker("mqvitals-serve")
        self._pages: dict[Format, asyncio.Task[Page]] = {}
        self._bodies: dict[str, asyncio.Task[bytes]] = {}
        """What is being made."""
        self._requests = 0
        self._silent: dict[int, asyncio.TimerHandle] = {}
        """By connection that has asked nothing yet, what will close it."""
        self._changed = asyncio.Event()
        self._reading_token = BoundedCall()
        self._reading_certificate = BoundedCall()
        self.address: ListenAddress | None = None
        """Where it listens now; None: it does not."""
        self.trouble = ""
        """Why it does not, though it should."""

    @property
    def busy(self) -> int:
        """How many requests for pages are under way."""
        return self._requests

    async def run(self) -> None:
        """Listen by the settings of the moment until cancelled. What goes wrong is logged and tried again."""
        try:
            while True:
                self._changed.clear()
                settings = self._settings
                if settings.listen.off:
                    self.trouble = ""
                    await self._changed.wait()
                    continue
                try:
                    await self._serve(settings)
                except (OSError, ValueError) as error:
                    self._note_trouble(settings.listen, error)
                    await self._wait_for_change(_AGAIN_S)
        finally:
            self._worker.end()

    def use(self, settings: ServeSettings) -> None:
        """Serve by these settings from now on; the certificate is read again."""
        self._settings = settings
        self._changed.set()

    async def _renew(self, context: ssl.SSLContext, tls: ServeTlsSettings) -> None:
        try:
            await self._load(context, tls)
        except (OSError, ValueError) as error:
            _LOG.warning(
                f"the certificate of the server cannot be read again, so it keeps the one it has: {error}",
                extra=as_event("serve.certificate"),
            )

    async def _load(self, context: ssl.SSLContext, tls: ServeTlsSettings) -> None:
        """Raises OSError, of which ssl.SSLError is one, and ValueError."""

        def read() -> None:
            for path in filter(None, (tls.certificate, tls.key)):
                with os.fdopen(open_regular(path), "rb") as file:
                    file.read(1)

        try:
            # A file system that hangs holds up this thread; the context belongs to the loop.
            await self._reading_certificate.run(read, _READ_S)
        except NoAnswerError:
            raise OSError(f"{tls.certificate} could not be read within {_READ_S:g} s: check its file system") from None
        context.load_cert_chain(tls.certificate, tls.key)

    async def _serve(self, settings: ServeSettings) -> None:
        """Listen until the settings change. Raises OSError and ValueError when it cannot."""
        listen, loop = settings.listen, asyncio.get_running_loop()
        context = None
        if settings.tls is not None:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            await self._load(context, settings.tls)
        app = web.Application(middlewares=[self._guarded])
        app.on_response_prepare.append(_name_server)
        app.router.add_get(_METRICS, self._metrics)
        app.router.add_get(STATUS_PATH, self._status)
        if self._served.standby is not None:
            app.router.add_get(STANDBY_PATH, self._standby)
        app.router.add_get("/-/healthy", self._healthy)
        app.router.add_get("/-/ready", self._ready)
        runner = web.AppRunner(
            app,
            handle_signals=False,
            access_log=None,
            logger=_PROTOCOL_LOG,
            keepalive_timeout=_IDLE_S,
            shutdown_timeout=1.0,
        )
        await runner.setup()
        try:
            server = await loop.create_server(
                lambda: self._accepted(runner),
                listen.host or None,
                listen.port,
                ssl=context,
                ssl_handshake_timeout=None if context is None else _FIRST_REQUEST_S,
                reuse_address=True,
            )
            async with server:
                port = server.sockets[0].getsockname()[1]
                self.address, self.trouble = listen._replace(port=port), ""
                scheme = "http" if context is None else "https"
                _LOG.info(
                    f"serves {scheme}://{self.address}{_METRICS}",
                    extra=as_event("serve.listens", address=str(self.address), tls=context is not None),
                )
                while self._settings == settings:
                    await self._changed.wait()
                    if self._settings == settings:
                        self._changed.clear()
                        if context is not None and settings.tls is not None:
                            await self._renew(context, settings.tls)
        finally:
            self.address = None
            await runner.cleanup()

    def _note_trouble(self, listen: ListenAddress, error: Exception) -> None:
        why, advice = str(error), "'mqvitals config check' looks at the files that serve names"
        if isinstance(error, OSError) and error.errno in _OF_THE_ADDRESS:
            # asyncio wraps these in words of its own.
            why, advice = (
                os.strerror(error.errno).lower(),
                "if another program has the port, give serve.listen another one, or off",
            )
        trouble = f"cannot serve at {listen}: {why}"
        if trouble != self.trouble:
            self.trouble = trouble
            _LOG.warning(
                f"{trouble}. Everything else goes on, and it tries again every {_AGAIN_S:g} s; {advice}",
                extra=as_event("serve.fails", address=str(listen)),
            )

    async def _wait_for_change(self, most_s: float) -> None:
        try:
            async with asyncio.timeout(most_s):
                await self._changed.wait()
        except TimeoutError:
            pass

    def _accepted(self, runner: web.AppRunner) -> asyncio.BaseProtocol:
        """The protocol of a new connection; beyond the most of them it is closed at once."""
        server = runner.server
        if server is None or max(len(server.connections), len(self._silent)) >= MOST_CONNECTIONS:
            self._served.refused()
            return _Refused()
        protocol = server()
        key = id(protocol)
        self._silent[key] = asyncio.get_running_loop().call_later(_FIRST_REQUEST_S, self._close_silent, key, protocol)
        return protocol

    def _close_silent(self, key: int, protocol: web.RequestHandler) -> None:
        del self._silent[key]
        if protocol.transport is not None:
            protocol.transport.close()

    @web.middleware
    async def _guarded(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Answer whom may be answered, as far as there is room."""
        silent = self._silent.pop(id(request.protocol), None)
        if silent is not None:
            silent.cancel()
        if request.path in _OPEN:
            return await handler(request)
        refusal = await self._unauthorised(request)
        if refusal is not None:
            return refusal
        if self._requests >= MOST_REQUESTS:
            return self._refuse("too many requests are under way")
        self._requests += 1
        try:
            async with asyncio.timeout(_ANSWER_S):
                return await handler(request)
        except TimeoutError:
            return self._refuse("the page is not ready in time")
        except MqvitalsError as error:
            return _plain(web.HTTPServiceUnavailable.status_code, str(error))
        except web.HTTPException:
            raise
        except Exception as error:  # noqa: BLE001 - a fault of one page must not be silent, nor end the agent
            _LOG.exception(f"a request of {request.path} fails: {error!r}", extra=as_event("serve.failed"))
            return _plain(web.HTTPInternalServerError.status_code, "the page cannot be made; the agent's log says why")
        finally:
            self._requests -= 1

    async def _unauthorised(self, request: web.Request) -> web.Response | None:
        """The answer to who has not shown the token; None: it may go on."""
        secret = self._settings.token_file
        if secret is None:
            return None
        try:
            token = (await self._reading_token.run(secret.reveal, _READ_S)).strip()
        except (SecretError, NoAnswerError) as error:
            why = str(error) or f"{secret.origin} could not be read within {_READ_S:g} s: check its file system"
            _LOG.warning(f"nobody is served: {why}", extra=as_event("serve.token"))
            return _plain(
                web.HTTPServiceUnavailable.status_code, "the token of the server cannot be read; its log says why"
            )
        shown = request.headers.get(hdrs.AUTHORIZATION, "")
        wanted = f"Bearer {token}"
        if hmac.compare_digest(shown.encode("utf-8", "surrogateescape"), wanted.encode()):
            return None
        refusal = _plain(web.HTTPUnauthorized.status_code, "send the token as Authorization: Bearer")
        refusal.headers[hdrs.WWW_AUTHENTICATE] = 'Bearer realm="mqvitals"'
        return refusal

    def _refuse(self, why: str) -> web.Response:
        self._served.refused()
        refusal = _plain(web.HTTPServiceUnavailable.status_code, why)
        refusal.headers[hdrs.RETRY_AFTER] = "5"
        return refusal

    async def _metrics(self, request: web.Request) -> web.StreamResponse:
        form = format_for(request.headers.get(hdrs.ACCEPT, ""))
        gzipped = takes_gzip(request.headers.get(hdrs.ACCEPT_ENCODING, ""))
        page = await self._made(self._pages, form, lambda: self._served.metrics(form))
        if gzipped:
            return await self._send(request, page.gzipped(), page.gzipped_size, form.value, gzipped=True)
        return await self._send(request, page.plain(), page.size, form.value)

    async def _status(self, request: web.Request) -> web.StreamResponse:
        body = await self._made(self._bodies, STATUS_PATH, self._served.status)
        return await self._send(request, (body,), len(body), _JSON)

    async def _standby(self, request: web.Request) -> web.StreamResponse:
        assert self._served.standby is not None
        query = request.query
        try:
            wait_s = float(query.get("wait", "0"))
        except ValueError:
            wait_s = math.nan
        if math.isnan(wait_s):
            return _plain(web.HTTPBadRequest.status_code, "wait is a number of seconds")
        body = await self._served.standby(
            query.get("follower", "")[:64], query.get("after", "")[:64], min(max(wait_s, 0), LONGEST_WAIT_S)
        )
        return await self._send(request, (body,), len(body), _JSON)

    async def _healthy(self, _: web.Request) -> web.Response:
        return _plain(web.HTTPOk.status_code, "the agent is healthy")

    async def _ready(self, _: web.Request) -> web.Response:
        why = self._served.unready()
        if why:
            return _plain(web.HTTPServiceUnavailable.status_code, why)
        return _plain(web.HTTPOk.status_code, "the agent is ready")

    async def _made(self, under_way: dict[_K, asyncio.Task[_T]], key: _K, make: Callable[[], _T]) -> _T:
        """What ``make`` returns, called in the thread of the server; who asks for the same meanwhile gets the same."""
        making = under_way.get(key)
        if making is None:
            under_way[key] = making = asyncio.create_task(self._worker.run(make))
            making.add_done_callback(lambda _: under_way.pop(key, None))
        # Who goes away does not take the page from the others.
        return await asyncio.shield(making)

    async def _send(
        self, request: web.Request, parts: Iterable[bytes], size: int, content_type: str, *, gzipped: bool = False
    ) -> web.StreamResponse:
        """Send a page of ``size`` bytes. Who does not take it in time is cut off."""
        response = web.StreamResponse(
            headers={
                hdrs.CONTENT_TYPE: content_type,
                hdrs.CACHE_CONTROL: "no-store",
                hdrs.VARY: "Accept, Accept-Encoding",
            }
        )
        if gzipped:
            response.headers[hdrs.CONTENT_ENCODING] = "gzip"
        response.content_length = size
        try:
            async with asyncio.timeout(_WRITE_S):
                await response.prepare(request)
                if request.method != hdrs.METH_HEAD:
                    for chunk in chunks(parts):
                        await response.write(chunk)
                await response.write_eof()
        except (TimeoutError, ConnectionError):
            if request.transport is not None:
                request.transport.abort()
        return response


class _Refused(asyncio.Protocol):
    """A connection beyond the most."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Say so, and close it."""
        if isinstance(transport, asyncio.Transport):
            transport.write(b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            transport.close()


def chunks(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces of a size that is good to send; small parts together, large ones in slices."""
    waiting, size = list[bytes](), 0
    for part in parts:
        waiting.append(part)
        size += len(part)
        if size >= _CHUNK:
            whole = b"".join(waiting)
            for begin in range(0, size, _CHUNK):
                yield whole[begin : begin + _CHUNK]
            waiting, size = [], 0
    if size:
        yield b"".join(waiting)


def format_for(accept: str) -> Format:
    """The format that a header Accept asks for: OpenMetrics where it is named, else the older one."""
    return Format.OPENMETRICS if _accepts(accept, "application/openmetrics-text") else Format.TEXT


def takes_gzip(accept_encoding: str) -> bool:
    """Whether a header Accept-Encoding allows gzip."""
    return _accepts(accept_encoding, "gzip")


def _accepts(header: str, wanted: str) -> bool:
    for entry in header.split(","):
        name, *parameters = (part.strip().lower() for part in entry.split(";"))
        if name == wanted:
            weights = [each.removeprefix("q=") for each in parameters if each.startswith("q=")]
            return not weights or weights[-1].strip("0.") != ""
    return False


async def _name_server(_: web.Request, response: web.StreamResponse) -> None:
    response.headers[hdrs.SERVER] = "mqvitals"


def _plain(status: int, words: str) -> web.Response:
    return web.Response(status=status, text=f"{words}\n")
