"""Recordings of a simulated group, through the collector: what the snapshots say is what the group was, reading for reading."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from mqsamples.group import BEGIN, EVERYTHING, SITE
from mqvitals_agent.connection.recording import open_recording
from mqvitals_agent.poll.collector import Collector
from mqvitals_agent.poll.replay import ReplayCycle, ReplayPace, ReplaySummary, replay
from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.scenario import load_scenario
from mqvitals_agent.simulator.state import GroupState
from mqvitals_config.decoding.scalars import time_zone
from mqvitals_rules.snapshot import ObjectName, Outcome, Reading
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import metric

Recordings = Callable[[str], Path]
MEMBERS = ["QM01", "QM02", "QM03", "QM04"]


class Played(NamedTuple):
    """A recording's cycles, each so many ms long, and its collector."""

    cycles: list[ReplayCycle]
    interval_ms: int
    collector: Collector

    def readings(self) -> list[tuple[int, Reading]]:
        """Every reading with the number of its cycle."""
        return [
            (each.number, reading)
            for each in self.cycles
            for snapshot in each.snapshots
            for reading in snapshot.readings
        ]

    def series(self, name: str, metric_name: str) -> list[tuple[int, Reported]]:
        """A metric's values, each with how long after the beginning it was read, s."""
        return [
            ((reading.ts - BEGIN) // 1000, reading.values[metric_name])
            for _, reading in self.readings()
            if str(reading.object) == name and metric_name in reading.values
        ]


@cache
def played(path: Path) -> Played:
    """Play a recording without waiting."""
    recording = open_recording(path)
    header = recording.header
    assert header.interval_s is not None
    interval_ms = round(header.interval_s * 1000)
    collector = Collector(header.name, header.queue_managers)
    cycles: list[ReplayCycle] = []
    replay(
        recording, interval_ms, collector, ReplayPace(None, lambda: 0.0, lambda _: None), cycles.append, ReplaySummary()
    )
    return Played(cycles, interval_ms, collector)


@pytest.fixture(params=["incident", "quiet"])
def name(request: pytest.FixtureRequest) -> str:
    """Both recordings, one after the other."""
    found: str = request.param
    return found


@pytest.fixture
def either(name: str, recordings: Recordings) -> Played:
    """Both recordings as they are played."""
    return played(recordings(name))


@pytest.fixture
def incident(recordings: Recordings) -> Played:
    """The recording in which several things go wrong."""
    return played(recordings("incident"))


def truth(group: GroupState, name: ObjectName) -> Mapping[str, float]:
    """What the simulation knows of an object, by metric."""
    member = group.members.get(name.owner)
    if name.kind == "queue":
        queue = group.shared_queues[name.name] if member is None else member.queues[name.name]
        known = {"depth": queue.depth}
        return known if member is None else {**known, "input_handles": queue.input_handles}
    if name.kind == "cf_structure":
        structure = group.structures[name.name]
        return {"entries_used": structure.entries_used, "entries_max": structure.entries_max}
    if member is None:
        return {}
    if name.kind == "buffer_pool":
        pool = member.pools[int(name.name)]
        return {"free": pool.free, "total": pool.buffers}
    if name.kind == "page_set":
        page_set = member.page_sets[int(name.name)]
        used = page_set.persistent + page_set.nonpersistent
        return {"total_pages": page_set.total, "unused_pages": page_set.total - used, "buffer_pool": page_set.pool}
    return {}


def test_every_reading(name: str, either: Played) -> None:
    """Depths, handles, buffers, pages and entries are those of the group at that moment."""
    world = SimulatedGroup(EVERYTHING if name == "incident" else load_scenario(name), BEGIN, seed=1)
    compared: defaultdict[str, int] = defaultdict(int)
    for _, reading in sorted(either.readings(), key=lambda each: each[1].ts):
        group = world.advance(reading.ts)
        if reading.ts < BEGIN + 1000:
            continue  # nothing has moved yet
        for what, value in truth(group, reading.object).items():
            told = reading.values.get(what)
            if told is not None and not isinstance(told, Absence):
                assert told == value, (str(reading.object), what, reading.ts)
                compared[reading.object.kind] += 1
    assert all(compared[kind] > 50 for kind in ("queue", "buffer_pool", "page_set", "cf_structure")), compared


def test_counters_are_what_they_grew_by(either: Played) -> None:
    """A channel's first figure is absent; each later one is the increase, never negative."""
    counted = 0
    for channel in ("QM01/channel/TO.QM02", "QM02/channel/TO.QM01"):
        values = [value for _, value in either.series(channel, "msgs")]
        assert values[0] is Absence.FIRST_READING
        assert all(value >= 0 for value in values if isinstance(value, int))
        counted += sum(isinstance(value, int) for value in values)
    assert counted > 20


def test_counts(recordings: Recordings, name: str, either: Played) -> None:
    """Every exchange and reply of the file is played, and no message is damaged."""
    exchanges = list(open_recording(recordings(name)))
    collector = either.collector
    assert collector.exchanges == len(exchanges)
    assert collector.replies == sum(len(exchange.replies) for exchange in exchanges)
    numbers = [each.number for each in either.cycles]
    assert numbers == sorted(set(numbers))
    assert collector.damaged == 0
    assert not collector.unprobed


def test_one_snapshot_an_owner_and_cycle(either: Played) -> None:
    """Each cycle has a snapshot of every queue manager and one of the group, the group's last, each at its own time."""
    for each in either.cycles:
        assert [snapshot.owner for snapshot in each.snapshots] == [*MEMBERS, SITE]
        assert [snapshot.group for snapshot in each.snapshots] == [False] * len(MEMBERS) + [True]
        for snapshot in each.snapshots:
            assert {reading.object.owner for reading in snapshot.readings} <= {snapshot.owner}


def test_one_reading_an_object_and_probe(either: Played) -> None:
    """However many answers told of an object, a snapshot has one reading of it for each probe, and one poll."""
    for each in either.cycles:
        for snapshot in each.snapshots:
            seen = [(reading.object, reading.probe) for reading in snapshot.readings]
            assert len(seen) == len(set(seen))
            polls = [reading.object for reading in snapshot.readings if reading.poll]
            assert len(polls) == len(set(polls))


def test_refusals_and_incomplete_answers(incident: Played) -> None:
    """The only outcomes that call for somebody are those of the scenario."""
    found = defaultdict(set)
    for _, reading in incident.readings():
        outcome = reading.values.get("outcome")
        if reading.object.kind == "agent" and isinstance(outcome, int) and outcome >= Outcome.REFUSED.value:
            found[str(reading.object)].add((Outcome(outcome), reading.values["reason"]))
    scripted = {key: value for key, value in found.items() if (Outcome.UNREACHABLE, 2009) not in value}
    assert scripted == {
        "QM03/agent/INQUIRE_CHANNEL_INIT": {(Outcome.REFUSED, 2035)},
        "QM02/agent/INQUIRE_Q_STATUS": {(Outcome.INCOMPLETE, 2033)},
        "QM01/agent/INQUIRE_Q_STATUS": {(Outcome.INCOMPLETE, 2033)},
    }
    # Whatever was being asked when they went away.
    assert {key.partition("/")[0] for key in found.keys() - scripted.keys()} == {"QM02", "QM04"}


def test_who_is_unreachable_is_so_as_long_as_the_scenario_says(incident: Played) -> None:
    """QM04 from 100 s on, QM02 for 15 s; everything of them that is polled is a null point then."""
    for member in MEMBERS:
        for at_s, value in incident.series(f"{member}/queue_manager", "reachable"):
            if isinstance(value, Absence):
                continue  # what came before went on for too long
            away = (member == "QM04" and at_s >= 100) or (member == "QM02" and 160 <= at_s < 175)
            assert value == (0 if away else 1), (member, at_s)
    at_110 = next(each for each in incident.cycles if each.began >= BEGIN + 110_000)
    (snapshot,) = [each for each in at_110.snapshots if each.owner == "QM04"]
    (connection,) = [reading for reading in snapshot.readings if reading.probe == "CONNECTION"]
    assert connection.values["reason"] == 2059
    polled = [reading for reading in snapshot.readings if reading.poll and reading.object.kind != "queue_manager"]
    assert polled
    assert not any(reading.answered for reading in polled)


def test_a_cut_answer_costs_the_queues_that_did_not_come(incident: Played) -> None:
    """Half of QM02's queues are told of, and the others are absent for want of an answer."""
    (cut,) = {
        number
        for number, reading in incident.readings()
        if str(reading.object) == "QM02/agent/INQUIRE_Q_STATUS" and reading.values["reason"] == 2033
    }
    polls = [
        reading
        for number, reading in incident.readings()
        if number == cut and reading.object.owner == "QM02" and reading.object.kind == "queue" and reading.poll
    ]
    missing = [reading for reading in polls if not reading.answered]
    assert 0 < len(missing) < len(polls)
    assert {value for reading in missing for value in reading.values.values()} == {Absence.NO_ANSWER}


def test_nothing_is_gone(either: Played) -> None:
    """No object of the recordings goes away: not by single names, scopes, refusals or cut answers."""
    assert [reading for _, reading in either.readings() if reading.gone] == []


def test_time_zone_is_found(either: Played) -> None:
    """Ages are absent as long as nothing was put or the zone is not known; then they are small for a busy queue."""
    ages = [age for _, age in either.series("QM01/queue/ORDERS.REPLY", "last_put_age_s")]
    assert ages[0] is Absence.NOTHING_TO_TELL
    known = [age for age in ages if isinstance(age, int)]
    assert len(known) > len(ages) // 2
    assert all(0 <= age <= 15 for age in known)


def test_configured_time_zone_is_known_at_once(recordings: Recordings) -> None:
    """With a zone from the configuration there are ages as soon as there are messages."""
    collector = Collector(SITE, [], lambda _: time_zone("+01:00"))
    exchanges = [exchange for exchange in open_recording(recordings("quiet")) if exchange.at < BEGIN + 20_000]
    # When the first cycle is polled no message has come yet.
    for exchange in (each for each in exchanges if each.at < BEGIN + 10_000):
        collector.feed(exchange)
    collector.end_cycle()
    for exchange in (each for each in exchanges if each.at >= BEGIN + 10_000):
        collector.feed(exchange)
    (queue,) = [
        reading
        for snapshot in collector.end_cycle()
        for reading in snapshot.readings
        if str(reading.object) == "QM01/queue/ORDERS.REPLY" and reading.poll
    ]
    age = queue.values["last_put_age_s"]
    assert isinstance(age, int)
    assert 0 <= age <= 15


def test_a_channel_whose_partner_is_away_retries(incident: Played) -> None:
    """From the moment the scenario says; until then it runs."""
    status = metric("channel", "status").values
    for at_s, value in incident.series("QM03/channel/TO.PARTNER", "status"):
        assert value == status["RUNNING" if at_s < 60 else "RETRYING"], at_s


def test_dead_letter_queues(either: Played) -> None:
    """Every queue manager's DEADQ is marked, and no other queue."""
    marked = {str(r.object) for _, r in either.readings() if r.values.get("dead_letter") == 1}
    assert len(marked) == len(MEMBERS)
    assert {name.partition("/")[0] for name in marked} == set(MEMBERS)
