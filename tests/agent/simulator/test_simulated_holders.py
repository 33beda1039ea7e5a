"""Who has the simulated queues open agrees with everything else that the queue managers tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from mqsamples.pairs import alone
from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.connection.connection import Exchange, Query
from mqvitals_agent.simulator.applications import ApplicationKind, QueueHolder, all_holders, holders, open_counts
from mqvitals_agent.simulator.connector import connectors
from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.scenario import SCENARIOS, IncidentKind, Scenario, ScenarioIncident, load_scenario
from mqvitals_agent.simulator.state import GroupState, MemberState
from mqvitals_agent.who.holder import Holders
from mqvitals_agent.who.query import ask_holders
from mqvitals_rules.snapshot import ObjectName

BEGAN = 1_795_176_000_000
S = 1000


def after(name: str, seconds: int, seed: int = 1) -> SimulatedGroup:
    """A simulation some seconds into a scenario."""
    simulation = SimulatedGroup(load_scenario(name), BEGAN, seed=seed, queues=60, channels=10)
    simulation.advance(BEGAN + seconds * S)
    return simulation


def all_reported(group: GroupState) -> dict[str, tuple[QueueHolder, ...]]:
    """All handles, by member."""
    return {name: tuple(all_holders(group, member)) for name, member in group.members.items()}


def running(member: MemberState) -> set[tuple[str, str]]:
    """Channels and the partners of their instances."""
    return {
        (channel.name, instance.connection_name)
        for channel in member.channels.values()
        for instance in channel.instances
    }


@pytest.mark.parametrize("seed", alone(1, 2, 77))
@pytest.mark.parametrize("name", SCENARIOS)
def test_as_many_as_are_counted(name: str, seed: int) -> None:
    """Each queue has as many handles for input and output as are counted, each of one connection; channels that run only."""
    simulation = after(name, 1, seed)
    for seconds in (1, 45, 100, 180, 230):
        group = simulation.advance(BEGAN + seconds * S)
        for member in group.members.values():
            counted: Counter[tuple[str, bool]] = Counter()
            for queue in (*member.queues.values(), *group.shared_queues.values()):
                inputs, outputs = open_counts(queue, member)
                counted.update({(queue.name, True): inputs, (queue.name, False): outputs})
            found = list(all_holders(group, member))
            assert Counter((each.queue, each.gets) for each in found) == +counted
            assert all(each.puts != each.gets for each in found)
            assert len({each.application.identifier for each in found}) == len(found)
            through = {(each.application.channel, each.application.connection_name) for each in found}
            assert through - {("", "")} <= running(member)
            assert all(
                (each.application.kind is ApplicationKind.CHINIT) == bool(each.application.channel) for each in found
            )


def test_the_same_whoever_asks_and_however_often() -> None:
    """A group that was asked every second and one that was not report the same holders; another seed reports others."""
    looked, other = after("busy-morning", 1, 5), after("busy-morning", 1, 5)
    for seconds in range(2, 90):
        all_reported(looked.advance(BEGAN + seconds * S))
    reported = all_reported(other.advance(BEGAN + 89 * S))
    assert all_reported(looked.group) == reported == all_reported(other.group)
    assert {each.application.identifier for each in reported["QM01"]}.isdisjoint(
        each.application.identifier for each in all_reported(after("busy-morning", 89, 6).group)["QM01"]
    )


def test_who_they_are_does_not_change() -> None:
    """From second to second the same applications have a queue open: only their units of work and calls change."""
    simulation = after("quiet", 5)
    seen = set()
    for seconds in range(6, 40):
        group = simulation.advance(BEGAN + seconds * S)
        seen.add(tuple(replace(each, active=False, unit_began=None) for each in all_reported(group)["QM01"]))
    assert len(seen) == 1


def test_a_channel_reads_its_transmission_queue() -> None:
    """The handle is the channel initiator's, names the channel and its partner, and nobody else may get meanwhile."""
    simulation = after("quiet", 60)
    member = simulation.group.members["QM01"]
    reader, *writers = holders(simulation.group, member, member.queues["QM02"])
    assert (reader.application.name, reader.application.kind, reader.exclusive) == (
        "QM01CHIN",
        ApplicationKind.CHINIT,
        True,
    )
    assert (reader.application.channel, reader.application.connection_name) == ("TO.QM02", "10.20.0.12(1414)")
    assert all(each.puts and each.application.kind is not ApplicationKind.CHINIT for each in writers)


