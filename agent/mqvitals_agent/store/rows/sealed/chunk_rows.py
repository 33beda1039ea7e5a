"""The rows of chunks: one for each object, source and finished hour, found by its number; and the axes of hours."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, cast

from mqvitals_agent.store.rows.sealed.chunk import (
    Axis,
    HourSamples,
    OpenSamples,
    decode_samples,
    encode_samples,
    open_samples,
)
from mqvitals_agent.store.rows.sealed.codec import DamagedChunkError, decode, encode
from mqvitals_agent.store.rows.tables import integer, text
from mqvitals_rules.timestamps import HOUR_MS

_OBJECT_BITS: Final = 24
_SOURCE_BITS: Final = 2
_SOURCES: Final = 1 << _SOURCE_BITS
_MOST_OBJECTS: Final = 1 << _OBJECT_BITS
_MOST_AXES: Final = 256
"""Axes that are remembered: a page over a day of a group needs some hundred."""

_FEW: Final = 64
"""So many chunks are looked for one by one."""

_AT_ONCE: Final = 250
"""So many chunks of an object are looked for with one statement."""

_IN = "SELECT id, layout, on_axis, data FROM chunk WHERE id IN"
_AT = "SELECT id, layout, on_axis, data FROM chunk WHERE id = ?"
_BETWEEN = "SELECT id, layout, on_axis, data FROM chunk WHERE id BETWEEN ? AND ? ORDER BY id"


class ChunkKey(NamedTuple):
    """What a chunk is of: ``hour`` counts from 1970 UTC, ``number`` is the object's."""

    hour: int
    number: int
    source: int

    @property
    def id(self) -> int:
        """The number of its row: chunks stand in order of time, those of an hour in order of objects.

        The last of the four sources is written as 0. Raises ValueError for a number or a source that does not fit.
        """
        if not (0 <= self.number < _MOST_OBJECTS and 0 <= self.source <= _SOURCES):
            raise ValueError(f"{self} cannot be the key of a chunk")
        return (self.hour << _OBJECT_BITS | self.number) << _SOURCE_BITS | self.source % _SOURCES

    @classmethod
    def of(cls, row: int) -> ChunkKey:
        """The key of a row by its number."""
        rest, source = row >> _SOURCE_BITS, row % _SOURCES or _SOURCES
        return cls(rest >> _OBJECT_BITS, rest & (_MOST_OBJECTS - 1), source)


class Layout(NamedTuple):
    """The kind of a chunk's object, and the metrics in it in their order."""

    kind: str
    columns: tuple[str, ...]


def hour_of_ts(ts: int) -> int:
    """The hour of a time in ms UTC, as chunks count."""
    return ts // HOUR_MS


