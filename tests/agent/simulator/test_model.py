"""The simulated group in motion: messages are conserved, pools obey their thresholds, batches take the documented time."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mqsamples.examples import COSTLY, VERY_COSTLY
from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.repetition import Repetition
from mqvitals_agent.simulator.scenario import (
    SCENARIOS,
    IncidentKind,
    Scenario,
    ScenarioError,
    ScenarioIncident,
    load_scenario,
)
from mqvitals_agent.simulator.state import GroupState, QueueState
from mqvitals_agent.simulator.traffic import achieved, batch_us, capacity

BEGIN = 1_763_700_000_000
S = 1000
BRIEFLY = ("quiet", "busy-morning")
"""Scenarios without and with incidents that `make test` plays where all of them take long."""


def simulated(*incidents: ScenarioIncident, length: int = 3_600_000, **options: Any) -> SimulatedGroup:
    return SimulatedGroup(Scenario("test", length, incidents), BEGIN, **options)


def incident(
    what: IncidentKind, name: str, value: float = 0, *, at: int = 10, lasts: int = 60, command: str = ""
) -> ScenarioIncident:
    return ScenarioIncident(at * S, lasts * S, what, name, value, command)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=5), st.sampled_from(SCENARIOS), st.integers(0, 99))
@settings(max_examples=15)
def test_no_message_is_made_or_lost(pauses: list[int], name: str, seed: int) -> None:
    """Of every queue, over any interval, the depth changes by what was put less what was got."""
    simulation = SimulatedGroup(load_scenario(name), BEGIN, seed=seed)
    now = BEGIN
    for pause in pauses:
        now += pause * S
        group = simulation.advance(now)
        queues = [queue for member in group.members.values() for queue in member.queues.values()]
        for queue in (*queues, *group.shared_queues.values()):
            assert queue.depth == queue.put_total - queue.got_total >= 0
            assert (queue.oldest_put is None) == (queue.depth == 0)


@given(st.lists(st.integers(BEGIN, BEGIN + 90 * S), max_size=8))
@settings(max_examples=5)
def test_requests_in_between_change_nothing(looks: list[int]) -> None:
    """The same scenario, seed and moment give the same group, whatever was asked before."""
    one, other = (SimulatedGroup(load_scenario("busy-morning"), BEGIN, seed=7) for _ in range(2))
    for now in sorted(looks):
        one.advance(now)
    assert one.advance(BEGIN + 90 * S) == other.advance(BEGIN + 90 * S)


def handles(group: GroupState) -> dict[str, tuple[int, int]]:
    """The open handles of input and output, by queue."""
    own = {
        f"{member.name}/{name}": (queue.input_handles, queue.output_handles)
        for member in group.members.values()
        for name, queue in member.queues.items()
    }
    shared = {
        f"{member.name}/{name}": pair
        for member in group.members.values()
        for name, pair in member.shared_handles.items()
    }
    return own | shared


@pytest.mark.parametrize("name", SCENARIOS)
def test_who_is_there_had_the_queues_open_before_the_first_second(name: str) -> None:
    """A first poll that is sooner than the first second sees nobody come: no use of a queue is news."""
    scenario = load_scenario(name)
    simulation = SimulatedGroup(scenario, BEGIN)
    before = handles(simulation.group)
    assert any(inputs for inputs, _ in before.values())
    assert before == handles(simulation.advance(BEGIN + scenario.step))


def test_an_operator_alters_batchsz_and_a_page_set_expands() -> None:
    """BATCHSZ has its time of alteration, and is as before at the end; a page set keeps what it got, once."""
    simulation = simulated(
        incident(IncidentKind.BATCH_SIZE, "QM01/TO.QM02", 5, at=10, lasts=30),
        incident(IncidentKind.EXPANSION, "QM01/3", 2_000, at=20, lasts=30),
    )
    before = simulation.advance(BEGIN + 5 * S).members["QM01"]
    usual, pages = before.channels["TO.QM02"].batch_size, before.page_sets[3].total
    during = simulation.advance(BEGIN + 30 * S).members["QM01"]
    assert (during.channels["TO.QM02"].batch_size, during.channels["TO.QM02"].altered) == (5, BEGIN + 10 * S)
    assert (during.page_sets[3].total, during.page_sets[3].expand_count) == (pages + 2_000, 1)
    after = simulation.advance(BEGIN + 90 * S).members["QM01"]
    assert after.channels["TO.QM02"].batch_size == usual
    assert (after.page_sets[3].total, after.page_sets[3].expand_count) == (pages + 2_000, 1)


@pytest.mark.parametrize(
    ("what", "name"), [(IncidentKind.BATCH_SIZE, "QM01/NONE"), (IncidentKind.EXPANSION, "QM01/99")]
)
def test_what_an_object_cannot_have_is_refused(what: IncidentKind, name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} cannot have the incident {what.value}"):
        simulated(incident(what, name, 5)).advance(BEGIN + 30 * S)


INCIDENTS = st.builds(
    lambda what, name, value, at, lasts: ScenarioIncident(at * S, lasts * S, what, name, value),
    st.sampled_from([IncidentKind.SLOW_CONSUMER, IncidentKind.ARRIVALS, IncidentKind.CONSUMER_GONE]),
    st.sampled_from(["QM01/ORDERS.REQUEST", "QM02/PAYMENTS.IN", "PRDQ/APPL1.ORDERS"]),
    st.sampled_from([0.0, 0.05, 0.5, 3.0]),
    st.integers(0, 40),
    st.integers(1, 40),
) | st.builds(
    lambda what, name, at, lasts: ScenarioIncident(at * S, lasts * S, what, name),
    st.sampled_from([IncidentKind.DOWN, IncidentKind.ARCHIVE_STOPPED]),
    st.sampled_from(["QM01", "QM04"]),
    st.integers(0, 40),
    st.integers(1, 40),
)


@given(
    st.lists(INCIDENTS, max_size=3),
    st.sampled_from([7_000, 20_000, 41_500]),
    st.lists(st.integers(0, 300 * S), max_size=5),
    st.integers(0, 60 * S),
)
@COSTLY
def test_added_rounds_equal_simulated_ones(
    incidents: list[ScenarioIncident], length: int, looks: list[int], later: int
) -> None:
    """Added rounds give the same group as simulated ones, at any moment and afterwards."""
    stepped, leaping = (
        SimulatedGroup(Scenario("test", length, tuple(incidents)), BEGIN, queues=10, channels=4) for _ in range(2)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Repetition, "whole_rounds", lambda *_: 0)
        group = stepped.advance(BEGIN + 300 * S)
    for look in sorted(looks):
        leaping.advance(BEGIN + look)
    assert leaping.advance(BEGIN + 300 * S) == group
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Repetition, "whole_rounds", lambda *_: 0)
        stepped.advance(BEGIN + 300 * S + later)
        leaping.advance(BEGIN + 300 * S + later)
    assert leaping.group == stepped.group


class Comparing:
    """Compares every second that an observer is shown with a group that is simulated."""

    def __init__(self, stepped: SimulatedGroup) -> None:
        self.stepped = stepped
        self.seconds = 0

    def second(self, group: GroupState) -> None:
        assert group == self.stepped.advance(group.now)
        self.seconds += 1

    def leap(self, group: GroupState) -> None:
        raise AssertionError("rounds are added although every second is to be shown")


@given(st.lists(INCIDENTS, max_size=3), st.sampled_from([5, 9, 12]), st.integers(1, 11), st.booleans())
@settings(max_examples=8, deadline=None)
def test_replayed_rounds_equal_simulated_ones(
    incidents: list[ScenarioIncident], length: int, every: int, observed: bool
) -> None:
    """Requests several times a round find the same group as one that simulates every second, and so do observers."""
    course = tuple(replace(each, at=each.at % (length * S)) for each in incidents)
    stepped, played = (SimulatedGroup(Scenario("test", length * S, course), BEGIN) for _ in range(2))
    plays = 0
    play = played._play

    def counted(now: int) -> None:
        nonlocal plays
        plays += 1
        play(now)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stepped._repetition, "whole_rounds", lambda *_: 0)
        patch.setattr(played, "_play", counted)
        comparing = Comparing(stepped)
        if observed:
            played.watch(comparing, simulated_ms=3_600_000)
        for second in range(every, 6 * length + 1, every):
            assert played.advance(BEGIN + second * S) == stepped.advance(BEGIN + second * S)
    assert comparing.seconds == (second if observed else 0)
    # Without an incident every round is alike from the second on; a look after each round finds it added.
    assert plays or incidents or every >= length


@pytest.mark.parametrize(
    "name", [name if name in BRIEFLY else pytest.param(name, marks=pytest.mark.soak) for name in SCENARIOS]
)
def test_a_group_of_many_days_is_there_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ten days only a few rounds are simulated."""
    steps = 0
    step = SimulatedGroup._step

    def counted(self: SimulatedGroup, now: int) -> None:
        nonlocal steps
        steps += 1
        step(self, now)

    monkeypatch.setattr(SimulatedGroup, "_step", counted)
    scenario = load_scenario(name)
    SimulatedGroup(scenario, BEGIN).advance(BEGIN + 10 * 86_400 * S)
    assert steps <= 5 * scenario.length // S


