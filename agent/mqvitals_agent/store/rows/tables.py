"""Tables and columns of each kind, made from the vocabulary; cells as they are bound and as they are read.

Names of tables and columns come from the vocabulary alone and are checked here; every other value reaches SQL as a
bound parameter. A damaged file may hold in a cell what its column never does: what is read is checked, which raises
TypeError, or ValueError for a timestamp out of range. Readings of one probe share their metrics: where each column's
value is found is worked out once for each set of metrics, and a row is then one call of C code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple

from mqvitals_rules.snapshot import Reading, Source
from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric, MetricType, Reported
from mqvitals_rules.vocabulary.tables import KINDS

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
    """Parameters for a statement with ``?1``, ``?2`` and so on, which are names to sqlite3: a sequence does
    not fit them.
    """
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


def checked_values(cells: Sequence[Any], types: Iterable[Types]) -> Sequence[Any]:
    """Values of metrics, each of one of its ``types``."""
    for cell, known in zip(cells, types, strict=True):
        if cell.__class__ not in known:
            raise TypeError(f"{cell!r:.60} is no value of this metric")
    return cells


POLL = int(Source.POLL)
"""The source of a sample: an answer to one of our commands. ``Source`` has the others."""

OBJECT_ID = "SELECT id FROM object WHERE owner = ? AND kind = ? AND name = ?"
"""The query for the number of an object."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
_FIXED = frozenset({"ts", "object_id", "source", "interval_ms", "polled", "probe", "changed", "absent"})


@dataclass(frozen=True, slots=True)
class KindTables:
    """Names, columns and statements of one kind's tables.

    ``numbers`` are the metrics of history, ``counters`` those of them whose values are increases, ``metrics`` those of
    current state.
    """

    kind: str
    history: str
    current: str
    numbers: tuple[str, ...]
    metrics: tuple[str, ...]
    types: Mapping[str, str]
    counters: frozenset[str]

    @classmethod
    def of(cls, kind: Kind) -> KindTables:
        """The tables of ``kind``. Raises ValueError for a name that cannot be a column."""
        for name in (kind.name, *(metric.name for metric in kind.metrics)):
            if not _NAME.fullmatch(name) or name in _FIXED:
                raise ValueError(f"{kind.name}: {name!r} cannot be the name of a column")
        return cls(
            kind=kind.name,
            history=f"sample_{kind.name}",
            current=f"current_{kind.name}",
            numbers=tuple(metric.name for metric in kind.metrics if metric.in_history),
            metrics=tuple(metric.name for metric in kind.metrics),
            types={metric.name: _type(metric) for metric in kind.metrics},
            counters=frozenset(metric.name for metric in kind.metrics if metric.type is MetricType.COUNTER),
        )

    def statements(self, existing: Mapping[str, frozenset[str]]) -> list[str]:
        """What gives a store, whose tables have the columns ``existing``, every table and column of this kind."""
        wanted = []
        for table, columns, create in (
            (self.history, self.numbers, self._create_history),
            (self.current, self.metrics, self._create_current),
        ):
            present = existing.get(table)
            if present is None:
                wanted.append(create())
            else:
                wanted += [
                    f"ALTER TABLE {table} ADD COLUMN {self._column(name)}" for name in columns if name not in present
                ]
        return wanted

    def insert_history(self, columns: tuple[str, ...]) -> str:
        """Parameters: ts, object_id, interval_ms, polled, then ``columns``, which are some of ``numbers``; the others
        are NULL.

        A cycle that is written again replaces its row.
        """
        return (
            f"INSERT OR REPLACE INTO {self.history}(source, ts, object_id, interval_ms, polled{_listed(columns)})"
            f" VALUES({POLL}, ?, ?, ?, ?{', ?' * len(columns)})"
        )

    def merge_history(self) -> str:
        """Parameters: source, then those of ``insert_history`` with all ``numbers``: a sample of records.

        Values of other probes' records of the same end stay; the same record written again changes nothing.
        """
        updates = "".join(f', "{name}" = coalesce(excluded."{name}", "{name}")' for name in self.numbers)
        return (
            f"INSERT INTO {self.history}(source, ts, object_id, interval_ms, polled{_listed(self.numbers)})"
            f" VALUES(?, ?, ?, ?, ?{', ?' * len(self.numbers)}) ON CONFLICT(ts, object_id, source) DO UPDATE SET"
            f" interval_ms = coalesce(max(excluded.interval_ms, interval_ms), excluded.interval_ms, interval_ms){updates}"
        )

    def upsert_current(self) -> str:
        """Parameters: object_id, probe, source, changed, absent, then ``metrics``."""
        updates = ", ".join(f'"{name}" = excluded."{name}"' for name in ("source", "changed", "absent", *self.metrics))
        return (
            f"INSERT INTO {self.current}(object_id, probe, source, changed, absent{_listed(self.metrics)})"
            f" VALUES(?, ?, ?, ?, ?{', ?' * len(self.metrics)})"
            f" ON CONFLICT(probe, object_id) DO UPDATE SET {updates}"
        )

    def update_current(self, metrics: Sequence[str]) -> str:
        """Parameters: changed, absent, then ``metrics``, then object_id, probe. Other columns keep what they have."""
        updates = "".join(f', "{name}" = ?' for name in metrics)
        return f"UPDATE {self.current} SET changed = ?, absent = ?{updates} WHERE object_id = ? AND probe = ?"  # noqa: S608

    def _create_history(self) -> str:
        # Time first: rows are appended at one end. Clustered by object, every poll would rewrite a page an object.
        columns = "".join(f", {self._column(name)}" for name in self.numbers)
        return (
            f"CREATE TABLE {self.history}(ts INTEGER NOT NULL, object_id INTEGER NOT NULL, source INTEGER NOT NULL,"
            f" interval_ms INTEGER, polled INTEGER NOT NULL{columns}, PRIMARY KEY(ts, object_id, source)"
            ") STRICT, WITHOUT ROWID"
        )

    def _create_current(self) -> str:
        # Probe first: what changes with every poll is not mixed, on one page, with definitions that hardly ever change.
        columns = "".join(f", {self._column(name)}" for name in self.metrics)
        return (
            f"CREATE TABLE {self.current}(probe TEXT NOT NULL, object_id INTEGER NOT NULL, source INTEGER NOT NULL,"
            f" changed INTEGER NOT NULL, absent TEXT{columns}, PRIMARY KEY(probe, object_id)) STRICT, WITHOUT ROWID"
        )

    def _column(self, name: str) -> str:
        return f'"{name}" {self.types[name]}'


