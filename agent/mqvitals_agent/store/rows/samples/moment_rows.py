"""The newest rows of history of thousands of objects as of a past moment, where hours are not sealed yet."""

# ruff: noqa: S608 - table and columns are the vocabulary's, checked where the tables are made
from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final

from mqvitals_agent.store.file.integrity import FIRST_MOMENT
from mqvitals_agent.store.rows.samples.moment_sealed import MomentSample, SampleCondition
from mqvitals_agent.store.rows.samples.moment_values import HistoryRow
from mqvitals_agent.store.rows.tables import POLL, KindTables, moment, types_of

_FEW: Final = 64
"""So many objects are looked for one by one at once, and a snapshot that had no more of those looked for leads no further."""
_SEEK_ROWS: Final = 7
"""To look for one object takes as long as this many rows when all objects are read."""
_MOST_SEEKS: Final = 3_000
"""The most objects that are looked for one by one."""
_AS_ROW: Final[Callable[[tuple[Any, ...]], HistoryRow]] = partial(tuple.__new__, HistoryRow)
"""Ten thousand are made at once, in half the time that the class takes."""
_LEADERS: Final = 8
"""Where more are missing, so many of them are looked for; the newest snapshot of these is read for all."""


class MomentRows:
    """Reads rows of history of one kind. Times are ms UTC; conditions are those of polls.

    Every method raises sqlite3.Error, and TypeError or ValueError for what only a damaged file holds.
    """

    def __init__(self, tables: KindTables, answered: SampleCondition) -> None:
        """``answered`` is that a sample answers the poll of the kind."""
        self._tables = tables
        self._answered = answered.sql

    def at(
        self,
        connection: sqlite3.Connection,
        ts: int,
        numbers: Collection[int],
        condition: SampleCondition,
        metrics: Sequence[str],
        source: int = POLL,
    ) -> dict[int, MomentSample]:
        """The rows of objects at a time, by number, and whether they hold what the condition asks for."""
        facts = ("s.polled", self._answered, condition.holds_any)
        rows = self._rows_at(connection, ts, numbers, facts, metrics, source, "1")
        return {
            row[0]: MomentSample(row[1], bool(row[2]), bool(row[3]), bool(row[4]), row[5:])
            for row in rows
            if row[0] in numbers
        }

    def counting(
        self,
        connection: sqlite3.Connection,
        ts: int,
        numbers: Collection[int],
        condition: SampleCondition,
        metrics: Sequence[str],
        source: int = POLL,
    ) -> dict[int, HistoryRow]:
        """The rows of objects at a time that fulfil the condition, by number."""
        rows = self._rows_at(connection, ts, numbers, (self._answered,), metrics, source, condition.sql)
        return {row[0]: _AS_ROW((ts, row[1], bool(row[2]), row[3:])) for row in rows if row[0] in numbers}

    def _rows_at(
        self,
        connection: sqlite3.Connection,
        ts: int,
        numbers: Collection[int],
        facts: Sequence[str],
        metrics: Sequence[str],
        source: int,
        where: str,
    ) -> list[tuple[Any, ...]]:
        """Number, interval, ``facts`` (texts of ours, true or false) and metrics of the rows of a time."""
        columns = "".join(f', s."{name}"' for name in metrics)
        # The objects of an owner have numbers close together: several owners may have been asked at once.
        rows = connection.execute(
            f"SELECT s.object_id, s.interval_ms, {', '.join(facts)}{columns} FROM {self._tables.history} AS s"
            f" WHERE s.ts = ? AND s.object_id BETWEEN ? AND ? AND s.source = ? AND {where}",
            (ts, min(numbers), max(numbers), source),
        ).fetchall()
        check_columns(rows, (*["INTEGER"] * (2 + len(facts)), *(self._tables.types[name] for name in metrics)))
        return rows

    def newest(
        self,
        connection: sqlite3.Connection,
        owner: str,
        numbers: Collection[int],
        condition: SampleCondition,
        first: int,
        until: int,
        missing: tuple[Collection[int], int],
    ) -> dict[int, int]:
        """When the newest rows from ``first`` to ``until`` are from that fulfil the condition, by number.

        Of the objects ``missing`` there is none after the time that comes with them. Where many are looked for, as in an
        outage or of a slower probe, the newest snapshot of a few of them is that of most. The others are found one by one.
        """
        found: dict[int, int] = {}
        rest = set(numbers)
        without, without_after = missing
        led_to = len(rest)
        while len(rest) > _MOST_SEEKS or (len(rest) > _FEW and led_to > _FEW):
            some = sorted(rest)[:: max(len(rest) // _LEADERS, 1)]
            led = {each: self._newest_of(connection, owner, each, condition, first, until) for each in some}
            last = max((ts for ts in led.values() if ts is not None), default=None)
            if last is None:
                rest.difference_update(some)
                led_to = 0
                continue
            there = self._polled_at(connection, last, rest, condition)
            there.difference_update(self._polled_after(connection, owner, last, until, there, condition))
            found.update(dict.fromkeys(there, last))
            led_to = len(there)
            rest.difference_update(there, (each for each, ts in led.items() if ts is None))
        if len(rest) > _FEW and len(rest) * _SEEK_ROWS > max(rest) - min(rest):
            last = min(until, without_after) if rest.issubset(without) else until
            found.update(self.scan(connection, owner, rest, condition, first, last))
            rest.clear()
        for number in rest:
            last = min(until, without_after) if number in without else until
            one = self._newest_of(connection, owner, number, condition, first, last)
            if one is not None:
                found[number] = one
        return found

    def scan(
        self,
        connection: sqlite3.Connection,
        owner: str,
        numbers: Collection[int],
        condition: SampleCondition,
        first: int,
        until: int,
    ) -> dict[int, int]:
        """``newest`` of many objects of which most have none: all are looked through once."""
        rows = connection.execute(
            f"SELECT s.object_id, max(s.ts) FROM snapshot AS t CROSS JOIN {self._tables.history} AS s WHERE t.owner = ?"
            " AND t.ts BETWEEN ? AND ? AND s.ts = t.ts AND s.object_id BETWEEN ? AND ?"
            f" AND s.source = {POLL} AND {condition.sql} GROUP BY s.object_id",
            (owner, max(first, FIRST_MOMENT), until, min(numbers), max(numbers)),
        )
        return {number: moment(ts) for number, ts in rows if number in numbers}

    def newest_each(
        self, connection: sqlite3.Connection, owner: str, number: int, names: Sequence[str], first: int, until: int
    ) -> Mapping[str, int]:
        """When an object reported each of the metrics ``names`` last, as far as it did, all in one reading."""
        newest = ", ".join(f'max(CASE WHEN s."{name}" IS NOT NULL THEN s.ts END)' for name in names)
        row = connection.execute(
            f"SELECT {newest} FROM snapshot AS t CROSS JOIN {self._tables.history} AS s WHERE t.owner = ?"
            f" AND t.ts BETWEEN ? AND ? AND s.ts = t.ts AND s.object_id = ? AND s.source = {POLL}",
            (owner, max(first, FIRST_MOMENT), until, number),
        ).fetchone()
        return {name: moment(ts) for name, ts in zip(names, row, strict=True) if ts is not None}

    def greatest(
        self, connection: sqlite3.Connection, owner: str, ts: int, metric: str, count: int
    ) -> list[tuple[int, Any]]:
        """The polled objects of an owner with the greatest values of a metric at a time, and these values."""
        return connection.execute(
            f'SELECT object_id, "{metric}" FROM {self._tables.history} AS s JOIN object AS o ON o.id = s.object_id'
            f' WHERE s.ts = ? AND s.source = {POLL} AND s.polled AND o.owner = ? ORDER BY "{metric}" DESC LIMIT ?',
            (ts, owner, count),
        ).fetchall()

    def is_any(self, connection: sqlite3.Connection, first: int, until: int) -> bool:
        """Whether there is any row of a poll between two times: there are few of records where polls are sealed."""
        query = f"SELECT 1 FROM {self._tables.history} WHERE ts BETWEEN ? AND ? AND source = {POLL} LIMIT 1"
        return connection.execute(query, (max(first, FIRST_MOMENT), until)).fetchone() is not None

    def _newest_of(
        self,
        connection: sqlite3.Connection,
        owner: str,
        number: int,
        condition: SampleCondition,
        first: int,
        until: int,
    ) -> int | None:
        row = connection.execute(
            f"SELECT t.ts FROM snapshot AS t CROSS JOIN {self._tables.history} AS s WHERE t.owner = ?"
            " AND t.ts BETWEEN ? AND ?"
            f" AND s.ts = t.ts AND s.object_id = ? AND s.source = {POLL} AND {condition.sql} ORDER BY t.ts DESC LIMIT 1",
            (owner, max(first, FIRST_MOMENT), until, number),
        ).fetchone()
        return None if row is None else moment(row[0])

    def _polled_at(
        self, connection: sqlite3.Connection, ts: int, numbers: Collection[int], condition: SampleCondition
    ) -> set[int]:
        rows = connection.execute(
            f"SELECT s.object_id FROM {self._tables.history} AS s WHERE s.ts = ? AND s.object_id BETWEEN ? AND ?"
            f" AND s.source = {POLL} AND {condition.sql}",
            (ts, min(numbers), max(numbers)),
        )
        return {number for (number,) in rows if number in numbers}

    def _polled_after(
        self,
        connection: sqlite3.Connection,
        owner: str,
        ts: int,
        until: int,
        numbers: Collection[int],
        condition: SampleCondition,
    ) -> list[int]:
        """Those of the objects of which there is a later row than ``ts`` that fulfils the condition."""
        if not numbers:
            return []
        rows = connection.execute(
            f"SELECT DISTINCT s.object_id FROM snapshot AS t CROSS JOIN {self._tables.history} AS s WHERE t.owner = ?"
            " AND t.ts > ? AND t.ts <= ? AND s.ts = t.ts AND s.object_id BETWEEN ? AND ?"
            f" AND s.source = {POLL} AND {condition.sql}",
            (owner, ts, until, min(numbers), max(numbers)),
        )
        return [number for (number,) in rows if number in numbers]


def check_columns(rows: Sequence[Sequence[Any]], declared: Sequence[str], first: int = 0) -> None:
    """Raises TypeError where a cell of the columns from ``first`` on is no value of its column, which is declared so."""
    if not rows:
        return
    for column, known in zip(list(zip(*rows, strict=True))[first:], types_of(declared), strict=True):
        foreign = set(map(type, column)) - known
        if foreign:
            raise TypeError(f"a {foreign.pop().__name__} is no value of this metric")
