"""Receivers over HTTP: headers, proxy, TLS, a signature; receivers that are down, slow or half open; what is shown."""

from __future__ import annotations

import asyncio
import hmac
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import trustme
from aiohttp import web
from aiohttp.test_utils import TestServer

from mqvitals_agent.notify.notification import Notification
from mqvitals_agent.notify.receiver import DeliveryOutcome, DeliveryStatus, trial_notifications
from mqvitals_agent.notify.receivers.webhook import SIGNATURE, WebhookReceiver
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.decoding.secret import Secret, WebAddress
from mqvitals_config.receivers.http import WebhookSettings

NOW = 1_795_176_000_000
AGAIN, ACCEPTED = DeliveryStatus.AGAIN, DeliveryStatus.ACCEPTED


def located(text: str) -> LocatedText:
    return LocatedText(text, Place("mqvitals.yaml", 1, 1))


def settings_of(url: str, **others: Any) -> WebhookSettings:
    return WebhookSettings(located("ops"), url=WebAddress(url), **others)


def trial(settings: WebhookSettings) -> Notification:
    return trial_notifications(settings, NOW)[0]


async def sent(settings: WebhookSettings) -> DeliveryOutcome:
    """The outcome of one attempt to send the test alert."""
    receiver = WebhookReceiver(settings, lambda: NOW)
    try:
        return await receiver.send(trial(settings))
    finally:
        await receiver.aclose()


async def test_headers_of_the_site(hook: Any, secret: Callable[[str, str], Secret]) -> None:
    """Those of the settings, those in files, and the agent's own; of two with one name the site's counts."""
    settings = settings_of(
        hook.url,
        headers={"X-Site": "north", "user-agent": "ours"},
        headers_files={"X-Api-Key": secret("key", "Ksecret")},
    )
    assert (await sent(settings)).status is ACCEPTED
    (headers,) = hook.headers
    assert headers["X-Site"] == "north"
    assert headers["X-Api-Key"] == "Ksecret"
    assert headers["User-Agent"] == "ours"
    assert headers["Content-Type"] == "application/json"


async def test_a_header_in_a_file_that_cannot_be_one(hook: Any, secret: Callable[[str, str], Secret]) -> None:
    """Nothing is sent, and nothing of it is said."""
    settings = settings_of(hook.url, headers_files={"X-Api-Key": secret("key", "Ksecret\r\nX-Evil: 1")})
    outcome = await sent(settings)
    assert outcome.status is AGAIN
    assert "holds characters that a header cannot" in outcome.text
    assert "Ksecret" not in outcome.text
    assert hook.requests == []


