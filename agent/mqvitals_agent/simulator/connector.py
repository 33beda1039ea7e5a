"""Connections to the simulated queue managers of a group."""

from __future__ import annotations

from random import Random
from typing import Final, Protocol

from mqvitals_agent.clock import Clock
from mqvitals_agent.connection.connection import Calls, ConnectError
from mqvitals_agent.connection.exchange import Exchange, MqiFailure, Reply
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.simulator.answer import CCSID, ENCODING
from mqvitals_agent.simulator.command_server import CommandServer
from mqvitals_agent.simulator.state import Fault, Group

_CONNECTING_MS: Final = 20
_SHORTEST_MS, _LONGEST_MS = 2.0, 6.0
_A_MESSAGE_MS: Final = 0.03
"""What one message adds to the time of an answer."""
_HUNDREDTHS_MS: Final = 10
"""The descriptor of a message keeps the time to hundredths of a second."""
_NO_MESSAGE: Final = MqiFailure(mq.MQCC_FAILED, mq.MQRC_NO_MSG_AVAILABLE)
_BROKEN: Final = MqiFailure(mq.MQCC_FAILED, mq.MQRC_CONNECTION_BROKEN)
_NO_CONNECTION: Final = MqiFailure(mq.MQCC_FAILED, mq.MQRC_HCONN_ERROR)
_NOT_AVAILABLE: Final = MqiFailure(mq.MQCC_FAILED, mq.MQRC_Q_MGR_NOT_AVAILABLE)


class Moving(Protocol):
    """A world that is moved to a moment by being asked for it."""

    def advance(self, now: int) -> Group:
        """The group as of ``now``, ms since 1970 UTC. Called with moments that do not go back."""
        ...


class SimulatedConnector:
    """Connects to one queue manager of the world. Times between request and answer come from ``seed``."""

    def __init__(self, world: Moving, queue_manager: str, clock: Clock, seed: int = 1) -> None:
        self._world = world
        self._queue_manager = queue_manager
        self._clock = clock
        self._random = Random(f"{seed} {queue_manager}")  # noqa: S311 - a believable time, not a secret
        self._server = CommandServer(queue_manager)

    @property
    def queue_manager(self) -> str:
        """The queue manager's name."""
        return self._queue_manager

    @property
    def calls(self) -> Calls:
        """None of them hangs: there is no MQ client behind it."""
        return Calls()

    async def connect(self) -> SimulatedConnection:
        """A new connection. Raises ConnectError (2059) when the queue manager is down, or is none of the group."""
        await self._clock.sleep(_CONNECTING_MS)
        group = self._world.advance(self._clock.now())
        if self._queue_manager not in group.members:
            raise ConnectError(_NOT_AVAILABLE, "the simulated group has no such queue manager")
        if _fault(group, self._queue_manager).down:
            raise ConnectError(_NOT_AVAILABLE)
        return SimulatedConnection(self._world, self._server, self._clock, self._random)


class SimulatedConnection:
    """A connection to one simulated queue manager; ``SimulatedConnector.connect`` makes it."""

    def __init__(self, world: Moving, server: CommandServer, clock: Clock, random: Random) -> None:
        self._world = world
        self._server = server
        self._clock = clock
        self._random = random
        self._open = True

    async def ask(self, command: int, request: bytes, wait_ms: int) -> Exchange:
        """The answer as of now, after a believable time; 2033 when it, or the rest of it, takes longer than the wait.

        2009 when the queue manager goes down meanwhile; then, and after ``close``, there is no connection any more.
        """
        began = self._clock.now()
        if not self._open:
            return self._exchange(command, request, began, 0, error=_NO_CONNECTION)
        group = self._world.advance(began)
        if self._down(group):
            return self._break(command, request, began, 0)
        messages, whole = self._server.answer(request, group)
        took = self._random.uniform(_SHORTEST_MS, _LONGEST_MS) + _A_MESSAGE_MS * len(messages)
        slow = _fault(group, self._server.name).slow_ms
        late = bool(messages) and took + slow > wait_ms
        waited = 0.0 if late or not messages else took + slow
        if late or not whole:
            waited += wait_ms
        await self._clock.sleep(waited)
        if self._down(self._world.advance(self._clock.now())):
            return self._break(command, request, began, waited)
        # The queue manager puts its messages one by one; what is slow is the way that they take.
        step = took / max(len(messages), 1)
        replies = tuple(
            Reply(ENCODING, CCSID, data, _hundredths(began + step * place))
            for place, data in enumerate(() if late else messages, start=1)
        )
        error = _NO_MESSAGE if late or not whole else None
        return self._exchange(command, request, began, waited, replies, error)

    async def close(self) -> None:
        """End the connection. A second call does nothing."""
        self._open = False

    def _down(self, group: Group) -> bool:
        return _fault(group, self._server.name).down

    def _break(self, command: int, request: bytes, began: int, waited: float) -> Exchange:
        self._open = False
        return self._exchange(command, request, began, waited, error=_BROKEN)

    def _exchange(
        self,
        command: int,
        request: bytes,
        began: int,
        waited: float,
        replies: tuple[Reply, ...] = (),
        error: MqiFailure | None = None,
    ) -> Exchange:
        # What the simulated queue manager took, not what this process did to simulate it: with a clock that goes faster
        # than life a few ms of work would pass for seconds.
        return Exchange(0, began, round(waited), self._server.name, command, request, replies, error)


def connectors(world: Moving, clock: Clock, *, seed: int = 1) -> tuple[SimulatedConnector, ...]:
    """A connector for each queue manager of the world, in the order of their names."""
    group = world.advance(clock.now())
    return tuple(SimulatedConnector(world, name, clock, seed) for name in sorted(group.members))


def _fault(group: Group, name: str) -> Fault:
    return group.faults.get(name) or Fault()


def _hundredths(moment: float) -> int:
    return int(moment) // _HUNDREDTHS_MS * _HUNDREDTHS_MS
