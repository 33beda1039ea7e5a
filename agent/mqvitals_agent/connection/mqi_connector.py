"""Connections through the MQI, for the event loop: one daemon thread each, in which every call of MQ is made.

A call that hangs cannot be ended from outside. Its thread is left behind, and a new connection gets a new one; as a
daemon it does not keep the agent from ending.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Final

from mqvitals_agent.clock import Clock
from mqvitals_agent.connection.connection import ConnectError, Exchange, MqiCalls, MqiFailure, Query
from mqvitals_agent.connection.conversation import ConnectedQueueManager, Conversation, TimeSource
from mqvitals_agent.connection.link import Binding, MqiError, RouteError, StoppedError
from mqvitals_agent.connection.route import CommandRoute
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.threads import ThreadWorker
from mqvitals_config.decoding.secret import SecretError

HUNG_MS: Final = 10_000
"""A wait of the MQI lasts a second at most: a call that takes this much longer hangs."""
MOST_LEFT_BEHIND: Final = 8
"""Threads of one queue manager that may hang before no more are begun."""
_BROKEN: Final = MqiFailure(mq.MQCC_FAILED, mq.MQRC_CONNECTION_BROKEN)
_NOT_AUTHORIZED: Final = MqiFailure(mq.MQCC_FAILED, mq.MQRC_NOT_AUTHORIZED)
_CANNOT_BE_SAID: Final = MqiFailure(mq.MQCC_FAILED, mq.MQRC_CD_ERROR)
_NOT_AVAILABLE: Final = MqiFailure(mq.MQCC_FAILED, mq.MQRC_Q_MGR_NOT_AVAILABLE)


class MqiConnector:
    """Connects to one queue manager by ``route``. Equal to another with the same binding and route."""

    def __init__(
        self, binding: Binding, route: CommandRoute, clock: Clock, time: TimeSource, *, drain: bool = True
    ) -> None:
        """``drain`` as for ``Conversation``."""
        self.binding = binding
        self._drain = drain
        self.route = route
        self._clock = clock
        self._time = time
        self._threads: list[ThreadWorker] = []
        self._hung = 0
        self._hanging: list[ThreadWorker] = []

    @property
    def queue_manager(self) -> str:
        """The name it is configured under."""
        return self.route.queue_manager

    @property
    def statistics_queue(self) -> str:
        """Where statistics messages are taken from; empty: from nowhere."""
        return self.route.statistics_queue

    @property
    def calls(self) -> MqiCalls:
        """Calls of MQ that did not come back in time and were left behind with their thread."""
        self._hanging = [thread for thread in self._hanging if thread.alive]
        return MqiCalls(self._hung, len(self._hanging))

    def leave_behind(self, thread: ThreadWorker) -> None:
        """Count a call that hangs in ``thread``."""
        self._hung += 1
        self._hanging.append(thread)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MqiConnector) and (self.binding.name, self.route) == (
            other.binding.name,
            other.route,
        )

    def __hash__(self) -> int:
        return hash((self.binding.name, self.route))

    async def connect(self) -> MqiConnection:
        """A new connection, its queues open. Raises ConnectError."""
        self._threads = [thread for thread in self._threads if thread.alive]
        if len(self._threads) >= MOST_LEFT_BEHIND:
            raise ConnectError(
                _NOT_AVAILABLE,
                f"{len(self._threads)} calls of the MQ client hang; it is tried again when one comes back",
            )
        thread = ThreadWorker(f"mqvitals-mq-{self.queue_manager}")
        self._threads.append(thread)
        stopping = threading.Event()
        try:
            conversation = await thread.run(lambda: self._converse(stopping))
        except BaseException as error:  # also when cancelled: what MQ still does in the thread is undone there
            stopping.set()
            thread.end()
            if isinstance(error, asyncio.CancelledError):
                self.leave_behind(thread)
            if isinstance(error, MqiError):
                failure = MqiFailure(error.comp, error.reason)
                raise ConnectError(failure, _details(error, self.route), call=error.call, queue=error.queue) from error
            if isinstance(error, SecretError):
                raise ConnectError(_NOT_AUTHORIZED, str(error)) from error
            if isinstance(error, RouteError):
                raise ConnectError(_CANNOT_BE_SAID, str(error)) from error
            raise
        return MqiConnection(self, conversation, thread, stopping, self._clock)

    def _converse(self, stopping: threading.Event) -> Conversation:
        link = self.binding.connect(self.route)
        try:
            conversation = Conversation(link, self.route, self._time, stopping.is_set, drain=self._drain)
        except BaseException:  # raised again; nobody else has the connection yet
            link.disconnect()
            raise
        if stopping.is_set():
            # The caller was cancelled meanwhile.
            conversation.close()
            raise StoppedError
        return conversation


class MqiConnection:
    """An open connection; ``MqiConnector.connect`` makes it."""

    def __init__(
        self,
        connector: MqiConnector,
        conversation: Conversation,
        thread: ThreadWorker,
        stopping: threading.Event,
        clock: Clock,
    ) -> None:
        self._connector = connector
        self._conversation = conversation
        self._thread = thread
        self._stopping = stopping
        self._clock = clock
        self._lost = False

    @property
    def identity(self) -> ConnectedQueueManager:
        """Who was reached."""
        return self._conversation.identity

    @property
    def platform(self) -> int:
        """What the queue manager runs on, ``MQPL_...``."""
        return self._conversation.identity.platform

    async def ask(self, query: Query, wait_ms: int) -> Exchange:
        """The answer to a request; as ``Connection.ask``. A call of MQ that hangs is left behind: 2009."""
        began, steady = self._clock.now(), self._clock.steady_s()
        if self._lost or self._stopping.is_set():
            return self._broken(query, began, steady)
        conversation = self._conversation
        asking = asyncio.ensure_future(self._thread.run(lambda: conversation.ask(query, wait_ms)))
        try:
            if not await self._ended(asking):
                self._lost = True
                self._connector.leave_behind(self._thread)
                return self._broken(query, began, steady)
            return asking.result()
        except StoppedError:
            return self._broken(query, began, steady)
        finally:
            if not asking.done():
                # The thread sees it at the end of its slice; nothing more is asked of this connection.
                self._stopping.set()
                asking.cancel()

    async def close(self) -> None:
        """Close the connection. Returns when MQ has disconnected; may be cancelled."""
        self._stopping.set()
        if not self._thread.alive:
            return
        try:
            await self._thread.run(self._conversation.close)
        finally:
            self._thread.end()

    async def _ended(self, asking: asyncio.Future[Exchange]) -> bool:
        """Wait until the thread is done with it; False when a call of MQ did not come back in time."""
        while True:
            beats = self._conversation.beats
            alarm = asyncio.ensure_future(self._clock.sleep(HUNG_MS))
            both: tuple[asyncio.Future[Any], ...] = (asking, alarm)
            try:
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            finally:
                alarm.cancel()
            if asking.done():
                return True
            if self._conversation.beats == beats:
                return False

    def _broken(self, query: Query, began: int, steady: float) -> Exchange:
        elapsed = round((self._clock.steady_s() - steady) * 1000)
        return Exchange(0, began, elapsed, self._connector.queue_manager, query.command, query.request, (), _BROKEN)


def _details(error: MqiError, route: CommandRoute) -> str:
    """A clause that adds to the reason's name; may be empty."""
    if error.detail:
        return f"{error.call} could not be made: {error.detail}"
    if error.reason == mq.MQRC_OBJECT_IN_USE and error.queue and error.queue == route.reply_queue:
        return f"the reply queue {route.reply_queue} is open elsewhere, and is for one agent alone"
    if error.call != "MQCONNX":
        return f"connected, but {error.call}{f' of {error.queue}' if error.queue else ''} failed"
    return ""
