"""Delivers the notifications of the outbox: a queue with retries for each receiver, so none waits for another."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from importlib import import_module
from typing import Any, Final, Protocol, TypeVar, cast

from mqvitals_agent.clock import Clock, with_timeout
from mqvitals_agent.log import as_change, as_event, as_recovery, forget
from mqvitals_agent.notify.heartbeat import BeatingReceiver, HeartbeatQueue
from mqvitals_agent.notify.message import WriteMessage
from mqvitals_agent.notify.notification import notification_from
from mqvitals_agent.notify.outbox import Outbox
from mqvitals_agent.notify.receiver import DeliveryOutcome, DeliveryStatus, NotificationReceiver
from mqvitals_agent.notify.resending import ResendingReceiver, ResendQueue
from mqvitals_agent.notify.retry import RetryPolicy, pause_ms
from mqvitals_agent.notify.template import message_writer
from mqvitals_agent.store.rows.alerts.notification_rows import LONGEST_PAUSE_MS, NotificationOutcome, StoredNotification
from mqvitals_agent.store.rows.alerts.notifications import NotificationRepository
from mqvitals_agent.store.rows.alerts.receivers import ReceiverChanges
from mqvitals_config.receivers.receiver import ReceiverSettings, ReceiverType

_LOG = logging.getLogger(__name__)

T = TypeVar("T")

GIVE_UP_MS: Final = 86_400_000
"""A notification that the receiver refuses is tried again for this long."""
GIVE_UP_ATTEMPTS: Final = GIVE_UP_MS // LONGEST_PAUSE_MS
"""The least number of attempts in that time. Fewer mean that the clock was set ahead."""

MakeReceiver = Callable[[Any, Callable[[], int]], NotificationReceiver]
"""(settings, the time now in ms UTC) -> the receiver. Called on the event loop's thread."""

_MakeOfType = Callable[[Any, Callable[[], int], WriteMessage], NotificationReceiver]


def _in(module: str, name: str) -> _MakeOfType:
    """Makes receivers of the class ``name`` in ``receivers/``, which is imported with the first of them.

    The HTTP client is a third of what an agent imports: one that notifies nobody starts without it.
    """

    def make(settings: ReceiverSettings, now: Callable[[], int], write: WriteMessage) -> NotificationReceiver:
        found = getattr(import_module(f"mqvitals_agent.notify.receivers.{module}"), name)
        return cast("NotificationReceiver", found(settings, now, write=write))

    return make


RECEIVERS: Final[Mapping[ReceiverType, _MakeOfType]] = {
    "webhook": _in("webhook", "WebhookReceiver"),
    "alertmanager": _in("alertmanager", "AlertmanagerReceiver"),
    "slack": _in("slack", "SlackReceiver"),
    "teams": _in("teams", "TeamsReceiver"),
    "pagerduty": _in("pagerduty", "PagerDutyReceiver"),
    "servicenow": _in("servicenow", "ServiceNowReceiver"),
    "splunk": _in("splunk", "SplunkReceiver"),
    "command": _in("command", "CommandReceiver"),
    "syslog": _in("syslog", "SyslogReceiver"),
    "email": _in("email", "EmailReceiver"),
    "apprise": _in("apprise", "AppriseReceiver"),
    "heartbeat": _in("heartbeat", "HeartbeatReceiver"),
}


def make_receiver(
    settings: ReceiverSettings, now: Callable[[], int], *, link: str | None = None
) -> NotificationReceiver:
    """The receiver that these settings describe. ``now`` returns the time in ms UTC, ``link`` is the setting of that name."""
    return RECEIVERS[settings.type](settings, now, message_writer(settings.template, link))


class Sharing(Protocol):
    """What another agent is told of, which goes on where this one ends."""

    async def shared(self) -> None:
        """Return when it knows what the outbox holds now, or cannot be told."""
        ...

    def note(self) -> None:
        """What the outbox holds has changed."""
        ...