async def test_a_signature_can_be_verified(hook: Any, secret: Callable[[str, str], Secret]) -> None:
    """As docs/webhooks.md says: over the time, a full stop and the body as it came."""
    bodies: list[bytes] = []

    async def keep(request: web.Request) -> web.Response:
        bodies.append(await request.read())
        return web.Response()

    hook.answers = [keep]
    assert (await sent(settings_of(hook.url, hmac_secret_file=secret("hmac", "Hsecret")))).status is ACCEPTED
    parts = dict(part.split("=", 1) for part in hook.headers[0][SIGNATURE].split(","))
    assert parts["t"] == str(NOW // 1000)
    expected = hmac.new(b"Hsecret", parts["t"].encode() + b"." + bodies[0], "sha256").hexdigest()
    assert parts["v1"] == expected


async def test_a_redirect_is_not_followed(hook: Any, hooks: Any) -> None:
    """The address that it names gets nothing."""
    other = await hooks()

    async def away(_: web.Request) -> web.Response:
        raise web.HTTPTemporaryRedirect(other.url)

    hook.answers = [away]
    outcome = await sent(settings_of(hook.url))
    assert outcome.status is AGAIN
    assert outcome.text.endswith("answered 307: 307: Temporary Redirect; check its address")
    assert other.requests == []


@pytest.mark.parametrize(
    ("header", "ms"), [("120", 120_000), ("Fri, 20 Nov 2026 12:00:30 GMT", 30_000), ("soon", None)]
)
async def test_a_receiver_that_asks_for_time(hook: Any, header: str, ms: int | None) -> None:
    """429 with Retry-After."""

    async def busy(_: web.Request) -> web.Response:
        return web.Response(status=429, headers={"Retry-After": header})

    hook.answers = [busy]
    outcome = await sent(settings_of(hook.url))
    assert (outcome.status, outcome.retry_after_ms) == (AGAIN, ms)


async def test_nobody_listens() -> None:
    """Said with the host alone."""
    outcome = await sent(settings_of("http://127.0.0.1:1/Tsecretpath"))
    assert outcome == DeliveryOutcome(AGAIN, "http://127.0.0.1:1 cannot be reached (Connection refused)")


@asynccontextmanager
async def serving(
    handle: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncIterator[str]:
    """A server of bytes on 127.0.0.1; gives host and port."""
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


async def test_a_receiver_that_never_answers() -> None:
    """A connection that is open and silent: given up after the timeout."""
    done = asyncio.Event()

    async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await done.wait()
        writer.close()

    async with serving(silent) as host:
        outcome = await sent(settings_of(f"http://{host}/", timeout=50))
        done.set()
    assert outcome == DeliveryOutcome(AGAIN, f"http://{host} did not answer within 50ms")


async def test_a_receiver_that_closes_without_an_answer() -> None:
    """Half open: the request was read, and nothing came back."""

    async def gone(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.transport.abort()

    async with serving(gone) as host:
        outcome = await sent(settings_of(f"http://{host}/"))
    assert outcome == DeliveryOutcome(AGAIN, f"http://{host} closed the connection without an answer")


@dataclass
class Proxy:
    """A proxy: answers plain requests itself with 200, and connects for TLS. ``heads`` are what it was asked."""

    status: str = "200 OK"
    heads: list[str] = field(default_factory=list)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        verb, target, _ = head.split(" ", 2)
        if verb != "CONNECT" or not self.status.startswith("200"):
            writer.write(f"HTTP/1.1 {self.status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
            await writer.drain()
            writer.close()
            return
        host, _, port = target.partition(":")
        there, back = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await asyncio.gather(_pump(reader, back), _pump(there, writer))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def test_a_plain_request_through_a_proxy(secret: Callable[[str, str], Secret]) -> None:
    """With the name and password of the file, and the host in the request."""
    proxy = Proxy()
    async with serving(proxy.handle) as host:
        outcome = await sent(
            settings_of(
                "http://alerts.example.com/hook",
                proxy=f"http://{host}",
                proxy_credentials_file=secret("proxy", "user:Ppassword"),
            )
        )
    assert outcome.status is ACCEPTED
    (head,) = proxy.heads
    assert head.startswith("POST http://alerts.example.com/hook HTTP/1.1")
    assert "Proxy-Authorization: Basic dXNlcjpQcGFzc3dvcmQ=" in head


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("407 No", "the proxy answered 407; check proxy and proxy_credentials_file"),
        ("502 No", "the proxy answered 502"),
    ],
)
async def test_a_proxy_that_refuses(status: str, said: str) -> None:
    """Said as the proxy's answer, not as the receiver's."""
    proxy = Proxy(status)
    async with serving(proxy.handle) as host:
        outcome = await sent(settings_of("https://alerts.example.com/hook", proxy=f"http://{host}"))
    assert outcome.status is AGAIN
    assert outcome.text.startswith(f"https://alerts.example.com cannot be reached: {said}")


async def test_a_proxy_that_is_down() -> None:
    """Said as such."""
    outcome = await sent(settings_of("http://alerts.example.com/hook", proxy="http://127.0.0.1:1"))
    assert outcome.status is AGAIN
    assert "http://alerts.example.com cannot be reached: the proxy does not answer (Connection refused)" in outcome.text


@dataclass
class Trust:
    """An authority of the site, a TLS server that it signed, and files for a client."""

    url: str
    ca: LocatedText
    client: LocatedText
    key: LocatedText
    names: list[str]


@pytest.fixture
async def trust(authority: trustme.CA, tmp_path: Path) -> AsyncIterator[Trust]:
    """A server that only takes clients with a certificate of the authority."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost").configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    names: list[str] = []

    async def handle(request: web.Request) -> web.Response:
        assert request.transport is not None
        subject = request.transport.get_extra_info("peercert")["subjectAltName"]
        names.append(subject[0][1])
        return web.Response()

    app = web.Application()
    app.router.add_post("/", handle)
    server = TestServer(app, host="localhost", scheme="https")
    await server.start_server(ssl=context)
    client = authority.issue_cert("agent@site.example")
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    client.cert_chain_pems[0].write_to_path(str(tmp_path / "agent.pem"))
    client.private_key_pem.write_to_path(str(tmp_path / "agent.key"))
    yield Trust(
        str(server.make_url("/")),
        located(str(tmp_path / "ca.pem")),
        located(str(tmp_path / "agent.pem")),
        located(str(tmp_path / "agent.key")),
        names,
    )
    await server.close()


async def test_an_authority_and_a_client_certificate_of_the_site(trust: Trust) -> None:
    """Both sides know each other."""
    settings = settings_of(trust.url, ca_file=trust.ca, client_certificate=trust.client, client_key_file=trust.key)
    assert (await sent(settings)).status is ACCEPTED
    assert trust.names == ["agent@site.example"]


async def test_tls_through_a_proxy(trust: Trust) -> None:
    """The proxy is asked to connect, and sees nothing of the request."""
    proxy = Proxy()
    async with serving(proxy.handle) as host:
        outcome = await sent(
            settings_of(
                trust.url,
                ca_file=trust.ca,
                client_certificate=trust.client,
                client_key_file=trust.key,
                proxy=f"http://{host}",
            )
        )
    assert outcome.status is ACCEPTED
    assert proxy.heads[0].startswith("CONNECT localhost:")


async def test_a_server_of_an_unknown_authority(trust: Trust) -> None:
    """It gets nothing."""
    outcome = await sent(settings_of(trust.url))
    assert outcome.status is AGAIN
    assert "cannot be trusted" in outcome.text
    assert trust.names == []


async def test_a_server_that_misses_the_certificate_of_the_agent(trust: Trust) -> None:
    """Its refusal is an attempt that is made again."""
    outcome = await sent(settings_of(trust.url, ca_file=trust.ca))
    assert outcome.status is AGAIN
    assert trust.names == []


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ({"ca_file": "none.pem"}, "ca_file none.pem cannot be read: No such file or directory"),
        ({"ca_file": "KEY"}, "ca_file KEY holds no certificate and key in PEM"),
        ({"client_certificate": "none.pem"}, "client_certificate none.pem cannot be read: No such file"),
        ({"client_certificate": "CLIENT"}, "client_certificate CLIENT holds no certificate and key in PEM"),
        (
            {"client_certificate": "CLIENT", "client_key_file": "CA"},
            "client_certificate CLIENT or client_key_file CA holds no certificate and key in PEM",
        ),
    ],
)
async def test_certificates_that_cannot_be_used(trust: Trust, others: dict[str, str], said: str) -> None:
    """An attempt that is made again, and the file to mend."""
    files = {"KEY": trust.key, "CLIENT": trust.client, "CA": trust.ca}
    given = {name: files.get(value, located(value)) for name, value in others.items()}
    outcome = await sent(settings_of(trust.url, **given))
    for word, path in files.items():
        said = said.replace(f" {word}", f" {path}")
    assert outcome.status is AGAIN
    assert outcome.text.startswith(said)


async def test_an_answer_that_repeats_secrets(hook: Any, secret: Callable[[str, str], Secret]) -> None:
    """None of them is said again."""

    async def echo(request: web.Request) -> web.Response:
        heads = " ".join(request.headers.values())
        return web.Response(status=500, text=f"{request.path_qs} {heads}")

    hook.answers = [echo]
    settings = settings_of(
        hook.url,
        token_file=secret("token", "Btokensecret"),
        headers_files={"X-Api-Key": secret("key", "Ksecret")},
    )
    outcome = await sent(settings)
    assert not any(word in outcome.text for word in ("Btokensecret", "Ksecret", "Tsecretpath", "Qsecretkey"))
    assert "(hidden)" in outcome.text


def test_what_is_shown_has_no_secret_and_needs_none() -> None:
    """Of the address only the host; of headers that hold secrets only their names. The files need not be there."""
    absent = Secret.in_file(located("/absent/file"))
    settings = settings_of(
        "https://user:Ppassword@alerts.example.com/Tsecretpath",
        token_file=absent,
        hmac_secret_file=absent,
        headers={"X-Site": "north"},
        headers_files={"X-Api-Key": absent},
    )
    head, _, body = WebhookReceiver(settings, lambda: NOW).shown(trial(settings)).partition("\n\n")
    first, agent_type, agent, *others = head.splitlines()
    assert first == "POST https://alerts.example.com"
    assert agent_type == "Content-Type: application/json"
    assert agent.startswith("User-Agent: mqvitals/")
    assert others == [
        "X-Site: north",
        "X-Api-Key: (hidden)",
        "Authorization: (hidden)",
        "X-Mqvitals-Signature: (hidden)",
    ]
    assert json.loads(body)["alerts"][0]["labels"]["alertname"] == "MQVITALS-TEST"
    in_file = WebhookSettings(located("ops"), url_file=absent)
    shown = WebhookReceiver(in_file, lambda: NOW).shown(trial(in_file))
    assert shown.startswith("POST (hidden) address in file /absent/file\n")
