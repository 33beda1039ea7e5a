"""What a store knew of the objects of one kind at a past moment, from current state, changes and history.

A row of current state that has not changed since the moment is as it was then, its texts and reasons included. Where
it has, history has the numbers and states, and the rows of changes take definitions back. A text that has changed
since is not kept, nor is the reason why a number was absent.
"""

# ruff: noqa: S608 - table and columns are the vocabulary's, checked where the tables are made
from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from mqvitals_agent.store.file.integrity import FIRST_MOMENT
from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.store.rows.samples.moment_history import ANY, POLLED, Looked, MomentHistory
from mqvitals_agent.store.rows.samples.moment_rows import check_columns
from mqvitals_agent.store.rows.samples.moment_sealed import OpenHours, SampleCondition
from mqvitals_agent.store.rows.samples.moment_values import (
    LASTING,
    CurrentRow,
    CurrentRows,
    HistoryRow,
    MomentFacts,
    ObjectThen,
    newer,
    saying_why,
)
from mqvitals_agent.store.rows.tables import POLL, KindTables, integer, moment, text
from mqvitals_rules.snapshot import NEWEST_RECORDS, Source, overdue_after
from mqvitals_rules.vocabulary.changes import RECORDED
from mqvitals_rules.vocabulary.metric import Absence, Kind, Reported, Value


