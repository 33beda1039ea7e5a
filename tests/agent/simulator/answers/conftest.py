"""A small group made by hand, and somebody who asks and collects."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta, timezone

import pytest

from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.connection.connection import Exchange, Query
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.answer import AnswerTracker, MemberAnswer
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.poll.collector import Collector
from mqvitals_agent.poll.probe import QueryOptions
from mqvitals_agent.poll.queries import PROBES
from mqvitals_agent.simulator.connector import SimulatedConnection, SimulatedConnector
from mqvitals_agent.simulator.state import (
    BufferPoolState,
    ChannelInstance,
    ChannelState,
    GroupState,
    LogState,
    MemberState,
    PageSetState,
    QueueState,
    StructureState,
)
from mqvitals_agent.threads import run_in_loop
from mqvitals_rules.snapshot import Snapshot
from mqvitals_rules.vocabulary.metric import Reported

BEGAN = 1795176000000  # 2026-11-20 12:00:00 UTC
HOUR = 3_600_000
ZONES = dict.fromkeys(("QM01", "QM02", "QM03"), HOUR)
WAIT_MS = 10_000


class FixedGroup:
    """A group that stands still: only its time goes on, and ``at`` says what happens when it is moved past a moment."""

    def __init__(self, group: GroupState) -> None:
        self.group = group
        self.at: list[tuple[int, Callable[[GroupState], None]]] = []

    def advance(self, now: int) -> GroupState:
        """The same group with the time of now."""
        for moment, change in list(self.at):
            if now >= moment:
                change(self.group)
                self.at.remove((moment, change))
        self.group.now = now
        return self.group


class Talk:
    """Asks the simulated queue managers what the probes ask, and collects the answers."""

    def __init__(self, group: GroupState) -> None:
        self.group = group
        self.clock = VirtualClock(BEGAN)
        self.simulation = FixedGroup(group)
        zones = {name: timezone(timedelta(milliseconds=zone)) for name, zone in ZONES.items()}
        self.collector = Collector(group.site, sorted(group.members), zones.get)
        self._decoder = Decoder()
        self._connections: dict[str, SimulatedConnection] = {}

    def connect(self, queue_manager: str = "QM01") -> SimulatedConnection:
        """A new connection."""
        return run_in_loop(SimulatedConnector(self.simulation, queue_manager, self.clock).connect(), self.clock)

    def send(
        self, command: int, request: bytes, queue_manager: str = "QM01", *, wait_ms: int = WAIT_MS, feed: bool = True
    ) -> Exchange:
        """Ask with a request's own bytes."""
        if queue_manager not in self._connections:
            self._connections[queue_manager] = self.connect(queue_manager)
        exchange = run_in_loop(self._connections[queue_manager].ask(Query(command, request), wait_ms), self.clock)
        if feed:
            self.collector.feed(exchange)
        return exchange

    def ask(
        self, command: int, question: QueryOptions | None = None, queue_manager: str = "QM01", *, wait_ms: int = WAIT_MS
    ) -> Exchange:
        """Ask what the probe asks."""
        return self.send(command, PROBES[command].ask(question or QueryOptions()), queue_manager, wait_ms=wait_ms)

    def everything(self) -> None:
        """Ask every queue manager everything that the probes know."""
        for name in self.group.members:
            for command in PROBES:
                self.ask(command, queue_manager=name)
            self.ask(mq.MQCMD_INQUIRE_USAGE, QueryOptions(part=mq.MQIACF_ALL), name)
            for part in (mq.MQIACF_CF_STATUS_BACKUP, mq.MQIACF_CF_STATUS_CONNECT, mq.MQIACF_CF_STATUS_SMDS):
                self.ask(mq.MQCMD_INQUIRE_CF_STRUC_STATUS, QueryOptions(part=part), name)

    def heard(self, exchange: Exchange) -> tuple[MemberAnswer, ...]:
        """What was answered, once it is verified that the answer is complete at its last message and not before."""
        tracker = AnswerTracker()
        for reply in exchange.replies:
            assert not tracker.complete
            assert (reply.encoding, reply.ccsid) == (785, 500)
            tracker.add(self._decoder.decode(reply.data, reply.ccsid))
        assert tracker.complete == (exchange.error is None)
        return tracker.answers()

    def names(self, exchange: Exchange, number: int) -> list[object]:
        """One parameter of every item of an answer."""
        return [item.get(number) for member in self.heard(exchange) for item in member.items]

    def reason(self, exchange: Exchange) -> int:
        """The reason of an answer of one queue manager."""
        (member,) = self.heard(exchange)
        return member.reason

    def end(self) -> CycleValues:
        """End the cycle; the next one begins 10 s after it."""
        snapshots = self.collector.end_cycle()
        self.clock.set(self.clock.now() + 10_000)
        return CycleValues(snapshots)


class CycleValues:
    """The metrics of one cycle."""

    def __init__(self, snapshots: tuple[Snapshot, ...]) -> None:
        self.values: dict[tuple[str, str], Reported] = {}
        self.objects: set[str] = set()
        for snapshot in snapshots:
            for reading in snapshot.readings:
                if reading.gone:
                    continue
                self.objects.add(str(reading.object))
                for metric, value in reading.values.items():
                    self.values[str(reading.object), metric] = value

    def of(self, name: str, *metrics: str) -> list[Reported]:
        """Some metrics of an object."""
        return [self.values[name, metric] for metric in metrics]