@given(st.lists(st.integers(1, 400), min_size=1, max_size=8))
@VERY_COSTLY
def test_queues_and_channels_more_agree_with_themselves(pauses: list[int]) -> None:
    """Depth, counters and moments of those that were added, over any interval; a good share of them moves in each."""
    simulation = simulated(queues=500, channels=100)
    now = BEGIN
    before = {queue.name: queue.put_total for queue in side_queues(simulation)}
    for pause in pauses:
        now += pause * S
        simulation.advance(now)
        found = side_queues(simulation)
        for queue in found:
            assert queue.depth == queue.put_total - queue.got_total >= 0
            assert (queue.oldest_put is None) == (queue.depth == 0)
            assert queue.oldest_put is None or (queue.last_get or 0) < queue.oldest_put <= now
            assert queue.put_total >= before[queue.name]
            assert (queue.last_put == now) == (queue.put_total > before[queue.name])
        assert sum(queue.put_total > before[queue.name] for queue in found) == 200
        before = {queue.name: queue.put_total for queue in found}
    moved = [
        channel.instances[0].last_message == now
        for member in simulation.group.members.values()
        for channel in member.channels.values()
        if channel.name.startswith("CLIENT.")
    ]
    assert sum(moved) == 50


def side_queues(simulation: SimulatedGroup) -> list[QueueState]:
    """The queues that were added."""
    members = simulation.group.members.values()
    return [queue for member in members for queue in member.queues.values() if queue.name.startswith("APP")]


