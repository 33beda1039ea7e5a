"""A poller for one queue manager: connects, sends one command after another, and reconnects after a failure."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from mqvitals_agent.clock import Clock
from mqvitals_agent.connection.answer import CONNECTION_FAILURES
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

_T = TypeVar("_T")

_FAREWELL_S = 0.3
"""How long a cancelled call may take to end; one that does not is left behind."""


async def with_timeout(
    call: Coroutine[Any, Any, _T], clock: Clock, limit_ms: float, leftover: Callable[[_T], None] = lambda _: None
) -> _T:
    """What the call returns, or raises. Raises TimeoutError when it takes longer than ``limit_ms`` by the clock.

    ``leftover`` gets what the call returns too late, after the limit or when the caller has been cancelled: however
    late.
    """
    work = asyncio.create_task(call)
    alarm = asyncio.create_task(clock.sleep(limit_ms))
    taken = False
    try:
        await asyncio.wait({work, alarm}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            taken = True
            return work.result()
        raise TimeoutError
    finally:
        alarm.cancel()
        if not taken:
            work.add_done_callback(lambda done: _too_late(done, leftover))
        if not work.done():
            work.cancel()
            await asyncio.wait({work}, timeout=_FAREWELL_S)


def _too_late(done: asyncio.Task[_T], leftover: Callable[[_T], None]) -> None:
    # Retrieving the exception keeps asyncio from reporting it.
    if not done.cancelled() and done.exception() is None:
        leftover(done.result())


SHORTEST_MS = 1_000
LONGEST_MS = 60_000
STABLE_MS = 60_000
"""After a connection that lasted this long the next wait is short again."""

Uniform = Callable[[float, float], float]
"""Something between two numbers at random, such as ``random.uniform``."""


REFUSED_REASONS = frozenset({2035, 2063, 2217})
"""Not authorized, security error, connection not authorized: RACF revokes a user id after a few wrong passwords."""
REFUSED_MS = 300_000
LONGEST_REFUSED_MS = 3_600_000


def reconnect_wait_ms(failures: int, uniform: Uniform, reason: int = 0, interval_ms: int = LONGEST_MS) -> float:
    """The wait after so many failures in a row (1 or more), the last of them for this reason.

    Usually anything up to 1 s, 2 s, 4 s ... and at most the polling interval, or 60 s where that is longer: who comes
    back is seen within an interval. All of it is chance, so that many agents do not come back to a queue manager at
    one moment. Where the connection was refused it is 5, 10, 20 ... 60 minutes: what a person must mend is not
    hammered at.
    """
    if reason in REFUSED_REASONS:
        return min(REFUSED_MS << min(failures - 1, 16), LONGEST_REFUSED_MS)
    longest = min(max(interval_ms, SHORTEST_MS), LONGEST_MS)
    return uniform(0, min(SHORTEST_MS << min(failures - 1, 16), longest))


ON_DEMAND_WAIT_MS = 15_000
"""Nobody who asks waits longer: a longer wait for the answer would only keep errands waiting."""
ON_DEMAND_IN_A_ROW = 8
"""So many questions are put one after another before an errand that waits has its turn."""


@dataclass(eq=False, slots=True)
class OnDemandCommand:
    """A command, and the future of its exchange."""

    query: Query
    answer: asyncio.Future[Exchange]

    def resolve(self, exchange: Exchange) -> None:
        """Set the result, unless the caller was cancelled meanwhile."""
        if not self.answer.done():
            self.answer.set_result(exchange)


class OnDemandQueue:
    """The questions that wait for their turn at one queue manager."""

    def __init__(self, queue_manager: str, clock: Clock) -> None:
        self._queue_manager = queue_manager
        self._clock = clock
        self._waiting: deque[OnDemandCommand] = deque()
        self._in_a_row = 0

    def __bool__(self) -> bool:
        """True while a question waits."""
        return bool(self._waiting)

    def add(self, query: Query) -> OnDemandCommand:
        """A new question, the last in the line."""
        question = OnDemandCommand(query, asyncio.get_running_loop().create_future())
        self._waiting.append(question)
        return question

    def withdraw(self, question: OnDemandCommand) -> None:
        """Take a question back, unless its turn has come already."""
        if question in self._waiting:
            self._waiting.remove(question)

    def take(self, *, errands: bool) -> OnDemandCommand | None:
        """The next question to be put; None where there is none, or ``errands`` wait and have waited long enough."""
        if self._waiting and not (errands and self._in_a_row >= ON_DEMAND_IN_A_ROW):
            self._in_a_row += 1
            return self._waiting.popleft()
        self._in_a_row = 0
        return None

    def refuse(self, failure: MqiFailure) -> None:
        """Tell all who wait that nothing can be asked."""
        while self._waiting:
            question = self._waiting.popleft()
            question.resolve(self.unasked(question.query, failure))

    def unasked(self, query: Query, failure: MqiFailure) -> Exchange:
        """The exchange of a request that was not put."""
        return Exchange(0, self._clock.now(), 0, self._queue_manager, query.command, query.request, error=failure)


_LOG = logging.getLogger(__name__)

_NO_HOST = MqiFailure(2, 2538)
_BROKEN = MqiFailure(2, 2009)
_HUNG = 10
"""An answer may be long, and only the wait for its next message is limited. After so many waits in all it has hung."""
_CLOSE_S = 0.3


class PollerListener(Protocol):
    """Where a poller brings what it got."""

    def connected(self, poller: Poller) -> None:
        """The queue manager has been reached."""
        ...

    def arrived(self, poller: Poller, errand: ScheduledQuery | None, exchange: Exchange) -> None:
        """An exchange has ended: of an errand, or (None) of an attempt to connect that failed."""
        ...

    def missed(self, poller: Poller, errand: ScheduledQuery) -> None:
        """An errand was not put: the queue manager cannot be reached."""
        ...


class Poller:
    """One queue manager's errands, one at a time. ``run`` never returns by itself; what is not MQ's failure is raised.

    What ``ask`` sends goes before the errands that wait, over the same connection.

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
        self._questions = OnDemandQueue(self.name, clock)
        self._running: ScheduledQuery | None = None
        self._wake = asyncio.Event()
        self._hurry = asyncio.Event()
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def busy(self) -> bool:
        """True while an errand waits or is under way; questions of people do not count."""
        return self._running is not None or bool(self._waiting)

    def offer(self, errands: Iterable[ScheduledQuery]) -> None:
        """Add errands to those that wait."""
        self._waiting.extend(errands)
        self._wake.set()

    def withdraw_all(self) -> tuple[ScheduledQuery, ...]:
        """Take back every errand that waits."""
        waiting = tuple(self._waiting)
        self._waiting.clear()
        return waiting

    def withdraw(self, errand: ScheduledQuery) -> bool:
        """Take back an errand; False when it is under way or was not there."""
        if errand not in self._waiting:
            return False
        self._waiting.remove(errand)
        return True

    async def ask(self, query: Query) -> Exchange:
        """Put a request before the errands that wait; its exchange is for the caller alone, the listener does not get
        it.

        Where the queue manager cannot be reached, or the connection is lost or closed, the exchange with that error
        comes at once. Whoever is cancelled takes the question back; when it is under way already, its answer is
        thrown away.
        """
        if self.failure is not None and not self.reached:
            return self._questions.unasked(query, self.failure)
        question = self._questions.add(query)
        self._wake.set()
        try:
            return await question.answer
        finally:
            self._questions.withdraw(question)

    def give_up(self, failure: MqiFailure) -> None:
        """The queue manager cannot be reached: what waits is not asked."""
        self.failure = failure
        while self._waiting:
            self._listener.missed(self, self._waiting.popleft())
        self._questions.refuse(failure)

    async def run(self) -> None:
        """Connect, ask, and begin again after a failure. Ends by being cancelled."""
        try:
            await self._work()
        finally:
            # Whoever asks of one that is left must not wait for what never comes.
            self.failure = self.failure or _BROKEN
            self.reached = False
            self._questions.refuse(_BROKEN)

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
        """Connect now, when it waits to: what kept it from that may have been mended."""
        self._hurry.set()

    async def _pause(self, ms: float) -> None:
        self._hurry.clear()
        waits = [asyncio.create_task(self._clock.sleep(ms)), asyncio.create_task(self._hurried())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()

    async def _hurried(self) -> None:
        await self._hurry.wait()

    async def _connect(self) -> Connection | None:
        began, steady = self._clock.now(), self._clock.steady_s()
        try:
            connection = await with_timeout(self._connector_call(), self._clock, self.answer_wait_ms, self._let_go)
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
        self._tell(failure, text)
        first = self.failure is None or bool(self._waiting)
        self.give_up(failure)
        if first:
            elapsed = round((self._clock.steady_s() - steady) * 1000)
            self._listener.arrived(self, None, Exchange(0, began, elapsed, self.name, error=failure))
        return None

    async def _connector_call(self) -> Connection:
        return await self.connector.connect()

    async def _converse(self, connection: Connection) -> None:
        """Ask until the connection is lost."""
        while True:
            while not self._waiting and not self._questions:
                self._wake.clear()
                await self._wake.wait()
            question = self._questions.take(errands=bool(self._waiting))
            if question is not None:
                going_on = await self._put(connection, question)
            else:
                going_on = await self._do(connection, self._waiting.popleft())
            if not going_on:
                return

    async def _do(self, connection: Connection, errand: ScheduledQuery) -> bool:
        """Put an errand; False when the connection was lost."""
        self._running = errand
        try:
            exchange = await self._ask(connection, errand, self.answer_wait_ms)
        finally:
            self._running = None
        lost = self._lost(exchange)
        self._listener.arrived(self, errand, exchange)
        if lost is not None:
            self.give_up(lost)
        return lost is None

    async def _put(self, connection: Connection, question: OnDemandCommand) -> bool:
        """Put a question; False when the connection was lost: that alone concerns the listener too."""
        wait = min(self.answer_wait_ms, ON_DEMAND_WAIT_MS)
        try:
            exchange = await self._ask(connection, question.query, wait)
        except BaseException:
            question.resolve(self._questions.unasked(question.query, _BROKEN))
            raise
        lost = self._lost(exchange)
        question.resolve(exchange)
        if lost is not None:
            self._listener.arrived(self, None, Exchange(0, exchange.at, exchange.elapsed_ms, self.name, error=lost))
            self.give_up(lost)
        return lost is None

    def _lost(self, exchange: Exchange) -> MqiFailure | None:
        """Why the connection is of no more use after this exchange, if so."""
        error = exchange.error
        if error is None or error.reason not in CONNECTION_FAILURES:
            return None
        self.reached = False
        self._tell(error, "the connection was lost")
        return error

    async def _ask(self, connection: Connection, query: Query, wait: int) -> Exchange:
        began, steady = self._clock.now(), self._clock.steady_s()
        try:
            return await with_timeout(connection_call(connection, query, wait), self._clock, _HUNG * wait)
        except TimeoutError:
            elapsed = round((self._clock.steady_s() - steady) * 1000)
            return Exchange(0, began, elapsed, self.name, query.command, query.request, (), _BROKEN)

    def _let_go(self, connection: Connection) -> None:
        """A connection was made after the caller stopped waiting."""
        closing = asyncio.create_task(self._close(connection), name=f"late connection to {self.name}")
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    async def _close(self, connection: Connection) -> None:
        """Let go of a connection; one that does not end in time is left behind, and whatever MQ has against it
        is only told.
        """
        closing = asyncio.create_task(_closed(connection))
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

    def _tell(self, failure: MqiFailure, text: str) -> None:
        name = reason_name(failure.reason) or "an unknown reason"
        _LOG.warning(
            f"{self.name} cannot be reached: {f'{text}, ' if text else ''}{name}",
            extra=as_change(
                f"connection {self.name}", "queue_manager.unreachable", queue_manager=self.name, reason=failure.reason
            ),
        )


async def _closed(connection: Connection) -> None:
    await connection.close()


async def connection_call(connection: Connection, query: Query, wait: int) -> Exchange:
    """Put one request and gather its answer."""
    return await connection.ask(query, wait)
