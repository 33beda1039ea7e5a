"""Reads event queues over a link: looks at their messages, or takes them in one unit of work that ends when they are stored.

A queue is open no longer than a step, so that its open handles do not look like those of a program that reads it; only
where messages are taken does it stay open until the unit of work ends.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from mqvitals_agent.connection.connection import MOST_EVENTS, EventQuery, EventStep, Reply
from mqvitals_agent.connection.link import Link, MqiError, OpenQueue
from mqvitals_agent.pcf import constants as mq

LARGEST_EVENT: Final = 262_144
"""Bytes of an event message that are looked at: one about an object has all its attributes, a few thousand bytes."""


class EventReader:
    """Makes the steps of ``EventQuery``. Use it in the thread that made the link. Every method raises MqiError.

    ``beat`` is called after each MQI call, ``stop`` raises when the end was asked for.
    """

    def __init__(
        self, link: Link, opened: Callable[[str, int], OpenQueue], beat: Callable[[], None], stop: Callable[[], None]
    ) -> None:
        self._link = link
        self._opened = opened
        self._beat = beat
        self._stop = stop
        self._taken_from: OpenQueue | None = None

    def step(self, query: EventQuery, found: list[Reply]) -> None:
        """Make one step; the messages are added to ``found``, so that those before an error are there."""
        match query.step:
            case EventStep.BROWSE:
                self._browse(query, found)
            case EventStep.GET:
                self._take(query, found)
            case EventStep.COMMIT:
                self._end(self._link.commit)
            case EventStep.BACK_OUT:
                self._end(self._link.back_out)
            case EventStep.OPEN_TO_BROWSE:
                self._link.close(self._opened(query.queue, mq.MQOO_BROWSE))
            case EventStep.OPEN_TO_GET:
                self._link.close(self._opened(query.queue, mq.MQOO_INPUT_SHARED))

    def close(self) -> None:
        """Undo a unit of work that has not ended: disconnecting in order would end it."""
        if self._taken_from is not None:
            with suppress(MqiError):
                self._end(self._link.back_out)

    def _browse(self, query: EventQuery, found: list[Reply]) -> None:
        queue = self._opened(query.queue, mq.MQOO_BROWSE)
        try:
            if query.after:
                self._look(queue, first=True, message_id=query.after)
            self._fill(found, lambda: self._look(queue, first=not query.after and not found))
        finally:
            with suppress(MqiError):
                self._link.close(queue)

    def _fill(self, found: list[Reply], following: Callable[[], Reply]) -> None:
        """Add messages until there is none left (2033), or they are many."""
        try:
            while len(found) < MOST_EVENTS:
                self._stop()
                found.append(following())
        except MqiError as error:
            if error.reason != mq.MQRC_NO_MSG_AVAILABLE:
                raise

    def _look(self, queue: OpenQueue, *, first: bool, message_id: bytes | None = None) -> Reply:
        try:
            return self._link.browse(queue, LARGEST_EVENT, first=first, format_=mq.MQFMT_EVENT, message_id=message_id)
        finally:
            self._beat()

    def _take(self, query: EventQuery, found: list[Reply]) -> None:
        self.close()
        queue = self._taken_from = self._opened(query.queue, mq.MQOO_INPUT_SHARED)
        self._fill(found, lambda: self._got(queue))
        if not found:
            self._end(self._link.back_out)

    def _got(self, queue: OpenQueue) -> Reply:
        size = LARGEST_EVENT
        while True:
            try:
                return self._link.get(queue, None, 0, size, syncpoint=True)
            except MqiError as error:
                if error.reason != mq.MQRC_TRUNCATED_MSG_FAILED or error.length <= size:
                    raise
                size = error.length
            finally:
                self._beat()

    def _end(self, call: Callable[[], None]) -> None:
        """End the unit of work, if there is one: that of a connection before this one was undone with it."""
        queue, self._taken_from = self._taken_from, None
        if queue is None:
            return
        try:
            call()
        finally:
            self._beat()
            with suppress(MqiError):
                self._link.close(queue)