def test_another_seed_is_another_course() -> None:
    """Seeds matter, or every run would look the same."""
    one, other = (SimulatedGroup(load_scenario("quiet"), BEGIN, seed=seed) for seed in (1, 2))
    assert one.advance(BEGIN + 30 * S) != other.advance(BEGIN + 30 * S)


def test_pool_writes_from_its_thresholds_on() -> None:
    """Deferred writes run from 85 % in use, synchronous ones from 95 %, and both end when the backlog is gone."""
    simulation = simulated(incident(IncidentKind.SLOW_CONSUMER, "QM01/ORDERS.REQUEST", 0.02, lasts=90))
    seen: set[int] = set()
    for second in range(1, 260):
        before = simulation.group.members["QM01"].pools[3]
        used = 1 - before.free / before.buffers
        pool = simulation.advance(BEGIN + second * S).members["QM01"].pools[3]
        seen.add(pool.writing)
        assert 0 <= pool.free <= pool.buffers
        if pool.writing == 2:
            assert used > 0.85
    assert seen == {0, 1, 2}
    assert (pool.writing, pool.free > 0.6 * pool.buffers) == (0, True)


def test_backlog_takes_pages_and_gives_them_back() -> None:
    """A page set holds what its queues hold, and no more when they are empty."""
    simulation = simulated(incident(IncidentKind.CONSUMER_GONE, "QM01/ORDERS.REQUEST", lasts=30))
    usual = simulation.advance(BEGIN + 9 * S).members["QM01"].page_sets[3].persistent
    assert simulation.advance(BEGIN + 39 * S).members["QM01"].page_sets[3].persistent > usual + 5_000
    assert simulation.advance(BEGIN + 200 * S).members["QM01"].page_sets[3].persistent < usual + 500


