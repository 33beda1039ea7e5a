"""The queries over the history: one row for each object and snapshot or record."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from math import nan
from typing import Any, Final, NamedTuple

from mqvitals_agent.store.file.integrity import FIRST_MOMENT
from mqvitals_agent.store.rows.tables import (
    LAST_MOMENT,
    OBJECT_ID,
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
from mqvitals_rules.snapshot import ObjectName, Source

Number = int | float

FIRST, LAST = FIRST_MOMENT, LAST_MOMENT
"""The bounds of time in a store: what is dated outside of them is passed over."""


class Sample(NamedTuple):
    """A poll of one metric: when, the ms that a counter's increase covers (None: unknown), the value (None: absent).

    Of a record: its end, the ms of its interval, the value.
    """

    ts: int
    interval_ms: int | None
    value: Number | None


class Poll(NamedTuple):
    """A poll of one object: when, the ms that its counters cover, and the values of the metrics asked for.

    Of a record: its end and its interval.
    """

    ts: int
    object: ObjectName
    interval_ms: int | None
    values: tuple[Number | None, ...]
    source: Source = Source.POLL


class PollColumns(NamedTuple):
    """The polls of one object as columns, oldest first: times (ms UTC), the ms that counters cover (-1: unknown), and the
    values of each metric asked for (NaN: absent). ``before`` is the time of the poll before the first, None: unknown.
    """

    ts: array[int]
    intervals: array[int]
    values: Mapping[str, array[float]]
    before: int | None


_COUNTS: Types = frozenset((int, type(None)))


def _checked_columns(rows: Sequence[Sequence[Any]], fixed: int, types: Sequence[Types]) -> Sequence[Sequence[Any]]:
    """Turn rows into columns of checked cells.

    A row has a time, ``fixed`` - 1 whole numbers or None, and a value for each of ``types``. A column of thousands is
    checked by the handful of types in it. Raises as ``moment`` and ``checked_values`` do.
    """
    if not rows:
        return [()] * (fixed + len(types))
    columns = list(zip(*rows, strict=True))
    if set(map(type, columns[0])) != {int} or not (moment(min(columns[0])) <= moment(max(columns[0]))):
        raise ValueError("what is no moment")
    for column, known in zip(columns[1:], (*[_COUNTS] * (fixed - 1), *types), strict=True):
        if not set(map(type, column)) <= known:
            raise TypeError(
                f"{next(cell for cell in column if type(cell) not in known)!r:.60} is no value of this metric"
            )
    return columns


class HistoryQuery:
    """Reads the history of one kind.

    ``columns`` are those that its table has: a store may be older than the vocabulary.
    """

    def __init__(self, tables: KindTables, columns: frozenset[str]) -> None:
        self._tables = tables
        self._columns = columns

    def samples(
        self,
        connection: sqlite3.Connection,
        name: ObjectName,
        metric: str,
        source: Source = Source.POLL,
        *,
        first: int = FIRST,
        last: int = LAST,
        polled_only: bool = False,
        newest: int | None = None,
    ) -> list[Sample]:
        """The samples of an object from ``source`` with ``first`` <= ts <= ``last``, or the ``newest`` of them;
        oldest first.

        Polls: those of the object, and without ``polled_only`` also other answers that hold this metric. Records:
        those that ended then and hold the metric; another probe's of the same source are left out. Raises
        sqlite3.Error.
        """
        column = self._column(metric)
        if not self._columns or (column == "NULL" and source is not Source.POLL):
            return []
        parameters: tuple[str | int, ...]
        if source is Source.POLL:
            polled = "s.polled" if polled_only or column == "NULL" else f"(s.polled OR {column} IS NOT NULL)"
            # The snapshots of the owner lead to the rows: one seek each. Any other order reads the rows of all objects.
            rows_of = (
                "snapshot AS t",
                "t.owner = ?",
                f" AND s.object_id = ({OBJECT_ID}) AND s.source = {POLL} AND {polled}",
            )
            parameters = (name.owner, max(first, FIRST), min(last, LAST), *name)
        else:
            rows_of = (
                "record AS t",
                f"t.object_id = ({OBJECT_ID}) AND t.source = ?",
                f" AND s.object_id = t.object_id AND s.source = t.source AND {column} IS NOT NULL",
            )
            parameters = (*name, int(source), max(first, FIRST), min(last, LAST))
        times, of_object, matching = rows_of
        rows = connection.execute(
            # Table and columns are the vocabulary's, checked where the tables are made.
            f"SELECT s.ts, s.interval_ms, {column} FROM {times} CROSS JOIN {self._tables.history} AS s"  # noqa: S608
            f" WHERE {of_object} AND t.ts BETWEEN ? AND ? AND s.ts = t.ts{matching}"
            f" ORDER BY t.ts {'ASC' if newest is None else 'DESC LIMIT ?'}",
            (*parameters, *(() if newest is None else (newest,))),
        )
        samples = list(map(Sample, *_checked_columns(rows.fetchall(), 2, self._types((metric,)))))
        if newest is not None:
            samples.reverse()
        return samples

    def columns(
        self,
        connection: sqlite3.Connection,
        name: ObjectName,
        metrics: Sequence[str],
        *,
        first: int,
        last: int,
        before: int,
    ) -> PollColumns:
        """The polls of an object with ``first`` <= ts <= ``last``, several metrics in one go, and when it was polled
        before, where that was at or after ``before``. Raises sqlite3.Error.
        """
        cells = "".join(f", {self._column(metric)}" for metric in metrics)
        # As in ``samples``: the snapshots of the owner lead to the rows.
        where = (
            f" FROM snapshot AS t CROSS JOIN {self._tables.history} AS s WHERE t.owner = ? AND t.ts BETWEEN ? AND ?"
            f" AND s.ts = t.ts AND s.object_id = ({OBJECT_ID}) AND s.source = {POLL} AND s.polled"
        )
        rows: list[tuple[Any, ...]] = []
        earlier: tuple[Any, ...] | None = None
        if self._columns:
            rows = connection.execute(
                f"SELECT s.ts, s.interval_ms{cells}{where} ORDER BY t.ts",
                (name.owner, max(first, FIRST), min(last, LAST), *name),
            ).fetchall()
            earlier = connection.execute(
                f"SELECT s.ts{where} ORDER BY t.ts DESC LIMIT 1",
                (name.owner, max(before, FIRST), min(first - 1, LAST), *name),
            ).fetchone()
        return _poll_columns(rows, metrics, None if earlier is None else moment(earlier[0]))

    def columns_of_all(
        self,
        connection: sqlite3.Connection,
        owner: str,
        metrics: Sequence[str],
        *,
        first: int,
        last: int,
        before: int,
        most: int,
    ) -> dict[ObjectName, PollColumns]:
        """``columns`` of the objects of an owner, where these are no more than ``most`` rows; else of none.

        An object is left out where neither of the two snapshots before ``first`` polled it. Raises sqlite3.Error.
        """
        kind = self._tables.kind
        numbers = dict(
            connection.execute("SELECT id, name FROM object WHERE owner = ? AND kind = ?", (owner, kind)).fetchall()
        )
        first, last, before = max(first, FIRST), min(last, LAST), max(before, FIRST)
        (snapshots,) = connection.execute(
            "SELECT count(*) FROM snapshot WHERE owner = ? AND ts BETWEEN ? AND ?", (owner, first, last)
        ).fetchone()
        if not self._columns or not numbers or len(numbers) * snapshots > most:
            return {}
        where = f"s.object_id BETWEEN ? AND ? AND s.source = {POLL} AND s.polled"
        span = min(numbers), max(numbers)
        earlier: dict[int, int] = {}
        for (ts,) in connection.execute(
            "SELECT ts FROM snapshot WHERE owner = ? AND ts BETWEEN ? AND ? ORDER BY ts DESC LIMIT 2",
            (owner, before, first - 1),
        ).fetchall():
            rows = connection.execute(
                f"SELECT s.object_id FROM {self._tables.history} AS s WHERE s.ts = ? AND {where}",  # noqa: S608
                (ts, *span),
            )
            for (number,) in rows:
                earlier.setdefault(number, moment(ts))
        cells = "".join(f", {self._column(metric)}" for metric in metrics)
        found: dict[int, list[tuple[Any, ...]]] = {number: [] for number in earlier if number in numbers}
        for number, *row in connection.execute(
            f"SELECT s.object_id, s.ts, s.interval_ms{cells} FROM snapshot AS t CROSS JOIN {self._tables.history} AS s"  # noqa: S608
            f" WHERE t.owner = ? AND t.ts BETWEEN ? AND ? AND s.ts = t.ts AND {where} ORDER BY t.ts",
            (owner, first, last, *span),
        ):
            if number in found:
                found[number].append(tuple(row))
        return {
            ObjectName(owner, kind, text(numbers[number])): _poll_columns(rows, metrics, earlier[number])
            for number, rows in found.items()
        }

    def several(
        self,
        connection: sqlite3.Connection,
        name: ObjectName,
        metrics: Sequence[str],
        source: Source = Source.POLL,
        *,
        first: int = FIRST,
        last: int = LAST,
    ) -> dict[str, list[Sample]]:
        """The ``samples`` of several metrics of an object, by metric: its rows are read once. Raises sqlite3.Error."""
        found: dict[str, list[Sample]] = {metric: [] for metric in metrics}
        if not self._columns or not metrics:
            return found
        columns = "".join(f", {self._column(metric)}" for metric in metrics)
        if source is Source.POLL:
            times, of_object = "snapshot AS t", "t.owner = ?"
            matching = f" AND s.object_id = ({OBJECT_ID}) AND s.source = {POLL}"
            parameters: tuple[str | int, ...] = (name.owner, max(first, FIRST), min(last, LAST), *name)
        else:
            times, of_object = "record AS t", f"t.object_id = ({OBJECT_ID}) AND t.source = ?"
            matching = " AND s.object_id = t.object_id AND s.source = t.source"
            parameters = (*name, int(source), max(first, FIRST), min(last, LAST))
        rows = connection.execute(
            f"SELECT s.ts, s.interval_ms, s.polled{columns} FROM {times} CROSS JOIN {self._tables.history} AS s"  # noqa: S608
            f" WHERE {of_object} AND t.ts BETWEEN ? AND ? AND s.ts = t.ts{matching} ORDER BY t.ts",
            parameters,
        )
        times_of, intervals, polled, *values = _checked_columns(rows.fetchall(), 3, self._types(metrics))
        for metric, column in zip(metrics, values, strict=True):
            together = map(Sample, times_of, intervals, column)
            if source is Source.POLL:
                asked = zip(together, polled, strict=True)
                found[metric] = [sample for sample, own in asked if own or sample[2] is not None]
            else:
                found[metric] = [sample for sample in together if sample[2] is not None]
        return found

    def of_range(
        self,
        connection: sqlite3.Connection,
        owner: str,
        numbers: tuple[int, int],
        metrics: Sequence[str],
        *,
        first: int,
        last: int,
    ) -> dict[int, dict[str, list[Sample]]]:
        """The polled ``samples`` of several metrics of the objects of an owner whose numbers lie in a range, both ends
        included, by number and metric: the rows of a snapshot lie beside each other, so that they are one seek. Raises
        sqlite3.Error.
        """
        if not self._columns:
            return {}
        columns = "".join(f", {self._column(metric)}" for metric in metrics)
        rows = connection.execute(
            f"SELECT s.ts, s.object_id, s.interval_ms, s.polled{columns} FROM snapshot AS t"  # noqa: S608
            f" CROSS JOIN {self._tables.history} AS s WHERE t.owner = ? AND t.ts BETWEEN ? AND ?"
            f" AND s.ts = t.ts AND s.object_id BETWEEN ? AND ? AND s.source = {POLL} ORDER BY t.ts",
            (owner, max(first, FIRST), min(last, LAST), *numbers),
        )
        times, objects, intervals, polled, *values = _checked_columns(rows.fetchall(), 4, self._types(metrics))
        found: dict[int, dict[str, list[Sample]]] = {}
        for number in dict.fromkeys(objects):
            found[number] = {metric: [] for metric in metrics}
        for metric, column in zip(metrics, values, strict=True):
            for ts, number, interval, own, value in zip(times, objects, intervals, polled, column, strict=True):
                if own or value is not None:
                    found[number][metric].append(Sample(ts, interval, value))
        return found

    def sources(self, connection: sqlite3.Connection, name: ObjectName) -> tuple[Source, ...]:
        """The sources, other than polls, that have samples of an object. Raises sqlite3.Error."""
        rows = connection.execute(
            f"SELECT DISTINCT source FROM record WHERE object_id = ({OBJECT_ID}) ORDER BY source",  # noqa: S608
            name,
        )
        return tuple(Source(source) for (source,) in rows)

    def records(self, connection: sqlite3.Connection, metrics: Sequence[str], first: int) -> Iterator[Poll]:
        """Every record of every object of this kind that ended at ts >= ``first``; those of an object and source in
        time order.

        Of an object and source without such a record its newest one stands for that there are some. Raises
        sqlite3.Error.
        """
        if not self._columns:
            return
        columns = "".join(f", {self._column(metric)}" for metric in metrics)
        rows = connection.execute(
            f"SELECT s.ts, o.owner, o.name, s.interval_ms, s.source{columns}"  # noqa: S608
            " FROM (SELECT object_id, source, min(max(ts), ?) AS since FROM record"
            f" WHERE ts BETWEEN {FIRST} AND {LAST} GROUP BY object_id, source) AS g"
            " CROSS JOIN object AS o CROSS JOIN record AS t"
            f" CROSS JOIN {self._tables.history} AS s WHERE o.id = g.object_id AND o.kind = ?"
            f" AND t.object_id = g.object_id AND t.source = g.source AND t.ts BETWEEN g.since AND {LAST}"
            " AND s.ts = t.ts AND s.object_id = t.object_id AND s.source = t.source ORDER BY g.object_id, g.source, t.ts",
            (max(first, FIRST), self._tables.kind),
        )
        types = self._types(metrics)
        for ts, owner, name, interval, source, *cells in rows:
            named = ObjectName(text(owner), self._tables.kind, text(name))
            yield Poll(
                moment(ts), named, integer_or_none(interval), tuple(checked_values(cells, types)), Source(source)
            )

    def polls(self, connection: sqlite3.Connection, metrics: Sequence[str], first: int) -> Iterator[Poll]:
        """Every poll of every object of this kind with ts >= ``first``, in time order. Raises sqlite3.Error."""
        return self._polls(connection, metrics, f"s.ts BETWEEN ? AND {LAST}", (max(first, FIRST),))

    def polls_near(
        self, connection: sqlite3.Connection, metrics: Sequence[str], moments: Sequence[int]
    ) -> Iterator[Poll]:
        """The polls of all objects of this kind in its first snapshots at or after each moment (ms UTC) but the last, and
        before the next one, in time order. Raises sqlite3.Error.
        """
        if not self._columns:
            return iter(())
        looks = (self._cycle(connection, begin, following) for begin, following in pairwise(moments))
        found = [ts for look in looks for ts in look]
        return self._polls(connection, metrics, f"s.ts IN ({', '.join('?' * len(found))})", tuple(found))

    def rate_sums(
        self,
        connection: sqlite3.Connection,
        metric: str,
        begun: Sequence[int],
        step_ms: int,
        last: int,
        without: tuple[str, int],
    ) -> dict[str, dict[int, float | None]]:
        """The increase a second of a counter, summed over the objects of each owner, in the first cycle of each stretch
        of ``step_ms`` that began at ``begun`` (ms UTC), until ``last``: by owner and begin, None where there was none.

        ``without`` are a state and a code of it: objects with that do not count. What stands between the cycles that
        are looked at is not read. Raises sqlite3.Error.
        """
        column, (state, code) = self._column(metric), without
        if column == "NULL":
            return {}
        looked_at = {
            ts: begin for begin in begun for ts in self._cycle(connection, begin, min(begin + step_ms, last + 1))
        }
        rows = connection.execute(
            # The columns are the vocabulary's.
            f"SELECT s.ts, o.owner, sum({column} * 1000.0 / s.interval_ms) FROM {self._tables.history} AS s"  # noqa: S608
            f" CROSS JOIN object AS o WHERE s.ts IN ({', '.join('?' * len(looked_at))}) AND s.source = {POLL} AND s.polled"
            f" AND {column} IS NOT NULL AND s.interval_ms > 0 AND {self._column(state)} IS NOT ? AND o.id = s.object_id"
            " GROUP BY s.ts, o.owner ORDER BY s.ts DESC",
            (*looked_at, code),
        )
        sums: dict[str, dict[int, float | None]] = {}
        for ts, owner, rate in rows:
            # Of two snapshots of one owner in a look the earlier one counts, which comes last.
            sums.setdefault(text(owner), dict.fromkeys(begun))[looked_at[ts]] = _sum(rate)
        return sums

    def _cycle(self, connection: sqlite3.Connection, since: int, until: int) -> Iterator[int]:
        """The times of this kind's snapshots in the first cycle from ``since`` on and before ``until``."""
        first = ts = self._next_ts(connection, since, until)
        # The snapshots of a cycle: that of the group is some ms later than those of its members.
        while ts is not None and first is not None:
            yield ts
            ts = self._next_ts(connection, ts + 1, min(until, first + _CYCLE_MS))

    def polls_at(
        self,
        connection: sqlite3.Connection,
        names: Collection[ObjectName],
        metrics: Sequence[str],
        times: Sequence[int],
    ) -> Iterator[Poll]:
        """The polls of some objects of this kind at some moments (ms UTC), in time order. Raises sqlite3.Error."""
        if not self._columns:
            return
        found = {name: connection.execute(OBJECT_ID, name).fetchone() for name in sorted(names)}
        of_number = {integer(row[0]): name for name, row in found.items() if row is not None}
        columns = "".join(f", {self._column(metric)}" for metric in metrics)
        chosen, types = ", ".join("?" * len(of_number)), self._types(metrics)
        for begin in range(0, len(times), _MOMENTS):
            part = times[begin : begin + _MOMENTS]
            for ts, number, interval, *cells in connection.execute(
                f"SELECT s.ts, s.object_id, s.interval_ms{columns} FROM {self._tables.history} AS s"  # noqa: S608
                f" WHERE s.ts IN ({', '.join('?' * len(part))}) AND s.object_id IN ({chosen})"
                f" AND s.source = {POLL} ORDER BY s.ts, s.object_id",
                (*part, *of_number),
            ):
                values = tuple(checked_values(cells, types))
                yield Poll(moment(ts), of_number[number], integer_or_none(interval), values)

    def _next_ts(self, connection: sqlite3.Connection, since: int, until: int) -> int | None:
        (ts,) = connection.execute(
            f"SELECT min(ts) FROM {self._tables.history} WHERE ts >= ? AND ts < ?",  # noqa: S608
            (max(since, FIRST), min(until, LAST)),
        ).fetchone()
        return moment_or_none(ts)

    def _polls(
        self, connection: sqlite3.Connection, metrics: Sequence[str], when: str, parameters: tuple[int, ...]
    ) -> Iterator[Poll]:
        if not self._columns:
            return
        kind = self._tables.kind
        names = {
            number: ObjectName(text(owner), kind, text(name))
            for number, owner, name in connection.execute("SELECT id, owner, name FROM object WHERE kind = ?", (kind,))
        }
        columns = "".join(f", {self._column(metric)}" for metric in metrics)
        rows = connection.execute(
            f"SELECT s.ts, s.object_id, s.interval_ms{columns} FROM {self._tables.history} AS s"  # noqa: S608
            f" WHERE {when} AND s.source = {POLL} AND s.polled ORDER BY s.ts, s.object_id",
            parameters,
        )
        types = self._types(metrics)
        for ts, number, interval, *cells in rows:
            yield Poll(moment(ts), names[number], integer_or_none(interval), tuple(checked_values(cells, types)))

    def _types(self, metrics: Sequence[str]) -> tuple[Types, ...]:
        return types_of(self._tables.types[metric] for metric in metrics)

    def _column(self, metric: str) -> str:
        assert metric in self._tables.numbers, "only metrics of the vocabulary become columns"
        return f's."{metric}"' if metric in self._columns else "NULL"


_MOMENTS: Final = 200
"""Moments asked for in one statement."""
_CYCLE_MS = 1_000
"""Snapshots that are less than this apart are of one cycle."""


def _sum(value: object) -> float:
    if type(value) is not float:
        raise TypeError(f"{value!r:.60} is no sum of rates")
    return value


def _poll_columns(rows: Sequence[tuple[Any, ...]], metrics: Sequence[str], before: int | None) -> PollColumns:
    """Rows of (ms UTC, interval, values of the metrics) as columns."""
    times, intervals, *columns = zip(*rows, strict=True) if rows else ((), (), *(() for _ in metrics))
    # An array refuses what is no number, as a damaged file may hold.
    return PollColumns(
        array("q", times),
        array("q", [-1 if ms is None else ms for ms in intervals]),
        {
            metric: array("d", [nan if value is None else value for value in column])
            for metric, column in zip(metrics, columns, strict=True)
        },
        before,
    )
