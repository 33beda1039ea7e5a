"""Rows of history as of a past moment: the newest of each of thousands of objects, and what holds for the next moment too."""

# ruff: noqa: S608 - table and columns are the vocabulary's, checked where the tables are made
from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from mqvitals_agent.store.file.integrity import FIRST_MOMENT
from mqvitals_agent.store.rows.samples.moment_values import HistoryRow
from mqvitals_agent.store.rows.tables import POLL, KindTables, integer, moment, types_of
from mqvitals_rules.vocabulary.metric import Kind, Value

LOOKBACK_MS: Final = 6 * 3_600_000
"""A metric has no value at a moment when it was last reported longer than this before."""

_READ_WHOLE: Final = 2
"""Snapshots that are read for all objects before the rest is looked for one by one."""
_FEW: Final = 64
"""So many objects are looked for one by one at once, and a snapshot that had no more of those looked for leads no further."""
_LOOKED_THROUGH: Final = 40
"""Snapshots that are looked through for one in which the objects were polled."""
_SEEK_ROWS: Final = 7
"""To look for one object takes as long as this many rows when all objects are read."""
_MOST_SEEKS: Final = 3_000
"""The most objects that are looked for one by one."""
_LEADERS: Final = 8
"""Where more are missing, so many of them are looked for; the newest snapshot of these is read for all."""


class LookedBack(NamedTuple):
    """The newest rows of history as of a moment (ms UTC) by number, and the objects of which there was none."""

    at: int
    rows: Mapping[int, HistoryRow]
    missing: frozenset[int]


Looked = dict[tuple[str, tuple[str, ...]], LookedBack]
"""By condition and metrics."""


