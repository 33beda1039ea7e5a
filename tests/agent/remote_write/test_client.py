"""A request over HTTP: what it says of itself, what answers mean, and what the doctor finds; over real bytes on loopback."""

from __future__ import annotations

import base64
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import trustme
from aiohttp import web
from aiohttp.test_utils import TestServer
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.engine import Engine
from mqvitals_agent.clock import SystemClock
from mqvitals_agent.doctor.finding import CheckResult
from mqvitals_agent.remote_write.client import Meaning, RemoteWriteClient, meaning_of
from mqvitals_agent.remote_write.probe import SERIES, probe_engines
from mqvitals_agent.remote_write.protocol import compress, encode_labels, encode_sample, series_of
from mqvitals_agent.remote_write.sender import pause_of
from mqvitals_config.decoding.decoder import decode
from mqvitals_config.sections.remote_write import QueueSettings, RemoteWriteSettings
from mqvitals_config.settings import Settings

BODY = compress([series_of(encode_labels((("__name__", "x"),)), encode_sample(1_795_176_000_000, 1))])


@dataclass
class Server:
    """An engine over HTTP. ``answers`` are (status, text, headers) for the next requests; then the engine answers."""

    engine: Engine
    url: str = ""
    answers: list[tuple[int, str, dict[str, str]]] = field(default_factory=list)
    requests: list[dict[str, str]] = field(default_factory=list)

    async def take(self, request: web.Request) -> web.Response:
        body = await request.read()
        self.requests.append({name.lower(): value for name, value in request.headers.items()})
        if self.answers:
            status, said, headers = self.answers.pop(0)
            return web.Response(status=status, text=said, headers=headers)
        status, said = self.engine.take(body)
        return web.Response(status=status, text=said or None)


@asynccontextmanager
async def serving(engine: Engine | None = None, tls: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    server = Server(engine or Engine())
    application = web.Application()
    application.router.add_post("/api/v1/write", server.take)
    running = TestServer(application, host="127.0.0.1", scheme="https" if tls else "http")
    await running.start_server(ssl=tls)
    try:
        server.url = str(running.make_url("/api/v1/write"))
        yield server
    finally:
        await running.close()


def settings_of(url: str, more: str = "") -> RemoteWriteSettings:
    """One engine, as a file gives it."""
    text = f"remote_write:\n  - name: victoria\n    url: {url}\n"
    text += "".join(f"    {line}\n" for line in more.splitlines())
    return decode("mqvitals.yaml", text, Settings).remote_write[0]


async def post(settings: RemoteWriteSettings) -> Any:
    client = RemoteWriteClient(settings, lambda: 1_795_176_000_000)
    try:
        return await client.post(BODY)
    finally:
        await client.aclose()


async def test_a_request_is_what_the_protocol_asks_for() -> None:
    """Its headers, its own ones of the site, and no credentials where none are set."""
    async with serving() as server:
        answer = await post(settings_of(server.url, "headers: {X-Scope-OrgID: mq}"))
        assert answer.meaning is Meaning.TAKEN
        (headers,) = server.requests
        assert headers["content-encoding"] == "snappy"
        assert headers["content-type"] == "application/x-protobuf"
        assert headers["x-prometheus-remote-write-version"] == "0.1.0"
        assert headers["user-agent"].startswith("mqvitals/")
        assert headers["x-scope-orgid"] == "mq"
        assert "authorization" not in headers
        assert server.engine.values((("__name__", "x"),)) == {1_795_176_000_000: 1.0}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("basic_auth: {username: mq, password_file: FILE}", "Basic " + base64.b64encode(b"mq:swordfish").decode()),
        ("authorization: {type: Token, credentials_file: FILE}", "Token swordfish"),
        ("bearer_token_file: FILE", "Bearer swordfish"),
    ],
)
async def test_credentials_come_from_files(tmp_path: Path, more: str, expected: str) -> None:
    """And are in no text of an answer, even where the engine repeats them."""
    path = tmp_path / "secret"
    path.write_text("swordfish\n")
    async with serving() as server:
        server.answers = [(401, f"who is swordfish {expected}?", {})]
        answer = await post(settings_of(server.url, more.replace("FILE", str(path))))
        assert server.requests[0]["authorization"] == expected
        assert answer.meaning is Meaning.AGAIN
        assert "swordfish" not in answer.text
        assert "answered 401" in answer.text
        path.unlink()
        missing = await post(settings_of(server.url, more.replace("FILE", str(path))))
        assert missing.meaning is Meaning.AGAIN
        assert not missing.unknown
        assert "secret" in missing.text


