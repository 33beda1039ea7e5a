"""Tells receivers that the agent works, as long as its cycles go on: a dead man's switch, which acts when it hears nothing.

That the process is there is not enough: a heartbeat is left out while the last cycle is late.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

from mqvitals_agent.clock import Clock
from mqvitals_agent.log import as_change, as_recovery
from mqvitals_agent.notify.outbox import Outbox
from mqvitals_agent.notify.receiver import DeliveryOutcome, DeliveryStatus, NotificationReceiver
from mqvitals_agent.notify.retry import ReceiverState, RetryPolicy, pause_ms

_LOG = logging.getLogger(__name__)


class BeatingReceiver(NotificationReceiver, Protocol):
    """A receiver of heartbeats, every so many ms."""

    every_ms: int

    async def beat(self, late: str, /) -> DeliveryOutcome | None:
        """Make one attempt; ``late`` is why cycles do not go on, empty while they do. None: there is nothing to be sent.

        Raises nothing that the receiver or the network can cause.
        """
        ...


class HeartbeatQueue:
    """The heartbeats of one receiver.

    ``chance`` returns random numbers from 0 to 1, ``late`` why cycles do not go on; empty while they do.
    """

    def __init__(
        self,
        name: str,
        receiver: BeatingReceiver,
        outbox: Outbox,
        clock: Clock,
        chance: Callable[[], float],
        late: Callable[[], str],
    ) -> None:
        self._name = name
        self._receiver = receiver
        self._clock = clock
        self._chance = chance
        self._late = late
        self._state = ReceiverState(name, outbox, RetryPolicy(clock, chance, name))

    def wake(self) -> None:
        """News of alerts do not matter to it."""

    async def settled(self) -> None:
        """There is nothing to wait for."""

    async def run(self) -> None:
        """Send until cancelled. One that fails is tried again sooner."""
        failures = 0
        while True:
            late = self._late()
            with self._clock.hold():
                outcome = await self._receiver.beat(late)
            every = self._receiver.every_ms
            if outcome is None:
                await self._clock.sleep(every)
                continue
            accepted = outcome.status is DeliveryStatus.ACCEPTED
            self._log(outcome, late)
            await self._state.note("" if accepted else outcome.text, accepts=accepted)
            failures = 0 if accepted else failures + 1
            pause = every if accepted else min(pause_ms(failures, self._chance(), outcome.retry_after_ms), every)
            await self._clock.sleep(pause)

    def _log(self, outcome: DeliveryOutcome, late: str) -> None:
        key, facts = f"receiver {self._name}", {"receiver": self._name}
        if outcome.status is not DeliveryStatus.ACCEPTED:
            text = f"receiver {self._name}: {outcome.text}; it does not hear that the agent works"
            _LOG.error(text, extra=as_change(key, "receiver.failing", **facts))
        elif late:
            text = f"receiver {self._name} hears that the agent is late: {late}"
            _LOG.error(text, extra=as_change(key, "receiver.told_late", **facts))
        else:
            _LOG.info(f"receiver {self._name}: {outcome.text}", extra=as_recovery(key, "receiver.back", **facts))
