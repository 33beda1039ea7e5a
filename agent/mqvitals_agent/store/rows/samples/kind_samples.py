"""The samples of one kind whatever their age: rows, and the chunks of hours that were sealed.

At every moment the samples of an object are those of its chunks with its rows laid over them. Where no hour is sealed
rows are all that is read.
"""

# ruff: noqa: S608 - table and columns are the vocabulary's, checked where the tables are made
from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from mqvitals_agent.store.file.integrity import FIRST_MOMENT
from mqvitals_agent.store.rows.sealed.chunk import HourSamples
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkKey, ChunkReader, hour_of_ts
from mqvitals_agent.store.rows.sealed.overlay import (
    EVERY,
    NOTHING,
    Holding,
    Row,
    between,
    in_time_order,
    joined,
    newest,
    of_rows,
    overlaid,
    rows_at,
    rows_overlaid,
)
from mqvitals_agent.store.rows.tables import LAST_MOMENT, POLL, KindTables, integer, moment_or_none, text
from mqvitals_rules.timestamps import HOUR_MS

_MOMENTS: Final = 200
"""Moments asked for in one statement."""
_LOADED: Final = 2
"""Sealed hours of all objects that are remembered: several looks at one hour follow each other."""


@dataclass(frozen=True, slots=True)
class ObjectSpan:
    """Which samples of an object of ``owner`` are asked for: of ``metrics``, from a source, with ``first`` <= ts <= ``last``."""

    number: int
    owner: str
    metrics: Sequence[str]
    source: int
    first: int
    last: int

    def within(self, first: int, last: int) -> ObjectSpan:
        """The part of it between two moments, ms UTC, both included."""
        return replace(self, first=max(self.first, first), last=min(self.last, last))


