"""History as of a past moment: the newest sample of each of thousands of objects, and what holds for the next moment too.

Samples of hours that are sealed are in chunks, with what rows there are of the same time laid over them; those of later
hours are rows.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from typing import Any, Final, NamedTuple

from mqvitals_agent.store.file.integrity import FIRST_MOMENT
from mqvitals_agent.store.rows.samples.moment_rows import MomentRows
from mqvitals_agent.store.rows.samples.moment_sealed import MomentSample, OpenFor, OpenHours, SampleCondition
from mqvitals_agent.store.rows.samples.moment_values import HistoryRow
from mqvitals_agent.store.rows.sealed.chunk import OpenSamples
from mqvitals_agent.store.rows.sealed.chunk_rows import hour_of_ts
from mqvitals_agent.store.rows.tables import POLL, KindTables, moment
from mqvitals_rules.timestamps import HOUR_MS
from mqvitals_rules.vocabulary.metric import Kind, Value

LOOKBACK_MS: Final = 6 * HOUR_MS
"""A metric has no value at a moment when it was last reported longer than this before."""

POLLED: Final = SampleCondition(polled=True)
ANY: Final = SampleCondition()

_READ_WHOLE: Final = 2
"""Snapshots that are read for all objects before the rest is looked for one by one."""
_FEW: Final = 64
"""So many objects are looked for one by one at once."""
_LOOKED_THROUGH: Final = 40
"""Snapshots that are looked through for one in which the objects were polled."""


class LookedBack(NamedTuple):
    """The newest samples as of a moment (ms UTC) by number, and the objects of which there was none."""

    at: int
    rows: Mapping[int, HistoryRow]
    missing: frozenset[int]


Looked = dict[tuple[SampleCondition | int, tuple[str, ...]], LookedBack]
"""By condition and metrics, or of one object looked for alone by its number and metrics."""


class MomentHistory:
    """Reads samples of one kind as of a moment. All that it is asked is of one moment of the store."""

    def __init__(
        self,
        kind: Kind,
        tables: KindTables,
        kept: frozenset[str],
        at: int,
        metrics: Collection[str],
        hours: OpenHours | None = None,
    ) -> None:
        """``at`` is the moment, ms UTC; ``kept`` are the columns that the table has, ``metrics`` those to be read.

        ``hours`` are sealed ones that other moments opened, and is added to.
        """
        self.kind = kind
        self.tables = tables
        self.at = at
        self._columns = tuple(name for name in tables.numbers if name in kept)
        self._numbers = tuple(name for name in self._columns if name in metrics)
        own = tuple(
            metric.name
            for metric in kind.metrics
            if metric.command == kind.poll_command and metric.name in frozenset(self._columns)
        )
        self._answering = own or self._columns
        self.answered = SampleCondition(polled=True, any_of=self._answering, answers=True)
        self._rows = MomentRows(tables, SampleCondition(any_of=self._answering, answers=True))
        self._hours = OpenHours() if hours is None else hours

    @staticmethod
    def are_few(numbers: Collection[object]) -> bool:
        """Whether so many objects are looked for one by one."""
        return len(numbers) <= _FEW

    def _look_back(
        self,
        connection: sqlite3.Connection,
        owner: str,
        numbers: Collection[int],
        condition: SampleCondition,
        metrics: Sequence[str],
        looked: Looked | None = None,
    ) -> dict[int, HistoryRow]:
        """The newest sample of each object that fulfils ``condition``.

        Most objects are in the newest snapshots, which are read for all of them. What was found as of another moment holds
        where nothing was polled between them. The rest is looked for in rows, and then in sealed hours, the newest first.
        ``looked`` takes what was found.
        """
        found: dict[int, HistoryRow] = {}
        rest = set(numbers) if self._columns else set()
        newest = self._newest_snapshots(connection, owner) if len(rest) > _FEW else []
        for ts in newest:
            if not rest:
                break
            found.update(self._samples_at(connection, owner, ts, rest, condition, metrics))
            rest.difference_update(found)
        key = condition, tuple(metrics)
        before = None if looked is None or not rest else looked.get(key)
        if before is not None and self._holds(connection, owner, before.at, newest):
            # What is deleted since is not there any more.
            first = max(self._first_snapshot(connection, owner), self.at - LOOKBACK_MS)
            found.update(
                (number, row)
                for number in rest
                if (row := before.rows.get(number)) is not None and first <= row.ts <= self.at
            )
            rest.difference_update(found)
        else:
            before = None
        missing = (frozenset[int](), 0) if before is None else (before.missing, before.at - LOOKBACK_MS)
        if rest:
            first = max(self.at - LOOKBACK_MS, self._sealed_until(connection))
            if first <= self.at:
                times = self._rows.newest(connection, owner, rest, condition, first, self.at, missing)
                found.update(self._at_times(connection, owner, times, condition, metrics))
                rest.difference_update(found)
        for hour in self._sealed_hours(connection) if rest else ():
            times = self._newest_in_hour(connection, owner, hour, rest, condition, missing)
            found.update(self._at_times(connection, owner, times, condition, metrics))
            rest.difference_update(found)
            if not rest:
                break
        if looked is not None and numbers:
            looked[key] = LookedBack(self.at, found, frozenset(each for each in numbers if each not in found))
        return found

    def _holds(self, connection: sqlite3.Connection, owner: str, at: int, newest: Sequence[int]) -> bool:
        """Whether samples that were the newest as of ``at`` are those of this moment, as far as they are from before it.

        ``newest`` are the newest snapshots by then, which are looked through already.
        """
        if at >= self.at or (newest and newest[-1] <= at):
            return True
        row = connection.execute(
            "SELECT 1 FROM snapshot WHERE owner = ? AND ts > ? AND ts < ? LIMIT 1",
            (owner, at, newest[-1] if newest else self.at + 1),
        ).fetchone()
        return row is None

    def leaders(
        self,
        connection: sqlite3.Connection,
        owner: str,
        metric: str,
        count: int,
        numbers: Callable[[], Collection[int]],
    ) -> frozenset[int]:
        """The numbers of some objects of ``owner``, among them the ``count`` with the greatest values above 0 of a
        metric; ``numbers`` gives those of all of them.

        They are looked for in the newest two snapshots in which the kind was polled: an object of a slower probe is in
        the second one. Raises sqlite3.Error.
        """
        found: set[int] = set()
        looked = 0
        if metric not in self._columns:
            return frozenset()
        for ts in self._newest_snapshots(connection, owner, _LOOKED_THROUGH):
            if ts >= self._sealed_until(connection):
                rows = self._rows.greatest(connection, owner, ts, metric, count)
            else:
                rows = self._greatest(connection, owner, ts, metric, count, numbers())
            found.update(number for number, value in rows if value is not None and value > 0)
            looked += bool(rows)
            if looked == _READ_WHOLE:
                break
        return frozenset(found)

    def _greatest(
        self,
        connection: sqlite3.Connection,
        owner: str,
        ts: int,
        metric: str,
        count: int,
        numbers: Collection[int],
    ) -> list[tuple[int, Any]]:
        """As of rows, of an hour that is sealed."""
        if not numbers:
            return []
        values: list[tuple[int, Any]]
        if self._rows.is_any(connection, ts, ts):
            found = self._samples_at(connection, owner, ts, numbers, POLLED, (metric,))
            values = [(number, sample.cells[0]) for number, sample in found.items()]
        else:
            opened = self._opened(connection, owner, hour_of_ts(ts), numbers, (metric,))
            values = [
                (number, None if (column := samples.values.get(metric)) is None else column.at(place))
                for number, samples, place in _having(opened, numbers, ts)
                if samples.polled >> place & 1
            ]
        return nlargest(count, values, key=lambda each: -1 if each[1] is None else each[1])

    def _newest_snapshots(self, connection: sqlite3.Connection, owner: str, count: int = _READ_WHOLE) -> list[int]:
        rows = connection.execute(
            "SELECT ts FROM snapshot WHERE owner = ? AND ts BETWEEN ? AND ? ORDER BY ts DESC LIMIT ?",
            (owner, FIRST_MOMENT, self.at, count),
        )
        return [moment(ts) for (ts,) in rows]

    def _first_snapshot(self, connection: sqlite3.Connection, owner: str) -> int:
        row = connection.execute(
            "SELECT min(ts) FROM snapshot WHERE owner = ? AND ts >= ?", (owner, FIRST_MOMENT)
        ).fetchone()
        return self.at if row[0] is None else moment(row[0])

    def _each_alone(
        self, connection: sqlite3.Connection, owner: str, number: int, names: tuple[str, ...], looked: Looked | None
    ) -> dict[tuple[int, str], tuple[int, Value]]:
        """Number and metric -> when an object reported it last and its value, as far as it did."""
        before = None if looked is None else looked.get((number, names))
        until = self.at
        if before is not None and not before.rows and self._holds(connection, owner, before.at, ()):
            # There was none: only what had ended by the time looked at before is new.
            until = min(until, before.at - LOOKBACK_MS)
        first = max(self.at - LOOKBACK_MS, self._sealed_until(connection))
        times: dict[str, int] = {}
        if first <= until:
            times.update(self._rows.newest_each(connection, owner, number, names, first, until))
        for hour in self._sealed_hours(connection):
            rest = [name for name in names if name not in times]
            begin, end = max(hour * HOUR_MS, self.at - LOOKBACK_MS), min((hour + 1) * HOUR_MS - 1, until)
            if not rest or end < begin:
                continue
            newest: Mapping[str, int] = {}
            if self._rows.is_any(connection, begin, end):
                newest = self._rows.newest_each(connection, owner, number, rest, begin, end)
            samples = self._opened(connection, owner, hour, (number,), rest).get(number)
            for name in rest:
                condition = SampleCondition(any_of=(name,))
                sealed = None if samples is None else condition.newest(samples, end)
                ends = [ts for ts in (sealed, newest.get(name)) if ts is not None and ts >= begin]
                if ends:
                    times[name] = max(ends)
        last: dict[int, HistoryRow] = {}
        found: dict[tuple[int, str], tuple[int, Value]] = {}
        for name, ts in times.items():
            last.update(self._samples_at(connection, owner, ts, (number,), ANY, names))
            found[number, name] = ts, last[number].cells[names.index(name)]
        if looked is not None:
            looked[number, names] = LookedBack(self.at, last, frozenset())
        return found

    # -- hours that are sealed ---------------------------------------------------------------------------------------

    def _sealed_until(self, connection: sqlite3.Connection) -> int:
        """From when on there are rows alone, ms UTC."""
        last = self._hours.last(connection)
        return FIRST_MOMENT if last is None else (last + 1) * HOUR_MS

    def _sealed_hours(self, connection: sqlite3.Connection) -> range:
        """The hours looked back to that may be sealed, the newest first."""
        last = self._hours.last(connection)
        earliest = hour_of_ts(max(self.at - LOOKBACK_MS, FIRST_MOMENT))
        return range(-1, -1) if last is None else range(min(last, hour_of_ts(self.at)), earliest - 1, -1)

    def _opened(
        self,
        connection: sqlite3.Connection,
        owner: str,
        hour: int,
        numbers: Collection[int],
        metrics: Sequence[str],
        source: int = POLL,
    ) -> Mapping[int, OpenSamples]:
        wanted = OpenFor(self.kind.name, owner, source, frozenset(self._answering))
        return self._hours.of(connection, wanted, hour, numbers, frozenset(self._numbers).union(metrics))

    def _newest_in_hour(
        self,
        connection: sqlite3.Connection,
        owner: str,
        hour: int,
        numbers: Collection[int],
        condition: SampleCondition,
        missing: tuple[Collection[int], int],
    ) -> dict[int, int]:
        """When the newest samples of an hour are from that fulfil the condition, by number; ``missing`` as of rows."""
        found: dict[int, int] = {}
        begin, end = max(hour * HOUR_MS, self.at - LOOKBACK_MS), min((hour + 1) * HOUR_MS - 1, self.at)
        without, without_after = missing
        for those, until in (
            ([number for number in numbers if number not in without], end),
            ([number for number in numbers if number in without], min(end, without_after)),
        ):
            if not those or until < begin:
                continue
            opened = self._opened(connection, owner, hour, those, condition.any_of or ())
            for number in those:
                samples = opened.get(number)
                ts = None if samples is None else condition.newest(samples, until)
                if ts is not None and ts >= begin:
                    found[number] = ts
            if self._rows.is_any(connection, begin, until):
                rows = self._rows.newest(connection, owner, those, condition, begin, until, ((), 0))
                found.update((number, ts) for number, ts in rows.items() if ts > found.get(number, 0))
        return found

    def _at_times(
        self,
        connection: sqlite3.Connection,
        owner: str,
        times: Mapping[int, int],
        condition: SampleCondition,
        metrics: Sequence[str],
    ) -> dict[int, HistoryRow]:
        """Samples of objects at the time of each, by number."""
        by_time: dict[int, set[int]] = {}
        for number, ts in times.items():
            by_time.setdefault(ts, set()).add(number)
        found: dict[int, HistoryRow] = {}
        for ts, those in by_time.items():
            found.update(self._samples_at(connection, owner, ts, those, condition, metrics))
        return found

    def _samples_at(
        self,
        connection: sqlite3.Connection,
        owner: str,
        ts: int,
        numbers: Collection[int],
        condition: SampleCondition,
        metrics: Sequence[str],
        source: int = POLL,
    ) -> dict[int, HistoryRow]:
        """The samples of a time of those objects of which they fulfil the condition, by number."""
        of_one = connection, ts, numbers, condition, metrics, source
        if ts >= self._sealed_until(connection):
            return self._rows.counting(*of_one)
        rows = self._rows.at(*of_one)
        names = (*metrics, *(condition.any_of or ()))
        opened = self._opened(connection, owner, hour_of_ts(ts), numbers, names, source)
        found: dict[int, HistoryRow] = {}
        for number, samples, place in _having(opened, numbers, ts):
            row = _laid_over(_sample(samples, place, condition, metrics), rows.pop(number, None))
            if condition.counts(row):
                found[number] = HistoryRow(ts, row.interval_ms, row.answered, row.cells)
        for number, row in rows.items():
            if condition.counts(row):
                found[number] = HistoryRow(ts, row.interval_ms, row.answered, row.cells)
        return found


def _having(
    opened: Mapping[int, OpenSamples], numbers: Iterable[int], ts: int
) -> Iterator[tuple[int, OpenSamples, int]]:
    """Those of the objects that have a sample at ``ts``, ms UTC, with their samples and its place in them."""
    place, times = 0, None
    for number in numbers:
        samples = opened.get(number)
        if samples is None:
            continue
        if samples.ts is not times:
            # Objects that were polled together share their times.
            times = samples.ts
            place = bisect_left(times, ts)
        if place < len(times) and times[place] == ts:
            yield number, samples, place


def _sample(samples: OpenSamples, place: int, condition: SampleCondition, metrics: Sequence[str]) -> MomentSample:
    interval = None if samples.intervals is None else samples.intervals.at(place)
    columns = map(samples.values.get, metrics)
    return MomentSample(
        None if interval is None else int(interval),
        bool(samples.polled >> place & 1),
        bool(samples.answered >> place & 1),
        bool(condition.holding(samples) >> place & 1),
        [None if column is None else column.at(place) for column in columns],
    )


def _laid_over(sealed: MomentSample, row: MomentSample | None) -> MomentSample:
    """A sealed sample with the row of the same time over it, if there is one."""
    if row is None:
        return sealed
    intervals = [each for each in (sealed.interval_ms, row.interval_ms) if each is not None]
    return MomentSample(
        max(intervals, default=None),
        sealed.polled or row.polled,
        sealed.answered or row.answered,
        sealed.holds_any or row.holds_any,
        [old if new is None else new for old, new in zip(sealed.cells, row.cells, strict=True)],
    )
