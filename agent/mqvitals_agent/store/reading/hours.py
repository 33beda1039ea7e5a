"""What hours came to, whatever their age: from the rows of days that are rolled up, else from the samples themselves."""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple, TypeVar

from mqvitals_agent.store.reading.base import QueryBase
from mqvitals_agent.store.result import HourSeries
from mqvitals_agent.store.rows.samples.history import FIRST, LAST, HistoryQuery
from mqvitals_agent.store.rows.samples.hour_means import HourMean, read_hours
from mqvitals_agent.store.rows.samples.objects import count_snapshots, number_of, objects_with_records
from mqvitals_agent.store.rows.samples.sample import SampleColumns
from mqvitals_agent.store.rows.sealed.chunk import HourSamples
from mqvitals_agent.store.rows.sealed.roller import definitions
from mqvitals_agent.store.rows.sealed.rollup import MetricHour, figured_hour, hour_of, together
from mqvitals_agent.store.rows.sealed.rollup_rows import DAY_HOURS, HourTotal, RollupReader
from mqvitals_agent.store.rows.tables import integer, numbered
from mqvitals_rules.history import AS_WELL
from mqvitals_rules.snapshot import ObjectName, Source
from mqvitals_rules.timestamps import HOUR_MS

Figures = dict[int, MetricHour]
"""By hour, counted from 1970 UTC."""
Totals = dict[int, MetricHour | HourTotal]
T = TypeVar("T", MetricHour, HourTotal)

AT_ONCE: Final = 400_000
"""Samples of an owner that are read at once for hours of all objects of a kind."""
_FIRST_HOUR, _LAST_HOUR = FIRST // HOUR_MS, LAST // HOUR_MS


class _Asked(NamedTuple):
    """A metric of a kind, and whether it is a counter."""

    kind: str
    metric: str
    counter: bool


