"""Coupling facility structures and shared message data sets over an interval (115/2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mqvitals_agent.simulator.smf.records import QESD, QEST, QEST_NAME, SLOT_BYTES, SLOTS, tod_duration
from mqvitals_agent.simulator.smf.storage import QueueTraffic
from mqvitals_agent.simulator.state import GroupState, MemberState, StructureState

_SINGLE_US, _MULTIPLE_US = 8.5, 26.0
"""The time of one request to the coupling facility."""
_GETS_A_MULTIPLE: Final = 10
_ELEMENT_BYTES: Final = 256
_BLOCK_BYTES: Final = 262_144
_BUFFERS: Final = 100
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
            name: _StructureMark(each.entries_used, each.size_used_kb, each.smds_used_blocks, self._messages(name))
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
                mark.most_messages = max(mark.most_messages, self._messages(name))

    def requests(self) -> bytes:
        """The section of all structures, the administration structure in the first slot."""
        values: dict[str, int | str] = {}
        ordered = self._ordered()[:SLOTS]
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
            for slot, structure in enumerate(self._ordered())
            if structure.offload == "SMDS"
        ]

    def _data_set(self, slot: int, structure: StructureState) -> bytes:
        mark, total, used = self._marks[structure.name], structure.smds_total_blocks, structure.smds_used_blocks
        saved = min(used, _BUFFERS - 1)
        return QESD.pack(
            {
                "structure": structure.name,
                "number": slot,
                "blocks": total,
                "data_blocks": total,
                "blocks_used": used,
                "blocks_free": total - used,
                "messages": self._messages(structure.name),
                "allocations": mark.puts,
                "releases": mark.gets,
                "most_messages": mark.most_messages,
                "most_used": mark.most_used,
                "fewest_free": total - mark.most_used,
                "buffer_bytes": _BLOCK_BYTES,
                "buffers": _BUFFERS,
                "buffers_used": 1,
                "buffers_saved": saved,
                "buffers_empty": _BUFFERS - 1 - saved,
                "reads_asked": mark.gets,
                "reads_saved": mark.gets * _SAVED_PCT // 100,
                "writes_asked": mark.puts,
                "most_buffers": _BUFFERS - _BUFFERS // 2,
                "fewest_buffers": _BUFFERS // 2,
                "interval_bytes": _INTERVAL_BYTES,
            }
        )

    def _ordered(self) -> list[StructureState]:
        return sorted(self._group.structures.values(), key=lambda each: (each.kind != "ADMIN", each.name))

    def _shared_totals(self) -> dict[str, tuple[int, int]]:
        return {name: (queue.put_total, queue.got_total) for name, queue in self._group.shared_queues.items()}

    def _messages(self, structure: str) -> int:
        return sum(queue.depth for queue in self._group.shared_queues.values() if queue.structure == structure)
