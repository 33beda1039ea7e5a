"""One conversation with a command server: queues opened once, one command after another, replies got by CorrelId.

Synchronous, for the one thread that owns the connection. What IBM's documents ask of a monitor is kept here: MQPUT to a
queue that stays open and never MQPUT1; messages that are not persistent, expire, and hand that on to their replies; no
syncpoint; waits in slices, so that nothing keeps the agent from ending.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from mqvitals_agent.connection.answer import AnswerReader
from mqvitals_agent.connection.connection import (
    BROWSE_DEAD_LETTERS,
    MOST_DEAD_LETTERS,
    EventQuery,
    Exchange,
    MqiFailure,
    Query,
    Reply,
)
from mqvitals_agent.connection.event_reader import EventReader
from mqvitals_agent.connection.link import Link, MqiError, OpenQueue, RequestDescriptor
from mqvitals_agent.connection.route import DISTRIBUTED_REPLY_MODEL, REPLY_MODEL, Route
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.dead_letter import LENGTH
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import REQUEST_CCSID

SLICE_MS: Final = 1000
"""The longest single wait, and so the longest delay of a stop."""
FIRST_SIZE: Final = 65_536
"""Replies are small; one that is larger is got again with the length that MQ reports."""
MOST_AT_ONCE: Final = 1000
"""So many statistics messages are taken in one exchange; the rest is taken in the next."""
LARGEST_SIZE: Final = 104_857_600
"""No message of MQ is longer (MAXMSGL)."""
_GRACE_MS: Final = 5000
"""Requests, and replies that inherit their expiry, expire this long after the wait ends."""
_ENCODING: Final = {mq.MQPL_ZOS: mq.MQENC_S390}
"""What descriptors of requests say of their numbers, by platform.

