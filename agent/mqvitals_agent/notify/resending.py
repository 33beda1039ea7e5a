"""Sends all that fires again and again to receivers that want it so: to each member of a cluster by itself."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Protocol

from mqvitals_agent.clock import Clock, with_timeout
from mqvitals_agent.log import as_change, as_recovery
from mqvitals_agent.notify.notification import NotifiedAlert
from mqvitals_agent.notify.outbox import Outbox
from mqvitals_agent.notify.receiver import DeliveryOutcome, DeliveryStatus, NotificationReceiver
from mqvitals_agent.notify.resent import SentAlert, batches, due_alerts, next_due, told_by
from mqvitals_agent.notify.retry import ReceiverState, RetryPolicy, pause_ms
from mqvitals_agent.store.rows.alerts.resent import ResentAlert

_LOG = logging.getLogger(__name__)


class ResendMember(Protocol):
    """A member of a cluster. ``name`` may be shown."""

    name: str

    async def push(self, alerts: Sequence[NotifiedAlert], /) -> DeliveryOutcome:
        """Make one attempt to send alerts, firing and ended. Raises nothing that the member or the network can cause."""
        ...


class ResendingReceiver(NotificationReceiver, Protocol):
    """A receiver that takes for ended what it does not hear of any more."""

    members: Sequence[ResendMember]
    resend_ms: int


class ResendQueue:
    """Sends what fires to the members of a receiver, and for a while what has ended.

    The state of the receiver in the store is that of all: it fails when no member accepts anything. ``chance`` returns
    random numbers from 0 to 1.
    """

    def __init__(
        self,
        name: str,
        receiver: ResendingReceiver,
        outbox: Outbox,
        clock: Clock,
        chance: Callable[[], float],
    ) -> None:
        self._name = name
        self._queues = [
            _MemberQueue(name, receiver.resend_ms, each, outbox, clock, chance, self._noted)
            for each in receiver.members
        ]
        self._state = ReceiverState(name, outbox, RetryPolicy(clock, chance, name))

    def wake(self) -> None:
        """There may be something new. Call it on the event loop's thread."""
        for each in self._queues:
            each.wake()

    async def settled(self) -> None:
        """Wait until every member has been sent everything, or fails."""
        for each in self._queues:
            await each.settled.wait()

    async def run(self) -> None:
        """Send until cancelled."""
        async with asyncio.TaskGroup() as group:
            for each in self._queues:
                group.create_task(each.run(), name=f"receiver {self._name} {each.member.name}")

    async def _noted(self) -> None:
        """Keep the state of the receiver when it is another one, and now and then that it works."""
        known = [each.error for each in self._queues if each.error is not None]
        errors = list(dict.fromkeys(filter(None, known)))
        if not known:
            return
        accepts = len(list(filter(None, known))) < len(known)
        await self._state.note("; ".join(errors), accepts=accepts)


class _MemberQueue:
    """Sends to one member. ``error`` is why it fails, empty when it does not, None before the first attempt."""

    def __init__(
        self,
        receiver: str,
        resend_ms: int,
        member: ResendMember,
        outbox: Outbox,
        clock: Clock,
        chance: Callable[[], float],
        noted: Callable[[], Awaitable[None]],
    ) -> None:
        self._receiver = receiver
        self._resend_ms = resend_ms
        self.member = member
        self._outbox = outbox
        self._clock = clock
        self._chance = chance
        self._noted = noted
        self._retry = RetryPolicy(clock, chance, receiver)
        self._news = asyncio.Event()
        self.settled = asyncio.Event()
        self.error: str | None = None
        self._sent: dict[str, SentAlert] = {}

    def wake(self) -> None:
        """There may be something new."""
        self._news.set()
        if not self.error:
            self.settled.clear()

    async def run(self) -> None:
        """Send until cancelled. A failure is followed by a pause, after which what is then due is sent."""
        failures = 0
        while True:
            self._news.clear()
            rows = await self._retry.call(lambda: self._outbox.on_thread(lambda: self._outbox.resent(self._receiver)))
            outcome = await self._send(rows)
            failed = outcome is not None and outcome.status is DeliveryStatus.AGAIN
            if outcome is not None:
                self._log(outcome)
                await self._noted()
            if failed:
                failures += 1
                self.settled.set()
                asked = outcome.retry_after_ms if outcome is not None else None
                await self._clock.sleep(min(pause_ms(failures, self._chance(), asked), self._resend_ms))
                continue
            failures = 0
            if not self._news.is_set():
                self.settled.set()
            await self._rest()

    async def _send(self, rows: Sequence[ResentAlert]) -> DeliveryOutcome | None:
        """Send what is due; the outcome of the attempt that failed, else of the last one, None without any."""
        now = self._clock.now()
        there = {each.identity for each in rows}
        self._sent = {identity: sent for identity, sent in self._sent.items() if identity in there}
        outcome: DeliveryOutcome | None = None
        refused: DeliveryOutcome | None = None
        # One that fails is asked with nothing when there is nothing: it must be known when it works again.
        due = list(batches(due_alerts(rows, self._sent, now, self._resend_ms)))
        for batch in due or ([[]] if self.error else []):
            alerts = [told for each in batch if (told := told_by(each)) is not None]
            with self._clock.hold():
                outcome = await self.member.push(alerts)
            if outcome.status is DeliveryStatus.AGAIN:
                return outcome
            if outcome.status is DeliveryStatus.REFUSED:
                # It takes the valid ones of them; others may be valid altogether.
                refused = outcome
            self._sent |= {each.identity: SentAlert(each, now) for each in batch}
        return refused or outcome

    async def _rest(self) -> None:
        """Wait until there may be something new, or something is to be sent again."""
        due = next_due(self._sent, self._resend_ms)
        if due is None and not self.error:
            await self._news.wait()
            return
        until = self._resend_ms if due is None else due - self._clock.now()
        with suppress(TimeoutError):
            await with_timeout(self._news.wait(), self._clock, max(until, 0))

    def _log(self, outcome: DeliveryOutcome) -> None:
        """Log once that the member fails, and once that it works again."""
        key, facts = f"receiver {self._receiver} {self.member.name}", {"receiver": self._receiver}
        if outcome.status is DeliveryStatus.ACCEPTED:
            self.error = ""
            _LOG.info(f"receiver {self._receiver}: {outcome.text}", extra=as_recovery(key, "receiver.back", **facts))
            return
        self.error = outcome.text
        what = "some of the alerts are refused" if outcome.status is DeliveryStatus.REFUSED else "it knows no news"
        _LOG.error(
            f"receiver {self._receiver}: {outcome.text}; {what}; all of them are sent again and again",
            extra=as_change(key, "receiver.failing", **facts),
        )