class MomentHistory:
    """Reads rows of history of one kind as of a moment."""

    def __init__(self, kind: Kind, tables: KindTables, kept: frozenset[str], at: int, metrics: Collection[str]) -> None:
        """``at`` is the moment, ms UTC; ``kept`` are the columns that the table has, ``metrics`` those to be read."""
        self.kind = kind
        self.tables = tables
        self.at = at
        self._columns = tuple(name for name in tables.numbers if name in kept)
        self._numbers = tuple(name for name in self._columns if name in metrics)
        self._answered = self._answer_condition()

    @staticmethod
    def are_few(numbers: Collection[object]) -> bool:
        """Whether so many objects are looked for one by one."""
        return len(numbers) <= _FEW

    def _answer_condition(self) -> str:
        """A condition: a row of history holds something of the poll of the kind."""
        command, columns = self.kind.poll_command, frozenset(self._columns)
        own = [metric.name for metric in self.kind.metrics if metric.command == command and metric.name in columns]
        listed = "".join(f', s."{name}"' for name in own or self._columns)
        return f"coalesce(NULL, NULL{listed}) IS NOT NULL"

    def _check(self, rows: Sequence[tuple[Any, ...]], first: int, names: Sequence[str]) -> None:
        """Raises TypeError where a cell of the columns from ``first`` on is no value of its metric."""
        if not rows:
            return
        types = types_of(self.tables.types[name] for name in names)
        for column, known in zip(list(zip(*rows, strict=True))[first:], types, strict=True):
            foreign = set(map(type, column)) - known
            if foreign:
                raise TypeError(f"a {foreign.pop().__name__} is no value of this metric")

    def _look_back(
        self,
        connection: sqlite3.Connection,
        owner: str,
        numbers: Collection[int],
        condition: str,
        metrics: Sequence[str],
        looked: Looked | None = None,
    ) -> dict[int, HistoryRow]:
        """The newest row of each object that fulfils ``condition`` (a text of ours).

        Most objects are in the newest snapshots, which are read for all of them. What was found as of another moment holds
        where nothing was polled between them. Where many are left, as in an outage or of a slower probe, the newest snapshot
        of a few of them is that of most. The others are found one by one. ``looked`` takes what was found.
        """
        found: dict[int, HistoryRow] = {}
        rest = set(numbers) if self._columns else set()
        newest = self._newest_snapshots(connection, owner) if len(rest) > _FEW else []
        for ts in newest:
            if not rest:
                break
            found.update(self._samples_at(connection, ts, rest, condition, metrics))
            rest.difference_update(found)
        key = condition, tuple(metrics)
        before = None if looked is None or not rest else looked.get(key)
        if before is not None and self._holds(connection, owner, before.at, newest):
            # What is deleted since is not there any more.
            first = max(self._first_snapshot(connection, owner), self.at - LOOKBACK_MS)
            found.update(
                (number, row)
                for number in rest
                if (row := before.rows.get(number)) is not None and first <= row.ts <= self.at
            )
            rest.difference_update(found)
        else:
            before = None
        led_to = len(rest)
        while len(rest) > _MOST_SEEKS or (len(rest) > _FEW and led_to > _FEW):
            some = sorted(rest)[:: max(len(rest) // _LEADERS, 1)]
            led = {each: self._newest_ts(connection, owner, each, condition) for each in some}
            last = max((ts for ts in led.values() if ts is not None), default=None)
            if last is None:
                rest.difference_update(some)
                led_to = 0
                continue
            there = self._samples_at(connection, last, rest, condition, metrics)
            for number in self._polled_after(connection, owner, last, there, condition):
                del there[number]
            found.update(there)
            led_to = len(there)
            rest.difference_update(there, (each for each, ts in led.items() if ts is None))
        if len(rest) > _FEW and len(rest) * _SEEK_ROWS > max(rest) - min(rest):
            until = self.at if before is None or not before.missing.issuperset(rest) else before.at - LOOKBACK_MS
            found.update(self._scan(connection, owner, rest, condition, metrics, until))
            rest.clear()
        for number in rest:
            until = self.at
            if before is not None and number in before.missing:
                until = min(until, before.at - LOOKBACK_MS)
            one = self._newest_ts(connection, owner, number, condition, until)
            if one is not None:
                found.update(self._samples_at(connection, one, (number,), condition, metrics))
        if looked is not None and numbers:
            looked[key] = LookedBack(self.at, found, frozenset(each for each in numbers if each not in found))
        return found

    def _holds(self, connection: sqlite3.Connection, owner: str, at: int, newest: Sequence[int]) -> bool:
        """Whether rows that were the newest as of ``at`` are those of this moment, as far as they are from before it.

        ``newest`` are the newest snapshots by then, which are looked through already.
        """
        if at >= self.at or (newest and newest[-1] <= at):
            return True
        row = connection.execute(
            "SELECT 1 FROM snapshot WHERE owner = ? AND ts > ? AND ts < ? LIMIT 1",
            (owner, at, newest[-1] if newest else self.at + 1),
        ).fetchone()
        return row is None

    def _scan(
        self,
        connection: sqlite3.Connection,
        owner: str,
        numbers: Collection[int],
        condition: str,
        metrics: Sequence[str],
        until: int,
    ) -> dict[int, HistoryRow]:
        """The newest row by ``until`` (ms UTC) of each of many objects of which most have none: all are looked through once."""
        rows = connection.execute(
            f"SELECT s.object_id, max(s.ts) FROM snapshot AS t CROSS JOIN {self.tables.history} AS s WHERE t.owner = ?"
            " AND t.ts BETWEEN ? AND ? AND s.ts = t.ts AND s.object_id BETWEEN ? AND ?"
            f" AND s.source = {POLL} AND {condition} GROUP BY s.object_id",
            (owner, max(self.at - LOOKBACK_MS, FIRST_MOMENT), min(until, self.at), min(numbers), max(numbers)),
        ).fetchall()
        by_time: dict[int, set[int]] = {}
        for number, ts in rows:
            if number in numbers:
                by_time.setdefault(moment(ts), set()).add(number)
        found: dict[int, HistoryRow] = {}
        for ts, those in by_time.items():
            found.update(self._samples_at(connection, ts, those, condition, metrics))
        return found

    def _polled_after(
        self, connection: sqlite3.Connection, owner: str, ts: int, numbers: Collection[int], condition: str
    ) -> list[int]:
        """Those of the objects of which there is a later row than ``ts`` that fulfils ``condition``."""
        if not numbers:
            return []
        rows = connection.execute(
            f"SELECT DISTINCT s.object_id FROM snapshot AS t CROSS JOIN {self.tables.history} AS s WHERE t.owner = ?"
            " AND t.ts > ? AND t.ts <= ? AND s.ts = t.ts AND s.object_id BETWEEN ? AND ?"
            f" AND s.source = {POLL} AND {condition}",
            (owner, ts, self.at, min(numbers), max(numbers)),
        )
        return [number for (number,) in rows if number in numbers]

    def leaders(self, connection: sqlite3.Connection, owner: str, metric: str, count: int) -> frozenset[int]:
        """The numbers of some objects of ``owner``, among them the ``count`` with the greatest values above 0 of a
        metric.

        They are looked for in the newest two snapshots in which the kind was polled: an object of a slower probe is in
        the second one. Raises sqlite3.Error.
        """
        found: set[int] = set()
        looked = 0
        if metric not in self._columns:
            return frozenset()
        for ts in self._newest_snapshots(connection, owner, _LOOKED_THROUGH):
            rows = connection.execute(
                f'SELECT object_id, "{metric}" FROM {self.tables.history} AS s JOIN object AS o ON o.id = s.object_id'
                f' WHERE s.ts = ? AND s.source = {POLL} AND s.polled AND o.owner = ? ORDER BY "{metric}" DESC LIMIT ?',
                (ts, owner, count),
            ).fetchall()
            found.update(number for number, value in rows if value is not None and value > 0)
            looked += bool(rows)
            if looked == _READ_WHOLE:
                break
        return frozenset(found)

    def _newest_snapshots(self, connection: sqlite3.Connection, owner: str, count: int = _READ_WHOLE) -> list[int]:
        rows = connection.execute(
            "SELECT ts FROM snapshot WHERE owner = ? AND ts BETWEEN ? AND ? ORDER BY ts DESC LIMIT ?",
            (owner, FIRST_MOMENT, self.at, count),
        )
        return [moment(ts) for (ts,) in rows]

    def _first_snapshot(self, connection: sqlite3.Connection, owner: str) -> int:
        row = connection.execute(
            "SELECT min(ts) FROM snapshot WHERE owner = ? AND ts >= ?", (owner, FIRST_MOMENT)
        ).fetchone()
        return self.at if row[0] is None else moment(row[0])

    def _newest_ts(
        self, connection: sqlite3.Connection, owner: str, number: int, condition: str, until: int | None = None
    ) -> int | None:
        row = connection.execute(
            f"SELECT t.ts FROM snapshot AS t CROSS JOIN {self.tables.history} AS s WHERE t.owner = ? AND t.ts BETWEEN ? AND ?"
            f" AND s.ts = t.ts AND s.object_id = ? AND s.source = {POLL} AND {condition} ORDER BY t.ts DESC LIMIT 1",
            (owner, max(self.at - LOOKBACK_MS, FIRST_MOMENT), self.at if until is None else until, number),
        ).fetchone()
        return None if row is None else moment(row[0])

    def _samples_at(
        self,
        connection: sqlite3.Connection,
        ts: int,
        numbers: Collection[int],
        condition: str,
        metrics: Sequence[str],
        source: int = POLL,
    ) -> dict[int, HistoryRow]:
        columns = "".join(f', s."{name}"' for name in metrics)
        # The objects of an owner have numbers close together: several owners may have been asked at once.
        rows = connection.execute(
            f"SELECT s.object_id, s.interval_ms, {self._answered}{columns} FROM {self.tables.history} AS s"
            f" WHERE s.ts = ? AND s.object_id BETWEEN ? AND ? AND s.source = ? AND {condition}",
            (ts, min(numbers), max(numbers), source),
        ).fetchall()
        self._check(rows, 3, metrics)
        return {
            row[0]: HistoryRow(ts, None if row[1] is None else integer(row[1]), bool(row[2]), row[3:])
            for row in rows
            if row[0] in numbers
        }

    def _each_alone(
        self, connection: sqlite3.Connection, owner: str, number: int, names: tuple[str, ...], looked: Looked | None
    ) -> dict[tuple[int, str], tuple[int, Value]]:
        """Number and metric -> when an object reported it last and its value, as far as it did: all in one reading."""
        key = f"each of {number}", names
        before = None if looked is None else looked.get(key)
        until = self.at
        if before is not None and not before.rows and self._holds(connection, owner, before.at, ()):
            # There was none: only what had ended by the time looked at before is new.
            until = min(until, before.at - LOOKBACK_MS)
        newest = ", ".join(f'max(CASE WHEN s."{name}" IS NOT NULL THEN s.ts END)' for name in names)
        row = connection.execute(
            f"SELECT {newest} FROM snapshot AS t CROSS JOIN {self.tables.history} AS s WHERE t.owner = ?"
            f" AND t.ts BETWEEN ? AND ? AND s.ts = t.ts AND s.object_id = ? AND s.source = {POLL}",
            (owner, max(self.at - LOOKBACK_MS, FIRST_MOMENT), until, number),
        ).fetchone()
        found: dict[tuple[int, str], tuple[int, Value]] = {}
        last: dict[int, HistoryRow] = {}
        for place, ts in enumerate(row):
            if ts is not None:
                last.update(self._samples_at(connection, moment(ts), (number,), "1", names))
                found[number, names[place]] = moment(ts), last[number].cells[place]
        if looked is not None:
            looked[key] = LookedBack(self.at, last, frozenset())
        return found