class KindSamples:
    """Reads the samples of one kind for one question, which sees the store as of one moment.

    ``columns`` are those that its table has: a store may be older than the vocabulary. Metrics without a column have no
    values. Times are ms UTC, both ends included. Every method raises sqlite3.Error, and TypeError or ValueError for what
    only a damaged file holds. A chunk that cannot be decoded is left out, and its key added to ``damaged``.
    """

    def __init__(self, tables: KindTables, columns: frozenset[str]) -> None:
        self.damaged: list[ChunkKey] = []
        self._tables = tables
        self._columns = columns
        self._chunks = ChunkReader(self.damaged.append)
        self._span: range | None = None
        self._first_row = FIRST_MOMENT
        self._owners: Mapping[int, str] = {}
        self._loaded: dict[tuple[int, tuple[str, ...]], Mapping[int, HourSamples]] = {}

    def of_object(self, connection: sqlite3.Connection, span: ObjectSpan) -> HourSamples:
        """The samples of an object."""
        hours = self._hours(connection, span.first, span.last)
        found = of_rows(self._rows(connection, span), span.metrics)
        if not hours:
            return found
        return between(overlaid(self._sealed(connection, span, hours), found), span.first, span.last)

    def newest_of_object(
        self, connection: sqlite3.Connection, span: ObjectSpan, count: int, holding: Holding = EVERY
    ) -> HourSamples:
        """The newest ``count`` of ``of_object`` that count as ``holding`` says."""
        hours = self._hours(connection, span.first, span.last)
        # After the last sealed hour there are rows alone.
        later = max(span.first, hours.stop * HOUR_MS) if hours else span.first
        rest = f"{self._condition(holding)} ORDER BY t.ts DESC LIMIT {count:d}"
        rows = self._rows(connection, span.within(later, span.last), rest)
        parts = [of_rows(rows[::-1], span.metrics)]
        for samples in self._back_from(connection, span.within(span.first, later - 1), hours) if hours else ():
            count -= len(parts[-1].ts)
            if count <= 0:
                break
            parts.append(newest(holding.of(samples), count))
        return joined(parts[::-1])

    def of_record(self, connection: sqlite3.Connection, number: int, source: int, ts: int) -> HourSamples:
        """The sample of the record of an object from a source that ended at ``ts``, without its values; or none."""
        # The times of records are never those of an owner's snapshots.
        return self.of_object(connection, ObjectSpan(number, "", (), source, ts, ts))

    def of_objects(
        self,
        connection: sqlite3.Connection,
        owner: str,
        numbers: tuple[int, int],
        metrics: Sequence[str],
        first: int,
        last: int,
    ) -> dict[int, HourSamples]:
        """The polls, and other answers, of the objects of an owner whose numbers lie in a range, both ends included, with
        ``first`` <= ts <= ``last``, by number: rows of a snapshot and chunks of an hour lie beside each other.
        """
        of_owner = connection.execute(
            "SELECT id, owner FROM object WHERE id BETWEEN ? AND ? AND owner = ? AND kind = ?",
            (*numbers, owner, self._tables.kind),
        )
        owners = {integer(number): text(each) for number, each in of_owner}
        hours = self._hours(connection, first, last)
        rows: dict[int, list[Row]] = {number: [] for number in owners}
        for row in connection.execute(
            f"SELECT s.object_id, s.ts, s.interval_ms, s.polled{self._cells(metrics)} FROM snapshot AS t"
            f" CROSS JOIN {self._tables.history} AS s WHERE t.owner = ? AND t.ts BETWEEN ? AND ?"
            f" AND s.ts = t.ts AND s.object_id BETWEEN ? AND ? AND s.source = {POLL} ORDER BY t.ts",
            (owner, max(first, self._first_row), min(last, LAST_MOMENT), *numbers),
        ):
            # Another owner may have been polled at the same moment. A row as it is takes half the time of a part of it.
            if row[0] in rows:
                rows[row[0]].append(row)
        found = {number: of_rows(each, metrics, before=1) for number, each in rows.items() if each}
        if not hours:
            return found
        sealed: dict[int, list[HourSamples]] = {}
        for hour in hours:
            chunks = self._chunks.of_hour(connection, hour, self._tables.kind, owners, POLL, frozenset(metrics))
            for number, samples in chunks:
                sealed.setdefault(number, []).append(samples)
        together = {
            number: between(overlaid(chunks, found.get(number, NOTHING)), first, last)
            for number, chunks in sealed.items()
        }
        return {**found, **{number: samples for number, samples in together.items() if samples.ts}}

    def in_order(self, connection: sqlite3.Connection, metrics: Sequence[str], first: int, last: int) -> Iterator[Row]:
        """The polls, and other answers, of all objects with ``first`` <= ts <= ``last``, by time and number."""
        hours = self._hours(connection, first, last)
        if not hours:
            return self._rows_in_order(connection, metrics, first, last)
        end = min(last, hours.stop * HOUR_MS - 1)
        sealed = (
            row for hour in hours for row in in_time_order(self._hour(connection, hour, metrics), metrics, first, end)
        )
        with_rows = rows_overlaid(sealed, self._rows_in_order(connection, metrics, first, end))
        return chain(with_rows, self._rows_in_order(connection, metrics, end + 1, last))

    def first_ts(self, connection: sqlite3.Connection, metrics: Sequence[str], first: int, last: int) -> int | None:
        """The time of the first poll or other answer of any object with ``first`` <= ts <= ``last``; None: there is none.

        ``metrics`` are those that are read next.
        """
        (ts,) = connection.execute(
            f"SELECT min(ts) FROM {self._tables.history} WHERE ts BETWEEN ? AND ? AND source = {POLL}",
            (max(first, FIRST_MOMENT), min(last, LAST_MOMENT)),
        ).fetchone()
        found = moment_or_none(ts)
        for hour in self._hours(connection, first, last if found is None else found):
            # Objects that were polled together share their times.
            axes = {id(samples.ts): samples for samples in self._hour(connection, hour, metrics).values()}
            heads = [head for each in axes.values() for head in between(each, first, last).ts[:1]]
            if heads:
                return min(heads) if found is None else min(*heads, found)
        return found

    def at(
        self,
        connection: sqlite3.Connection,
        owners: Mapping[int, str],
        metrics: Sequence[str],
        times: Collection[int],
    ) -> Iterator[Row]:
        """The polls, and other answers, of objects (by number, with their owners) at some moments, by time and number."""
        ordered = sorted(set(times))
        hours = self._hours(connection, ordered[0], ordered[-1]) if ordered else range(0)
        by_hour: dict[int, list[int]] = {}
        for ts in ordered if hours else ():
            if hour_of_ts(ts) in hours:
                by_hour.setdefault(hour_of_ts(ts), []).append(ts)
        rows = self._rows_at(connection, owners, metrics, ordered)
        if not by_hour:
            return rows
        sealed = [
            row
            for number, owner in owners.items()
            for samples in self._chunks.of_object(connection, number, owner, POLL, list(by_hour), frozenset(metrics))
            for row in rows_at(number, samples, metrics, by_hour[hour_of_ts(samples.ts[0])])
        ]
        return rows_overlaid(sorted(sealed, key=lambda row: row[:2]), rows)

    def rate_sums(
        self, connection: sqlite3.Connection, metric: str, first: int, last: int, without: tuple[str, int]
    ) -> Iterable[tuple[int, str, object]]:
        """The increase a second of a counter summed over the objects of each owner, at each time with ``first`` <= ts <=
        ``last``, in order of time: time, owner, sum.

        ``without`` are a state and a code of it: objects with that do not count.
        """
        state, without_code = without
        if not self._hours(connection, first, last):
            value, kept = self._cell(metric), self._cell(state)
            return connection.execute(
                f"SELECT s.ts, o.owner, sum({value} * 1000.0 / s.interval_ms) FROM {self._tables.history} AS s"
                f" CROSS JOIN object AS o WHERE s.ts BETWEEN ? AND ? AND s.source = {POLL} AND s.polled"
                f" AND {value} IS NOT NULL AND s.interval_ms > 0 AND {kept} IS NOT ? AND o.id = s.object_id"
                " GROUP BY s.ts, o.owner ORDER BY s.ts",
                (max(first, FIRST_MOMENT), min(last, LAST_MOMENT), without_code),
            )
        owners = self._all_owners(connection)
        sums: dict[tuple[int, str], float] = {}
        for ts, number, interval, polled, value, code in self.in_order(connection, (metric, state), first, last):
            if polled and value is not None and interval is not None and interval > 0 and code != without_code:
                key = ts, owners[number]
                sums[key] = sums.get(key, 0.0) + value * 1000.0 / interval
        return [(*key, rate) for key, rate in sums.items()]

    def _back_from(self, connection: sqlite3.Connection, span: ObjectSpan, hours: range) -> Iterator[HourSamples]:
        """``of_object`` of each sealed hour, the last one first: each is read when it is asked for."""
        split = min(max(hour_of_ts(self._first_row), hours.start), hours.stop)
        for hour in range(split, hours.stop)[::-1]:
            yield self.of_object(connection, span.within(hour * HOUR_MS, (hour + 1) * HOUR_MS - 1))
        # There are no rows before: hours without a chunk of the object are passed over within one statement.
        for samples in self._sealed(connection, span, range(hours.start, split)[::-1]):
            yield between(samples, span.first, span.last)

    def _sealed(self, connection: sqlite3.Connection, span: ObjectSpan, hours: Sequence[int]) -> Iterator[HourSamples]:
        """The chunks of an object in hours, whole."""
        wanted = frozenset(span.metrics)
        return self._chunks.of_object(connection, span.number, span.owner, span.source, hours, wanted)

    def _rows(self, connection: sqlite3.Connection, span: ObjectSpan, rest: str = " ORDER BY t.ts") -> list[Row]:
        """The rows of an object: time, interval, polled, metrics; ``rest`` (a text of ours) ends the statement."""
        parameters: tuple[int | str, ...]
        # The snapshots of the owner lead to the rows: one seek each. Any other order reads the rows of all objects.
        times, of_one, parameters = "snapshot", "t.owner = ?", (span.owner,)
        if span.source != POLL:
            times, of_one, parameters = "record", "t.object_id = ? AND t.source = ?", (span.number, span.source)
        return connection.execute(
            f"SELECT s.ts, s.interval_ms, s.polled{self._cells(span.metrics)} FROM {times} AS t"
            f" CROSS JOIN {self._tables.history} AS s WHERE {of_one} AND t.ts BETWEEN ? AND ?"
            f" AND s.ts = t.ts AND s.object_id = ? AND s.source = ?{rest}",
            (*parameters, max(span.first, self._first_row), min(span.last, LAST_MOMENT), span.number, span.source),
        ).fetchall()

    def _rows_in_order(
        self, connection: sqlite3.Connection, metrics: Sequence[str], first: int, last: int
    ) -> Iterator[Row]:
        return connection.execute(
            f"SELECT s.ts, s.object_id, s.interval_ms, s.polled{self._cells(metrics)} FROM {self._tables.history} AS s"
            f" WHERE s.ts BETWEEN ? AND ? AND s.source = {POLL} ORDER BY s.ts, s.object_id",
            (max(first, FIRST_MOMENT), min(last, LAST_MOMENT)),
        )

    def _rows_at(
        self, connection: sqlite3.Connection, numbers: Collection[int], metrics: Sequence[str], times: Sequence[int]
    ) -> Iterator[Row]:
        chosen = ", ".join("?" * len(numbers))
        for begin in range(0, len(times), _MOMENTS):
            part = times[begin : begin + _MOMENTS]
            yield from connection.execute(
                f"SELECT s.ts, s.object_id, s.interval_ms, s.polled{self._cells(metrics)} FROM {self._tables.history} AS s"
                f" WHERE s.ts IN ({', '.join('?' * len(part))}) AND s.object_id IN ({chosen})"
                f" AND s.source = {POLL} ORDER BY s.ts, s.object_id",
                (*part, *numbers),
            )

    def _hours(self, connection: sqlite3.Connection, first: int, last: int) -> range:
        """The hours between two moments of which there may be chunks; looked for once."""
        if self._span is None:
            span = self._chunks.span(connection)
            self._span = range(0) if span is None else range(span[0], span[1] + 1)
            if self._span:
                # Snapshots before the first row lead to none.
                (ts,) = connection.execute(f"SELECT min(ts) FROM {self._tables.history}").fetchone()
                self._first_row = LAST_MOMENT + 1 if ts is None else max(integer(ts), FIRST_MOMENT)
        if not self._span:
            return self._span
        begin, end = max(hour_of_ts(first), self._span.start), min(hour_of_ts(last) + 1, self._span.stop)
        return range(begin, max(begin, end))

    def _hour(self, connection: sqlite3.Connection, hour: int, metrics: Sequence[str]) -> Mapping[int, HourSamples]:
        """The sealed polls of all objects in an hour, by number."""
        key = hour, tuple(metrics)
        found = self._loaded.get(key)
        if found is None:
            if len(self._loaded) >= _LOADED:
                del self._loaded[next(iter(self._loaded))]
            owners = self._all_owners(connection)
            chunks = self._chunks.of_hour(connection, hour, self._tables.kind, owners, POLL, frozenset(metrics))
            found = self._loaded[key] = dict(chunks)
        return found

    def _all_owners(self, connection: sqlite3.Connection) -> Mapping[int, str]:
        """The owners of all objects of the kind, by number."""
        if not self._owners:
            rows = connection.execute("SELECT id, owner FROM object WHERE kind = ?", (self._tables.kind,))
            self._owners = {integer(number): text(owner) for number, owner in rows}
        return self._owners

    def _condition(self, holding: Holding) -> str:
        if holding == EVERY:
            return ""
        conditions = ["s.polled"] if holding.polled else []
        if holding.metric is not None:
            conditions.append(f"{self._cell(holding.metric)} IS NOT NULL")
        return f" AND ({' OR '.join(conditions)})"

    def _cells(self, metrics: Sequence[str]) -> str:
        return "".join(f", {self._cell(metric)}" for metric in metrics)

    def _cell(self, metric: str) -> str:
        assert metric in self._tables.numbers, "only metrics of the vocabulary become columns"
        return f's."{metric}"' if metric in self._columns else "NULL"
