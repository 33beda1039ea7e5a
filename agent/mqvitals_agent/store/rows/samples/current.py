"""The queries over the current state: the newest value of each metric by probe."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from mqvitals_agent.store.file.integrity import FIRST_MOMENT, valid_time
from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.store.rows.samples.kind_samples import KindSamples, ObjectSpan
from mqvitals_agent.store.rows.tables import (
    LAST_MOMENT,
    POLL,
    KindTables,
    Types,
    checked_values,
    integer,
    integer_or_none,
    moment,
    moment_or_none,
    text,
    types_of,
)
from mqvitals_rules.latest_state import NAMES_NONE
from mqvitals_rules.snapshot import NEWEST_RECORDS, ObjectName, Reading, Source, fresh_until, overdue_after
from mqvitals_rules.vocabulary.metric import Absence

_FEW = 8
"""Metrics that are looked for in each row before it is decoded."""
_NAMES, _OPEN = 2, 1
"""Of an object: it names a certain other one; what it names is not known."""
_CELLS = 9
"""Columns of a row before those of the metrics."""
_MANY: Final = 32
"""Of fewer objects it does not pay to read the values that were just answered apart."""
_EXACT: Final = frozenset({int, str, type(None)})
"""Types of which equal values are the same; 0.0 and -0.0, or 5 and 5.0, are not."""
_SPREAD: Final = 2
"""Of numbers that are up to this many times as far apart as they are many, all between the least and the greatest are read."""
_UNKNOWN = -1
"""The interval of a record that does not have it."""


class CurrentQuery:
    """Reads the current state of one kind.

    ``columns`` are those that its table has: a store may be older than the vocabulary.
    """

    def __init__(self, tables: KindTables, columns: frozenset[str], metrics: Collection[str] | None = None) -> None:
        self._table = tables.current
        self._samples = KindSamples(tables, frozenset())
        self._history = tables.history
        self._kind = tables.kind
        self._metrics = [name for name in tables.metrics if name in columns and (metrics is None or name in metrics)]
        self._types = types_of(tables.types[name] for name in self._metrics)
        self._known = frozenset(tables.metrics if metrics is None else metrics)
        self._exists = bool(columns)

    def of(self, connection: sqlite3.Connection, numbers: Collection[int]) -> Mapping[int, Mapping[str, CurrentValue]]:
        """By object number, what is known of the objects with these ``numbers``. Raises sqlite3.Error.

        A value of any probe comes before an absence of another: a command cannot report what only SMF holds. Of several
        the newest counts. A value of a record is marked as unanswered once the next record is overdue at the last snapshot
        of its owner.
        """
        if not self._exists or not numbers:
            return {}
        if len(numbers) < _MANY or len(self._metrics) != 1 or len(self._known) != 1:
            return self.of_any(connection, numbers)
        found, others = self._just_answered(connection, numbers)
        if others:
            found.update(self.of_any(connection, others))
        return found

    def _just_answered(
        self, connection: sqlite3.Connection, numbers: Collection[int]
    ) -> tuple[dict[int, dict[str, CurrentValue]], set[int]]:
        """The values of the only metric that one probe answered when it was last asked; and the objects of which anything
        else is known. A cycle asks about thousands of objects at one moment: no more is read of these than their values.
        Objects with equal values share a dictionary.
        """
        (metric,) = self._metrics
        where, parameters = _one_of(numbers)
        found: dict[int, dict[str, CurrentValue]] = {}
        others: set[int] = set()
        wanted, polled = frozenset(numbers), Source.POLL
        for probe in self._probes(connection):
            rows = connection.execute(
                f'SELECT object_id, CASE WHEN source = {POLL} THEN "{metric}" END FROM {self._table} WHERE probe = ?'  # noqa: S608
                f""" AND {where} AND ("{metric}" IS NOT NULL OR instr(absent, '"{metric}"'))""",
                (probe, *parameters),
            ).fetchall()
            if not rows:
                continue
            values = [value for _, value in rows]
            kinds = set(map(type, values))
            if not kinds <= self._types[0]:
                checked_values(values, self._types * len(values))
            asked = self._asked(connection, probe, {rows[place][0] for place in (0, len(rows) // 2, -1)})
            unlike = {
                number
                for (number,) in connection.execute(
                    f"SELECT object_id FROM reading WHERE {where} AND probe = ?"  # noqa: S608
                    " AND NOT coalesce(asked = ? AND ts = asked AND unanswered IS NULL, 0)",
                    (*parameters, probe, asked),
                )
            }
            if asked is None:
                others.update(number for number, _ in rows)
            elif None.__class__ in kinds:
                others.update(number for number, value in rows if value is None)
            if unlike or found:
                others.update(number for number, _ in rows if number in unlike or number in found)
            answered = wanted - others if others else wanted
            # Most queues have the depth of others: of whole numbers and texts, which are the same where they are equal, each
            # value is made once.
            alike = kinds <= _EXACT
            made: dict[Any, dict[str, CurrentValue]] = {}
            for number, value in rows:
                if number in answered:
                    known = made.get(value)
                    if known is None:
                        known = {metric: _AS_VALUE((value, asked, probe, asked, None, polled, None))}
                        if alike:
                            made[value] = known
                    found[number] = known
        others &= wanted
        for number in others:
            found.pop(number, None)
        return found, others

    @staticmethod
    def _asked(connection: sqlite3.Connection, probe: str, numbers: Iterable[int]) -> int | None:
        """When a probe was last asked about these objects, ms UTC: most others were asked about then too."""
        query = f"SELECT asked FROM reading WHERE object_id = ? AND probe = ? AND {valid_time('asked')}"  # noqa: S608
        found = [connection.execute(query, (number, probe)).fetchone() for number in numbers]
        return max((moment(row[0]) for row in found if row is not None), default=None)

    def _probes(self, connection: sqlite3.Connection) -> Iterator[str]:
        """The probes that the table has rows of: one seek each."""
        query = f"SELECT min(probe) FROM {self._table} WHERE probe > ?"  # noqa: S608
        probe = ""
        while (found := connection.execute(query, (probe,)).fetchone()[0]) is not None:
            probe = text(found)
            yield probe

    def of_any(self, connection: sqlite3.Connection, numbers: Collection[int]) -> dict[int, dict[str, CurrentValue]]:
        """``of`` for whatever is known of the objects."""
        found: dict[int, dict[str, CurrentValue]] = {}
        columns = "".join(f', c."{name}"' for name in self._metrics)
        where, parameters = _one_of(numbers)
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
            f" WHERE r.{where} AND {valid_time('r.ts')} AND {valid_time('r.asked')}{telling}",
            parameters,
        ).fetchall()
        _check(rows, self._types)
        # Thousands of objects share a handful of these.
        reasons: dict[str | None, Mapping[str, Absence]] = {None: {}}
        # Records of a queue manager end together.
        late: dict[tuple[int, str, int | None, int | None, int | None], bool] = {}
        metrics, polled = self._metrics, Source.POLL
        wanted = frozenset(numbers)
        for number, probe, ts, asked, unanswered, absent, source, interval, newest, *cells in rows:
            if number not in wanted:
                continue
            known = found.get(number)
            if known is None:
                known = found[number] = {}
            why = None if unanswered is None else Absence[unanswered]
            origin = polled
            if source != POLL:
                origin = Source(source)
                integer_or_none(interval)
                if interval is None and ts is not None:
                    sealed = self._samples.of_record(connection, number, source, ts)
                    interval = next((_UNKNOWN if each is None else each for each in sealed.intervals), None)
                # Its sample is kept for long: a record without one is older than that.
                kept = interval is not None
                interval = None if interval == _UNKNOWN else interval
                key = source, probe, ts, interval, newest
                if kept and key not in late:
                    late[key] = self._is_late(connection, number, *key)
                if ts is not None and newest is not None and (not kept or late[key]):
                    why = Absence.STALE
            missing = reasons.get(absent)
            if missing is None:
                every = _reasons(absent)
                missing = reasons[absent] = {metric: every[metric] for metric in every if metric in self._known}
            for metric, reason in missing.items():
                before = known.get(metric)
                if before is None or (before.value.__class__ is Absence and _is_newer(ts, probe, before)):
                    known[metric] = CurrentValue(reason, ts, probe, asked, why, origin, interval)
            for metric, value in zip(metrics, cells, strict=True):
                if value is not None:
                    before = known.get(metric)
                    if before is None or before.value.__class__ is Absence or _is_newer(ts, probe, before):
                        known[metric] = _AS_VALUE((value, ts, probe, asked, why, origin, interval))
        return found

    def _is_late(
        self,
        connection: sqlite3.Connection,
        number: int,
        source: int,
        probe: str,
        ts: int | None,
        interval: int | None,
        newest: int | None,
    ) -> bool:
        """Whether at ``newest`` a record of an object should have followed the one that ended at ``ts``, both ms UTC."""
        if ts is None or newest is None or integer(newest) <= fresh_until(ts, interval, probe):
            return False
        span = ObjectSpan(number, "", (), source, FIRST_MOMENT, LAST_MOMENT)
        recent = self._samples.newest_of_object(connection, span, NEWEST_RECORDS).intervals
        return integer(newest) > overdue_after(ts, interval, recent, probe)

    def naming(
        self, connection: sqlite3.Connection, owner: str, metric: str, value: str, *, doubtful: bool
    ) -> list[tuple[int, str]]:
        """The number and name of each existing object of an owner whose ``metric`` is ``value``, by name.

        With ``doubtful`` also each object of which a row leaves open what it names, and one of the others. Raises
        sqlite3.Error.
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
            f"SELECT o.id, o.owner, o.kind, o.name, c.probe, c.source, r.ts, h.ts, h.interval_ms, c.absent{columns}"  # noqa: S608
            f" FROM {self._table} AS c CROSS JOIN object AS o CROSS JOIN reading AS r"
            f" LEFT JOIN {self._history} AS h ON h.ts = r.ts AND h.object_id = r.object_id AND h.source = c.source"
            f" WHERE c.source <> {POLL} AND o.id = c.object_id AND o.gone_ts IS NULL"
            f" AND r.object_id = c.object_id AND r.probe = c.probe AND r.ts IS NOT NULL AND {valid_time('r.ts')}"
        )
        for number, owner, kind, name, probe, source, ts, of_row, interval, absent, *cells in rows:
            if of_row is None:
                sealed = self._samples.of_record(connection, integer(number), integer(source), moment(ts))
                if not sealed.ts:
                    continue
                interval = sealed.intervals[0]
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