def test_time_of_batches_is_the_documents() -> None:
    """The examples of the document: 1000 messages take 3.01 s one by one and 40 ms in batches of 100."""
    assert 1_000 * batch_us(1, 0) == pytest.approx(3_010_000)
    assert 10 * batch_us(100, 0) == pytest.approx(40_000)


def test_batches_grow_with_the_network_time() -> None:
    """What arrives while a batch is under way makes the next one; never more than BATCHSZ, never less than one."""
    assert achieved(10, 50, 400) == 1
    assert achieved(240, 50, 70_000) == pytest.approx(240 * 73_000 / (1_000_000 - 2_400))
    assert achieved(5_000, 50, 70_000) == 50
    assert achieved(200_000, 50, 400) == 50
    assert capacity(50, 70_000) == int(50 * 1_000_000 / 73_500)


def test_slow_network_shows_in_the_short_average_first() -> None:
    """NETTIME's short-term average follows within seconds, the long-term one hardly."""
    simulation = simulated(incident(IncidentKind.NETWORK, "QM01/TO.QM02", 70_000))
    simulation.advance(BEGIN + 40 * S)
    short, long = simulation.group.members["QM01"].channels["TO.QM02"].instances[0].network_us or (0, 0)
    assert short > 60_000
    assert long < 10_000


def test_partner_that_is_away_makes_the_channel_retry() -> None:
    """Nothing moves, the transmission queue grows, a retry is used up every minute; afterwards all of it is sent."""
    simulation = simulated(incident(IncidentKind.PARTNER_DOWN, "QM01/TO.PARTNER", lasts=130))
    member = simulation.advance(BEGIN + 135 * S).members["QM01"]
    channel = member.channels["TO.PARTNER"].instances[0]
    sent = channel.messages
    assert (channel.status, channel.short_left) == ("RETRYING", 8)
    assert member.queues["PARTNER"].depth > 60 * 100
    assert member.queues["PARTNER"].input_handles == 0
    simulation.advance(BEGIN + 160 * S)
    assert (channel.status, channel.short_left) == ("RUNNING", 10)
    assert channel.messages - sent > 60 * 120
    assert member.queues["PARTNER"].depth < 100


def test_what_is_sent_is_received() -> None:
    """The partner's instance of a channel counts the messages of the sender's."""
    group = simulated().advance(BEGIN + 60 * S)
    sender = group.members["QM01"].channels["TO.QM02"].instances[0]
    receiver = next(i for i in group.members["QM02"].channels["TO.QM02"].instances if i.partner == "QM01")
    assert sender.messages == receiver.messages > 0
    assert sender.bytes_sent == receiver.bytes_received


def test_structure_fills_with_its_queues() -> None:
    """Entries in use are those of the messages on the structure's shared queues and a few more."""
    simulation = simulated(incident(IncidentKind.ARRIVALS, "PRDQ/APPL1.ORDERS", 8))
    before = simulation.advance(BEGIN + 9 * S).structures["APPL1"].entries_used
    simulation.advance(BEGIN + 60 * S)
    depth = simulation.group.shared_queues["APPL1.ORDERS"].depth
    assert simulation.group.structures["APPL1"].entries_used - before == pytest.approx(depth, rel=0.01)
    assert depth > 50_000