def test_who_comes_through_channels() -> None:
    """Other queue managers put through receivers, clients put requests and get replies through their channel."""
    group = after("quiet", 60).group
    member = group.members["QM01"]

    def channels(queue: str, *, gets: bool) -> set[str]:
        found = holders(group, member, member.queues[queue])
        return {each.application.channel for each in found if each.gets is gets}

    assert channels("REMOTE.IN", gets=False) == {"TO.QM01"}
    assert channels("ORDERS.REQUEST", gets=False) == {"CLIENTS.ORDERS"}
    assert channels("ORDERS.REPLY", gets=True) == {"CLIENTS.ORDERS"}
    assert channels("ORDERS.REQUEST", gets=True) == {""}


@pytest.mark.parametrize("ended", ["channel initiator", "instances"])
def test_nobody_comes_through_a_channel_that_does_not_run(ended: str) -> None:
    """The handles are as many as before, and all of them local."""
    group = after("quiet", 60).group
    member = group.members["QM01"]
    before = len(all_reported(group)["QM01"])
    if ended == "instances":
        for channel in member.channels.values():
            for instance in channel.instances:
                instance.status = "RETRYING"
    else:
        member.chinit_running = False
    found = all_reported(group)["QM01"]
    assert len(found) == before
    assert {each.application.channel for each in found} == {""}


def test_the_command_server_reads_its_queue() -> None:
    """It belongs to the queue manager, and reads alone."""
    group = after("quiet", 60).group
    member = group.members["QM03"]
    (reader,) = holders(group, member, member.queues["SYSTEM.COMMAND.INPUT"])
    assert (reader.application.name, reader.application.kind, reader.exclusive) == (
        "QM03MSTR",
        ApplicationKind.SYSTEM,
        True,
    )


def test_names_fit_and_all_kinds_are_there() -> None:
    """Names are as long as z/OS allows, and the site shows every kind of application."""
    group = after("quiet", 60).group
    found = [each.application for reported in all_reported(group).values() for each in reported]
    assert {each.kind for each in found} == set(ApplicationKind)
    for each in found:
        assert 1 <= len(each.name) <= 8
        assert len(each.user) <= 12
        assert len(each.asid) == 4
        assert len(each.identifier) == 8
        assert len(each.transaction) == (4 if each.kind is ApplicationKind.CICS else 0)
        assert bool(each.task) == (each.kind is ApplicationKind.CICS)
        assert bool(each.psb) == bool(each.region) == (each.kind is ApplicationKind.IMS)


def test_a_stuck_consumer_holds_a_unit_of_work() -> None:
    """While its consumer is too slow one handle of the queue keeps a unit of work, ever older, and the queue says UNCOM YES."""
    simulation = after("buffer-pool-thrash", 59)
    began = set()
    for seconds in range(62, 240, 10):
        group = simulation.advance(BEGAN + seconds * S)
        member = group.members["QM01"]
        queue = member.queues["ORDERS.REQUEST"]
        stuck, *others = holders(group, member, queue)
        assert (stuck.gets, stuck.active, queue.uncommitted) == (True, False, 1)
        assert all(each.unit_began is None or each.unit_began > group.now - 5 * S for each in others)
        began.add(stuck.unit_began)
    (moment,) = began
    assert moment is not None
    assert abs(moment - (BEGAN + 60 * S)) <= 2 * S
    group = simulation.advance(BEGAN + 250 * S)
    queue = group.members["QM01"].queues["ORDERS.REQUEST"]
    assert (queue.held_since, queue.uncommitted) == (None, 0)


def test_of_a_shared_queue_one_member_holds() -> None:
    """The stuck consumer of a shared queue is at one queue manager alone."""
    stuck = ScenarioIncident(10 * S, 600 * S, IncidentKind.SLOW_CONSUMER, "PRDQ/APPL1.ORDERS", 0.01)
    group = SimulatedGroup(Scenario("stuck", 3_600 * S, (stuck,)), BEGAN).advance(BEGAN + 300 * S)
    queue = group.shared_queues["APPL1.ORDERS"]
    old = [
        name
        for name, member in group.members.items()
        for each in holders(group, member, queue)
        if each.unit_began is not None and each.unit_began < group.now - 60 * S
    ]
    assert old == ["QM01"]