class ChunkReader:
    """Reads chunks over one connection. Layouts and the axes used last are remembered.

    Every method raises sqlite3.Error, DamagedChunkError, and TypeError for a cell that no chunk has. With ``damaged`` a
    chunk that cannot be decoded is left out instead, and ``damaged`` is called with its key.
    """

    def __init__(self, damaged: Callable[[ChunkKey], object] | None = None) -> None:
        self._damaged = damaged
        self._layouts: dict[int, Layout] = {}
        self._axes: dict[tuple[int, str], Axis] = {}

    def span(self, connection: sqlite3.Connection) -> tuple[int, int] | None:
        """The first and the last hour of which there are chunks; None: there is no chunk."""
        first, last = connection.execute("SELECT (SELECT min(id) FROM chunk), (SELECT max(id) FROM chunk)").fetchone()
        return None if first is None else (ChunkKey.of(integer(first)).hour, ChunkKey.of(integer(last)).hour)

    def of_object(
        self,
        connection: sqlite3.Connection,
        number: int,
        owner: str,
        source: int,
        hours: Sequence[int],
        wanted: Collection[str] | None = None,
    ) -> Iterator[HourSamples]:
        """The samples of an object in those of ``hours``, which rise or fall, of which there is a chunk, in their order; of
        the metrics ``wanted`` alone (None: all).
        """
        ids = [ChunkKey(hour, number, source).id for hour in hours]
        for begin in range(0, len(ids), _AT_ONCE):
            part = ids[begin : begin + _AT_ONCE]
            # Each is one seek, in order: nothing is sorted.
            query = f"{_IN} ({', '.join('?' * len(part))}) ORDER BY id {'ASC' if part[0] <= part[-1] else 'DESC'}"
            for row in connection.execute(query, part):
                samples = self._samples(connection, row, owner, wanted)
                if samples is not None:
                    yield samples

    def of_hour(
        self,
        connection: sqlite3.Connection,
        hour: int,
        kind: str,
        owners: Mapping[int, str],
        source: int,
        wanted: Collection[str] | None = None,
    ) -> Iterator[tuple[int, HourSamples]]:
        """The objects of ``kind`` whose owners are in ``owners``, both by number, with their samples of an hour, in order
        of their numbers.
        """
        if not owners:
            return
        bounds = ChunkKey(hour, min(owners), 0).id, ChunkKey(hour, max(owners), _SOURCES - 1).id
        for row in connection.execute(_BETWEEN, bounds):
            key = ChunkKey.of(row[0])
            owner = owners.get(key.number)
            if owner is None or key.source != source:
                continue
            samples = self._samples(connection, row, owner, wanted, kind)
            if samples is not None:
                yield key.number, samples

    def opened(
        self,
        connection: sqlite3.Connection,
        hour: int,
        kind: str,
        owner: str,
        numbers: Collection[int],
        source: int,
        wanted: Collection[str],
        answering: Collection[str],
    ) -> Iterator[tuple[int, OpenSamples]]:
        """The samples of an hour of those of the objects ``numbers`` of ``owner`` and ``kind`` of which there is a chunk.

        Of the metrics ``wanted``, answered where any of ``answering`` is there. A chunk that is damaged is left out.
        """
        rows: Iterable[Sequence[object]]
        if len(numbers) <= _FEW:
            ids = [(ChunkKey(hour, number, source).id,) for number in sorted(numbers)]
            rows = (row for each in ids if (row := connection.execute(_AT, each).fetchone()) is not None)
        else:
            bounds = (ChunkKey(hour, number, source).id for number in (min(numbers), max(numbers)))
            rows = connection.execute(_BETWEEN, tuple(bounds))
        for row_id, layout_id, on_axis, data in rows:
            key = ChunkKey.of(integer(row_id))
            if key.source != source or key.number not in numbers:
                continue
            try:
                layout = self._layout(connection, integer(layout_id))
                axis = self.axis(connection, hour, owner) if on_axis else None
                if layout.kind == kind and (axis is not None or not on_axis):
                    yield key.number, open_samples(_blob(data), layout.columns, axis, wanted, answering)
            except DamagedChunkError:
                continue

    def mark(self, connection: sqlite3.Connection, hour: int, numbers: tuple[int, int]) -> tuple[int, ...]:
        """What changes when chunks of an hour do, of objects whose numbers lie in a range, both ends included."""
        bounds = ChunkKey(hour, numbers[0], 0).id, ChunkKey(hour, numbers[1], (1 << _SOURCE_BITS) - 1).id
        row = connection.execute(
            "SELECT count(*), coalesce(sum(n), 0), coalesce(sum(length(data)), 0) FROM chunk WHERE id BETWEEN ? AND ?",
            bounds,
        ).fetchone()
        return tuple(map(integer, row))

    def axis(self, connection: sqlite3.Connection, hour: int, owner: str) -> Axis | None:
        """The times of the snapshots of an owner in an hour, as far as chunks refer to them; None: none do."""
        known = self._axes.get((hour, owner))
        if known is not None:
            return known
        row = connection.execute("SELECT data FROM chunk_axis WHERE hour = ? AND owner = ?", (hour, owner)).fetchone()
        if row is None:
            return None
        axis = _decoded_axis(_blob(row[0]))
        if len(self._axes) >= _MOST_AXES:
            del self._axes[next(iter(self._axes))]
        self._axes[hour, owner] = axis
        return axis

    def forget_axis(self, hour: int, owner: str) -> None:
        """An axis was written anew."""
        self._axes.pop((hour, owner), None)

    def _samples(
        self,
        connection: sqlite3.Connection,
        row: Sequence[object],
        owner: str,
        wanted: Collection[str] | None,
        kind: str | None = None,
    ) -> HourSamples | None:
        """The samples of a row; None where it is of another kind, or damaged."""
        number, layout_id, on_axis, data = row
        key = ChunkKey.of(integer(number))
        try:
            layout = self._layout(connection, integer(layout_id))
            if kind is not None and layout.kind != kind:
                return None
            axis = self._axis_of(connection, key.hour, owner) if on_axis else None
            return decode_samples(_blob(data), layout.columns, axis, wanted)
        except DamagedChunkError:
            if self._damaged is None:
                raise
            self._damaged(key)
            return None

    def _axis_of(self, connection: sqlite3.Connection, hour: int, owner: str) -> Axis:
        axis = self.axis(connection, hour, owner)
        if axis is None:
            raise DamagedChunkError("the times of a chunk are missing")
        return axis

    def _layout(self, connection: sqlite3.Connection, number: int) -> Layout:
        known = self._layouts.get(number)
        if known is None:
            row = connection.execute("SELECT kind, columns FROM chunk_layout WHERE id = ?", (number,)).fetchone()
            if row is None:
                raise DamagedChunkError("the metrics of a chunk are missing")
            columns = json.loads(text(row[1]))
            known = self._layouts[number] = Layout(text(row[0]), tuple(map(text, columns)))
        return known