async def test_certificates_are_checked(tmp_path: Path) -> None:
    """By the authority of the settings; any will do only where the settings say so."""
    authority = trustme.CA()
    own = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(own)
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    async with serving(tls=own) as server:
        assert (await post(settings_of(server.url))).meaning is Meaning.AGAIN
        trusting = settings_of(server.url, f"tls_config: {{ca_file: {tmp_path / 'ca.pem'}}}")
        assert (await post(trusting)).meaning is Meaning.TAKEN
        careless = settings_of(server.url, "tls_config: {insecure_skip_verify: true}")
        assert (await post(careless)).meaning is Meaning.TAKEN


async def test_what_is_not_known_is_told(tmp_path: Path) -> None:
    """After a server's failure the samples may have been taken; where nobody listens they were not."""
    async with serving() as server:
        server.answers = [(503, "busy", {"Retry-After": "7"}), (302, "", {"Location": server.url})]
        busy = await post(settings_of(server.url))
        assert (busy.meaning, busy.retry_after, busy.unknown) == (Meaning.AGAIN, 7000, True)
        moved = await post(settings_of(server.url))
        assert moved.meaning is Meaning.AGAIN
        assert "check its address" in moved.text
        address = server.url
    away = await post(settings_of(address))
    assert (away.meaning, away.unknown) == (Meaning.AGAIN, False)
    assert "cannot be reached" in away.text


@given(status=st.integers(200, 599))
def test_each_status_has_a_meaning(status: int) -> None:
    """Only what a repetition cannot mend costs a sample."""
    meaning = meaning_of(status)
    assert (meaning is Meaning.TAKEN) == (status < 300)
    if status >= 500 or status in (401, 403, 404, 408, 429):
        assert meaning is Meaning.AGAIN
    if status in (400, 409, 422):
        assert meaning is Meaning.REFUSED
    if meaning is Meaning.REFUSED:
        assert 400 <= status < 500


@given(
    failures=st.integers(1, 10_000),
    chance=st.floats(0, 1),
    shortest=st.integers(1, 600_000),
    more=st.integers(0, 600_000),
    after=st.none() | st.integers(0, 10**7),
)
def test_pauses_grow_to_the_longest(failures: int, chance: float, shortest: int, more: int, after: int | None) -> None:
    """Never shorter than half of the first, nor than the engine asks for; never longer than both allow."""
    queue = QueueSettings(min_backoff=shortest, max_backoff=shortest + more)
    pause = pause_of(failures, chance, queue, after)
    assert pause >= max(shortest // 2, after or 0, 1)
    assert pause <= max(shortest + more, after or 0)


async def test_the_doctor_asks_each_engine() -> None:
    """One takes late samples, one does not and is advised, one is away; the series is ended again."""
    async with serving() as good, serving(Engine(strict=True)) as strict:
        engines = [settings_of(good.url), settings_of(strict.url), settings_of("http://127.0.0.1:1/api/v1/write")]
        findings = await probe_engines(engines, SystemClock(), "a1b2")
        results = [each.result for each in findings]
        assert results == [
            CheckResult.WORKS,
            CheckResult.WORKS,
            CheckResult.WORKS,
            CheckResult.ADVISED,
            CheckResult.NO_ANSWER,
        ]
        assert "out_of_order_time_window" in " ".join(findings[3].text)
        (series,) = good.engine.named(SERIES)
        assert dict(series)["probe"] == "a1b2"
        assert len(good.engine.ends(series)) == 1
        assert len(good.engine.values(series)) == 2
