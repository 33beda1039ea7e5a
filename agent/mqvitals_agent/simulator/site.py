"""The group that all scenarios begin with: its names, queue managers, structures, shared queues and cluster."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Final

from mqvitals_agent.simulator.state import (
    BufferPoolState,
    ChannelInstance,
    ChannelState,
    ClusterState,
    GroupState,
    LogState,
    MemberState,
    PageSetState,
    QueueState,
    StructureState,
    SubscriptionState,
)

_HOUR: Final = 3_600_000
_DAY: Final = 24 * _HOUR
ZONE_MS: Final = _HOUR
"""The local time of the group minus UTC."""
_CLUSTER: Final = "PRDCLUS"
_OTHERS_OF_CLUSTER: Final = 5
_TALKING: Final = 4
"""So many members, in the order of their numbers, have channels to each other."""
_MEMBERS_OF_ADMIN: Final = 9
"""An administration structure of 20 MB has the list entries of so many members: each needs 1000."""


@dataclass(frozen=True, slots=True)
class SimulatedNames:
    """The names of a simulated group: ``group``, at most four characters, and those of its ``count`` queue managers, which are
    ``prefix`` (two characters) and a number of two digits.
    """

    group: str = "PRDQ"
    prefix: str = "QM"
    count: int = 4

    @property
    def site(self) -> str:
        """What the group is called where the settings do not name it."""
        return f"{self.group}SG"

    @property
    def members(self) -> tuple[str, ...]:
        """The queue managers, in the order of their numbers."""
        return tuple(self.member(number) for number in range(1, self.count + 1))

    def member(self, number: int) -> str:
        """The queue manager with this number, from 1."""
        return f"{self.prefix}{number:02}"

    def partners(self, number: int) -> list[str]:
        """The members that one has channels to: the first four have them among themselves, the next four, and so on."""
        first = (number - 1) // _TALKING * _TALKING + 1
        last = min(first + _TALKING - 1, self.count)
        return [self.member(other) for other in range(first, last + 1) if other != number]


DEFAULT_NAMES: Final = SimulatedNames()


def build(begin: int, names: SimulatedNames = DEFAULT_NAMES) -> GroupState:
    """The group as of ``begin``, ms since 1970 UTC."""
    started = begin - 9 * _DAY
    group = GroupState(names.site, names.group, begin)
    group.clusters[_CLUSTER] = _cluster(names)
    for number, name in enumerate(names.members, start=1):
        group.members[name] = _member(names, number, started, begin)
    parts = ceil(names.count / _MEMBERS_OF_ADMIN)
    group.structures = {
        "CSQ_ADMIN": StructureState(
            "CSQ_ADMIN",
            kind="ADMIN",
            size_max_kb=20_480 * parts,
            size_used_kb=1_200,
            entries_max=9_362 * parts,
            entries_used=53,
        ),
        "APPL1": StructureState("APPL1", size_used_kb=12_000),
        "APPL2": StructureState(
            "APPL2", offload="SMDS", size_used_kb=9_000, smds_total_blocks=4_000, smds_used_blocks=180
        ),
    }
    for name in ("APPL1", "APPL2"):
        structure_state = group.structures[name]
        structure_state.backup_started, structure_state.backup_ended = begin - _HOUR, begin - _HOUR + 4_000
        structure_state.backup_size_mb = 12
    for name, structure in (("APPL1.ORDERS", "APPL1"), ("APPL1.STOCK", "APPL1"), ("APPL2.DOCUMENTS", "APPL2")):
        group.shared_queues[name] = QueueState(
            name, structure=structure, description="shared", altered=started, max_depth=240_000
        )
    return group


def _cluster(names: SimulatedNames) -> ClusterState:
    """The cluster of the members and five others. Two have a full repository; another one knows these and whom it has used."""
    first, second, third, fourth = (names.member(number) for number in range(1, 5))
    used = {third: (fourth, names.member(5), names.member(7)), fourth: ()}
    for number in range(5, names.count + 1):
        used[names.member(number)] = tuple(names.partners(number))
    known = tuple(names.member(number) for number in range(1, names.count + _OTHERS_OF_CLUSTER + 1))
    return ClusterState(_CLUSTER, known, repositories=(first, second), partial=used)


def _member(names: SimulatedNames, number: int, started: int, begin: int) -> MemberState:
    name = names.member(number)
    member = MemberState(
        name,
        number,
        zone_ms=ZONE_MS,
        started=started,
        chinit_started=started + 20_000,
        max_channels=3_000,
        max_active_channels=3_000,
        log=LogState(log_bytes=150_000_000),
        storage_classes={"DEFAULT": 3, "SYSTEM": 0, "APPL": 3, "REMOTE": 2, "BATCH": 4},
    )
    for pool, buffers, free in ((0, 10_000, 9_100), (1, 10_000, 8_300), (2, 20_000, 15_000), (3, 20_000, 13_000)):
        member.pools[pool] = BufferPoolState(pool, buffers, free)
    for page_set, pool, total, used in (
        (0, 0, 100_000, 9_000),
        (1, 1, 200_000, 31_000),
        (2, 2, 400_000, 88_000),
        (3, 3, 400_000, 120_000),
        (4, 2, 800_000, 410_000),
    ):
        member.page_sets[page_set] = PageSetState(page_set, pool, total, persistent=used)
    for queue, storage_class, size in (
        ("ORDERS.REQUEST", "APPL", 3_600),
        ("ORDERS.REPLY", "APPL", 1_200),
        ("PAYMENTS.IN", "APPL", 2_000),
        ("REMOTE.IN", "APPL", 1_500),
        ("BATCH.FEED", "BATCH", 4_000),
        ("SYSTEM.COMMAND.INPUT", "SYSTEM", 500),
        ("SYSTEM.DEAD.LETTER.QUEUE", "SYSTEM", 1_000),
    ):
        member.queues[queue] = QueueState(queue, storage_class=storage_class, message_bytes=size, altered=started)
    member.queues["SYSTEM.COMMAND.INPUT"].shareable = False
    member.subscriptions.append(SubscriptionState("PRICES.NIGHTLY", "BATCH.FEED", "BATCHUSR"))
    address_of = {names.member(other): f"10.20.0.{10 + other}" for other in range(1, names.count + 1)}
    others = names.partners(number)
    for partner in (*others, "PARTNER"):
        member.queues[partner] = QueueState(
            partner, usage="XMITQ", storage_class="REMOTE", altered=started, shareable=False, triggered=True,
            trigger_type="FIRST", initiation_queue="SYSTEM.CHANNEL.INITQ",
        )  # fmt: skip
        address = f"{address_of.get(partner, '192.0.2.17')}(1414)"
        instance = ChannelInstance(begin - 5 * _HOUR, address, partner, partner)
        member.channels[f"TO.{partner}"] = ChannelState(
            f"TO.{partner}", "SENDER", "", address, partner, altered=started, instances=[instance]
        )
    received = [ChannelInstance(begin - 5 * _HOUR, address_of[other], other, substate="RECEIVE") for other in others]
    member.channels[f"TO.{name}"] = ChannelState(f"TO.{name}", "RECEIVER", altered=started, instances=received)
    clients = [
        ChannelInstance(
            begin - (3 + place) * _HOUR, f"10.30.4.{place + 20}", "ordersapp", substate="RECEIVE", conversations=4
        )
        for place in range(3)
    ]
    member.channels["CLIENTS.ORDERS"] = ChannelState(
        "CLIENTS.ORDERS", "SVRCONN", altered=started, instances=clients, most_instances=330, most_of_an_address=160
    )
    return member


def enlarge(group: GroupState, queues: int, channels: int) -> tuple[list[QueueState], list[ChannelInstance]]:
    """Add queues and channels, spread over the members; returns the queues and the channels' instances."""
    members = list(group.members.values())
    added: list[QueueState] = []
    instances: list[ChannelInstance] = []
    for place in range(queues):
        member = members[place % len(members)]
        name = f"APP{place % 97:02d}.QUEUE.{place:05d}"
        member.queues[name] = QueueState(
            name,
            storage_class="APPL",
            altered=member.started,
            input_handles=1 + place % 3,
            output_handles=place % 4,
            last_put=group.now - place % 3_600 * 1000,
            last_get=group.now - place % 3_600 * 1000,
            put_total=place * 7,
            got_total=place * 7,
            times_us=(900 + place % 700, 1_000),
        )
        added.append(member.queues[name])
    for place in range(channels):
        member = members[place % len(members)]
        name = f"CLIENT.APP{place:04d}"
        instance = ChannelInstance(
            group.now - place % 86_400 * 1000 - _HOUR,
            f"10.40.{place // 250}.{place % 250}",
            f"app{place % 97:02d}",
            substate="RECEIVE",
            last_message=group.now - place % 600 * 1000,
            messages=place * 31,
            bytes_received=place * 31_000,
            bytes_sent=place * 9_300,
            buffers_sent=place * 31,
            buffers_received=place * 31,
            conversations=1 + place % 5,
        )
        member.channels[name] = ChannelState(name, "SVRCONN", altered=member.started, instances=[instance])
        instances.append(instance)
    return added, instances
