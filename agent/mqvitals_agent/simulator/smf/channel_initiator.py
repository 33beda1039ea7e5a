"""A channel initiator over an interval: its channels, and the tasks that work for them (115/231, 116/10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from zlib import crc32

from mqvitals_agent.simulator.smf.records import (
    ACCOUNTING,
    MOST_BYTES,
    QCCT,
    QCST,
    QCTADP,
    QCTDNS,
    QCTDSP,
    QCTSSL,
    STATISTICS,
    SectionPart,
    StatisticsInterval,
    coarse_tod_stamp,
    smf_record,
    tod_duration,
    tod_stamp,
)
from mqvitals_agent.simulator.state import ChannelInstance, ChannelState, MemberState

NEVER: Final = 0x8FFF_FFFF
"""The shortest time when none was measured."""
_ENDED: Final = frozenset({"INACTIVE", "STOPPED"})
"""States in which a channel has no dispatcher."""
_TYPES: Final = {"SENDER": 1, "SERVER": 2, "RECEIVER": 3, "REQUESTER": 4, "SVRCONN": 7, "CLUSRCVR": 8, "CLUSSDR": 9}
_STATES: Final = {
    "INACTIVE": 0,
    "BINDING": 1,
    "STARTING": 2,
    "RUNNING": 3,
    "STOPPING": 4,
    "RETRYING": 5,
    "STOPPED": 6,
    "REQUESTING": 7,
    "PAUSED": 8,
    "DISCONNECTED": 9,
    "INITIALIZING": 13,
    "SWITCHING": 14,
}
_PRIVATE: Final = 4
_STATISTICS_MEDIUM: Final = 33
_DATA_LIMIT_KB: Final = 5000
_PARTNER_VERSION: Final = "09040000"
_CLIENT_APPLICATION: Final = 28
"""The length of the end of a client application's name in QCSTRQMN."""


@dataclass(frozen=True, slots=True)
class ChannelActivity:
    """The messages of a channel instance in the interval. ``gets`` and ``puts`` are MQI calls for messages.

    ``network_us`` is the sum of the network times of all messages and batches, ``retries`` the attempts to reach the
    partner.
    """

    place: int
    messages: int
    batches: int
    buffers: int
    sends: bool
    client: bool
    network_us: int
    retries: int
    active: bool


@dataclass(slots=True)
class _ChannelMark:
    channel: ChannelState
    instance: ChannelInstance
    totals: tuple[int, ...] = ()
    messages: int = 0
    batches: int = 0
    short_left: int = 0
    full: int = 0
    empty: int = 0
    retries: int = 0
    weight: int = 0
    network_sum: int = 0
    shortest: int = NEVER
    longest: int = 0
    longest_at: int | None = None
    held: int = 0


