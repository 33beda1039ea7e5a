"""Groups are asked at the same time: one that hangs, refuses, sends garbage or goes away takes nothing from the others."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from pathlib import Path

import pytest
import trustme

from mqsamples.fleet import FREE, NOW, WELL, sent_raw, served_status
from mqvitals_agent.errors import MqvitalsError
from mqvitals_agent.fleet import sources as module
from mqvitals_agent.fleet.ranking import ranked
from mqvitals_agent.fleet.sources import FleetWatch, LocalGroup, read_fleet, read_group, sources_of, unread
from mqvitals_agent.text.severity import Health
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.decoding.secret import Secret
from mqvitals_config.sections.fleet import AgentAddress, FleetGroupSettings, FleetTlsSettings
from mqvitals_config.sections.serve import ServeSettings, ServeTlsSettings
from mqvitals_config.settings import Settings

LONG_MS, SHORT_MS = 60_000, 300
TOKEN = "s3cret-t0ken"


def located(path: Path) -> LocatedText:
    """A path as settings name it."""
    return LocatedText(str(path), Place("mqvitals.yaml"))


def token_file(folder: Path, token: str = TOKEN) -> Secret:
    """A file with a token."""
    path = folder / f"token-{len(token)}-{token.isascii()}"
    path.write_text(f"{token}\n", encoding="utf-8")
    return Secret.in_file(located(path))


def remote(url: str, timeout: int = LONG_MS, **keys: object) -> FleetGroupSettings:
    """The settings of an agent."""
    return FleetGroupSettings(url=AgentAddress(url), timeout=timeout, **keys)  # type: ignore[arg-type]


async def problem_of(settings: FleetGroupSettings) -> str:
    """Why a group cannot be read; empty: it can."""
    (source,) = sources_of([settings], Settings(), lambda: NOW)
    group = await read_group(source, unread(source), lambda: NOW)
    assert bool(group.problem) == (group.health is Health.UNKNOWN)
    return group.problem


def ok(content: bytes, headers: str = "") -> bytes:
    """An answer of HTTP with this content."""
    return f"HTTP/1.1 200 OK\r\nContent-Length: {len(content)}\r\n{headers}\r\n".encode() + content


async def test_one_that_hangs_delays_nobody(tmp_path: Path) -> None:
    """Two agents, one of which wants a token, one that hangs, one that sends garbage, one that is away: each is told by itself."""
    async with AsyncExitStack() as stack:
        open_one, _ = await stack.enter_async_context(served_status())
        guarded, _ = await stack.enter_async_context(
            served_status(settings=ServeSettings(FREE, token_file=token_file(tmp_path)))
        )
        hanging = await stack.enter_async_context(sent_raw(None))
        garbage = await stack.enter_async_context(sent_raw(ok(b"\x00\xff{")))
        async with sent_raw(b"") as gone:
            pass
        groups = [
            remote(hanging, SHORT_MS),
            remote(open_one, name=LocatedText("OPEN", Place(""))),
            remote(guarded, token_file=token_file(tmp_path), name=LocatedText("GUARDED", Place(""))),
            remote(garbage),
            remote(gone),
        ]
        found = await read_fleet(sources_of(groups, Settings(), lambda: NOW), lambda: NOW)
    assert [each.health for each in found] == [Health.UNKNOWN, Health.OK, Health.OK, Health.UNKNOWN, Health.UNKNOWN]
    assert found[0].problem == f"{hanging} did not answer within 300ms"
    assert found[3].problem == f"{garbage}: its answer is no JSON: is it the address of an agent?"
    assert found[4].problem == f"{gone} cannot be reached (Connection refused)"
    assert [each.group.name for each in ranked(found)][-2:] == ["GUARDED", "OPEN"]


async def test_a_watch_goes_on_while_one_hangs() -> None:
    """Each group has its own pace: while one is waited for, another one is read again and again."""
    asked = asyncio.Event()
    times = [0]

    def body() -> bytes:
        times[0] += 1
        if times[0] == 3:
            loop.call_soon_threadsafe(asked.set)
        return WELL

    loop = asyncio.get_running_loop()
    async with served_status(body) as (url, _), sent_raw(None) as hanging:
        watch = FleetWatch(sources_of([remote(hanging), remote(url)], Settings(), lambda: NOW), lambda: NOW, 0.01)
        running = asyncio.create_task(watch.run(lambda: None))
        async with asyncio.timeout(120):
            await asked.wait()
        silent, well = watch.groups()
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
    assert silent.read_at is None
    assert not silent.problem
    assert well.health is Health.OK
    assert watch.source(well.key) is watch.sources[1]


async def test_an_agent_that_goes_away_is_shown_as_it_was() -> None:
    """What it said last is kept with its age; it comes back by itself."""
    async with served_status() as (url, task):
        (source,) = sources_of([remote(url)], Settings(), lambda: NOW)
        before = await read_group(source, unread(source), lambda: NOW)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        after = await read_group(source, before, lambda: NOW + 10_000)
    assert (before.health, after.health) == (Health.OK, Health.UNKNOWN)
    assert "cannot be reached" in after.problem
    assert after.queue_managers == before.queue_managers
    assert all(each.health is Health.UNKNOWN for each in after.as_of(NOW + 60_000).queue_managers)


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (b"", "closed the connection without an answer"),
        (b"\x16\x03\x01\r\n\r\n", "sent what is no answer"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{", "sent what is no answer, or broke off"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", "answered 302"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "it serves no status"),
        (
            b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 30\r\n\r\nthe store \x1b[2J cannot be read.",
            "answered 503: the store \u241b[2J cannot be read.",
        ),
        (ok(b"[]"), "no status that this version understands"),
        (ok(b'{"severity": "ok"}'), "no status that this version understands"),
        (ok(b"\x1f\x8b\x08\x00", "Content-Encoding: gzip\r\n"), "no JSON"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\n" + b"[" * 4096 + b"\r\n" + b"0\r\n\r\n",
            "no JSON",
        ),
    ],
)
async def test_what_an_agent_would_not_send(sent: bytes, words: str) -> None:
    """Each is told in a sentence that says what to look at; nothing of it is taken for a status."""
    async with sent_raw(sent) as url:
        problem = await problem_of(remote(url))
    assert words in problem
    assert problem.isprintable()


async def test_an_answer_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read no further than a status can be long."""
    monkeypatch.setattr(module, "MOST_BYTES", 1 << 20)
    async with sent_raw(b"HTTP/1.1 200 OK\r\n\r\n" + b" " * (3 << 20)) as url:
        assert "sends more than a status" in await problem_of(remote(url))


