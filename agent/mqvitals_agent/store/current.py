"""Current state: what each probe last said of each object, written only where it changed.

Three quarters of the values do not change from one poll to the next, and many objects do not change at all. So the wide
row of an object and probe is rewritten only when a value differs; when it was last told is one narrow row in
``reading``.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from mqvitals_agent.store.shape import NULL, Arrangement, Cells, Shape, Spread, spread
from mqvitals_agent.store.table import KindTables
from mqvitals_rules.snapshot import Reading, Source
from mqvitals_rules.vocabulary.metric import Absence, Reported

_ABSENCES = 4096
_POLL = Source.POLL


class _Told:
    """What was last stored of an object and probe: when (None: never answered), and what (None: not known here)."""

    __slots__ = ("cells", "shape", "ts", "values")

    def __init__(self, ts: int | None) -> None:
        self.ts = ts
        self.shape: Shape | None = None
        self.values: tuple[Reported, ...] | None = None
        self.cells: Cells | None = None


class CurrentState:
    """Collects the changes of one snapshot and writes them.

    The caller owns the transaction, and calls ``load`` after a rollback.
    """

    def __init__(self, connection: sqlite3.Connection, tables: dict[str, KindTables]) -> None:
        self._connection = connection
        self._tables = tables
        self._arrangements = {kind: Arrangement(table.metrics, table.metrics, kind) for kind, table in tables.items()}
        self._told: dict[tuple[int, str], _Told] = {}
        self._shapes: dict[Shape, Shape] = {}
        self._absences: dict[tuple[Shape, tuple[str, ...]], str] = {}
        self._inserted: dict[str, list[tuple[Any, ...]]] = {}
        self._updated: dict[tuple[str, Shape], list[tuple[Any, ...]]] = {}
        self._new: list[tuple[Any, ...]] = []
        self._answered: list[tuple[int, int, int, str]] = []
        self._unanswered: list[tuple[int, str, int, str, int]] = []
        self.load()

    def load(self) -> None:
        """Learn when each object was last told, and forget what was not written."""
        self._told = {
            (object_id, probe): _Told(ts)
            for object_id, probe, ts in self._connection.execute("SELECT object_id, probe, ts FROM reading")
        }
        self._clear()

    def take(self, object_id: int, reading: Reading) -> Spread:
        """Note what a reading changes, and give back its values spread out.

        A late one, older than what is stored of its probe, changes nothing; one without answer leaves the values.
        """
        probe, ts = reading.probe, reading.ts
        shape = tuple(reading.values)
        values = tuple(reading.values.values())
        key = (object_id, probe)
        told = self._told.get(key)
        if told is None:
            self._told[key] = told = _Told(ts if reading.answered else None)
            self._new.append((object_id, probe, NULL, ts, _reason(values)) if told.ts is None else (*key, ts, ts, NULL))
        elif told.ts is not None and ts < told.ts:
            return spread(reading, shape, values)
        elif not reading.answered:
            self._unanswered.append((ts, _reason(values), object_id, probe, ts))
            return spread(reading, shape, values)
        else:
            told.ts = ts
            self._answered.append((ts, ts, object_id, probe))
        if told.values == values and told.shape == shape and told.cells is not None:
            return Spread(reading, told.shape, told.cells)
        told_anew = spread(reading, self._shapes.setdefault(shape, shape), values)
        if reading.gone:
            # The last values stay as they were; that the object is gone is written at the object.
            told.values = None
            return told_anew
        # Several records of a probe may come at once, each of another shape: each is written whole, in their order.
        self._change(object_id, told_anew, values, known=told.shape == shape and reading.source is _POLL)
        if reading.answered:
            told.shape, told.values, told.cells = told_anew.shape, values, told_anew.cells
        return told_anew

    def forget(self, objects: Mapping[int, str], connection: sqlite3.Connection) -> None:
        """What was told of objects (number -> kind) is no longer said of them. Raises sqlite3.Error."""
        probes: dict[int, list[str]] = {}
        for object_id, probe in self._told:
            if object_id in objects:
                probes.setdefault(object_id, []).append(probe)
        for object_id, kind in objects.items():
            for probe in probes.get(object_id, ()):
                # The key of the table begins with the probe.
                connection.execute(
                    f"DELETE FROM {self._tables[kind].current} WHERE probe = ? AND object_id = ?",  # noqa: S608
                    (probe, object_id),
                )
                del self._told[object_id, probe]
            connection.execute("DELETE FROM reading WHERE object_id = ?", (object_id,))

    def _change(self, object_id: int, told: Spread, values: tuple[Reported, ...], *, known: bool) -> None:
        reading, shape, cells = told
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

    def _absent(self, shape: Shape, reasons: tuple[str, ...]) -> str:
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
        self._inserted = {}
        self._updated = {}
        self._new = []
        self._answered = []
        self._unanswered = []


def _reason(values: tuple[Reported, ...]) -> str:
    """Why no answer came: every value of such a reading has the same reason."""
    return next((value.name for value in values if isinstance(value, Absence)), Absence.NO_ANSWER.name)
