"""What a store knew of the objects of one kind at a past moment, from current state, changes and history.

A row of current state that has not changed since the moment is as it was then, its texts and reasons included. Where
it has, history has the numbers and states, and the rows of changes take definitions back. A text that has changed
since is not kept, nor is the reason why a number was absent.
"""

# ruff: noqa: S608 - table and columns are the vocabulary's, checked where the tables are made
from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from mqvitals_agent.store.file.integrity import FIRST_MOMENT
from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.store.rows.samples.moment_values import (
    LASTING,
    CurrentRow,
    HistoryRow,
    MomentFacts,
    ObjectThen,
    newer,
    saying_why,
)
from mqvitals_agent.store.rows.tables import POLL, KindTables, integer, moment, text, types_of
from mqvitals_rules.snapshot import NEWEST_RECORDS, Source, overdue_after
from mqvitals_rules.vocabulary.changes import RECORDED
from mqvitals_rules.vocabulary.metric import Absence, Kind, Reported, Value

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

Rows = Mapping[int, Sequence[CurrentRow]]


class LookedBack(NamedTuple):
    """The newest rows of history as of a moment (ms UTC) by number, and the objects of which there was none."""

    at: int
    rows: Mapping[int, HistoryRow]
    missing: frozenset[int]


Looked = dict[tuple[str, tuple[str, ...]], LookedBack]
"""By condition and metrics."""


@dataclass(frozen=True, slots=True)
class CurrentRows:
    """Rows of current state: those of polls by number, those of records by number and source.

    ``told`` are the metrics that the rows of other probes than the poll hold. Rows that were read once serve every
    earlier moment: one that has changed since says when.
    """

    polled: Rows
    recorded: Mapping[tuple[int, int], Sequence[CurrentRow]]
    told: Mapping[str, frozenset[str]]

    def only(self, numbers: Collection[int]) -> CurrentRows:
        """The rows of these objects."""
        return CurrentRows(
            {number: self.polled[number] for number in numbers if number in self.polled},
            {key: rows for key, rows in self.recorded.items() if key[0] in numbers} if self.recorded else {},
            self.told,
        )