def tables_of(kinds: Mapping[str, Kind]) -> dict[str, KindTables]:
    """The tables of every kind, by kind. Raises ValueError for a name that cannot be a column."""
    return dict(_shipped_tables()) if kinds is KINDS else _made(kinds)


@cache
def _shipped_tables() -> dict[str, KindTables]:
    # Every store that is opened needs them, and a change of the vocabulary is another program.
    return _made(KINDS)


def _made(kinds: Mapping[str, Kind]) -> dict[str, KindTables]:
    return {name: KindTables.of(kind) for name, kind in kinds.items()}


def _listed(names: tuple[str, ...]) -> str:
    return "".join(f', "{name}"' for name in names)


def _type(metric: Metric) -> str:
    match metric.type:
        case MetricType.TEXT:
            return "TEXT"
        case MetricType.STATE:
            return "INTEGER"
        case _:
            # Whole numbers stay whole and fractions stay fractions; REAL would turn a depth of 5 into 5.0.
            return "ANY"


MetricNames = tuple[str, ...]
"""The metrics of a reading, in its order."""

NULL = float("nan")
"""What to bind for NULL.

SQLite stores a NaN as NULL, and Python's module binds a float at once, but looks for an adapter for each None, which
takes ten times as long: with half the columns empty that doubles the time of a cycle.
"""

BLANK = (NULL,)
"""What stands behind cells for those columns that are not among them. To add two tuples is quicker than to unpack one."""

_SHAPES = 1024
"""A probe has a handful of shapes; whatever feeds us more must not fill the memory."""

Cells = tuple[Any, ...]
"""Values as they are bound: absent ones as NULL."""

Columns = Callable[[Sequence[Any]], tuple[Any, ...]]

Classes = tuple[type, ...]


class Spread(NamedTuple):
    """How values of certain ``classes`` become cells, of which some are absent.

    ``cells`` arranges the values and a NULL behind them; None: the values are the cells. ``reasons`` takes the absences
    out of the values; ``absent`` are their metrics.
    """

    classes: Classes
    cells: Columns | None
    reasons: Columns
    absent: MetricNames

    def cells_of(self, values: tuple[Reported, ...]) -> Cells:
        """The values as they are bound. Without absent ones they are ``values`` itself."""
        return values if self.cells is None else self.cells(values + BLANK)


class Shape:
    """The metrics of some readings, in their order. Compared by identity: thousands of readings have the same shape."""

    __slots__ = ("_spreads", "metrics")

    def __init__(self, metrics: MetricNames) -> None:
        self.metrics = metrics
        self._spreads: dict[Classes, Spread] = {}

    def spread(self, classes: Classes) -> Spread:
        """How values of these classes become cells."""
        found = self._spreads.get(classes)
        if found is None:
            absent = [place for place, each in enumerate(classes) if each is Absence]
            cells = None
            if absent:
                cells = _getter([len(classes) if each is Absence else place for place, each in enumerate(classes)])
            if len(self._spreads) >= _SHAPES:
                self._spreads.clear()
            found = Spread(classes, cells, _getter(absent), tuple(self.metrics[place] for place in absent))
            self._spreads[classes] = found
        return found

    def cells(self, values: tuple[Reported, ...]) -> Cells:
        """The values as they are bound. Without absent ones they are ``values`` itself."""
        return self.spread(tuple(map(type, values))).cells_of(values)


class Shapes:
    """Every shape once, by its metrics."""

    def __init__(self) -> None:
        self._known: dict[MetricNames, Shape] = {}

    def of(self, metrics: MetricNames) -> Shape:
        """The shape of readings with these metrics."""
        found = self._known.get(metrics)
        if found is None:
            if len(self._known) >= _SHAPES:
                self._known.clear()
            found = self._known[metrics] = Shape(metrics)
        return found


ReadingCells = tuple[Reading, Shape, Cells]
"""A reading, its metrics, and their cells in the same order. A plain tuple: a cycle makes thousands of them."""


class ColumnOrder:
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
        metrics = shape.metrics
        unknown = [metric for metric in metrics if metric not in self._known]
        if unknown:
            raise ValueError(f"the vocabulary has no metric {self._kind}.{unknown[0]}")
        place = {metric: index for index, metric in enumerate(metrics)}
        getter: Columns | None = None
        if len(place) == len(metrics):
            getter = _getter([place.get(column, len(metrics)) for column in self._columns])
        if len(self._getters) >= _SHAPES:
            self._getters.clear()
        self._getters[shape] = getter
        return getter


def _getter(places: Sequence[int]) -> Columns:
    if len(places) > 1:
        return itemgetter(*places)
    # itemgetter gives a tuple only for two places and more.
    return lambda row: tuple(row[place] for place in places)
