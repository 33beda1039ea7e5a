"""A distributed queue manager, asked and read over both real bindings: its platform, its answers, its statistics messages."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mqstandin.distributed import DEPTHS, NETTIME_LONG, NETTIME_SHORT, STATISTICS_QUEUE
from mqstandin.library import Bindings
from mqstandin.server import StandIn, stand_in

from mqsamples.pairs import alone
from mqsamples.warm import run_warm
from mqvitals_agent.connection.connection import Exchange
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import encode_message, group, integer, integers, integers64, string
from mqvitals_agent.poll.collector import Collector
from mqvitals_agent.store.reader import StoreReader
from mqvitals_rules.snapshot import ObjectName, Outcome, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence

ASK = """
import asyncio, pickle, sys, time
from mqvitals_agent.clock import SystemClock
from mqvitals_agent.connection.conversation import TimeSource
from mqvitals_agent.connection.mqi import load_binding
from mqvitals_agent.connection.mqi_connector import MqiConnector
from mqvitals_agent.connection.route import CommandRoute
from mqvitals_agent.poll.queries import distributed_queries
from mqvitals_config.sections.collection import PollingSettings

binding, address, statistics_queue = sys.argv[1:]
clock = SystemClock()
ticks = TimeSource(clock.now, lambda: time.monotonic_ns() // 1_000_000)

async def ask():
    route = CommandRoute("PARTNER", "MQVITALS.SVRCONN", address, dynamic_name="MQVITALS.*",
                  statistics_queue=statistics_queue)
    connection = await MqiConnector(load_binding(binding), route, clock, ticks).connect()
    identity = connection.identity
    found = [await connection.ask(each, 5000)
             for each in distributed_queries(PollingSettings(), statistics_queue)]
    await connection.close()
    return (identity.platform, identity.command_queue), found

sys.stdout.buffer.write(pickle.dumps(asyncio.run(ask())))
"""


def asked(
    bindings: Bindings, binding: str, group: StandIn, queue: str = STATISTICS_QUEUE
) -> tuple[tuple[int, str], list[Exchange]]:
    """What the partner is and answers, in a child process with that binding."""
    bindings.require(binding)
    environment = bindings.environment(binding)
    environment["PYTHONPATH"] += os.pathsep + os.pathsep.join(sys.path)
    words = [sys.executable, "-c", ASK, binding, group.address("PARTNER"), queue]
    ended = subprocess.run(words, env=environment, capture_output=True, timeout=100, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
    found: tuple[tuple[int, str], list[Exchange]] = pickle.loads(ended.stdout)
    return found


def collected(exchanges: list[Exchange]) -> Snapshot:
    """The snapshot of one cycle."""
    collector = Collector("", ["PARTNER"])
    for each in exchanges:
        collector.feed(each)
    assert collector.damaged == 0
    (snapshot,) = collector.end_cycle()
    return snapshot


def reading(snapshot: Snapshot, name: str, probe: str) -> Reading:
    """The one reading of an object by that probe."""
    (found,) = [each for each in snapshot.readings if str(each.object) == name and each.probe == probe]
    return found


def statistics(queue: str, puts: int, minute: int) -> bytes:
    """A statistics message of a minute that tells of one queue."""
    return encode_message(
        mq.MQCFT_STATISTICS,
        mq.MQCMD_STATISTICS_Q,
        (
            string(mq.MQCA_Q_MGR_NAME, "PARTNER", 48),
            string(mq.MQCAMO_START_DATE, "2026-11-20"),
            string(mq.MQCAMO_START_TIME, f"12.{minute:02}.00"),
            string(mq.MQCAMO_END_DATE, "2026-11-20"),
            string(mq.MQCAMO_END_TIME, f"12.{minute + 1:02}.00"),
            integer(mq.MQIAMO_OBJECT_COUNT, 1),
            group(
                mq.MQGACF_Q_STATISTICS_DATA,
                (
                    string(mq.MQCA_Q_NAME, queue, 48),
                    integers(mq.MQIAMO_PUTS, (puts, 2)),
                    integers(mq.MQIAMO_PUT1S, (0, 1)),
                    integers64(mq.MQIAMO64_PUT_BYTES, (5_000_000_000, 7)),
                ),
            ),
        ),
        order="<",
        ccsid=1208,
    )


@pytest.mark.parametrize("binding", ["ibmmq", "pymqi"])
def test_a_distributed_queue_manager_is_read_as_what_it_is(bindings: Bindings, binding: str) -> None:
    """Its command queue is found, classic responses end, pairs are told the right way round, nothing is asked in vain."""
    with stand_in(only=("QM01",), distributed=("PARTNER",)) as running:
        identity, exchanges = asked(bindings, binding, running, "")
        state = running.at("PARTNER").state()
    assert identity == (mq.MQPL_UNIX, "SYSTEM.ADMIN.COMMAND.QUEUE")
    assert [each.error for each in exchanges] == [None] * len(exchanges)
    assert {(reply.encoding, reply.ccsid) for each in exchanges for reply in each.replies} == {(546, 1208)}
    assert state["violations"] == []
    assert state["handles"] == 0
    snapshot = collected(exchanges)
    channel = reading(snapshot, "PARTNER/channel/TO.QM01", "INQUIRE_CHANNEL_STATUS").values
    assert (channel["nettime_us_short"], channel["nettime_us_long"]) == (NETTIME_SHORT, NETTIME_LONG)
    assert (channel["xqtime_us_short"], channel["xqtime_us_long"]) == (60, 70)
    assert (channel["status"], channel["running_on"]) == (mq.MQCHS_RUNNING, Absence.NOT_ON_DISTRIBUTED)
    other_end = reading(snapshot, "PARTNER/channel/TO.PARTNER", "INQUIRE_CHANNEL_STATUS").values
    assert (other_end["type"], other_end["remote_queue_manager"]) == (mq.MQCHT_RECEIVER, "QM01")
    depths = {e.object.name: e.values["depth"] for e in snapshot.readings if e.probe == "INQUIRE_Q_STATUS"}
    assert depths == dict(DEPTHS)
    queue = reading(snapshot, "PARTNER/queue/ORDERS.REPLY", "INQUIRE_Q_STATUS").values
    assert (queue["uncommitted_msgs"], queue["uncommitted"]) == (4, Absence.NOT_ON_DISTRIBUTED)
    defined = reading(snapshot, "PARTNER/queue/ORDERS.REPLY", "INQUIRE_Q").values
    assert (defined["storage_class"], defined["page_set"]) == (Absence.NOT_ON_DISTRIBUTED,) * 2
    assert defined["puts"] is Absence.NEEDS_STATISTICS
    status = reading(snapshot, "PARTNER/queue_manager", "INQUIRE_Q_MGR_STATUS").values
    assert [status[name] for name in ("chinit_status", "command_server_status", "connections")] == [2, 2, 17]
    outcomes = {e.object.name: e.values["outcome"] for e in snapshot.readings if e.object.kind == "agent"}
    assert set(outcomes.values()) == {Outcome.OK.value, Outcome.NOT_FOUND.value}  # it has no cluster nor subscription


@pytest.mark.parametrize("binding", alone("pymqi", "ibmmq"))
def test_statistics_messages_become_readings(bindings: Bindings, binding: str) -> None:
    """Three lie on the queue, one of them damaged: all are taken, in order, and the queue is empty and closed then."""
    sound = [statistics("ORDERS.REPLY", 10, 0), statistics("ORDERS.REPLY", 40, 1)]
    with stand_in(only=("QM01",), distributed=("PARTNER",)) as running:
        orders = running.at("PARTNER")
        for data in (sound[0], b"\x15\0\0\0 and nothing", sound[1]):
            orders.plant(STATISTICS_QUEUE, data=data)
        _, exchanges = asked(bindings, binding, running)
        state = orders.state()
    assert state["depths"][STATISTICS_QUEUE] == 0
    assert state["violations"] == []
    taken = exchanges[-1]
    assert (taken.command, taken.error) == (mq.MQCMD_STATISTICS_Q, None)
    assert [reply.data for reply in taken.replies][::2] == sound
    assert [(reply.encoding, reply.ccsid) for reply in taken.replies] == [(546, 1208)] * 3
    collector = Collector("", ["PARTNER"])
    for each in exchanges:
        collector.feed(each)
    (snapshot,) = collector.end_cycle()
    assert collector.damaged == 1
    readings = [each for each in snapshot.readings if each.source is Source.STATISTICS]
    assert [(str(e.object), e.interval_ms, e.poll) for e in readings] == [
        ("PARTNER/queue/ORDERS.REPLY", 60_000, False)
    ] * 2
    assert [e.values["puts"] for e in readings] == [13, 43]
    assert [e.values["put_rate"] for e in readings] == [pytest.approx(13 / 60), pytest.approx(43 / 60)]
    assert readings[0].values["put_bytes"] == 5_000_000_007
    assert readings[0].ts == taken.replies[0].put, (
        "the zone is not known, so the interval ends when the message was put"
    )


@pytest.mark.parametrize("binding", alone("ibmmq", "pymqi"))
def test_a_statistics_queue_that_cannot_be_opened_is_told(bindings: Bindings, binding: str) -> None:
    """It is the exchange's error, and everything else goes on."""
    with stand_in(only=("QM01",), distributed=("PARTNER",)) as running:
        running.at("PARTNER").refuse("open", 2042, object=STATISTICS_QUEUE)
        _, exchanges = asked(bindings, binding, running)
    assert [each.error for each in exchanges[:-1]] == [None] * (len(exchanges) - 1)
    assert exchanges[-1].error == (2, 2042)


def run(bindings: Bindings, binding: str, folder: Path, address: str, *words: str, **more: Any) -> tuple[int, str, str]:
    """A command of mqvitals with settings that lead to the partner: exit code and what it wrote."""
    bindings.require(binding)
    way = {"channel": "MQVITALS.SVRCONN", "binding": binding, "connection_names": [address]}
    path = folder / "mqvitals.yaml"
    watched = [{"name": "PARTNER", "statistics_queue": STATISTICS_QUEUE}]
    path.write_text(json.dumps({"time_zone": "UTC", "connection": way, "queue_managers": watched, **more}))
    environment = bindings.environment(binding)
    environment["PYTHONPATH"] += os.pathsep + os.pathsep.join(sys.path)
    ended = run_warm([*words, "--config", str(path)], env=environment)
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.parametrize("binding", alone("pymqi", "ibmmq"))
def test_doctor_asks_it_what_it_knows(bindings: Bindings, binding: str, tmp_path: Path) -> None:
    """Everything works but for advice about the reply queue, and statistics messages stay where they are."""
    with stand_in(only=("QM01",), distributed=("PARTNER",)) as running:
        running.at("PARTNER").plant(STATISTICS_QUEUE, data=statistics("ORDERS.REPLY", 1, 0))
        _, out, err = run(bindings, binding, tmp_path, running.address("PARTNER"), "doctor", "--json")
        state = running.at("PARTNER").state()
    found = {each["check"]: each["result"] for each in json.loads(out)}
    halves = {f"DISPLAY CHSTATUS WHERE(CHLTYPE {operator} SVRCONN)" for operator in ("EQ", "NE")}
    assert {"DISPLAY QMSTATUS", "DISPLAY QSTATUS", *halves} <= set(found), err
    assert not {"DISPLAY USAGE", "DISPLAY LOG", "DISPLAY GROUP"} & set(found)
    assert set(found.values()) <= {"works", "advised"}, out
    assert state["violations"] == []
    assert state["depths"][STATISTICS_QUEUE] == 1


@pytest.mark.parametrize("binding", alone("ibmmq", "pymqi"))
def test_the_agent_stores_its_statistics(bindings: Bindings, binding: str, tmp_path: Path) -> None:
    """The agent says at its start that it takes them, takes them, asks nothing in vain and stores what they tell."""
    store = tmp_path / "samples.db"
    with stand_in(only=("QM01",), distributed=("PARTNER",)) as running:
        running.at("PARTNER").plant(STATISTICS_QUEUE, data=statistics("ORDERS.REPLY", 10, 0))
        words = ("agent", "--store", str(store), "--for", "4s")
        polling = {"interval": "1s"}
        code, _, err = run(bindings, binding, tmp_path, running.address("PARTNER"), *words, polling=polling)
        state = running.at("PARTNER").state()
    assert code == 0, err
    assert "are taken from SYSTEM.ADMIN.STATISTICS.QUEUE (destructive read)" in err
    warnings = [line.split()[2] for line in err.splitlines() if " WARNING " in line]
    assert set(warnings) == {"alert.firing"}, "its dead-letter queue holds a message, which the log names"
    assert state["violations"] == []
    assert state["depths"][STATISTICS_QUEUE] == 0
    with StoreReader.open(store) as reader:
        name = ObjectName("PARTNER", "queue", "ORDERS.REPLY")
        told = reader.current(name)
        assert (told["puts"].value, told["depth"].value) == (13, DEPTHS["ORDERS.REPLY"])
        (point,) = reader.trend(name, "puts", 1_795_176_000_000 - 60_000, 1_795_176_000_000 + 120_000).points
        assert point[:2] == (1_795_176_060_000, 13)
        channel = reader.current(ObjectName("PARTNER", "channel", "TO.QM01"))
        assert channel["nettime_us_short"].value == NETTIME_SHORT
        assert reader.current(ObjectName("PARTNER", "queue_manager"))["connections"].value == 17
