"""The units of work of a simulated queue manager, asked of its own command server, and their JSON."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.connection.connection import Exchange, Query
from mqvitals_agent.simulator.connector import connectors
from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.scenario import load_scenario
from mqvitals_agent.threads import run_in_loop
from mqvitals_agent.who.holder import UnitsOfWork, to_json, units_from_json
from mqvitals_agent.who.query import ask_units_of_work
from mqvitals_rules.snapshot import ObjectName

BEGAN = 1_795_176_000_000
LATER = BEGAN + 600_000


async def units(clock: VirtualClock, world: SimulatedGroup, *queue_managers: str) -> UnitsOfWork:
    connections = {each.queue_manager: await each.connect() for each in connectors(world, clock)}

    async def put(queue_manager: str, build: Callable[[str], Query]) -> Exchange:
        return await connections[queue_manager].ask(build(""), 10_000)

    return await ask_units_of_work(ObjectName("QM01", "queue_manager"), queue_managers, put, clock)


def test_units_of_work_are_listed_by_age() -> None:
    """Only connections that have one, the oldest in the log first; every field comes from the bytes of the answer."""
    clock, world = VirtualClock(LATER), SimulatedGroup(load_scenario("quiet"), BEGAN)
    world.advance(LATER)
    found = run_in_loop(units(clock, world, "QM01", "QM02"), clock)
    assert [member.queue_manager for member in found.members] == ["QM01", "QM02"]
    for member in found.members:
        assert (member.problem, member.notes) == ("", ())
        logged = [each.unit_of_work.log_began for each in member.units if each.unit_of_work]
        assert logged
        assert logged == sorted(logged)
        assert all(each.application and each.user and each.identifier for each in member.units)
        assert all(each.unit_of_work and each.unit_of_work.id for each in member.units)
    assert units_from_json(to_json(found)) == found


def test_no_answer_of_an_earlier_release_is_taken_for_units() -> None:
    with pytest.raises(ValueError, match="lacks some of"):
        units_from_json('{"queue":["QM01","queue","A"],"members":[]}')