class ReceiverQueue:
    """Delivers the notifications of one receiver in their order, each at least once.

    A notification is tried until it is accepted, or until it was refused for a day. ``chance`` returns random numbers
    from 0 to 1. ``sharing`` is as for ``Notifier``.
    """

    def __init__(
        self,
        name: str,
        receiver: NotificationReceiver,
        outbox: Outbox,
        clock: Clock,
        chance: Callable[[], float],
        sharing: Sharing | None = None,
    ) -> None:
        self._name = name
        self._receiver = receiver
        self._outbox = outbox
        self._clock = clock
        self._chance = chance
        self._sharing = sharing
        self._retry = RetryPolicy(clock, chance, name)
        self._news = asyncio.Event()
        self._settled = asyncio.Event()
        self._failures = 0

    def wake(self) -> None:
        """There may be new notifications. Call it on the event loop's thread."""
        self._news.set()
        self._unsettle()

    async def settled(self) -> None:
        """Wait until nothing is due, or the receiver fails."""
        await self._settled.wait()

    async def run(self) -> None:
        """Deliver until cancelled. The next run repeats an attempt that is then under way."""
        while True:
            self._news.clear()
            # One at a time: what people mute meanwhile is not sent, and thousands that wait take no memory.
            stored = await self._retry.call(lambda: self._outbox.on_thread(lambda: self._outbox.take(self._name)))
            if stored is None:
                await self._rest()
            else:
                await self._deliver(stored)

    def _unsettle(self) -> None:
        if not self._failures:
            self._settled.clear()

    async def _rest(self) -> None:
        """Wait until there may be news, or a refused notification is due again."""
        now = self._clock.now()
        due = await self._stored(lambda rows: rows.next_due(self._name, now))
        if not self._news.is_set():
            self._settled.set()
        if due is None:
            await self._news.wait()
        else:
            with suppress(TimeoutError):
                await with_timeout(self._news.wait(), self._clock, due - now)
        self._unsettle()

    async def _stored(self, function: Callable[[NotificationRepository], T]) -> T:
        """What ``function`` returns, called with the store's notifications until the store answers."""
        return await self._retry.call(lambda: self._outbox.run(function))

    async def _settled_as(self, function: Callable[[NotificationRepository], None]) -> None:
        """Keep the outcome of an attempt, as ``function`` does."""
        await self._retry.call(lambda: self._outbox.on_thread(lambda: self._outbox.settle(self._name, function)))
        if self._sharing is not None:
            self._sharing.note()

    async def _deliver(self, stored: StoredNotification) -> None:
        """Make one attempt and store its outcome; when the receiver failed, also pause."""
        try:
            notification = notification_from(stored)
        except ValueError as error:
            outcome = DeliveryOutcome(DeliveryStatus.REFUSED, str(error))
        else:
            with self._clock.hold():
                if self._sharing is not None:
                    await self._sharing.shared()
                outcome = await self._receiver.send(notification)
        if outcome.status is DeliveryStatus.AGAIN:
            await self._on_failure(stored, outcome)
            return
        self._failures = 0
        self._unsettle()
        if outcome.status is DeliveryStatus.REFUSED:
            await self._on_refusal(stored, outcome)
            return
        ts = self._clock.now()
        await self._settled_as(lambda rows: rows.done(stored.number, ts, NotificationOutcome.ACCEPTED))
        _LOG.info(
            f"receiver {self._name}: {outcome.text}",
            extra=as_recovery(f"receiver {self._name}", "receiver.back", receiver=self._name),
        )
        if stored.refused is not None:
            self._log_notification(
                stored, "notice.taken", "a notification that had been refused has been accepted", logging.INFO
            )

    async def _on_failure(self, stored: StoredNotification, outcome: DeliveryOutcome) -> None:
        self._failures += 1
        self._settled.set()
        pause = pause_ms(self._failures, self._chance(), outcome.retry_after_ms)
        ts = self._clock.now()
        _LOG.error(
            f"receiver {self._name}: {outcome.text}; alerts wait until it accepts them",
            extra=as_change(f"receiver {self._name}", "receiver.failing", receiver=self._name),
        )
        await self._settled_as(lambda rows: rows.failed(stored.number, ts, outcome.text, ts + pause))
        await self._clock.sleep(pause)

    async def _on_refusal(self, stored: StoredNotification, outcome: DeliveryOutcome) -> None:
        """Postpone the notification, so that others go on; after a day give it up."""
        forget(_LOG, f"receiver {self._name}")
        ts = self._clock.now()
        if _is_given_up(stored, ts):
            await self._settled_as(lambda rows: rows.done(stored.number, ts, NotificationOutcome.REFUSED, outcome.text))
            text = f"a notification was refused for a day and is not sent again; the last answer was: {outcome.text}"
            self._log_notification(stored, "notice.given_up", text, logging.ERROR)
            return
        pause = pause_ms(stored.attempts + 1, self._chance(), outcome.retry_after_ms)
        await self._settled_as(lambda rows: _set_aside(rows, stored, ts, outcome.text, ts + pause))
        if stored.refused is None:
            text = f"a notification is refused: {outcome.text}; it is retried for a day while others are sent"
            self._log_notification(stored, "notice.refused", text, logging.ERROR)

    def _log_notification(self, stored: StoredNotification, event: str, text: str, level: int) -> None:
        _LOG.log(
            level,
            f"receiver {self._name}: {text}",
            extra=as_event(
                event,
                receiver=self._name,
                notice=stored.number,
                alert=stored.alerts[0].alert_id,
                fingerprint=stored.alerts[0].fingerprint,
                alerts=len(stored.alerts),
            ),
        )


def _set_aside(rows: NotificationRepository, stored: StoredNotification, ts: int, error: str, next_ts: int) -> None:
    """Keep that a notification is refused. One of several alerts becomes two: one of them alone may be at fault."""
    rows.failed(stored.number, ts, error, next_ts, refused=True)
    if len(stored.alerts) > 1:
        rows.split(stored.number)