class MomentQuery(MomentHistory):
    """Reads one kind as of a moment."""

    def __init__(
        self,
        kind: Kind,
        tables: KindTables,
        present: frozenset[str],
        kept: frozenset[str],
        at: int,
        metrics: Collection[str] | None = None,
        hours: OpenHours | None = None,
    ) -> None:
        """``at`` is the moment, ms UTC; ``present`` and ``kept`` are the columns that the tables of current state and of
        history have: a store may be older than the vocabulary; ``metrics`` are those wanted, None: all; ``hours`` as
        of ``MomentHistory``.
        """
        self.wanted = frozenset(tables.metrics if metrics is None else metrics)
        super().__init__(kind, tables, kept, at, self.wanted | saying_why(kind.name, self.wanted), hours)
        self._cells = tuple(name for name in tables.metrics if name in present and name in self.wanted)
        self._exists = bool(present)

    def of(
        self, connection: sqlite3.Connection, owner: str, last: int, rows: CurrentRows, looked: Looked | None = None
    ) -> Mapping[int, Mapping[str, CurrentValue]]:
        """By object number, what was known of the objects of ``owner`` with these ``rows`` of current state.

        ``last`` is the newest snapshot of the owner then, ms UTC. ``looked`` has what was found as of other moments, and is
        added to. Raises sqlite3.Error, TypeError, ValueError.
        """
        polled = rows.polled
        asked = self._look_back(connection, owner, polled, POLLED, self._numbers, looked)
        silent = [number for number, sample in asked.items() if not sample.answered]
        answered = dict(asked)
        for number in silent:
            del answered[number]
        answered |= self._look_back(connection, owner, silent, self.answered, self._numbers, looked)
        records = self._records(connection, owner, rows, last)
        facts = MomentFacts(
            self.kind,
            self.at,
            last,
            self.wanted,
            {name: place for place, name in enumerate(self._cells)},
            {name: place for place, name in enumerate(self._numbers)},
            rows,
            answered,
            asked,
            records,
            self._undone(connection, owner, rows),
            self._others(connection, owner, rows, answered, looked),
        )
        found = {number: ObjectThen(facts, number) for number in polled}
        for number in records:
            if number not in found:
                found[number] = ObjectThen(facts, number)
        return found

    # -- rows of current state ---------------------------------------------------------------------------------------

    def rows(self, connection: sqlite3.Connection, where: str, parameters: tuple[Any, ...]) -> CurrentRows:
        """The rows of current state of the objects that fulfil ``where`` (a text of ours). Raises sqlite3.Error, TypeError."""
        polled: dict[int, list[CurrentRow]] = {}
        recorded: dict[tuple[int, int], list[CurrentRow]] = {}
        if not self._exists:
            return CurrentRows(polled, recorded, self.kind.poll, self._cells, self.wanted)
        columns = "".join(f', c."{name}"' for name in self._cells)
        rows = connection.execute(
            f"SELECT c.object_id, c.source, c.probe, c.changed, c.absent{columns}"
            f" FROM reading AS r CROSS JOIN {self.tables.current} AS c ON c.probe = r.probe AND c.object_id = r.object_id"
            f" WHERE r.{where} ORDER BY r.object_id, r.ts, r.probe",
            parameters,
        ).fetchall()
        check_columns(rows, [self.tables.types[name] for name in self._cells], first=5)
        reasons: dict[str | None, Mapping[str, Absence]] = {None: {}}
        for number, source, probe, changed, absent, *cells in rows:
            missing = reasons.get(absent)
            if missing is None:
                found = {name: Absence[why] for name, why in json.loads(text(absent)).items()}
                missing = reasons[absent] = found
            row = CurrentRow(text(probe), integer(changed), missing, tuple(cells))
            if source == POLL:
                polled.setdefault(number, []).append(row)
            else:
                recorded.setdefault((number, integer(source)), []).append(row)
        return CurrentRows(polled, recorded, self.kind.poll, self._cells, self.wanted)

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
            if rows.changed[probe] > self.at
        }
        wanted: dict[str, dict[str, set[int]]] = {}
        for number, of_object in rows.polled.items() if any(places.values()) else ():
            sample = answered.get(number)
            for row in of_object:
                if row.changed > self.at and row.probe in places:
                    for name, place in places[row.probe]:
                        if sample is None or sample.cells[place] is None:
                            wanted.setdefault(row.probe, {}).setdefault(name, set()).add(number)
        found: dict[tuple[int, str], tuple[int, Value]] = {}
        for of_probe in wanted.values():
            # One answer of a probe has most of its metrics.
            names = tuple(of_probe)
            together = SampleCondition(any_of=names)
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
            if self.are_few(rest):
                for number, lacking in rest.items():
                    found |= self._each_alone(connection, owner, number, tuple(lacking), looked)
                continue
            for name in names:
                those = [number for number, lacking in rest.items() if name in lacking]
                alone = self._look_back(connection, owner, those, SampleCondition(any_of=(name,)), (name,), looked)
                found |= {(number, name): (sample.ts, sample.cells[0]) for number, sample in alone.items()}
        return found

    # -- changes -----------------------------------------------------------------------------------------------------

    def _undone(self, connection: sqlite3.Connection, owner: str, rows: CurrentRows) -> dict[tuple[int, str], Value]:
        """Number and metric -> the value before the first change of the definition after the moment."""
        recorded = RECORDED.get(self.kind.name, {})
        if not any(changed > self.at and probe in recorded for probe, changed in rows.changed.items()):
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
        self,
        connection: sqlite3.Connection,
        owner: str,
        rows: CurrentRows,
        last: int,
    ) -> dict[int, dict[str, CurrentValue]]:
        """By number, the values of the newest records of each source that had ended by then."""
        found: dict[int, dict[str, CurrentValue]] = {}
        for (number, source), of_source in rows.recorded.items():
            samples = list(self._newest_records(connection, owner, number, source))
            values = found.setdefault(number, {})
            for row in of_source:
                for metric, now in rows.reported(row):
                    values[metric] = newer(values.get(metric), self._recorded(row, metric, now, samples, source, last))
        return found

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

    def _newest_records(
        self, connection: sqlite3.Connection, owner: str, number: int, source: int
    ) -> Iterator[HistoryRow]:
        """The newest records of an object, newest first."""
        ends = connection.execute(
            "SELECT ts FROM record WHERE object_id = ? AND source = ? AND ts BETWEEN ? AND ? ORDER BY ts DESC LIMIT ?",
            (number, source, FIRST_MOMENT, self.at, NEWEST_RECORDS),
        ).fetchall()
        for (ts,) in ends:
            yield from self._samples_at(connection, owner, moment(ts), (number,), ANY, self._numbers, source).values()
