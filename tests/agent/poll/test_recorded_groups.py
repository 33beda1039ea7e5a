"""The shared recordings, through the collector: what IBM's reader saw is what the snapshots say."""

from __future__ import annotations

import json
from collections import defaultdict
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mqvitals_agent.connection.recording import read
from mqvitals_agent.poll.collector import Collector
from mqvitals_agent.poll.replay import Cycle, Pace, Summary, replay
from mqvitals_rules.snapshot import Outcome, Reading
from mqvitals_rules.vocabulary.metric import Absence, Reported

NAMES = {"xmitq_msgs_available": "xmitq_msgs", "short_retries_left": "short_left"}
"""Metrics that the expected file calls otherwise."""


class Played(NamedTuple):
    """A recording's cycles, its collector, and what must be seen."""

    cycles: list[Cycle]
    collector: Collector
    expected: dict[str, Any]

    def readings(self) -> list[tuple[int, Reading]]:
        """Every reading with the number of its cycle."""
        return [
            (each.number, reading)
            for each in self.cycles
            for snapshot in each.snapshots
            for reading in snapshot.readings
        ]

    def series(self, name: str, metric: str) -> list[Reported | None]:
        """A metric's value in each cycle; None where the object had no reading with it."""
        values: list[Reported | None] = [None] * self.expected["cycles"]
        for number, reading in self.readings():
            if str(reading.object) == name and metric in reading.values:
                values[number - 1] = reading.values[metric]
        return values


@cache
def played(path: Path) -> Played:
    """Play a recording without waiting."""
    recording = read(path)
    header = recording.header
    assert header.interval_s is not None
    collector = Collector(header.name, header.queue_managers)
    cycles: list[Cycle] = []
    pace = Pace(None, lambda: 0.0, lambda _: None)
    replay(recording, round(header.interval_s * 1000), collector, pace, cycles.append, Summary())
    expected = json.loads(path.with_name(path.name.replace(".jsonl.gz", ".expected.json")).read_text("utf-8"))
    return Played(cycles, collector, expected)


@pytest.fixture(params=["incident", "quiet"])
def either(request: pytest.FixtureRequest, shared_data: Path) -> Played:
    """Both recordings, one after the other."""
    return played(shared_data / "pcf" / f"recording-{request.param}.jsonl.gz")


@pytest.fixture
def incident(shared_data: Path) -> Played:
    """The recording in which several things go wrong."""
    return played(shared_data / "pcf" / "recording-incident.jsonl.gz")


def product_name(text: str) -> tuple[str, str]:
    """``QM01/chinit current`` as the product's object and metric."""
    name, _, metric = text.rpartition(" ")
    return name.replace("/chinit", "/channel_initiator"), NAMES.get(metric, metric)


def test_every_series(either: Played) -> None:
    """Each series of the expected file, value for value; the raw byte counter as differences, null at first and at the wrap."""
    for text, values in either.expected["series"].items():
        name, metric = product_name(text)
        if metric == "bytes_sent":
            values = [None] + [after - before if after >= before else None for before, after in pairwise(values)]
        got = [None if isinstance(value, Absence) else value for value in either.series(name, metric)]
        assert got == values, text


def test_counts(either: Played) -> None:
    """Exchanges, replies and cycles are as many as expected, and no message is damaged."""
    expected, collector = either.expected, either.collector
    assert (collector.exchanges, collector.replies) == (expected["exchanges"], expected["replies"])
    assert [each.number for each in either.cycles] == list(range(1, expected["cycles"] + 1))
    assert collector.damaged == 0
    assert not collector.unprobed


def test_one_snapshot_an_owner_and_cycle(either: Played) -> None:
    """Each cycle has a snapshot of every queue manager and one of the group, the group's last, each at its own time."""
    for each in either.cycles:
        assert [snapshot.owner for snapshot in each.snapshots] == ["QM01", "QM02", "QM03", "QM04", "PRDQSG"]
        assert [snapshot.group for snapshot in each.snapshots] == [False] * 4 + [True]
        for snapshot in each.snapshots:
            assert each.began <= snapshot.ts < each.began + 10_000
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
    """The only outcomes that call for somebody are the scripted ones."""
    found = defaultdict(list)
    for number, reading in incident.readings():
        if reading.object.kind == "agent" and reading.values["outcome"] in {
            o.value for o in Outcome if o.value >= Outcome.REFUSED.value
        }:
            found[str(reading.object), reading.values["outcome"], reading.values["reason"]].append(number)
    assert dict(found) == {
        ("QM02/agent/INQUIRE_ARCHIVE", Outcome.REFUSED.value, 3081): [1, 7, 13, 19, 25, 31, 37, 43, 49, 55],
        ("QM02/agent/INQUIRE_CHANNEL_STATUS CMDSCOPE(*)", Outcome.REFUSED.value, 3081): [10, 45],
        ("QM04/agent/INQUIRE_Q_STATUS", Outcome.INCOMPLETE.value, 2033): [20],
        ("QM03/agent/INQUIRE_Q_MGR", Outcome.UNREACHABLE.value, 2009): [28],
    }


