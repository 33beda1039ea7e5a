"""The past of single objects as it was read for one moment: from one step through time to the next most of it is the same.

What is kept covers all moments from a first to a last one. Of another span only what lies outside is read; a span apart
from it takes its place. Polls of the past do not change: who uses this forgets it when a clock was set back.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from mqvitals_agent.store.result import Series
from mqvitals_agent.store.rows.samples.sample import PollColumns
from mqvitals_rules.snapshot import ObjectName, Source

_MOST_KEPT: Final = 1_000_000
"""Values that are kept; the page of a queue needs some ten thousand."""

Columns = Mapping[ObjectName, PollColumns]
ReadSeries = Callable[[int, int], Series]
ReadColumns = Callable[[int, int], PollColumns]
ReadAll = Callable[[int, int], Columns]
"""They read from one moment to another, ms UTC, both included."""

_Key = tuple[ObjectName, tuple[str, ...]]
_KeyOfAll = tuple[str, str, tuple[str, ...]]
_ts = itemgetter(0)


@dataclass(frozen=True, slots=True)
class _Kept:
    """From when to when, and the values in it. ``before``: since when the poll before the first was looked for."""

    first: int
    last: int
    values: int
    series: Series | None = None
    columns: PollColumns | None = None
    before: int = 0

    def touches(self, first: int, last: int) -> bool:
        return _touch(self.first, self.last, first, last)


@dataclass(frozen=True, slots=True)
class _KeptOfAll:
    """Of objects that were read together: from when to when, and the columns of each; ``before`` as of ``_Kept``."""

    first: int
    last: int
    before: int
    columns: Columns

    def of(self, name: ObjectName) -> _Kept:
        return _Kept(self.first, self.last, 0, columns=self.columns[name], before=self.before)


class KeptPast:
    """Series and columns of polls, by object and metrics."""

    def __init__(self) -> None:
        self._series: dict[_Key, _Kept] = {}
        self._columns: dict[_Key, _Kept] = {}
        self._of_all: dict[_KeyOfAll, _KeptOfAll] = {}
        self._values = 0

    def series(self, name: ObjectName, metric: str, first: int, last: int, read: ReadSeries) -> Series:
        """The polls of a metric from ``first`` to ``last``, of which ``read`` reads what is not kept. Nothing is kept of
        another source than polls: which source it is depends on the whole span.
        """
        key = name, (metric,)
        kept = self._series.get(key)
        found = self._longer_series(kept, first, last, read) if kept is not None else None
        if found is None:
            found = read(first, last)
        if found.source is Source.POLL and first <= last:
            self._keep(self._series, key, _Kept(first, last, 2 * len(found.points), series=found))
        return found

    def columns(
        self, name: ObjectName, metrics: Sequence[str], first: int, last: int, before: int, read: ReadColumns
    ) -> PollColumns:
        """The polls from ``first`` to ``last`` as ``StoreReader.poll_columns`` gives them for ``before``; ``read`` reads, for the
        same ``before``, what is not kept of them.
        """
        key = name, tuple(metrics)
        kept = self._columns.get(key)
        found = self._longer_columns(kept, metrics, first, last, before, read) if kept is not None else None
        if found is None:
            found = read(first, last)
        if first <= last:
            values = (2 + len(metrics)) * len(found.ts)
            self._keep(self._columns, key, _Kept(first, last, values, columns=found, before=before))
        return found

    def has_of_all(self, owner: str, kind: str, metrics: Sequence[str], first: int, last: int) -> bool:
        """Whether something of ``columns_of_all`` from ``first`` to ``last`` is kept."""
        kept = self._of_all.get((owner, kind, tuple(metrics)))
        return kept is not None and _touch(kept.first, kept.last, first, last)

    def columns_of_all(
        self,
        owner: str,
        kind: str,
        metrics: Sequence[str],
        first: int,
        last: int,
        before: int,
        *,
        most: int,
        read: ReadAll,
    ) -> Columns:
        """The polls of the objects of a kind of an owner as ``StoreReader.poll_columns_of_all`` gives them for ``before`` and
        ``most``; ``read`` reads, for the same two, what is not kept of them.

        An object of which one of the parts is not known is left out.
        """
        key = owner, kind, tuple(metrics)
        kept = self._of_all.get(key)
        found: Columns = {}
        if kept is not None and _touch(kept.first, kept.last, first, last):
            found = self._longer_of_all(kept, metrics, first, last, before, read)
        polls = sum(len(each.ts) for each in found.values())
        if polls > most or kept is None or len(found) * 2 <= len(kept.columns):
            # Nothing is kept, or of most objects a part was missing, which would be read for each alone.
            found = read(first, last)
            polls = sum(len(each.ts) for each in found.values())
        self._of_all.pop(key, None)
        if first <= last and (2 + len(metrics)) * polls <= _MOST_KEPT:
            self._of_all[key] = _KeptOfAll(first, last, before, found)
        return found

    def _longer_of_all(
        self, kept: _KeptOfAll, metrics: Sequence[str], first: int, last: int, before: int, read: ReadAll
    ) -> Columns:
        parts: dict[tuple[int, int], Columns] = {}
        found = {}
        for name in kept.columns:

            def part(begin: int, end: int, name: ObjectName = name) -> PollColumns:
                if (begin, end) not in parts:
                    parts[begin, end] = read(begin, end)
                return parts[begin, end][name]

            with suppress(KeyError):
                longer = self._longer_columns(kept.of(name), metrics, first, last, before, part)
                if longer is not None and longer.before is not None:
                    found[name] = longer
        return found

    @staticmethod
    def _longer_series(kept: _Kept, first: int, last: int, read: ReadSeries) -> Series | None:
        found = kept.series
        if found is None or not kept.touches(first, last):
            return None
        begin, end = bisect_left(found.points, first, key=_ts), bisect_right(found.points, last, key=_ts)
        points, lengths, kept_from = found.points[begin:end], found.intervals[begin:end], found.kept_from
        if first < kept.first:
            earlier = read(first, kept.first - 1)
            if earlier.source is not Source.POLL:
                return None
            points, lengths, kept_from = earlier.points + points, earlier.intervals + lengths, earlier.kept_from
        if last > kept.last:
            later = read(kept.last + 1, last)
            if later.source is not Source.POLL:
                return None
            points, lengths = points + later.points, lengths + later.intervals
        if kept_from is not None and first >= kept_from:
            kept_from = None
        return Series(found.object, found.metric, found.unit, points, lengths, Source.POLL, kept_from)

    @staticmethod
    def _longer_columns(
        kept: _Kept, metrics: Sequence[str], first: int, last: int, before: int, read: ReadColumns
    ) -> PollColumns | None:
        found = kept.columns
        if found is None or not kept.touches(first, last):
            return None
        begin, end = bisect_left(found.ts, first), bisect_right(found.ts, last)
        parts = [_cut(found, begin, end)]
        at = found.ts[begin - 1] if begin else found.before
        if first < kept.first:
            parts.insert(0, read(first, kept.first - 1))
            at = parts[0].before
        elif at is None and before < kept.before:
            return None
        if last > kept.last:
            parts.append(read(kept.last + 1, last))
        return _joined(parts, metrics, None if at is None or at < before else at)

    def _keep(self, where: dict[_Key, _Kept], key: _Key, kept: _Kept) -> None:
        replaced = where.pop(key, None)
        self._values += kept.values - (0 if replaced is None else replaced.values)
        if self._values > _MOST_KEPT:
            self._series.clear()
            self._columns.clear()
            self._values = kept.values
        where[key] = kept


def _touch(kept_first: int, kept_last: int, first: int, last: int) -> bool:
    """Whether nothing lies between a span that is kept and another one."""
    return first <= last and first <= kept_last + 1 and last >= kept_first - 1


def _cut(columns: PollColumns, begin: int, end: int) -> PollColumns:
    values = {metric: column[begin:end] for metric, column in columns.values.items()}
    return PollColumns(columns.ts[begin:end], columns.intervals[begin:end], values, None)


def _joined(parts: Sequence[PollColumns], metrics: Sequence[str], before: int | None) -> PollColumns:
    ts, intervals = array("q"), array("q")
    values: Mapping[str, array[float]] = {metric: array("d") for metric in metrics}
    for part in parts:
        ts += part.ts
        intervals += part.intervals
        for metric, column in values.items():
            column += part.values[metric]
    return PollColumns(ts, intervals, values, before)