def test_logs_wait_while_archiving_is_stopped() -> None:
    """Full logs pile up, and go when they are offloaded again."""
    simulation = simulated(incident(IncidentKind.ARCHIVE_STOPPED, "QM01", at=0, lasts=300))
    before = simulation.group.members["QM01"].log.rba
    log = simulation.advance(BEGIN + 299 * S).members["QM01"].log
    assert log.full_logs >= 3
    assert log.rba > before
    simulation.advance(BEGIN + 420 * S)
    assert log.full_logs <= 1


def test_queue_managers_misbehave_on_order() -> None:
    """Each kind of fault is set while its incident goes on, and only then."""
    name = "INQUIRE_LOG"
    simulation = simulated(
        incident(IncidentKind.DOWN, "QM04"),
        *(
            incident(what, "QM03", command=name)
            for what in (IncidentKind.REFUSE, IncidentKind.SILENT, IncidentKind.TRUNCATE)
        ),
        incident(IncidentKind.SLOW, "QM02", 700),
    )
    assert simulation.advance(BEGIN + 5 * S).faults == {}
    faults = deepcopy(simulation.advance(BEGIN + 20 * S).faults)
    assert faults["QM04"].down
    assert (faults["QM03"].refuse, faults["QM03"].silent, faults["QM03"].truncate) == (frozenset({name}),) * 3
    assert faults["QM02"].slow_ms == 700
    assert simulation.advance(BEGIN + 80 * S).faults == {}


def test_incident_of_nothing_is_a_mistake() -> None:
    """A scenario that names an object which is not there says so instead of doing nothing."""
    with pytest.raises(ValueError, match=r"QM01/NO\.QUEUE cannot have the incident consumer_gone"):
        simulated(incident(IncidentKind.CONSUMER_GONE, "QM01/NO.QUEUE", at=0)).advance(BEGIN + S)


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_runs_through(name: str) -> None:
    """Its incidents name things that are there, and it ends before it begins anew with nothing left over."""
    scenario = load_scenario(name)
    whole = (IncidentKind.DEAD_LETTERS,)  # messages that are always there
    assert all(
        max(each.beginnings()) + each.lasts < scenario.length for each in scenario.incidents if each.what not in whole
    )
    group = SimulatedGroup(scenario, BEGIN).advance(BEGIN + scenario.length)
    assert group.faults == {}
    assert group.shared_queues["APPL1.ORDERS"].depth < 1_000
    assert group.members["QM01"].queues["ORDERS.REQUEST"].depth < 1_000


def test_scenario_begins_anew() -> None:
    """After its length the same trouble comes again."""
    simulation = simulated(incident(IncidentKind.DOWN, "QM04", at=5, lasts=5), length=60 * S)
    assert [bool(simulation.advance(BEGIN + second * S).faults) for second in (6, 30, 66)] == [True, False, True]


def test_unknown_scenario() -> None:
    """The message lists those there are."""
    with pytest.raises(ScenarioError, match="there is no scenario 'noisy'; there are quiet, buffer-pool-thrash"):
        load_scenario("noisy")


def test_group_of_any_size() -> None:
    """So many queues and channels more, spread over the members, some of them moving."""
    simulation = simulated(queues=100, channels=40)
    before = sum(
        queue.put_total for queue in simulation.group.members["QM03"].queues.values() if queue.name[:3] == "APP"
    )
    group = simulation.advance(BEGIN + 97 * S)
    assert sum(name.startswith("APP") for member in group.members.values() for name in member.queues) == 100
    assert sum(name.startswith("CLIENT.") for member in group.members.values() for name in member.channels) == 40
    after = sum(queue.put_total for queue in group.members["QM03"].queues.values() if queue.name[:3] == "APP")
    assert after > before
