"""What is sent twice when the agent is killed: at most the post that each receiver had on the wire."""

from __future__ import annotations

import shutil
import sqlite3
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from mqsamples.stored import stored_notifications
from mqvitals_agent.store.resilient import ResilientStore
from mqvitals_agent.store.writer import Store
from mqvitals_config.receivers.http import WebhookSettings
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.snapshot import ObjectName

Hooks = Callable[[], Awaitable[Any]]
Pool = Callable[..., Alert]
Webhook = Callable[..., WebhookSettings]
Settled = Callable[[Any], Awaitable[None]]

ALERTS = 30
"""More than are read from the store at a time."""


@contextmanager
def living(site: Any, path: Path, steady: Callable[[], float] = lambda: 0.0) -> Iterator[Any]:
    """The site over the store that an agent has, in the file at ``path``."""
    site.store.close()
    store = ResilientStore(lambda now, busy: Store.open(path, created=now, busy_ms=busy), site.clock.now, steady=steady)
    site.store = store
    site.row = lambda sql: store.file._connection.execute(sql).fetchall()
    try:
        yield site
    finally:
        store.close()


def many(site: Any, pool: Pool) -> None:
    site.change(*(pool(name=ObjectName("QM01", "buffer_pool", str(number))) for number in range(ALERTS)))


def killed(path: Path, to: Path) -> Path:
    """The store as a process that is killed now leaves it: what SQLite has written, without an orderly end."""
    to.mkdir()
    for ending in ("", "-wal"):
        if path.with_name(path.name + ending).exists():
            shutil.copy(path.with_name(path.name + ending), to / (path.name + ending))
    return to / path.name


@pytest.mark.parametrize("moment", [1, 2, 17, 21, ALERTS])
async def test_only_what_was_on_the_wire_is_sent_again(
    site: Any, hooks: Hooks, pool: Pool, webhook: Webhook, settled: Settled, tmp_path: Path, moment: int
) -> None:
    """Killed while two receivers have a post each: at most one is repeated for each, and none is missing."""
    first, second = await hooks(), await hooks()
    copies: list[tuple[Path, int, int]] = []

    async def look(_: web.Request) -> web.Response:
        if not copies and len(first.requests) >= moment:
            copy = killed(tmp_path / "live.db", tmp_path / "killed")
            copies.append((copy, len(first.requests), len(second.requests)))
        return web.Response(status=200)

    first.answers, second.answers = [look] * 100, [look] * 100
    site.receivers = [webhook(first.url, "one"), webhook(second.url, "two")]
    with living(site, tmp_path / "live.db"):
        many(site, pool)
        async with site.running():
            await settled(site)
    ((copy, *counts),) = copies
    before = [Counter(hook.keys[:count]) for hook, count in zip((first, second), counts, strict=True)]
    on_the_wire = [hook.keys[count - 1] if count else "" for hook, count in zip((first, second), counts, strict=True)]
    first.requests.clear()
    second.requests.clear()
    with living(site, copy):
        async with site.running():
            await settled(site)
    for hook, sent, last in zip((first, second), before, on_the_wire, strict=True):
        again = Counter(hook.keys)
        repeated = list((sent & again).elements())
        assert repeated in ([], [last])
        assert set(sent) | set(again) == set(sent + again)
        assert len(set(sent) | set(again)) == ALERTS


async def test_what_was_accepted_while_another_program_held_the_store(
    site: Any, hooks: Hooks, pool: Pool, webhook: Webhook, settled: Settled, tmp_path: Path
) -> None:
    """It is noted with the next answer that comes once the store is free again, not only with the next cycle."""
    hook = await hooks()
    path = tmp_path / "live.db"
    seconds = [0.0]
    copies: list[Path] = []

    async def look(_: web.Request) -> web.Response:
        # Each answer takes two seconds; the third to the fifth find the store locked.
        seconds[0] += 2
        count = len(hook.requests)
        if count == 3:
            other.execute("BEGIN IMMEDIATE")
        elif count == 6:
            other.execute("ROLLBACK")
        elif count == 8:
            copies.append(killed(path, tmp_path / "killed"))
        return web.Response(status=200)

    hook.answers = [look] * 100
    site.receivers = [webhook(hook.url)]
    with living(site, path, lambda: seconds[0]):
        many(site, pool)
        other = sqlite3.connect(path, isolation_level=None)
        async with site.running():
            await site.until(lambda: not site.store.notifications.pending_counts())
        other.close()
    assert len(stored_notifications(copies[0], "done_ts IS NULL")) == ALERTS - 7
