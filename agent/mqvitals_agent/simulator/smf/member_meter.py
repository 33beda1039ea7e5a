"""A queue manager over one interval, and the records it then writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from mqvitals_agent.simulator.smf.channel_initiator_meter import ChannelInitiatorMeter
from mqvitals_agent.simulator.smf.log_meter import LogMeter
from mqvitals_agent.simulator.smf.queue_manager_tables import Q5ST, QIST, QLST, QMST, QSST, QTST
from mqvitals_agent.simulator.smf.record import STATISTICS, Interval, Part, record
from mqvitals_agent.simulator.smf.storage_meter import StorageMeter
from mqvitals_agent.simulator.smf.structure_meter import StructureMeter
from mqvitals_agent.simulator.smf.traffic import Traffic, private_traffic
from mqvitals_agent.simulator.state import Group, Member

_RECORDS: Final = 8
"""More than a queue manager writes of one interval; the sequence numbers of intervals do not meet."""
_GETMAINS: Final = 12
_DB2_TASKS: Final = 4
_LOCKS_A_MESSAGE: Final = 2


class MemberMeter:
    """Follows a queue manager from now on, second by second, until the interval's end.

    ``up_since`` says when it was started that is up at a moment (both ms since 1970 UTC): from then on it numbers its records.
    """

    def __init__(self, group: Group, member: Member, up_since: Callable[[int], int]) -> None:
        self._up_since = up_since
        self._group = group
        self._member = member
        self._began = self._now = group.now
        self._before = private_traffic(member)
        self._storage = StorageMeter(member)
        self._log = LogMeter(member)
        self._structures = StructureMeter(group, member)
        self._channel_initiator = ChannelInitiatorMeter(member)

    @property
    def lasts(self) -> bool:
        """True once it has seen a second."""
        return self._now > self._began

    def second(self, living: list[str]) -> None:
        """One second has passed; ``living``: the members that are up, this one among them."""
        self._now = self._group.now
        self._storage.second()
        self._log.second(self._now)
        self._structures.second(living)
        self._channel_initiator.second(self._now)

    def records(self) -> Iterator[bytes]:
        """The records of the interval, which ends with the last second seen."""
        member = self._member
        interval = Interval(
            member.name,
            member.number,
            self._group.name,
            member.command_level,
            member.zone_ms,
            self._began,
            self._now,
        )
        level, sequence = interval.level, max(self._now - self._up_since(self._now), 1_000) // 1000 * _RECORDS
        own = private_traffic(member).since(self._before)
        shared = self._structures.traffic
        system = {
            9: [QSST.pack({"getmains": _GETMAINS, "freemains": _GETMAINS})],
            11: [self._log.section(own.persistent, interval.length_ms)],
        }
        statistics = (
            (1, system, 12),
            (2, self._messages(own, shared, level), 9),
            (215, {1: self._storage.pools(own)}, 2),
            (201, {1: self._storage.page_sets()}, 2),
        )
        for order, (subtype, sections, places) in enumerate(statistics):
            parts = {place: Part(found) for place, found in sections.items() if found}
            yield record(STATISTICS, subtype, parts, interval, places=places, sequence=sequence + order)
        yield from self._channel_initiator.records(interval)

    def _messages(self, own: Traffic, shared: Traffic, level: int) -> dict[int, list[bytes]]:
        puts, gets = own.puts + shared.puts, own.gets + shared.gets
        persistent = own.persistent + shared.persistent
        put_bytes = own.put_bytes + shared.put_bytes
        persistent_bytes = own.persistent_bytes + shared.persistent_bytes
        from_disk = min(self._storage.read_pages, own.gets)
        messages = QMST.pack(
            {
                "gets": gets,
                "puts": puts,
                "persistent": persistent,
                "nonpersistent": puts - persistent,
                "persistent_bytes": persistent_bytes,
                "nonpersistent_bytes": put_bytes - persistent_bytes,
            },
            level,
        )
        data = QIST.pack(
            {"gets": gets, "puts": puts, "gets_from_disk": from_disk, "gets_from_pool": own.gets - from_disk}
        )
        locks = _LOCKS_A_MESSAGE * (puts + gets)
        return {
            1: [messages],
            2: [data],
            4: [QLST.pack({"locks": locks, "releases": locks})],
            5: [Q5ST.pack({"tasks": _DB2_TASKS, "active_tasks": _DB2_TASKS + 1})],
            6: [self._structures.requests()],
            7: [QTST.pack({})],
            8: self._structures.data_sets(),
        }
