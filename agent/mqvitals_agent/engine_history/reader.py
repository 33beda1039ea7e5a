"""Reads a store, and from an engine the samples that it does not hold: with the methods of any reader of a store.

Current values, alerts, the journal and all else are the store's. What is added is the past of numbers and states: series, and hours
of single objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median_low
from typing import Final

from mqvitals_agent.engine_history.answer import EngineError
from mqvitals_agent.engine_history.client import QueryClient
from mqvitals_agent.engine_history.engine_samples import EngineSamples, PatientClient, Samples
from mqvitals_agent.engine_history.samples import overlaid
from mqvitals_agent.engine_history.series_names import SeriesNames
from mqvitals_agent.store.kept_moments import KeptMoments
from mqvitals_agent.store.moment_reader import MomentReader
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.reading.hours import Figures, best, mean_of, of_samples
from mqvitals_agent.store.result import LIVE, BySource, HourSeries, ObjectSamples, Series
from mqvitals_agent.store.rows.samples.history import FIRST, LAST
from mqvitals_agent.store.rows.samples.hour_means import HourMean
from mqvitals_agent.store.rows.samples.sample import SampleColumns
from mqvitals_agent.store.rows.tables import moment
from mqvitals_agent.text.terminal import safe
from mqvitals_config.sections.history import PROMETHEUS
from mqvitals_config.settings import Settings
from mqvitals_rules.snapshot import ObjectName, Source
from mqvitals_rules.timestamps import DAY_MS, HOUR_MS

_SHORT_MS: Final = 7 * DAY_MS
"""Of a longer time that the store tells by hours, hours are shown: samples would be hundreds of thousands an object."""
_PAUSE: Final = 2.5
"""Polls that are farther apart than so many usual distances have a gap between them."""


class PastWithEngine(StoreReader):
    """The questions that an engine answers too: the reader of a store, of now or of a moment, is completed by it.

    ``whole``: the engine is asked for all of a time, and its values count. Else it is asked for the time of which the store
    holds nothing: what both have is the same, and the store's is at hand.
    """

    _samples: EngineSamples
    _whole = False
    _lacking = ""
    _failed = ""

    @property
    def history_note(self) -> str:
        """Why an answer of this reader lacks what the engine may have, as a sentence: the newest reason; empty: none does."""
        return self._failed

    def samples_from(self, since: int, until: int) -> int:
        """As of a store; of a time that is not too long the engine has the samples that are gone."""
        if until - since <= _SHORT_MS and not self._samples.pausing:
            return since
        return super().samples_from(since, until)

    def hour_figures(
        self, name: ObjectName, metrics: Sequence[str], since: int = FIRST, until: int = LAST
    ) -> Mapping[str, HourSeries]:
        """As of a store, with hours of which it knows nothing any more from the samples of the engine."""
        found = super().hour_figures(name, metrics, since, until)
        begin = self._began([name]).get(name, FIRST) if since == FIRST else since
        first = -(-begin // HOUR_MS)
        last = -(-min(self._last_hour(until), self._held_from(name)) // HOUR_MS) - 1
        completed = {}
        for metric, series in found.items():
            known = dict(series.hours)
            missing = [hour for hour in range(first, last + 1) if hour * HOUR_MS not in known]
            known.update((hour * HOUR_MS, each) for hour, each in self._hours_of(name, metric, missing).items())
            completed[metric] = HourSeries(name, metric, series.unit, tuple(sorted(known.items())))
        return completed

    def _last_hour(self, until: int) -> int:
        """The end of the last hour that counts, where hours before ``until`` (ms UTC) are asked for."""
        return until

    def _means(self, kind: str, metric: str, hours: Sequence[int], name: ObjectName | None) -> Iterator[HourMean]:
        found = list(super()._means(kind, metric, hours, name))
        yield from found
        if name is None:
            return
        known = {each.hour for each in found}
        held = self._held_from(name)
        missing = sorted({ts // HOUR_MS for ts in hours if ts not in known and ts < held})
        counter = metric in self._tables[kind].counters
        for hour, figure in self._hours_of(name, metric, missing).items():
            mean = mean_of(figure, counter=counter)
            if mean is not None:
                yield HourMean(name, metric, hour * HOUR_MS, mean, figure.covered_ms if counter else figure.count)

    def _hours_of(self, name: ObjectName, metric: str, hours: Sequence[int]) -> Figures:
        """What hours (counted from 1970, rising) came to by the samples of the engine."""
        counter = metric in self._tables[name.kind].counters
        found: Figures = {}
        for begin, end in _runs(hours):
            # One before says since when the first value held.
            first, last = (begin - 1) * HOUR_MS + 1, (end + 1) * HOUR_MS
            by_source = self._asked([name], (metric,), first, last).get(name, {})
            figures = best(
                {
                    source: of_samples(rows[metric], counter=counter, records=source is not Source.POLL)
                    for source, rows in by_source.items()
                    if metric in rows
                }
                or {Source.POLL: {}}
            )
            found.update((hour, each) for hour, each in figures.items() if begin <= hour <= end)
        return found

    def _completed(
        self, found: Mapping[ObjectName, ObjectSamples], metrics: Sequence[str], first: int, last: int
    ) -> Mapping[ObjectName, ObjectSamples]:
        names = list(found)
        if not names:
            return found
        since = min(self._began(names).values(), default=FIRST) if first == FIRST else first
        held = self._held_from(names[0])
        until = last if self._whole else min(last, held - 1)
        if since > until:
            return found
        # Nothing is newer than what the store has; as of a moment whose snapshots are gone it has nothing.
        until = min(until, max(self.last_ts() or 0, held - 1))
        asked = self._asked(names, metrics, since, until)
        if self._lacking:
            return {name: samples._replace(lacking=self._lacking) for name, samples in found.items()}
        began = self._began(names)
        return {
            name: self._added(samples, asked.get(name), max(first, began.get(name, first)))
            for name, samples in found.items()
        }

    def _added(self, samples: ObjectSamples, of_engine: BySource | None, first: int) -> ObjectSamples:
        """What was read of an object that was there from ``first`` (ms UTC) on, with what the engine has of it."""
        if not of_engine:
            return samples
        completed: dict[Source, dict[str, SampleColumns]] = {
            source: dict(rows) for source, rows in samples.by_source.items()
        }
        for source, rows in of_engine.items():
            of_source = completed.setdefault(source, {})
            for metric, columns in rows.items():
                stored = of_source.get(metric, SampleColumns())
                of_source[metric] = overlaid(columns, stored, engine_first=self._whole)
        return samples._replace(by_source=completed, kept_from=_kept_from(samples.kept_from, of_engine, first))

    def _asked(self, names: Sequence[ObjectName], metrics: Sequence[str], first: int, last: int) -> Samples:
        """What the engine has; nothing, and a note, where it does not answer."""
        try:
            found = self._samples.read(names, metrics, first, last, self._began(names))
        except EngineError as error:
            self._lacking = self._failed = (
                f"The history lacks what only the engine has: {safe(error.message)}"
                f"{f' ({safe(error.hint)})' if error.hint else ''}"
            )
            return {}
        self._lacking = ""
        return found

    def _began(self, names: Sequence[ObjectName]) -> dict[ObjectName, int]:
        """When each object was seen first, ms UTC."""
        with self._query() as connection:
            rows = {
                name: connection.execute(
                    "SELECT first_ts FROM object WHERE owner = ? AND kind = ? AND name = ?", name
                ).fetchone()
                for name in names
            }
        return {name: moment(row[0]) for name, row in rows.items() if row is not None}

    def _held_from(self, name: ObjectName) -> int:
        """From when on (ms UTC) the store holds the samples of an object, or would, were it there."""
        begin = next((owner.first_ts for owner in self.owners() if owner.name == name.owner), FIRST)
        return max(self.kept_from_of(name.kind) or 0, begin)


class EngineReader(PastWithEngine):
    """The reader of a store that is completed by an engine. It closes the connection of the reader it is made of."""

    def __init__(self, reader: StoreReader, samples: EngineSamples, *, whole: bool = False) -> None:
        super().__init__(reader.path, reader._connection, reader._kinds, reader._limit_s, reader)
        self._samples = samples
        self._whole = whole

    def close(self) -> None:
        """Close the store and the connection to the engine; a second call does nothing."""
        self._samples.close()
        super().close()

    def as_of(self, at: int) -> StoreReader:
        """A view of the store as of ``at`` (ms UTC), completed until then."""
        found = super().as_of(at)
        assert isinstance(found, MomentReader)
        return EngineMomentReader(self, at, found.kept, self._samples, whole=self._whole)


class EngineMomentReader(PastWithEngine, MomentReader):
    """The same as of a moment."""

    def __init__(
        self, reader: StoreReader, at: int, kept: KeptMoments, samples: EngineSamples, *, whole: bool = False
    ) -> None:
        MomentReader.__init__(self, reader, at, kept)
        self._samples = samples
        self._whole = whole

    def as_of(self, at: int) -> StoreReader:
        """A view of the same store as of another moment, completed until then."""
        found = MomentReader.as_of(self, at)
        assert isinstance(found, MomentReader)
        return EngineMomentReader(self, at, found.kept, self._samples, whole=self._whole)

    def _last_hour(self, until: int) -> int:
        """The end of the last hour that had ended by the moment."""
        return min(until, self.at - self.at % HOUR_MS)

    def trend(self, name: ObjectName, metric: str, since: int | None = None, until: int | None = None) -> Series:
        """A number or state over time, until the moment at the latest."""
        if since is not None and since >= self._held_from(name) and not self._whole:
            return super().trend(name, metric, since, until)
        # What the store's own reader keeps would outlast a failure of the engine.
        return StoreReader.trend(self, name, metric, since, self._until(until))


def with_engine(
    reader: StoreReader, settings: Settings | None, backend: str | None = None, *, patience_ms: int | None = None
) -> StoreReader:
    """The reader of a store as settings, or ``backend`` before them, say: itself, or completed by the engine of ``history``.

    The engine of a ``backend`` that is named is asked for all of a time. A store that no agent fills has no engine. An answer
    may take ``patience_ms`` at most (None: as the settings say). What is returned is closed in place of ``reader``. Raises
    StoreError.
    """
    if settings is None or (backend or settings.history.backend) != PROMETHEUS or reader.meta().mode != LIVE:
        return reader
    history = settings.history
    if history.url is None:
        return reader
    if patience_ms is not None:
        history = replace(history, timeout=min(history.timeout, patience_ms))
    groups = [owner.name for owner in reader.owners() if owner.is_group]
    names = SeriesNames(history.labels(settings.remote_write), groups)
    samples = EngineSamples(PatientClient(QueryClient(history)), names)
    return EngineReader(reader, samples, whole=backend is not None)


def _kept_from(kept_from: int | None, of_engine: BySource, first: int) -> int | None:
    """From when on samples are there, now that the engine has added some; None: from ``first`` (ms UTC) on."""
    columns = [rows.ts for by_metric in of_engine.values() for rows in by_metric.values()]
    begin = min(ts[0] for ts in columns)
    if kept_from is None or begin >= kept_from:
        return kept_from
    steps = [later - earlier for ts in columns for earlier, later in pairwise(ts)]
    usual = median_low(steps) if steps else 0
    return None if begin - first <= _PAUSE * usual else begin


def _runs(hours: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The first and the last of each run of hours, none longer than a day."""
    begin: int | None = None
    before = 0
    for hour in hours:
        if begin is not None and (hour != before + 1 or hour - begin >= DAY_MS // HOUR_MS):
            yield begin, before
            begin = None
        begin = hour if begin is None else begin
        before = hour
    if begin is not None:
        yield begin, before
