"""The queries over the history: one sample for each object and snapshot or record."""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from math import nan
from typing import Any, Final

from mqvitals_agent.store.file.integrity import FIRST_MOMENT
from mqvitals_agent.store.rows.samples.kind_samples import KindSamples, ObjectSpan
from mqvitals_agent.store.rows.samples.sample import Poll, PollColumns, SampleColumns
from mqvitals_agent.store.rows.sealed.chunk import HourSamples
from mqvitals_agent.store.rows.sealed.overlay import NOTHING, Holding, between, column
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
    text,
    types_of,
)
from mqvitals_rules.snapshot import ObjectName, Source
from mqvitals_rules.timestamps import HOUR_MS

FIRST, LAST = FIRST_MOMENT, LAST_MOMENT
"""The bounds of time in a store: what is dated outside of them is passed over."""


class HistoryQuery:
    """Reads the history of one kind for one question, which sees the store as of one moment; ``columns`` are those that
    its table has: a store may be older than the vocabulary.
    """

    def __init__(self, tables: KindTables, columns: frozenset[str]) -> None:
        self._tables = tables
        self._columns = columns
        self._samples = KindSamples(tables, columns)

    def damaged(self, connection: sqlite3.Connection, name: ObjectName) -> tuple[int, ...]:
        """The begins (ms UTC) of sealed hours of an object that could not be decoded in what was read so far: their samples
        are missing. Raises sqlite3.Error.
        """
        if not self._samples.damaged:
            return ()
        number = self._number(connection, name)
        return tuple(sorted({key.hour * HOUR_MS for key in self._samples.damaged if key.number == number}))

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
    ) -> SampleColumns:
        """The samples of an object from ``source`` with ``first`` <= ts <= ``last``, or the ``newest`` of them;
        oldest first.

        Polls: those of the object, and without ``polled_only`` also other answers that hold this metric. Records:
        those that ended then and hold the metric; another probe's of the same source are left out. Raises
        sqlite3.Error.
        """
        polls = source is Source.POLL
        number = self._number(connection, name)
        if number is None or (metric not in self._columns and not polls):
            return SampleColumns()
        holding = Holding(polls, None if polls and polled_only else metric)
        span = ObjectSpan(number, name.owner, (metric,), int(source), first, last)
        if newest is None:
            found = self._samples.of_object(connection, span)
        else:
            found = self._samples.newest_of_object(connection, span, newest, holding)
        return self._by_metric(found, (metric,), holding)[metric]

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
        number = self._number(connection, name)
        if number is None:
            return _poll_columns(NOTHING, metrics, None)
        polled = Holding(polled=True)
        span = ObjectSpan(number, name.owner, metrics, POLL, first, last)
        found = polled.of(self._samples.of_object(connection, span))
        span = ObjectSpan(number, name.owner, (), POLL, before, first - 1)
        earlier = self._samples.newest_of_object(connection, span, 1, polled).ts
        return _poll_columns(found, metrics, moment(earlier[0]) if earlier else None)

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
        earlier = connection.execute(
            "SELECT ts FROM snapshot WHERE owner = ? AND ts BETWEEN ? AND ? ORDER BY ts DESC LIMIT 2",
            (owner, before, first - 1),
        ).fetchall()
        if not earlier:
            return {}
        since = moment(earlier[-1][0])
        every = self._samples.of_objects(connection, owner, (min(numbers), max(numbers)), metrics, since, last)
        found = {}
        for number, samples in every.items():
            polled = Holding(polled=True).of(samples)
            if begin := bisect_left(polled.ts, first):
                name = ObjectName(owner, kind, text(numbers[number]))
                found[name] = _poll_columns(between(polled, first, last), metrics, moment(polled.ts[begin - 1]))
        return found

    def several(
        self,
        connection: sqlite3.Connection,
        name: ObjectName,
        metrics: Sequence[str],
        source: Source = Source.POLL,
        *,
        first: int = FIRST,
        last: int = LAST,
    ) -> dict[str, SampleColumns]:
        """The ``samples`` of several metrics of an object, by metric: its rows are read once. Raises sqlite3.Error."""
        number = self._number(connection, name)
        if number is None or not metrics:
            return {metric: SampleColumns() for metric in metrics}
        span = ObjectSpan(number, name.owner, metrics, int(source), first, last)
        found = self._samples.of_object(connection, span)
        return self._by_metric(found, metrics, *(Holding(source is Source.POLL, metric) for metric in metrics))

    def of_range(
        self,
        connection: sqlite3.Connection,
        owner: str,
        numbers: tuple[int, int],
        metrics: Sequence[str],
        *,
        first: int,
        last: int,
    ) -> dict[int, dict[str, SampleColumns]]:
        """The polled ``samples`` of several metrics of the objects of an owner whose numbers lie in a range, both ends
        included, by number and metric: what lies beside each other is read in one go. Raises sqlite3.Error.
        """
        if not self._columns:
            return {}
        found = self._samples.of_objects(connection, owner, numbers, metrics, first, last)
        holding = [Holding(polled=True, metric=metric) for metric in metrics]
        return {number: self._by_metric(samples, metrics, *holding) for number, samples in found.items()}

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
        recorded = connection.execute(
            "SELECT o.id, o.owner, o.name, g.source, g.since FROM"  # noqa: S608
            " (SELECT object_id, source, min(max(ts), ?) AS since FROM record"
            f" WHERE ts BETWEEN {FIRST} AND {LAST} GROUP BY object_id, source) AS g"
            " CROSS JOIN object AS o WHERE o.id = g.object_id AND o.kind = ? ORDER BY g.object_id, g.source",
            (max(first, FIRST), self._tables.kind),
        ).fetchall()
        types = self._types(metrics)
        for number, owner, short, source, since in recorded:
            name = ObjectName(text(owner), self._tables.kind, text(short))
            span = ObjectSpan(integer(number), name.owner, metrics, integer(source), moment(since), LAST)
            samples = self._samples.of_object(connection, span)
            cells = [column(samples, metric) for metric in metrics]
            for ts, interval, *values in zip(samples.ts, samples.intervals, *cells, strict=True):
                found = tuple(checked_values(values, types))
                yield Poll(moment(ts), name, integer_or_none(interval), found, Source(source))

    def polls(
        self, connection: sqlite3.Connection, metrics: Sequence[str], first: int, *, others: bool = False
    ) -> Iterator[Poll]:
        """Every poll of every object of this kind with ts >= ``first``, in time order; with ``others`` also what only other
        answers told of an object. Raises sqlite3.Error.
        """
        return self._polls(connection, metrics, [(first, LAST)], others=others)

    def polls_near(
        self, connection: sqlite3.Connection, metrics: Sequence[str], moments: Sequence[int]
    ) -> Iterator[Poll]:
        """The polls of all objects of this kind in its first snapshots at or after each moment (ms UTC) but the last, and
        before the next one, in time order. Raises sqlite3.Error.
        """
        looks = ((begin, following - 1) for begin, following in pairwise(moments))
        return self._polls(connection, metrics, self._cycles(connection, metrics, looks))

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
        if metric not in self._columns:
            return {}
        sums: dict[str, dict[int, float | None]] = {}
        for begin in begun:
            looks = [(begin, min(begin + step_ms - 1, last))]
            for cycle in self._cycles(connection, (metric, without[0]), looks):
                for _, owner, rate in self._samples.rate_sums(connection, metric, *cycle, without):
                    of_owner = sums.setdefault(text(owner), dict.fromkeys(begun))
                    # Of two snapshots of one owner in a look the earlier one counts.
                    if of_owner[begin] is None:
                        of_owner[begin] = _sum(rate)
        return sums

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
        numbers = {name: self._number(connection, name) for name in sorted(names)}
        of_number = {number: name for name, number in numbers.items() if number is not None}
        owners = {number: name.owner for number, name in of_number.items()}
        types = self._types(metrics)
        for ts, number, interval, _, *values in self._samples.at(connection, owners, metrics, times):
            found = tuple(checked_values(values, types))
            yield Poll(moment(ts), of_number[number], integer_or_none(interval), found)

    def _cycles(
        self, connection: sqlite3.Connection, metrics: Sequence[str], looks: Iterable[tuple[int, int]]
    ) -> Iterator[tuple[int, int]]:
        """The bounds of the kind's first cycle within each look, ms UTC, where there is one."""
        for begin, end in looks:
            first = self._samples.first_ts(connection, metrics, begin, end) if self._columns else None
            if first is not None:
                # The snapshots of a cycle: that of the group is some ms later than those of its members.
                yield first, min(end, first + _CYCLE_MS - 1)

    def _polls(
        self,
        connection: sqlite3.Connection,
        metrics: Sequence[str],
        spans: Iterable[tuple[int, int]],
        *,
        others: bool = False,
    ) -> Iterator[Poll]:
        """The polls of all objects of this kind within spans of time, ms UTC."""
        if not self._columns:
            return
        kind = self._tables.kind
        names = {
            number: ObjectName(text(owner), kind, text(name))
            for number, owner, name in connection.execute("SELECT id, owner, name FROM object WHERE kind = ?", (kind,))
        }
        types = self._types(metrics)
        for span in spans:
            for ts, number, interval, polled, *values in self._samples.in_order(connection, metrics, *span):
                if polled or others:
                    found = tuple(checked_values(values, types))
                    yield Poll(moment(ts), names[number], integer_or_none(interval), found, Source.POLL, bool(polled))

    def _number(self, connection: sqlite3.Connection, name: ObjectName) -> int | None:
        row = connection.execute(OBJECT_ID, name).fetchone() if self._columns else None
        return None if row is None else integer(row[0])

    def _by_metric(self, samples: HourSamples, metrics: Sequence[str], *holding: Holding) -> dict[str, SampleColumns]:
        """By metric the samples that count for it, as the ``holding`` of each says.

        Raises TypeError and ValueError for cells that no sample has.
        """
        types = self._types(metrics)
        if samples.ts and not (set(map(type, samples.ts)) == {int} and moment(samples.ts[0]) <= moment(samples.ts[-1])):
            raise ValueError("what is no moment")
        _check(samples.intervals, _COUNTS)
        found = {}
        for metric, known, which in zip(metrics, types, holding, strict=True):
            cells = column(samples, metric)
            _check(cells, known)
            own = which.of(samples._replace(values={metric: cells}))
            found[metric] = SampleColumns(own.ts, own.intervals, own.values[metric])
        return found

    def _types(self, metrics: Sequence[str]) -> tuple[Types, ...]:
        return types_of(self._tables.types[metric] for metric in metrics)


_CYCLE_MS: Final = 1_000
"""Snapshots that are less than this apart are of one cycle."""
_COUNTS: Final[Types] = frozenset((int, type(None)))


def _check(cells: Sequence[Any], known: Types) -> None:
    """Raises TypeError for a cell that is of no type in ``known``: a column of thousands has a handful of types."""
    if not set(map(type, cells)) <= known:
        raise TypeError(f"{next(cell for cell in cells if type(cell) not in known)!r:.60} is no value of this metric")


def _sum(value: object) -> float:
    if type(value) is not float:
        raise TypeError(f"{value!r:.60} is no sum of rates")
    return value


def _poll_columns(samples: HourSamples, metrics: Sequence[str], before: int | None) -> PollColumns:
    # An array refuses what is no number, as a damaged file may hold.
    return PollColumns(
        array("q", samples.ts),
        array("q", [-1 if ms is None else ms for ms in samples.intervals]),
        {
            metric: array("d", [nan if value is None else value for value in column(samples, metric)])
            for metric in metrics
        },
        before,
    )
