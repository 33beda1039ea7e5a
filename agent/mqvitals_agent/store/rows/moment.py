"""What a store knew of the objects of one kind at a past moment, from current state, changes and history.

A row of current state that has not changed since the moment is as it was then, its texts and reasons included. Where
it has, history has the numbers and states, and the rows of changes take definitions back. A text that has changed
since is not kept, nor is the reason why a number was absent.
"""

# ruff: noqa: S608 - table and columns are the vocabulary's, checked where the tables are made
from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from mqvitals_agent.store.file.integrity import FIRST_MOMENT
from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.store.rows.tables import (
    POLL,
    KindTables,
    Types,
    checked_values,
    integer,
    integer_or_none,
    moment,
    text,
    types_of,
)
from mqvitals_rules.snapshot import Source, fresh_until
from mqvitals_rules.vocabulary.changes import RECORDED
from mqvitals_rules.vocabulary.metric import Absence, Kind, Reported, Value

LOOKBACK_MS: Final = 6 * 3_600_000
"""What was not reported in so long before a moment has no value then."""

_READ_WHOLE: Final = 2
"""Snapshots that are read for all objects before the rest is looked for one by one."""
_MOST_SEEKS: Final = 3_000
"""More objects than these are not looked for one by one."""
_LEADERS: Final = 8
"""Objects that lead to the newest snapshot of so many."""

_LASTING: Final = frozenset(
    {
        Absence.NOT_COLLECTED,
        Absence.NOT_ON_ZOS,
        Absence.NOT_ON_DISTRIBUTED,
        Absence.NEEDS_SMF,
        Absence.NEEDS_STATISTICS,
        Absence.NEEDS_CONSOLE,
        Absence.NEEDS_EVENTS,
        Absence.NOT_LIVE,
        Absence.NOT_DECLARED,
    }
)
"""Reasons of now that also hold for a moment of the past without a value."""

_INACTIVE: Final = 0
"""The status of a channel without an instance."""


class _Row(NamedTuple):
    """A row of current state, with the cells of the metrics asked for. ``heard`` is when its probe last answered."""

    number: int
    probe: str
    heard: int
    changed: int
    absent: Mapping[str, Absence]
    source: int
    cells: Sequence[Any]


