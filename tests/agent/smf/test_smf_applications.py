"""The accounting reports that IBM's documents print, made into records: what the rules of applications say of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from mqsamples.smf import readings
from mqvitals_agent.smf.record import parse
from mqvitals_config.settings import Settings
from mqvitals_rules.engine import Engine
from mqvitals_rules.history import MemoryHistory
from mqvitals_rules.lifecycle.alert import AlertState
from mqvitals_rules.ruleset.config import RuleConfig, load_rule_config
from mqvitals_rules.ruleset.tuning import Tuning
from mqvitals_rules.snapshot import ObjectName

BATCH, LOCAL, MODEL = 2, 1, 2
NONE, BY_CORRELID = 0, 2
VERBS = {"open": (160, 168, 176), "close": (184, 192, 200), "get": (208, 216, 224), "put": (300, 308, 316)}
VERBS |= {"put1": (360, 368, 376), "inq": (420, 428, 436)}
"""Where a verb's elapsed time, processor time and count lie in WQST."""
Calls = Mapping[str, tuple[int, int, int]]
"""A verb's count, and the elapsed and the processor time of one call, in microseconds."""


def record(smf: Any, opened: str, base: str, calls: Calls, fields: Mapping[int, tuple[int, int]], **more: int) -> bytes:
    """What a batch job did with a queue in half an hour."""
    wtid = bytearray(smf.section(208, {8: (4, BATCH)}))
    wtid[12:20] = smf.ebcdic("TEAMJOB", 8)
    values = dict(fields)
    for verb, (count, elapsed_us, cpu_us) in calls.items():
        elapsed_at, cpu_at, count_at = VERBS[verb]
        values |= {elapsed_at: (8, count * elapsed_us * 4096), cpu_at: (8, count * cpu_us * 4096), count_at: (4, count)}
    wqst = bytearray(smf.section(2800, {8: (4, 9), 144: (4, LOCAL), **values}))
    wqst[32:80], wqst[80:128] = smf.ebcdic(opened, 48), smf.ebcdic(base, 48)
    wtas = smf.section(
        2344, {664: (8, smf.tod(smf.NOON_US)), 672: (8, smf.tod(smf.NOON_US + 1_800_000_000))}
    )  # the interval, from when to when
    data: bytes = smf.record(116, 1, {1: [bytes(wtid)], 2: [wtas], 3: [bytes(wqst)]}, **more)
    return data


@cache
def shipped() -> RuleConfig:
    return load_rule_config(Settings())


class Verdicts:
    """What the rules of applications say after records."""

    def __init__(self, *data: bytes, opens_per_hour: float = 60) -> None:
        history = MemoryHistory()
        rules = replace(shipped().rules, tuning=(Tuning("APP-02", values={"opens_per_hour": opens_per_hour}),))
        engine = Engine(rules, shipped().facts, history)
        self.unknown: set[str] = set()
        self.objects: set[ObjectName] = set()
        for snapshot in readings(parse(each, 0) for each in data):
            history.add(snapshot)
            self.objects |= {each.object for each in snapshot.readings}
            self.unknown = {each.rule for each in engine.evaluate(snapshot).unknown}
        firing = [alert for alert in engine.open_alerts if alert.state is AlertState.FIRING]
        self.firing = {str(alert.key.rule) for alert in firing if alert.key.rule.startswith("APP-")}
        self.summaries = {str(alert.key.rule): alert.summary for alert in firing}


DYNAMIC: Calls = {"open": (1, 850, 125), "close": (1, 113, 111), "put": (3, 106, 104), "inq": (5, 17, 17)}
PERMANENT: Calls = {"open": (1, 39, 38), "close": (1, 26, 26), "put": (3, 115, 113), "inq": (5, 18, 18)}
THREE_PUTS = {496: (8, 27), 512: (4, 3), 532: (4, 9), 588: (4, 3)}


def test_a_temporary_dynamic_queue(smf: Any) -> None:
    """Told of its record, and by its model's name; with the rate that a day's report asks for, one open is nothing."""
    data = record(
        smf, "TEAMXX.MODE1", "AMQ.C9422A60F4386075", DYNAMIC, {**THREE_PUTS, 144: (4, MODEL), 704: (8, 727 * 4096)}
    )
    found = Verdicts(data, opens_per_hour=1)
    assert found.firing == {"APP-02"}
    assert not {"APP-01", "APP-03", "APP-08", "APP-10"} & found.unknown
    assert "1 open in the interval created a temporary dynamic queue from TEAMXX.MODE1" in found.summaries["APP-02"]
    assert ObjectName("MQ01", "application", "TEAMJOB/TEAMXX.MODE1") in found.objects
    assert Verdicts(data).firing == set()


