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
from mqvitals_agent.connection.connection import OF_QUEUES, Exchange, MqiFailure, Query, Reply
from mqvitals_agent.connection.link import Link, MqiError, OpenQueue, RequestDescriptor, WatchedLink
from mqvitals_agent.connection.queue_reader import QueueReader
from mqvitals_agent.connection.route import DISTRIBUTED_REPLY_MODEL, REPLY_MODEL, CommandRoute
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import REQUEST_CCSID

SLICE_MS: Final = 1000
"""The longest single wait, and so the longest delay of a stop."""
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


class Conversation:
    """Speaks to the command server over ``link``. Use it in the thread that made the link."""

    def __init__(
        self, link: Link, route: CommandRoute, time: TimeSource, stopping: Callable[[], bool], *, drain: bool = True
    ) -> None:
        """Opens the queues. Raises MqiError; the link is then still to be disconnected.

        ``stopping`` returns whether the end was asked for. Without ``drain`` what lies on a permanent reply queue stays
        there: it may be an answer to another one who is at work.
        """
        self._link = link
        self._calls = WatchedLink(link, stopping)
        self._route = route
        self._time = time
        self._decoder = Decoder(lenient=True)
        self._given_up: dict[bytes, int] = {}
        self._queues = QueueReader(self._calls, route.statistics_queue)
        attributes = link.inquire(_SELECTORS)
        command_queue = route.command_queue or str(attributes[mq.MQCA_COMMAND_INPUT_Q_NAME])
        self._commands = self._calls.open_queue(command_queue, mq.MQOO_OUTPUT)
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

    @property
    def beats(self) -> int:
        """The number of MQI calls that returned: it grows while none hangs."""
        return self._calls.beats

    def ask(self, query: Query, wait_ms: int) -> Exchange:
        """Put a request and gather its answer; as ``Connection.ask``. Raises StoppedError.

        For the queries ``OF_QUEUES`` nothing is put: the exchange holds what was on the statistics queue, the headers of
        what is on the dead-letter queue, or events.
        """
        if query.command in OF_QUEUES:
            return self._read_queue(query)
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
            self._calls.beats += 1
            self._gather(message_id, wait_ms, replies, reader)
        except MqiError as failed:
            error = MqiFailure(failed.comp, failed.reason)
            if message_id:
                self._given_up[message_id] = self._time.tick() + wait_ms + _GRACE_MS
        elapsed = self._time.tick() - tick
        return Exchange(
            0, began, elapsed, name, query.command, query.request, tuple(replies), error, answer=reader.answer()
        )

    def _read_queue(self, query: Query) -> Exchange:
        """What a queue holds. Messages that were got before an error are in the exchange beside it."""
        began, tick = self._time.now(), self._time.tick()
        found: list[Reply] = []
        error: MqiFailure | None = None
        try:
            self._queues.read(query, found)
        except MqiError as failed:
            error = MqiFailure(failed.comp, failed.reason)
        elapsed = self._time.tick() - tick
        name = self._route.queue_manager
        return Exchange(0, began, elapsed, name, query.command, query.request, tuple(found), error)

    def close(self) -> None:
        """Close the queues and disconnect; what fails on the way does not matter any more."""
        with suppress(MqiError):
            # The connection may be lost: disconnecting frees whatever is left.
            self._queues.close()
            self._link.close(self._replies)
            self._link.close(self._commands)
        self._link.disconnect()

    def _open_replies(self, *, zos: bool) -> OpenQueue:
        route = self._route
        if route.reply_queue:
            options = mq.MQOO_INPUT_EXCLUSIVE if route.alone else mq.MQOO_INPUT_SHARED
            return self._calls.open_queue(route.reply_queue, options)
        model = route.reply_model if zos or route.reply_model != REPLY_MODEL else DISTRIBUTED_REPLY_MODEL
        return self._calls.open_queue(model, mq.MQOO_INPUT_EXCLUSIVE, route.dynamic_name)

    def _drain(self) -> int:
        """Discard what an earlier run left on our own reply queue, so that gets by CorrelId need not search past it."""
        count = 0
        while not self._calls.stopping() and self._taken(None):
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
                self._calls.stop()
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
            self._calls.stop()
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
        return self._calls.get(self._replies, message_id, wait_ms, convert=self._route.convert)