async def test_a_wrong_token_is_told_and_never_shown(tmp_path: Path) -> None:
    """The sentence names the setting, and neither the token nor what is in the address."""
    async with served_status(settings=ServeSettings(FREE, token_file=token_file(tmp_path))) as (url, _):
        address = f"{url}/hidden-path"
        for settings, words in (
            (remote(url), "answered 401: give its token in token_file"),
            (remote(url, token_file=token_file(tmp_path, "wrong-t0ken")), "answered 401: give its token in token_file"),
            (remote(url, token_file=token_file(tmp_path, "wr\u00f6ng-t0ken")), "holds characters that a header cannot"),
            (remote(url, token_file=Secret.in_file(located(tmp_path / "none"))), "cannot be read"),
            (remote(address, token_file=token_file(tmp_path)), "answered 404"),
        ):
            (source,) = sources_of([settings], Settings(), lambda: NOW)
            group = await read_group(source, unread(source), lambda: NOW)
            assert words in group.problem
            assert (
                not any(secret in repr((group, settings)) for secret in ("t0ken", "hidden-path"))
                or group.key == address
            )
            assert "hidden-path" not in group.problem + group.source + group.name
            assert "t0ken" not in repr((group, settings))


async def test_https_is_trusted_by_its_authority(tmp_path: Path) -> None:
    """With the authority in ca_file it is read; without, or with one that cannot be read, the sentence says so."""
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    pem, ca = tmp_path / "agent.pem", tmp_path / "ca.pem"
    certificate.private_key_and_cert_chain_pem.write_to_path(str(pem))
    authority.cert_pem.write_to_path(str(ca))
    async with served_status(settings=ServeSettings(FREE, tls=ServeTlsSettings(located(pem)))) as (url, _):
        assert not await problem_of(remote(url, tls=FleetTlsSettings(located(ca))))
        assert "cannot be trusted" in await problem_of(remote(url))
        assert "ca_file" in await problem_of(remote(url, tls=FleetTlsSettings(located(tmp_path / "none.pem"))))


async def test_a_store_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """No file, no store, or one whose file system hangs: a sentence each."""
    assert "there is no store" in await problem_of(FleetGroupSettings(store=located(tmp_path / "none.db")))
    junk = tmp_path / "junk.db"
    junk.write_bytes(b"no store" * 1000)
    assert "is no mqvitals store" in await problem_of(FleetGroupSettings(store=located(junk)))


@contextmanager
def hanging(group: LocalGroup, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Within, reading the store hangs, as on a file system that is away."""
    free = threading.Event()

    def hang(_: LocalGroup) -> object:
        free.wait(120)
        raise MqvitalsError("too late")

    monkeypatch.setattr(LocalGroup, "_status", hang)
    try:
        yield
    finally:
        free.set()


async def test_a_store_that_hangs_holds_up_one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often it is asked, one thread waits for it, and each time it is told after the group's own limit."""
    (source,) = sources_of([FleetGroupSettings(store=located(tmp_path / "a.db"), timeout=100)], Settings(), lambda: NOW)
    assert isinstance(source, LocalGroup)
    with hanging(source, monkeypatch):
        before = threading.active_count()
        for _ in range(3):
            group = await read_group(source, unread(source), lambda: NOW)
            assert "could not be read within 100ms" in group.problem
        assert threading.active_count() <= before + 1


async def test_a_configuration_that_cannot_be_used_keeps_nobody_from_looking(tmp_path: Path) -> None:
    """The group is shown by the shipped rules, with a sentence about its own."""
    config = tmp_path / "mqvitals.yaml"
    config.write_text("rules: {none: 1}\n", encoding="utf-8")
    settings = FleetGroupSettings(store=located(tmp_path / "a.db"), config=located(config))
    (source,) = sources_of([settings], Settings(), lambda: NOW)
    assert isinstance(source, LocalGroup)
    assert "mqvitals.yaml" in source.config.problem
    assert source.config.rule_config.rules.rules
