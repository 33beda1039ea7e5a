"""Living connections: one daemon thread each, which may hang."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from mqvitals_agent.clock import SystemClock
from mqvitals_agent.connection.connection import ConnectError, Query, Reply
from mqvitals_agent.connection.conversation import TimeSource
from mqvitals_agent.connection.link import Link, MqiError, OpenQueue, RequestDescriptor, RouteError
from mqvitals_agent.connection.mqi_connector import MOST_LEFT_BEHIND, MqiConnector
from mqvitals_agent.connection.route import CommandRoute
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import integer, request
from mqvitals_agent.simulator.answer import answer
from mqvitals_config.decoding.secret import SecretError

ASKED = request(mq.MQCMD_INQUIRE_Q, ())
REPLIES = answer("QM01", mq.MQCMD_INQUIRE_Q, [(integer(mq.MQIA_CURRENT_Q_DEPTH, 5),)], 1)


class Alarms(SystemClock):
    """A clock whose sleeps last until ``ring``; the time itself stands still."""

    def __init__(self) -> None:
        self._sleeping: list[asyncio.Event] = []
        self.begun = asyncio.Event()

    def now(self) -> int:
        return 1_700_000_000_000

    async def sleep(self, ms: float) -> None:
        event = asyncio.Event()
        self._sleeping.append(event)
        self.begun.set()
        await event.wait()

    def ring(self) -> None:
        while self._sleeping:
            self._sleeping.pop().set()
        self.begun.clear()


@dataclass
class Package:
    """A binding whose calls run functions of the test, in whatever thread they are made."""

    connecting: Callable[[], None] = lambda: None
    getting: Callable[[], None] = lambda: None
    name: str = "ibmmq"
    version: str = "0"
    threads: set[str] = field(default_factory=set)
    waiting: list[int] = field(default_factory=list)
    disconnected: threading.Event = field(default_factory=threading.Event)
    connected: int = 0

    def shortcomings(self, route: CommandRoute) -> tuple[str, ...]:
        return ()

    def connect(self, route: CommandRoute) -> Link:
        self.threads.add(threading.current_thread().name)
        self.waiting.append(threading.get_ident())
        self.connecting()
        self.connected += 1
        return Line(self)


@dataclass
class Line:
    package: Package
    place: int = 0

    def _here(self) -> None:
        self.package.threads.add(threading.current_thread().name)

    def inquire(self, selectors: Sequence[int]) -> dict[int, int | str]:
        self._here()
        return dict.fromkeys(selectors, 1)

    def open_queue(self, name: str, options: int, dynamic_name: str = "") -> OpenQueue:
        self._here()
        return OpenQueue(1, name)

    def put(self, queue: OpenQueue, message: bytes, asked: RequestDescriptor) -> bytes:
        self._here()
        self.place = 0
        return bytes(24)

    def get(self, queue: OpenQueue, correlation_id: bytes | None, wait_ms: int, size: int, **_: bool) -> Reply:
        self._here()
        self.package.getting()
        self.place += 1
        return Reply(785, 500, REPLIES[self.place - 1], None)

    def depth(self, queue: OpenQueue) -> int:
        self._here()
        return 0

    def browse(
        self, queue: OpenQueue, size: int, *, first: bool, format_: str, message_id: bytes | None = None
    ) -> Reply:
        raise MqiError("MQGET", 2, 2033)

    def commit(self) -> None:
        self._here()

    def back_out(self) -> None:
        self._here()

    def close(self, queue: OpenQueue) -> None:
        self._here()

    def disconnect(self) -> None:
        self._here()
        self.package.disconnected.set()


def connector(package: Package, clock: Alarms) -> MqiConnector:
    return MqiConnector(package, CommandRoute("QM01"), clock, TimeSource(clock.now, lambda: 0))


async def test_every_call_is_made_in_one_thread_that_is_not_ours() -> None:
    """A connection handle is dead in any other thread."""
    package = Package()
    connection = await connector(package, Alarms()).connect()
    exchange = await connection.ask(Query(mq.MQCMD_INQUIRE_Q, ASKED), 1000)
    assert [reply.data for reply in exchange.replies] == list(REPLIES)
    await connection.close()
    assert package.disconnected.is_set()
    assert package.threads == {"mqvitals-mq-QM01"}


async def test_a_refused_connection_is_a_connect_error() -> None:
    """With the MQI's own reason, and no thread left."""

    def refuse() -> None:
        raise MqiError("MQCONNX", 2, 2059)

    before = threading.active_count()
    with pytest.raises(ConnectError) as failed:
        await connector(Package(connecting=refuse), Alarms()).connect()
    assert failed.value.failure == (2, 2059)
    await _until(lambda: threading.active_count() == before)


async def test_a_password_that_cannot_be_read_is_told_without_asking_mq() -> None:
    """It is a mistake of the set-up, and says where the password should be."""

    def unreadable() -> None:
        raise SecretError("the secret in file /pw cannot be read, or is not UTF-8 text")

    with pytest.raises(ConnectError, match="file /pw") as failed:
        await connector(Package(connecting=unreadable), Alarms()).connect()
    assert failed.value.failure.reason == 2035