def _is_given_up(stored: StoredNotification, now: int) -> bool:
    """Whether a notification refused at ``now`` (ms UTC) was refused for a day, not only by a clock set ahead."""
    return stored.refused is not None and now - stored.refused >= GIVE_UP_MS and stored.attempts >= GIVE_UP_ATTEMPTS


class _Queue(Protocol):
    """The work for one receiver."""

    def wake(self) -> None: ...

    async def settled(self) -> None: ...

    async def run(self) -> None: ...


class Notifier:
    """Delivers what the outbox holds to its receivers, until it is closed. Created and used on the event loop's thread.

    ``chance_of`` returns, for a receiver's name, a function that returns random numbers from 0 to 1, so the pauses of
    one receiver do not depend on the others. ``late`` returns why cycles do not go on, for heartbeats; empty while they do.
    ``sharing`` tells another agent what is about to be sent and what was, which it would else send again.
    """

    def __init__(
        self,
        outbox: Outbox,
        clock: Clock,
        chance_of: Callable[[str], Callable[[], float]] = lambda _: random.random,
        make: MakeReceiver = make_receiver,
        late: Callable[[], str] = lambda: "",
        sharing: Sharing | None = None,
    ) -> None:
        self._sharing = sharing
        self._receivers = outbox.receivers
        self._outbox = outbox
        self._clock = clock
        self._chance_of = chance_of
        self._make = make
        self._late = late
        self._queues: list[_Queue] = []
        self._news = asyncio.Event()
        self._begun = asyncio.Event()
        self._closed = asyncio.Event()

    async def run(self) -> None:
        """Deliver until ``close``. What is not delivered then stays in the outbox, attempts under way included."""
        async with asyncio.TaskGroup() as group:
            work = group.create_task(self._deliver_all())
            await self._closed.wait()
            work.cancel()

    def wake(self) -> None:
        """There may be something to tell. Call it after every snapshot that was stored, and after actions of people."""
        self._news.set()
        for queue in self._queues:
            queue.wake()

    async def begun(self) -> None:
        """Wait until the store knows the receivers and each has its queue."""
        await self._begun.wait()

    async def drain(self, within_s: float) -> None:
        """Wait, at most this many seconds, until nothing is due at receivers that do not fail."""
        self.wake()
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self.begun()
                for queue in self._queues:
                    await queue.settled()

    def close(self) -> None:
        """End ``run``; a second call does nothing."""
        self._closed.set()

    async def _deliver_all(self) -> None:
        retry = RetryPolicy(self._clock, self._chance_of(""), "all receivers")
        ts = self._clock.now()
        self._log_adoption(await retry.call(lambda: self._outbox.adopt(ts)))
        async with AsyncExitStack() as receivers, asyncio.TaskGroup() as group:
            for settings in self._receivers:
                name = str(settings.name)
                receiver = self._make(settings, self._clock.now)
                receivers.push_async_callback(receiver.aclose)
                queue = self._queue(settings, receiver)
                self._queues.append(queue)
                group.create_task(queue.run(), name=f"receiver {name}")
            self._begun.set()
            if self._queues:
                group.create_task(self._evaluate(), name="groups of alerts")

    def _queue(self, settings: ReceiverSettings, receiver: NotificationReceiver) -> _Queue:
        name = str(settings.name)
        if not settings.takes_alerts:
            beating = cast("BeatingReceiver", receiver)
            return HeartbeatQueue(name, beating, self._outbox, self._clock, self._chance_of(name), self._late)
        if settings.resends:
            resending = cast("ResendingReceiver", receiver)
            return ResendQueue(name, resending, self._outbox, self._clock, self._chance_of(name))
        return ReceiverQueue(name, receiver, self._outbox, self._clock, self._chance_of(name), self._sharing)

    async def _evaluate(self) -> None:
        """Make notifications when they are due, until cancelled."""
        retry = RetryPolicy(self._clock, self._chance_of(""), "all receivers")
        made = self._outbox.made
        while True:
            self._news.clear()
            due = await retry.call(lambda: self._outbox.on_thread(self._outbox.evaluate))
            if made != self._outbox.made:
                made = self._outbox.made
                for queue in self._queues:
                    queue.wake()
            if due is None:
                await self._news.wait()
            else:
                with suppress(TimeoutError):
                    await with_timeout(self._news.wait(), self._clock, due - self._clock.now())

    def _log_adoption(self, adoption: ReceiverChanges) -> None:
        for name, count in adoption.dropped.items():
            if count:
                _LOG.warning(
                    f"receiver {name} is no longer in the settings: {count} notification{'' if count == 1 else 's'} dropped",
                    extra=as_event("receiver.dropped", receiver=name, notices=count),
                )
        for name in adoption.new:
            _LOG.info(
                f"receiver {name} is new: it is notified about the alerts that fire",
                extra=as_event("receiver.new", receiver=name),
            )
