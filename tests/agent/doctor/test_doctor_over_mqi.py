"""The doctor over connections through the MQI whose calls fail: which call, and about which queue, reaches the findings."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from mqvitals_agent.clock import SystemClock
from mqvitals_agent.connection.connection import ConnectError, Reply
from mqvitals_agent.connection.conversation import TimeSource
from mqvitals_agent.connection.link import Link, MqiError, OpenQueue, RequestDescriptor
from mqvitals_agent.connection.mqi_connector import MqiConnector
from mqvitals_agent.connection.route import CommandRoute
from mqvitals_agent.pcf import constants as mq


class Refusing:
    """A binding and its link, of which one call is refused; ``gets`` counts MQGETs."""

    name = "ibmmq"
    version = "0"

    def __init__(self, call: str, queue: str = "") -> None:
        self.call = call
        self.queue = queue
        self.gets = 0

    def shortcomings(self, route: CommandRoute) -> tuple[str, ...]:
        return ()

    def connect(self, route: CommandRoute) -> Link:
        self._may("MQCONNX")
        return self

    def inquire(self, selectors: Sequence[int]) -> dict[int, int | str]:
        self._may("MQINQ")
        told: dict[int, int | str] = {
            mq.MQCA_Q_MGR_NAME: "QM01",
            mq.MQCA_COMMAND_INPUT_Q_NAME: "SYSTEM.COMMAND.INPUT",
            mq.MQIA_PLATFORM: 1,
            mq.MQIA_COMMAND_LEVEL: 940,
        }
        return told

    def open_queue(self, name: str, options: int, dynamic_name: str = "") -> OpenQueue:
        if name == self.queue:
            self._may("MQOPEN")
        return OpenQueue(1, name)

    def put(self, queue: OpenQueue, message: bytes, request: RequestDescriptor) -> bytes:
        return bytes(24)

    def get(self, queue: OpenQueue, correlation_id: bytes | None, wait_ms: int, size: int, **_: bool) -> Reply:
        self.gets += 1
        self._may("MQGET")
        raise MqiError("MQGET", 2, 2033)

    def depth(self, queue: OpenQueue) -> int:
        return 0

    def browse(
        self, queue: OpenQueue, size: int, *, first: bool, format_: str, message_id: bytes | None = None
    ) -> Reply:
        raise MqiError("MQGET", 2, 2033)

    def commit(self) -> None:
        """Nothing was got."""

    def back_out(self) -> None:
        """Nothing was got."""

    def close(self, queue: OpenQueue) -> None:
        pass

    def disconnect(self) -> None:
        pass

    def _may(self, call: str) -> None:
        if call == self.call:
            raise MqiError(call, 2, 2035)


def connector(package: Refusing, *, drain: bool = True) -> MqiConnector:
    route = CommandRoute("QM01", reply_queue="MQVITALS.REPLY")
    return MqiConnector(package, route, SystemClock(), TimeSource(lambda: 0, lambda: 0), drain=drain)


@pytest.mark.parametrize(
    ("call", "queue"),
    [
        ("MQCONNX", ""),
        ("MQINQ", ""),
        ("MQOPEN", "SYSTEM.COMMAND.INPUT"),
        ("MQOPEN", "MQVITALS.REPLY"),
        ("MQGET", ""),
    ],
)
def test_the_call_that_failed_is_known(call: str, queue: str) -> None:
    """The error of a connect names it, and the queue of an open."""
    with pytest.raises(ConnectError) as caught:
        asyncio.run(connector(Refusing(call, queue)).connect())
    assert (caught.value.call, caught.value.queue) == (call, queue)
    assert caught.value.failure.reason == 2035


def test_nothing_is_taken_from_a_queue_that_an_agent_uses() -> None:
    """Without draining no message is got when connecting; with it, all are."""

    async def gets(*, drain: bool) -> int:
        package = Refusing("")
        connection = await connector(package, drain=drain).connect()
        await connection.close()
        return package.gets

    assert asyncio.run(gets(drain=False)) == 0
    assert asyncio.run(gets(drain=True)) == 1
