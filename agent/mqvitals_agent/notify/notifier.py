"""Telling all receivers: a task and a connection for each, so that none waits for another."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence

from mqvitals_agent.clock import Clock
from mqvitals_agent.notify.log import Log
from mqvitals_agent.notify.outbox import Outbox
from mqvitals_agent.notify.post import WebhookPost, open_session
from mqvitals_agent.notify.receiver_queue import ReceiverQueue
from mqvitals_config.receiver import Receiver


class Notifier:
    """Delivers what the outbox holds, until it is closed. Made and used on the loop's thread.

    ``chance`` gives random numbers from 0 to 1.
    """

    def __init__(
        self,
        receivers: Sequence[Receiver],
        outbox: Outbox,
        clock: Clock,
        log: Log,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._receivers = tuple(receivers)
        self._outbox = outbox
        self._clock = clock
        self._log = log
        self._chance = chance
        self._queues: list[ReceiverQueue] = []
        self._closed = asyncio.Event()

    async def run(self) -> None:
        """Deliver until ``close``. What is then still owed stays in the outbox, and so does what was under way."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._serve(each), name=f"receiver {each.name}") for each in self._receivers]
            await self._closed.wait()
            for task in tasks:
                task.cancel()

    def wake(self) -> None:
        """There may be new notices: call it after every snapshot that was stored."""
        for queue in self._queues:
            queue.wake()

    def close(self) -> None:
        """End ``run``; a second call does nothing."""
        self._closed.set()

    async def _serve(self, receiver: Receiver) -> None:
        async with open_session() as session:
            queue = ReceiverQueue(
                receiver, self._outbox, WebhookPost(session, self._clock.now), self._clock, self._log, self._chance
            )
            self._queues.append(queue)
            await queue.run()
