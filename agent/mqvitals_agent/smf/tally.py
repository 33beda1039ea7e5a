"""What was found in SMF data: how many records and sections of each kind, what was passed over, what was damaged."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from mqvitals_agent.smf.error import SmfError


@dataclass(slots=True)
class Tally:
    """Counts everything that is read.

    ``records`` by type and subtype are MQ's and were read; ``sections`` by name; ``skipped`` by type are others than MQ's; ``unknown``
    by type and subtype are MQ's without a table of ours. ``damage`` tells of every record that was lost, in the order found.
    """

    records: Counter[tuple[int, int]] = field(default_factory=Counter)
    sections: Counter[str] = field(default_factory=Counter)
    skipped: Counter[int] = field(default_factory=Counter)
    unknown: Counter[tuple[int, int]] = field(default_factory=Counter)
    damage: list[SmfError] = field(default_factory=list)

    def damaged(self, error: SmfError) -> None:
        """Note that a record was lost."""
        self.damage.append(error)

    def lines(self) -> tuple[str, ...]:
        """A summary in words, one thing a line."""
        total, parts = sum(self.records.values()), sum(self.sections.values())
        found = [f"{total:,} record{'s' * (total != 1)} of MQ, {parts:,} section{'s' * (parts != 1)}"]
        found += [f"  {kind}/{subtype}: {count:,}" for (kind, subtype), count in sorted(self.records.items())]
        if self.unknown:
            told = ", ".join(f"{kind}/{subtype} {count:,}" for (kind, subtype), count in sorted(self.unknown.items()))
            found.append(f"for IBM's use, or newer than this program: {told}")
        if self.skipped:
            told = ", ".join(f"type {kind} {count:,}" for kind, count in sorted(self.skipped.items()))
            found.append(f"not MQ's, passed over: {told}")
        found.append(f"damaged: {len(self.damage):,}")
        found += [f"  {error}" for error in self.damage]
        return tuple(found)
