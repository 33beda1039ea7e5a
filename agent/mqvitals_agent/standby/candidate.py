"""Opens the reply queues of a group's queue managers, keeps what it gets, and hands it to those who poll.

Of a try, the first queue manager that answers decides whether there is anything to get; the others are then asked at once,
so that what another agent holds elsewhere is known after the slowest answer, not after the sum of them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

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
from mqvitals_agent.standby.election import Limits, OpenOutcome, Role, Standing, decide

_LOG = logging.getLogger(__name__)

_CLOSE_MS = 1_000
_LONGEST_MS = 30_000
"""A connection that is not made within this time never is."""


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
        self._answers: dict[str, OpenOutcome] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._refused: dict[str, tuple[int, int]] = {}
        """How often a queue manager has refused the user in a row, and until when it is not asked, ms of elapsed time."""

    async def attempt(self) -> Standing:
        """Try to get the reply queues once; returns what this agent is now. Standby, it holds nothing afterwards."""
        self._answers = {}
        try:
            await self._open_all()
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

    def note(self, queue_manager: str, answer: OpenOutcome) -> None:
        """What came of a connection of the active agent."""
        self._answers[queue_manager] = answer
        before = self.standing
        if before.role is Role.ACTIVE:
            self._decide({each.queue_manager: self._answers[each.queue_manager] for each in self._asked()})
            if self.standing.role is Role.STANDBY:
                self.changed()

    def note_lost(self, queue_manager: str) -> None:
        """Whoever connects anew has lost the connection that was held; an answer without one stays as it was."""
        if self._answers.get(queue_manager) is OpenOutcome.HELD:
            self.note(queue_manager, OpenOutcome.UNREACHED)

    def _asked(self) -> Iterable[Connector]:
        return (each for each in self._connectors if each.queue_manager in self._answers)

    def _decide(self, answers: dict[str, OpenOutcome]) -> None:
        self.standing = decide(self.standing, answers, self._now(), self.limits, peer_heard=self.peer_heard())

    def _now(self) -> int:
        return round(self._clock.steady_s() * 1000)

    async def _open_all(self) -> None:
        """Ask in turn until one has answered, and the others at once where its reply queue is ours now.

        One that does not answer soon is not waited for alone: the next is asked beside it. The first whose reply queue is
        open elsewhere ends it all.
        """
        rest = list(self._connectors)
        opening: set[asyncio.Future[OpenOutcome]] = set()
        found: set[OpenOutcome] = set()
        try:
            while (rest or opening) and not found:
                if rest:
                    opening.add(asyncio.ensure_future(self._open(rest.pop(0))))
                done = await self._done(opening, self.limits.answer_ms if rest else _LONGEST_MS)
                if not done and not rest:
                    return
                opening -= done
                found = {each.result() for each in done} - {OpenOutcome.UNREACHED}
            opening |= {asyncio.ensure_future(self._open(each)) for each in rest if found == {OpenOutcome.HELD}}
            while opening and OpenOutcome.IN_USE not in found:
                done = await self._done(opening, self.limits.answer_ms)
                if not done:
                    return
                opening -= done
                found = {each.result() for each in done}
        finally:
            for each in opening:
                each.cancel()
            if opening:
                await asyncio.wait(opening)

    async def _done(
        self, opening: set[asyncio.Future[OpenOutcome]], within_ms: float
    ) -> set[asyncio.Future[OpenOutcome]]:
        """Those that are done first; none when that takes longer."""
        alarm = self._clock.timer(within_ms)
        either: set[asyncio.Future[Any]] = {*opening, alarm}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:
            alarm.cancel()
        return {each for each in opening if each.done()}

    async def _open(self, connector: Connector) -> OpenOutcome:
        name = connector.queue_manager
        refusals, until = self._refused.get(name, (0, 0))
        if self._now() < until:
            self._answers[name] = OpenOutcome.UNREACHED
            return OpenOutcome.UNREACHED
        try:
            connection = await with_timeout(connector.connect(), self._clock, _LONGEST_MS, self._close)
        except ConnectError as error:
            answer = answer_of(error)
            if answer is OpenOutcome.UNREACHED:
                if error.failure.reason in REFUSED_REASONS:
                    self._refused[name] = refusals + 1, self._now() + refused_wait_ms(refusals + 1)
                why = reason_name(error.failure.reason) or str(error.failure.reason)
                _log_unreached(name, f"{error.text}, {why}" if error.text else why)
        except TimeoutError:
            answer = OpenOutcome.UNREACHED
            _log_unreached(name, "connecting takes too long")
        else:
            answer, self._held[name] = OpenOutcome.HELD, connection
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


def answer_of(error: ConnectError) -> OpenOutcome:
    """What a connection that failed says of the reply queue."""
    return OpenOutcome.IN_USE if error.failure.reason == MQRC_OBJECT_IN_USE else OpenOutcome.UNREACHED


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
            self._candidate.note(name, OpenOutcome.UNREACHED)
            raise
        self._candidate.note(name, OpenOutcome.HELD)
        return connection
