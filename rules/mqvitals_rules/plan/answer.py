"""What a formula answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Row = Mapping[str, int | float | str | None]
"""A line of a table: what each column says."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a formula's arithmetic comes to. ``value`` is in ``unit``; ``exact`` is it before it was rounded to whole ones (None: the same).

    ``steps`` tell the way, one sentence or equation each, with figures and units. ``rows`` where the answer is a table: ``value`` is then the
    row's that was asked for, or None. ``caveat`` is what holds for these inputs alone, beside the formula's own.
    """

    value: float | None
    unit: str
    steps: tuple[str, ...]
    exact: float | None = None
    rows: tuple[Row, ...] = ()
    caveat: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """An outcome with what it rests on. ``inputs`` are all of them, defaults included, by name."""

    formula: str
    inputs: Mapping[str, int | float | str]
    value: float | None
    unit: str
    exact: float | None
    measured_on: str
    caveat: str
    source: str
    steps: tuple[str, ...]
    rows: tuple[Row, ...] = field(default=())