def test_units_of_work_come_and_go() -> None:
    """On busy queues some connections have a short unit of work and some none, and a unit is never later than now."""
    simulation = after("quiet", 30)
    began = [
        (each.unit_began, group.now)
        for group in (simulation.advance(BEGAN + seconds * S) for seconds in range(31, 50))
        for each in all_reported(group)["QM01"]
    ]
    under_way = [(unit, now) for unit, now in began if unit is not None]
    assert 0 < len(under_way) < len(began)
    assert all(now - 5 * S < unit <= now for unit, now in under_way)


def test_who_holds_a_message_that_nobody_commits() -> None:
    """A queue that holds messages and gives none away: its getter has a unit of work since the last one it gave."""
    group = after("quiet", 180).group
    member = group.members["QM01"]
    queue = member.queues["ORDERS.REQUEST"]
    queue.depth, queue.last_get = 40, group.now - 500_000
    assert holders(group, member, queue)[0].unit_began == queue.last_get
    queue.depth = 0
    assert holders(group, member, queue)[0].unit_began is None


def test_a_channel_in_doubt_holds_a_unit_of_work() -> None:
    """The channel that waits for its partner's word has had one since its last message."""
    group = after("quiet", 180).group
    member = group.members["QM01"]
    instance = member.channels["TO.PARTNER"].instances[0]
    instance.indoubt, instance.last_message = True, group.now - 700_000
    assert holders(group, member, member.queues["PARTNER"])[0].unit_began == instance.last_message


def test_held_units_come_round_with_the_scenario() -> None:
    """Rounds that are added move the beginning of a unit of work that lasts, as simulating them does."""
    stuck = ScenarioIncident(5 * S, 15 * S, IncidentKind.SLOW_CONSUMER, "QM01/PAYMENTS.IN", 0.01)
    scenario = Scenario("round", 20 * S, (stuck,))
    looks = (115, 155, 195)
    held = [
        SimulatedGroup(scenario, BEGAN).advance(BEGAN + look * S).members["QM01"].queues["PAYMENTS.IN"].held_since
        for look in looks
    ]
    assert held == [BEGAN + moment * S for moment in (105, 145, 185)]


async def asked(simulation: SimulatedGroup, queue: ObjectName, members: list[str]) -> Holders:
    """The way of the product: over connections, in EBCDIC."""
    clock = VirtualClock(simulation.group.now)
    links = {each.queue_manager: await each.connect() for each in connectors(simulation, clock)}

    async def put(queue_manager: str, build: Callable[[str], Query]) -> Exchange:
        return await links[queue_manager].ask(build(""), 10_000)

    return await ask_holders(queue, members, put, clock)


async def test_the_product_finds_every_holder_and_its_connection() -> None:
    """Private and shared queues, transmission queues too: as many as counted, each with its connection, without a note."""
    simulation = after("quiet", 720)
    group = simulation.group
    queues = group.members["QM01"].queues
    seen = channels = 0
    for name, queue in list(queues.items())[:25]:
        reported = await asked(simulation, ObjectName("QM01", "queue", name), ["QM01"])
        (member,) = reported.members
        assert len(member.holders) == queue.input_handles + queue.output_handles
        assert (member.problem, member.notes) == ("", ())
        for holder in member.holders:
            assert holder.connection is not None
            if holder.channel:
                assert holder.instance is not None
                assert (holder.instance.status, holder.instance.count) == ("RUNNING", 1)
                channels += 1
            else:
                assert holder.connection.count == 1
        seen += len(member.holders)
    assert channels < seen
    assert channels
    shared = await asked(simulation, ObjectName("PRDQSG", "queue", "APPL1.ORDERS"), list(group.members))
    assert [len(each.holders) for each in shared.members] == [
        sum(each.shared_handles["APPL1.ORDERS"]) for each in group.members.values()
    ]


async def test_the_product_shows_the_old_unit_of_work() -> None:
    """The holders of the filling queue show since when one does not commit, in local time."""
    simulation = after("buffer-pool-thrash", 200)
    reported = await asked(simulation, ObjectName("QM01", "queue", "ORDERS.REQUEST"), ["QM01"])
    units = {
        (each.connection.unit_of_work.state, each.connection.unit_of_work.began)
        for each in reported.members[0].holders
        if each.input == "SHARED" and each.connection and each.connection.unit_of_work
    }
    # The scenario begins at 12:00:00 UTC, which is 13.00.00 there, and the trouble a minute later.
    assert ("ACTIVE", "2026-11-20 13.01.01") in units or ("ACTIVE", "2026-11-20 13.01.00") in units
