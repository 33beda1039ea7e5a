"""The agent's small server: who is answered, with what, and how much it takes on at a time."""

from __future__ import annotations

import asyncio
import gzip
import logging
import random
import ssl
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import trustme
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.errors import MqvitalsError
from mqvitals_agent.openmetrics.exposition import Format
from mqvitals_agent.openmetrics.segments import Page, Segment
from mqvitals_agent.server import server as module
from mqvitals_agent.server.server import AgentServer, Served, chunks, format_for, takes_gzip
from mqvitals_agent.standby.wire import LONGEST_WAIT_S, STANDBY_PATH
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.decoding.secret import Secret
from mqvitals_config.sections.serve import ListenAddress, ServeSettings, ServeTlsSettings

FREE = ListenAddress("127.0.0.1", 0)
CONTENT = b"mqvitals_agent_cycles_total 1\n" * 1000


def page(form: Format) -> Page:
    """A page that says its format."""
    return Page((Segment.of(form.name.encode() + b"\n"), Segment.of(CONTENT)))


def served(
    metrics: Callable[[Format], Page] = page,
    status: Callable[[], bytes] = lambda: b'{"group": "PRDQSG"}',
    unready: Callable[[], str] = lambda: "",
    refused: Callable[[], None] = lambda: None,
) -> Served:
    """What is served, where a test wants nothing else."""
    return Served(metrics, status, unready, refused)


def file_of(tmp_path: Path, name: str, content: bytes) -> LocatedText:
    """A file with this content, as settings name it."""
    path = tmp_path / name
    path.write_bytes(content)
    return LocatedText(str(path), Place("mqvitals.yaml"))


@asynccontextmanager
async def serving(settings: ServeSettings, what: Served) -> AsyncIterator[tuple[AgentServer, str]]:
    """A server by these settings, and the beginning of its addresses."""
    server = AgentServer(settings, what)
    task = asyncio.create_task(server.run())
    try:
        await until(lambda: server.address is not None or bool(server.trouble))
        scheme = "http" if settings.tls is None else "https"
        yield server, f"{scheme}://{server.address}"
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def until(true: Callable[[], bool]) -> None:
    """Wait until something is true."""
    async with asyncio.timeout(120):
        while not true():  # noqa: ASYNC110 - what is waited for happens in a server
            await asyncio.sleep(0.01)


