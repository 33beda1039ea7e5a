"""Delivery: in order, at least once, and whatever one receiver does is no matter to another."""

from __future__ import annotations

import asyncio
import json
import os
import random
import threading
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from mqvitals_agent import __version__
from mqvitals_agent.store.error import StoreError
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.decoding.secret import Secret
from mqvitals_config.receivers.http import WebhookSettings
from mqvitals_rules.lifecycle.alert import Alert, AlertState, Severity

RESOLVED = AlertState.RESOLVED
Pool = Callable[..., Alert]
Webhook = Callable[..., WebhookSettings]
Settled = Callable[[Any], Awaitable[None]]

INCIDENT = [("firing", "critical"), ("resolved", "critical")]


@asynccontextmanager
async def running(site: Any, reveal: Any = Secret.reveal) -> Any:
    """A notifier at work."""
    notifier = site.notifier(reveal)
    task = asyncio.create_task(notifier.run())
    try:
        yield notifier
    finally:
        notifier.close()
        await task


def outcomes(site: Any) -> list[tuple[str, str, int]]:
    """(receiver, outcome, failed attempts) of every notice."""
    return list(site.row("SELECT receiver, coalesce(outcome, ''), attempts FROM notice ORDER BY id"))


def incident(site: Any, pool: Pool) -> None:
    """An alert that comes and goes."""
    site.change(pool())
    site.change(pool(state=RESOLVED))


async def test_an_incident_is_told_once(site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled) -> None:
    """One firing and one resolved, woken by the store's writer, and a request as receivers expect it."""
    site.receivers = [webhook(hook.url)]
    async with running(site) as notifier:
        site.change(pool())
        notifier.wake()
        await settled(site)
        site.change(pool(state=RESOLVED))
        notifier.wake()
        await settled(site)
    assert hook.received == INCIDENT
    assert len(set(hook.keys)) == 1
    assert hook.headers[0]["User-Agent"] == f"mqvitals/{__version__}"
    assert hook.headers[0]["Content-Type"] == "application/json"
    assert "Authorization" not in hook.headers[0]
    assert outcomes(site) == [("ops", "accepted", 0)] * 2
    assert site.lines.said == []


