"""The samples of an object from one source in one hour, as columns: merged, and as a chunk and back.

A poll's time is that of a snapshot of its owner. The times of all snapshots of an owner in an hour are its axis, which
is kept once; a chunk then holds places on the axis, most often all of them, which takes no bytes. Samples with other
times, those of records, hold their times themselves.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple, cast

from mqvitals_agent.store.rows.sealed.codec import (
    Cells,
    DamagedChunkError,
    OpenColumn,
    decode,
    encode,
    open_columns,
)

Axis = Sequence[int]
"""Times of snapshots, ms UTC, rising."""
Row = tuple[Any, ...]

_TIMES, _INTERVALS, _POLLED = 0, 1, 2
_FIXED: Final = 3
"""Columns before those of the metrics."""
_OPEN_BYTES: Final = 1_000
"""What open samples take beside their columns."""


class HourSamples(NamedTuple):
    """Samples of an object from one source, rising in time: each column has a cell for each of ``ts``.

    ``intervals`` are the ms that counters cover, None: unknown; ``polled`` is 0 for samples that hold only what other
    probes than the kind's own reported. Metrics without any value are left out of ``values``.
    """

    ts: Sequence[int]
    intervals: Sequence[int | None]
    polled: Sequence[int]
    values: Mapping[str, Cells]


class OpenSamples(NamedTuple):
    """Samples of an object from one source in one hour, of which single ones are read.

    Times ``ts`` rise. ``polled`` and ``answered`` have a bit for each sample, set where the object was asked, and where any of
    the metrics is there that whoever opened it asked for. Metrics without any value are left out of ``values``.
    """

    ts: Sequence[int]
    intervals: OpenColumn | None
    polled: int
    answered: int
    values: Mapping[str, OpenColumn]

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return _OPEN_BYTES + sum(column.size for column in self.values.values())


def merged(older: HourSamples, newer: HourSamples) -> HourSamples:
    """Both together; two samples of one time as ``laid_over``."""
    if older.ts and newer.ts and older.ts[-1] < newer.ts[0]:
        return _followed(older, newer)
    names = tuple(dict.fromkeys(chain(older.values, newer.values)))
    found = dict(zip(older.ts, _rows(older, names), strict=True))
    for ts, row in zip(newer.ts, _rows(newer, names), strict=True):
        before = found.get(ts)
        found[ts] = row if before is None else laid_over(before, row)
    if not found:
        return older
    times = sorted(found)
    intervals, polled, *columns = zip(*map(found.__getitem__, times), strict=True)
    return HourSamples(times, intervals, polled, dict(zip(names, columns, strict=True)))


def laid_over(older: Row, newer: Row) -> Row:
    """Two samples of one object, source and time as one, each an interval, whether polled, and values.

    The newer's values hold where it has any, the older's else, and the longer interval; it was polled if either was.
    """
    interval = newer[0] if older[0] is None else older[0] if newer[0] is None else max(older[0], newer[0])
    values = [old if new is None else new for old, new in zip(older[2:], newer[2:], strict=True)]
    return (interval, max(older[1], newer[1]), *values)


def _rows(samples: HourSamples, names: Sequence[str]) -> Iterator[Row]:
    columns = [samples.values.get(name) or [None] * len(samples.ts) for name in names]
    return zip(samples.intervals, samples.polled, *columns, strict=True)


def _followed(older: HourSamples, newer: HourSamples) -> HourSamples:
    """Two spans of which one ends before the other begins."""
    none: tuple[Cells, Cells] = [None] * len(older.ts), [None] * len(newer.ts)
    return HourSamples(
        [*older.ts, *newer.ts],
        [*older.intervals, *newer.intervals],
        [*older.polled, *newer.polled],
        {
            name: [*older.values.get(name, none[0]), *newer.values.get(name, none[1])]
            for name in dict.fromkeys(chain(older.values, newer.values))
        },
    )


def encode_samples(samples: HourSamples, columns: Sequence[str], axis: Axis) -> tuple[bytes, bool]:
    """A chunk with the metrics ``columns``, and whether its times are places on ``axis``. Raises ValueError as ``encode``."""
    places: Sequence[int] = range(len(axis))
    on_axis = [*samples.ts] == axis
    if not on_axis:
        places = [bisect_left(axis, ts) for ts in samples.ts]
        on_axis = not places or (places[-1] < len(axis) and [axis[place] for place in places] == [*samples.ts])
    absent = [None] * len(samples.ts)
    cells = [samples.values.get(name, absent) for name in columns]
    return encode([places if on_axis else samples.ts, samples.intervals, samples.polled, *cells]), on_axis


def decode_samples(
    blob: bytes, columns: Sequence[str], axis: Axis | None, wanted: Collection[str] | None = None
) -> HourSamples:
    """The samples of a chunk with the metrics ``columns``, of these the ``wanted`` ones (None: all).

    ``axis`` is that of its owner and hour if its times are places on it, else None. Raises DamagedChunkError.
    """
    chosen = {place: name for place, name in enumerate(columns, start=_FIXED) if wanted is None or name in wanted}
    found = decode(blob, {_TIMES, _INTERVALS, _POLLED, *chosen})
    if not {_TIMES, _INTERVALS, _POLLED} <= found.keys() or not chosen.keys() <= found.keys():
        raise DamagedChunkError("a chunk lacks columns that it should have")
    return HourSamples(
        _times(_whole(found[_TIMES]), axis),
        cast("Sequence[int | None]", found[_INTERVALS]),
        _whole(found[_POLLED]),
        {name: found[place] for place, name in chosen.items()},
    )


def open_samples(
    blob: bytes, columns: Sequence[str], axis: Axis | None, wanted: Collection[str], answering: Collection[str]
) -> OpenSamples:
    """The samples of a chunk as ``decode_samples``; they are answered where any of the metrics ``answering`` is there.

    Raises DamagedChunkError.
    """
    places = {name: place for place, name in enumerate(columns, start=_FIXED) if name in wanted}
    marked = {place for place, name in enumerate(columns, start=_FIXED) if name in answering}
    count, found, answered = open_columns(blob, {_TIMES, _INTERVALS, _POLLED, *places.values()}, marked)
    times, intervals, polled = (found.get(place) for place in range(_FIXED))
    every = range(count)
    if count and (times is None or polled is None):
        raise DamagedChunkError("a chunk lacks columns that it should have")
    if count and axis is not None and count == len(axis):
        ts = axis
    else:
        ts = _times(_whole([None if times is None else times.at(place) for place in every]), axis)
    return OpenSamples(
        ts,
        intervals,
        0 if polled is None else polled.nonzero(count),
        answered,
        {name: found[place] for name, place in places.items() if place in found},
    )


def _times(cells: Sequence[int], axis: Axis | None) -> Sequence[int]:
    """Times from places on an axis, or as they are."""
    if axis is None:
        return cells
    # Most chunks have every time of the axis: the places are a range, whose ends are its bounds.
    ends = (cells[0], cells[-1]) if cells and type(cells) is range else cells
    if cells and not (0 <= min(ends) <= max(ends) < len(axis)):
        raise DamagedChunkError("a chunk names a snapshot that is not there")
    return axis if len(cells) == len(axis) else [axis[place] for place in cells]


def _whole(cells: Cells) -> Sequence[int]:
    if type(cells) is not range and not set(map(type, cells)) <= {int}:
        raise DamagedChunkError("a chunk has a time that is none")
    return cast("Sequence[int]", cells)
