"""The past of objects: series, samples, snapshots and records."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from mqvitals_agent.store.error import UnknownNameError
from mqvitals_agent.store.reading.base import QueryBase
from mqvitals_agent.store.result import ObjectSamples, Series
from mqvitals_agent.store.rows.samples.history import FIRST, LAST, HistoryQuery
from mqvitals_agent.store.rows.samples.objects import (
    count_snapshots,
    objects_with_records,
    read_polled_cells,
    read_snapshot_span,
    read_snapshot_times,
)
from mqvitals_agent.store.rows.samples.sample import Poll, PollColumns, Sample, SampleColumns
from mqvitals_agent.store.rows.tables import text
from mqvitals_rules.history import covering, newest
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Metric

_AT_ONCE: Final = 400_000
"""Samples that are read at once, of some objects."""
_SPARE_NUMBERS: Final = 8
"""Objects whose numbers are this close are read as one range, with what lies between them."""


def _ranges(numbers: Sequence[int], most: int) -> Iterator[Sequence[int]]:
    """Numbers in order, in parts of at most ``most`` that lie close together."""
    part: list[int] = []
    for number in numbers:
        if part and (len(part) == most or number - part[-1] > _SPARE_NUMBERS):
            yield part
            part = []
        part.append(number)
    if part:
        yield part


def _series_of(name: ObjectName, known: Mapping[str, Metric], found: ObjectSamples, first: int) -> dict[str, Series]:
    """The series of metrics, each of the source that covers the time from ``first`` (ms UTC) on best."""
    series = {}
    for metric, each in known.items():
        by_source = {source: rows.get(metric, SampleColumns()) for source, rows in found.by_source.items()}
        source, _ = covering(by_source, first - 1)
        samples = by_source[source]
        points = tuple(zip(samples.ts, samples.values, strict=True))
        intervals = tuple(samples.intervals)
        series[metric] = Series(
            name, metric, each.unit, points, intervals, source, found.kept_from, found.damaged, found.lacking
        )
    return series


def _by_source(
    connection: sqlite3.Connection, history: HistoryQuery, name: ObjectName, metric: str, **selection: Any
) -> dict[Source, SampleColumns]:
    """The samples of each source, as ``HistoryQuery.samples`` selects them."""
    sources = (Source.POLL, *history.sources(connection, name))
    return {source: history.samples(connection, name, metric, source, **selection) for source in sources}


class HistoryQueries(QueryBase):
    """The past of objects: series, samples, snapshots and records."""

    def trend(self, name: ObjectName, metric: str, since: int | None = None, until: int | None = None) -> Series:
        """A number or state over time: one point a poll, from ``since`` to ``until`` (ms UTC, both included).

        Where records hold it, and polls do not or cover less of this time, one point a record.

        Raises UnknownNameError for an unknown object or metric, or a text, which has no history.
        """
        known = self._metric(name.kind, metric)
        if not known.in_history:
            raise UnknownNameError(f"{name.kind}.{metric} is a text: only numbers and states have a history")
        first, last = FIRST if since is None else since, LAST if until is None else until
        with self._query() as connection:
            self._number(connection, name)
            history = self._history(name.kind)
            by_source = {
                source: {metric: samples}
                for source, samples in _by_source(connection, history, name, metric, first=first, last=last).items()
            }
            kept_from = self._deleted(connection, name, first)
            found = ObjectSamples(by_source, kept_from, history.damaged(connection, name))
        found = self._completed({name: found}, (metric,), first, last)[name]
        return _series_of(name, {metric: known}, found, first)[metric]

    def trends(
        self, name: ObjectName, metrics: Sequence[str], since: int | None = None, until: int | None = None
    ) -> dict[str, Series]:
        """``trend`` of several metrics of an object, by metric, each row of the history read once.

        Raises as ``trend`` does.
        """
        known = {metric: self._metric(name.kind, metric) for metric in metrics}
        texts = [metric for metric, found in known.items() if not found.in_history]
        if texts:
            raise UnknownNameError(f"{name.kind}.{texts[0]} is a text: only numbers and states have a history")
        first, last = FIRST if since is None else since, LAST if until is None else until
        with self._query() as connection:
            self._number(connection, name)
            history = self._history(name.kind)
            by_source = {
                source: history.several(connection, name, tuple(known), source, first=first, last=last)
                for source in history.sources(connection, name)
            }
            # A metric of records alone has no value in any poll: where there is a record, thousands of polls are not
            # read.
            polled = [
                metric
                for metric, each in known.items()
                if not each.needs_smf or not any(rows[metric] for rows in by_source.values())
            ]
            nothing = {metric: SampleColumns() for metric in known}
            polls = history.several(connection, name, polled, first=first, last=last)
            kept_from = self._deleted(connection, name, first)
            every = {Source.POLL: nothing | polls, **by_source}
            found = ObjectSamples(every, kept_from, history.damaged(connection, name))
        return _series_of(name, known, self._completed({name: found}, tuple(known), first, last)[name], first)

    def trends_of(
        self,
        names: Collection[ObjectName],
        metrics: Sequence[str],
        since: int | None = None,
        until: int | None = None,
    ) -> Iterator[tuple[ObjectName, dict[str, Series]]]:
        """``trends`` of many objects of one kind, by owner: each row of the history is read once, some objects at a time,
        so that a long time of thousands of objects needs little memory.

        Raises as ``trends`` does, for objects that are unknown before the first result, and ValueError for several kinds.
        """
        if not names:
            return
        (kind,) = {name.kind for name in names}
        known = {metric: self._metric(kind, metric) for metric in metrics}
        first, last = FIRST if since is None else since, LAST if until is None else until
        with self._query() as connection:
            numbers = {name: self._number(connection, name) for name in names}
            recorded = objects_with_records(connection, kind)
            polls = {owner: count_snapshots(connection, owner, first, last) for owner in {each.owner for each in names}}
        for owner, count in sorted(polls.items()):
            of_owner = {number: name for name, number in numbers.items() if name.owner == owner}
            for name in sorted(of_owner[number] for number in recorded & of_owner.keys()):
                yield name, self.trends(name, metrics, since, until)
            for part in _ranges(sorted(of_owner.keys() - recorded), max(_AT_ONCE // max(count * len(metrics), 1), 1)):
                with self._query() as connection:
                    ends = part[0], part[-1]
                    history = self._history(kind)
                    found = history.of_range(connection, owner, ends, metrics, first=first, last=last)
                    of_part = {
                        of_owner[number]: ObjectSamples(
                            {Source.POLL: found.get(number, {})},
                            self._deleted(connection, of_owner[number], first),
                            history.damaged(connection, of_owner[number]),
                        )
                        for number in part
                    }
                completed = self._completed(of_part, tuple(known), first, last)
                for name in of_part:
                    yield name, _series_of(name, known, completed[name], first)

    def _completed(
        self, found: Mapping[ObjectName, ObjectSamples], _metrics: Sequence[str], _first: int, _last: int
    ) -> Mapping[ObjectName, ObjectSamples]:
        """What was read of objects of one owner and kind with ``first`` <= ts <= ``last``, completed by what else has samples of
        them. It is called outside of queries.
        """
        return found

    def samples_from(self, since: int, _until: int) -> int:
        """From when on samples tell of a time from ``since`` to ``until``, ms UTC."""
        return max(self.meta().kept_from or 0, since)

    def samples(
        self,
        name: ObjectName,
        metric: str,
        source: Source = Source.POLL,
        *,
        first: int = FIRST,
        last: int = LAST,
        newest: int | None = None,
    ) -> list[Sample]:
        """The polls of an object with ``first`` <= ts <= ``last``, or the ``newest`` of them; oldest first.

        Of another ``source``, the records that ended then and hold the metric. None for an object that the store does
        not know. Raises UnknownNameError for an unknown metric.
        """
        self._metric(name.kind, metric)
        with self._query() as connection:
            found = self._history(name.kind).samples(
                connection, name, metric, source, first=first, last=last, polled_only=True, newest=newest
            )
            return list(found)

    def covering_samples(
        self, name: ObjectName, metric: str, *, first: int = FIRST, last: int = LAST, newest_of: int | None = None
    ) -> tuple[Source, Sequence[Sample]]:
        """``samples`` of the one source that covers this time best, and which it is.

        Raises UnknownNameError for an unknown metric.
        """
        self._metric(name.kind, metric)
        with self._query() as connection:
            found = _by_source(
                connection,
                self._history(name.kind),
                name,
                metric,
                first=first,
                last=last,
                newest=newest_of,
                polled_only=True,
            )
        return covering(found, first - 1) if newest_of is None else newest(found)

    def poll_columns(
        self, name: ObjectName, metrics: Sequence[str], *, first: int, until: int = LAST, before: int = FIRST
    ) -> PollColumns:
        """The polls of an object with ``first`` <= ts <= ``until`` (ms UTC), several metrics in one go: far cheaper than one by
        one. The poll before the first of them is looked for no earlier than ``before``.

        None for an object that the store does not know. Raises UnknownNameError for an unknown metric.
        """
        for metric in metrics:
            self._metric(name.kind, metric)
        with self._query() as connection:
            return self._history(name.kind).columns(connection, name, metrics, first=first, last=until, before=before)

    def poll_columns_of_all(
        self,
        owner: str,
        kind: str,
        metrics: Sequence[str],
        *,
        first: int,
        until: int = LAST,
        before: int = FIRST,
        most: int,
    ) -> Mapping[ObjectName, PollColumns]:
        """``poll_columns`` of the objects of a kind of an owner, as far as it has them, in one go; empty where these are more
        than ``most`` polls. One by one hundreds of objects take twice as long.

        An object may be left out. Raises UnknownNameError for an unknown metric.
        """
        for metric in metrics:
            self._metric(kind, metric)
        with self._query() as connection:
            return self._history(kind).columns_of_all(
                connection, owner, metrics, first=first, last=until, before=before, most=most
            )

    def has_columns_of_all(self, owner: str, kind: str, metrics: Sequence[str], first: int) -> bool:  # noqa: ARG002
        """Whether what ``poll_columns_of_all`` gives from ``first`` (ms UTC) on was read already for the most part."""
        return False

    def record_sources(self, name: ObjectName) -> tuple[Source, ...]:
        """The sources, other than polls, that have samples of an object."""
        with self._query() as connection:
            return self._history(name.kind).sources(connection, name)

    def recorded_objects(self, kind: str) -> frozenset[ObjectName]:
        """The objects of a kind of which there are records. Raises UnknownNameError."""
        self._kind(kind)
        with self._query() as connection:
            numbers = objects_with_records(connection, kind)
            if not numbers:
                return frozenset()
            rows = connection.execute("SELECT id, owner, name FROM object WHERE kind = ?", (kind,))
            return frozenset(
                ObjectName(text(owner), kind, text(name)) for number, owner, name in rows if number in numbers
            )

    def snapshot_times(self, owner: str, newest: int) -> list[int]:
        """When the ``newest`` snapshots of an owner were taken, oldest first."""
        with self._query() as connection:
            return read_snapshot_times(connection, owner, newest)

    def snapshot_span(self, owner: str, since: int, until: int) -> list[int]:
        """When the snapshots of an owner from ``since`` to ``until`` (ms UTC) were taken, oldest first."""
        with self._query() as connection:
            return read_snapshot_span(connection, owner, since, until)

    def polled_cells(self, since: int, until: int, step_ms: int) -> Mapping[str, frozenset[int]]:
        """By owner, in which parts of ``step_ms`` from ``since`` to ``until`` (ms UTC) a snapshot was taken; the first
        is 0.
        """
        with self._query() as connection:
            return read_polled_cells(connection, since, until, step_ms)

    def polls(self, kind: str, metrics: Sequence[str], first: int, *, others: bool = False) -> Iterator[Poll]:
        """Every poll of every object of a kind with ts >= ``first``, in time order; with ``others`` also what only other
        answers, as of definitions, told of an object. Raises UnknownNameError.
        """
        for metric in metrics:
            self._metric(kind, metric)
        with self._query() as connection:
            yield from self._history(kind).polls(connection, metrics, first, others=others)

    def polls_near(self, kind: str, metrics: Sequence[str], moments: Sequence[int]) -> Iterator[Poll]:
        """The polls of every object of a kind in the kind's first snapshot at or after each moment (ms UTC) but the last,
        and before the next one: one look at each part of a long time. Raises UnknownNameError.
        """
        for metric in metrics:
            self._metric(kind, metric)
        with self._query() as connection:
            yield from self._history(kind).polls_near(connection, metrics, moments)

    def rate_sums(
        self, kind: str, metric: str, begun: Sequence[int], step_ms: int, *, without: tuple[str, int], until: int = LAST
    ) -> Mapping[str, Mapping[int, float | None]]:
        """The increase a second of a counter, summed over the objects of each owner, in the kind's first cycle in each
        stretch of ``step_ms`` that began at ``begun`` (ms UTC), until ``until``: by owner and begin of the stretch,
        None where the owner reported none.

        Objects whose state ``without[0]`` has the code ``without[1]`` do not count. Raises UnknownNameError.
        """
        for each in (metric, without[0]):
            self._metric(kind, each)
        with self._query() as connection:
            return self._history(kind).rate_sums(connection, metric, begun, step_ms, until, without)

    def polls_at(
        self, names: Collection[ObjectName], metrics: Sequence[str], moments: Sequence[int]
    ) -> tuple[Poll, ...]:
        """The polls of some objects of one kind at some moments (ms UTC), in time order. Raises UnknownNameError."""
        kinds = {name.kind for name in names}
        for kind in kinds:
            for metric in metrics:
                self._metric(kind, metric)
        with self._query() as connection:
            return tuple(
                poll
                for kind in kinds
                for poll in self._history(kind).polls_at(connection, names, metrics, sorted(moments))
            )

    def records(self, kind: str, metrics: Sequence[str], first: int) -> Iterator[Poll]:
        """Every record of every object of a kind that ended at ts >= ``first``, and the newest of those that have
        none such.

        Raises UnknownNameError.
        """
        for metric in metrics:
            self._metric(kind, metric)
        with self._query() as connection:
            yield from self._history(kind).records(connection, metrics, first)

    def newest_records(self) -> tuple[Snapshot, ...]:
        """The newest record of every object and probe, of existing objects; one snapshot an owner."""
        readings: dict[str, list[Reading]] = {}
        with self._query() as connection:
            if connection.execute("SELECT 1 FROM record LIMIT 1").fetchone() is None:
                return ()
            for kind in self._kinds:
                for name, record in self._current(kind, None).records(connection):
                    readings.setdefault(name.owner, []).append(record)
        groups = {owner.name: owner.is_group for owner in self.owners()}
        return tuple(
            Snapshot(owner, groups.get(owner, False), 0, 0, tuple(records)) for owner, records in readings.items()
        )
