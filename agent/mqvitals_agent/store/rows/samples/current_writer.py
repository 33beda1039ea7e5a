"""Writes the current state only where it changed, and what the journal and the changes of definitions say of it.

Three quarters of the values do not change from one poll to the next, and many objects do not change at all. So the
wide row of an object and probe is rewritten only when a value differs; when the probe last answered is one narrow row
in ``reading``.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Any, Final, NamedTuple

from mqvitals_agent.store.rows.changes import CONTEXT, TEMPORARY_DYNAMIC, Change, differences, insert_changes
from mqvitals_agent.store.rows.journal import (
    BACK,
    FIRST_SEEN,
    GONE,
    ROUTINE_MS,
    JournalEntry,
    followed_change,
    insert_entries,
    is_routine,
    kept_entries,
)
from mqvitals_agent.store.rows.tables import (
    BLANK,
    NULL,
    Cells,
    ColumnOrder,
    Columns,
    KindTables,
    MetricNames,
    ReadingCells,
    Shape,
    Shapes,
    Spread,
    Types,
    checked_values,
    types_of,
)
from mqvitals_rules.snapshot import ObjectName, Reading, Source
from mqvitals_rules.vocabulary.changes import ALTERED, RECORDED
from mqvitals_rules.vocabulary.journal import DEFINING, FOLLOWED, EntryKind
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.queue import QUEUE_KIND
from mqvitals_rules.vocabulary.queue_manager import QUEUE_MANAGER_KIND

_POLL = Source.POLL
_COMPARED: Final[Mapping[str, Mapping[str, frozenset[str]]]] = {
    kind: {
        command: RECORDED.get(kind, {}).get(command, frozenset()) | FOLLOWED.get(kind, {}).get(command, {}).keys()
        for command in {**RECORDED.get(kind, {}), **FOLLOWED.get(kind, {})}
    }
    for kind in {**RECORDED, **FOLLOWED}
}
"""Kind -> command -> the metrics whose other value is a change of a definition or an entry of the journal."""

_ABSENCES = 4096
"""Texts of absences that are remembered, and shapes of definitions."""


class _LastStored:
    """What was last stored of an object and probe: when (None: never answered), and what (None: not known here).

    ``reasons`` are those of its absent values, and ``absent`` is what was stored of them.
    """

    __slots__ = ("absent", "place", "reasons", "spread", "ts", "values")

    def __init__(self, ts: int | None) -> None:
        self.ts = ts
        self.place: _Place | None = None
        self.values: tuple[Reported, ...] | None = None
        self.spread: Spread | None = None
        self.reasons: tuple[Absence, ...] = ()
        self.absent: str | float = NULL


class _Place:
    """Where the values of readings of one kind, probe and shape go: ``rows`` waits to be written.

    ``definition`` takes what of a definition or of the journal is in them; None: the probe has nothing of that.
    """

    __slots__ = ("definition", "kind", "rows", "shape")

    def __init__(self, kind: str, shape: Shape, definition: Columns | None) -> None:
        self.kind = kind
        self.shape = shape
        self.definition = definition
        self.rows: list[tuple[Any, ...]] = []


class _DefinitionQuery(NamedTuple):
    """How the attributes of a definition are read from the file; parameters: probe, object_id."""

    names: MetricNames
    types: tuple[Types, ...]
    query: str


class CurrentWriter:
    """Collects the changes of one snapshot and writes them.

    The caller owns the transaction, and calls ``load`` after a rollback.
    """

    def __init__(self, connection: sqlite3.Connection, tables: Mapping[str, KindTables], shapes: Shapes) -> None:
        self._connection = connection
        self._tables = tables
        self._arrangements = {kind: ColumnOrder(table.metrics, table.metrics, kind) for kind, table in tables.items()}
        self._shapes = shapes
        self._absences: dict[tuple[MetricNames, MetricNames], tuple[tuple[Absence, ...], str]] = {}
        """Absent metrics and the names of their reasons -> the reasons, and what is stored of them."""
        self._places: dict[tuple[str, str, Shape], _Place] = {}
        self._updated: list[_Place] = []
        """Those with rows."""
        self._answering: tuple[str, int] = ("", -1)
        """Probe and time of the last answer, and the numbers of the objects in it: mostly the next one is in it too."""
        self._numbers: list[int] = []
        self._definition_queries: dict[tuple[str, str], _DefinitionQuery] = {}
        self.load()

    def load(self) -> None:
        """Read when each object was last reported, and forget what was not written."""
        self._last: dict[tuple[int, str], _LastStored] = {
            (object_id, probe): _LastStored(ts)
            for object_id, probe, ts in self._connection.execute("SELECT object_id, probe, ts FROM reading")
        }
        self._routine: dict[tuple[ObjectName, str], int] = {}
        """When routine entries of an object and metric were noted last, ms UTC: two of each log."""
        self._defined: set[tuple[str, str]] = {
            (owner, kind)
            for kind, probe in DEFINING.items()
            for (owner,) in self._connection.execute(
                "SELECT DISTINCT o.owner FROM object AS o JOIN reading AS r ON r.object_id = o.id"
                " WHERE o.kind = ? AND r.probe = ? AND r.ts IS NOT NULL",
                (kind, probe),
            )
        }
        """Owners and kinds of which definitions were seen in earlier snapshots."""
        self._clear()

    def take(self, object_id: int, reading: Reading) -> ReadingCells:
        """Note what a reading changes, and give back its values spread out.

        A late one, older than what is stored of its probe, changes nothing; one without answer leaves the values.
        """
        probe, ts = reading.probe, reading.ts
        metrics, values = tuple(reading.values), tuple(reading.values.values())
        key = (object_id, probe)
        last = self._last.get(key)
        if last is None:
            before = None
            self._last[key] = last = _LastStored(ts if reading.answered else None)
            self._new.append((object_id, probe, NULL, ts, _reason(values)) if last.ts is None else (*key, ts, ts, NULL))
        else:
            before = last.ts
            if before is not None and ts < before:
                return self._spread_out(reading, metrics, values)
            if not reading.answered:
                self._unanswered.append((ts, _reason(values), object_id, probe, ts))
                return self._spread_out(reading, metrics, values)
            last.ts = ts
            if self._answering != (probe, ts):
                self._answering = probe, ts
                self._numbers = self._answered.setdefault((ts, probe), [])
            self._numbers.append(object_id)
        # Mostly the metrics are those of last time, and what was absent then is absent now.
        place, spread = last.place, last.spread
        known = place is not None and place.shape.metrics == metrics
        if place is None or not known:
            place, spread = self._place(reading, metrics), None
        elif spread is not None and last.values == values:
            return reading, place.shape, spread.cells_of(last.values)
        classes = tuple(map(type, values))
        if spread is None or spread.classes != classes:
            spread = place.shape.spread(classes)
        cells = spread.cells_of(values)
        if reading.gone:
            # The last values stay as they were; that the object is gone is written at the object.
            last.values = None
            return reading, place.shape, cells
        if before is None:
            self._first_sight(reading)
        elif (
            (definition := place.definition) is not None
            and reading.source is _POLL
            # Most readings differ in what no definition holds.
            and (last.values is None or last.place is not place or definition(values) != definition(last.values))
        ):
            self._compare(object_id, reading, last, before)
        reasons = spread.reasons(values)
        if spread is last.spread and reasons == last.reasons:
            absent = last.absent
        else:
            reasons, absent = self._absent(spread, reasons)
        # Several records of a probe may come at once, each of another shape: each is written whole, in their order.
        if known and reading.source is _POLL:
            if not place.rows:
                self._updated.append(place)
            place.rows.append((ts, absent) + cells + key)  # noqa: RUF005 - see BLANK
        else:
            self._insert(object_id, reading, place.shape, cells, absent)
        if reading.answered:
            last.place, last.values, last.spread = place, values, spread
            last.reasons, last.absent = reasons, absent
        return reading, place.shape, cells

    def _spread_out(self, reading: Reading, metrics: MetricNames, values: tuple[Reported, ...]) -> ReadingCells:
        shape = self._shapes.of(metrics)
        return reading, shape, shape.cells(values)

    def _compare(self, object_id: int, reading: Reading, last: _LastStored, before: int) -> None:
        """Note how a definition differs from what was last stored of it, at ``before``."""
        name, probe = reading.object, reading.probe
        old = (
            self._stored(object_id, name.kind, probe)
            if last.values is None or last.place is None
            else dict(zip(last.place.shape.metrics, last.values, strict=True))
        )
        recorded = RECORDED.get(name.kind, {}).get(probe)
        if recorded is not None:
            altered = reading.values.get(ALTERED)
            told = altered if isinstance(altered, str) else ""
            self._changes += [
                Change(name, each.metric, each.old, each.new, reading.ts, before, told, each.moved)
                for each in differences(name.kind, recorded, old, reading.values)
            ]
        for metric in FOLLOWED.get(name.kind, {}).get(probe, ()):
            new = reading.values.get(metric)
            if new is not None:
                entry = followed_change(name, probe, metric, old.get(metric), new, reading.ts, before)
                if entry is not None and not self._is_told(entry):
                    self._entries.append(entry)

    def _is_told(self, entry: JournalEntry) -> bool:
        """Whether an entry is routine and one like it was noted shortly before. If not, this one is remembered as
        noted.
        """
        if not is_routine(entry):
            return False
        key = entry.name, entry.metric
        told = self._routine.get(key)
        if told is not None and told <= entry.ts < told + ROUTINE_MS:
            return True
        self._routine[key] = entry.ts
        return False

    def _first_sight(self, reading: Reading) -> None:
        """Note an object that is new. The first objects of a kind that an owner reports are not."""
        name = reading.object
        if reading.probe != DEFINING.get(name.kind) or not reading.answered:
            return
        self._defined_now.add((name.owner, name.kind))
        if (name.owner, name.kind) not in self._defined or reading.source is not _POLL:
            return
        if reading.values.get("definition_type") != TEMPORARY_DYNAMIC or name.kind != QUEUE_KIND.name:
            self._entries.append(JournalEntry(reading.ts, EntryKind.OBJECT, name, FIRST_SEEN))

    def note_existence(self, object_id: int, reading: Reading) -> None:
        """Note that an object is gone, or back."""
        name = reading.object
        if name.kind not in DEFINING and name.kind != QUEUE_MANAGER_KIND.name:
            return
        if name.kind == QUEUE_KIND.name:
            probe = DEFINING[name.kind]
            known = self._last.get((object_id, probe))
            old: Mapping[str, Reported] = (
                self._stored(object_id, name.kind, probe)
                if known is None or known.values is None or known.place is None
                else dict(zip(known.place.shape.metrics, known.values, strict=True))
            )
            if old.get("definition_type") == TEMPORARY_DYNAMIC:
                return
        self._entries.append(JournalEntry(reading.ts, EntryKind.OBJECT, name, GONE if reading.gone else BACK))

    def _place(self, reading: Reading, metrics: MetricNames) -> _Place:
        """Where the values of a reading with these metrics go."""
        shape = self._shapes.of(metrics)
        key = kind, probe, _ = reading.object.kind, reading.probe, shape
        found = self._places.get(key)
        if found is None:
            if len(self._places) >= _ABSENCES:
                self._places.clear()
            definition: Columns | None = None
            if probe in _COMPARED.get(kind, ()):
                wanted = _COMPARED[kind][probe] | CONTEXT
                places = [place for place, metric in enumerate(metrics) if metric in wanted]
                definition = itemgetter(*places) if places else _nothing
            found = self._places[key] = _Place(kind, shape, definition)
        return found

    def _stored(self, object_id: int, kind: str, probe: str) -> dict[str, Reported]:
        """What the file holds of a definition that is not known here: after a start, or when it has come back."""
        names, types, query = self._definition_query(kind, probe)
        row = self._connection.execute(query, (probe, object_id)).fetchone() if names else None
        if row is None:
            return {}
        cells = checked_values(row, types)
        return {name: cell for name, cell in zip(names, cells, strict=True) if cell is not None}

    def _definition_query(self, kind: str, probe: str) -> _DefinitionQuery:
        found = self._definition_queries.get((kind, probe))
        if found is None:
            tables = self._tables[kind]
            wanted = _COMPARED[kind].get(probe, frozenset()) | CONTEXT
            names = tuple(name for name in tables.metrics if name in wanted)
            columns = ", ".join(f'"{name}"' for name in names)
            query = f"SELECT {columns} FROM {tables.current} WHERE probe = ? AND object_id = ?"  # noqa: S608
            found = _DefinitionQuery(names, types_of(tables.types[name] for name in names), query)
            self._definition_queries[kind, probe] = found
        return found

    def forget(self, objects: Mapping[int, str], connection: sqlite3.Connection) -> None:
        """Delete the current state of objects (number -> kind). Raises sqlite3.Error."""
        probes: dict[int, list[str]] = {}
        for object_id, probe in self._last:
            if object_id in objects:
                probes.setdefault(object_id, []).append(probe)
        for object_id, kind in objects.items():
            for probe in probes.get(object_id, ()):
                # The key of the table begins with the probe.
                connection.execute(
                    f"DELETE FROM {self._tables[kind].current} WHERE probe = ? AND object_id = ?",  # noqa: S608
                    (probe, object_id),
                )
                del self._last[object_id, probe]
            connection.execute("DELETE FROM reading WHERE object_id = ?", (object_id,))

    def _insert(self, object_id: int, reading: Reading, shape: Shape, cells: Cells, absent: str | float) -> None:
        kind = reading.object.kind
        columns = self._arrangements[kind].of(shape)
        assert columns is not None, "the keys of a mapping are different from each other"
        row = (object_id, reading.probe, int(reading.source), reading.ts, absent, *columns(cells + BLANK))
        self._inserted.setdefault(kind, []).append(row)

    def _absent(self, spread: Spread, reasons: tuple[Absence, ...]) -> tuple[tuple[Absence, ...], str | float]:
        """The reasons of what is absent, once for all readings that have them, and what is stored of them."""
        if not spread.absent:
            return (), NULL
        key = spread.absent, tuple([reason._name_ for reason in reasons])
        known = self._absences.get(key)
        if known is None:
            if len(self._absences) >= _ABSENCES:
                self._absences.clear()
            known = self._absences[key] = reasons, json.dumps(dict(zip(*key, strict=True)))
        return known

    def write(self) -> None:
        """Write what was taken. Raises sqlite3.Error."""
        execute = self._connection.executemany
        for kind, rows in self._inserted.items():
            execute(self._tables[kind].upsert_current(), rows)
        for place in self._updated:
            execute(self._tables[place.kind].update_current(place.shape.metrics), place.rows)
        if self._changes:
            insert_changes(self._connection, self._changes)
        if self._entries:
            insert_entries(self._connection, kept_entries(self._entries))
        if self._defined_now:
            self._defined |= self._defined_now
        for statement, parameters in (
            ("INSERT INTO reading(object_id, probe, ts, asked, unanswered) VALUES(?, ?, ?, ?, ?)", self._new),
            (
                "UPDATE reading SET ts = ?, asked = ?, unanswered = NULL WHERE object_id BETWEEN ? AND ? AND probe = ?",
                # The latest answer last: of several records of a probe that came at once it is the one to be noted.
                [
                    (ts, ts, first, last, probe)
                    for (ts, probe), numbers in sorted(self._answered.items())
                    for first, last in runs(numbers)
                ],
            ),
            (
                "UPDATE reading SET asked = ?, unanswered = ? WHERE object_id = ? AND probe = ? AND (ts IS NULL OR ts < ?)",
                self._unanswered,
            ),
        ):
            if parameters:
                execute(statement, parameters)
        self._clear()

    def _clear(self) -> None:
        self._changes: list[Change] = []
        self._entries: list[JournalEntry] = []
        self._defined_now: set[tuple[str, str]] = set()
        self._inserted: dict[str, list[tuple[Any, ...]]] = {}
        for place in self._updated:
            place.rows = []
        self._updated.clear()
        self._new: list[tuple[Any, ...]] = []
        self._answered: dict[tuple[int, str], list[int]] = {}
        """Time and probe of an answer -> the numbers of the objects in it."""
        self._answering = "", -1
        self._unanswered: list[tuple[int, str, int, str, int]] = []


def runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The runs of consecutive numbers, each as its first and last one, in ascending order.

    To update the rows of a run in one statement takes a tenth of the time.
    """
    ordered = sorted(set(numbers))
    begin = 0
    for end, number in enumerate(ordered, 1):
        if end == len(ordered) or ordered[end] != number + 1:
            yield ordered[begin], number
            begin = end


def _nothing(_: object) -> tuple[Any, ...]:
    return ()


def _reason(values: tuple[Reported, ...]) -> str:
    """Why no answer came: every value of such a reading has the same reason."""
    return next((value.name for value in values if isinstance(value, Absence)), Absence.NO_ANSWER.name)
