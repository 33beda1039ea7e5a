"""Reads samples in the order in which they were stored, for who sends them elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from mqvitals_agent.store.file.database import closed_on_error
from mqvitals_agent.store.file.schema import open_reader
from mqvitals_agent.store.reading.base import QueryBase
from mqvitals_agent.store.rows.remote_write import (
    RemotePlace,
    StoredSamples,
    read_order,
    read_place,
    read_totals,
)
from mqvitals_agent.store.rows.samples.kind_samples import KindSamples, ObjectSpan
from mqvitals_agent.store.rows.samples.objects import read_owners
from mqvitals_agent.store.rows.sealed.chunk import HourSamples
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkReader, hour_of_ts
from mqvitals_agent.store.rows.tables import POLL, integer, moment, text
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Kind, Value
from mqvitals_rules.vocabulary.tables import KINDS

_LIMIT_S: Final = 60.0


class Pending(NamedTuple):
    """What is still to be sent: samples of objects, and when the oldest was taken (ms UTC; None: there is none)."""

    samples: int
    oldest: int | None


class GoneObject(NamedTuple):
    """An object that was found gone: its number and name, and when (ms UTC)."""

    number: int
    name: ObjectName
    ts: int


class StoredOrderReader(QueryBase):
    """Reads samples in the order of commits. Use it from one thread; ``close`` it, or leave a ``with`` block.

    Every method raises StoreError when the store cannot be read.
    """

    _objects: Mapping[int, ObjectName] = {}
    _objects_mark: object = None

    @classmethod
    def open(
        cls, path: Path | str, *, kinds: Mapping[str, Kind] = KINDS, limit_s: float = _LIMIT_S
    ) -> StoredOrderReader:
        """Open the store at ``path``. Raises StoreError as ``StoreReader.open``."""
        path = Path(path).resolve()
        with closed_on_error(open_reader(path)) as connection:
            return cls(path, connection, kinds, limit_s)

    def place(self, name: str) -> RemotePlace | None:
        """How far an engine has been sent what there is; None: it is not known."""
        with self._query() as connection:
            return read_place(connection, name)

    def totals(self, name: str) -> dict[tuple[str, str], dict[int, float]]:
        """The running totals of an engine's counters, as of its ``totals_place``."""
        with self._query() as connection:
            return read_totals(connection, name)

    def pending(self, place: int) -> Pending:
        """What was stored after a place."""
        with self._query() as connection:
            samples, oldest = connection.execute(
                "SELECT coalesce(sum(samples), 0), min(first_ts) FROM stored_samples WHERE number > ?", (place,)
            ).fetchone()
            return Pending(integer(samples), None if oldest is None else moment(oldest))

    def after(self, place: int, most: int, until: int | None = None) -> tuple[StoredSamples, ...]:
        """What was stored next after a place, about ``most`` samples of objects, at least one row of the order.

        Of a sealed hour all that follows each other: reading a part of it takes as long.
        """
        with self._query() as connection:
            span = ChunkReader().span(connection)
            sealed = -1 if span is None else span[1]
            found: list[StoredSamples] = []
            samples, hour = 0, -1
            for each in read_order(connection, place, until):
                of = hour_of_ts(each.last)
                goes_on = each.source == POLL and of == hour and of <= sealed
                if found and samples >= most and not goes_on:
                    break
                if found and samples < most and hour <= sealed and of != hour:
                    break
                found.append(each)
                samples += each.samples
                hour = of
            return tuple(found)

    def remaining(self, numbers: tuple[int, int]) -> frozenset[int]:
        """Which rows of the order, from the first to the last number, are still there: a clock that is set back takes some."""
        with self._query() as connection:
            return frozenset(each.number for each in read_order(connection, numbers[0] - 1, numbers[1]))

    def objects(self) -> Mapping[int, ObjectName]:
        """All objects by number, in its order."""
        with self._query() as connection:
            mark = connection.execute("SELECT count(*), max(id) FROM object").fetchone()
            if mark != self._objects_mark:
                self._objects = {
                    integer(number): ObjectName(text(owner), text(kind), text(name))
                    for number, owner, kind, name in connection.execute(
                        "SELECT id, owner, kind, name FROM object ORDER BY id"
                    )
                }
                self._objects_mark = mark
            return self._objects

    def groups(self) -> frozenset[str]:
        """The owners that are queue-sharing groups."""
        with self._query() as connection:
            return frozenset(each.name for each in read_owners(connection) if each.is_group)

    def newest(self, kind: str, metrics: Sequence[str]) -> dict[int, dict[str, Value]]:
        """The newest present values of some metrics of all objects of a kind, by number."""
        if not metrics:
            return {}
        with self._query() as connection:
            numbers = [number for (number,) in connection.execute("SELECT id FROM object WHERE kind = ?", (kind,))]
            found = self._current(kind, metrics).of(connection, numbers)
        return {
            number: {name: each.value for name, each in values.items() if isinstance(each.value, int | float | str)}
            for number, values in found.items()
        }

    def polled(
        self, kind: str, owner: str, numbers: tuple[int, int], metrics: Sequence[str], first: int, last: int
    ) -> dict[int, HourSamples]:
        """The polls, and other answers, of the objects of an owner whose numbers lie in a range, both ends included, with
        ``first`` <= ts <= ``last``, by number.
        """
        with self._query() as connection:
            return self._samples(kind).of_objects(connection, owner, numbers, metrics, first, last)

    def recorded(
        self, kind: str, owner: str, source: int, metrics: Sequence[str], first: int, last: int
    ) -> dict[int, HourSamples]:
        """The records of ``source`` of the objects of an owner with ``first`` <= end <= ``last``, by number."""
        with self._query() as connection:
            rows = connection.execute(
                "SELECT o.id FROM object AS o WHERE o.owner = ? AND o.kind = ? AND EXISTS (SELECT 1 FROM record AS r"
                " WHERE r.object_id = o.id AND r.source = ? AND r.ts BETWEEN ? AND ?) ORDER BY o.id",
                (owner, kind, source, first, last),
            ).fetchall()
            samples = self._samples(kind)
            numbers = [integer(number) for (number,) in rows]
            found = {
                number: samples.of_object(connection, ObjectSpan(number, owner, metrics, source, first, last))
                for number in numbers
            }
        return {number: each for number, each in found.items() if each.ts}

    def gone(self, spans: Mapping[str, tuple[int, int]]) -> list[GoneObject]:
        """The objects that were found gone within a span of their owner (ms UTC, both ends included)."""
        with self._query() as connection:
            rows = chain.from_iterable(
                connection.execute(
                    "SELECT id, owner, kind, name, gone_ts FROM object WHERE gone_ts BETWEEN ? AND ? AND owner = ?",
                    (first, last, owner),
                )
                for owner, (first, last) in spans.items()
            )
            return [
                GoneObject(integer(number), ObjectName(text(owner), text(kind), text(name)), moment(ts))
                for number, owner, kind, name, ts in rows
            ]

    def metrics(self, kind: str, wanted: Collection[str]) -> tuple[str, ...]:
        """Those of the metrics that the store keeps over time, in the order of its columns."""
        return tuple(name for name in self._tables[kind].numbers if name in wanted)

    def _samples(self, kind: str) -> KindSamples:
        self._look_at_columns()
        tables = self._tables[kind]
        return KindSamples(tables, self._columns.get(tables.history, frozenset()))
