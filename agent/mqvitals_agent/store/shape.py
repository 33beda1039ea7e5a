"""From readings to rows of columns, thousands at a time.

Readings of one probe share their shape: which metrics they hold, in which order. Where each column's value is found is
worked out once a shape; a row is then one call of C code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from mqvitals_rules.snapshot import Reading
from mqvitals_rules.vocabulary.metric import Absence, Reported

Shape = tuple[str, ...]
"""The metrics of a reading, in its order."""

NULL = float("nan")
"""What to bind for NULL.

SQLite stores a NaN as NULL, and Python's module binds a float at once, but looks for an adapter for each None, which
takes ten times as long: with half the columns empty that doubles the time of a cycle.
"""

_SHAPES = 1024
"""A probe has a handful of shapes; whatever feeds us more must not fill the memory."""

Cells = tuple[Any, ...]
"""Values as they are bound: absent ones as NULL."""

Columns = Callable[[Sequence[Any]], tuple[Any, ...]]


class Spread(NamedTuple):
    """A reading, its metrics, and their cells in the same order."""

    reading: Reading
    shape: Shape
    cells: Cells


def spread(reading: Reading, shape: Shape, values: tuple[Reported, ...]) -> Spread:
    """Spread a reading out. Without absent values the cells are ``values`` itself."""
    if Absence in map(type, values):
        return Spread(reading, shape, cells(values))
    return Spread(reading, shape, values)


def cells(values: Iterable[Reported]) -> Cells:
    """The values as they are bound."""
    return tuple([NULL if value.__class__ is Absence else value for value in values])


class Arrangement:
    """Arranges the cells of readings into the columns of a table."""

    def __init__(self, columns: Sequence[str], known: Iterable[str], kind: str) -> None:
        """``columns`` in the order of the rows; ``known`` are all metrics of the kind, also those without a column."""
        self._columns = tuple(columns)
        self._known = frozenset(known)
        self._kind = kind
        self._getters: dict[Shape, Columns | None] = {}

    def of(self, shape: Shape) -> Columns | None:
        """What turns cells of this ``shape``, and a NULL behind them, into a row; None when a metric is in it twice.

        Raises ValueError for a metric that the kind does not have.
        """
        try:
            return self._getters[shape]
        except KeyError:
            pass
        unknown = [metric for metric in shape if metric not in self._known]
        if unknown:
            raise ValueError(f"the vocabulary has no metric {self._kind}.{unknown[0]}")
        place = {metric: index for index, metric in enumerate(shape)}
        getter: Columns | None = None
        if len(place) == len(shape):
            getter = _getter([place.get(column, len(shape)) for column in self._columns])
        if len(self._getters) >= _SHAPES:
            self._getters.clear()
        self._getters[shape] = getter
        return getter

    def row(self, values: Mapping[str, Reported]) -> tuple[Any, ...]:
        """The row of values merged by the caller. Raises ValueError for a metric that the kind does not have."""
        getter = self.of(tuple(values))
        assert getter is not None, "the keys of a mapping are different from each other"
        return getter((*cells(values.values()), NULL))


def _getter(places: Sequence[int]) -> Columns:
    if len(places) > 1:
        return itemgetter(*places)
    # itemgetter gives a tuple only for two places and more.
    return lambda row: tuple(row[place] for place in places)