def _queues() -> dict[str, QueueState]:
    return {
        queue.name: queue
        for queue in (
            QueueState(
                "ORDERS.REQUEST",
                "Orders [/x] <b>",
                storage_class="ORDERS",
                max_depth=5000,
                high_pct=90,
                low_pct=10,
                message_bytes=2000,
                altered=BEGAN - 10 * HOUR,
                depth=321,
                input_handles=3,
                output_handles=4,
                uncommitted=17,
                last_put=BEGAN - 2_000,
                last_get=BEGAN - 95_000,
                oldest_put=BEGAN - 123_400,
                times_us=(4_200, 3_900),
            ),
            QueueState("ORDERS.REPLY", persistent=False, monitoring="QMGR", altered=BEGAN),
            QueueState("PARTNER.XMIT", usage="XMITQ", depth=7, monitoring="HIGH", oldest_put=BEGAN - 1_000),
            QueueState(
                "UNWATCHED",
                monitoring="OFF",
                depth=5,
                last_put=BEGAN - 1,
                oldest_put=BEGAN - HOUR,
                times_us=(1, 2),
            ),
        )
    }


def _channels() -> dict[str, ChannelState]:
    sender = ChannelInstance(
        started=BEGAN - 3 * HOUR,
        connection_name="mq.partner.example(1414)",
        partner="PTNRQM",
        transmission_queue="PARTNER.XMIT",
        status="RUNNING",
        substate="MQGET",
        indoubt=True,
        last_message=BEGAN - 4_000,
        messages=1_000,
        bytes_sent=999_999_990,
        bytes_received=500,
        buffers_sent=60,
        buffers_received=61,
        batches=44,
        current_messages=9,
        current_sequence=1_009,
        last_sequence=1_000,
        short_left=8,
        long_left=777,
        waiting=5_000,
        network_us=(190, 195),
        exit_us=(0, 1),
        transmission_us=(17_729, 17_700),
        batch_size=(22, 21),
    )
    clients = [
        ChannelInstance(BEGAN - HOUR, f"10.60.1.{number}", "orders.jar", conversations=2, messages=50, substate="")
        for number in (20, 21)
    ]
    return {
        channel.name: channel
        for channel in (
            ChannelState(
                "TO.PARTNER",
                "SENDER",
                "To the partner",
                "mq.partner.example(1414)",
                "PARTNER.XMIT",
                batch_size=40,
                batch_interval_ms=100,
                heartbeat_s=120,
                altered=BEGAN - 5 * HOUR,
                instances=[sender],
            ),
            ChannelState("FROM.PARTNER", "RECEIVER"),
            ChannelState("APP.SVRCONN", "SVRCONN", monitoring="OFF", instances=clients),
        )
    }


@pytest.fixture
def group() -> GroupState:
    """PRDQ: three members, four structures, a shared queue; QM01 has the interesting things."""
    members = {
        name: MemberState(
            name,
            number,
            zone_ms=ZONES[name],
            started=BEGAN - 13 * 24 * HOUR,
            chinit_started=BEGAN - 24 * HOUR,
            tasks={"adapters": (7, 8), "dispatchers": (5, 5), "ssl": (3, 4), "dns": (1, 1)},
            max_channels=400,
            max_active_channels=300,
            log=LogState(full_logs=2, rba=0x1A0ABCDEF0, archiving=True, suspended=True),
            pools={0: BufferPoolState(0, 5000, 4158), 3: BufferPoolState(3, 20_000, 2_999, "BELOW", "4KB", 1)},
            page_sets={0: PageSetState(0, 0, 20_160, 1_612), 4: PageSetState(4, 3, 40_000, 10_000, 2_000, 2, "SYSTEM")},
            storage_classes={"DEFAULT": 0, "ORDERS": 4},
            shared_handles={"APPL1.ORDERS": (number, 10 * number)},
        )
        for number, name in enumerate(ZONES, start=1)
    }
    members["QM01"].queues = _queues()
    members["QM01"].channels = _channels()
    structures = {
        structure.name: structure
        for structure in (
            StructureState(
                "CSQ_ADMIN", "ADMIN", size_max_kb=20_480, size_used_kb=820, entries_max=9_362, entries_used=58
            ),
            StructureState(
                "APPL1",
                size_used_kb=262_144,
                entries_used=62_500,
                offload="SMDS",
                backup_started=BEGAN - 21 * 60_000,
                backup_ended=BEGAN - 20 * 60_000,
                backup_size_mb=212,
                smds_total_blocks=20_000,
                smds_used_blocks=420,
            ),
            StructureState("APPL2", status="FAILED"),
            StructureState("NOREC", recover=False, level=4),
        )
    }
    shared = QueueState(
        "APPL1.ORDERS",
        structure="APPL1",
        depth=27,
        last_put=BEGAN - 3_000,
        last_get=BEGAN - 4_000,
        oldest_put=BEGAN - 9_000,
        times_us=(3_824, 4_000),
        altered=BEGAN - 100 * HOUR,
    )
    return GroupState("PRDQSG", "PRDQ", BEGAN, members, structures, {shared.name: shared})


@pytest.fixture
def talk(group: GroupState) -> Talk:
    """Somebody who talks with that group."""
    return Talk(group)
