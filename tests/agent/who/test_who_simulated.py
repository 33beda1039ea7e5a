"""Who has the queues of a simulated group open, asked of its own command servers."""

from __future__ import annotations

from collections.abc import Callable

from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.connection.connection import Exchange, Query
from mqvitals_agent.simulator.connector import connectors
from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.scenario import load_scenario
from mqvitals_agent.threads import run_in_loop
from mqvitals_agent.who.holder import Holders, from_json, to_json
from mqvitals_agent.who.query import ask_holders
from mqvitals_rules.snapshot import ObjectName

BEGAN = 1_795_176_000_000
LATER = BEGAN + 600_000


async def who(clock: VirtualClock, world: SimulatedGroup, queue: ObjectName, *queue_managers: str) -> Holders:
    """Ask queue managers, each over its own connection."""
    connections = {each.queue_manager: await each.connect() for each in connectors(world, clock)}

    async def put(queue_manager: str, build: Callable[[str], Query]) -> Exchange:
        return await connections[queue_manager].ask(build(""), 10_000)

    return await ask_holders(queue, queue_managers, put, clock)


def test_every_handle_of_every_queue() -> None:
    """As many handles as the queue manager counts, each with a connection, and those of channels with an instance."""
    clock, world = VirtualClock(LATER), SimulatedGroup(load_scenario("quiet"), BEGAN)
    group = world.advance(LATER)
    seen = channels = 0
    for name, queue in group.members["QM01"].queues.items():
        counted = queue.input_handles + queue.output_handles
        holders = run_in_loop(who(clock, world, ObjectName("QM01", "queue", name), "QM01"), clock)
        (member,) = holders.members
        assert (member.problem, member.notes) == ("", ())
        assert len(member.holders) == counted
        assert all(each.application and each.state for each in member.holders)
        assert all(each.connection is not None and each.connection.count for each in member.holders)
        assert all(each.instance is not None for each in member.holders if each.channel)
        assert from_json(to_json(holders)) == holders
        seen += counted
        channels += sum(bool(each.channel) for each in member.holders)
    assert seen
    assert channels


def test_a_shared_queue() -> None:
    """Every member tells its own handles of a shared queue."""
    clock, world = VirtualClock(LATER), SimulatedGroup(load_scenario("quiet"), BEGAN)
    group = world.advance(LATER)
    seen = 0
    for name in group.shared_queues:
        found = run_in_loop(who(clock, world, ObjectName("PRDQSG", "queue", name), *group.members), clock)
        for member in found.members:
            assert member.problem == ""
            counted = sum(group.members[member.queue_manager].shared_handles.get(name, (0, 0)))
            assert len(member.holders) == counted
            seen += counted
    assert seen


def test_a_queue_that_is_not_there() -> None:
    """Nobody has it open, and it is said that there is none."""
    clock, world = VirtualClock(LATER), SimulatedGroup(load_scenario("quiet"), BEGAN)
    (member,) = run_in_loop(who(clock, world, ObjectName("QM01", "queue", "NO.SUCH.QUEUE"), "QM01"), clock).members
    assert (member.holders, member.problem) == ((), "")
