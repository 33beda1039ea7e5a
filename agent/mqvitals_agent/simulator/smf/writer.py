"""Writes the simulated group's SMF records, interval after interval, into a folder or a stream; its coupling facility
structures and shared message data sets (115/2).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

from mqvitals_agent.simulator.answers.storage import SMDS_BLOCK_KB, SMDS_BUFFERS
from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.smf.channel_initiator import ChannelInitiatorMeter
from mqvitals_agent.simulator.smf.records import (
    Q5ST,
    QESD,
    QEST,
    QEST_NAME,
    QIST,
    QLST,
    QMST,
    QSST,
    QTST,
    SLOT_BYTES,
    SLOTS,
    STATISTICS,
    SectionPart,
    StatisticsInterval,
    smf_record,
    tod_duration,
)
from mqvitals_agent.simulator.smf.storage import LogMeter, QueueTraffic, StorageMeter, private_traffic
from mqvitals_agent.simulator.state import GroupState, MemberState, StructureState
from mqvitals_agent.simulator.traffic import STEP_MS

_SINGLE_US, _MULTIPLE_US = 8.5, 26.0
"""The time of one request to the coupling facility."""
_GETS_A_MULTIPLE: Final = 10
_ELEMENT_BYTES: Final = 256
_SAVED_PCT: Final = 80
_NAME_AT: Final = 8
_INTERVAL_BYTES: Final = 4096


@dataclass(slots=True)
class _StructureMark:
    entries: int
    size_kb: int
    most_used: int
    most_messages: int
    full: int = 0
    puts: int = 0
    gets: int = 0


class StructureMeter:
    """Measures the group's structures, second by second, and one member's requests to them."""

    def __init__(self, group: GroupState, member: MemberState) -> None:
        self._group = group
        self._member = member
        self._traffic = QueueTraffic()
        self._totals = self._shared_totals()
        self._marks = {
            name: _StructureMark(each.entries_used, each.size_used_kb, each.smds_used_blocks, group.messages_in(name))
            for name, each in group.structures.items()
        }

    @property
    def traffic(self) -> QueueTraffic:
        """The messages that this member has put on shared queues and got from them."""
        return self._traffic

    def second(self, running: list[str]) -> None:
        """One second has passed; ``running``: the members that are up, this one among them. They share the work
        evenly.
        """
        place, members = running.index(self._member.name), len(running)
        totals = self._shared_totals()
        for name, queue in self._group.shared_queues.items():
            # The first members get the remainder, so that the sum is right.
            puts, gets = (
                (now - then + members - 1 - place) // members
                for now, then in zip(totals[name], self._totals[name], strict=True)
            )
            self._traffic.add(queue, puts, gets)
            mark = self._marks[queue.structure]
            mark.puts += puts
            mark.gets += gets
        self._totals = totals
        for name, structure in self._group.structures.items():
            mark = self._marks[name]
            mark.entries = max(mark.entries, structure.entries_used)
            mark.size_kb = max(mark.size_kb, structure.size_used_kb)
            mark.full += structure.entries_used >= structure.entries_max
            if structure.offload == "SMDS":
                mark.most_used = max(mark.most_used, structure.smds_used_blocks)
                mark.most_messages = max(mark.most_messages, self._group.messages_in(name))

    def requests(self) -> bytes:
        """The section of all structures, the administration structure in the first slot."""
        values: dict[str, int | str] = {}
        ordered = self._group.ordered_structures()[:SLOTS]
        for slot, structure in enumerate(ordered):
            mark = self._marks[structure.name]
            single, multiple = mark.puts + mark.gets, -(-mark.gets // _GETS_A_MULTIPLE)
            values |= {
                f"single_{slot}": single,
                f"multiple_{slot}": multiple,
                f"single_time_{slot}": tod_duration(single * _SINGLE_US),
                f"multiple_time_{slot}": tod_duration(multiple * _MULTIPLE_US),
                f"full_{slot}": mark.full,
                f"entries_{slot}": mark.entries,
                f"elements_{slot}": mark.size_kb * 1024 // _ELEMENT_BYTES,
            }
        data = bytearray(QEST.pack(values))
        for slot, structure in enumerate(ordered):
            at = _NAME_AT + SLOT_BYTES * slot
            data[at : at + QEST_NAME.length()] = QEST_NAME.pack({"name": structure.name, "number": slot})
        return bytes(data)

    def data_sets(self) -> list[bytes]:
        """A section for each structure that offloads to shared message data sets."""
        return [
            self._data_set(slot, structure)
            for slot, structure in enumerate(self._group.ordered_structures())
            if structure.offload == "SMDS"
        ]

    def _data_set(self, slot: int, structure: StructureState) -> bytes:
        mark, total, used = self._marks[structure.name], structure.smds_total_blocks, structure.smds_used_blocks
        saved = min(used, SMDS_BUFFERS - 1)
        return QESD.pack(
            {
                "structure": structure.name,
                "number": slot,
                "blocks": total,
                "data_blocks": total,
                "blocks_used": used,
                "blocks_free": total - used,
                "messages": self._group.messages_in(structure.name),
                "allocations": mark.puts,
                "releases": mark.gets,
                "most_messages": mark.most_messages,
                "most_used": mark.most_used,
                "fewest_free": total - mark.most_used,
                "buffer_bytes": SMDS_BLOCK_KB * 1024,
                "buffers": SMDS_BUFFERS,
                "buffers_used": 1,
                "buffers_saved": saved,
                "buffers_empty": SMDS_BUFFERS - 1 - saved,
                "reads_asked": mark.gets,
                "reads_saved": mark.gets * _SAVED_PCT // 100,
                "writes_asked": mark.puts,
                "most_buffers": SMDS_BUFFERS - SMDS_BUFFERS // 2,
                "fewest_buffers": SMDS_BUFFERS // 2,
                "interval_bytes": _INTERVAL_BYTES,
            }
        )

    def _shared_totals(self) -> dict[str, tuple[int, int]]:
        return {name: (queue.put_total, queue.got_total) for name, queue in self._group.shared_queues.items()}


_RECORDS: Final = 8
"""More than a queue manager writes of one interval; the sequence numbers of intervals do not meet."""
_GETMAINS: Final = 12
_DB2_TASKS: Final = 4
_LOCKS_A_MESSAGE: Final = 2


class MemberMeter:
    """Measures a queue manager, second by second, until the interval's end.

    ``up_since`` returns the start of the queue manager that is up at a time (both ms since 1970 UTC), from which on it
    numbers its records.
    """

    def __init__(self, group: GroupState, member: MemberState, up_since: Callable[[int], int]) -> None:
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

    def second(self, running: list[str]) -> None:
        """One second has passed; ``running``: the members that are up, this one among them."""
        self._now = self._group.now
        self._storage.second()
        self._log.second(self._now)
        self._structures.second(running)
        self._channel_initiator.second(self._now)

    def records(self) -> Iterator[bytes]:
        """The records of the interval, which ends with the last second seen."""
        member = self._member
        interval = StatisticsInterval(
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
            parts = {place: SectionPart(found) for place, found in sections.items() if found}
            yield smf_record(STATISTICS, subtype, parts, interval, places=places, sequence=sequence + order)
        yield from self._channel_initiator.records(interval)

    def _messages(self, own: QueueTraffic, shared: QueueTraffic, level: int) -> dict[int, list[bytes]]:
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


KEPT: Final = 10
"""The number of intervals that wait to be written, and of files that stay in a folder."""
_PATTERN: Final = "SMF-*.dat"


class SmfWriter:
    """Writes the records of a group. Intervals end at multiples of ``interval_ms`` (whole seconds) since 1970 UTC.

    The records only depend on the group and the ends of intervals, as long as ``write_due`` is called at least once in
    ``KEPT`` intervals. A queue manager that goes down ends its interval early; the next one begins when it is up again.
    """

    def __init__(self, simulation: SimulatedGroup, target: Path | BinaryIO, interval_ms: int) -> None:
        """``target``: a folder, which gets a file ``SMF-<end>.dat`` for each interval, or a stream.

        Create it before the group is advanced: it does not see earlier seconds. Raises ValueError for an interval that
        is not of whole seconds.
        """
        if interval_ms <= 0 or interval_ms % STEP_MS:
            raise ValueError(f"an interval is of whole seconds, not of {interval_ms} ms")
        self._simulation = simulation
        self._target = target
        self._interval_ms = interval_ms
        self._due: deque[tuple[int, bytes]] = deque(maxlen=KEPT)
        self._ended: list[bytes] = []
        self._meters = self._begun(simulation.group)
        simulation.watch(self, simulated_ms=(KEPT + 1) * interval_ms)

    @property
    def interval_ms(self) -> int:
        """The statistics interval."""
        return self._interval_ms

    def second(self, group: GroupState) -> None:
        """One second of the group has passed."""
        if not self._meters:
            # After a leap: the interval in which it ended is unknown.
            self._begin(group)
            return
        running = [name for name in group.members if group.is_up(name)]
        for name, meter in self._meters.items():
            if name in running:
                meter.second(running)
            else:
                self._stop(group, name, meter)
        if self._ends(group.now):
            self._end(group)

    def leap(self, group: GroupState) -> None:
        """Rounds have been added: their intervals are not written, nor those seen in part."""
        self._ended.clear()
        self._due.clear()
        self._meters = {}
        self._begin(group)

    def write_due(self, now: int) -> list[Path]:
        """Write the intervals that have ended until ``now``, ms since 1970 UTC; returns the files, none for a stream.

        A file appears under its name when it is complete. An existing file stays: the records of an interval are always
        the same. All but the last ``KEPT`` files of this kind are deleted. Raises OSError.
        """
        self._simulation.advance(now)
        due = list(self._due)
        self._due.clear()
        if not isinstance(self._target, Path):
            for _, data in due:
                self._target.write(data)
            return []
        written = [path for ended, data in due if (path := _put(self._target, ended, data)) is not None]
        if due:
            for path in sorted(self._target.glob(_PATTERN))[:-KEPT]:
                path.unlink(missing_ok=True)
        return written

    def _meter(self, group: GroupState, name: str) -> MemberMeter:
        return MemberMeter(group, group.members[name], partial(self._simulation.up_since, name))

    def _begun(self, group: GroupState) -> dict[str, MemberMeter]:
        return {name: self._meter(group, name) for name in group.members}

    def _ends(self, now: int) -> bool:
        # The group's seconds may differ from those of the clock: the first one at or after the end counts.
        return now % self._interval_ms < STEP_MS

    def _begin(self, group: GroupState) -> None:
        if self._ends(group.now):
            self._simulation.settle()
            self._meters = self._begun(group)

    def _stop(self, group: GroupState, name: str, meter: MemberMeter) -> None:
        """A queue manager is down: write its last record."""
        self._simulation.settle()
        if meter.lasts:
            self._ended += meter.records()
        self._meters[name] = self._meter(group, name)

    def _end(self, group: GroupState) -> None:
        self._simulation.settle()
        for name, meter in self._meters.items():
            if meter.lasts:
                self._ended += meter.records()
                self._meters[name] = self._meter(group, name)
        if self._ended:
            self._due.append((group.now, b"".join(self._ended)))
            self._ended = []


def _put(folder: Path, ended: int, data: bytes) -> Path | None:
    """The file of the interval that ended then; None when it is there already."""
    path = folder / f"SMF-{datetime.fromtimestamp(ended // 1000, UTC):%Y%m%dT%H%M%SZ}.dat"
    if path.exists():
        return None
    part = folder / f".{path.name}.part"
    part.write_bytes(data)
    part.replace(path)
    return path
