"""Current state: what each probe last said of each object, written only where it changed.

Three quarters of the values do not change from one poll to the next, and many objects do not change at all. So the wide
row of an object and probe is rewritten only when a value differs; when it was last told is one narrow row in
``reading``.
"""

from __future__ import annotations

import json
import sqlite3
from typing import Any, NamedTuple

from mqvitals_agent.store.shape import NULL, Arrangement, Shape, cells
from mqvitals_agent.store.table import POLL, KindTables
from mqvitals_rules.snapshot import Reading
from mqvitals_rules.vocabulary.metric import Absence, Reported

_ABSENCES = 4096


class Told(NamedTuple):
    """What was last stored of an object and probe: when (None: never answered), and what (None: not known here)."""

    ts: int | None
    shape: Shape | None
    values: tuple[Reported, ...] | None


class CurrentState:
    """Collects the changes of one snapshot and writes them.

    The caller owns the transaction, and calls ``load`` after a rollback.
    """

    def __init__(self, connection: sqlite3.Connection, tables: dict[str, KindTables]) -> None:
        self._connection = connection
        self._tables = tables
        self._upserts = {kind: table.upsert_current() for kind, table in tables.items()}
        self._arrangements = {kind: Arrangement(table.metrics, table.metrics, kind) for kind, table in tables.items()}
        self._told: dict[tuple[int, str], Told] = {}
        self._shapes: dict[Shape, Shape] = {}
        self._absences: dict[tuple[tuple[str, str], ...], str] = {}
        self._changed: dict[str, list[tuple[Any, ...]]] = {}
        self._new: list[tuple[Any, ...]] = []
        self._answered: list[tuple[int, int, int, str]] = []
        self._unanswered: list[tuple[int, str, int, str, int]] = []
        self.load()

    def load(self) -> None:
        """Learn when each object was last told, and forget what was not written."""
        self._told = {
            (object_id, probe): Told(ts, None, None)
            for object_id, probe, ts in self._connection.execute("SELECT object_id, probe, ts FROM reading")
        }
        self._clear()

    def take(self, object_id: int, reading: Reading) -> None:
        """Note what a reading changes. A late one, older than what is stored of its probe, changes nothing."""
        key = (object_id, reading.probe)
        told = self._told.get(key)
        ts = reading.ts
        if told is not None and told.ts is not None and ts < told.ts:
            return
        if not reading.answered:
            self._take_unanswered(key, told, reading)
            return
        if told is None:
            self._new.append((object_id, reading.probe, ts, ts, NULL))
        else:
            self._answered.append((ts, ts, object_id, reading.probe))
        if reading.gone:
            # The last values stay as they were; that the object is gone is written at the object.
            self._told[key] = Told(ts, None, None)
            return
        shape = tuple(reading.values)
        values = tuple(reading.values.values())
        if told is not None and told.shape == shape and told.values == values:
            self._told[key] = Told(ts, told.shape, values)
            return
        self._told[key] = Told(ts, self._shapes.setdefault(shape, shape), values)
        self._change(object_id, reading, shape, values)

    def _take_unanswered(self, key: tuple[int, str], told: Told | None, reading: Reading) -> None:
        object_id, probe = key
        reason = next((value for value in reading.values.values() if isinstance(value, Absence)), Absence.NO_ANSWER)
        if told is None:
            self._told[key] = Told(None, None, None)
            self._new.append((object_id, probe, NULL, reading.ts, reason.name))
            self._change(object_id, reading, tuple(reading.values), tuple(reading.values.values()))
        else:
            self._unanswered.append((reading.ts, reason.name, object_id, probe, reading.ts))

    def _change(self, object_id: int, reading: Reading, shape: Shape, values: tuple[Reported, ...]) -> None:
        kind = reading.object.kind
        columns = self._arrangements[kind].of(shape)
        assert columns is not None, "the keys of a mapping are different from each other"
        absent: str | float = NULL
        if Absence in map(type, values):
            absent = self._absent(tuple((m, v.name) for m, v in zip(shape, values, strict=True) if type(v) is Absence))
        row = (object_id, reading.probe, POLL, reading.ts, absent, *columns([*cells(values), NULL]))
        self._changed.setdefault(kind, []).append(row)

    def _absent(self, pairs: tuple[tuple[str, str], ...]) -> str:
        text = self._absences.get(pairs)
        if text is None:
            if len(self._absences) >= _ABSENCES:
                self._absences.clear()
            text = self._absences[pairs] = json.dumps(dict(pairs))
        return text

    def write(self) -> None:
        """Write what was taken. Raises sqlite3.Error."""
        execute = self._connection.executemany
        for kind, rows in self._changed.items():
            execute(self._upserts[kind], rows)
        execute("INSERT INTO reading(object_id, probe, ts, asked, unanswered) VALUES(?, ?, ?, ?, ?)", self._new)
        execute(
            "UPDATE reading SET ts = ?, asked = ?, unanswered = NULL WHERE object_id = ? AND probe = ?",
            self._answered,
        )
        execute(
            "UPDATE reading SET asked = ?, unanswered = ? WHERE object_id = ? AND probe = ? AND (ts IS NULL OR ts < ?)",
            self._unanswered,
        )
        self._clear()

    def _clear(self) -> None:
        self._changed = {}
        self._new = []
        self._answered = []
        self._unanswered = []
