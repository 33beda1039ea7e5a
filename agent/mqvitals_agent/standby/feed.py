"""What an active agent offers to the one that follows it: its alerts as they change, before receivers are told of them.

A follower asks with the token of the last answer, which says that it has stored that. The answer comes as soon as something
has changed. A notification waits for that, but never long: an agent without a follower, or with one that hangs, tells alone.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.alerts.alert_feed import NOTHING, FeedState, changes_json, changes_of
from mqvitals_agent.threads import ThreadWorker

SHARED_S: Final = 2.0
"""A notification waits for its followers no longer."""
_FOLLOWING_S: Final = 5.0
"""One that has asked within this time follows."""
MOST_FOLLOWERS: Final = 4
"""Further ones take the place of who asked longest ago."""


@dataclass(eq=False, slots=True)
class _Follower:
    """What a follower has been sent: ``state`` with ``token``, which covers all that was to be shared up to ``covers``.

    ``has`` is up to where it has everything for certain. ``asked`` is when it asked last, ``asking`` whether it waits for an
    answer, ``late`` whether it let a notification wait in vain since.
    """

    state: FeedState = NOTHING
    token: str = ""
    covers: int = 0
    has: int = 0
    asked: float = 0.0
    asking: bool = False
    late: bool = False
    news: asyncio.Event = field(default_factory=asyncio.Event)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class AlertFeed:
    """The alerts of the store at ``path`` for followers. Used on the event loop's thread.

    The store is read in a thread of the feed's own, so that no cycle waits. ``steady`` is a real clock of seconds.
    """

    def __init__(self, path: Path, *, steady: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._steady = steady
        self._thread: ThreadWorker | None = None
        self._reader: StoreReader | None = None
        self._run = secrets.token_hex(8)
        self._sent = 0
        self._wanted = 0
        self._followers: dict[str, _Follower] = {}
        self._got = asyncio.Event()

    @property
    def followers(self) -> int:
        """How many agents follow now."""
        return sum(self._follows(each) for each in self._followers.values())

    def note(self) -> None:
        """Something may have changed."""
        for each in self._followers.values():
            each.news.set()

    async def shared(self) -> None:
        """Return when every follower has what the store holds now, after two seconds at the latest."""
        waiting = [each for each in self._followers.values() if self._follows(each) and not each.late]
        if not waiting:
            return
        self._wanted += 1
        wanted = self._wanted
        self.note()
        with suppress(TimeoutError):
            async with asyncio.timeout(SHARED_S):
                while any(each.has < wanted for each in waiting):
                    self._got.clear()
                    await self._got.wait()
        for each in waiting:
            each.late = each.has < wanted

    async def answer(self, follower: str, after: str, wait_s: float) -> dict[str, Any]:
        """What has changed for the ``follower`` since the answer with the token ``after``, as soon as something has.

        After ``wait_s`` (real seconds) without a change the same token comes with no changes; for another token than the last
        one all comes. Raises StoreError.
        """
        session = self._session(follower)
        async with session.turn:
            session.asking = True
            try:
                return await self._answer(session, after, wait_s)
            finally:
                session.asking, session.asked = False, self._steady()

    async def _answer(self, session: _Follower, after: str, wait_s: float) -> dict[str, Any]:
        whole = not after or after != session.token
        if whole:
            session.state, session.token = NOTHING, ""
        else:
            self._note_has(session, session.covers)
        ends = self._steady() + wait_s
        while True:
            session.news.clear()
            covers = self._wanted
            before = session.state
            state = await self._read(before)
            changes = changes_of(before, state)
            session.state = state
            if changes or whole:
                self._sent += 1
                session.token, session.covers = f"{self._run}.{self._sent}", covers
                return {"token": session.token, "whole": whole, "changes": changes_json(changes)}
            self._note_has(session, covers)
            rest = ends - self._steady()
            if rest <= 0:
                return {"token": session.token, "whole": False, "changes": []}
            with suppress(TimeoutError):
                async with asyncio.timeout(rest):
                    await session.news.wait()

    async def close(self) -> None:
        """Close the store; whoever waits for followers waits no more."""
        thread, self._thread = self._thread, None
        self._followers.clear()
        self._got.set()
        if thread is not None:
            await thread.run(self._close_reader)
            thread.end()

    def _session(self, follower: str) -> _Follower:
        found = self._followers.get(follower)
        if found is None:
            while len(self._followers) >= MOST_FOLLOWERS:
                oldest = min(self._followers, key=lambda name: self._followers[name].asked)
                del self._followers[oldest]
            found = self._followers[follower] = _Follower(asked=self._steady())
        return found

    def _follows(self, session: _Follower) -> bool:
        return session.asking or self._steady() - session.asked < _FOLLOWING_S

    def _note_has(self, session: _Follower, covers: int) -> None:
        session.has, session.late = max(session.has, covers), False
        self._got.set()

    async def _read(self, before: FeedState) -> FeedState:
        if self._thread is None:
            self._thread = ThreadWorker("mqvitals-feed")
        return await self._thread.run(self._read_store, before)

    def _read_store(self, before: FeedState) -> FeedState:
        if self._reader is None:
            self._reader = StoreReader.open(self._path)
        try:
            return self._reader.feed(before)
        except BaseException:  # raised again; another file may be in its place
            self._close_reader()
            raise

    def _close_reader(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()
