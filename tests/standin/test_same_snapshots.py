"""One set of questions over three ways, the simulation itself and both real bindings: the snapshots are the same."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace

import pytest
from mqstandin.library import Bindings
from mqstandin.server import stand_in

from mqvitals_agent.clock import Clock, VirtualClock
from mqvitals_agent.connection.connection import Exchange, Reply
from mqvitals_agent.poll.collector import Collector
from mqvitals_agent.poll.queries import zos_queries
from mqvitals_agent.simulator.connector import connectors
from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.scenario import load_scenario
from mqvitals_agent.threads import run_in_loop
from mqvitals_config.sections.collection import PollingSettings
from mqvitals_rules.snapshot import Reading, Snapshot

BEGAN = 1795176000000  # 2026-11-20 12:00:00 UTC
MOMENT = BEGAN + 90_000
NAMES = ("QM01", "QM02", "QM03", "QM04")

ASK = """
import asyncio, pickle, sys, time
from mqvitals_agent.clock import SystemClock
from mqvitals_agent.connection.conversation import TimeSource
from mqvitals_agent.connection.mqi import load_binding
from mqvitals_agent.connection.mqi_connector import MqiConnector
from mqvitals_agent.connection.route import CommandRoute
from mqvitals_agent.poll.queries import zos_queries
from mqvitals_config.sections.collection import PollingSettings

binding, reply_queue, *pairs = sys.argv[1:]
clock = SystemClock()
ticks = TimeSource(clock.now, lambda: time.monotonic_ns() // 1_000_000)

async def ask():
    found = []
    for pair in pairs:
        name, _, address = pair.partition("=")
        route = CommandRoute(name, "MQVITALS.SVRCONN", address, reply_queue=reply_queue)
        connection = await MqiConnector(load_binding(binding), route, clock, ticks).connect()
        for each in zos_queries(PollingSettings(), ("QM04",) if name == "QM01" else ()):
            found.append(await connection.ask(each, 5000))
        await connection.close()
    return found

sys.stdout.buffer.write(pickle.dumps(asyncio.run(ask())))
"""


def world() -> SimulatedGroup:
    """The same group at the same moment."""
    return SimulatedGroup(load_scenario("busy-morning"), BEGAN, seed=3, queues=200, channels=40)


async def simulated(clock: Clock) -> list[Exchange]:
    """What the simulation answers when it is asked directly; of QM04 only what QM01 tells of it."""
    found = []
    for each in connectors(world(), clock):
        if each.queue_manager != "QM04":
            connection = await each.connect()
            asked = zos_queries(PollingSettings(), ("QM04",) if each.queue_manager == "QM01" else ())
            found += [await connection.ask(errand, 5000) for errand in asked]
    return found


def collected(exchanges: Iterable[Exchange]) -> list[Snapshot]:
    """The snapshots of one cycle, as if every command had been put and answered at the same moment."""
    collector = Collector("PRDQSG", NAMES)
    for each in exchanges:
        replies = tuple(Reply(reply.encoding, reply.ccsid, reply.data, MOMENT) for reply in each.replies)
        collector.feed(replace(each, at=MOMENT, elapsed_ms=5, replies=replies, answer=None))
    return list(collector.end_cycle(1))


def told(readings: Iterable[Reading]) -> list[tuple[str, str, dict[str, object]]]:
    """What readings say, in an order of its own, so that a difference can be read."""
    return sorted((str(each.object), each.probe, dict(each.values)) for each in readings)


@pytest.mark.parametrize("reply_queue", ["MQVITALS.REPLY", ""])
@pytest.mark.parametrize("binding", ["ibmmq", "pymqi"])
def test_snapshots_are_the_same_over_every_way(bindings: Bindings, binding: str, reply_queue: str) -> None:
    """Three members asked themselves, the fourth by command scope, over a permanent and over a dynamic reply queue."""
    bindings.require(binding)
    with stand_in(world=world(), clock=lambda: MOMENT) as group:
        environment = bindings.environment(binding)
        environment["PYTHONPATH"] += os.pathsep + os.pathsep.join(sys.path)
        pairs = [f"{name}={group.address(name)}" for name in NAMES[:3]]
        words = [sys.executable, "-c", ASK, binding, reply_queue, *pairs]
        ended = subprocess.run(words, env=environment, capture_output=True, timeout=100, check=False)
        assert ended.returncode == 0, ended.stderr.decode()
        state = group.at("QM01").state()
    living = pickle.loads(ended.stdout)
    assert [each.error for each in living] == [None] * len(living)
    clock = VirtualClock(MOMENT)
    expected, found = collected(run_in_loop(simulated(clock), clock)), collected(living)
    assert [each.owner for each in found] == [each.owner for each in expected] == [*NAMES, "PRDQSG"]
    for one, other in zip(expected, found, strict=True):
        assert told(one.readings) == told(other.readings)
        assert one.readings
    assert any(each.object.owner == "QM04" and each.object.kind == "queue" for each in found[3].readings)
    assert state["violations"] == []
    assert (state["connections"], state["handles"]) == (0, 0)