class _Sample(NamedTuple):
    """A row of history: its time, the ms that it covers, whether it answers the poll of the kind, and its cells."""

    ts: int
    interval_ms: int | None
    answered: bool
    cells: Mapping[str, Value | None]


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
        # The status of a channel says why its other figures are absent.
        also = {"status"} if kind.name == "channel" else set()
        self._numbers = tuple(name for name in self._columns if name in self._wanted | also)

    def of(
        self, connection: sqlite3.Connection, owner: str, last: int, where: str, parameters: tuple[Any, ...]
    ) -> dict[int, dict[str, CurrentValue]]:
        """By object number, what was known of the objects of ``owner`` that fulfil ``where`` (a text of ours).

        ``last`` is the newest snapshot of the owner then, ms UTC. Raises sqlite3.Error, TypeError, ValueError.
        """
        rows = self._rows(connection, where, parameters)
        polled = [row for row in rows if row.source == POLL]
        numbers = {row.number for row in polled}
        newest = self._newest(connection, owner, numbers, answered=False)
        silent = {number for number, sample in newest.items() if not sample.answered}
        heard = {number: sample for number, sample in newest.items() if sample.answered}
        heard |= self._newest(connection, owner, silent, answered=True)
        undone = self._undone(connection, owner, polled)
        others = self._others(connection, owner, polled, heard)
        found: dict[int, dict[str, CurrentValue]] = {}
        for row in polled:
            sample, asked = heard.get(row.number), newest.get(row.number)
            unanswered = Absence.NO_ANSWER if row.number in silent else None
            ts = last if sample is None else sample.ts
            values = found.setdefault(row.number, {})
            inactive = self._inactive(row, sample)
            for metric, now in self._reported(row).items():
                at, value = ts, now
                if row.changed > self.at:
                    at, value = self._then(row, metric, now, sample, undone, others, ts)
                    if value is Absence.NOT_KEPT and inactive:
                        value = Absence.INACTIVE
                _put(
                    values,
                    metric,
                    CurrentValue(value, at, row.probe, at if asked is None else asked.ts, unanswered),
                )
        self._add_records(connection, [row for row in rows if row.source != POLL], last, found)
        return found

    # -- rows of current state ---------------------------------------------------------------------------------------

    def _rows(self, connection: sqlite3.Connection, where: str, parameters: tuple[Any, ...]) -> list[_Row]:
        if not self._exists:
            return []
        types = types_of(self.tables.types[name] for name in self._cells)
        columns = "".join(f', c."{name}"' for name in self._cells)
        reasons: dict[str | None, Mapping[str, Absence]] = {None: {}}
        rows = []
        for number, probe, ts, changed, absent, source, *cells in connection.execute(
            f"SELECT c.object_id, c.probe, coalesce(r.ts, r.asked), c.changed, c.absent, c.source{columns}"
            f" FROM reading AS r CROSS JOIN {self.tables.current} AS c ON c.probe = r.probe AND c.object_id = r.object_id"
            f" WHERE r.{where} ORDER BY r.object_id, r.ts, r.probe",
            parameters,
        ):
            if absent not in reasons:
                reasons[absent] = {name: Absence[why] for name, why in json.loads(text(absent)).items()}
            rows.append(
                _Row(
                    number,
                    text(probe),
                    integer(ts),
                    integer(changed),
                    reasons[absent],
                    integer(source),
                    checked_values(cells, types),
                )
            )
        return rows

    def _reported(self, row: _Row) -> dict[str, Reported]:
        """What the row has now: values, and absences with their reasons."""
        reported: dict[str, Reported] = {name: why for name, why in row.absent.items() if name in self._wanted}
        reported.update((name, cell) for name, cell in zip(self._cells, row.cells, strict=True) if cell is not None)
        return reported

    # -- history -----------------------------------------------------------------------------------------------------

    @property
    def _answered(self) -> str:
        """A condition: a row of history holds something of the poll of the kind."""
        own = [
            metric.name
            for metric in self.kind.metrics
            if metric.name in self._columns and metric.command == self.kind.poll_command
        ]
        columns = own or self._columns
        listed = "".join(f', s."{name}"' for name in columns)
        return f"coalesce(NULL, NULL{listed}) IS NOT NULL"

    def _newest(
        self, connection: sqlite3.Connection, owner: str, numbers: Collection[int], *, answered: bool
    ) -> dict[int, _Sample]:
        """The newest poll of each object at or before the moment; with ``answered`` the newest that was answered."""
        condition = f"s.polled AND {self._answered}" if answered else "s.polled"
        return self._look_back(connection, owner, numbers, condition, self._numbers)

    def _look_back(
        self,
        connection: sqlite3.Connection,
        owner: str,
        numbers: Collection[int],
        condition: str,
        metrics: Sequence[str],
    ) -> dict[int, _Sample]:
        """The newest row of each object that fulfils ``condition`` (a text of ours).

        Most objects are in the newest snapshots, which are read for all of them. The others are found one by one; where
        these are very many, as in an outage, the newest snapshot of a few of them is that of all.
        """
        found: dict[int, _Sample] = {}
        rest = set(numbers) if self._columns else set()
        for ts in self._newest_snapshots(connection, owner) if len(rest) > 1 else ():
            found.update(self._samples_at(connection, ts, rest, condition, metrics))
            rest.difference_update(found)
        while len(rest) > _MOST_SEEKS:
            some = sorted(rest)[:: max(len(rest) // _LEADERS, 1)]
            led = {each: self._newest_ts(connection, owner, each, condition) for each in some}
            newest = max((ts for ts in led.values() if ts is not None), default=None)
            if newest is None:
                return found
            found.update(self._samples_at(connection, newest, rest, condition, metrics))
            rest.difference_update(found, (each for each, ts in led.items() if ts is None or ts == newest))
        for number in rest:
            last = self._newest_ts(connection, owner, number, condition)
            if last is not None:
                found.update(self._samples_at(connection, last, (number,), condition, metrics))
        return found

    def _newest_snapshots(self, connection: sqlite3.Connection, owner: str) -> list[int]:
        rows = connection.execute(
            "SELECT ts FROM snapshot WHERE owner = ? AND ts BETWEEN ? AND ? ORDER BY ts DESC LIMIT ?",
            (owner, FIRST_MOMENT, self.at, _READ_WHOLE),
        )
        return [moment(ts) for (ts,) in rows]

    def _newest_ts(self, connection: sqlite3.Connection, owner: str, number: int, condition: str) -> int | None:
        row = connection.execute(
            f"SELECT t.ts FROM snapshot AS t CROSS JOIN {self.tables.history} AS s WHERE t.owner = ? AND t.ts BETWEEN ? AND ?"
            f" AND s.ts = t.ts AND s.object_id = ? AND s.source = {POLL} AND {condition} ORDER BY t.ts DESC LIMIT 1",
            (owner, max(self.at - LOOKBACK_MS, FIRST_MOMENT), self.at, number),
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
    ) -> Iterable[tuple[int, _Sample]]:
        types: tuple[Types, ...] = types_of(self.tables.types[name] for name in metrics)
        columns = "".join(f', s."{name}"' for name in metrics)
        # For one object its row alone is read.
        only, parameters = (" AND s.object_id = ?", (ts, source, *numbers)) if len(numbers) == 1 else ("", (ts, source))
        for number, interval, answered, *cells in connection.execute(
            f"SELECT s.object_id, s.interval_ms, {self._answered}{columns} FROM {self.tables.history} AS s"
            f" WHERE s.ts = ? AND s.source = ?{only} AND {condition}",
            parameters,
        ):
            if number in numbers:
                values = dict(zip(metrics, checked_values(cells, types), strict=True))
                yield number, _Sample(ts, integer_or_none(interval), bool(answered), values)

    def _others(
        self, connection: sqlite3.Connection, owner: str, rows: Sequence[_Row], heard: Mapping[int, _Sample]
    ) -> dict[tuple[int, str], _Sample]:
        """Object and metric -> the newest row that holds it, of metrics that another probe than the poll reports."""
        wanted: dict[str, set[int]] = {}
        numbers = frozenset(self._numbers)
        for row in rows:
            if row.changed <= self.at or row.probe == self.kind.poll:
                continue
            recorded = RECORDED.get(self.kind.name, {}).get(row.probe, frozenset())
            sample = heard.get(row.number)
            for metric in self._reported(row):
                known = sample is not None and sample.cells.get(metric) is not None
                if metric in numbers and metric not in recorded and not known:
                    wanted.setdefault(metric, set()).add(row.number)
        return {
            (number, metric): sample
            for metric, of in wanted.items()
            for number, sample in self._look_back(connection, owner, of, f's."{metric}" IS NOT NULL', (metric,)).items()
        }

    # -- changes -----------------------------------------------------------------------------------------------------

    def _undone(self, connection: sqlite3.Connection, owner: str, rows: Sequence[_Row]) -> dict[tuple[int, str], Value]:
        """Object and metric -> the value before the first change of the definition after the moment."""
        if not any(row.changed > self.at and row.probe in RECORDED.get(self.kind.name, ()) for row in rows):
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

    def _then(
        self,
        row: _Row,
        metric: str,
        now: Reported,
        sample: _Sample | None,
        undone: Mapping[tuple[int, str], Value],
        others: Mapping[tuple[int, str], _Sample],
        ts: int,
    ) -> tuple[int, Reported]:
        """When a metric of a row that has changed since was reported (ms UTC), and its value then."""
        recorded = RECORDED.get(self.kind.name, {}).get(row.probe, frozenset())
        if metric in recorded and not isinstance(now, Absence):
            return ts, undone.get((row.number, metric), now)
        value = None if sample is None else sample.cells.get(metric)
        if value is not None:
            return ts, value
        other = others.get((row.number, metric))
        if other is not None and (value := other.cells.get(metric)) is not None:
            return other.ts, value
        if isinstance(now, Absence) and now in _LASTING:
            return ts, now
        return ts, Absence.NOT_KEPT

    def _inactive(self, row: _Row, sample: _Sample | None) -> bool:
        """Whether the object was a channel without an instance."""
        return (
            self.kind.name == "channel"
            and row.probe == self.kind.poll
            and sample is not None
            and sample.cells.get("status", _INACTIVE) == _INACTIVE
        )

    # -- records -----------------------------------------------------------------------------------------------------

    def _add_records(
        self,
        connection: sqlite3.Connection,
        rows: Sequence[_Row],
        last: int,
        found: dict[int, dict[str, CurrentValue]],
    ) -> None:
        """Add the values of the newest record of each object and source that had ended by then."""
        metrics = self._numbers
        samples: dict[tuple[int, int], list[_Sample]] = {}
        for row in rows:
            key = row.number, row.source
            if key not in samples:
                samples[key] = self._records(connection, row.number, row.source, metrics)
            for metric, now in self._reported(row).items():
                sample = next((each for each in samples[key] if each.cells.get(metric) is not None), None)
                value: Reported | None = None if sample is None else sample.cells[metric]
                if value is None and samples[key] and row.changed <= self.at:
                    sample, value = samples[key][0], now
                if sample is None or value is None:
                    why = now if isinstance(now, Absence) and now in _LASTING else Absence.NOT_KEPT
                    _put(found.setdefault(row.number, {}), metric, CurrentValue(why, None, row.probe, self.at, None))
                    continue
                until = fresh_until(sample.ts, sample.interval_ms, row.probe)
                stale = Absence.STALE if last > until else None
                source = Source(row.source)
                _put(
                    found.setdefault(row.number, {}),
                    metric,
                    CurrentValue(value, sample.ts, row.probe, sample.ts, stale, source, sample.interval_ms),
                )

    def _records(
        self, connection: sqlite3.Connection, number: int, source: int, metrics: Sequence[str]
    ) -> list[_Sample]:
        """The newest records of an object, newest first: several probes may have ended at different times."""
        ends = connection.execute(
            "SELECT ts FROM record WHERE object_id = ? AND source = ? AND ts BETWEEN ? AND ? ORDER BY ts DESC LIMIT 3",
            (number, source, FIRST_MOMENT, self.at),
        ).fetchall()
        return [
            sample
            for (ts,) in ends
            for _, sample in self._samples_at(connection, moment(ts), (number,), "1", metrics, source)
        ]


def _put(values: dict[str, CurrentValue], metric: str, one: CurrentValue) -> None:
    """A value of any probe comes before an absence of another; of several values the newest counts."""
    before = values.get(metric)
    newer = before is not None and (one.ts or 0) >= (before.ts or 0) and not isinstance(one.value, Absence)
    if before is None or isinstance(before.value, Absence) or newer:
        values[metric] = one