class ChunkWriter:
    """Writes chunks within transactions of the caller, who calls ``load`` after a rollback. Raises sqlite3.Error."""

    def __init__(self) -> None:
        self.load()

    def load(self) -> None:
        """Forget what was written since."""
        self._layouts: dict[Layout, int] = {}

    def write(self, connection: sqlite3.Connection, key: ChunkKey, kind: str, samples: HourSamples, axis: Axis) -> int:
        """Write the chunk of ``key`` in place of any that is there; returns its bytes.

        Raises ValueError for samples that no chunk can hold.
        """
        columns = tuple(samples.values)
        data, on_axis = encode_samples(samples, columns, axis)
        connection.execute(
            "INSERT OR REPLACE INTO chunk(id, layout, on_axis, n, data) VALUES(?, ?, ?, ?, ?)",
            (key.id, self._layout(connection, Layout(kind, columns)), int(on_axis), len(samples.ts), data),
        )
        return len(data)

    def write_axis(self, connection: sqlite3.Connection, hour: int, owner: str, axis: Axis) -> None:
        """Write the times of an owner's snapshots in an hour. Chunks of the hour refer to them by place: an axis that is
        there already may only be written again as it is.
        """
        connection.execute(
            "INSERT OR REPLACE INTO chunk_axis(hour, owner, data) VALUES(?, ?, ?)", (hour, owner, encode([axis]))
        )

    def _layout(self, connection: sqlite3.Connection, layout: Layout) -> int:
        known = self._layouts.get(layout)
        if known is None:
            columns = json.dumps(layout.columns)
            connection.execute(
                "INSERT INTO chunk_layout(kind, columns) VALUES(?, ?) ON CONFLICT DO NOTHING", (layout.kind, columns)
            )
            row = connection.execute(
                "SELECT id FROM chunk_layout WHERE kind = ? AND columns = ?", (layout.kind, columns)
            ).fetchone()
            known = self._layouts[layout] = integer(row[0])
        return known


@lru_cache(maxsize=_MOST_AXES)
def _decoded_axis(data: bytes) -> Axis:
    # Each question has a reader of its own: who looks at one object after another needs the same axes every time.
    found = decode(data).get(0, ())
    if not set(map(type, found)) <= {int}:
        raise TypeError("the times of a chunk are no whole numbers")
    return cast("list[int]", list(found))


def _blob(cell: object) -> bytes:
    if type(cell) is not bytes:
        raise TypeError(f"{cell!r:.60} is no chunk")
    return cell