def _one_of(numbers: Collection[int]) -> tuple[str, tuple[int | str, ...]]:
    """A condition for the rows of these objects and perhaps of some more, and its parameters."""
    least, greatest = min(numbers), max(numbers)
    if (greatest - least) < len(numbers) * _SPREAD:
        # Rows that stand beside each other are read in half the time that looking for each takes.
        return "object_id BETWEEN ? AND ?", (least, greatest)
    return "object_id IN (SELECT value FROM json_each(?))", (json.dumps(sorted(numbers)),)


def _is_newer(ts: int | None, probe: str, before: CurrentValue) -> bool:
    """Whether an answer of ``probe`` at ``ts`` (None: there was none) counts before one that is known: of one time that of
    the later name.
    """
    own, other = -1 if ts is None else ts, -1 if before.ts is None else before.ts
    return (own, probe) > (other, before.probe)


# Thousands are made at once, in half the time that the class takes.
_AS_VALUE: Final[Callable[[Iterable[Any]], CurrentValue]] = partial(tuple.__new__, CurrentValue)


def _check(rows: Sequence[Sequence[Any]], types: Sequence[Types]) -> None:
    """Check the cells of thousands of rows (number, probe, ts, asked, five more, values) by the types in each column.

    Raises TypeError and ValueError as ``text``, ``moment`` and ``checked_values`` do.
    """
    if not rows:
        return
    columns = list(zip(*rows, strict=True))
    for column, check in ((1, text), (2, moment_or_none), (3, moment)):
        if column == 1 or set(map(type, columns[column])) != {int}:
            for cell in set(columns[column]):
                check(cell)
        else:
            check(min(columns[column]))
            check(max(columns[column]))
    for cells, known in zip(columns[_CELLS:], types, strict=True):
        if not set(map(type, cells)) <= known:
            for cell in cells:
                checked_values((cell,), (known,))


def _reasons(text: str) -> dict[str, Absence]:
    return {metric: Absence[reason] for metric, reason in json.loads(text).items()}
