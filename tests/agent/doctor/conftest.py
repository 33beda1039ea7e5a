"""Queue managers to examine: the simulated group with any fault, and connections that fail as the test wants."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest

from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.connection.connection import ConnectError, Exchange, MqiFailure, Query, Reply
from mqvitals_agent.connection.conversation import ConnectedQueueManager
from mqvitals_agent.doctor.access import ConnectionContext
from mqvitals_agent.doctor.diagnosis import diagnose, group_of
from mqvitals_agent.doctor.examination import examine, queries
from mqvitals_agent.doctor.finding import DoctorFinding
from mqvitals_agent.simulator.connector import SimulatedConnector
from mqvitals_agent.simulator.site import build
from mqvitals_agent.simulator.state import Fault, GroupState
from mqvitals_agent.threads import run_in_loop
from mqvitals_config.sections.collection import PollingSettings

BEGAN = 1795176000000  # 2026-11-20 12:00:00 UTC


@dataclass
class Standing:
    """A group that stays as it is."""

    group: GroupState = field(default_factory=lambda: build(BEGAN))

    def advance(self, now: int) -> GroupState:
        self.group.now = now
        return self.group


@dataclass
class Scripted:
    """A connector that cannot connect, or whose connection fails as told; else it speaks to the simulated QM01.

    ``put_fails`` is the reason with which requests end, from the ``after``-th on.
    """

    error: ConnectError | None = None
    hangs: bool = False
    put_fails: int = 0
    after: int = 0
    late: int = 0
    told: ConnectedQueueManager | None = None
    replies: Callable[[int, Exchange], Exchange] | None = None
    queue_manager: str = "QM01"
    asked: int = 0
    closed: int = 0
    inner: object = None
    clock: VirtualClock = field(default_factory=lambda: VirtualClock(BEGAN))

    async def connect(self) -> Scripted:
        if self.hangs:
            await asyncio.get_running_loop().create_future()
        if self.error is not None:
            raise self.error
        self.inner = await SimulatedConnector(Standing(), "QM01", self.clock).connect()
        return self

    @property
    def identity(self) -> ConnectedQueueManager | None:
        return self.told

    async def ask(self, query: Query, wait_ms: int) -> Exchange:
        command, request = query.command, query.request
        self.asked += 1
        if self.put_fails and self.asked > self.after:
            failure = MqiFailure(2, self.put_fails)
            return Exchange(0, BEGAN, 5, self.queue_manager, command, request, (), failure)
        exchange: Exchange = await self.inner.ask(query, wait_ms)  # type: ignore[attr-defined]
        if self.late:
            moved = tuple(
                Reply(each.encoding, each.ccsid, each.data, (each.put or 0) + self.late) for each in exchange.replies
            )
            exchange = Exchange(0, exchange.at, exchange.elapsed_ms, "QM01", command, request, moved, exchange.error)
        return exchange if self.replies is None else self.replies(command, exchange)

    async def close(self) -> None:
        self.closed += 1


Examine = Callable[..., list[DoctorFinding]]


@pytest.fixture
def script() -> type[Scripted]:
    """The class of scripted connectors."""
    return Scripted


@pytest.fixture
def examined() -> Examine:
    """Findings: ``examined(connector=..., known=ConnectionContext(...))``, or of the simulated QM01 with ``fault``."""

    def run(
        connector: object = None,
        *,
        fault: Fault | None = None,
        change: Callable[[GroupState], None] = lambda _: None,
        known: ConnectionContext | None = None,
        polling: PollingSettings | None = None,
    ) -> list[DoctorFinding]:
        clock = connector.clock if isinstance(connector, Scripted) else VirtualClock(BEGAN)
        if connector is None:
            world = Standing()
            change(world.group)
            if fault is not None:
                world.group.faults["QM01"] = fault
            connector = SimulatedConnector(world, "QM01", clock)
        asking: Sequence[object] = queries(polling or PollingSettings())
        seen = run_in_loop(examine(connector, asking, clock, 30_000), clock)  # type: ignore[arg-type]
        known = known or ConnectionContext()
        group = group_of(seen)
        return diagnose(seen, known if group is None else replace(known, group=group))

    return run