class HourQueries(QueryBase):
    """What hours came to. An hour is named by its begin, ms UTC; a sample that is taken when one ends is of it.

    Of the sources of an object each hour is that of the first one, polls before records, that covers about as much of it
    as any does.
    """

    def hour_figures(
        self, name: ObjectName, metrics: Sequence[str], since: int = FIRST, until: int = LAST
    ) -> Mapping[str, HourSeries]:
        """By metric, the hours of an object that began at ``since`` or later and before ``until`` (ms UTC), oldest first.

        Hours without any value are left out; that under way is as far as it has come. Raises UnknownNameError.
        """
        known = {metric: self._metric(name.kind, metric) for metric in metrics}
        first, last = max(-(-since // HOUR_MS), _FIRST_HOUR), min(-(-until // HOUR_MS) - 1, _LAST_HOUR)
        stored = [metric for metric, each in known.items() if each.in_history]
        with self._query() as connection:
            number = self._number(connection, name)
            history, counters = self._history(name.kind), self._tables[name.kind].counters
            by_source = {
                source: _of_object(connection, history, counters, (number, name), stored, source, (first, last))
                for source in (Source.POLL, *history.sources(connection, name))
            }
        return {
            metric: HourSeries(
                name,
                metric,
                each.unit,
                tuple(
                    (hour * HOUR_MS, figure)
                    for hour, figure in sorted(
                        best({source: found.get(metric, {}) for source, found in by_source.items()}).items()
                    )
                ),
            )
            for metric, each in known.items()
        }

    def rolled_until(self, kind: str, metric: str) -> int:
        """The end (ms UTC) of the last day up to which the hours of a metric are rolled up; 0: they are computed from
        samples. Raises UnknownNameError.
        """
        self._metric(kind, metric)
        if metric in definitions(kind):
            return 0
        with self._query() as connection:
            return (RollupReader().rolled(connection, kind) + 1) * DAY_HOURS * HOUR_MS

    def hours_of_kind(
        self, kind: str, metric: str, begun: Sequence[int], most: int | None = None
    ) -> dict[ObjectName, Figures]:
        """The hours that began at ``begun`` (ms UTC) of all objects of a kind that have any value in them, by object and
        hour (counted from 1970).

        Hours of an owner that are not rolled up yet, and would be more than ``most`` samples in a row, are left out;
        None: never. Raises UnknownNameError.
        """
        self._metric(kind, metric)
        wanted = sorted({ts // HOUR_MS for ts in begun})
        with self._query() as connection:
            of = _Asked(kind, metric, metric in self._tables[kind].counters)
            names = self._names(connection, kind)
            found = _of_kind(connection, self._history(kind), names, of, wanted, most)
        chosen = {names[number]: best(by_source) for number, by_source in found.items()}
        return {name: figures for name, figures in chosen.items() if figures}

    def spans_of_kind(self, kind: str, metric: str, since: int, until: int) -> dict[ObjectName, MetricHour]:
        """All hours together that began at ``since`` or later and before ``until`` (ms UTC), of all objects of a kind that
        have any value in them; of the source that covers most of them. Raises UnknownNameError.
        """
        self._metric(kind, metric)
        first, last = max(-(-since // HOUR_MS), _FIRST_HOUR), min(-(-until // HOUR_MS) - 1, _LAST_HOUR)
        of = _Asked(kind, metric, metric in self._tables[kind].counters)
        spans: defaultdict[tuple[int, int], list[MetricHour]] = defaultdict(list)
        with self._query() as connection:
            names, reader, history = self._names(connection, kind), RollupReader(), self._history(kind)
            done = -1 if metric in definitions(kind) else reader.rolled(connection, kind)
            begin = -(-first // DAY_HOURS)
            days = range(begin, max(min((last + 1) // DAY_HOURS, done + 1), begin))
            ends = reader.span(connection)
            rest = days.stop * DAY_HOURS
            for part in (range(first, min(days.start * DAY_HOURS, last + 1)), days, range(max(rest, first), last + 1)):
                if part is days:
                    for day in part if ends is None else range(max(part.start, ends[0]), min(part.stop, ends[1] + 1)):
                        for key, each in reader.of_kind(connection, kind, metric, day).items():
                            spans[key].append(each.whole())
                    continue
                hours = _of_kind(connection, history, names, of, _held(connection, kind, part), None)
                for number, by_source in hours.items():
                    for of_source, figures in by_source.items():
                        spans[number, of_source] += [figures[hour] for hour in sorted(figures)]
        found: dict[int, dict[Source, Figures]] = {}
        for (number, source), of_object in spans.items():
            if of_object and number in names:
                found.setdefault(number, {})[Source(source)] = {0: together(of_object)}
        return {names[number]: best(sources)[0] for number, sources in found.items()}

    def hour_means(
        self, kind: str, metric: str, hours: Sequence[int], name: ObjectName | None = None
    ) -> dict[ObjectName, list[float]]:
        """The means of the hours that began at ``hours`` (ms UTC), of all objects of a kind or of one: of a counter the
        increase a second. Raises UnknownNameError.
        """
        found: dict[ObjectName, list[float]] = {}
        for each in self._means(kind, metric, hours, name):
            found.setdefault(each.object, []).append(each.mean)
        return found

    def hours(self, kind: str, metric: str, begun: Sequence[int]) -> list[HourMean]:
        """The means of the hours that began at ``begun`` (ms UTC), of all objects of a kind. Raises UnknownNameError."""
        return list(self._means(kind, metric, begun, None))

    def _means(self, kind: str, metric: str, begun: Sequence[int], name: ObjectName | None) -> Iterator[HourMean]:
        self._metric(kind, metric)
        counter = metric in self._tables[kind].counters
        found: dict[ObjectName, Totals] = {}
        if name is None:
            rolled_until = self.rolled_until(kind, metric)
            younger = [ts for ts in begun if ts >= rolled_until]
            if younger:
                found = {each: {**hours} for each, hours in self.hours_of_kind(kind, metric, younger, AT_ONCE).items()}
            self._add_rolled(found, kind, metric, [ts // HOUR_MS for ts in begun if ts < rolled_until])
        else:
            with self._query() as connection:
                number = None if not begun else number_of(connection, name)
                if number is not None:
                    history, counters = self._history(kind), self._tables[kind].counters
                    sources = Source.POLL, *history.sources(connection, name)
                    of_object: Totals = {}
                    for hour in sorted({ts // HOUR_MS for ts in begun}):
                        by_source = {
                            source: _of_object(
                                connection, history, counters, (number, name), (metric,), source, (hour, hour)
                            ).get(metric, {})
                            for source in sources
                        }
                        of_object.update(best(by_source))
                    found[name] = of_object
        for object_, figures in found.items():
            for hour, figure in sorted(figures.items()):
                mean = mean_of(figure, counter=counter)
                if mean is not None:
                    weight = figure.covered_ms if counter else figure.count
                    yield HourMean(object_, metric, hour * HOUR_MS, mean, weight)
        with self._query() as connection:
            before = read_hours(connection, kind, metric, begun, name)
        # What a former version noted of hours whose samples are gone.
        for each in before:
            if each.hour // HOUR_MS not in found.get(each.object, {}):
                yield each

    def _add_rolled(self, found: dict[ObjectName, Totals], kind: str, metric: str, hours: Collection[int]) -> None:
        """Add single hours that are rolled up of all objects of a kind."""
        reader = RollupReader()
        with self._query() as connection:
            names = self._names(connection, kind)
            for hour in sorted(set(hours)):
                day, of_day = divmod(hour, DAY_HOURS)
                totals = reader.totals_of_kind(connection, kind, metric, day, of_day)
                recorded = {number for number, source in totals if source != Source.POLL}
                for (number, _), total in totals.items():
                    if number not in names:
                        continue
                    known = found.setdefault(names[number], {})
                    if number in recorded:
                        sources = {each: {hour: totals[number, each]} for each in Source if (number, each) in totals}
                        known.update(best(sources))
                    else:
                        known[hour] = total


def mean_of(figure: MetricHour | HourTotal, *, counter: bool) -> float | None:
    """The mean of an hour; of a counter the increase a second. None: none can be told."""
    mean = figure.total / figure.covered_ms if figure.covered_ms else None
    if mean is None:
        # A single poll, of which nobody knows since when it held.
        mean = None if counter else float(figure.last)
    elif counter:
        mean *= 1000
    return mean if mean is not None and mean - mean == 0 else None


def best(by_source: Mapping[Source, dict[int, T]]) -> dict[int, T]:
    """Of each hour the figures of the first source that covers about as much of it as any does."""
    sources = sorted(by_source)
    if len(sources) == 1:
        return by_source[sources[0]]
    found: dict[int, T] = {}
    for hour in sorted({hour for figures in by_source.values() for hour in figures}):
        of_hour = [by_source[source][hour] for source in sources if hour in by_source[source]]
        most = max(each.covered_ms for each in of_hour)
        found[hour] = next(each for each in of_hour if each.covered_ms >= AS_WELL * most)
    return found


def of_samples(samples: SampleColumns, *, counter: bool, records: bool) -> Figures:
    """The hours of samples of a metric, rising in time. The first one lacks what came before them."""
    found: Figures = {}
    before: int | None = None
    counters = frozenset(("",)) if counter else frozenset[str]()
    begin = 0
    while begin < len(samples):
        hour = figured_hour(samples.ts[begin])
        end = bisect_right(samples.ts, (hour + 1) * HOUR_MS, begin)
        part = samples[begin:end]
        earlier = before if before is not None and figured_hour(before) == hour - 1 else None
        one = HourSamples(part.ts, part.intervals, (1,) * (end - begin), {"": part.values})
        found.update((hour, figure) for figure in hour_of(one, counters, earlier, records=records).values())
        before, begin = part.ts[-1], end
    return found


def _of_object(
    connection: sqlite3.Connection,
    history: HistoryQuery,
    counters: frozenset[str],
    object_: tuple[int, ObjectName],
    metrics: Sequence[str],
    source: Source,
    span: tuple[int, int],
) -> dict[str, Figures]:
    """The hours of an object from one source from the first to the last of ``span``."""
    number, name = object_
    first, last = span
    reader = RollupReader()
    found: dict[str, Figures] = {metric: {} for metric in metrics}
    if first > last:
        return found
    of_definitions = definitions(name.kind)
    done = reader.rolled(connection, name.kind)
    kept = [metric for metric in metrics if metric not in of_definitions]
    ends = reader.span(connection)
    if kept and ends is not None:
        days = range(max(first // DAY_HOURS, ends[0]), min(last // DAY_HOURS, ends[1]) + 1)
        for day, of_day in reader.of_object(connection, name.kind, kept, number, source, days).items():
            for metric, each in of_day.items():
                found[metric].update(
                    (day * DAY_HOURS + hour, figure)
                    for hour, figure in each.hours().items()
                    if first <= day * DAY_HOURS + hour <= last
                )
    for chosen, since in (
        (kept, max(first, (done + 1) * DAY_HOURS)),
        ([metric for metric in metrics if metric in of_definitions], first),
    ):
        if not chosen:
            continue
        for begin, end in _spans(connection, number, name.owner, source, since, last):
            rows = history.several(
                connection, name, chosen, source, first=(begin - 1) * HOUR_MS + 1, last=(end + 1) * HOUR_MS
            )
            for metric, samples in rows.items():
                computed = of_samples(samples, counter=metric in counters, records=source is not Source.POLL)
                found[metric].update((hour, each) for hour, each in computed.items() if begin <= hour <= end)
    return found


def _spans(
    connection: sqlite3.Connection, number: int, owner: str, source: Source, first: int, last: int
) -> Iterator[tuple[int, int]]:
    """Parts of a time, hours from first to last, no longer than a day, that can hold samples."""
    if source is Source.POLL:
        parameters: tuple[object, ...] = (owner,)
        within = "snapshot WHERE owner = ?1"
    else:
        parameters = number, int(source)
        within = "record WHERE object_id = ?1 AND source = ?2"
    # Each a seek of its own: both at once read all rows.
    ends = connection.execute(
        f"SELECT (SELECT min(ts) FROM {within}), (SELECT max(ts) FROM {within})",  # noqa: S608
        numbered(*parameters),
    ).fetchone()
    if ends[0] is None:
        return
    first, last = max(first, figured_hour(integer(ends[0]))), min(last, figured_hour(integer(ends[1])))
    for begin in range(first, last + 1, DAY_HOURS):
        yield begin, min(begin + DAY_HOURS - 1, last)


def _of_kind(
    connection: sqlite3.Connection,
    history: HistoryQuery,
    names: Mapping[int, ObjectName],
    of: _Asked,
    wanted: Sequence[int],
    most: int | None,
) -> dict[int, dict[Source, Figures]]:
    """The ``wanted`` hours (rising) of the objects of a kind, by number and source."""
    kind, metric, reader = of.kind, of.metric, RollupReader()
    found: dict[int, dict[Source, Figures]] = {}
    of_definition = metric in definitions(kind)
    done = -1 if of_definition else reader.rolled(connection, kind)
    for day, group in groupby(wanted, lambda hour: hour // DAY_HOURS):
        of_day = {hour - day * DAY_HOURS for hour in group}
        if not of_definition:
            for (number, source), each in reader.of_kind(connection, kind, metric, day).items():
                if number in names:
                    figures = found.setdefault(number, {}).setdefault(Source(source), {})
                    for hour in each.cover.hours:
                        if hour in of_day:
                            figures[day * DAY_HOURS + hour] = each.hour(hour)
    for number, source, hour, figure in _computed(
        connection, history, names, of, [hour for hour in wanted if hour // DAY_HOURS > done], most
    ):
        found.setdefault(number, {}).setdefault(source, {})[hour] = figure
    return found


def _computed(
    connection: sqlite3.Connection,
    history: HistoryQuery,
    names: Mapping[int, ObjectName],
    of: _Asked,
    wanted: Sequence[int],
    most: int | None,
) -> Iterator[tuple[int, Source, int, MetricHour]]:
    """The ``wanted`` hours that are not rolled up, from samples: by number, source and hour."""
    if not wanted:
        return
    kind, metric, counter = of
    recorded = sorted(objects_with_records(connection, kind) & names.keys())
    owners: dict[str, list[int]] = {}
    for number, name in names.items():
        owners.setdefault(name.owner, []).append(number)
    for begin, end in _runs(wanted):
        first, last = (begin - 1) * HOUR_MS + 1, (end + 1) * HOUR_MS
        for owner, numbers in owners.items():
            snapshots = count_snapshots(connection, owner, first, last)
            if not snapshots or (most is not None and snapshots * len(numbers) > most):
                continue
            at_once = max(AT_ONCE // snapshots, 1)
            for place in range(0, len(numbers), at_once):
                part = numbers[place : place + at_once]
                ends = part[0], part[-1]
                rows = history.of_range(connection, owner, ends, (metric,), first=first, last=last)
                for number, of_object in rows.items():
                    computed = of_samples(of_object[metric], counter=counter, records=False)
                    for hour, figure in computed.items():
                        if number in names and begin <= hour <= end:
                            yield number, Source.POLL, hour, figure
        for number in recorded:
            name = names[number]
            for source in history.sources(connection, name):
                of_record = history.several(connection, name, (metric,), source, first=first, last=last)[metric]
                for hour, figure in of_samples(of_record, counter=counter, records=True).items():
                    if begin <= hour <= end:
                        yield number, source, hour, figure


def _held(connection: sqlite3.Connection, kind: str, hours: range) -> range:
    """Those of the hours that lie within what was ever sampled, or recorded of a kind."""
    if not hours:
        return hours
    first, last = connection.execute(
        "SELECT min(first), max(last) FROM (SELECT (SELECT min(ts) FROM snapshot WHERE owner = o.name) AS first,"
        " (SELECT max(ts) FROM snapshot WHERE owner = o.name) AS last FROM owner AS o"
        " UNION ALL SELECT (SELECT min(ts) FROM record WHERE object_id = r.id),"
        " (SELECT max(ts) FROM record WHERE object_id = r.id) FROM object AS r WHERE kind = ?)",
        (kind,),
    ).fetchone()
    if first is None:
        return range(0)
    return range(max(hours.start, figured_hour(integer(first))), min(hours.stop, figured_hour(integer(last)) + 1))


def _runs(hours: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The first and the last of each run of hours, none longer than a day."""
    begin: int | None = None
    before = 0
    for hour in hours:
        if begin is None:
            begin = hour
        elif hour != before + 1 or hour - begin >= DAY_HOURS:
            yield begin, before
            begin = hour
        before = hour
    if begin is not None:
        yield begin, before
