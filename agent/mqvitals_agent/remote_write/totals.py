"""Running totals of counters: the store keeps increases, engines are sent their sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mqvitals_agent.store.rows.remote_write import Totals
from mqvitals_agent.store.rows.sealed.codec import Cells

_Key = tuple[str, str]


class SentTotals:
    """The sum of all increases up to a place in the order of commits, by kind, metric and the number of the object.

    A sum is made in the order of the increases: begun from a former one with what came since, it is the same to the last bit.
    """

    def __init__(self, totals: Totals | None = None) -> None:
        self._totals: dict[_Key, dict[int, float]] = {key: dict(each) for key, each in (totals or {}).items()}

    def copy(self) -> dict[_Key, dict[int, float]]:
        """The totals as they are now."""
        return {key: each.copy() for key, each in self._totals.items()}

    def of(self, kind: str, metric: str) -> dict[int, float]:
        """The totals of a metric, by number, which the caller adds to."""
        return self._totals.setdefault((kind, metric), {})

    def forget_others(self, objects: Mapping[int, object]) -> None:
        """Keep the totals of these objects alone: the others are no longer in the store."""
        for each in self._totals.values():
            for number in each.keys() - objects.keys():
                del each[number]


def added(totals: dict[int, float], number: int, cells: Cells) -> Sequence[float | None]:
    """The total of an object after each increase, None where there is none; ``totals`` has the last one then."""
    total = totals.get(number, 0)
    found: list[float | None] = []
    for cell in cells:
        if cell is None:
            found.append(None)
        else:
            total += cell
            found.append(total)
    totals[number] = total
    return found
