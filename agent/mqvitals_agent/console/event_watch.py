"""Reads the event queues of the settings and stores their messages as console messages are stored.

Messages and the place in the queue are stored in one transaction. What is taken from a queue is taken in a unit of work
that ends after that: a store that fails leaves the messages where they are, and what comes a second time is known by its
identifier.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Protocol

from mqvitals_agent.clock import Clock
from mqvitals_agent.connection.answer import CONNECTION_FAILURES
from mqvitals_agent.connection.connection import MOST_EVENTS, EventQuery, EventStep, Exchange, Reply
from mqvitals_agent.console.event import Event, read_event, with_differences
from mqvitals_agent.console.message import MOST_TEXT
from mqvitals_agent.log import as_change, as_event, as_recovery, forget
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.message import PcfError
from mqvitals_agent.pcf.names import reason_name
from mqvitals_agent.poll.events import event_query, without_text
from mqvitals_agent.store.deletion_clock import trusted_now
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.rows.messages import EventQueueRow, StoredMessage, message
from mqvitals_agent.store.writer import Store
from mqvitals_agent.threads import ThreadWorker
from mqvitals_config.sections.collection import EventSettings
from mqvitals_config.settings import Settings
from mqvitals_rules.vocabulary.event import source_of

_LOG = logging.getLogger(__name__)

LOOK_MS: Final = 30_000
"""The interval of looking whether the settings name event queues by now."""
MOST_STEPS: Final = 10
"""So often messages are read in one turn of a queue; the rest comes with the next turn."""
FORGET_MS: Final = 3_600_000
"""The interval of deleting old messages."""
SAVE_MS: Final = 600_000
"""The interval of storing that a queue without new messages is read."""
SAME_MS: Final = 2_000
"""Messages put so shortly before the newest that was read may have been behind it on the queue."""
MOST_SHARED: Final = 2_000
"""Identifiers of events about shared queues that are remembered."""
_NONE: Final = bytes(24)


class Ask(Protocol):
    """Makes a step with an event queue of a queue manager."""

    def __call__(self, queue_manager: str, query: EventQuery) -> Awaitable[Exchange]:
        """The exchange; as ``Connection.ask``."""
        ...


@dataclass(slots=True)
class QueueProgress:
    """How far an event queue was read: behind the message ``last``; the newest was put at ``newest``, ms UTC.

    ``known`` are the identifiers of the last messages. ``again``: the place was lost, so what was read before is passed
    over. ``unreadable`` counts messages that are no events, ``why`` says what is wrong with the last of them.
    ``taken``: messages are removed when they are read.
    """

    last: bytes = b""
    newest: int = 0
    known: tuple[bytes, ...] = ()
    again: bool = False
    unreadable: int = 0
    why: str = ""
    taken: bool = False

    def to_json(self) -> str:
        """As the store keeps it."""
        return json.dumps(
            {
                "last": self.last.hex(),
                "newest": self.newest,
                "known": [each.hex() for each in self.known],
                "again": self.again,
                "unreadable": self.unreadable,
                "why": self.why,
                "taken": self.taken,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> QueueProgress:
        """What ``to_json`` made; the beginning for anything else."""
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            kept = json.loads(text)
            known = tuple(bytes.fromhex(each) for each in kept["known"])
            return cls(
                bytes.fromhex(kept["last"]), int(kept["newest"]), known, bool(kept["again"]), int(kept["unreadable"]),
                str(kept["why"]),
            )  # fmt: skip
        return cls()

    def is_known(self, reply: Reply) -> bool:
        """Whether a message was read before."""
        if reply.message_id != _NONE and reply.message_id in self.known:
            return True
        return self.again and reply.put is not None and reply.put < self.newest - SAME_MS

    def after(self, replies: Collection[Reply], unreadable: int, why: str) -> QueueProgress:
        """The progress once these messages have been read."""
        ids = (*self.known, *(each.message_id for each in replies if each.message_id not in self.known))
        newest = max([self.newest, *(each.put for each in replies if each.put is not None)])
        last = next((each.message_id for each in reversed([*replies])), self.last)
        whole = self.again and len(replies) >= MOST_EVENTS
        more = self.unreadable + unreadable
        return QueueProgress(last, newest, ids[-MOST_EVENTS:], whole, more, why or self.why, self.taken)


@dataclass(slots=True)
class _EventQueue:
    """An event queue: what the store holds of it, and the state of an object before a change that is still to come."""

    row: EventQueueRow
    progress: QueueProgress
    before: Event | None = None
    left_out: set[str] = field(default_factory=set)


class EventWatch:
    """Reads the queues of ``polling.events`` of all queue managers that are connected, in ``run``."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        members: Callable[[], Collection[str]],
        ask: Ask,
        note: Callable[[Exchange], None],
        store: Callable[[], Store],
        thread: ThreadWorker,
        clock: Clock,
    ) -> None:
        """``settings`` returns those in force, ``members`` the queue managers that have a connection. ``note`` gets each
        exchange, without what its messages say.
        """
        self._settings = settings
        self._members = members
        self._ask = ask
        self._note = note
        self._store = store
        self._thread = thread
        self._clock = clock
        self._decoder = Decoder(lenient=True)
        self._queues: dict[tuple[str, str], _EventQueue] = {}
        self._shared: OrderedDict[tuple[str, bytes], str] = OrderedDict()
        self._turns: dict[str, asyncio.Task[None]] = {}
        self._plan: tuple[EventSettings | None, tuple[str, ...]] | None = None

    async def run(self) -> None:
        """Read until cancelled. Problems of queues and the store are logged."""
        async with asyncio.TaskGroup() as tasks:
            forgotten = 0
            while True:
                reading = self._settings().polling.events
                members = tuple(sorted(self._members()))
                if self._plan != (reading, members) or (reading is not None and forgotten <= 0):
                    forgotten = FORGET_MS
                    if not await self._prepared(reading, members):
                        self._plan = None
                for name in members if self._plan and reading is not None else ():
                    turn = self._turns.get(name)
                    if turn is None or turn.done():
                        assert reading is not None
                        self._turns[name] = tasks.create_task(self._turn(name, reading), name=f"events {name}")
                pause = LOOK_MS if reading is None else reading.every
                forgotten -= pause
                await self._clock.sleep(pause)

    async def _prepared(self, reading: EventSettings | None, members: tuple[str, ...]) -> bool:
        """Take over which queues are read, and delete what is old; False while the store fails."""
        wanted = [(name, str(queue)) for name in members for queue in (reading.queues if reading else ())]
        try:
            rows = await self._thread.run(self._read_rows, wanted)
        except StoreError as error:
            self._log_store(error)
            return False
        forget(_LOG, "event store")
        if self._plan != (reading, members):
            self._queues = {
                key: self._queues.get(key) or _EventQueue(EventQueueRow(key[0], key[1], key[0]), QueueProgress())
                for key in wanted
            }
            for row in rows:
                queue = self._queues[row.via, row.queue]
                if queue.row.ts < row.ts:
                    queue.row, queue.progress = row, QueueProgress.from_json(row.state)
            if reading is not None and reading.read == "get":
                self._log_get(reading)
            self._plan = reading, members
        return True

    def _read_rows(self, wanted: list[tuple[str, str]]) -> tuple[EventQueueRow, ...]:
        """In the thread of the store."""
        store = self._store()
        if wanted:
            store.messages.delete_old(max(trusted_now(store, self._clock.now()) - self._settings().console.keep, 0))
        return store.messages.read_events(frozenset(wanted))

    async def _turn(self, name: str, reading: EventSettings) -> None:
        """Read what is new on the queues of a queue manager."""
        for queue in reading.queues:
            found = self._queues.get((name, str(queue)))
            if found is not None and not await self._read(found, get=reading.read == "get"):
                return

    async def _read(self, queue: _EventQueue, *, get: bool) -> bool:
        """Read what is new on a queue; False when the connection is lost or the store fails."""
        queue.progress.taken = get
        for _ in range(MOST_STEPS):
            step = EventStep.GET if get else EventStep.BROWSE
            after = b"" if get else queue.progress.last
            exchange = await self._step(queue, step, after)
            error = exchange.error
            if error is not None and error.reason in CONNECTION_FAILURES:
                return False
            if error is not None and error.reason == mq.MQRC_NO_MSG_AVAILABLE and after:
                # Somebody has removed the message: everything is looked at, and what was read before passed over.
                queue.progress.last, queue.progress.again = b"", True
                continue
            stored = await self._stored(queue, exchange)
            if get and exchange.replies:
                await self._step(queue, EventStep.COMMIT if stored else EventStep.BACK_OUT)
            if not stored:
                return False
            if error is not None or len(exchange.replies) < MOST_EVENTS:
                break
        return True

    async def _step(self, queue: _EventQueue, step: EventStep, after: bytes = b"") -> Exchange:
        exchange = await self._ask(queue.row.via, event_query(queue.row.queue, step, after))
        lost = exchange.error is not None and exchange.error.reason in CONNECTION_FAILURES | {mq.MQRC_NO_MSG_AVAILABLE}
        if step in (EventStep.BROWSE, EventStep.GET) and not lost:
            self._note(without_text(exchange))
        return exchange

    async def _stored(self, queue: _EventQueue, exchange: Exchange) -> bool:
        """Store the messages of an exchange and how far the queue was read; returns whether that succeeded."""
        error = exchange.error
        problem = "" if error is None else reason_name(error.reason) or f"reason {error.reason}"
        before, shared = queue.before, self._shared.copy()
        found, unreadable, why = self._messages(queue, exchange)
        progress = queue.progress.after(exchange.replies, unreadable, why)
        row = queue.row._replace(state=progress.to_json(), problem=problem, ts=exchange.at)
        # A look at which nothing is new is not worth a transaction; now and then it is, for the store may be a new one.
        if exchange.replies or problem != queue.row.problem or exchange.at - queue.row.ts >= SAVE_MS:
            try:
                await self._thread.run(lambda: self._store().messages.add_events(row, found))
            except StoreError as failed:
                queue.before, self._shared = before, shared
                self._log_store(failed)
                return False
            forget(_LOG, "event store")
            self._log_queue(queue.row, row, unreadable, why)
            queue.row = row
        queue.progress = progress
        return True

    def _messages(self, queue: _EventQueue, exchange: Exchange) -> tuple[list[StoredMessage], int, str]:
        """What the new messages say; how many are no events, and what is wrong with the last of them."""
        found: list[StoredMessage] = []
        unreadable, why = 0, ""
        for reply in exchange.replies:
            if queue.progress.is_known(reply):
                continue
            try:
                event = read_event(reply, self._decoder)
            except PcfError as error:
                unreadable, why = unreadable + 1, error.message
                continue
            if event.before:
                queue.before = event
                continue
            before, queue.before = queue.before, None
            if before is not None and (before.kind, before.name) == (event.kind, event.name):
                event = with_differences(event, before)
            owner = self._owner(queue, event)
            if owner and not self._is_merged(owner, event, reply):
                ts = exchange.at if reply.put is None else reply.put
                found.append(message(owner, event.code, ts, event.text[:MOST_TEXT], kind=event.kind, name=event.name))
        return found, unreadable, why

    def _owner(self, queue: _EventQueue, event: Event) -> str:
        """The queue manager that an event is of; empty for one that is not monitored."""
        own = queue.row.via
        if not event.queue_manager or event.queue_manager in (own, *self._members()):
            return event.queue_manager or own
        if event.queue_manager not in queue.left_out and len(queue.left_out) < MOST_EVENTS:
            queue.left_out.add(event.queue_manager)
            _LOG.info(
                f"{queue.row.queue} of {own} holds events of {event.queue_manager}, which is not monitored here: they are"
                " left out",
                extra=as_event("events.left_out", queue_manager=own, queue=queue.row.queue),
            )
        return ""

    def _is_merged(self, owner: str, event: Event, reply: Reply) -> bool:
        """Whether another member of the group has told the same event about a shared queue."""
        if source_of(event.code) != "performance" or not reply.correlation_id.strip(b"\0"):
            return False
        key = f"{event.code} {event.name}", reply.correlation_id
        first = self._shared.setdefault(key, owner)
        self._shared.move_to_end(key)
        if len(self._shared) > MOST_SHARED:
            self._shared.popitem(last=False)
        return first != owner

    def _log_queue(self, old: EventQueueRow, new: EventQueueRow, unreadable: int, why: str) -> None:
        name, queue = new.via, new.queue
        key = f"events {name} {queue}"
        if new.problem:
            text = f"the event queue {queue} of {name} cannot be read: {new.problem}"
            _LOG.error(text, extra=as_change(key, "events.failed", queue_manager=name, queue=queue))
        elif old.problem:
            text = f"the event queue {queue} of {name} can be read again"
            _LOG.info(text, extra=as_recovery(key, "events.recovered", queue_manager=name, queue=queue))
        if unreadable:
            _LOG.warning(
                f"{queue} of {name}: {unreadable} of the messages are no events that can be read, the last of them: {why}",
                extra=as_event("events.unreadable", queue_manager=name, queue=queue, messages=unreadable),
            )

    def _log_get(self, reading: EventSettings) -> None:
        _LOG.warning(
            f"messages are removed from {', '.join(reading.queues)} when they are read (polling.events.read: get): no other"
            " program gets them",
            extra=as_event("events.get", queues=",".join(reading.queues)),
        )

    def _log_store(self, error: StoreError) -> None:
        text = f"event messages cannot be stored: {error}; they stay on their queues, and the agent will retry"
        _LOG.error(text, extra=as_change("event store", "events.store_failed"))
