"""Writes the current state only where it changed, and what the journal and the changes of definitions say of it.

Three quarters of the values do not change from one poll to the next, and many objects do not change at all. So the
wide row of an object and probe is rewritten only when a value differs; when the probe last answered is one narrow row
in ``reading``.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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
)
from mqvitals_agent.store.rows.tables import (
    NULL,
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

_MOST_OBJECTS: Final = 100
"""Of more objects of a kind that come or go at once there is one entry, with their number."""

_ABSENCES = 4096
"""Texts of absences that are remembered, and shapes of definitions."""


class _LastStored:
    """What was last stored of an object and probe: when (None: never answered), and what (None: not known here).

    ``reasons`` are those of its absent values, and ``absent`` is what was stored of them.
    """

    __slots__ = ("absent", "reasons", "shape", "spread", "ts", "values")

    def __init__(self, ts: int | None) -> None:
        self.ts = ts
        self.shape: Shape | None = None
        self.values: tuple[Reported, ...] | None = None
        self.spread: Spread | None = None
        self.reasons: tuple[Absence, ...] = ()
        self.absent: str | float = NULL


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
        self._definitions: dict[tuple[str, str, Shape], Columns] = {}
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
            self._answered.append((ts, ts, object_id, probe))
        # Mostly the metrics are those of last time, and what was absent then is absent now.
        shape, spread = last.shape, last.spread
        known = shape is not None and shape.metrics == metrics
        if shape is None or not known:
            shape, spread = self._shapes.of(metrics), None
        elif spread is not None and last.values == values:
            return ReadingCells(reading, shape, spread.cells_of(last.values))
        classes = tuple(map(type, values))
        if spread is None or spread.classes != classes:
            spread = shape.spread(classes)
        found = ReadingCells(reading, shape, spread.cells_of(values))
        if reading.gone:
            # The last values stay as they were; that the object is gone is written at the object.
            last.values = None
            return found
        kind = reading.object.kind
        if before is not None:
            if probe in _COMPARED.get(kind, ()):
                self._compare(object_id, found, values, last, before)
        elif probe == DEFINING.get(kind) and reading.answered:
            self._first_sight(reading)
        reasons = spread.reasons(values)
        if spread is last.spread and reasons == last.reasons:
            absent = last.absent
        else:
            reasons, absent = self._absent(spread, reasons)
        # Several records of a probe may come at once, each of another shape: each is written whole, in their order.
        self._change(object_id, found, absent, known=known and reading.source is _POLL)
        if reading.answered:
            last.shape, last.values, last.spread = shape, values, spread
            last.reasons, last.absent = reasons, absent
        return found

    def _spread_out(self, reading: Reading, metrics: MetricNames, values: tuple[Reported, ...]) -> ReadingCells:
        shape = self._shapes.of(metrics)
        return ReadingCells(reading, shape, shape.cells(values))

    def _compare(
        self, object_id: int, found: ReadingCells, values: tuple[Reported, ...], last: _LastStored, before: int
    ) -> None:
        """Note how a definition differs from what was last stored of it, at ``before``."""
        reading, shape, _ = found
        name, probe = reading.object, reading.probe
        if reading.source is not _POLL:
            return
        if last.values is not None and last.shape is shape:
            # Most readings differ in what no definition holds.
            part = self._definition(name.kind, probe, shape)
            if part(values) == part(last.values):
                return
        old = (
            self._stored(object_id, name.kind, probe)
            if last.values is None or last.shape is None
            else dict(zip(last.shape.metrics, last.values, strict=True))
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
                if known is None or known.values is None or known.shape is None
                else dict(zip(known.shape.metrics, known.values, strict=True))
            )
            if old.get("definition_type") == TEMPORARY_DYNAMIC:
                return
        self._entries.append(JournalEntry(reading.ts, EntryKind.OBJECT, name, GONE if reading.gone else BACK))

    def _definition(self, kind: str, probe: str, shape: Shape) -> Columns:
        """What takes the attributes of a definition out of the values of a reading of this shape."""
        key = kind, probe, shape
        found = self._definitions.get(key)
        if found is None:
            if len(self._definitions) >= _ABSENCES:
                self._definitions.clear()
            wanted = _COMPARED[kind][probe] | CONTEXT
            places = [place for place, metric in enumerate(shape.metrics) if metric in wanted]
            found = self._definitions[key] = itemgetter(*places) if places else _nothing
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

    def _change(self, object_id: int, found: ReadingCells, absent: str | float, *, known: bool) -> None:
        reading, shape, cells = found
        kind = reading.object.kind
        if known:
            row = (reading.ts, absent, *cells, object_id, reading.probe)
            self._updated.setdefault((kind, shape), []).append(row)
        else:
            columns = self._arrangements[kind].of(shape)
            assert columns is not None, "the keys of a mapping are different from each other"
            row = (object_id, reading.probe, int(reading.source), reading.ts, absent, *columns((*cells, NULL)))
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
        for (kind, shape), rows in self._updated.items():
            execute(self._tables[kind].update_current(shape.metrics), rows)
        if self._changes:
            insert_changes(self._connection, self._changes)
        if self._entries:
            insert_entries(self._connection, together(self._entries))
        if self._defined_now:
            self._defined |= self._defined_now
        for statement, parameters in (
            ("INSERT INTO reading(object_id, probe, ts, asked, unanswered) VALUES(?, ?, ?, ?, ?)", self._new),
            (
                "UPDATE reading SET ts = ?, asked = ?, unanswered = NULL WHERE object_id = ? AND probe = ?",
                self._answered,
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
        self._updated: dict[tuple[str, Shape], list[tuple[Any, ...]]] = {}
        self._new: list[tuple[Any, ...]] = []
        self._answered: list[tuple[int, int, int, str]] = []
        self._unanswered: list[tuple[int, str, int, str, int]] = []


def together(entries: Sequence[JournalEntry]) -> Iterator[JournalEntry]:
    """The entries of a snapshot as they are kept.

    Where a queue manager is gone, nothing else is told as gone. Of very many objects of a kind that come or go only the
    number is kept.
    """
    left = any(each.metric == GONE and each.name.kind == QUEUE_MANAGER_KIND.name for each in entries)
    counts = Counter((each.name.kind, each.metric) for each in entries if each.kind is EntryKind.OBJECT)
    told: set[tuple[str, str]] = set()
    for each in entries:
        key = each.name.kind, each.metric
        if each.kind is not EntryKind.OBJECT:
            yield each
        elif left and each.metric == GONE and each.name.kind != QUEUE_MANAGER_KIND.name:
            continue
        elif counts[key] <= _MOST_OBJECTS:
            yield each
        elif key not in told:
            told.add(key)
            yield each._replace(name=each.name._replace(name=""), new=counts[key])


def _nothing(_: object) -> tuple[Any, ...]:
    return ()


def _reason(values: tuple[Reported, ...]) -> str:
    """Why no answer came: every value of such a reading has the same reason."""
    return next((value.name for value in values if isinstance(value, Absence)), Absence.NO_ANSWER.name)