@asynccontextmanager
async def connected(
    server: AgentServer, **options: Any
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection to the server, on which nothing has been said yet."""
    assert server.address is not None
    reader, writer = await asyncio.open_connection(server.address.host, server.address.port, **options)
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def answer(url: str, headers: dict[str, str] | None = None) -> tuple[int, str]:
    """Status and text of an answer."""
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as response:
        return response.status, await response.text()


async def test_metrics_come_in_the_format_and_the_coding_that_are_asked_for() -> None:
    """OpenMetrics where it is accepted, gzip where it is."""
    async with (
        serving(ServeSettings(FREE), served()) as (_, url),
        aiohttp.ClientSession(auto_decompress=False) as session,
    ):
        for accept, form in [
            ("application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", Format.OPENMETRICS),
            ("text/plain", Format.TEXT),
            ("*/*", Format.TEXT),
        ]:
            for coding in ("gzip", "identity"):
                headers = {"Accept": accept, "Accept-Encoding": coding}
                async with session.get(f"{url}/metrics", headers=headers) as response:
                    body = await response.read()
                    assert response.status == 200
                    assert response.headers["Content-Type"] == form.value
                    assert response.headers.get("Content-Encoding", "identity") == coding
                    assert len(body) == response.content_length
                text = gzip.decompress(body) if coding == "gzip" else body
                assert text == form.name.encode() + b"\n" + CONTENT


async def test_the_status_is_json_and_a_failure_is_told_without_a_traceback() -> None:
    """What cannot be read is said in one line."""

    def fails() -> bytes:
        raise MqvitalsError("the store /x cannot be read: no such file")

    async with serving(ServeSettings(FREE), served()) as (_, url):
        assert await answer(f"{url}/api/v1/status") == (200, '{"group": "PRDQSG"}')
    async with serving(ServeSettings(FREE), served(status=fails)) as (_, url):
        assert await answer(f"{url}/api/v1/status") == (503, "the store /x cannot be read: no such file\n")


async def test_it_is_read_only_and_has_no_other_pages() -> None:
    """Nothing can be changed through it."""
    async with serving(ServeSettings(FREE), served()) as (_, url), aiohttp.ClientSession() as session:
        for path in ("/metrics", "/api/v1/status", "/-/ready"):
            for method in ("POST", "PUT", "DELETE", "PATCH"):
                async with session.request(method, url + path) as response:
                    assert response.status == 405
        assert (await answer(f"{url}/"))[0] == 404
        assert (await answer(f"{url}/-/reload"))[0] == 404


async def test_it_is_ready_once_cycles_go_on() -> None:
    """Healthy at once."""
    why = "no cycle has been stored yet"
    async with serving(ServeSettings(FREE), served(unready=lambda: why)) as (_, url):
        assert (await answer(f"{url}/-/healthy"))[0] == 200
        assert await answer(f"{url}/-/ready") == (503, "no cycle has been stored yet\n")
        why = ""
        assert (await answer(f"{url}/-/ready"))[0] == 200


async def test_who_has_not_the_token_gets_nothing(tmp_path: Path) -> None:
    """But may ask whether the agent is there; another token in the file counts at once."""
    token = file_of(tmp_path, "token", b"swordfish\n")
    async with serving(ServeSettings(FREE, Secret.in_file(token)), served()) as (_, url):
        for path in ("/metrics", "/api/v1/status", "/other"):
            for headers in (
                {},
                {"Authorization": "Bearer swordfis"},
                {"Authorization": "swordfish"},
                {"Authorization": "Bearer ä"},
            ):
                status, text = await answer(url + path, headers)
                assert status == 401
                assert "swordfish" not in text
        assert (await answer(f"{url}/metrics", {"Authorization": "Bearer swordfish"}))[0] == 200
        assert (await answer(f"{url}/-/healthy"))[0] == 200
        assert (await answer(f"{url}/-/ready"))[0] == 200
        file_of(tmp_path, "token", b"barracuda\n")
        assert (await answer(f"{url}/metrics", {"Authorization": "Bearer swordfish"}))[0] == 401
        assert (await answer(f"{url}/metrics", {"Authorization": "Bearer barracuda"}))[0] == 200
        file_of(tmp_path, "token", b"")
        status, text = await answer(f"{url}/metrics", {"Authorization": "Bearer "})
        assert status == 503
        assert str(tmp_path) not in text


async def test_a_token_that_cannot_be_read_holds_up_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a network file system that hangs: who asks is refused in time, and other pages are served meanwhile."""
    monkeypatch.setattr(module, "_READ_S", 0.05)
    ended = threading.Event()
    monkeypatch.setattr(Secret, "reveal", lambda _: str(ended.wait()))
    try:
        token = file_of(tmp_path, "token", b"swordfish\n")
        async with serving(ServeSettings(FREE, Secret.in_file(token)), served()) as (_, url):
            asked = asyncio.create_task(answer(f"{url}/metrics", {"Authorization": "Bearer swordfish"}))
            assert (await answer(f"{url}/-/healthy"))[0] == 200
            status, text = await asked
            assert status == 503
            assert str(tmp_path) not in text
    finally:
        ended.set()


async def test_tls_with_a_certificate_that_is_read_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A renewed certificate counts after a reload, without a pause."""
    authority = trustme.CA()
    first, second = authority.issue_cert("127.0.0.1"), authority.issue_cert("127.0.0.1")
    path = file_of(tmp_path, "cert.pem", first.private_key_and_cert_chain_pem.bytes())
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    settings = ServeSettings(FREE, tls=ServeTlsSettings(path))

    async def serial_number() -> str:
        async with connected(server, ssl=trusting) as (_, writer):
            return str(writer.get_extra_info("peercert")["serialNumber"])

    async with serving(settings, served()) as (server, url):
        connector = aiohttp.TCPConnector(ssl=trusting)
        async with aiohttp.ClientSession(connector=connector) as session, session.get(f"{url}/metrics") as response:
            assert response.status == 200
        before = await serial_number()
        load = ssl.SSLContext.load_cert_chain
        loaded: list[bool] = []

        def noted(*arguments: Any) -> None:
            load(*arguments)
            loaded.append(True)

        monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", noted)
        file_of(tmp_path, "cert.pem", second.private_key_and_cert_chain_pem.bytes())
        server.use(settings)
        await until(lambda: bool(loaded))
        after = await serial_number()
        assert after != before
        file_of(tmp_path, "cert.pem", b"no certificate")
        server.use(settings)
        await until(lambda: "the certificate of the server cannot be read again" in caplog.text)
        assert await serial_number() == after


async def test_a_port_that_is_taken_is_told_and_tried_again(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once in the log; the agent goes on, and serves once the port is free."""
    monkeypatch.setattr(module, "_AGAIN_S", 0.01)
    taken = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = taken.sockets[0].getsockname()[1]
    with caplog.at_level(logging.INFO):
        async with serving(ServeSettings(ListenAddress("127.0.0.1", port)), served()) as (server, _):
            await asyncio.sleep(0.1)
            assert server.address is None
            assert server.trouble == f"cannot serve at 127.0.0.1:{port}: address already in use"
            taken.close()
            await taken.wait_closed()
            await until(lambda: server.address is not None)
            assert server.trouble == ""
            assert (await answer(f"http://127.0.0.1:{port}/-/healthy"))[0] == 200
    told = [record.getMessage() for record in caplog.records if "cannot serve" in record.getMessage()]
    assert len(told) == 1
    assert "give serve.listen another one, or off" in told[0]


async def test_another_address_counts_at_once_and_off_is_off() -> None:
    """As after a reload of the settings."""
    async with serving(ServeSettings(FREE), served()) as (server, url):
        before = server.address
        server.use(ServeSettings(FREE, limit=7))
        await until(lambda: server.address not in (None, before))
        assert (await answer(f"http://{server.address}/-/healthy"))[0] == 200
        server.use(ServeSettings(ListenAddress(off=True)))
        await until(lambda: server.address is None)
        with pytest.raises(aiohttp.ClientError):
            await answer(f"{url}/-/healthy")
        server.use(ServeSettings(FREE))
        await until(lambda: server.address is not None)
        assert (await answer(f"http://{server.address}/-/healthy"))[0] == 200


async def test_those_who_ask_meanwhile_share_one_page() -> None:
    """However many they are; those beyond the most are refused."""
    made, go_on, refused = 0, threading.Event(), 0

    def slowly(form: Format) -> Page:
        nonlocal made
        made += 1
        go_on.wait(120)
        return page(form)

    def count() -> None:
        nonlocal refused
        refused += 1

    async with serving(ServeSettings(FREE), served(slowly, refused=count)) as (_, url):
        asking = [asyncio.create_task(answer(f"{url}/metrics")) for _ in range(module.MOST_REQUESTS + 5)]
        await until(lambda: refused == 5)
        assert (await answer(f"{url}/-/healthy"))[0] == 200
        go_on.set()
        statuses = sorted([(await each)[0] for each in asking])
    assert statuses == [200] * module.MOST_REQUESTS + [503] * 5
    assert made == 1


async def test_who_goes_away_does_not_take_the_page_from_others() -> None:
    """The first to ask may be the first to leave."""
    go_on, begun = threading.Event(), threading.Event()

    def slowly(form: Format) -> Page:
        begun.set()
        go_on.wait(120)
        return page(form)

    async with serving(ServeSettings(FREE), served(slowly)) as (_, url):
        first = asyncio.create_task(answer(f"{url}/metrics"))
        await until(begun.is_set)
        second = asyncio.create_task(answer(f"{url}/metrics"))
        await asyncio.sleep(0.05)
        first.cancel()
        await asyncio.sleep(0.05)
        go_on.set()
        assert (await second)[0] == 200


async def test_connections_beyond_the_most_are_refused_and_silent_ones_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens connections and asks nothing keeps nobody else out for long."""
    monkeypatch.setattr(module, "MOST_CONNECTIONS", 4)
    monkeypatch.setattr(module, "_FIRST_REQUEST_S", 2.0)
    async with serving(ServeSettings(FREE), served()) as (server, url), AsyncExitStack() as stack:
        silent = [await stack.enter_async_context(connected(server)) for _ in range(4)]
        async with connected(server) as (reader, _):
            assert b"503" in await reader.readline()
        for reader, _ in silent:
            assert await reader.read() == b""
        assert (await answer(f"{url}/-/healthy"))[0] == 200


async def test_who_does_not_take_the_page_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that reads nothing holds neither memory nor a place."""
    monkeypatch.setattr(module, "_WRITE_S", 0.3)
    monkeypatch.setattr(module, "MOST_REQUESTS", 1)
    large = random.Random(1).randbytes(24 << 20)
    pages = iter([Page([Segment.of(large)]), *[Page([Segment.of(b"small")])] * 1000])
    serves = serving(ServeSettings(FREE), served(lambda _: next(pages)))
    async with serves as (server, url), connected(server, limit=1024) as (reader, writer):
        writer.write(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        await writer.drain()
        await until(lambda: server.busy == 1)
        await until(lambda: server.busy == 0)
        assert await answer(f"{url}/metrics", {"Accept-Encoding": "identity"}) == (200, "small")
        with suppress(ConnectionError):
            assert len(await reader.read()) < len(large)


async def test_a_fault_of_the_agent_is_logged_and_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    """Who asks learns nothing of it but where to look."""

    def fails() -> bytes:
        raise ZeroDivisionError("secret")

    async with serving(ServeSettings(FREE), served(status=fails)) as (_, url):
        status, text = await answer(f"{url}/api/v1/status")
        assert (status, text) == (500, "the page cannot be made; the agent's log says why\n")
        assert (await answer(f"{url}/metrics"))[0] == 200
    assert "ZeroDivisionError" in caplog.text


async def test_what_is_no_http_is_refused_without_a_word_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """Anything may connect to a port."""
    with caplog.at_level(logging.WARNING):
        async with serving(ServeSettings(FREE), served()) as (server, url):
            for garbage in (b"\x16\x03\x01\x02\x00\r\n\r\n", b"GET\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n"):
                async with connected(server) as (reader, writer):
                    writer.write(garbage)
                    await writer.drain()
                    assert b"200" not in await reader.read(15)
            assert (await answer(f"{url}/-/healthy"))[0] == 200
    assert [record.getMessage() for record in caplog.records] == []


async def test_head_gets_the_head_alone() -> None:
    """As some probes ask."""
    async with serving(ServeSettings(FREE), served()) as (server, url), connected(server) as (reader, writer):
        writer.write(b"HEAD /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        await writer.drain()
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200")
        assert body == b""
        assert (await answer(f"{url}/metrics"))[0] == 200


@given(st.lists(st.binary(max_size=50)), st.integers(1, 40))
def test_chunks_are_the_same_bytes_in_pieces_of_a_good_size(parts: list[bytes], size: int) -> None:
    """None is empty, and none larger than the size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CHUNK", size)
        found = list(chunks(parts))
    assert b"".join(found) == b"".join(parts)
    assert all(0 < len(each) <= size for each in found)


@given(st.text(), st.text())
def test_any_header_asks_for_something(accept: str, coding: str) -> None:
    """The older format without compression, unless it says otherwise."""
    assert format_for(accept) is (Format.OPENMETRICS if "openmetrics" in accept.lower() else Format.TEXT)
    assert takes_gzip(coding) is ("gzip" in coding.lower())


@pytest.mark.parametrize(
    ("header", "takes"),
    [
        ("gzip", True),
        ("deflate, gzip;q=1.0, *;q=0.5", True),
        ("gzip;q=0", False),
        ("gzip; q=0.0", False),
        ("", False),
        ("br", False),
    ],
)
def test_gzip_is_taken_by_who_says_so(header: str, takes: bool) -> None:
    """With a weight of 0 it is refused."""
    assert takes_gzip(header) is takes


async def test_another_agent_that_follows(tmp_path: Path) -> None:
    """It shows the token, and says what it has and how long it waits, which has a limit."""
    asked: list[tuple[str, str, float]] = []

    async def answer(follower: str, after: str, wait_s: float) -> bytes:
        asked.append((follower, after, wait_s))
        return b'{"role": "active"}'

    settings = ServeSettings(FREE, token_file=Secret.in_file(file_of(tmp_path, "token", b"secret\n")))
    what = Served(page, lambda: b"{}", lambda: "", standby=answer)
    async with serving(settings, what) as (_, address), aiohttp.ClientSession() as session:
        async with session.get(f"{address}{STANDBY_PATH}") as response:
            assert response.status == 401
        headers = {"Authorization": "Bearer secret"}
        query = {"follower": "f" * 100, "after": "a.1", "wait": "1e9"}
        async with session.get(f"{address}{STANDBY_PATH}", params=query, headers=headers) as response:
            assert (response.status, await response.json()) == (200, {"role": "active"})
        async with session.get(f"{address}{STANDBY_PATH}?wait=long", headers=headers) as response:
            assert response.status == 400
        async with session.get(f"{address}{STANDBY_PATH}?wait=nan", headers=headers) as response:
            assert response.status == 400
    assert asked == [("f" * 64, "a.1", LONGEST_WAIT_S)]


async def test_an_agent_that_is_alone_offers_nothing() -> None:
    """The path is not there."""
    async with (
        serving(ServeSettings(FREE), served()) as (_, address),
        aiohttp.ClientSession() as session,
        session.get(f"{address}{STANDBY_PATH}") as response,
    ):
        assert response.status == 404
