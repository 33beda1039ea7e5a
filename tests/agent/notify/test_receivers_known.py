"""Receivers that come and go: notifications to removed ones are dropped, new ones are notified of what fires, both exactly once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from mqvitals_agent.notify.outbox import Outbox
from mqvitals_agent.store.error import StoreError
from mqvitals_config.receivers.http import WebhookSettings
from mqvitals_rules.lifecycle.alert import Alert, AlertState, Severity

RESOLVED = AlertState.RESOLVED
Pool = Callable[..., Alert]
Webhook = Callable[..., WebhookSettings]
Settled = Callable[[Any], Awaitable[None]]


async def begun(site: Any, settled: Settled | None = None) -> None:
    """A run that takes note of its receivers; with ``settled`` it goes on until nothing is pending."""
    async with site.running() as notifier:
        await notifier.begun()
        if settled is not None:
            await settled(site)


async def test_what_nobody_is_there_for_is_dropped(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """A journal line says how many and of whom, once; others get theirs."""
    site.receivers = [webhook("http://127.0.0.1:1/"), webhook(hook.url, name="chat")]
    site.change(pool())
    site.change(pool(state=RESOLVED))
    site.receivers = [webhook(hook.url, name="chat")]
    await begun(site, settled)
    assert [outcome for _, _, outcome in site.outcomes()] == ["dropped", "dropped"]
    assert hook.rules == [("BP-03", "firing"), ("BP-03", "resolved")]
    await begun(site)
    assert site.lines.said == []
    assert [line.partition(" {")[0] for line in site.lines.adopted] == [
        "warning receiver.dropped receiver ops is no longer in the settings: 2 notifications dropped",
        "info receiver.new receiver chat is new: it is notified about the alerts that fire",
    ]
    assert [row.name for row in site.receiver_rows()] == ["chat"]


async def test_a_new_one_is_told_what_fires(
    site: Any, hooks: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """Once, whatever restarts there are; not what is covered, waits, has ended, or is advice; then as any other."""
    site.receivers = [webhook(hook.url)]
    site.change(pool("Q-02", family=""), pool("Q-02", family="", instance="x", state=AlertState.PENDING))
    site.change(pool("Q-02", family="", state=RESOLVED))
    site.change(pool("BP-01", severity=Severity.WARNING), pool(), pool("BP-09", kind_of_rule="review", family=""))
    await begun(site, settled)
    new = await hooks()
    site.receivers.append(webhook(new.url, name="new"))
    for _ in range(3):
        await begun(site, settled)
    assert new.rules == [("BP-03", "firing")]
    assert new.keys == hook.keys[-1:]
    assert site.lines.adopted == [
        f"info receiver.new receiver {name} is new: it is notified about the alerts that fire {{'receiver': '{name}'}}"
        for name in ("ops", "new")
    ]
    site.change(pool(state=RESOLVED))
    await begun(site, settled)
    assert new.rules == [("BP-03", "firing"), ("BP-03", "resolved"), ("BP-01", "firing")]
    assert hook.rules[-3:] == new.rules


async def test_one_that_was_told_in_the_same_cycle_is_not_told_again(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled
) -> None:
    """A first cycle may be stored before the receivers are taken note of."""
    site.receivers = [webhook(hook.url)]
    site.change(pool())
    await begun(site, settled)
    assert hook.rules == [("BP-03", "firing")]


async def test_one_that_comes_back(site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled) -> None:
    """It hears what was dropped and still fires, and the end of what it takes to be firing; nothing that it knows."""
    site.receivers = receivers = [webhook(hook.url)]
    site.change(pool("BP-01", family=""), pool("Q-02", family=""))
    await begun(site, settled)
    site.change(pool("Q-03", family=""), pool("Q-04", family=""))
    site.receivers = []
    await begun(site)
    site.change(pool("BP-01", family="", state=RESOLVED), pool("Q-04", family="", state=RESOLVED))
    site.receivers = receivers
    await begun(site, settled)
    assert hook.rules == [("BP-01", "firing"), ("Q-02", "firing"), ("BP-01", "resolved"), ("Q-03", "firing")]


async def test_new_ones_and_what_they_are_owed_are_one_transaction(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the notifications cannot be kept the receiver stays unknown, and it is tried again."""
    site.change(pool())
    site.receivers = [webhook(hook.url)]
    introduced, times = Outbox.introduce, [0]

    def full(*arguments: Any) -> Any:
        times[0] += 1
        if times[0] <= 2:
            raise StoreError("the disk is full")
        assert site.row("SELECT count(*) FROM notice") == [(0,)]
        return introduced(*arguments)

    monkeypatch.setattr(Outbox, "introduce", full)
    async with site.running():
        await hook.until(1)
        await settled(site)
    assert times == [3]
    assert hook.rules == [("BP-03", "firing")]
    assert "the disk is full" in site.lines.said[0]


async def test_how_a_receiver_does(site: Any, hook: Any, pool: Pool, webhook: Webhook, settled: Settled) -> None:
    """Since when it fails and why, what waits since when, when it last took something."""
    site.receivers = [webhook("http://user:Psecret@127.0.0.1:1/Tsecret?key=Qsecret")]
    site.change(pool())
    site.change(pool(state=RESOLVED))
    made = site.row("SELECT min(made_ts) FROM notice")[0][0]
    began = site.clock.now()
    async with site.running():
        await site.until(lambda: len(site.clock.slept) >= 3)
    (row,) = site.receiver_rows()
    assert (row.accepted, row.failing, row.waiting, row.oldest) == (None, began, 2, made)
    assert "http://127.0.0.1:1 cannot be reached" in row.error
    assert "secret" not in repr(row)
    site.receivers = [webhook(hook.url)]
    await begun(site, settled)
    (row,) = site.receiver_rows()
    assert (row.accepted, row.failing, row.error, row.waiting, row.oldest) == (site.clock.now(), None, "", 0, None)
