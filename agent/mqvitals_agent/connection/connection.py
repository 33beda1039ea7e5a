"""A way to reach a queue manager: the one seam behind which a live MQI connection, a simulation and test scripts look alike."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

from mqvitals_agent.connection.exchange import Exchange, MqiFailure
from mqvitals_agent.errors import MqvitalsError


class ConnectError(MqvitalsError):
    """A queue manager could not be reached. ``failure`` is the MQI's, ``text`` a clause that says more (may be empty).

    ``call`` is the call that failed (``MQOPEN``), ``queue`` the queue it was about; both empty where nobody knows.
    """

    def __init__(self, failure: MqiFailure, text: str = "", *, call: str = "", queue: str = "") -> None:
        super().__init__(text or f"MQI reason {failure.reason}")
        self.failure = failure
        self.text = text
        self.call = call
        self.queue = queue


class Connection(Protocol):
    """An open connection to one queue manager. One command at a time: the next ``ask`` only when the one before returned."""

    async def ask(self, command: int, request: bytes, wait_ms: int) -> Exchange:
        """Put a request and gather its answer until it is complete, or until no reply came for ``wait_ms``.

        Never raises for what MQ does: a failed MQI call or an answer that stopped coming (2033) is the exchange's
        ``error``, beside the replies that came before it. After a reason that breaks the connection
        (``poll.outcome.CONNECTION_FAILURES``) it is of no more use. It may be cancelled.
        """
        ...

    async def close(self) -> None:
        """Let go of the connection, within a second. A second call does nothing."""
        ...


class Calls(NamedTuple):
    """Calls of MQ that did not come back in time: ``hung`` so far, and ``hanging``, those of them that have not yet come back."""

    hung: int = 0
    hanging: int = 0


@runtime_checkable
class CountsCalls(Protocol):
    """A connector whose calls of MQ can hang."""

    @property
    def calls(self) -> Calls:
        """How many did and do."""
        ...


@runtime_checkable
class TellsPlatform(Protocol):
    """A connection that knows what its queue manager runs on."""

    @property
    def platform(self) -> int:
        """``MQPL_...``."""
        ...


@runtime_checkable
class TakesStatistics(Protocol):
    """A connector whose connections take statistics messages from a queue, when they are asked ``MQCMD_STATISTICS_Q``."""

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
