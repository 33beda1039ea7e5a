"""The few calls of the MQI that are made, as one Protocol: what a binding package is asked to do. ``WatchedLink`` makes them.

All of it is synchronous and belongs to one thread: a connection handle of the MQI is dead in any other (2018).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from mqvitals_agent.connection.connection import Reply
from mqvitals_agent.connection.route import CommandRoute
from mqvitals_agent.errors import MqvitalsError
from mqvitals_agent.pcf import constants as mq

FIRST_SIZE: Final = 65_536
"""Replies are small; one that is larger is got again with the length that MQ reports."""
LARGEST_SIZE: Final = 104_857_600
"""No message of MQ is longer (MAXMSGL)."""


class MqiError(MqvitalsError):
    """An MQI call that failed.

    ``call`` is its name (``MQGET``), ``comp`` and ``reason`` its completion and reason codes, ``length`` the whole
    length of a message that did not fit (2080), else 0. ``queue`` is the queue that it was about, where that is known.
    ``detail`` is the binding package's message about a call that it could not make at all; the reason is then 2195.
    """

    def __init__(self, call: str, comp: int, reason: int, length: int = 0, detail: str = "") -> None:
        super().__init__(f"{call} failed with completion code {comp}, reason {reason}")
        self.call = call
        self.comp = comp
        self.reason = reason
        self.length = length
        self.detail = detail
        self.queue = ""


class StoppedError(Exception):
    """A conversation was asked to end while it waited."""


class RouteError(MqvitalsError):
    """A value of a route does not fit into the MQI: it is too long, or not ASCII. The message is a clause."""


class BindingError(MqvitalsError):
    """No binding package can be used. The message is a sentence: the cause and what to install."""


@dataclass(frozen=True, slots=True)
class RequestDescriptor:
    """The descriptor of a command message. ``expiry`` is in tenths of a second."""

    reply_queue: str
    expiry: int
    ccsid: int
    encoding: int


@dataclass(frozen=True, slots=True)
class OpenQueue:
    """A queue that is open. ``name`` is the one it has: that of a ``dynamic`` queue is made up by the queue manager."""

    handle: int
    name: str
    dynamic: bool = False


class Link(Protocol):
    """A connection to one queue manager.

    Every method but ``disconnect`` raises MqiError; that one ends it, queues and all.
    """

    def inquire(self, selectors: Sequence[int]) -> dict[int, int | str]:
        """Attributes of the queue manager (MQINQ) by selector; texts without their blanks."""
        ...

    def open_queue(self, name: str, options: int, dynamic_name: str = "") -> OpenQueue:
        """Open a queue (MQOPEN). ``dynamic_name`` is what the name of a queue made from the model ``name`` begins with.

        Raises RouteError, too, for a name that cannot be one.
        """
        ...

    def put(self, queue: OpenQueue, message: bytes, request: RequestDescriptor) -> bytes:
        """Put a command message (MQPUT), outside syncpoint, non-persistent; returns the identifier it was given."""
        ...

    def get(
        self,
        queue: OpenQueue,
        correlation_id: bytes | None,
        wait_ms: int,
        size: int,
        *,
        convert: bool = False,
        syncpoint: bool = False,
    ) -> Reply:
        """Get a message (MQGET) of at most ``size`` bytes; None takes any. With ``syncpoint`` it is gone after ``commit``.

        Waits up to ``wait_ms``; then MqiError 2033. A longer message stays where it is: 2080, with its length. A call
        that ends with a warning, such as 2119 "not converted", returns the message all the same.
        """
        ...

    def depth(self, queue: OpenQueue) -> int:
        """The number of messages on a queue that is open for inquiring (MQINQ)."""
        ...

    def browse(
        self, queue: OpenQueue, size: int, *, first: bool, format_: str, message_id: bytes | None = None
    ) -> Reply:
        """Look at the first or the next message of a queue that is open for browsing: its first ``size`` bytes.

        With ``message_id``, at the one that has it. A message of another format than ``format_`` has no bytes in the
        reply. Does not wait: 2033 after the last.
        """
        ...

    def commit(self) -> None:
        """End the unit of work (MQCMIT): what was got in it is gone."""
        ...

    def back_out(self) -> None:
        """Undo the unit of work (MQBACK): what was got in it is on its queue again."""
        ...

    def close(self, queue: OpenQueue) -> None:
        """Close a queue (MQCLOSE); a dynamic one is deleted, temporary or permanent."""
        ...

    def disconnect(self) -> None:
        """End the connection (MQDISC). Raises no error."""
        ...


class WatchedLink:
    """A link and what whoever waits for its calls must know: ``beats`` counts those that returned, ``stopping`` returns
    whether the end was asked for.
    """

    def __init__(self, link: Link, stopping: Callable[[], bool]) -> None:
        self.link = link
        self.stopping = stopping
        self.beats = 0

    def stop(self) -> None:
        """Raises StoppedError when the end was asked for."""
        if self.stopping():
            raise StoppedError

    def open_queue(self, name: str, options: int, dynamic_name: str = "") -> OpenQueue:
        """As ``Link.open_queue``, unless the queue manager is quiescing; the error names the queue."""
        try:
            return self.link.open_queue(name, options | mq.MQOO_FAIL_IF_QUIESCING, dynamic_name)
        except MqiError as error:
            error.queue = name
            raise

    def get(
        self,
        queue: OpenQueue,
        correlation_id: bytes | None,
        wait_ms: int,
        *,
        size: int = FIRST_SIZE,
        convert: bool = False,
        syncpoint: bool = False,
    ) -> Reply:
        """As ``Link.get``, of any length: one of more than ``size`` bytes takes a second call."""
        while True:
            try:
                return self.link.get(queue, correlation_id, wait_ms, size, convert=convert, syncpoint=syncpoint)
            except MqiError as error:
                if error.reason != mq.MQRC_TRUNCATED_MSG_FAILED or not size < error.length <= LARGEST_SIZE:
                    raise
                size = error.length
            finally:
                self.beats += 1


class Binding(Protocol):
    """A binding package that has been loaded."""

    @property
    def name(self) -> str:
        """``ibmmq`` or ``pymqi``."""
        ...

    @property
    def version(self) -> str:
        """The package's version."""
        ...

    def shortcomings(self, route: CommandRoute) -> tuple[str, ...]:
        """Settings of the route that this package cannot apply: sentences for the user."""
        ...

    def connect(self, route: CommandRoute) -> Link:
        """Connect as a client (MQCONNX).

        Raises MqiError; RouteError when the route has values that MQ cannot take; SecretError when the password
        cannot be read.
        """
        ...
