"""A table as data: columns that know how to show and sort an item, and items. Cells are made only for lines that are seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.view.severity import Health
from mqvitals_rules.snapshot import ObjectName


class Tone(Enum):
    """How a piece of text is meant; the words say it too. Each looks different from the others in every theme."""

    PLAIN = "plain"
    FAINT = "faint"  # what matters less: titles, units, zeros of no interest
    STRONG = "strong"
    STALE = "stale"  # a figure that is too old to tell how it is now
    ABSENT = "absent"  # there is no figure, and the text says why
    UNKNOWN = "unknown"
    OK = "ok"
    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


def tone_of(health: Health) -> Tone:
    """The tone of a health."""
    return Tone(health.word)


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


class Span(NamedTuple):
    """A piece of a line of styled text."""

    text: str
    tone: Tone = Tone.PLAIN


class Line(NamedTuple):
    """A line of styled text; ``key`` names what Enter on it opens (an object's whole name), empty: nothing."""

    spans: tuple[Span, ...]
    key: str = ""

    @property
    def text(self) -> str:
        """The plain text."""
        return "".join(span.text for span in self.spans)


def line(text: str = "", tone: Tone = Tone.PLAIN, key: str = "") -> Line:
    """A line of one tone."""
    return Line((Span(text, tone),), key)