class MomentQuery:
    """Reads one kind as of a moment."""

    def __init__(
        self,
        kind: Kind,
        tables: KindTables,
        present: frozenset[str],
        kept: frozenset[str],
        at: int,
        metrics: Collection[str] | None = None,
    ) -> None:
        """``at`` is the moment, ms UTC; ``present`` and ``kept`` are the columns that the tables of current state and of
        history have: a store may be older than the vocabulary; ``metrics`` are those wanted, None: all.
        """
        self.kind = kind
        self.tables = tables
        self.at = at
        self._wanted = frozenset(tables.metrics if metrics is None else metrics)
        self._cells = tuple(name for name in tables.metrics if name in present and name in self._wanted)
        self._exists = bool(present)
        self._columns = tuple(name for name in tables.numbers if name in kept)
        also = saying_why(kind.name, self._wanted)
        self._numbers = tuple(name for name in self._columns if name in self._wanted | also)
        self._answered = self._answer_condition()

    def of(
        self, connection: sqlite3.Connection, owner: str, last: int, rows: CurrentRows, looked: Looked | None = None
    ) -> Mapping[int, Mapping[str, CurrentValue]]:
        """By object number, what was known of the objects of ``owner`` with these ``rows`` of current state.

        ``last`` is the newest snapshot of the owner then, ms UTC. ``looked`` has what was found as of other moments, and is
        added to. Raises sqlite3.Error, TypeError, ValueError.
        """
        polled = rows.polled
        asked = self._look_back(connection, owner, polled, "s.polled", self._numbers, looked)
        silent = [number for number, sample in asked.items() if not sample.answered]
        answered = dict(asked)
        for number in silent:
            del answered[number]
        answered |= self._look_back(connection, owner, silent, f"s.polled AND {self._answered}", self._numbers, looked)
        facts = MomentFacts(
            self.kind,
            self.at,
            last,
            self._wanted,
            {name: place for place, name in enumerate(self._cells)},
            {name: place for place, name in enumerate(self._numbers)},
            self._undone(connection, owner, polled),
            self._others(connection, owner, rows, answered, looked),
        )
        records = self._records(connection, rows.recorded, last)
        return {
            number: ObjectThen(
                facts,
                number,
                polled.get(number, ()),
                answered.get(number),
                asked.get(number),
                records.get(number, {}),
            )
            for number in (*polled, *(each for each in records if each not in polled))
        }

    def _answer_condition(self) -> str:
        """A condition: a row of history holds something of the poll of the kind."""
        command, columns = self.kind.poll_command, frozenset(self._columns)
        own = [metric.name for metric in self.kind.metrics if metric.command == command and metric.name in columns]
        listed = "".join(f', s."{name}"' for name in own or self._columns)
        return f"coalesce(NULL, NULL{listed}) IS NOT NULL"

    # -- rows of current state ---------------------------------------------------------------------------------------

    def rows(self, connection: sqlite3.Connection, where: str, parameters: tuple[Any, ...]) -> CurrentRows:
        """The rows of current state of the objects that fulfil ``where`` (a text of ours). Raises sqlite3.Error, TypeError."""
        polled: dict[int, list[CurrentRow]] = {}
        recorded: dict[tuple[int, int], list[CurrentRow]] = {}
        if not self._exists:
            return CurrentRows(polled, recorded, {})
        columns = "".join(f', c."{name}"' for name in self._cells)
        rows = connection.execute(
            f"SELECT c.object_id, c.source, c.probe, c.changed, c.absent{columns}"
            f" FROM reading AS r CROSS JOIN {self.tables.current} AS c ON c.probe = r.probe AND c.object_id = r.object_id"
            f" WHERE r.{where} ORDER BY r.object_id, r.ts, r.probe",
            parameters,
        ).fetchall()
        self._check(rows, 5, self._cells)
        reasons: dict[str | None, Mapping[str, Absence]] = {None: {}}
        for number, source, probe, changed, absent, *cells in rows:
            missing = reasons.get(absent)
            if missing is None:
                found = {name: Absence[why] for name, why in json.loads(text(absent)).items()}
                missing = reasons[absent] = found
            row = CurrentRow(text(probe), integer(changed), missing, cells)
            if source == POLL:
                polled.setdefault(number, []).append(row)
            else:
                recorded.setdefault((number, integer(source)), []).append(row)
        return CurrentRows(polled, recorded, self._told(polled))

    def _told(self, polled: Rows) -> Mapping[str, frozenset[str]]:
        told: dict[str, set[str]] = {}
        for each in polled.values():
            for row in each:
                if row.probe != self.kind.poll:
                    known = told.setdefault(row.probe, set())
                    if len(known) < len(self._wanted):
                        known.update(name for name, _ in self._reported(row))
        return {probe: frozenset(names) for probe, names in told.items()}

    def _check(self, rows: Sequence[tuple[Any, ...]], first: int, names: Sequence[str]) -> None:
        """Raises TypeError where a cell of the columns from ``first`` on is no value of its metric."""
        if not rows:
            return
        types = types_of(self.tables.types[name] for name in names)
        for column, known in zip(list(zip(*rows, strict=True))[first:], types, strict=True):
            foreign = set(map(type, column)) - known
            if foreign:
                raise TypeError(f"a {foreign.pop().__name__} is no value of this metric")

    # -- history -----------------------------------------------------------------------------------------------------

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
            there = dict(self._samples_at(connection, last, rest, condition, metrics))
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
    ) -> Iterator[tuple[int, HistoryRow]]:
        columns = "".join(f', s."{name}"' for name in metrics)
        # The objects of an owner have numbers close together: several owners may have been asked at once.
        rows = connection.execute(
            f"SELECT s.object_id, s.interval_ms, {self._answered}{columns} FROM {self.tables.history} AS s"
            f" WHERE s.ts = ? AND s.object_id BETWEEN ? AND ? AND s.source = ? AND {condition}",
            (ts, min(numbers), max(numbers), source),
        ).fetchall()
        self._check(rows, 3, metrics)
        return (
            (number, HistoryRow(ts, None if interval is None else integer(interval), bool(answered), cells))
            for number, interval, answered, *cells in rows
            if number in numbers
        )

    def _others(
        self,
        connection: sqlite3.Connection,
        owner: str,
        rows: CurrentRows,
        answered: Mapping[int, HistoryRow],
        looked: Looked | None,
    ) -> dict[tuple[int, str], tuple[int, Value]]:
        """Number and metric -> when it was reported last and its value, of metrics of other probes than the poll."""
        recorded = RECORDED.get(self.kind.name, {})
        places = {
            probe: [
                (name, place)
                for place, name in enumerate(self._numbers)
                if name in told - recorded.get(probe, frozenset())
            ]
            for probe, told in rows.told.items()
        }
        wanted: dict[str, dict[str, set[int]]] = {}
        for number, of_object in rows.polled.items() if any(places.values()) else ():
            sample = answered.get(number)
            for row in of_object:
                if row.changed > self.at and row.probe != self.kind.poll:
                    for name, place in places[row.probe]:
                        if sample is None or sample.cells[place] is None:
                            wanted.setdefault(row.probe, {}).setdefault(name, set()).add(number)
        found: dict[tuple[int, str], tuple[int, Value]] = {}
        for of_probe in wanted.values():
            # One answer of a probe has most of its metrics.
            names = tuple(of_probe)
            listed = "".join(f', s."{name}"' for name in names)
            together = f"coalesce(NULL, NULL{listed}) IS NOT NULL"
            numbers = set().union(*of_probe.values())
            samples = self._look_back(connection, owner, numbers, together, names, looked)
            rest: dict[int, list[str]] = {}
            for place, name in enumerate(names):
                for number in of_probe[name]:
                    sample = samples.get(number)
                    if sample is not None and sample.cells[place] is not None:
                        found[number, name] = sample.ts, sample.cells[place]
                    elif sample is not None:
                        rest.setdefault(number, []).append(name)
            if len(rest) <= _FEW:
                for number, lacking in rest.items():
                    found |= self._each_alone(connection, owner, number, tuple(lacking), looked)
                continue
            for name in names:
                those = [number for number, lacking in rest.items() if name in lacking]
                alone = self._look_back(connection, owner, those, f's."{name}" IS NOT NULL', (name,), looked)
                found |= {(number, name): (sample.ts, sample.cells[0]) for number, sample in alone.items()}
        return found

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

    # -- changes -----------------------------------------------------------------------------------------------------

    def _undone(self, connection: sqlite3.Connection, owner: str, rows: Rows) -> dict[tuple[int, str], Value]:
        """Number and metric -> the value before the first change of the definition after the moment."""
        recorded = RECORDED.get(self.kind.name, {})
        if not any(row.changed > self.at and row.probe in recorded for each in rows.values() for row in each):
            return {}
        undone: dict[tuple[int, str], Value] = {}
        for number, metric, old in connection.execute(
            "SELECT o.id, c.metric, c.old FROM change AS c JOIN object AS o"
            " ON o.owner = c.owner AND o.kind = c.kind AND o.name = c.name"
            " WHERE c.owner = ? AND c.kind = ? AND c.ts > ? ORDER BY c.ts, c.id",
            (owner, self.kind.name, self.at),
        ):
            if type(old) not in (int, float, str):
                raise TypeError(f"{old!r:.60} is no value")
            undone.setdefault((number, text(metric)), old)
        return undone

    # -- records -----------------------------------------------------------------------------------------------------

    def _records(
        self, connection: sqlite3.Connection, rows: Mapping[tuple[int, int], Sequence[CurrentRow]], last: int
    ) -> dict[int, dict[str, CurrentValue]]:
        """By number, the values of the newest records of each source that had ended by then."""
        found: dict[int, dict[str, CurrentValue]] = {}
        for (number, source), of_source in rows.items():
            samples = list(self._newest_records(connection, number, source))
            values = found.setdefault(number, {})
            for row in of_source:
                for metric, now in self._reported(row):
                    values[metric] = newer(values.get(metric), self._recorded(row, metric, now, samples, source, last))
        return found

    def _reported(self, row: CurrentRow) -> Iterable[tuple[str, Reported]]:
        yield from ((name, why) for name, why in row.absent.items() if name in self._wanted)
        yield from ((name, cell) for name, cell in zip(self._cells, row.cells, strict=True) if cell is not None)

    def _recorded(
        self, row: CurrentRow, metric: str, now: Reported, samples: Sequence[HistoryRow], source: int, last: int
    ) -> CurrentValue:
        place = self._numbers.index(metric) if metric in self._numbers else None
        held = (each for each in samples if place is not None and each.cells[place] is not None)
        sample = next(held, None)
        value: Reported | None = None if sample is None or place is None else sample.cells[place]
        if value is None and samples and row.changed <= self.at:
            sample, value = samples[0], now
        if sample is None or value is None:
            why = now if isinstance(now, Absence) and now in LASTING else Absence.NOT_KEPT
            return CurrentValue(why, None, row.probe, self.at, None)
        recent = [each.interval_ms for each in samples]
        stale = last > overdue_after(sample.ts, sample.interval_ms, recent, row.probe)
        unanswered = Absence.STALE if stale else None
        return CurrentValue(value, sample.ts, row.probe, sample.ts, unanswered, Source(source), sample.interval_ms)

    def _newest_records(self, connection: sqlite3.Connection, number: int, source: int) -> Iterator[HistoryRow]:
        """The newest records of an object, newest first."""
        ends = connection.execute(
            "SELECT ts FROM record WHERE object_id = ? AND source = ? AND ts BETWEEN ? AND ? ORDER BY ts DESC LIMIT ?",
            (number, source, FIRST_MOMENT, self.at, NEWEST_RECORDS),
        ).fetchall()
        for (ts,) in ends:
            for _, sample in self._samples_at(connection, moment(ts), (number,), "1", self._numbers, source):
                yield sample
