"""Leaving: what is due at receivers that do not fail is sent before, as far as the time reaches."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from mqvitals_config.receivers.http import WebhookSettings
from mqvitals_rules.lifecycle.alert import Alert, AlertState

Pool = Callable[..., Alert]
Webhook = Callable[..., WebhookSettings]
LONG_S = 30.0


def incidents(site: Any, pool: Pool, count: int) -> None:
    """Alerts that come and go."""
    for _ in range(count):
        site.change(pool())
        site.change(pool(state=AlertState.RESOLVED))


async def test_what_is_due_is_sent(site: Any, hook: Any, pool: Pool, webhook: Webhook) -> None:
    """All of it, though nothing has woken it, and the end comes as soon as it is done."""
    site.receivers = [webhook(hook.url)]
    async with site.running() as notifier:
        await notifier.drain(LONG_S)
        incidents(site, pool, 30)
        began = time.monotonic()
        await notifier.drain(LONG_S)
        assert time.monotonic() - began < LONG_S / 2
    assert {outcome for _, _, outcome in site.outcomes()} == {"accepted"}
    assert len(hook.requests) == 60


async def test_also_before_the_receivers_are_known(site: Any, hook: Any, pool: Pool, webhook: Webhook) -> None:
    """A run may end with its first cycle."""
    site.receivers = [webhook(hook.url)]
    incidents(site, pool, 1)
    async with site.running() as notifier:
        await notifier.drain(LONG_S)
    assert len(hook.requests) == 2


async def test_one_that_fails_is_not_waited_for(site: Any, hook: Any, pool: Pool, webhook: Webhook) -> None:
    """Its notifications wait for the next run; the others are sent."""
    site.receivers = [webhook("http://127.0.0.1:1/", name="dead"), webhook(hook.url)]
    incidents(site, pool, 2)
    async with site.running() as notifier:
        began = time.monotonic()
        await notifier.drain(LONG_S)
        assert time.monotonic() - began < LONG_S / 2
    assert len(hook.requests) == 4
    assert [outcome for _, _, outcome in site.outcomes("dead")] == [""] * 4
    assert site.store.notifications.pending_counts() == {"dead": 4}


async def test_one_that_hangs_is_waited_for_no_longer(site: Any, hook: Any, pool: Pool, webhook: Webhook) -> None:
    """The time that is given is kept."""
    hook.answers = [asyncio.Event()]
    site.receivers = [webhook(hook.url)]
    incidents(site, pool, 1)
    async with site.running() as notifier:
        await hook.until(1)
        began = time.monotonic()
        await notifier.drain(0.1)
        assert 0.05 < time.monotonic() - began < LONG_S / 2
    assert site.store.notifications.pending_counts() == {"ops": 2}


async def test_one_that_was_refused_is_not_waited_for(
    site: Any, hook: Any, pool: Pool, webhook: Webhook, monkeypatch: Any
) -> None:
    """It has been set aside."""

    async def never(ms: float) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(site.clock, "sleep", never)
    hook.answers = [400]
    site.receivers = [webhook(hook.url)]
    incidents(site, pool, 1)
    async with site.running() as notifier:
        began = time.monotonic()
        await notifier.drain(LONG_S)
        assert time.monotonic() - began < LONG_S / 2
    assert site.store.notifications.pending_counts() == {"ops": 2}
    await asyncio.sleep(0)
    assert not any("_ring" in repr(task) for task in asyncio.all_tasks())
