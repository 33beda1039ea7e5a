"""What was found in SMF data: how many records and sections of each kind, what was passed over, what was damaged."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from mqvitals_agent.smf.error import SmfError

KEPT: Final = 10_000
"""So many damaged records of a file are told one by one, the others are counted: memory does not grow with the file."""


@dataclass(slots=True)
class Tally:
    """Counts everything that is read.

    ``records`` by type and subtype are MQ's and were read; ``sections`` by name; ``skipped`` by type are others than MQ's; ``unknown``
    by type and subtype are MQ's without a table of ours. ``lost`` counts what was damaged, ``damage`` tells of the first ``KEPT``, in the
    order found. ``selected`` is how many records and sections somebody asked for; None: all of them.
    """

    records: Counter[tuple[int, int]] = field(default_factory=Counter)
    sections: Counter[str] = field(default_factory=Counter)
    skipped: Counter[int] = field(default_factory=Counter)
    unknown: Counter[tuple[int, int]] = field(default_factory=Counter)
    damage: list[SmfError] = field(default_factory=list)
    lost: int = 0
    selected: tuple[int, int] | None = None

    def damaged(self, error: SmfError) -> None:
        """Note that a record was lost."""
        self.lost += 1
        if len(self.damage) < KEPT:
            self.damage.append(error)

    def lines(self) -> tuple[str, ...]:
        """A summary in words, one thing a line."""
        found = [_counted(sum(self.records.values()), sum(self.sections.values()))]
        found += [f"  {kind}/{subtype}: {count:,}" for (kind, subtype), count in sorted(self.records.items())]
        if self.unknown:
            told = ", ".join(f"{kind}/{subtype} {count:,}" for (kind, subtype), count in sorted(self.unknown.items()))
            found.append(f"for IBM's use, or newer than this program: {told}")
        if self.skipped:
            told = ", ".join(f"type {kind} {count:,}" for kind, count in sorted(self.skipped.items()))
            found.append(f"not MQ's, passed over: {told}")
        found.append(f"damaged: {self.lost:,}")
        found += [f"  {error}" for error in self.damage]
        if self.lost > len(self.damage):
            found.append(f"  and {self.lost - len(self.damage):,} more")
        if self.selected is not None:
            found.append(f"selected: {_counted(*self.selected)}")
        return tuple(found)


def _counted(records: int, parts: int) -> str:
    return f"{records:,} record{'s' * (records != 1)} of MQ, {parts:,} section{'s' * (parts != 1)}"
