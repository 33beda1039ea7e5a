"""A table as data: columns that know how to show and sort an item, and items. Cells are made only for lines that are seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Tone
from mqvitals_rules.snapshot import ObjectName


class Cell(NamedTuple):
    """One cell's text (safe for a terminal) and how it is meant."""

    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Item:
    """One object of a list: its name, how it is, and the newest of its metrics. ``stale``: its owner has been silent."""

    name: ObjectName
    health: Health
    values: Mapping[str, CurrentValue]
    stale: bool = False

    @property
    def key(self) -> str:
        """What a cursor follows when lines move: the whole name."""
        return str(self.name)


@dataclass(frozen=True, slots=True)
class Column:
    """A column: title with the unit, width in cells, and what it makes of an item at the moment ``now``.

    ``order`` gives a key to sort by, the smallest first; absent values come last either way (None).
    """

    id: str
    title: str
    width: int
    cell: Callable[[Item, int], Cell]
    order: Callable[[Item], float | str | None]
    right: bool = False
