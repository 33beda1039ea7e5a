"""One receiver's queue: its notices in their order, each until it is accepted, or given up after a day of refusals."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from mqvitals_agent.clock import Clock
from mqvitals_agent.journal import Level
from mqvitals_agent.notify.answer import Answer, Verdict
from mqvitals_agent.notify.backoff import GIVEN_UP_ATTEMPTS, GIVEN_UP_MS, pause_ms
from mqvitals_agent.notify.log import Log
from mqvitals_agent.notify.outbox import Outbox
from mqvitals_agent.notify.patience import Patience
from mqvitals_agent.notify.post import Post
from mqvitals_agent.store.notice_row import NoticeOutcome, StoredNotice
from mqvitals_config.receiver import Receiver

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
        self._patience = Patience(clock, log, chance, self._name)
        self._news = asyncio.Event()
        self._settled = asyncio.Event()
        self._failures = 0

    def wake(self) -> None:
        """There may be new notices. Call it on the loop's thread."""
        self._news.set()
        self._unsettle()

    async def settled(self) -> None:
        """Wait until nothing is due, or the receiver is one that fails."""
        await self._settled.wait()

    async def run(self) -> None:
        """Deliver until cancelled. An attempt that is then under way will be made again by the next run."""
        while True:
            self._news.clear()
            now = self._clock.now()
            notices = await self._patience.ask(lambda: self._outbox.due(self._name, now, _AT_ONCE))  # noqa: B023 - asked before the next round
            if not notices:
                await self._rest()
            aside: set[int] = set()
            for notice in notices:
                if notice.notice.alert_id in aside:
                    continue
                verdict = await self._deliver(notice)
                if verdict is Verdict.AGAIN:
                    break
                if verdict is Verdict.REFUSED:
                    # What is owed about the same alert comes after it, and is not due before it is.
                    aside.add(notice.notice.alert_id)

    def _unsettle(self) -> None:
        if not self._failures:
            self._settled.clear()

    async def _rest(self) -> None:
        """Until there may be news, or one that was refused is due again."""
        now = self._clock.now()
        due = await self._patience.ask(lambda: self._outbox.next_due(self._name, now))
        alarm = None if due is None else asyncio.create_task(self._ring(due - now))
        try:
            if not self._news.is_set():
                self._settled.set()
            await self._news.wait()
        finally:
            if alarm is not None:
                alarm.cancel()
        self._unsettle()

    async def _ring(self, ms: int) -> None:
        await self._clock.sleep(ms)
        self._news.set()

    async def _deliver(self, stored: StoredNotice) -> Verdict:
        """One attempt and what follows from it; when the receiver failed, the pause too."""
        with self._clock.hold():
            answer = await self._post(self._receiver, stored.notice.payload)
        if answer.verdict is Verdict.AGAIN:
            await self._fail(stored, answer)
            return answer.verdict
        self._failures = 0
        self._unsettle()
        if answer.verdict is Verdict.REFUSED:
            await self._refused(stored, answer)
            return answer.verdict
        ts = self._clock.now()
        await self._patience.ask(lambda: self._outbox.done(stored.id, ts, NoticeOutcome.ACCEPTED, ""))
        # An empty text forgets the failure: the same one is told again when it comes back.
        if self._log.changed(f"receiver {self._name}", "receiver.failing", ""):
            self._log.say("receiver.back", f"receiver {self._name}: {answer.text}", receiver=self._name)
        if stored.refused is not None:
            self._tell(stored, "notice.taken", "a notice that had been refused has been accepted", "info")
        return answer.verdict

    async def _fail(self, stored: StoredNotice, answer: Answer) -> None:
        self._failures += 1
        self._settled.set()
        pause = pause_ms(self._failures, self._chance(), answer.retry_after_ms)
        ts = self._clock.now()
        self._log.changed(
            f"receiver {self._name}",
            "receiver.failing",
            f"receiver {self._name}: {answer.text}; alerts wait until it can be told",
            level="error",
            receiver=self._name,
        )
        await self._patience.ask(lambda: self._outbox.failed(stored.id, ts, answer.text, ts + pause, refused=False))
        await self._clock.sleep(pause)

    async def _refused(self, stored: StoredNotice, answer: Answer) -> None:
        """Set the notice aside, so that others go on; after a day give it up."""
        self._log.changed(f"receiver {self._name}", "receiver.failing", "")
        ts = self._clock.now()
        if _is_given_up(stored, ts):
            await self._patience.ask(lambda: self._outbox.done(stored.id, ts, NoticeOutcome.REFUSED, answer.text))
            said = f"a notice was refused for a day and is not sent again; the last was: {answer.text}"
            self._tell(stored, "notice.given_up", said, "error")
            return
        pause = pause_ms(stored.attempts + 1, self._chance(), answer.retry_after_ms)
        await self._patience.ask(lambda: self._outbox.failed(stored.id, ts, answer.text, ts + pause, refused=True))
        if stored.refused is None:
            said = f"a notice is refused: {answer.text}; it is tried again for a day while others go on"
            self._tell(stored, "notice.refused", said, "error")

    def _tell(self, stored: StoredNotice, event: str, said: str, level: Level) -> None:
        self._log.say(
            event,
            f"receiver {self._name}: {said}",
            level=level,
            receiver=self._name,
            notice=stored.id,
            alert=stored.notice.alert_id,
            fingerprint=stored.notice.fingerprint,
        )


def _is_given_up(stored: StoredNotice, now: int) -> bool:
    """Whether a notice that is refused once more at ``now`` (ms UTC) has been for a day, not only by a clock that was set ahead."""
    return stored.refused is not None and now - stored.refused >= GIVEN_UP_MS and stored.attempts >= GIVEN_UP_ATTEMPTS