async def test_a_failing_receiver_gets_everything_in_order(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """500 and others, then success: the pauses grow, the error is logged once and so is the recovery."""
    hook.answers = [500, 500, 503, 408, 425, 200]
    site.receivers = [webhook(hook.url)]
    incident(site, pool)
    async with running(site):
        await settled(site)
    assert hook.received == [("firing", "critical")] * 6 + [("resolved", "critical")]
    assert site.clock.slept == [2000, 4000, 8000, 16000, 32000]
    assert outcomes(site) == [("ops", "accepted", 5), ("ops", "accepted", 0)]
    host = hook.url.partition("/hook")[0]
    assert [line.partition(" {")[0] for line in site.lines.said] == [
        f"error receiver.failing receiver ops: {host} answered {said}; alerts wait until it accepts them"
        for said in ("500", "503", "408", "425")
    ] + [f"info receiver.back receiver ops: {host} answered 200"]


async def test_a_receiver_that_is_down(
    site: Any, hooks: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """Nothing listens; the other receiver is notified at once, and this one when it is back at another address."""
    address = site.store.path.with_name("address")
    address.write_text("http://127.0.0.1:1/hook\n")
    secret = Secret.in_file(LocatedText(str(address), Place("x")))
    site.receivers = [replace(webhook(), url=None, url_file=secret), webhook(hook.url, name="chat")]
    incident(site, pool)
    back = await hooks()
    async with running(site):
        await hook.until(2)
        await site.until(lambda: len(site.clock.slept) >= 12)
        assert max(site.clock.slept) == 300_000
        address.write_text(back.url)
        await settled(site)
    assert hook.received == INCIDENT
    assert back.received == INCIDENT
    assert "Connection refused" in site.lines.said[0]


async def test_a_token_file_that_hangs_delays_nobody(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """As on a network file system that does not answer: the other is notified, and this one when it answers again."""
    release, asked = threading.Event(), []

    token = Secret.in_file(LocatedText("token", Place("/slow/x.yaml")))

    def reveal(secret: Secret) -> str:
        if secret == token:
            asked.append("slow")
            release.wait(60)
            return "t"
        return secret.reveal()

    site.receivers = [
        webhook(hook.url, name="slow", timeout=500, token_file=token),
        webhook(hook.url, name="chat"),
    ]
    incident(site, pool)
    async with running(site, reveal):
        await hook.until(2)
        await site.until(lambda: len(site.clock.slept) >= 3)
        assert asked == ["slow"], "while one hangs no other is begun"
        assert {key for name, key, _ in outcomes(site) if name == "chat"} == {"accepted"}
        release.set()
        await settled(site)
    assert sorted(hook.received) == sorted(INCIDENT * 2)
    assert site.lines.said[0].startswith(
        f"error receiver.failing receiver slow: {hook.url.partition('/hook')[0]} or file /slow/token could not be read"
        " within 500ms: check its file system"
    )


async def test_a_token_in_a_pipe_is_refused(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled, tmp_path: Path
) -> None:
    """At once and in a sentence; the other receiver is notified."""
    os.mkfifo(tmp_path / "token")
    token = Secret.in_file(LocatedText("token", Place(str(tmp_path / "x.yaml"))))
    site.receivers = [webhook(hook.url, token_file=token), webhook(hook.url, name="chat")]
    incident(site, pool)
    async with running(site):
        await hook.until(2)
        await site.until(lambda: len(site.clock.slept) >= 3)
        (tmp_path / "token").unlink()
        (tmp_path / "token").write_text("t")
        await settled(site)
    assert "token cannot be read: it is a named pipe, not a regular file; alerts wait" in site.lines.said[0]


async def test_a_hanging_receiver_delays_nobody(
    site: Any, hooks: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """It is given up after its timeout and asked again; the other one was notified long before."""
    slow = await hooks()
    slow.answers = [asyncio.Event()]
    site.receivers = [webhook(slow.url, timeout=100), webhook(hook.url, name="chat")]
    incident(site, pool)
    async with running(site):
        await hook.until(2)
        assert len(slow.requests) <= 1
        await settled(site)
    assert hook.received == INCIDENT
    assert slow.received == [("firing", "critical"), *INCIDENT]
    assert "did not answer within 100ms" in site.lines.said[0]


async def test_a_body_that_never_ends_is_no_answer_that_never_comes(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """The status decides; little of the body is read, and it is not waited for."""

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=500)
        await response.prepare(request)
        try:
            while True:
                await response.write(b"z" * 1000)
        except (ConnectionError, asyncio.CancelledError):
            return response

    async def stuck(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=200)
        await response.prepare(request)
        await asyncio.Event().wait()
        return response

    hook.answers = [endless, stuck]
    site.receivers = [webhook(hook.url, timeout=2000)]
    incident(site, pool)
    async with running(site):
        await settled(site)
    assert hook.received == [("firing", "critical"), *INCIDENT]
    assert len(site.row("SELECT max(error) FROM notice")[0][0]) < 250


async def test_retry_after_is_waited_for(site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled) -> None:
    """As long as the receiver asks for, but never longer than five minutes."""

    def busy(seconds: str) -> Any:
        async def answer(request: web.Request) -> web.Response:
            return web.Response(status=429, headers={"Retry-After": seconds})

        return answer

    hook.answers = [busy("42"), busy("86400"), busy("nonsense")]
    site.receivers = [webhook(hook.url)]
    incident(site, pool)
    async with running(site):
        await settled(site)
    assert hook.received[-2:] == INCIDENT
    assert site.clock.slept == [42_000, 300_000, 8000]


async def test_a_redirect_is_not_followed(
    site: Any, hooks: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """The notification does not go to an address that no setting names; it waits."""
    other = await hooks()

    async def elsewhere(request: web.Request) -> web.Response:
        return web.Response(status=307, headers={"Location": other.url})

    hook.answers = [elsewhere]
    site.receivers = [webhook(hook.url)]
    incident(site, pool)
    async with running(site):
        await settled(site)
    assert hook.received == [("firing", "critical"), *INCIDENT]
    assert other.requests == []


async def test_killed_in_between(site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled) -> None:
    """What was under way when the process died is sent again with the same key; nothing is lost, nothing else twice."""
    hang = asyncio.Event()
    hook.answers = [200, hang]
    site.receivers = [webhook(hook.url)]
    incident(site, pool)
    async with running(site):
        await hook.until(2)  # the second one has arrived and its answer is not there
    assert outcomes(site) == [("ops", "accepted", 0), ("ops", "", 0)]
    hang.set()
    async with running(site):
        await settled(site)
    assert hook.received == [*INCIDENT, ("resolved", "critical")]
    assert len(set(hook.keys)) == 1


async def test_a_restart_does_not_wait_for_the_next_attempt(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """Nor does a clock that was set back an hour hold anything up."""
    hook.answers = [500, asyncio.Event()]
    site.receivers = [webhook(hook.url)]
    incident(site, pool)
    async with running(site):
        await hook.until(2)
    assert site.row("SELECT next_ts > 0 FROM notice LIMIT 1") == [(1,)]
    site.clock.set(site.clock.now() - 3_600_000)
    async with running(site):
        await settled(site)
    assert hook.received[-2:] == INCIDENT
    assert site.clock.slept == [2000]


async def test_a_clock_set_back_between_two_attempts(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """What has waited its time is sent."""
    sleep = site.clock.sleep

    async def set_back(ms: float) -> None:
        await sleep(ms)
        site.clock.set(site.clock.now() - 86_400_000)

    site.clock.sleep = set_back
    hook.answers = [500, 500]
    site.receivers = [webhook(hook.url)]
    incident(site, pool)
    async with running(site):
        await settled(site)
    assert hook.received[-2:] == INCIDENT


async def test_a_store_that_cannot_be_written_for_a_while(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has been delivered is noted as soon as it can be, and not sent twice."""
    done, times = site.store.notifications.done, [0]

    def full(*arguments: Any) -> None:
        times[0] += 1
        if times[0] <= 3:
            raise StoreError("the disk is full")
        done(*arguments)

    monkeypatch.setattr(site.store.notifications, "done", full)
    site.receivers = [webhook(hook.url)]
    incident(site, pool)
    async with running(site):
        await settled(site)
    assert hook.received == INCIDENT
    assert site.clock.slept == [2000, 4000, 8000]
    assert len(site.lines.said) == 1


async def test_many_wait_in_order(site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled) -> None:
    """More than are read at a time, through failures, each incident exactly firing and resolved."""
    hook.answers = [200, 500, 200, 200, 503, 200] * 5
    site.receivers = [webhook(hook.url)]
    for _ in range(30):
        incident(site, pool)
    async with running(site):
        await settled(site)
    accepted = [(key, status) for (key, status) in site.row("SELECT fingerprint, status FROM notice ORDER BY id")]
    arrived = list(dict.fromkeys(zip(hook.keys, (status for status, _ in hook.received), strict=True)))
    assert arrived == accepted
    assert len(accepted) == 60


async def test_no_secret_is_shown_or_kept(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled, tmp_path: Path
) -> None:
    """Path, query and token stand in no log line, no row and no repr, even when the receiver repeats them."""
    token = tmp_path / "token"
    token.write_text("Btoken-secret\n")

    async def echo(request: web.Request) -> web.Response:
        return web.Response(status=500, text=f"no {request.path_qs} for {request.headers['Authorization']} \x1b[2J")

    async def deny(request: web.Request) -> web.Response:
        return web.Response(status=403, text=f"{request.url} {request.headers['Authorization']}")

    hook.answers = [echo, deny]
    receiver = replace(webhook(hook.url), token_file=Secret.in_file(LocatedText(str(token), Place("x"))))
    site.receivers = [receiver]
    incident(site, pool)
    async with running(site):
        await settled(site)
    assert hook.headers[0]["Authorization"] == "Bearer Btoken-secret"
    written = "".join(site.store._connection.iterdump())
    for text in (written, repr(receiver), str(receiver), "".join(site.lines.said)):
        for secret in ("Tsecretpath", "Qsecretkey", "Btoken-secret"):
            assert secret not in text
    assert "(hidden)" in "".join(site.lines.said)
    assert "\x1b" not in "".join(site.lines.said) + written


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("", "is empty"),
        ("ftp://127.0.0.1/Tsecretpath", "begins with http:// or https://"),
        ("http://127.0.0.1:1/\x1b[2J", "holds no blanks"),
        ("http://user:Tsecretpath@127.0.0.1:1/", "Connection refused"),
        ("http://no-such-host.invalid/Tsecretpath", "no-such-host.invalid cannot be"),
    ],
)
async def test_an_address_that_cannot_be_used(
    site: Any, pool: Pool, webhook: Webhook, tmp_path: Path, address: str, said: str
) -> None:
    """The notification waits, and the log says what is wrong without showing the address."""
    file = tmp_path / "address"
    file.write_text(address)
    site.receivers = [replace(webhook(), url=None, url_file=Secret.in_file(LocatedText(str(file), Place("x"))))]
    site.change(pool())
    async with running(site):
        await site.until(lambda: bool(site.lines.said))
    assert said in site.lines.said[0]
    assert "Tsecretpath" not in site.lines.said[0]
    assert outcomes(site)[0][1] == ""


async def test_name_and_password_in_the_address(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """They are sent as such, and only there."""
    site.receivers = [webhook(hook.url.replace("127.0.0.1", "user:Psecretword@127.0.0.1"))]
    incident(site, pool)
    async with running(site):
        await settled(site)
    assert hook.headers[0]["Authorization"].startswith("Basic ")
    assert "Psecretword" not in json.dumps(hook.requests) + repr(site.receivers)


async def test_without_receivers_it_waits_for_the_end(site: Any) -> None:
    """And is closed as any other, twice too."""
    async with running(site) as notifier:
        notifier.wake()
        notifier.close()


async def test_a_changed_severity(site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled) -> None:
    """It is sent as firing again, with the same key."""
    site.receivers = [webhook(hook.url)]
    site.change(pool(severity=Severity.WARNING))
    site.change(pool(severity=Severity.CRITICAL))
    site.change(pool(state=RESOLVED, severity=Severity.CRITICAL))
    async with running(site):
        await settled(site)
    assert hook.received == [("firing", "warning"), *INCIDENT]
    assert len(set(hook.keys)) == 1


@pytest.mark.parametrize("seed", range(5))
async def test_many_deaths(site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled, seed: int) -> None:
    """Ended at any moment, again and again, by a receiver in any mood: everything is sent, in order, and twice only as the same."""
    chances = random.Random(seed)
    site.receivers = [webhook(hook.url, timeout=60_000)]
    for _ in range(20):
        incident(site, pool)
        hook.answers = [chances.choice([200, 200, 500, 429, asyncio.Event()]) for _ in range(chances.randrange(4))]
        async with running(site) as notifier:
            for _ in range(chances.randrange(60)):
                await asyncio.sleep(0)
            notifier.wake()
            await asyncio.sleep(0)
    hook.answers = []
    async with running(site):
        await settled(site)
    rows = [(key, status) for (key, status) in site.row("SELECT fingerprint, status FROM notice ORDER BY id")]
    arrived = list(zip(hook.keys, (status for status, _ in hook.received), strict=True))
    assert list(dict.fromkeys(arrived)) == rows
    # Once something newer has arrived, nothing older does.
    order = [rows.index(each) for each in arrived]
    assert order == sorted(order)
    assert {outcome for _, outcome, _ in outcomes(site)} == {"accepted"}
