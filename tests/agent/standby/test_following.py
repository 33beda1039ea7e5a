"""One agent follows another's alerts over HTTP: what it stores, what it waits for, and what happens when either fails."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from mqsamples.patience import PATIENCE_S
from mqvitals_agent.standby.feed import AlertFeed
from mqvitals_agent.standby.follower import Follower
from mqvitals_agent.standby.wire import STANDBY_PATH
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.alerts.alert_feed import FeedChange
from mqvitals_agent.store.writer import Store
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.decoding.secret import Secret, WebAddress
from mqvitals_config.sections.standby import StandbySettings

NOW = 1_795_176_000_000


class Pair:
    """The store of an active agent, served; and that of one that follows."""

    def __init__(self, folder: Path) -> None:
        self.active, self.other = folder / "active.db", folder / "other.db"
        for path in (self.active, self.other):
            Store.open(path).close()
        self.feed = AlertFeed(self.active)
        self.role = "active"
        self.status = 200
        self.asked: list[dict[str, str]] = []
        self.tokens: list[str] = []
        self.taken = asyncio.Event()
        self.store = Store.open(self.other)
        self.hangs = False
        self.says: Any = None

    async def handle(self, request: web.Request) -> web.Response:
        self.asked.append(dict(request.query))
        self.tokens.append(request.headers.get("Authorization", ""))
        if self.status != 200:
            return web.Response(status=self.status)
        if self.says is not None:
            return web.json_response(self.says)
        found = {"role": self.role, "name": "mon1", "since": NOW}
        if self.role == "active":
            query = request.query
            found |= await self.feed.answer(query["follower"], query["after"], float(query["wait"]))
        return web.json_response(found)

    async def take_over(self, changes: Sequence[FeedChange], whole: bool) -> None:
        if self.hangs:
            await asyncio.get_running_loop().create_future()
        self.store.follow(changes, NOW, whole=whole)
        self.taken.set()

    def begin(self, name: str) -> None:
        """An alert begins in the active agent's store."""
        with closing(sqlite3.connect(self.active, isolation_level=None)) as db:
            db.execute(
                "INSERT INTO alert(rule, owner, kind, name, instance, scope_owner, scope_kind, scope_name, kind_of_rule, family,"
                " state, severity, worst, since, updated, started, why, summary, true_polls, good_polls, unknown_polls)"
                " VALUES('Q-02', 'QM01', 'queue', ?, '', 'QM01', 'queue', ?, 'operational', '', 'firing', 'warning', 'warning',"
                " ?, ?, ?, 'HELD', 'words', 1, 0, 0)",
                (name, name, NOW, NOW, NOW),
            )

    def followed(self) -> list[str]:
        """The names of the alerts in the other store."""
        with StoreReader.open(self.other) as reader:
            return [each.alert.key.object.name for each in reader.alerts()]


