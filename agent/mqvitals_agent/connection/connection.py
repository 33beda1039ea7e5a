"""Connections to queue managers: protocols of the MQI and the simulator; queries, answers and exchanges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple, Protocol, runtime_checkable

from mqvitals_agent.errors import MqvitalsError
from mqvitals_agent.pcf.answer import TRACKED, MemberAnswer
from mqvitals_agent.pcf.constants import MQCMD_STATISTICS_Q

BROWSE_DEAD_LETTERS: Final = 100_001
"""What a query that browses the dead-letter queue has for a command: MQ has none with this number."""
MOST_DEAD_LETTERS: Final = 200
"""So many messages are looked at, at most."""
READ_EVENTS: Final = 100_002
"""What a query about an event queue has for a command."""
MOST_EVENTS: Final = 200
"""So many event messages come in one exchange, at most."""
OF_QUEUES: Final = frozenset({MQCMD_STATISTICS_Q, BROWSE_DEAD_LETTERS, READ_EVENTS})
"""What stands for a command where nothing is asked: the exchange holds messages of a queue, none when there was none."""


class MqiFailure(NamedTuple):
    """An MQI call that failed: its completion code and reason (2009, 2033 ...)."""

    comp: int
    reason: int


@dataclass(frozen=True, slots=True)
class Reply:
    """One message got. ``encoding`` and ``ccsid`` are those of its descriptor after the get.

    ``put`` is the queue manager's own clock when it put the message, ms since 1970 UTC; None when not kept.
    ``message_id`` and ``correlation_id`` are kept of messages that were browsed, or got in a unit of work.
    """

    encoding: int
    ccsid: int
    data: bytes
    put: int | None = None
    message_id: bytes = b""
    correlation_id: bytes = b""


@dataclass(slots=True)
class ReplyTotals:
    """The replies of one queue manager to a query: number, bytes, and when the last was put by its clock (ms UTC).

    ``unknown_ccsid`` is the last unknown character set of its texts; 0: all are known.
    """

    replies: int = 0
    bytes: int = 0
    put: int | None = None
    unknown_ccsid: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """The replies to a query, decoded: the items of each responding queue manager with completion code and reason.

    An item holds parameters by their PCF identifier, whatever the transport. ``complete``: nothing more is to come.
    ``damaged`` counts the replies that cannot be decoded. ``totals`` are by responding queue manager.
    """

    members: tuple[MemberAnswer, ...]
    complete: bool
    damaged: int
    totals: Mapping[str, ReplyTotals]


@dataclass(frozen=True, slots=True)
class Query:
    """One command: its number and its request in bytes.

    ``parameters`` are those to decode of the replies (``pcf.answer.TRACKED`` among them), ``key`` is the one that
    names the object that an item describes, 0 when none does.
    """

    command: int
    request: bytes
    parameters: frozenset[int] = TRACKED
    key: int = 0


class EventStep(Enum):
    """What an ``EventQuery`` does: look at messages, take them in a unit of work, end that one or the other way; or only
    see whether the queue can be opened for either.
    """

    BROWSE = "browse"
    GET = "get"
    COMMIT = "commit"
    BACK_OUT = "back_out"
    OPEN_TO_BROWSE = "open_to_browse"
    OPEN_TO_GET = "open_to_get"


@dataclass(frozen=True, slots=True)
class EventQuery(Query):
    """A step of reading an event ``queue``; no command. The exchange holds at most ``MOST_EVENTS`` messages.

    ``after`` is the identifier of the message behind which a browse begins, empty for the first. Where that message is
    no longer on the queue, the exchange's error is 2033 (no such message) and it holds none.
    """

    queue: str = ""
    step: EventStep = EventStep.BROWSE
    after: bytes = b""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One command and its answer, or one attempt to connect that failed (then ``command`` and ``request`` are None).

    ``line`` is where a recording holds it (0: it comes from a live connection), ``at`` when the request was put, ms
    since 1970 UTC by our clock, ``elapsed_ms`` the time until the last reply or the error. ``queue_manager`` is the
    one we were connected to; with a command scope the replies come from others. ``answer`` is what the connection
    decoded of the replies; None: nothing yet, as for an exchange of a recording.
    """

    line: int
    at: int
    elapsed_ms: int
    queue_manager: str
    command: int | None = None
    request: bytes | None = None
    replies: tuple[Reply, ...] = ()
    error: MqiFailure | None = None
    answer: Answer | None = field(default=None, compare=False, repr=False)


class ConnectError(MqvitalsError):
    """A queue manager could not be reached. ``failure`` is the MQI's, ``text`` a clause with details (may be empty).

    ``call`` is the call that failed (``MQOPEN``), ``queue`` its queue; both may be empty.
    """

    def __init__(self, failure: MqiFailure, text: str = "", *, call: str = "", queue: str = "") -> None:
        super().__init__(text or f"MQI reason {failure.reason}")
        self.failure = failure
        self.text = text
        self.call = call
        self.queue = queue


class Connection(Protocol):
    """An open connection to one queue manager.

    One command at a time: the next ``ask`` only when the one before returned.
    """

    async def ask(self, query: Query, wait_ms: int) -> Exchange:
        """Send a query and gather its answer until it is complete, or until no reply came for ``wait_ms``.

        A connection that decodes replies to see that decodes what the query asks for, and the exchange has the
        ``answer``.

        Never raises for what MQ does: a failed MQI call or an answer that stopped coming (2033) is the exchange's
        ``error``, beside the replies that came before it. After a reason that breaks the connection
        (``answer.CONNECTION_FAILURES``) it is unusable. It may be cancelled.
        """
        ...

    async def close(self) -> None:
        """Close the connection, within a second. A second call does nothing."""
        ...


class MqiCalls(NamedTuple):
    """Calls of MQ that did not return in time: ``hung`` so far, ``hanging`` those that still have not."""

    hung: int = 0
    hanging: int = 0


@runtime_checkable
class HasMqiCalls(Protocol):
    """A connector whose calls of MQ can hang."""

    @property
    def calls(self) -> MqiCalls:
        """How many did and do."""
        ...


@runtime_checkable
class HasPlatform(Protocol):
    """A connection that knows what its queue manager runs on."""

    @property
    def platform(self) -> int:
        """``MQPL_...``."""
        ...


@runtime_checkable
class HasStatisticsQueue(Protocol):
    """A connector whose connections take statistics messages from a queue (command ``MQCMD_STATISTICS_Q``)."""

    @property
    def statistics_queue(self) -> str:
        """The queue's name; empty when there is none."""
        ...


class Connector(Protocol):
    """Makes connections to one queue manager."""

    @property
    def queue_manager(self) -> str:
        """The name it is configured under, which exchanges carry."""
        ...

    async def connect(self) -> Connection:
        """A new connection. Raises ConnectError."""
        ...