async def test_a_route_that_mq_cannot_take_is_told() -> None:
    """It says what does not fit, instead of a traceback."""

    def too_long() -> None:
        raise RouteError("the cipher is 33 bytes long, and MQ takes 32")

    with pytest.raises(ConnectError, match="the cipher is 33 bytes long") as failed:
        await connector(Package(connecting=too_long), Alarms()).connect()
    assert failed.value.failure == (2, 2277)


async def test_what_a_package_says_is_told() -> None:
    """A call that it could not make at all has no reason of MQ's own."""

    def wrong() -> None:
        raise MqiError("MQCONNX", 2, 2195, detail="MQCD wrong size")

    with pytest.raises(ConnectError, match="MQCONNX could not be made: MQCD wrong size"):
        await connector(Package(connecting=wrong), Alarms()).connect()


async def test_a_reply_queue_in_use_is_named() -> None:
    """2042 alone would not say which queue, nor why."""

    class Busy(Package):
        def connect(self, route: CommandRoute) -> Link:
            return BusyLine(self)

    class BusyLine(Line):
        def open_queue(self, name: str, options: int, dynamic_name: str = "") -> OpenQueue:
            if name == "MQVITALS.REPLY":
                raise MqiError("MQOPEN", 2, 2042)
            return OpenQueue(1, name)

    package = Busy()
    clock = Alarms()
    one = MqiConnector(
        package, CommandRoute("QM01", reply_queue="MQVITALS.REPLY"), clock, TimeSource(clock.now, lambda: 0)
    )
    with pytest.raises(ConnectError, match=r"MQVITALS\.REPLY is open elsewhere"):
        await one.connect()
    assert package.disconnected.is_set()


async def test_a_call_that_hangs_is_left_behind_and_counted() -> None:
    """The asking ends with 2009 when a call is away longer than any wait lasts; the thread closes when it comes back."""
    release = threading.Event()
    package = Package(getting=lambda: _wait(release))
    clock = Alarms()
    one = connector(package, clock)
    connection = await one.connect()
    asking = asyncio.ensure_future(connection.ask(Query(mq.MQCMD_INQUIRE_Q, ASKED), 30_000))
    await clock.begun.wait()
    await _until(lambda: connection._conversation.beats == 1)
    clock.ring()
    await clock.begun.wait()
    assert not asking.done()
    clock.ring()
    exchange = await asking
    assert exchange.error == (2, 2009)
    assert one.calls == (1, 1)
    closing = asyncio.ensure_future(connection.close())
    await asyncio.sleep(0)
    closing.cancel()
    release.set()
    assert await asyncio.to_thread(package.disconnected.wait, 5)
    await _until(lambda: one.calls == (1, 0))


async def test_a_connection_that_was_lost_asks_no_more() -> None:
    """The next command is answered with 2009 at once."""
    release = threading.Event()
    package = Package(getting=lambda: _wait(release))
    clock = Alarms()
    connection = await connector(package, clock).connect()
    asking = asyncio.ensure_future(connection.ask(Query(mq.MQCMD_INQUIRE_Q, ASKED), 30_000))
    await clock.begun.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    exchange = await connection.ask(Query(mq.MQCMD_INQUIRE_Q, ASKED), 30_000)
    assert exchange.error == (2, 2009)
    release.set()
    await connection.close()
    assert package.disconnected.is_set()


async def test_connecting_that_is_given_up_undoes_itself() -> None:
    """What MQ opens after nobody waits any more is closed in its thread."""
    release = threading.Event()
    package = Package(connecting=lambda: _wait(release))
    one = connector(package, Alarms())
    connecting = asyncio.ensure_future(one.connect())
    await _until(lambda: bool(package.threads))
    connecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await connecting
    assert not package.disconnected.is_set()
    assert one.calls == (1, 1)
    release.set()
    assert await asyncio.to_thread(package.disconnected.wait, 5)


async def test_no_more_threads_than_so_many_hang() -> None:
    """Then connecting says why, until one comes back."""
    release = threading.Event()
    package = Package(connecting=lambda: _wait(release))
    one = connector(package, Alarms())
    for count in range(MOST_LEFT_BEHIND):
        connecting = asyncio.ensure_future(one.connect())
        await _until(lambda: len(package.waiting) == count + 1)  # noqa: B023 - used before the next round
        connecting.cancel()
    with pytest.raises(ConnectError, match="8 calls of the MQ client hang"):
        await one.connect()
    release.set()
    await _until(lambda: not any(t.name == "mqvitals-mq-QM01" for t in threading.enumerate()))
    connection = await one.connect()
    await connection.close()


def test_connectors_by_the_same_way_are_equal() -> None:
    """A reload keeps the connection of a queue manager whose settings did not change."""
    clock, time = Alarms(), TimeSource(lambda: 0, lambda: 0)
    assert MqiConnector(Package(), CommandRoute("QM01"), clock, time) == MqiConnector(
        Package(), CommandRoute("QM01"), clock, time
    )
    other = CommandRoute("QM01", channel="OTHER")
    assert MqiConnector(Package(), CommandRoute("QM01"), clock, time) != MqiConnector(Package(), other, clock, time)


def _wait(event: threading.Event) -> None:
    assert event.wait(20)


async def _until(true: Callable[[], bool]) -> None:
    """Threads are real here: look until it is so, for ten seconds at most."""
    async with asyncio.timeout(10):
        while not true():  # noqa: ASYNC110 - what is waited for happens in other threads
            await asyncio.sleep(0.001)