def test_queues_of_one_model_are_one_sum(smf: Any) -> None:
    """Each has a name of its own, and what they come to is what counts: 60 in an hour."""
    names = [f"CSQ.{number:016X}" for number in range(60)]
    data = [record(smf, "MODEL", name, DYNAMIC, {144: (4, MODEL)}, sequence=at) for at, name in enumerate(names)]
    assert Verdicts(*data).firing == {"APP-02"}
    assert Verdicts(*data[1:]).firing == set()


def test_a_permanent_queue(smf: Any) -> None:
    """The same work with a permanent queue is in order."""
    found = Verdicts(record(smf, "TEAMXX.NOT.TEMP", "TEAMXX.NOT.TEMP", PERMANENT, THREE_PUTS), opens_per_hour=2)
    assert found.firing == set()
    assert not {"APP-01", "APP-02", "APP-03"} & found.unknown


def test_gets_without_an_index(smf: Any) -> None:
    """28 gets of a certain message passed over 3505."""
    fields = {148: (4, NONE), 240: (4, 28), 288: (4, 3505), 476: (4, 4), 492: (4, 3), 516: (4, 28), 588: (4, 258)}
    calls = {"get": (28, 384, 369), "inq": (28, 22, 21)}
    found = Verdicts(record(smf, "TEAMXX.NON.INDEXED", "TEAMXX.NON.INDEXED", calls, fields))
    assert found.firing == {"APP-03"}
    assert not {"APP-01", "APP-02", "APP-10", "APP-12"} & found.unknown
    assert "28 gets of a certain message passed over 3505 messages" in found.summaries["APP-03"]
    assert "10.3 ms of processor time" in found.summaries["APP-03"]


def test_gets_with_an_index(smf: Any) -> None:
    """The same program, the queue indexed by correlation identifier."""
    fields = {148: (4, BY_CORRELID), 240: (4, 27), 476: (4, 4), 492: (4, 3), 516: (4, 27), 588: (4, 258)}
    calls = {"get": (27, 105, 99), "inq": (26, 21, 20)}
    found = Verdicts(record(smf, "TEAMXX.INDEXED", "TEAMXX.INDEXED", calls, fields))
    assert found.firing == set()
    assert not {"APP-01", "APP-02", "APP-03", "APP-10", "APP-12"} & found.unknown


@pytest.mark.parametrize(
    ("calls", "firing"),
    [
        ({"put1": (3000, 121, 117)}, {"APP-01"}),
        ({"open": (1, 84, 81), "close": (1, 18, 18), "put": (3000, 74, 72)}, set()),
    ],
)
def test_one_message_at_a_time(calls: Calls, firing: set[str], smf: Any) -> None:
    """3000 messages by MQPUT1, and by one MQOPEN and MQPUT."""
    found = Verdicts(record(smf, "TEAMXX.Q", "TEAMXX.Q", calls, {496: (8, 240_000), 512: (4, 3000), 588: (4, 6000)}))
    assert found.firing == firing
    assert not {"APP-01", "APP-07"} & found.unknown


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        ([f"SYSTEM.MANAGED.NDURABLE.{number:024X}" for number in range(3)], ["SYSTEM.MANAGED.NDURABLE.*"]),
        ([f"SYSTEM.MANAGED.DURABLE.{number:020X}" for number in range(3)], ["SYSTEM.MANAGED.DURABLE.*"]),
        ([f"PAY.REPLY.{0xC9422A60F4386075 + number:016X}" for number in range(3)], ["PAY.REPLY.*"]),
        (["PAY.REPLY.1", "PAY.20260301", "C9422A60F4386075"], ["C9422A60F4386075", "PAY.20260301", "PAY.REPLY.1"]),
        (["SYSTEM.MANAGED.DURABLE.", "PAY.C9422A60F438607G"], ["PAY.C9422A60F438607G", "SYSTEM.MANAGED.DURABLE."]),
    ],
)
def test_dynamic_queues_stand_together(smf: Any, names: list[str], shown: list[str]) -> None:
    """Queues of managed subscriptions, and those whose names end in a time stamp, under what their names have in common."""
    found = [parse(record(smf, name, name, DYNAMIC, {}, sequence=at + 1)) for at, name in enumerate(names)]
    objects = sorted(each.object.name for snapshot in readings(found) for each in snapshot.readings)
    assert [name.split("/", 1)[1] for name in objects] == shown
