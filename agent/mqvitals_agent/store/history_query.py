"""Questions about the past: a metric of one object, or the polls, or the records, of all objects of a kind."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mqvitals_agent.store.cell import LAST_MOMENT, Types, integer_or_none, moment, text, types_of, values
from mqvitals_agent.store.impossible import FIRST_MOMENT
from mqvitals_agent.store.table import POLL, KindTables
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
        *,
        first: int = FIRST,
        last: int = LAST,
        polled_only: bool = False,
        newest: int | None = None,
    ) -> list[Sample]:
        """The polls of an object with ``first`` <= ts <= ``last``, or the ``newest`` of them; oldest first.

        Raises sqlite3.Error.

        Without ``polled_only``, other answers that told this metric too.
        """
        if not self._columns:
            return []
        column = self._column(metric)
        polled = "s.polled" if polled_only or column == "NULL" else f"(s.polled OR {column} IS NOT NULL)"
        # The snapshots of the owner lead to the rows: one seek each. Any other order reads the rows of all objects.
        rows = connection.execute(
            # Table and columns are the vocabulary's, checked where the tables are made.
            f"SELECT s.ts, s.interval_ms, {column} FROM snapshot AS t CROSS JOIN {self._tables.history} AS s"  # noqa: S608
            " WHERE t.owner = ? AND t.ts BETWEEN ? AND ? AND s.ts = t.ts"
            " AND s.object_id = (SELECT id FROM object WHERE owner = ? AND kind = ? AND name = ?)"
            f" AND s.source = {POLL} AND {polled} ORDER BY t.ts {'ASC' if newest is None else 'DESC LIMIT ?'}",
            (name.owner, max(first, FIRST), min(last, LAST), *name, *(() if newest is None else (newest,))),
        )
        types = self._types((metric,))
        samples = [Sample(moment(ts), integer_or_none(ms), *values(cells, types)) for ts, ms, *cells in rows]
        if newest is not None:
            samples.reverse()
        return samples

    def recorded(
        self,
        connection: sqlite3.Connection,
        name: ObjectName,
        metric: str,
        source: Source,
        *,
        first: int = FIRST,
        last: int = LAST,
        newest: int | None = None,
    ) -> list[Sample]:
        """What records of ``source`` that ended at ``first`` <= ts <= ``last`` tell of a metric, or the ``newest``; oldest first.

        Raises sqlite3.Error. A record that does not tell the metric is none of them: another probe's, of the same source.
        """
        column = self._column(metric)
        if not self._columns or column == "NULL":
            return []
        rows = connection.execute(
            f"SELECT s.ts, s.interval_ms, {column} FROM record AS t CROSS JOIN {self._tables.history} AS s"  # noqa: S608
            " WHERE t.object_id = (SELECT id FROM object WHERE owner = ? AND kind = ? AND name = ?) AND t.source = ?"
            " AND t.ts BETWEEN ? AND ? AND s.ts = t.ts AND s.object_id = t.object_id AND s.source = t.source"
            f" AND {column} IS NOT NULL ORDER BY t.ts {'ASC' if newest is None else 'DESC LIMIT ?'}",
            (*name, int(source), max(first, FIRST), min(last, LAST), *(() if newest is None else (newest,))),
        )
        types = self._types((metric,))
        samples = [Sample(moment(ts), integer_or_none(ms), *values(cells, types)) for ts, ms, *cells in rows]
        if newest is not None:
            samples.reverse()
        return samples

    def sources(self, connection: sqlite3.Connection, name: ObjectName) -> tuple[Source, ...]:
        """The sources, other than polls, that have told of an object. Raises sqlite3.Error."""
        rows = connection.execute(
            "SELECT DISTINCT source FROM record WHERE object_id ="
            " (SELECT id FROM object WHERE owner = ? AND kind = ? AND name = ?) ORDER BY source",
            name,
        )
        return tuple(Source(source) for (source,) in rows)

    def records(self, connection: sqlite3.Connection, metrics: Sequence[str], first: int) -> Iterator[Poll]:
        """Every record of every object of this kind that ended at ts >= ``first``; those of an object and source in time order.

        Of an object and source without such a record its newest one stands for that there are some. Raises sqlite3.Error.
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
            yield Poll(moment(ts), named, integer_or_none(interval), tuple(values(cells, types)), Source(source))

    def polls(self, connection: sqlite3.Connection, metrics: Sequence[str], first: int) -> Iterator[Poll]:
        """Every poll of every object of this kind with ts >= ``first``, in time order. Raises sqlite3.Error."""
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
            f" WHERE s.ts BETWEEN ? AND {LAST} AND s.source = {POLL} AND s.polled ORDER BY s.ts, s.object_id",
            (max(first, FIRST),),
        )
        types = self._types(metrics)
        for ts, number, interval, *cells in rows:
            yield Poll(moment(ts), names[number], integer_or_none(interval), tuple(values(cells, types)))

    def _types(self, metrics: Sequence[str]) -> tuple[Types, ...]:
        return types_of(self._tables.types[metric] for metric in metrics)

    def _column(self, metric: str) -> str:
        assert metric in self._tables.numbers, "only metrics of the vocabulary become columns"
        return f's."{metric}"' if metric in self._columns else "NULL"
