"""Cells as they come from a file, checked: a damaged one may hold what its column never does.

Every function gives its argument back. Raises TypeError, or ValueError for a moment out of range.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

LAST_MOMENT = 253_402_300_799_999
"""The end of the year 9999, ms since 1970 UTC."""

Types = frozenset[type]
"""The types that values of a metric may have, None among them."""

_TYPES: Mapping[str, Types] = {
    "TEXT": frozenset({str, type(None)}),
    "INTEGER": frozenset({int, type(None)}),
    "ANY": frozenset({int, float, type(None)}),
}


def numbered(*parameters: Any) -> dict[str, Any]:
    """Parameters for a statement with ``?1``, ``?2`` and so on, which are names to sqlite3: a sequence does not fit them."""
    return {str(number): parameter for number, parameter in enumerate(parameters, start=1)}


def text(cell: Any) -> str:
    """A text."""
    if cell.__class__ is str:
        return cell
    raise TypeError(f"{cell!r:.60} is no text")


def integer(cell: Any) -> int:
    """A whole number."""
    if cell.__class__ is int:
        return cell
    raise TypeError(f"{cell!r:.60} is no whole number")


def moment(cell: Any) -> int:
    """A moment, ms since 1970 UTC."""
    if cell.__class__ is int and 0 <= cell <= LAST_MOMENT:
        return cell
    raise ValueError(f"{cell!r:.60} is no moment")


def moment_or_none(cell: Any) -> int | None:
    """A moment, or none."""
    return None if cell is None else moment(cell)


def integer_or_none(cell: Any) -> int | None:
    """A whole number, or none."""
    return None if cell is None else integer(cell)


def real_or_none(cell: Any) -> float | None:
    """A number, or none."""
    if cell is None or cell.__class__ is float:
        return cell
    return float(integer(cell))


def types_of(columns: Iterable[str]) -> tuple[Types, ...]:
    """What columns declared as TEXT, INTEGER or ANY (a number) may hold."""
    return tuple(_TYPES[column] for column in columns)


def values(cells: Sequence[Any], types: Iterable[Types]) -> Sequence[Any]:
    """Values of metrics, each of one of its ``types``."""
    for cell, known in zip(cells, types, strict=True):
        if cell.__class__ not in known:
            raise TypeError(f"{cell!r:.60} is no value of this metric")
    return cells