Both are big-endian; elsewhere reals would be of IEEE's form.
"""
_SELECTORS: Final = (mq.MQCA_Q_MGR_NAME, mq.MQCA_COMMAND_INPUT_Q_NAME, mq.MQIA_PLATFORM, mq.MQIA_COMMAND_LEVEL)


@dataclass(frozen=True, slots=True)
class TimeSource:
    """``now`` is ms since 1970 UTC, ``tick`` ms of a clock that never goes back."""

    now: Callable[[], int]
    tick: Callable[[], int]


class StoppedError(Exception):
    """The conversation was asked to end while it waited."""


@dataclass(frozen=True, slots=True)
class ConnectedQueueManager:
    """The queue manager and queues of a connection.

    ``drained`` counts replies to earlier requests that were discarded.
    """

    queue_manager: str
    platform: int
    command_level: int
    command_queue: str
    reply_queue: str
    dynamic: bool
    drained: int


@dataclass(frozen=True, slots=True)
class _Look:
    """The last look at a dead-letter queue; without a depth there was none."""

    queue: str = ""
    depth: int | None = None
    headers: tuple[Reply, ...] = ()


class Conversation:
    """Speaks to the command server over ``link``. Use it in the thread that made the link.

    ``beats`` counts the MQI calls that returned: it grows while none hangs.
    """

    def __init__(
        self, link: Link, route: Route, time: TimeSource, stopping: Callable[[], bool], *, drain: bool = True
    ) -> None:
        """Opens the queues. Raises MqiError; the link is then still to be disconnected.

        ``stopping`` returns whether the end was asked for. Without ``drain`` what lies on a permanent reply queue stays
        there: it may be an answer to another one who is at work.
        """
        self.beats = 0
        self._link = link
        self._route = route
        self._time = time
        self._stopping = stopping
        self._decoder = Decoder(lenient=True)
        self._given_up: dict[bytes, int] = {}
        self._statistics: OpenQueue | None = None
        self._dead_letters = _Look()
        self._events = EventReader(link, self._open, self._beat, self._stop)
        attributes = link.inquire(_SELECTORS)
        command_queue = route.command_queue or str(attributes[mq.MQCA_COMMAND_INPUT_Q_NAME])
        self._commands = self._open(command_queue, mq.MQOO_OUTPUT)
        platform = int(attributes[mq.MQIA_PLATFORM])
        self._encoding = _ENCODING.get(platform, mq.MQENC_NORMAL)
        self._replies = self._open_replies(zos=platform == mq.MQPL_ZOS)
        self.identity = ConnectedQueueManager(
            queue_manager=str(attributes[mq.MQCA_Q_MGR_NAME]),
            platform=platform,
            command_level=int(attributes[mq.MQIA_COMMAND_LEVEL]),
            command_queue=command_queue,
            reply_queue=self._replies.name,
            dynamic=not route.reply_queue,
            drained=self._drain() if route.reply_queue and drain else 0,
        )

    def ask(self, query: Query, wait_ms: int) -> Exchange:
        """Put a request and gather its answer; as ``Connection.ask``. Raises StoppedError.

        ``MQCMD_STATISTICS_Q``, ``BROWSE_DEAD_LETTERS`` and an ``EventQuery`` are no commands: nothing is put, and the
        exchange holds what was on the statistics queue, the headers of what is on the dead-letter queue, or events.
        """
        if isinstance(query, EventQuery):
            return self._read_events(query)
        if query.command == mq.MQCMD_STATISTICS_Q:
            return self._take_statistics(query.request)
        if query.command == BROWSE_DEAD_LETTERS:
            return self._browse_dead_letters(query.request)
        began, tick = self._time.now(), self._time.tick()
        name = self._route.queue_manager
        reader = AnswerReader(self._decoder, name, query.parameters, query.key)
        replies: list[Reply] = []
        error: MqiFailure | None = None
        message_id = b""
        try:
            self._discard_late()
            expiry = (wait_ms + _GRACE_MS) // 100
            asked = RequestDescriptor(self._replies.name, expiry, REQUEST_CCSID, self._encoding)
            message_id = self._link.put(self._commands, query.request, asked)
            self.beats += 1
            self._gather(message_id, wait_ms, replies, reader)
        except MqiError as failed:
            error = MqiFailure(failed.comp, failed.reason)
            if message_id:
                self._given_up[message_id] = self._time.tick() + wait_ms + _GRACE_MS
        elapsed = self._time.tick() - tick
        return Exchange(
            0, began, elapsed, name, query.command, query.request, tuple(replies), error, answer=reader.answer()
        )

    def close(self) -> None:
        """Close the queues and disconnect; what fails on the way does not matter any more."""
        self._events.close()
        for queue in (self._statistics, self._replies, self._commands):
            if queue is None:
                continue
            try:
                self._link.close(queue)
            except MqiError:
                # The connection may be lost: disconnecting frees whatever is left.
                break
        self._link.disconnect()

    def _take_statistics(self, request: bytes) -> Exchange:
        """Take what is on the statistics queue, without waiting. A queue that cannot be opened is the exchange's error.

        The queue is ours alone while it is open: two who take from it would each see a part. Asked to stop, it ends
        with what it has, for that is gone from the queue.
        """
        began, tick = self._time.now(), self._time.tick()
        replies: list[Reply] = []
        error: MqiFailure | None = None
        try:
            if self._statistics is None:
                self._statistics = self._open(self._route.statistics_queue, mq.MQOO_INPUT_EXCLUSIVE)
            while len(replies) < MOST_AT_ONCE and not self._stopping():
                replies.append(self._get_from(self._statistics, None, 0, convert=False))
        except MqiError as failed:
            if failed.reason != mq.MQRC_NO_MSG_AVAILABLE:
                error = MqiFailure(failed.comp, failed.reason)
        elapsed = self._time.tick() - tick
        name = self._route.queue_manager
        return Exchange(0, began, elapsed, name, mq.MQCMD_STATISTICS_Q, request, tuple(replies), error)

    def _read_events(self, query: EventQuery) -> Exchange:
        """Make a step with an event queue. Messages that were got before an error are in the exchange beside it."""
        began, tick = self._time.now(), self._time.tick()
        found: list[Reply] = []
        error: MqiFailure | None = None
        try:
            self._events.step(query, found)
        except MqiError as failed:
            error = MqiFailure(failed.comp, failed.reason)
        elapsed = self._time.tick() - tick
        name = self._route.queue_manager
        return Exchange(0, began, elapsed, name, query.command, query.request, tuple(found), error)

    def _beat(self) -> None:
        self.beats += 1

    def _stop(self) -> None:
        if self._stopping():
            raise StoppedError

    def _browse_dead_letters(self, request: bytes) -> Exchange:
        """Look at the headers on the dead-letter queue, which stays open no longer than that.

        While its depth is the same as at the last look, the headers are those of then. A queue manager without a
        dead-letter queue has none.
        """
        began, tick = self._time.now(), self._time.tick()
        error: MqiFailure | None = None
        try:
            queue_name = str(self._link.inquire((mq.MQCA_DEAD_LETTER_Q_NAME,))[mq.MQCA_DEAD_LETTER_Q_NAME])
            self.beats += 1
            if queue_name:
                queue = self._open(queue_name, mq.MQOO_BROWSE | mq.MQOO_INQUIRE)
                self._look_at_dead_letters(queue)
            else:
                self._dead_letters = _Look()
        except MqiError as failed:
            error = MqiFailure(failed.comp, failed.reason)
        elapsed = self._time.tick() - tick
        name = self._route.queue_manager
        replies = () if error else self._dead_letters.headers
        return Exchange(0, began, elapsed, name, BROWSE_DEAD_LETTERS, request, replies, error)

    def _look_at_dead_letters(self, queue: OpenQueue) -> None:
        headers: list[Reply] = []
        try:
            depth = self._link.depth(queue)
            if (queue.name, depth) == (self._dead_letters.queue, self._dead_letters.depth):
                return
            while len(headers) < min(depth, MOST_DEAD_LETTERS):
                if self._stopping():
                    raise StoppedError
                headers.append(self._link.browse(queue, LENGTH, first=not headers, format_=mq.MQFMT_DEAD_LETTER_HEADER))
                self.beats += 1
        except MqiError as failed:
            if failed.reason != mq.MQRC_NO_MSG_AVAILABLE:
                raise
        finally:
            with suppress(MqiError):
                self._link.close(queue)
        self._dead_letters = _Look(queue.name, depth, tuple(headers))

    def _open_replies(self, *, zos: bool) -> OpenQueue:
        route = self._route
        if route.reply_queue:
            return self._open(route.reply_queue, mq.MQOO_INPUT_SHARED)
        model = route.reply_model if zos or route.reply_model != REPLY_MODEL else DISTRIBUTED_REPLY_MODEL
        return self._open(model, mq.MQOO_INPUT_EXCLUSIVE, route.dynamic_name)

    def _open(self, name: str, options: int, dynamic_name: str = "") -> OpenQueue:
        try:
            return self._link.open_queue(name, options | mq.MQOO_FAIL_IF_QUIESCING, dynamic_name)
        except MqiError as error:
            error.queue = name
            raise

    def _drain(self) -> int:
        """Discard what an earlier run left on our own reply queue, so that gets by CorrelId need not search past it."""
        count = 0
        while not self._stopping() and self._taken(None):
            count += 1
        return count

    def _discard_late(self) -> None:
        """Discard replies that came too late, to requests that were given up.

        Nothing else does: z/OS removes even an expired message only when a get comes upon it. A request is remembered
        until its replies have expired, and a moment longer.
        """
        for message_id, until in tuple(self._given_up.items()):
            last = self._time.tick() >= until
            while self._taken(message_id):
                if self._stopping():
                    raise StoppedError
            if last:
                del self._given_up[message_id]

    def _taken(self, message_id: bytes | None) -> bool:
        """Whether a message was there, which is gone now."""
        try:
            self._get(message_id, 0)
        except MqiError as error:
            if error.reason == mq.MQRC_NO_MSG_AVAILABLE:
                return False
            raise
        return True

    def _gather(self, message_id: bytes, wait_ms: int, replies: list[Reply], reader: AnswerReader) -> None:
        """Get replies into ``replies`` until the answer is whole.

        Raises MqiError: 2033 when none came for ``wait_ms``.
        """
        tick = self._time.tick
        until = tick() + wait_ms
        while True:
            if self._stopping():
                raise StoppedError
            try:
                reply = self._get(message_id, max(0, min(SLICE_MS, until - tick())))
            except MqiError as error:
                if error.reason != mq.MQRC_NO_MSG_AVAILABLE or tick() >= until:
                    raise
                continue
            replies.append(reply)
            reader.add((reply,))
            if reader.complete:
                return
            until = tick() + wait_ms

    def _get(self, message_id: bytes | None, wait_ms: int) -> Reply:
        return self._get_from(self._replies, message_id, wait_ms, convert=self._route.convert)

    def _get_from(self, queue: OpenQueue, message_id: bytes | None, wait_ms: int, *, convert: bool) -> Reply:
        size = FIRST_SIZE
        while True:
            try:
                return self._link.get(queue, message_id, wait_ms, size, convert=convert)
            except MqiError as error:
                if error.reason != mq.MQRC_TRUNCATED_MSG_FAILED or not size < error.length <= LARGEST_SIZE:
                    raise
                size = error.length
            finally:
                self.beats += 1
