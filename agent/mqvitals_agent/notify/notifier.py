"""Telling all receivers: a task and a connection for each, so that none waits for another."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress

from mqvitals_agent.clock import Clock
from mqvitals_agent.notify.log import Log
from mqvitals_agent.notify.outbox import Outbox
from mqvitals_agent.notify.patience import Patience
from mqvitals_agent.notify.post import WebhookPost, open_session
from mqvitals_agent.notify.receiver_queue import ReceiverQueue
from mqvitals_agent.store.receiver_row import Adoption
from mqvitals_config.receiver import Receiver


class Notifier:
    """Delivers what the outbox holds, until it is closed. Made and used on the loop's thread.

    ``chance_of`` makes, for each receiver's name, what gives random numbers from 0 to 1: a receiver's pauses do not depend on the others; ``secrets_of`` as for ``WebhookPost``.
    """

    def __init__(
        self,
        receivers: Sequence[Receiver],
        outbox: Outbox,
        clock: Clock,
        log: Log,
        chance_of: Callable[[str], Callable[[], float]] = lambda _: random.random,
        *,
        secrets_of: Callable[[Receiver], tuple[str, str]] | None = None,
    ) -> None:
        self._receivers = tuple(receivers)
        self._outbox = outbox
        self._clock = clock
        self._log = log
        self._chance_of = chance_of
        self._secrets_of = secrets_of
        self._queues: list[ReceiverQueue] = []
        self._begun = asyncio.Event()
        self._closed = asyncio.Event()

    async def run(self) -> None:
        """Deliver until ``close``. What is then still owed stays in the outbox, and so does what was under way."""
        async with asyncio.TaskGroup() as group:
            work = group.create_task(self._tell_all())
            await self._closed.wait()
            work.cancel()

    def wake(self) -> None:
        """There may be new notices: call it after every snapshot that was stored."""
        for queue in self._queues:
            queue.wake()

    async def begun(self) -> None:
        """Wait until the store knows who the receivers are, and each has its queue."""
        await self._begun.wait()

    async def drain(self, within_s: float) -> None:
        """Wait, at most so many seconds, until nothing is due at receivers that do not fail."""
        self.wake()
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self.begun()
                for queue in self._queues:
                    await queue.settled()

    def close(self) -> None:
        """End ``run``; a second call does nothing."""
        self._closed.set()

    async def _tell_all(self) -> None:
        patience = Patience(self._clock, self._log, self._chance_of(""), "all receivers")
        ts = self._clock.now()
        self._tell(await patience.ask(lambda: self._outbox.adopt(self._receivers, ts)))
        async with AsyncExitStack() as sessions, asyncio.TaskGroup() as group:
            for receiver in self._receivers:
                session = await sessions.enter_async_context(open_session())
                queue = ReceiverQueue(
                    receiver,
                    self._outbox,
                    WebhookPost(session, self._clock.now, self._secrets_of),
                    self._clock,
                    self._log,
                    self._chance_of(str(receiver.name)),
                )
                self._queues.append(queue)
                group.create_task(queue.run(), name=f"receiver {receiver.name}")
            self._begun.set()

    def _tell(self, adoption: Adoption) -> None:
        for name, count in adoption.dropped.items():
            if count:
                self._log.say(
                    "receiver.dropped",
                    f"receiver {name} stands in the settings no more: what it was owed is dropped, {_notices(count)}",
                    level="warning",
                    receiver=name,
                    notices=count,
                )
        for name, count in adoption.owed.items():
            if count:
                self._log.say(
                    "receiver.new",
                    f"receiver {name} is new and is told how alerts are, {_notices(count)}",
                    receiver=name,
                    notices=count,
                )


def _notices(count: int) -> str:
    return f"{count} notice{'' if count == 1 else 's'}"
