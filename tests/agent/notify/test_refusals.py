"""A receiver that calls a notification a bad one: it is set aside, tried for a day, and then given up; never lost without a word."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from mqvitals_agent.notify.delivery import GIVE_UP_MS
from mqvitals_agent.store.rows.alerts.notification_rows import LONGEST_PAUSE_MS
from mqvitals_config.receivers.http import WebhookSettings
from mqvitals_rules.lifecycle.alert import Alert, AlertState

RESOLVED = AlertState.RESOLVED
Pool = Callable[..., Alert]
Webhook = Callable[..., WebhookSettings]
Settled = Callable[[Any], Awaitable[None]]


def refusing(rule: str, status: int = 400) -> Any:
    """An answer that refuses what is about one rule."""

    async def answer(request: web.Request) -> web.Response:
        body = await request.json()
        return web.Response(status=status if body["commonLabels"]["alertname"] == rule else 200, text="no such field")

    return answer


def two(site: Any, pool: Pool) -> None:
    """Two alerts come and go."""
    site.change(pool(family=""), pool("BP-01", family=""))
    site.change(pool(family="", state=RESOLVED), pool("BP-01", family="", state=RESOLVED))


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_others_go_on_and_it_is_sent_later(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled, status: int
) -> None:
    """The end of the same alert waits behind it; both arrive once the receiver is mended, and twice nothing."""
    hook.answers = [refusing("BP-03", status)] * 4
    site.receivers = [webhook(hook.url)]
    two(site, pool)
    async with site.running():
        await settled(site)
    assert hook.rules[:4] == [("BP-03", "firing"), ("BP-01", "firing"), ("BP-01", "resolved"), ("BP-03", "firing")]
    assert hook.rules[4:] == [("BP-03", "firing"), ("BP-03", "resolved")]
    assert {outcome for _, _, outcome in site.outcomes()} == {"accepted"}
    # Once when it is set aside, once when it is taken; nothing for each try.
    assert [line.split()[1] for line in site.lines.said] == ["notice.refused", "notice.taken"]
    assert f"answered {status}: no such field" in site.lines.said[0]


async def test_nothing_new_is_needed_for_the_next_try(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """The pauses grow as after any failure, and nothing has to wake the queue."""
    hook.answers = [400, 400, 400]
    site.receivers = [webhook(hook.url)]
    site.change(pool())
    async with site.running():
        await settled(site)
    assert site.clock.slept == [2000, 4000, 8000]
    assert site.outcomes() == [("BP-03", "firing", "accepted")]


async def test_after_a_day_it_is_given_up(site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled) -> None:
    """It is not tried for ever, and not for less; the log, the store and the reader of screens say it."""
    hook.answers = [refusing("BP-03")] * 1000
    site.receivers = [webhook(hook.url)]
    site.change(pool(family=""), pool("BP-01", family=""))
    began = site.clock.now()
    async with site.running():
        await settled(site)
    assert site.outcomes() == [("BP-03", "firing", "refused"), ("BP-01", "firing", "accepted")]
    assert GIVE_UP_MS <= site.clock.now() - began <= GIVE_UP_MS + LONGEST_PAUSE_MS
    assert [line.split()[1] for line in site.lines.said] == ["notice.refused", "notice.given_up"]
    (row,) = site.receiver_rows()
    assert (row.given_up, row.refused, row.waiting, row.failing) == (1, 0, 0, None)
    assert "answered 400: no such field" in row.refusal
    # A receiver that is new hears of the alert; this one does not hear of it again.
    hook.answers = []
    site.receivers.append(webhook(hook.url, name="new"))
    async with site.running() as notifier:
        await notifier.begun()
        await settled(site)
    assert len(site.outcomes()) == 2
    assert site.outcomes("new") == [("BP-03", "firing", "accepted"), ("BP-01", "firing", "accepted")]


async def test_a_clock_that_is_set_ahead_gives_nothing_up(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """That a day is over is not believed of a clock that jumps: the receiver is mended after a minute and takes it."""
    hook.answers = [400, 400, 400, 400]
    site.receivers = [webhook(hook.url)]
    site.change(pool())
    async with site.running():
        await hook.until(2)
        site.clock.set(site.clock.now() + 3 * GIVE_UP_MS)
        await settled(site)
    assert site.outcomes() == [("BP-03", "firing", "accepted")]


@pytest.mark.parametrize("by_ms", [-3_600_000, -120_000, 3_600_000, 56 * 365 * 86_400_000])
@pytest.mark.parametrize("status", [400, 503])
async def test_a_clock_that_is_set_delays_no_attempt_for_long(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled, status: int, by_ms: int
) -> None:
    """Pauses go by elapsed time; what the store says of the next attempt holds for five minutes at most."""
    hook.answers = [status] * 3
    site.receivers = [webhook(hook.url)]
    site.change(pool())
    began = site.clock.steady_s()
    async with site.running():
        await hook.until(2)
        site.clock.set(site.clock.now() + by_ms)
        await settled(site)
    assert site.outcomes() == [("BP-03", "firing", "accepted")]
    assert (site.clock.steady_s() - began) * 1000 <= LONGEST_PAUSE_MS + 14_000


async def test_of_what_was_given_up_the_end_is_not_told(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """The receiver never knew of it; a new severity is sent as if it began then."""
    hook.answers = [refusing("BP-03")] * 1000
    site.receivers = [webhook(hook.url)]
    site.change(pool(family=""), pool("BP-01", family=""))
    async with site.running():
        await settled(site)
    hook.answers = []
    site.change(pool(family="", state=RESOLVED), pool("BP-01", family="", state=RESOLVED))
    assert site.outcomes()[2:] == [("BP-01", "resolved", "")]


async def test_a_wrong_token_or_address_keeps_everything(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """A person mends it: nothing is set aside, nothing given up, everything comes in its order."""
    hook.answers = [401, 403, 404, 405, 407, 410]
    site.receivers = [webhook(hook.url)]
    two(site, pool)
    async with site.running():
        await settled(site)
    assert hook.rules[:6] == [("BP-03", "firing")] * 6
    assert hook.rules[6:] == [
        ("BP-03", "firing"),
        ("BP-01", "firing"),
        ("BP-03", "resolved"),
        ("BP-01", "resolved"),
    ]
    assert {event.split()[1] for event in site.lines.said} == {"receiver.failing", "receiver.back"}
    assert "check its token" in site.lines.said[0]


async def test_what_was_set_aside_is_tried_at_once_by_the_next_run(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """And only once more when it is refused again: the pause counts, whatever the clock says."""
    hook.answers = [400, 400, asyncio.Event()]
    site.receivers = [webhook(hook.url)]
    site.change(pool())
    async with site.running():
        await hook.until(3)
    assert site.clock.slept == [2000, 4000]
    site.clock.set(site.clock.now() - 86_400_000)
    hook.answers = [400]
    async with site.running():
        await settled(site)
    assert site.clock.slept == [2000, 4000, 8000]
    assert len(hook.requests) == 5


async def test_a_refusal_while_the_receiver_fails(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """In any mixture nothing is lost, and of each alert the end comes last."""
    hook.answers = [400, 500, 400, 429, 400, 200, 503, 400]
    site.receivers = [webhook(hook.url)]
    two(site, pool)
    async with site.running():
        await settled(site)
    assert {outcome for _, _, outcome in site.outcomes()} == {"accepted"}
    for rule in ("BP-03", "BP-01"):
        statuses = [status for name, status in hook.rules if name == rule]
        assert statuses == sorted(statuses)
        assert set(statuses) == {"firing", "resolved"}


async def test_a_damaged_row_holds_up_only_its_own_alert(site: Any, hook: Any, pool: Pool, webhook: Webhook) -> None:
    """It counts as refused: nothing of it is posted, and what is about other alerts is sent."""
    site.receivers = [webhook(hook.url)]
    site.change(pool(family=""), pool("BP-01", family=""))
    site.row("UPDATE notice SET payload = '{' WHERE id = 1")
    async with site.running():
        await hook.until(1)
    assert hook.rules == [("BP-01", "firing")]
    assert (
        "notice.refused receiver ops: a notification is refused: the notification in the store is damaged"
        in (site.lines.said[0])
    )