class ChannelMeter:
    """Measures the channels that a queue manager has now, second by second."""

    def __init__(self, member: MemberState) -> None:
        self._member = member
        self._marks = [
            _ChannelMark(channel, instance) for channel in member.channels_by_name() for instance in channel.instances
        ]
        for mark in self._marks:
            mark.totals = _totals(mark.instance)
            mark.messages, mark.batches = mark.instance.messages, mark.instance.batches
            mark.short_left = mark.instance.short_left
        # Clients have neither batches nor a network time: their totals are enough.
        self._in_batches = [mark for mark in self._marks if not mark.channel.client]

    def second(self, now: int) -> None:
        """One second has passed, until ``now``."""
        for mark in self._in_batches:
            instance = mark.instance
            moved, batches = instance.messages - mark.messages, instance.batches - mark.batches
            mark.retries += max(mark.short_left - instance.short_left, 0)
            mark.messages, mark.batches, mark.short_left = instance.messages, instance.batches, instance.short_left
            if not batches:
                continue
            size = mark.channel.batch_size
            # The fewest possible batches: all but the last were full.
            full = moved // size if batches == -(-moved // size) else 0
            mark.full += full
            if mark.channel.sends:
                mark.empty += batches - full
                if instance.network_us is not None:
                    _measure(mark, instance.network_us[0], batches, now)
                    mark.held += instance.network_us[0] * (moved + batches)

    def moved(self) -> list[ChannelActivity]:
        """The activity of each instance, with its place among all of the queue manager."""
        found = []
        for place, mark in enumerate(self._marks):
            messages, batches, sent, received, *_ = self._since(mark)
            found.append(
                ChannelActivity(
                    place,
                    messages,
                    batches,
                    sent + received,
                    mark.channel.sends,
                    mark.channel.client,
                    mark.held,
                    mark.retries,
                    mark.instance.status not in _ENDED,
                )
            )
        return found

    def sections(self, now: int, level: int, dispatchers: Mapping[int, int]) -> Iterator[bytes]:
        """A section for each instance; ``dispatchers``: the dispatcher of an instance, by its place."""
        for place, mark in enumerate(self._marks):
            yield QCST.pack(self._values(mark, now, dispatchers.get(place, 0)), level)

    def _values(self, mark: _ChannelMark, now: int, dispatcher: int) -> dict[str, int | str]:
        channel, instance = mark.channel, mark.instance
        messages, batches, buffers_sent, buffers_received, bytes_sent, bytes_received = self._since(mark)
        client, sends = channel.client, channel.sends
        queue = self._member.queues.get(instance.transmission_queue)
        size = queue.message_bytes if queue else 0
        if not client and not sends:
            size = max(bytes_received // messages if messages else 0, 0)
        partner = instance.partner[-_CLIENT_APPLICATION:] if client else instance.partner
        return {
            "collected": tod_stamp(now),
            "channel": channel.name,
            "disposition": _PRIVATE,
            "type": _TYPES[channel.kind],
            "status": _STATES.get(instance.status, 3),
            "statistics": _STATISTICS_MEDIUM,
            "connection": instance.connection_name,
            "started": coarse_tod_stamp(instance.started),
            "last_message": coarse_tod_stamp(instance.last_message),
            "batch_size": 1 if client else channel.batch_size,
            "messages": messages,
            "persistent": 0 if client else messages,
            "batches": batches,
            "full_batches": mark.full,
            "buffers_sent": buffers_sent,
            "buffers_received": buffers_received,
            "conversations": instance.conversations,
            "message_bytes": 0 if client else messages * size,
            "persistent_bytes": 0 if client else messages * size,
            "bytes_sent": bytes_sent,
            "bytes_received": bytes_received,
            "exit_shortest": NEVER,
            "network_average": _mean(mark),
            "network_shortest": mark.shortest,
            "network_longest": mark.longest,
            "network_longest_at": tod_stamp(mark.longest_at),
            "partner": partner,
            "queue_empty": mark.empty,
            "batch_interval": channel.batch_interval_ms if sends else 0,
            "data_limit": _DATA_LIMIT_KB,
            "dispatcher": dispatcher,
            "product": "MQJB" if client else "MQMV",
            "version": _PARTNER_VERSION,
        }

    @staticmethod
    def _since(mark: _ChannelMark) -> tuple[int, ...]:
        return tuple(now - then for now, then in zip(_totals(mark.instance), mark.totals, strict=True))


def _totals(instance: ChannelInstance) -> tuple[int, ...]:
    return (
        instance.messages,
        instance.batches,
        instance.buffers_sent,
        instance.buffers_received,
        instance.bytes_sent,
        instance.bytes_received,
    )


def _measure(mark: _ChannelMark, us: int, batches: int, now: int) -> None:
    """Add the network time of ``batches``, as the channel's indicator has it."""
    mark.weight += batches
    mark.network_sum += us * batches
    mark.shortest = min(mark.shortest, us)
    if us > mark.longest:
        mark.longest, mark.longest_at = us, now


def _mean(mark: _ChannelMark) -> int:
    return mark.network_sum // mark.weight if mark.weight else 0


_GET_US, _PUT_US, _CALL_US, _COMMIT_US = 26.0, 38.0, 55.0, 110.0
"""The elapsed time of an adapter for one request: a get or put for a channel, a client's call, the end of a batch."""
_CPU_SHARE: Final = 0.6
"""The share of processor time; the rest is waiting, mostly for the log."""
_HELD: Final = 0.02
"""A batch on its way to the partner holds locks: each further call waits for this share of the network's time."""
_BUFFER_US, _BUFFER_CPU_US = 14.0, 12.5
"""Elapsed and processor time of a dispatcher for one buffer sent or received."""
_RESOLVE_US, _RESOLVE_CPU_US = 2_400.0, 90.0
_FIRST_TASK: Final = 0x8C_0000
_BETWEEN_TASKS: Final = 0x298


@dataclass(frozen=True, slots=True)
class TaskWork:
    """Requests of an interval, their processor time and the time that tasks were busy with them (microseconds)."""

    requests: int = 0
    cpu_us: float = 0.0
    busy_us: float = 0.0

    def __add__(self, other: TaskWork) -> TaskWork:
        return TaskWork(self.requests + other.requests, self.cpu_us + other.cpu_us, self.busy_us + other.busy_us)


def adapter_work(moved: ChannelActivity) -> TaskWork:
    """The work of adapters for a channel instance."""
    if moved.client:
        return TaskWork(moved.messages, moved.messages * _CALL_US * _CPU_SHARE, moved.messages * _CALL_US)
    own_us = moved.messages * (_GET_US if moved.sends else _PUT_US) + moved.batches * _COMMIT_US
    return TaskWork(moved.messages + moved.batches, own_us * _CPU_SHARE, own_us + moved.network_us * _HELD)


def dispatcher_work(moved: ChannelActivity) -> TaskWork:
    """The work of the dispatcher for a channel instance."""
    return TaskWork(moved.buffers, moved.buffers * _BUFFER_CPU_US, moved.buffers * _BUFFER_US)


def resolver_work(moved: Sequence[ChannelActivity]) -> TaskWork:
    """The work of the DNS task: the addresses of partners that channels try to reach again."""
    retries = sum(each.retries for each in moved)
    return TaskWork(retries, retries * _RESOLVE_CPU_US, retries * _RESOLVE_US)


def spread(work: TaskWork, tasks: int, length_us: int) -> list[TaskWork]:
    """Distribute the work of an interval over ``tasks``; a request takes the first free task.

    The share of each is the overflow of those before it less its own overflow (Erlang's loss formula); the overflow of
    all waits and is shared equally. Every request goes to some task.
    """
    load = work.busy_us / length_us if length_us else 0.0
    lost = [1.0]
    for number in range(1, tasks + 1):
        lost.append(load * lost[-1] / (number + load * lost[-1]))
    shares = [before - after + lost[-1] / tasks for before, after in pairwise(lost)]
    found, given, reached = [], 0, 0.0
    for number, share in enumerate(shares, start=1):
        reached += share
        until = work.requests if number == tasks else round(work.requests * reached)
        requests, given = until - given, until
        part = requests / work.requests if work.requests else 0.0
        found.append(TaskWork(requests, work.cpu_us * part, min(work.busy_us * part, length_us)))
    return found


def task_values(work: TaskWork, length_us: int, member: str, kind: str, number: int) -> dict[str, int | str]:
    """The values of a task's section; busy and waiting time add up to the interval exactly."""
    whole, busy = tod_duration(length_us), tod_duration(min(work.busy_us, length_us))
    return {
        "task": task_address(member, kind, number),
        "requests": work.requests,
        "cpu": min(tod_duration(work.cpu_us), whole),
        "elapsed": busy,
        "wait": whole - busy,
    }


def task_address(member: str, kind: str, number: int) -> int:
    """The address of its control block identifies a task."""
    return _FIRST_TASK + (crc32(f"{member}/{kind}".encode()) & 0xFFF8) - number * _BETWEEN_TASKS


def longest_us(work: TaskWork) -> float:
    """The longest of the DNS task's requests; all take the same time."""
    return work.busy_us / work.requests if work.requests else 0.0


_OVERHEAD: Final = 200
"""An upper limit of the bytes of a record beside its channels."""
_STORAGE_31_MB, _STORAGE_64_MB, _LIMIT_64_MB = 60, 150, 2048
_CHANNELS_A_MB: Final = 10


class ChannelInitiatorMeter:
    """Measures a channel initiator, second by second."""

    def __init__(self, member: MemberState) -> None:
        self._member = member
        self._channels = ChannelMeter(member)

    def second(self, now: int) -> None:
        """One second has passed, until ``now``."""
        self._channels.second(now)

    def records(self, interval: StatisticsInterval) -> Iterator[bytes]:
        """Its records of an interval; none while it is down."""
        if not self._member.chinit_running:
            return
        moved = self._channels.moved()
        number = max(self._started("dispatchers"), 1)
        homes = {each.place: order % number for order, each in enumerate(each for each in moved if each.active)}
        yield self._statistics(interval, moved, homes)
        found = list(self._channels.sections(interval.ended, interval.level, homes))
        most = (MOST_BYTES - _OVERHEAD) // QCST.length(interval.level)
        for at in range(0, len(found), most):
            part = SectionPart(found[at : at + most])
            yield smf_record(ACCOUNTING, 10, {1: part}, interval, places=2, more=at + most < len(found))

    def _statistics(self, interval: StatisticsInterval, moved: list[ChannelActivity], homes: dict[int, int]) -> bytes:
        parts = {
            1: SectionPart([self._limits(interval)]),
            2: SectionPart(self._dispatchers(interval, moved, homes), QCTDSP.length()),
            3: SectionPart(self._adapters(interval, moved), QCTADP.length()),
            4: SectionPart(self._ssl(interval), QCTSSL.length()),
            5: SectionPart([self._resolver(interval, moved)]),
        }
        return smf_record(STATISTICS, 231, parts, interval, places=6)

    def _limits(self, interval: StatisticsInterval) -> bytes:
        member = self._member
        instances = [each for channel in member.channels.values() for each in channel.instances]
        current = sum(each.status != "INACTIVE" for each in instances)
        active = sum(each.active for each in instances)
        return QCCT.pack(
            {
                "job": f"{member.name}CHIN",
                "group": interval.group,
                "channels": current,
                "most_channels": member.max_channels,
                "active": active,
                "most_active": member.max_active_channels,
                "most_tcp": member.max_channels,
                "most_lu62": 0,
                "storage_31": _STORAGE_31_MB + current // _CHANNELS_A_MB,
                "storage_64": _STORAGE_64_MB + current // _CHANNELS_A_MB,
                "limit_64": _LIMIT_64_MB,
            },
            interval.level,
        )

    def _dispatchers(
        self, interval: StatisticsInterval, moved: list[ChannelActivity], homes: dict[int, int]
    ) -> list[bytes]:
        found = []
        for number in range(self._started("dispatchers")):
            mine = [each for each in moved if homes.get(each.place) == number]
            work = sum(map(dispatcher_work, mine), TaskWork())
            own = self._values(work, interval, "dispatcher", number)
            found.append(QCTDSP.pack({**own, "channels": len(mine)}))
        return found

    def _adapters(self, interval: StatisticsInterval, moved: list[ChannelActivity]) -> list[bytes]:
        work = sum(map(adapter_work, moved), TaskWork())
        number = self._started("adapters")
        shares = spread(work, number, interval.length_ms * 1000) if number else []
        return [QCTADP.pack(self._values(share, interval, "adapter", place)) for place, share in enumerate(shares)]

    def _ssl(self, interval: StatisticsInterval) -> list[bytes]:
        # No channel of the simulated group has a cipher: its SSL tasks wait.
        return [
            QCTSSL.pack(self._values(TaskWork(), interval, "ssl", number)) for number in range(self._started("ssl"))
        ]

    def _resolver(self, interval: StatisticsInterval, moved: list[ChannelActivity]) -> bytes:
        work = resolver_work(moved)
        own = self._values(work, interval, "dns", 0)
        if work.requests:
            own |= {"longest_at": tod_stamp(interval.ended), "longest": tod_duration(longest_us(work))}
        return QCTDNS.pack(own)

    def _values(self, work: TaskWork, interval: StatisticsInterval, kind: str, number: int) -> dict[str, int | str]:
        return task_values(work, interval.length_ms * 1000, self._member.name, kind, number)

    def _started(self, kind: str) -> int:
        return self._member.tasks[kind][0]
