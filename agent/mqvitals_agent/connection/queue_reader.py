"""Reads messages of queues over a link: takes statistics, looks at dead letters, looks at events or takes them.

A queue that others read too is open no longer than one query takes, so that its open handles do not look like those of
a program that reads it; only where events are taken does it stay open until the unit of work ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from mqvitals_agent.connection.connection import (
    BROWSE_DEAD_LETTERS,
    MOST_DEAD_LETTERS,
    MOST_EVENTS,
    EventQuery,
    EventStep,
    Query,
    Reply,
)
from mqvitals_agent.connection.link import MqiError, OpenQueue, WatchedLink
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.dead_letter import HEADER_LENGTH

MOST_AT_ONCE: Final = 1000
"""So many statistics messages are taken in one exchange; the rest is taken in the next."""
LARGEST_EVENT: Final = 262_144
"""Bytes of an event message that are looked at: one about an object has all its attributes, a few thousand bytes."""


@dataclass(frozen=True, slots=True)
class _Look:
    """The last look at a dead-letter queue; without a depth there was none."""

    queue: str = ""
    depth: int | None = None
    headers: tuple[Reply, ...] = ()


class QueueReader:
    """Makes the queries ``OF_QUEUES``. Use it in the thread that made the link.

    ``statistics_queue`` is where statistics messages are taken from.
    """

    def __init__(self, calls: WatchedLink, statistics_queue: str) -> None:
        self._calls = calls
        self._link = calls.link
        self._statistics_queue = statistics_queue
        self._statistics: OpenQueue | None = None
        self._dead_letters = _Look()
        self._taken_from: OpenQueue | None = None

    def read(self, query: Query, found: list[Reply]) -> None:
        """Read what the query is about; the messages are added to ``found``, so that those before an error are there.

        Raises MqiError and StoppedError.
        """
        if isinstance(query, EventQuery):
            self._step(query, found)
        elif query.command == BROWSE_DEAD_LETTERS:
            self._browse_dead_letters(found)
        elif query.command == mq.MQCMD_STATISTICS_Q:
            self._take_statistics(found)

    def close(self) -> None:
        """Undo a unit of work that has not ended, for disconnecting in order would end it; close the statistics queue.

        Raises MqiError.
        """
        self._undo()
        queue, self._statistics = self._statistics, None
        if queue is not None:
            self._link.close(queue)

    def _take_statistics(self, found: list[Reply]) -> None:
        """Take what is on the statistics queue, without waiting.

        The queue is ours alone while it is open: two who take from it would each see a part. Asked to stop, it ends
        with what it has, for that is gone from the queue.
        """
        if self._statistics is None:
            self._statistics = self._calls.open_queue(self._statistics_queue, mq.MQOO_INPUT_EXCLUSIVE)
        queue = self._statistics
        with _until_none_is_left():
            while len(found) < MOST_AT_ONCE and not self._calls.stopping():
                found.append(self._calls.get(queue, None, 0))

    def _browse_dead_letters(self, found: list[Reply]) -> None:
        """Look at the headers on the dead-letter queue. A queue manager without a dead-letter queue has none.

        While its depth is the same as at the last look, the headers are those of then.
        """
        name = str(self._link.inquire((mq.MQCA_DEAD_LETTER_Q_NAME,))[mq.MQCA_DEAD_LETTER_Q_NAME])
        self._calls.beats += 1
        self._dead_letters = self._look_at_dead_letters(name) if name else _Look()
        found += self._dead_letters.headers

    def _look_at_dead_letters(self, name: str) -> _Look:
        queue = self._calls.open_queue(name, mq.MQOO_BROWSE | mq.MQOO_INQUIRE)
        headers: list[Reply] = []
        try:
            depth = self._link.depth(queue)
            if (queue.name, depth) == (self._dead_letters.queue, self._dead_letters.depth):
                return self._dead_letters
            with _until_none_is_left():
                while len(headers) < min(depth, MOST_DEAD_LETTERS):
                    self._calls.stop()
                    headers.append(self._look(queue, HEADER_LENGTH, mq.MQFMT_DEAD_LETTER_HEADER, first=not headers))
        finally:
            with suppress(MqiError):
                self._link.close(queue)
        return _Look(queue.name, depth, tuple(headers))

    def _step(self, query: EventQuery, found: list[Reply]) -> None:
        """Make one step with an event queue."""
        match query.step:
            case EventStep.BROWSE:
                self._browse_events(query, found)
            case EventStep.GET:
                self._take_events(query, found)
            case EventStep.COMMIT:
                self._end(self._link.commit)
            case EventStep.BACK_OUT:
                self._end(self._link.back_out)
            case EventStep.OPEN_TO_BROWSE:
                self._link.close(self._calls.open_queue(query.queue, mq.MQOO_BROWSE))
            case EventStep.OPEN_TO_GET:
                self._link.close(self._calls.open_queue(query.queue, mq.MQOO_INPUT_SHARED))

    def _browse_events(self, query: EventQuery, found: list[Reply]) -> None:
        queue = self._calls.open_queue(query.queue, mq.MQOO_BROWSE)
        try:
            if query.after:
                self._look(queue, LARGEST_EVENT, mq.MQFMT_EVENT, first=True, message_id=query.after)
            with _until_none_is_left():
                while len(found) < MOST_EVENTS:
                    self._calls.stop()
                    first = not query.after and not found
                    found.append(self._look(queue, LARGEST_EVENT, mq.MQFMT_EVENT, first=first))
        finally:
            with suppress(MqiError):
                self._link.close(queue)

    def _take_events(self, query: EventQuery, found: list[Reply]) -> None:
        self._undo()
        queue = self._taken_from = self._calls.open_queue(query.queue, mq.MQOO_INPUT_SHARED)
        with _until_none_is_left():
            while len(found) < MOST_EVENTS:
                self._calls.stop()
                found.append(self._calls.get(queue, None, 0, size=LARGEST_EVENT, syncpoint=True))
        if not found:
            self._end(self._link.back_out)

    def _undo(self) -> None:
        with suppress(MqiError):
            self._end(self._link.back_out)

    def _end(self, call: Callable[[], None]) -> None:
        """End the unit of work, if there is one: that of a connection before this one was undone with it."""
        queue, self._taken_from = self._taken_from, None
        if queue is None:
            return
        try:
            call()
        finally:
            self._calls.beats += 1
            with suppress(MqiError):
                self._link.close(queue)

    def _look(
        self, queue: OpenQueue, size: int, format_: str, *, first: bool, message_id: bytes | None = None
    ) -> Reply:
        try:
            return self._link.browse(queue, size, first=first, format_=format_, message_id=message_id)
        finally:
            self._calls.beats += 1


@contextmanager
def _until_none_is_left() -> Iterator[None]:
    """Reading ends after the last message (2033)."""
    try:
        yield
    except MqiError as error:
        if error.reason != mq.MQRC_NO_MSG_AVAILABLE:
            raise
