"""Current state: the newest value of each metric by probe, written only where it changed.

Three quarters of the values do not change from one poll to the next, and many objects do not change at all. So the
wide row of an object and probe is rewritten only when a value differs; when the probe last answered is one narrow row
in ``reading``.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple

from mqvitals_agent.store.file.integrity import valid_time
from mqvitals_agent.store.result import CurrentValue
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
    POLL,
    Cells,
    ColumnOrder,
    Columns,
    KindTables,
    MetricNames,
    ReadingCells,
    Types,
    checked_values,
    integer,
    integer_or_none,
    moment,
    moment_or_none,
    reading_cells,
    text,
    types_of,
)
from mqvitals_rules.latest_state import NAMES_NONE
from mqvitals_rules.snapshot import ObjectName, Reading, Source, fresh_until
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
_FEW = 8
"""Metrics that are looked for in each row before it is decoded."""
_NAMES, _OPEN = 2, 1
"""Of an object: it names a certain other one; what it names is not known."""
_UNKNOWN = -1
"""The interval of a record that does not have it."""


class CurrentQuery:
    """Reads the current state of one kind.

    ``columns`` are those that its table has: a store may be older than the vocabulary.
    """

    def __init__(self, tables: KindTables, columns: frozenset[str], metrics: Collection[str] | None = None) -> None:
        self._table = tables.current
        self._history = tables.history
        self._kind = tables.kind
        self._metrics = [name for name in tables.metrics if name in columns and (metrics is None or name in metrics)]
        self._types = types_of(tables.types[name] for name in self._metrics)
        self._known = frozenset(tables.metrics if metrics is None else metrics)
        self._exists = bool(columns)

    def of(
        self, connection: sqlite3.Connection, where: str, parameters: tuple[Any, ...]
    ) -> dict[int, dict[str, CurrentValue]]:
        """By object number, what is known of the objects that fulfil ``where`` (a text of ours). Raises sqlite3.Error.

        A value of any probe comes before an absence of another: a command cannot report what only SMF holds. Of several
        the newest counts. A value of a record is marked as unanswered once it is no longer fresh at the last snapshot of
        its owner.
        """
        found: dict[int, dict[str, CurrentValue]] = {}
        if not self._exists:
            return found
        columns = "".join(f', c."{name}"' for name in self._metrics)
        # Of most metrics one probe has something to tell: the rows of others are not worth decoding.
        telling = (
            ""
            if not 0 < len(self._metrics) <= _FEW or len(self._known) > len(self._metrics)
            else " AND ("
            + " OR ".join(f'c."{name}" IS NOT NULL OR instr(c.absent, \'"{name}"\')' for name in self._metrics)
            + ")"
        )
        rows = connection.execute(
            # Table and columns are the vocabulary's, checked where the tables are made.
            f"SELECT c.object_id, c.probe, r.ts, r.asked, r.unanswered, c.absent, c.source, CASE WHEN c.source <> {POLL}"  # noqa: S608
            f" THEN (SELECT coalesce(h.interval_ms, {_UNKNOWN}) FROM {self._history} AS h"
            f" WHERE h.ts = r.ts AND h.object_id = r.object_id AND h.source = c.source) END, CASE WHEN c.source <> {POLL}"
            " THEN (SELECT w.last_ts FROM owner AS w JOIN object AS o ON o.owner = w.name WHERE o.id = r.object_id) END"
            f"{columns}"
            f" FROM reading AS r CROSS JOIN {self._table} AS c ON c.probe = r.probe AND c.object_id = r.object_id"
            f" WHERE r.{where} AND {valid_time('r.ts')} AND {valid_time('r.asked')}{telling} ORDER BY r.object_id, r.ts, r.probe",
            parameters,
        )
        # Thousands of objects share a handful of these.
        reasons: dict[str | None, Mapping[str, Absence]] = {None: {}}
        for number, probe, ts, asked, unanswered, absent, source, interval, newest, *cells in rows:
            text(probe), moment_or_none(ts), moment(asked)
            known = found.get(number)
            if known is None:
                known = found[number] = {}
            why = None if unanswered is None else Absence[unanswered]
            origin = _POLL
            if source != POLL:
                origin = Source(source)
                integer_or_none(interval)
                # Its sample is kept for long: a record without one is older than that.
                kept = interval is not None
                interval = None if interval == _UNKNOWN else interval
                if (
                    ts is not None
                    and newest is not None
                    and (not kept or integer(newest) > fresh_until(ts, interval, probe))
                ):
                    why = Absence.STALE
            missing = reasons.get(absent)
            if missing is None:
                every = _reasons(absent)
                missing = reasons[absent] = {metric: every[metric] for metric in every if metric in self._known}
            for metric, reason in missing.items():
                before = known.get(metric)
                if before is None or before.value.__class__ is Absence:
                    known[metric] = CurrentValue(reason, ts, probe, asked, why, origin, interval)
            if cells.count(None) < len(cells):
                checked_values(cells, self._types)
            for metric, value in zip(self._metrics, cells, strict=True):
                if value is not None:
                    known[metric] = CurrentValue(value, ts, probe, asked, why, origin, interval)
        return found

    def naming(
        self, connection: sqlite3.Connection, owner: str, metric: str, value: str, *, doubtful: bool
    ) -> list[tuple[int, str]]:
        """Number and name of the existing objects of an owner of which a row has ``value`` in ``metric``, by name.

        With ``doubtful`` also those of which a row leaves open what they name, and one of the others. Raises sqlite3.Error.
        """
        cell = f'c."{metric}"' if metric in self._metrics else "NULL"
        mentioned = f"instr(c.absent, '\"{metric}\"')"
        named = f"({cell} = :value OR typeof({cell}) <> 'text' AND CAST(CAST({cell} AS INTEGER) AS TEXT) = :value)"
        reasons = " OR ".join(f'instr(c.absent, \'"{metric}": "{why.name}"\')' for why in sorted(NAMES_NONE, key=str))
        decided = f"r.unanswered IS NULL AND c.source = {POLL} AND ({cell} IS NOT NULL OR {reasons})"
        # 2: names it. 1: leaves open what it names. 0: names another, or none. NULL: is about something else.
        sort = f"CASE WHEN {named} THEN 2 WHEN {cell} IS NULL AND NOT coalesce({mentioned}, 0) THEN NULL ELSE NOT ({decided}) END"
        sorted_rows = (
            f"(SELECT max({sort}) FROM reading AS r CROSS JOIN {self._table} AS c"  # noqa: S608
            " ON c.probe = r.probe AND c.object_id = r.object_id WHERE r.object_id = o.id)"
        )
        rows = connection.execute(
            f"SELECT o.id, o.name, {sorted_rows if self._exists else 'NULL'}"  # noqa: S608
            " FROM object AS o WHERE o.owner = :owner AND o.kind = :kind AND o.gone_ts IS NULL ORDER BY o.name",
            {"owner": owner, "kind": self._kind, "value": value},
        )
        found: list[tuple[int, str]] = []
        other = not doubtful
        for number, name, sure in rows:
            if sure == _NAMES or (doubtful and (sure is None or sure == _OPEN)):
                found.append((number, text(name)))
            elif not other:
                found.append((number, text(name)))
                other = True
        return found

    def records(self, connection: sqlite3.Connection) -> Iterator[tuple[ObjectName, Reading]]:
        """The newest record of each existing object of the kind and each probe, as far as its sample is kept.

        Raises sqlite3.Error.
        """
        if not self._exists:
            return
        columns = "".join(f', c."{name}"' for name in self._metrics)
        rows = connection.execute(
            f"SELECT o.owner, o.kind, o.name, c.probe, c.source, r.ts, h.interval_ms, c.absent{columns}"  # noqa: S608
            f" FROM {self._table} AS c CROSS JOIN object AS o CROSS JOIN reading AS r"
            f" CROSS JOIN {self._history} AS h ON h.ts = r.ts AND h.object_id = r.object_id AND h.source = c.source"
            f" WHERE c.source <> {POLL} AND o.id = c.object_id AND o.gone_ts IS NULL"
            f" AND r.object_id = c.object_id AND r.probe = c.probe AND r.ts IS NOT NULL AND {valid_time('r.ts')}"
        )
        for owner, kind, name, probe, source, ts, interval, absent, *cells in rows:
            values = dict(zip(self._metrics, checked_values(cells, self._types), strict=True))
            found = {metric: value for metric, value in values.items() if value is not None}
            named = ObjectName(text(owner), text(kind), text(name))
            yield (
                named,
                Reading(
                    named,
                    text(probe),
                    moment(ts),
                    {**found, **({} if absent is None else _reasons(absent))},
                    integer_or_none(interval),
                    poll=False,
                    source=Source(source),
                ),
            )


def _reasons(text: str) -> dict[str, Absence]:
    return {metric: Absence[reason] for metric, reason in json.loads(text).items()}


_ABSENCES = 4096


class _LastStored:
    """What was last stored of an object and probe: when (None: never answered), and what (None: not known here)."""

    __slots__ = ("cells", "shape", "ts", "values")

    def __init__(self, ts: int | None) -> None:
        self.ts = ts
        self.shape: MetricNames | None = None
        self.values: tuple[Reported, ...] | None = None
        self.cells: Cells | None = None


class _DefinitionQuery(NamedTuple):
    """How the attributes of a definition are read from the file; parameters: probe, object_id."""

    names: MetricNames
    types: tuple[Types, ...]
    query: str


class CurrentWriter:
    """Collects the changes of one snapshot and writes them.

    The caller owns the transaction, and calls ``load`` after a rollback.
    """

    def __init__(self, connection: sqlite3.Connection, tables: Mapping[str, KindTables]) -> None:
        self._connection = connection
        self._tables = tables
        self._arrangements = {kind: ColumnOrder(table.metrics, table.metrics, kind) for kind, table in tables.items()}
        self._shapes: dict[MetricNames, MetricNames] = {}
        self._absences: dict[tuple[MetricNames, tuple[str, ...]], str] = {}
        self._definitions: dict[tuple[str, str, MetricNames], Columns] = {}
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
        shape = tuple(reading.values)
        values = tuple(reading.values.values())
        key = (object_id, probe)
        last = self._last.get(key)
        before = None if last is None else last.ts
        if last is None:
            self._last[key] = last = _LastStored(ts if reading.answered else None)
            self._new.append((object_id, probe, NULL, ts, _reason(values)) if last.ts is None else (*key, ts, ts, NULL))
        elif last.ts is not None and ts < last.ts:
            return reading_cells(reading, shape, values)
        elif not reading.answered:
            self._unanswered.append((ts, _reason(values), object_id, probe, ts))
            return reading_cells(reading, shape, values)
        else:
            last.ts = ts
            self._answered.append((ts, ts, object_id, probe))
        if last.values == values and last.shape == shape and last.cells is not None:
            return ReadingCells(reading, last.shape, last.cells)
        spread = reading_cells(reading, self._shapes.setdefault(shape, shape), values)
        if reading.gone:
            # The last values stay as they were; that the object is gone is written at the object.
            last.values = None
            return spread
        kind = reading.object.kind
        if before is not None:
            if probe in _COMPARED.get(kind, ()):
                self._compare(object_id, spread, values, last, before)
        elif probe == DEFINING.get(kind) and reading.answered:
            self._first_sight(reading)
        # Several records of a probe may come at once, each of another shape: each is written whole, in their order.
        self._change(object_id, spread, values, known=last.shape == shape and reading.source is _POLL)
        if reading.answered:
            last.shape, last.values, last.cells = spread.shape, values, spread.cells
        return spread

    def _compare(
        self, object_id: int, spread: ReadingCells, values: tuple[Reported, ...], last: _LastStored, before: int
    ) -> None:
        """Note how a definition differs from what was last stored of it, at ``before``."""
        reading, shape, _ = spread
        name, probe = reading.object, reading.probe
        if reading.source is not _POLL:
            return
        if last.values is not None and last.shape == shape:
            # Most readings differ in what no definition holds.
            part = self._definition(name.kind, probe, shape)
            if part(values) == part(last.values):
                return
        old = (
            self._stored(object_id, name.kind, probe)
            if last.values is None or last.shape is None
            else dict(zip(last.shape, last.values, strict=True))
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
        """Whether an entry is routine, and one like it was noted shortly before; else it is the one that is noted."""
        if not is_routine(entry):
            return False
        key = entry.name, entry.metric
        told = self._routine.get(key)
        if told is not None and told <= entry.ts < told + ROUTINE_MS:
            return True
        self._routine[key] = entry.ts
        return False

    def _first_sight(self, reading: Reading) -> None:
        """Note that an object was not there before; the first of an owner's kind say nothing."""
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
                else dict(zip(known.shape, known.values, strict=True))
            )
            if old.get("definition_type") == TEMPORARY_DYNAMIC:
                return
        self._entries.append(JournalEntry(reading.ts, EntryKind.OBJECT, name, GONE if reading.gone else BACK))

    def _definition(self, kind: str, probe: str, shape: MetricNames) -> Columns:
        """What takes the attributes of a definition out of the values of a reading of this shape."""
        key = kind, probe, shape
        found = self._definitions.get(key)
        if found is None:
            if len(self._definitions) >= _ABSENCES:
                self._definitions.clear()
            wanted = _COMPARED[kind][probe] | CONTEXT
            places = [place for place, metric in enumerate(shape) if metric in wanted]
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

    def _change(self, object_id: int, spread: ReadingCells, values: tuple[Reported, ...], *, known: bool) -> None:
        reading, shape, cells = spread
        kind = reading.object.kind
        absent: str | float = NULL
        if cells is not values:
            absent = self._absent(shape, tuple([v._name_ if v.__class__ is Absence else "" for v in values]))
        if known:
            row = (reading.ts, absent, *cells, object_id, reading.probe)
            self._updated.setdefault((kind, shape), []).append(row)
        else:
            columns = self._arrangements[kind].of(shape)
            assert columns is not None, "the keys of a mapping are different from each other"
            row = (object_id, reading.probe, int(reading.source), reading.ts, absent, *columns((*cells, NULL)))
            self._inserted.setdefault(kind, []).append(row)

    def _absent(self, shape: MetricNames, reasons: tuple[str, ...]) -> str:
        """``reasons``: of each metric of the shape why it is absent, empty where it is not."""
        key = shape, reasons
        text = self._absences.get(key)
        if text is None:
            if len(self._absences) >= _ABSENCES:
                self._absences.clear()
            absent = {metric: reason for metric, reason in zip(shape, reasons, strict=True) if reason}
            text = self._absences[key] = json.dumps(absent)
        return text

    def write(self) -> None:
        """Write what was taken. Raises sqlite3.Error."""
        execute = self._connection.executemany
        for kind, rows in self._inserted.items():
            execute(self._tables[kind].upsert_current(), rows)
        for (kind, shape), rows in self._updated.items():
            execute(self._tables[kind].update_current(shape), rows)
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
        self._updated: dict[tuple[str, MetricNames], list[tuple[Any, ...]]] = {}
        self._new: list[tuple[Any, ...]] = []
        self._answered: list[tuple[int, int, int, str]] = []
        self._unanswered: list[tuple[int, str, int, str, int]] = []


def together(entries: Sequence[JournalEntry]) -> Iterator[JournalEntry]:
    """The entries of a snapshot as they are kept: of a queue manager that is gone nothing else is told as gone, and of
    very many objects of a kind that come or go only their number."""
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
