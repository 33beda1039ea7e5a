"""Samples of several hours and ages together: joined, laid over each other, cut, chosen, and in order of time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import merge
from itertools import chain, compress, repeat
from operator import itemgetter
from typing import Any

from mqvitals_agent.store.rows.sealed.chunk import HourSamples, laid_over, merged
from mqvitals_agent.store.rows.sealed.chunk_rows import hour_of_ts
from mqvitals_agent.store.rows.sealed.codec import Cells
from mqvitals_rules.timestamps import HOUR_MS

Row = tuple[Any, ...]
"""A sample of one of several objects: time (ms UTC), the object's number, interval, whether polled, values of metrics."""

NOTHING = HourSamples((), (), (), {})


@dataclass(frozen=True, slots=True)
class Holding:
    """Which samples count: those of the kind's own polls with ``polled``, those that hold ``metric``; all without either."""

    polled: bool = False
    metric: str | None = None

    def of(self, samples: HourSamples) -> HourSamples:
        """Those of the samples that count."""
        if self == EVERY or (self.polled and all(samples.polled)):
            return samples
        polled: Iterable[Any] = samples.polled if self.polled else repeat(0)
        flags = [
            bool(own) or value is not None for own, value in zip(polled, column(samples, self.metric), strict=False)
        ]
        return samples if all(flags) else _each_column(samples, lambda cells: list(compress(cells, flags)))


EVERY = Holding()


def column(samples: HourSamples, metric: str | None) -> Cells:
    """The values of a metric, absent ones where there is none."""
    found = None if metric is None else samples.values.get(metric)
    return _absent(len(samples.ts)) if found is None else found


@lru_cache(maxsize=64)
def _absent(count: int) -> Cells:
    # Thousands of objects lack a metric, and are looked at many times.
    return (None,) * count


def of_rows(rows: Sequence[Sequence[Any]], metrics: Sequence[str], *, before: int = 0) -> HourSamples:
    """Samples of one object, rising in time (time, interval, polled, values of ``metrics``), as columns; ``before`` cells of
    each row stand before the time.
    """
    if not rows:
        return NOTHING
    ts, intervals, polled, *columns = [*zip(*rows, strict=True)][before:]
    return HourSamples(ts, intervals, polled, dict(zip(metrics, columns, strict=True)))


def between(samples: HourSamples, first: int, last: int) -> HourSamples:
    """Those of samples with ``first`` <= ts <= ``last``, ms UTC."""
    return _part(samples, bisect_left(samples.ts, first), bisect_right(samples.ts, last))


def newest(samples: HourSamples, count: int) -> HourSamples:
    """The newest ``count`` of samples."""
    return _part(samples, max(len(samples.ts) - count, 0), len(samples.ts))


def joined(parts: Sequence[HourSamples]) -> HourSamples:
    """Samples of one object that follow each other, as one."""
    if len(parts) < 2:
        return parts[0] if parts else NOTHING

    def values(name: str) -> list[Any]:
        found = ((each.values.get(name), len(each.ts)) for each in parts)
        return _end_to_end(repeat(None, count) if cells is None else cells for cells, count in found)

    return HourSamples(
        _end_to_end(each.ts for each in parts),
        _end_to_end(each.intervals for each in parts),
        _end_to_end(each.polled for each in parts),
        {name: values(name) for name in dict.fromkeys(chain.from_iterable(each.values for each in parts))},
    )


def _end_to_end(columns: Iterable[Iterable[Any]]) -> list[Any]:
    # A list takes in another one in a fraction of the time that a chain of their cells takes.
    found: list[Any] = []
    for cells in columns:
        found += cells
    return found


def overlaid(sealed: Iterable[HourSamples], rows: HourSamples) -> HourSamples:
    """Sealed samples of an object, each within an hour and rising in time, with what is still or again rows over them."""
    parts, place, ts = [], 0, rows.ts
    for samples in sealed:
        hour = hour_of_ts(samples.ts[0])
        begin = bisect_left(ts, hour * HOUR_MS, place)
        end = bisect_left(ts, (hour + 1) * HOUR_MS, begin)
        if begin > place:
            parts.append(_part(rows, place, begin))
        parts.append(merged(samples, _part(rows, begin, end)) if end > begin else samples)
        place = end
    if place < len(ts):
        parts.append(_part(rows, place, len(ts)))
    return joined(parts)


def in_time_order(found: Mapping[int, HourSamples], metrics: Sequence[str], first: int, last: int) -> Iterator[Row]:
    """The samples with ``first`` <= ts <= ``last`` (ms UTC) of objects by number, by time and number."""
    # Most objects of an owner were polled in all of its snapshots: they share their times, and need not be sorted.
    groups: dict[int, list[int]] = {}
    for number in sorted(found):
        groups.setdefault(id(found[number].ts), []).append(number)

    def of_group(numbers: Sequence[int]) -> Iterator[Row]:
        ts = found[numbers[0]].ts
        begin, end = bisect_left(ts, first), bisect_right(ts, last)
        columns = [
            [samples.intervals, samples.polled, *(column(samples, metric) for metric in metrics)]
            for samples in map(found.__getitem__, numbers)
        ]
        for place in range(begin, end):
            at = ts[place]
            for number, cells in zip(numbers, columns, strict=True):
                yield (at, number, *[each[place] for each in cells])

    return merge(*map(of_group, groups.values()))


def rows_at(number: int, samples: HourSamples, metrics: Sequence[str], times: Iterable[int]) -> Iterator[Row]:
    """The samples of an object at some of its times, ms UTC."""
    columns = [samples.intervals, samples.polled, *(column(samples, metric) for metric in metrics)]
    for ts in times:
        place = bisect_left(samples.ts, ts)
        if place < len(samples.ts) and samples.ts[place] == ts:
            yield (ts, number, *[each[place] for each in columns])


def rows_overlaid(sealed: Iterable[Row], rows: Iterable[Row]) -> Iterator[Row]:
    """Sealed samples with rows over them, both by time and number."""
    before: Row | None = None
    # Of two of one time and object that which was sealed comes first.
    for row in merge(sealed, rows, key=itemgetter(0, 1)):
        if before is not None:
            if before[:2] == row[:2]:
                before = (*row[:2], *laid_over(before[2:], row[2:]))
                continue
            yield before
        before = row
    if before is not None:
        yield before


def _part(samples: HourSamples, begin: int, end: int) -> HourSamples:
    if end - begin == len(samples.ts):
        return samples
    return _each_column(samples, lambda cells: cells[begin:end])


def _each_column(samples: HourSamples, change: Any) -> HourSamples:
    return HourSamples(
        change(samples.ts),
        change(samples.intervals),
        change(samples.polled),
        {name: change(cells) for name, cells in samples.values.items()},
    )
