"""A poller for one queue manager: connects, sends one command after another, and reconnects after a failure."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from mqvitals_agent.clock import Clock, with_timeout
from mqvitals_agent.connection.answer import CONNECTION_FAILURES, REFUSED_REASONS, refused_wait_ms
from mqvitals_agent.connection.connection import (
    ConnectError,
    Connection,
    Connector,
    Exchange,
    HasPlatform,
    MqiFailure,
    Query,
)
from mqvitals_agent.log import as_change
from mqvitals_agent.pcf.names import reason_name
from mqvitals_agent.poll.queries import ScheduledQuery

SHORTEST_MS = 1_000
LONGEST_MS = 60_000
STABLE_MS = 60_000
"""After a connection that lasted this long the next wait is short again."""

Uniform = Callable[[float, float], float]
"""A random number between two limits, such as ``random.uniform``."""


def reconnect_wait_ms(failures: int, uniform: Uniform, reason: int = 0, interval_ms: int = LONGEST_MS) -> float:
    """The wait after this many failures in a row (1 or more), the last of them for ``reason``.

    Usually a random time up to 1 s, 2 s, 4 s ... and at most the polling interval or 60 s, whichever is shorter: a
    queue manager that is back is seen within an interval, and many agents do not reconnect at the same moment. After
    a refused connection it is 5, 10, 20 ... 60 minutes, because only a person can correct that.
    """
    if reason in REFUSED_REASONS:
        return refused_wait_ms(failures)
    longest = min(max(interval_ms, SHORTEST_MS), LONGEST_MS)
    return uniform(0, min(SHORTEST_MS << min(failures - 1, 16), longest))


ON_DEMAND_WAIT_MS = 15_000
"""A caller of ``ask`` waits no longer: a longer wait would only delay the scheduled queries."""
ON_DEMAND_IN_A_ROW = 8
"""After this many commands on demand in a row, a scheduled query has its turn."""


@dataclass(eq=False, slots=True)
class OnDemandCommand:
    """A query on demand, and the future of its exchange."""

    query: Query
    answer: asyncio.Future[Exchange]

    def resolve(self, exchange: Exchange) -> None:
        """Set the result, unless the caller was cancelled meanwhile."""
        if not self.answer.done():
            self.answer.set_result(exchange)


class OnDemandQueue:
    """The commands on demand that wait at one queue manager."""

    def __init__(self, queue_manager: str, clock: Clock) -> None:
        self._queue_manager = queue_manager
        self._clock = clock
        self._waiting: deque[OnDemandCommand] = deque()
        self._in_a_row = 0

    def __bool__(self) -> bool:
        """True while a command waits."""
        return bool(self._waiting)

    def add(self, query: Query) -> OnDemandCommand:
        """Append a query."""
        command = OnDemandCommand(query, asyncio.get_running_loop().create_future())
        self._waiting.append(command)
        return command

    def withdraw(self, command: OnDemandCommand) -> None:
        """Remove a command that still waits."""
        if command in self._waiting:
            self._waiting.remove(command)

    def take(self, *, scheduled: bool) -> OnDemandCommand | None:
        """The next command; None when none waits, or when ``scheduled`` queries wait and have their turn."""
        if self._waiting and not (scheduled and self._in_a_row >= ON_DEMAND_IN_A_ROW):
            self._in_a_row += 1
            return self._waiting.popleft()
        self._in_a_row = 0
        return None

    def refuse(self, failure: MqiFailure) -> None:
        """Resolve every command that waits with this failure."""
        while self._waiting:
            command = self._waiting.popleft()
            command.resolve(self.not_sent(command.query, failure))

    def not_sent(self, query: Query, failure: MqiFailure) -> Exchange:
        """The exchange of a query that was not sent."""
        return Exchange(0, self._clock.now(), 0, self._queue_manager, query.command, query.request, error=failure)


_LOG = logging.getLogger(__name__)

_NO_HOST = MqiFailure(2, 2538)
_BROKEN = MqiFailure(2, 2009)
_HUNG = 10
"""Only the wait for the next message of an answer is limited. After this many waits in all, the call hangs."""
_CLOSE_S = 0.3


class PollerListener(Protocol):
    """Receives what a poller gets."""

    def connected(self, poller: Poller) -> None:
        """The queue manager has been reached."""
        ...

    def arrived(self, poller: Poller, query: ScheduledQuery | None, exchange: Exchange) -> None:
        """An exchange has ended: of a query, or (None) of an attempt to connect that failed."""
        ...

    def missed(self, poller: Poller, query: ScheduledQuery) -> None:
        """A query was not sent: the queue manager cannot be reached."""
        ...


class Poller:
    """Sends one queue manager its queries, one at a time. ``run`` never returns by itself; it raises what is not MQ's
    failure.

    What ``ask`` sends goes before the queries that wait, over the same connection.

    ``failure`` is why the queue manager cannot be reached now, None when it can be or nothing is known yet.
    ``platform`` is what it runs on (``MQPL_...``), 0 when unknown.
    """

    def __init__(
        self,
        connector: Connector,
        listener: PollerListener,
        clock: Clock,
        uniform: Uniform,
        answer_wait_ms: int,
        interval_ms: int,
    ) -> None:
        self.connector = connector
        self.name = connector.queue_manager
        self.answer_wait_ms = answer_wait_ms
        self.interval_ms = interval_ms
        self.failure: MqiFailure | None = None
        self.reached = False
        self.platform = 0
        self._listener = listener
        self._clock = clock
        self._uniform = uniform
        self._waiting: deque[ScheduledQuery] = deque()
        self._on_demand = OnDemandQueue(self.name, clock)
        self._running: ScheduledQuery | None = None
        self._wake = asyncio.Event()
        self._hurry = asyncio.Event()
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def busy(self) -> bool:
        """True while a scheduled query waits or is under way."""
        return self._running is not None or bool(self._waiting)

    def offer(self, queries: Iterable[ScheduledQuery]) -> None:
        """Add queries to those that wait."""
        self._waiting.extend(queries)
        self._wake.set()

    def withdraw_all(self) -> tuple[ScheduledQuery, ...]:
        """Take back every query that waits."""
        waiting = tuple(self._waiting)
        self._waiting.clear()
        return waiting

    def withdraw(self, query: ScheduledQuery) -> bool:
        """Take back a query; False when it is under way or unknown."""
        if query not in self._waiting:
            return False
        self._waiting.remove(query)
        return True

    async def ask(self, query: Query) -> Exchange:
        """Send a query before those that wait. Only the caller gets its exchange, the listener does not.

        If the queue manager cannot be reached, or the connection is lost or closed, the exchange with that error
        returns at once. Cancelling removes the query; if it is under way already, its answer is dropped.
        """
        if self.failure is not None and not self.reached:
            return self._on_demand.not_sent(query, self.failure)
        command = self._on_demand.add(query)
        self._wake.set()
        try:
            return await command.answer
        finally:
            self._on_demand.withdraw(command)

    def give_up(self, failure: MqiFailure) -> None:
        """The queue manager cannot be reached: what waits is not sent."""
        self.failure = failure
        while self._waiting:
            self._listener.missed(self, self._waiting.popleft())
        self._on_demand.refuse(failure)

    async def run(self) -> None:
        """Connect, send queries, and reconnect after a failure, until cancelled."""
        try:
            await self._work()
        finally:
            # Callers of ``ask`` must not wait for an answer that never comes.
            self.failure = self.failure or _BROKEN
            self.reached = False
            self._on_demand.refuse(_BROKEN)

    async def _work(self) -> None:
        failures = 0
        while True:
            connection = await self._connect()
            if connection is not None:
                began = self._clock.steady_s()
                try:
                    await self._converse(connection)
                finally:
                    self.reached = False
                    await self._close(connection)
                if (self._clock.steady_s() - began) * 1000 >= STABLE_MS:
                    failures = 0
            failures += 1
            reason = 0 if self.failure is None else self.failure.reason
            await self._pause(reconnect_wait_ms(failures, self._uniform, reason, self.interval_ms))

    def try_again(self) -> None:
        """Connect now instead of at the end of the wait: the cause may have been corrected."""
        self._hurry.set()

    async def _pause(self, ms: float) -> None:
        self._hurry.clear()
        with suppress(TimeoutError):
            await with_timeout(self._hurry.wait(), self._clock, ms)

    async def _connect(self) -> Connection | None:
        began, steady = self._clock.now(), self._clock.steady_s()
        try:
            connection = await with_timeout(
                self.connector.connect(), self._clock, self.answer_wait_ms, self._close_late
            )
        except ConnectError as error:
            failure, text = error.failure, error.text
        except TimeoutError:
            failure, text = _NO_HOST, "connecting takes too long"
        else:
            self.failure = None
            self.reached = True
            self.platform = connection.platform if isinstance(connection, HasPlatform) else 0
            _LOG.info(
                f"{self.name} is connected",
                extra=as_change(f"connection {self.name}", "queue_manager.connected", queue_manager=self.name),
            )
            self._listener.connected(self)
            return connection
        self._log_unreachable(failure, text)
        first = self.failure is None or bool(self._waiting)
        self.give_up(failure)
        if first:
            elapsed = round((self._clock.steady_s() - steady) * 1000)
            self._listener.arrived(self, None, Exchange(0, began, elapsed, self.name, error=failure))
        return None

    async def _converse(self, connection: Connection) -> None:
        """Send what waits until the connection is lost."""
        while True:
            while not self._waiting and not self._on_demand:
                self._wake.clear()
                await self._wake.wait()
            command = self._on_demand.take(scheduled=bool(self._waiting))
            if command is not None:
                connected = await self._send_command(connection, command)
            else:
                connected = await self._send_query(connection, self._waiting.popleft())
            if not connected:
                return

    async def _send_query(self, connection: Connection, query: ScheduledQuery) -> bool:
        """Send a scheduled query; False when the connection was lost."""
        self._running = query
        try:
            exchange = await self._ask(connection, query, self.answer_wait_ms)
        finally:
            self._running = None
        lost = self._lost(exchange)
        self._listener.arrived(self, query, exchange)
        if lost is not None:
            self.give_up(lost)
        return lost is None

    async def _send_command(self, connection: Connection, command: OnDemandCommand) -> bool:
        """Send a command on demand; False when the connection was lost, which the listener gets too."""
        wait = min(self.answer_wait_ms, ON_DEMAND_WAIT_MS)
        try:
            exchange = await self._ask(connection, command.query, wait)
        except BaseException:  # raised again; who waits for the answer must not wait for ever
            command.resolve(self._on_demand.not_sent(command.query, _BROKEN))
            raise
        lost = self._lost(exchange)
        command.resolve(exchange)
        if lost is not None:
            self._listener.arrived(self, None, Exchange(0, exchange.at, exchange.elapsed_ms, self.name, error=lost))
            self.give_up(lost)
        return lost is None

    def _lost(self, exchange: Exchange) -> MqiFailure | None:
        """Why the connection was lost, None when it was not."""
        error = exchange.error
        if error is None or error.reason not in CONNECTION_FAILURES:
            return None
        self.reached = False
        self._log_unreachable(error, "the connection was lost")
        return error

    async def _ask(self, connection: Connection, query: Query, wait: int) -> Exchange:
        began, steady = self._clock.now(), self._clock.steady_s()
        try:
            return await with_timeout(connection.ask(query, wait), self._clock, _HUNG * wait)
        except TimeoutError:
            elapsed = round((self._clock.steady_s() - steady) * 1000)
            return Exchange(0, began, elapsed, self.name, query.command, query.request, (), _BROKEN)

    def _close_late(self, connection: Connection) -> None:
        """Close a connection that was made after the limit."""
        closing = asyncio.create_task(self._close(connection), name=f"late connection to {self.name}")
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    async def _close(self, connection: Connection) -> None:
        """Close a connection, or abandon it when that takes too long. A failure of MQ is only logged."""
        closing = asyncio.create_task(connection.close())
        try:
            await asyncio.wait({closing}, timeout=_CLOSE_S)
        finally:
            if not closing.done():
                closing.cancel()
        if not closing.done() or closing.cancelled():
            return
        mistake = closing.exception()
        if mistake is None:
            return
        if not isinstance(mistake, (ConnectError, OSError)):
            raise mistake
        _LOG.warning(
            f"the connection to {self.name} could not be closed in order: {mistake}",
            extra=as_change(f"close {self.name}", "queue_manager.close_failed", queue_manager=self.name),
        )

    def _log_unreachable(self, failure: MqiFailure, text: str) -> None:
        name = reason_name(failure.reason) or "an unknown reason"
        _LOG.warning(
            f"{self.name} cannot be reached: {f'{text}, ' if text else ''}{name}",
            extra=as_change(
                f"connection {self.name}", "queue_manager.unreachable", queue_manager=self.name, reason=failure.reason
            ),
        )
