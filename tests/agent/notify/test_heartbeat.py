"""Heartbeats: a receiver hears that cycles go on, or that they are late, and no alerts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from mqvitals_agent.notify.delivery import Notifier, make_receiver
from mqvitals_agent.notify.receiver import send_test_alert, shown_test_alert
from mqvitals_agent.service.run_log import late_words
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.decoding.secret import WebAddress
from mqvitals_config.receivers.http import WebhookSettings
from mqvitals_config.receivers.services import HeartbeatSettings
from mqvitals_rules.lifecycle.alert import Alert

Webhook = Callable[..., WebhookSettings]


@dataclass
class Checks:
    """A service such as healthchecks.io: what it was called with."""

    url: str = ""
    calls: list[tuple[str, str, str]] = field(default_factory=list)
    answer: int = 200


@pytest.fixture
async def checks() -> AsyncIterator[Checks]:
    """It runs on loopback."""
    found = Checks()

    async def handle(request: web.Request) -> web.Response:
        found.calls.append((request.method, request.path, await request.text()))
        return web.Response(status=found.answer)

    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", handle)
    server = TestServer(app, host="127.0.0.1", port=0)
    await server.start_server(shutdown_timeout=0.01)
    found.url = f"http://127.0.0.1:{server.port}"
    yield found
    await server.close()


def heartbeat(checks: Checks, **settings: Any) -> HeartbeatSettings:
    return HeartbeatSettings(
        LocatedText("watch", Place("x")), type="heartbeat", url=WebAddress(f"{checks.url}/ping/Ssecret"), **settings
    )


@asynccontextmanager
async def running(site: Any, late: list[str]) -> Any:
    """Delivery while cycles are late for the last of these reasons."""
    notifier = Notifier(site.outbox(), site.clock, lambda _: lambda: 1.0, late=lambda: late[-1])
    async with site.running(notifier) as found:
        yield found


async def test_it_hears_that_cycles_go_on_and_nothing_else(
    site: Any, checks: Checks, pool: Callable[..., Alert]
) -> None:
    """Each minute, no alerts; while cycles are late nothing, so that it says so itself."""
    site.receivers = [heartbeat(checks)]
    late = [""]
    site.change(pool())
    async with running(site, late):
        await site.clock.advance(180_001)
        assert checks.calls == [("GET", "/ping/Ssecret", "")] * 4
        late.append("the last cycle ended 5m ago")
        await site.clock.advance(600_000)
        assert len(checks.calls) == 4
        late.append("")
        await site.clock.advance(60_000)
        assert len(checks.calls) == 5
    assert site.row("SELECT count(*) FROM notice") == [(0,)]
    (row,) = site.receiver_rows()
    assert (row.name, row.failing, row.waiting) == ("watch", None, 0)
    assert row.accepted is not None


async def test_it_hears_that_they_are_late_where_it_has_an_address_for_it(site: Any, checks: Checks) -> None:
    """With the reason, as often; then that they go on."""
    site.receivers = [heartbeat(checks, every=20_000, method="POST", fail_url=WebAddress(f"{checks.url}/fail"))]
    late = ["the last cycle ended 5m ago"]
    async with running(site, late):
        await site.clock.advance(20_001)
        late.append("")
        await site.clock.advance(20_000)
    assert checks.calls == [
        ("POST", "/fail", "the last cycle ended 5m ago"),
        ("POST", "/fail", "the last cycle ended 5m ago"),
        ("POST", "/ping/Ssecret", ""),
    ]
    assert [line.split(" {")[0] for line in site.lines.said if "told_late" in line] == [
        "error receiver.told_late receiver watch hears that the agent is late: the last cycle ended 5m ago"
    ]


async def test_one_that_fails_is_tried_again_sooner(site: Any, checks: Checks) -> None:
    """And is shown as failing; its address is a secret."""
    site.receivers = [heartbeat(checks)]
    checks.answer = 503
    async with running(site, [""]):
        await site.clock.advance(40_000)
        assert len(checks.calls) == 5
        assert site.receiver_rows()[0].failing is not None
        checks.answer = 200
        await site.clock.advance(60_000)
        assert site.receiver_rows()[0].failing is None
    assert "secret" not in " ".join(site.lines.said)


def test_when_cycles_are_late() -> None:
    """Later than two intervals and a minute."""
    assert late_words(120_000, 120_000, 30_000) == ""
    assert late_words(120_400, 120_000, 30_000) == "the last cycle ended 2m ago; one begins every 30s"


async def test_a_test_calls_both_addresses(checks: Checks) -> None:
    """First as if cycles were late, then as if they went on; without an address for that, twice the same."""
    both = heartbeat(checks, fail_url=WebAddress(f"{checks.url}/fail"))
    assert [
        len(await send_test_alert(make_receiver(each, lambda: 5), each, 5)) for each in (both, heartbeat(checks))
    ] == [
        2,
        2,
    ]
    assert [(method, path) for method, path, _ in checks.calls] == [
        ("POST", "/fail"),
        ("GET", "/ping/Ssecret"),
        ("GET", "/ping/Ssecret"),
        ("GET", "/ping/Ssecret"),
    ]
    assert "test of mqvitals" in checks.calls[0][2]
    firing, resolved = shown_test_alert(make_receiver(both, lambda: 5), both, 5)
    assert firing.startswith("POST http://127.0.0.1:")
    assert resolved.startswith("GET http://127.0.0.1:")
    assert "secret" not in firing + resolved


async def test_other_receivers_get_their_alerts(
    site: Any, checks: Checks, hook: Any, pool: Callable[..., Alert], webhook: Webhook
) -> None:
    """Beside a heartbeat."""
    site.receivers = [heartbeat(checks), webhook(hook.url)]
    site.change(pool())
    async with running(site, [""]):
        await hook.until(1)
    assert hook.rules == [("BP-03", "firing")]
    assert {name for (name,) in site.row("SELECT receiver FROM notice")} == {"ops"}
