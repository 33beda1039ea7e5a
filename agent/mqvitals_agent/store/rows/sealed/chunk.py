"""The samples of an object from one source in one hour, as columns: merged, and as a chunk and back.

A poll's time is that of a snapshot of its owner. The times of all snapshots of an owner in an hour are its axis, which
is kept once; a chunk then holds places on the axis, most often all of them, which takes no bytes. Samples with other
times, those of records, hold their times themselves.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple, cast

from mqvitals_agent.store.rows.sealed.codec import (
    Cells,
    DamagedChunkError,
    Number,
    OpenColumn,
    decode,
    encode,
    open_columns,
)

HOUR_MS: Final = 3_600_000

Axis = Sequence[int]
"""Times of snapshots, ms UTC, rising."""

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
    """Both together. Of two samples of one time the newer's values hold where it has any, the older's else."""
    if older.ts and newer.ts and older.ts[-1] < newer.ts[0]:
        return _followed(older, newer)
    ts = sorted({*older.ts, *newer.ts})
    of_older, of_newer = ({at: place for place, at in enumerate(each.ts)} for each in (older, newer))
    # For each sample where it is in the older and in the newer, None: nowhere.
    places = [(of_older.get(at), of_newer.get(at)) for at in ts]

    def together(old: Sequence[Number | None] | None, new: Sequence[Number | None] | None) -> list[Number | None]:
        found: list[Number | None] = []
        for here, there in places:
            value = None if new is None or there is None else new[there]
            found.append(old[here] if value is None and old is not None and here is not None else value)
        return found

    names = dict.fromkeys(chain(older.values, newer.values))
    polled = [
        int(any((here is not None and older.polled[here], there is not None and newer.polled[there])))
        for here, there in places
    ]
    return HourSamples(
        ts,
        cast("list[int | None]", together(older.intervals, newer.intervals)),
        polled,
        {name: together(older.values.get(name), newer.values.get(name)) for name in names},
    )


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
    if cells and not (0 <= min(cells) <= max(cells) < len(axis)):
        raise DamagedChunkError("a chunk names a snapshot that is not there")
    return axis if len(cells) == len(axis) else [axis[place] for place in cells]


def _whole(cells: Cells) -> Sequence[int]:
    if not set(map(type, cells)) <= {int}:
        raise DamagedChunkError("a chunk has a time that is none")
    return cast("Sequence[int]", cells)