def test_only_qm03_is_unreachable(incident: Played) -> None:
    """From cycle 28 to 32, with the reason; everything of it that is polled is a null point then."""
    for number, reading in incident.readings():
        if reading.probe == "CONNECTION":
            down = reading.object.owner == "QM03" and 28 <= number <= 32
            told = {"reachable": reading.values["reachable"], "reason": reading.values["reason"]}
            assert told == ({"reachable": 0, "reason": 2059} if down else {"reachable": 1, "reason": 0})
    polled = {
        str(r.object)
        for n, r in incident.readings()
        if n == 27 and r.poll and r.object.owner == "QM03" and r.object.kind != "agent"
    }
    for cycle in range(28, 33):
        silent = {
            str(r.object)
            for n, r in incident.readings()
            if n == cycle and r.object.owner == "QM03" and r.poll and not r.answered
        }
        assert silent == polled - {"QM03/queue_manager"}


def test_cut_answer_costs_the_queues_that_did_not_come(incident: Played) -> None:
    """QM04's queue status in cycle 20 lacks its last three messages: two queues and the summary."""
    missing = [r for n, r in incident.readings() if n == 20 and not r.answered]
    assert len(missing) == 2
    assert {(r.object.owner, r.object.kind, r.poll) for r in missing} == {("QM04", "queue", True)}
    assert {value for r in missing for value in r.values.values()} == {Absence.NO_ANSWER}


def test_nothing_is_gone(either: Played) -> None:
    """No object of the recordings goes away: not by single names, scopes, refusals or cut answers."""
    assert [reading for _, reading in either.readings() if reading.gone] == []


def test_wraps_and_new_instances(incident: Played) -> None:
    """Channels restarted and counters wrapped: no increase in that cycle, one again in the next."""
    parameters = {1534: "msgs", 1535: "bytes_sent", 1536: "bytes_rcvd"}
    for wrap in incident.expected["counter_wraps"]:
        values = incident.series(wrap["object"], parameters[wrap["parameter"]])
        assert values[wrap["cycle"] - 1] is Absence.RESET or _several(incident, wrap["object"])
    for new in incident.expected["new_instances"]:
        values = incident.series(new["object"], "msgs")
        # QM03 was restarted as a whole; elsewhere only the instances whose partner it is.
        if _several(incident, new["object"]) and not new["object"].startswith("QM03/"):
            assert isinstance(values[new["cycle"] - 1], int)  # the other instances went on
        else:
            assert values[new["cycle"] - 1] is Absence.RESET
        assert isinstance(values[new["cycle"]], int)


def _several(incident: Played, name: str) -> bool:
    return max(number for number in incident.series(name, "instances") if isinstance(number, int)) > 1


def test_saturated_counters(either: Played) -> None:
    """A counter that sticks tells nothing from its second reading on."""
    for stuck in either.expected["saturated_counters"]:
        assert stuck["parameter"] == 1536
        assert set(either.series(stuck["object"], "bytes_rcvd")[1:]) == {Absence.SATURATED}


def test_time_zone_is_found(either: Played) -> None:
    """From the third cycle on ages are known, and small for a busy queue: the queue managers are in UTC+1."""
    ages = either.series("QM01/queue/ORDERS.REPLY", "last_put_age_s")
    assert ages[:2] == [Absence.TIME_ZONE_UNKNOWN] * 2
    assert all(isinstance(age, int) and age <= 15 for age in ages[2:])
    backups = either.series("PRDQSG/cf_structure/APPL1", "backup_age_s")
    assert all(isinstance(age, int) and 0 < age < 7200 for age in backups[2:])


def test_configured_time_zone_is_known_at_once(shared_data: Path) -> None:
    """With a zone from the configuration the first cycle has ages."""
    from mqvitals_config.time_zone import time_zone

    collector = Collector("PRDQSG", [], lambda _: time_zone("+01:00"))
    for exchange in read(shared_data / "pcf" / "recording-quiet.jsonl.gz"):
        if exchange.at >= 1795167000000 + 10_000:
            break
        collector.feed(exchange)
    (queue,) = [
        reading
        for snapshot in collector.end_cycle()
        for reading in snapshot.readings
        if str(reading.object) == "QM01/queue/ORDERS.REPLY" and reading.poll
    ]
    age = queue.values["last_put_age_s"]
    assert isinstance(age, int)
    assert age <= 15


def test_what_looks_odd_and_is_not_wrong(incident: Played) -> None:
    """A page set never opened, monitoring switched off, a channel nobody has defined."""
    assert set(incident.series("QM03/page_set/9", "status")) <= {1, None, Absence.UNREACHABLE}
    assert Absence.NOT_RETURNED in incident.series("QM03/page_set/9", "used_pct")
    assert set(incident.series("QM01/channel/TO.BANK.B", "nettime_us_short")) == {Absence.NOT_COLLECTED}
    assert set(incident.series("QM01/channel/TO.BANK.B", "status")) == {3}
    assert set(incident.series("QM01/channel/TO.NOWHERE", "status")) == {None}
    assert set(incident.series("PRDQSG/queue/APPL1.ORDERS.SHARED", "input_handles")) == {4}


def test_dead_letter_queues(either: Played) -> None:
    """Every queue manager's DEADQ is marked, and no other queue."""
    marked = {str(r.object) for _, r in either.readings() if r.values.get("dead_letter") == 1}
    assert marked == {f"QM0{number}/queue/SYSTEM.DEAD.LETTER.QUEUE" for number in range(1, 5)}
