"""A channel initiator over an interval: its channels, and the tasks that work for them (115/231, 116/10)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mqvitals_agent.simulator.answers.queue_manager import tasks
from mqvitals_agent.simulator.smf.channel_initiator_tables import QCCT, QCST, QCTADP, QCTDNS, QCTDSP, QCTSSL
from mqvitals_agent.simulator.smf.channel_meter import ChannelMeter, Moved
from mqvitals_agent.simulator.smf.moment import duration, stamp
from mqvitals_agent.simulator.smf.record import ACCOUNTING, MOST_BYTES, STATISTICS, Interval, Part, record
from mqvitals_agent.simulator.smf.task import (
    Work,
    adapter_work,
    dispatcher_work,
    longest_us,
    resolver_work,
    spread,
    values,
)
from mqvitals_agent.simulator.state import Member

_NOT_ACTIVE: Final = ("RETRYING", "STOPPED", "INACTIVE")
_OVERHEAD: Final = 200
"""More bytes than a record has beside its channels."""
_STORAGE_31_MB, _STORAGE_64_MB, _LIMIT_64_MB = 60, 150, 2048
_CHANNELS_A_MB: Final = 10


class ChannelInitiatorMeter:
    """Follows a channel initiator from now on, second by second."""

    def __init__(self, member: Member) -> None:
        self._member = member
        self._channels = ChannelMeter(member)

    def second(self, now: int) -> None:
        """One second has passed, until ``now``."""
        self._channels.second(now)

    def records(self, interval: Interval) -> Iterator[bytes]:
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
            part = Part(found[at : at + most])
            yield record(ACCOUNTING, 10, {1: part}, interval, places=2, more=at + most < len(found))

    def _statistics(self, interval: Interval, moved: list[Moved], homes: dict[int, int]) -> bytes:
        parts = {
            1: Part([self._limits(interval)]),
            2: Part(self._dispatchers(interval, moved, homes), QCTDSP.length()),
            3: Part(self._adapters(interval, moved), QCTADP.length()),
            4: Part(self._ssl(interval), QCTSSL.length()),
            5: Part([self._resolver(interval, moved)]),
        }
        return record(STATISTICS, 231, parts, interval, places=6)

    def _limits(self, interval: Interval) -> bytes:
        member = self._member
        states = [each.status for channel in member.channels.values() for each in channel.instances]
        current = len(states) - states.count("INACTIVE")
        active = sum(state not in _NOT_ACTIVE for state in states)
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

    def _dispatchers(self, interval: Interval, moved: list[Moved], homes: dict[int, int]) -> list[bytes]:
        found = []
        for number in range(self._started("dispatchers")):
            mine = [each for each in moved if homes.get(each.place) == number]
            work = sum(map(dispatcher_work, mine), Work())
            own = self._values(work, interval, "dispatcher", number)
            found.append(QCTDSP.pack({**own, "channels": len(mine)}))
        return found

    def _adapters(self, interval: Interval, moved: list[Moved]) -> list[bytes]:
        work = sum(map(adapter_work, moved), Work())
        number = self._started("adapters")
        shares = spread(work, number, interval.length_ms * 1000) if number else []
        return [QCTADP.pack(self._values(share, interval, "adapter", place)) for place, share in enumerate(shares)]

    def _ssl(self, interval: Interval) -> list[bytes]:
        # No channel of the simulated group has a cipher: its SSL tasks wait.
        return [QCTSSL.pack(self._values(Work(), interval, "ssl", number)) for number in range(self._started("ssl"))]

    def _resolver(self, interval: Interval, moved: list[Moved]) -> bytes:
        work = resolver_work(moved)
        own = self._values(work, interval, "dns", 0)
        if work.requests:
            own |= {"longest_at": stamp(interval.ended), "longest": duration(longest_us(work))}
        return QCTDNS.pack(own)

    def _values(self, work: Work, interval: Interval, kind: str, number: int) -> dict[str, int | str]:
        return values(work, interval.length_ms * 1000, self._member.name, kind, number)

    def _started(self, kind: str) -> int:
        return tasks(self._member, kind)[0]
