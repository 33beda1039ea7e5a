"""One receiver's queue: its notices in their order, each until it is accepted, or refused for good."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from mqvitals_agent.clock import Clock
from mqvitals_agent.notify.answer import Answer, Verdict
from mqvitals_agent.notify.backoff import pause_ms
from mqvitals_agent.notify.log import Log
from mqvitals_agent.notify.outbox import Outbox
from mqvitals_agent.notify.post import Post
from mqvitals_agent.store.cell import LAST_MOMENT
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.notice_row import NoticeOutcome, StoredNotice
from mqvitals_config.receiver import Receiver

T = TypeVar("T")

_AT_ONCE = 20
"""Notices read at a time: few, so that thousands that wait for a receiver take no memory."""


class ReceiverQueue:
    """Delivers what one receiver is owed, at least once each. ``chance`` gives random numbers from 0 to 1."""

    def __init__(
        self, receiver: Receiver, outbox: Outbox, post: Post, clock: Clock, log: Log, chance: Callable[[], float]
    ) -> None:
        self._receiver = receiver
        self._name = str(receiver.name)
        self._outbox = outbox
        self._post = post
        self._clock = clock
        self._log = log
        self._chance = chance
        self._news = asyncio.Event()
        self._failures = 0
        # What waits since an earlier run is tried at once: the clock may have been set, and the receiver be back.
        self._until = LAST_MOMENT

    def wake(self) -> None:
        """There may be new notices. Call it on the loop's thread."""
        self._news.set()

    async def run(self) -> None:
        """Deliver until cancelled. An attempt that is then under way will be made again by the next run."""
        while True:
            self._news.clear()
            notices = await self._kept(self._due)
            for notice in notices:
                if not await self._deliver(notice):
                    break
            if not notices:
                await self._news.wait()

    async def _due(self) -> tuple[StoredNotice, ...]:
        # A clock that was set back must not hold up what has waited its time.
        now = max(self._clock.now(), self._until)
        return tuple(await self._outbox.due(self._name, now, _AT_ONCE))

    async def _deliver(self, stored: StoredNotice) -> bool:
        """One attempt; False when it failed, after the pause."""
        answer = await self._post(self._receiver, stored.notice.payload)
        match answer.verdict:
            case Verdict.ACCEPTED:
                await self._end(stored, NoticeOutcome.ACCEPTED, "")
                self._recovered(answer)
            case Verdict.REFUSED:
                await self._end(stored, NoticeOutcome.REFUSED, answer.text)
                self._log.changed(f"receiver {self._name}", "receiver.failing", "")
                self._log.say(
                    "notice.refused",
                    f"receiver {self._name}: a notice will never be accepted and is not sent again: {answer.text}",
                    level="error",
                    receiver=self._name,
                    notice=stored.id,
                    alert=stored.notice.alert_id,
                    fingerprint=stored.notice.fingerprint,
                )
            case Verdict.AGAIN:
                await self._fail(stored, answer)
                return False
        self._failures = 0
        return True

    async def _end(self, stored: StoredNotice, outcome: NoticeOutcome, error: str) -> None:
        ts = self._clock.now()
        await self._kept(lambda: self._outbox.done(stored.id, ts, outcome, error))

    async def _fail(self, stored: StoredNotice, answer: Answer) -> None:
        self._failures += 1
        pause = pause_ms(self._failures, self._chance(), answer.retry_after_ms)
        until = self._until = self._clock.now() + pause
        self._log.changed(
            f"receiver {self._name}",
            "receiver.failing",
            f"receiver {self._name}: {answer.text}; alerts wait until it can be told",
            level="error",
            receiver=self._name,
        )
        await self._kept(lambda: self._outbox.failed(stored.id, answer.text, until))
        await self._clock.sleep(pause)

    def _recovered(self, answer: Answer) -> None:
        # An empty text forgets the failure: the same one is told again when it comes back.
        if self._log.changed(f"receiver {self._name}", "receiver.failing", "", level="info"):
            self._log.say("receiver.back", f"receiver {self._name}: {answer.text}", receiver=self._name)

    async def _kept(self, ask: Callable[[], Awaitable[T]]) -> T:
        """What the store says, however long it takes: what has been delivered must be noted before the next is."""
        failures = 0
        while True:
            try:
                found = await ask()
            except StoreError as error:
                failures += 1
                self._log.changed(
                    f"outbox {self._name}", "outbox.failing", str(error), level="error", receiver=self._name
                )
                await self._clock.sleep(pause_ms(failures, self._chance()))
            else:
                self._log.changed(f"outbox {self._name}", "outbox.failing", "", level="info")
                return found