@asynccontextmanager
async def following(pair: Pair, **settings: Any) -> AsyncIterator[Follower]:
    """A follower of the pair's active agent, at work."""
    app = web.Application()
    app.router.add_get(STANDBY_PATH, pair.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server is not None
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
    peer = WebAddress(f"http://127.0.0.1:{port}/")
    follower = Follower(StandbySettings(peer, **settings), pair.take_over, retry_s=0.05, wait_s=0.5)
    work = asyncio.ensure_future(follower.run())
    try:
        yield follower
    finally:
        work.cancel()
        await asyncio.wait({work})
        await pair.feed.close()
        await runner.cleanup()


async def until(true: Callable[[], bool]) -> None:
    """Look until it is so."""
    async with asyncio.timeout(PATIENCE_S):
        while not true():  # noqa: ASYNC110 - it happens in other tasks and threads
            await asyncio.sleep(0.01)


@pytest.fixture
async def pair(tmp_path: Path) -> AsyncIterator[Pair]:
    found = Pair(tmp_path)
    yield found
    found.store.close()


async def test_what_is_to_be_told_is_known_to_the_other_agent_before(pair: Pair) -> None:
    """A notification may be sent when the other store holds its alert."""
    async with following(pair) as follower:
        await until(lambda: follower.follows and pair.feed.followers == 1)
        for name in ("APPL.1", "APPL.2", "APPL.3"):
            pair.begin(name)
            await pair.feed.shared()
            assert name in pair.followed()
        assert (follower.peer.role, follower.peer.name, follower.peer.since) == ("active", "mon1", NOW)
        assert follower.heard(PATIENCE_S)


async def test_what_changes_comes_without_being_asked_for(pair: Pair) -> None:
    """As soon as it is noted; only what has changed comes."""
    async with following(pair) as follower:
        await until(lambda: follower.follows)
        pair.begin("APPL.1")
        pair.feed.note()
        await until(lambda: pair.followed() == ["APPL.1"])
        assert len({each["after"] for each in pair.asked}) <= 3


async def test_nobody_waits_for_nobody(pair: Pair) -> None:
    """Without a follower, and after one that has gone."""
    await pair.feed.shared()
    assert pair.feed.followers == 0


async def test_one_that_hangs_is_waited_for_once(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then it is told when it asks again, and receivers wait for it again."""
    monkeypatch.setattr("mqvitals_agent.standby.feed.SHARED_S", 0.05)
    async with following(pair) as follower:
        await until(lambda: follower.follows and pair.feed.followers == 1)
        pair.hangs = True
        pair.begin("APPL.1")
        await pair.feed.shared()
        assert pair.followed() == []
        monkeypatch.setattr("mqvitals_agent.standby.feed.SHARED_S", 3600)
        await asyncio.wait_for(pair.feed.shared(), PATIENCE_S)


async def test_another_run_begins_anew(pair: Pair) -> None:
    """An agent that was started again knows no token of before: all comes, and what has ended meanwhile has ended."""
    async with following(pair) as follower:
        pair.begin("APPL.1")
        pair.feed.note()
        await until(lambda: pair.followed() == ["APPL.1"])
        before = pair.feed
        pair.feed = AlertFeed(pair.active)
        with closing(sqlite3.connect(pair.active, isolation_level=None)) as db:
            db.execute("DELETE FROM alert")
        pair.begin("APPL.2")
        await before.close()
        before.note()
        await until(lambda: pair.followed() == ["APPL.2"])
        assert follower.follows


async def test_a_failure_is_followed_by_all(pair: Pair, caplog: pytest.LogCaptureFixture) -> None:
    """One that answers with an error, or with what is no answer, is asked again; nothing is missed."""
    async with following(pair) as follower:
        await until(lambda: follower.follows)
        for status in (401, 404, 500):
            pair.status = status
            pair.feed.note()
            await until(lambda: not follower.follows)
            pair.begin(f"APPL.{status}")
            pair.status = 200
            await until(lambda: follower.follows)
            await until(lambda: f"APPL.{status}" in pair.followed())  # noqa: B023 - used at once
    assert "token_file" in caplog.text


async def test_one_that_waits_too_has_nothing_to_follow(pair: Pair) -> None:
    """Its role is known, and that it is there."""
    pair.role = "standby"
    async with following(pair) as follower:
        await until(lambda: follower.peer.role == "standby")
        assert not follower.follows
        assert follower.heard(PATIENCE_S)
        pair.role = "active"
        await until(lambda: follower.follows)


async def test_the_token_is_sent_and_shown_nowhere(
    pair: Pair, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """From its file, also when that has changed."""
    file = tmp_path / "token"
    file.write_text("Ssecrettoken\n")
    pair.status = 401
    async with following(pair, token_file=Secret.in_file(LocatedText(str(file), Place("test")))) as follower:
        await until(lambda: len(pair.tokens) > 1)
        pair.status = 200
        await until(lambda: follower.follows)
    assert set(pair.tokens) == {"Bearer Ssecrettoken"}
    assert "Ssecrettoken" not in caplog.text


@pytest.mark.parametrize(
    "answer", [[], {"role": "active"}, {"role": "active", "token": "a", "whole": True, "changes": [1]}]
)
async def test_what_is_no_answer_is_refused(pair: Pair, answer: Any, caplog: pytest.LogCaptureFixture) -> None:
    """It is logged, and nothing is stored."""
    pair.says = answer
    async with following(pair) as follower:
        await until(lambda: len(pair.asked) > 2)
        assert not follower.follows
    assert "cannot be followed" in caplog.text
