"""Opens the reply queues of a group's queue managers, keeps what it gets, and hands it to those who poll.

Of a try, the first queue manager that can be reached decides whether there is anything to get; the others are then asked
at once, so that what another agent holds elsewhere is known after the slowest answer, not after the sum of them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from mqvitals_agent.clock import Clock, with_timeout
from mqvitals_agent.connection.answer import REFUSED_REASONS, refused_wait_ms
from mqvitals_agent.connection.connection import (
    ConnectError,
    Connection,
    Connector,
    HasMqiCalls,
    HasStatisticsQueue,
    MqiCalls,
)
from mqvitals_agent.log import as_change
from mqvitals_agent.pcf.constants import MQRC_OBJECT_IN_USE
from mqvitals_agent.pcf.names import reason_name
from mqvitals_agent.standby.election import Answer, Limits, Role, Standing, decide

_LOG = logging.getLogger(__name__)

_CLOSE_MS = 1_000


class Candidate:
    """An agent's side of the election. Used on the event loop's thread.

    ``connectors`` are those of the queue managers, in the order of the settings; those of ``guarded`` hand out what was
    opened here, and tell what comes of every later connection. ``peer_heard`` returns whether the other agent has answered
    lately. ``changed`` is called when an active agent has become standby by what a connection answered.
    """

    def __init__(
        self,
        connectors: Sequence[Connector],
        clock: Clock,
        interval_ms: int,
        *,
        peer_heard: Callable[[], bool] = lambda: False,
    ) -> None:
        self.limits = Limits(interval_ms)
        self.standing = Standing()
        self.changed: Callable[[], None] = lambda: None
        self._clock = clock
        self.peer_heard = peer_heard
        self._connectors = tuple(connectors)
        self._held: dict[str, Connection] = {}
        self._answers: dict[str, Answer] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._refused: dict[str, tuple[int, int]] = {}
        """How often a queue manager has refused the user in a row, and until when it is not asked, ms of elapsed time."""

    async def attempt(self) -> Standing:
        """Try to get the reply queues once; returns what this agent is now. Standby, it holds nothing afterwards."""
        self._answers = {}
        try:
            rest = await self._first()
            if rest:
                await self._others(rest)
        except BaseException:  # raised again; nobody else knows what is open
            await self.release()
            raise
        answers = {each.queue_manager: self._answers[each.queue_manager] for each in self._asked()}
        self._decide(answers)
        if self.standing.role is Role.STANDBY:
            await self.release()
        return self.standing

    async def release(self) -> None:
        """Close what is held and not handed out."""
        held, self._held = self._held, {}
        for connection in held.values():
            self._close(connection)
        while self._closing:
            await asyncio.wait(self._closing)

    def guarded(self, connectors: Iterable[Connector]) -> tuple[Connector, ...]:
        """Connectors for those who poll, which tell this candidate what comes of each connection. Any thread may call it."""
        found = tuple(GuardedConnector(each, self) for each in connectors)
        self._connectors = tuple(each.inner for each in found)
        return found

    def use(self, connectors: Sequence[Connector], interval_ms: int) -> None:
        """Try these connectors from now on, by another polling interval. For an agent that waits."""
        self._connectors = tuple(connectors)
        self.limits = Limits(interval_ms)

    def take(self, queue_manager: str) -> Connection | None:
        """The connection that is held to a queue manager, once."""
        return self._held.pop(queue_manager, None)

    def note(self, queue_manager: str, answer: Answer) -> None:
        """What came of a connection of the active agent."""
        self._answers[queue_manager] = answer
        before = self.standing
        if before.role is Role.ACTIVE:
            self._decide({each.queue_manager: self._answers[each.queue_manager] for each in self._asked()})
            if self.standing.role is Role.STANDBY:
                self.changed()

    def note_lost(self, queue_manager: str) -> None:
        """Whoever connects anew has lost the connection that was held; an answer without one stays as it was."""
        if self._answers.get(queue_manager) is Answer.HELD:
            self.note(queue_manager, Answer.UNREACHED)

    def _asked(self) -> Iterable[Connector]:
        return (each for each in self._connectors if each.queue_manager in self._answers)

    def _decide(self, answers: dict[str, Answer]) -> None:
        self.standing = decide(self.standing, answers, self._now(), self.limits, peer_heard=self.peer_heard())

    def _now(self) -> int:
        return round(self._clock.steady_s() * 1000)

    async def _first(self) -> Sequence[Connector]:
        """Ask in turn until one can be reached; returns the others where its reply queue is ours now, else none."""
        for place, connector in enumerate(self._connectors):
            answer = await self._open(connector)
            if answer is Answer.HELD:
                return self._connectors[place + 1 :]
            if answer is Answer.IN_USE:
                return ()
        return ()

    async def _others(self, rest: Sequence[Connector]) -> None:
        """Ask all at once; the first whose reply queue is open elsewhere ends it."""
        asking = {asyncio.ensure_future(self._open(each)) for each in rest}
        try:
            while asking:
                done, asking = await asyncio.wait(asking, return_when=asyncio.FIRST_COMPLETED)
                if any(each.result() is Answer.IN_USE for each in done):
                    return
        finally:
            for each in asking:
                each.cancel()
            if asking:
                await asyncio.wait(asking)

    async def _open(self, connector: Connector) -> Answer:
        name = connector.queue_manager
        refusals, until = self._refused.get(name, (0, 0))
        if self._now() < until:
            self._answers[name] = Answer.UNREACHED
            return Answer.UNREACHED
        try:
            connection = await with_timeout(connector.connect(), self._clock, self.limits.answer_ms, self._close)
        except ConnectError as error:
            answer = answer_of(error)
            if answer is Answer.UNREACHED:
                if error.failure.reason in REFUSED_REASONS:
                    self._refused[name] = refusals + 1, self._now() + refused_wait_ms(refusals + 1)
                why = reason_name(error.failure.reason) or str(error.failure.reason)
                _log_unreached(name, f"{error.text}, {why}" if error.text else why)
        except TimeoutError:
            answer = Answer.UNREACHED
            _log_unreached(name, "connecting takes too long")
        else:
            answer, self._held[name] = Answer.HELD, connection
            self._refused.pop(name, None)
        self._answers[name] = answer
        return answer

    def _close(self, connection: Connection) -> None:
        """Close beside, for at most a second: MQ may hang."""
        closing = asyncio.ensure_future(self._closed(connection))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    async def _closed(self, connection: Connection) -> None:
        # Whatever fails on the way, the queue manager frees what the connection held.
        with suppress(TimeoutError, ConnectError, OSError):
            await with_timeout(connection.close(), self._clock, _CLOSE_MS)


def answer_of(error: ConnectError) -> Answer:
    """What a connection that failed says of the reply queue."""
    return Answer.IN_USE if error.failure.reason == MQRC_OBJECT_IN_USE else Answer.UNREACHED


def _log_unreached(name: str, why: str) -> None:
    _LOG.warning(
        f"{name} cannot be reached: {why}",
        extra=as_change(f"connection {name}", "queue_manager.unreachable", queue_manager=name),
    )


class GuardedConnector:
    """A connector that hands out what a candidate holds, and tells it what comes of each later connection.

    Equal to another whose own connectors are equal.
    """

    def __init__(self, inner: Connector, candidate: Candidate) -> None:
        self.inner = inner
        self._candidate = candidate

    @property
    def queue_manager(self) -> str:
        """The name it is configured under."""
        return self.inner.queue_manager

    @property
    def calls(self) -> MqiCalls:
        """As the connector within."""
        return self.inner.calls if isinstance(self.inner, HasMqiCalls) else MqiCalls()

    @property
    def statistics_queue(self) -> str:
        """As the connector within; empty where it has none."""
        return self.inner.statistics_queue if isinstance(self.inner, HasStatisticsQueue) else ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GuardedConnector) and self.inner == other.inner

    def __hash__(self) -> int:
        return hash(self.inner)

    async def connect(self) -> Connection:
        """A connection that is held already, or a new one. Raises ConnectError."""
        name = self.queue_manager
        held = self._candidate.take(name)
        if held is not None:
            return held
        self._candidate.note_lost(name)
        try:
            connection = await self.inner.connect()
        except ConnectError as error:
            self._candidate.note(name, answer_of(error))
            raise
        except asyncio.CancelledError:
            self._candidate.note(name, Answer.UNREACHED)
            raise
        self._candidate.note(name, Answer.HELD)
        return connection
