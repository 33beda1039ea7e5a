"""Reads a store as it was at a past moment, with the same queries that read it as it is now."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from mqvitals_agent.alerting.decision import LastNotification
from mqvitals_agent.alerting.grouping import AlertGroup
from mqvitals_agent.store.kept_moments import KeptMoments
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.reading.alerts import OPERATIONAL
from mqvitals_agent.store.reading.hours import Figures
from mqvitals_agent.store.result import CurrentValue, HourSeries, Owner, Series, StoredObject, StoreMeta, UnknownRow
from mqvitals_agent.store.rows.alerts.actions import Actions, AuditEntry
from mqvitals_agent.store.rows.alerts.alert_rows import SeveritySpan, StoredAlert, StoredTransition
from mqvitals_agent.store.rows.alerts.receivers import ReceiverRow
from mqvitals_agent.store.rows.changes import Change
from mqvitals_agent.store.rows.journal import JournalEntry
from mqvitals_agent.store.rows.messages import EventQueueRow, NewMessages, StoredMessage
from mqvitals_agent.store.rows.samples.history import FIRST, LAST
from mqvitals_agent.store.rows.samples.hour_means import HourMean
from mqvitals_agent.store.rows.samples.moment import MomentQuery
from mqvitals_agent.store.rows.samples.objects import read_owners_as_of
from mqvitals_agent.store.rows.samples.sample import Poll, PollColumns, Sample
from mqvitals_agent.store.rows.sealed.rollup import MetricHour
from mqvitals_agent.store.rows.tables import integer
from mqvitals_rules.snapshot import Instance, ObjectName, Snapshot, Source
from mqvitals_rules.timestamps import HOUR_MS


class MomentReader(StoreReader):
    """A view of a store as of ``at`` (ms UTC): what was stored later is not there.

    It shares the connection of the reader that made it, which closes it. What the store keeps only as it is now
    (instances of channels, counts of unknown verdicts, the state of receivers) is empty.
    """

    def __init__(self, reader: StoreReader, at: int, kept: KeptMoments) -> None:
        """For ``StoreReader.as_of``; ``kept`` is what was read at a later moment than ``at``, and is added to."""
        super().__init__(reader.path, reader._connection, reader._kinds, reader._limit_s, reader)
        self.at = at
        self.kept = kept
        self._owners: tuple[Owner, ...] | None = None

    def close(self) -> None:
        """Do nothing: the connection belongs to the reader that made this one."""

    def as_of(self, at: int) -> StoreReader:
        """A view of the same store as of another moment."""
        # What was read serves every moment before the time when it was read.
        return MomentReader(self, at, self.kept if at <= self.at else KeptMoments())

    @property
    def notes(self) -> dict[object, Any]:
        """What views made for other moments: it is kept as long as what was read for them."""
        return self.kept.notes

    def meta(self) -> StoreMeta:
        """The store's own facts, with the moment."""
        return replace(super().meta(), as_of=self.at)

    def owners(self) -> tuple[Owner, ...]:
        """Every queue manager that had a snapshot by then, by name, the group last."""
        if self._owners is None:
            with self._query() as connection:
                self._owners = read_owners_as_of(connection, self.at)
        return self._owners

    def objects(self, pattern: str = "*", *, gone: bool = False) -> tuple[StoredObject, ...]:
        """The objects that were there, or with ``gone`` had been there."""
        found = (
            each._replace(gone=None if each.gone is not None and each.gone > self.at else each.gone)
            for each in super().objects(pattern, gone=True)
            if each.first_ts <= self.at
        )
        return tuple(each for each in found if gone or each.gone is None)

    def has(self, name: ObjectName) -> bool:
        """Whether the object was known by then, also one that no longer existed."""
        with self._query() as connection:
            row = connection.execute(
                "SELECT 1 FROM object WHERE owner = ? AND kind = ? AND name = ? AND first_ts <= ?", (*name, self.at)
            ).fetchone()
            return row is not None

    def trend(self, name: ObjectName, metric: str, since: int | None = None, until: int | None = None) -> Series:
        """A number or state over time, until the moment at the latest."""
        last = self._until(until)
        if since is None or self.record_sources(name):
            return super().trend(name, metric, since, last)
        read = super().trend
        return self.kept.past.series(name, metric, since, last, lambda *span: read(name, metric, *span))

    def trends(
        self, name: ObjectName, metrics: Sequence[str], since: int | None = None, until: int | None = None
    ) -> dict[str, Series]:
        """Several metrics over time, until the moment at the latest."""
        return super().trends(name, metrics, since, self._until(until))

    def trends_of(
        self,
        names: Collection[ObjectName],
        metrics: Sequence[str],
        since: int | None = None,
        until: int | None = None,
    ) -> Iterator[tuple[ObjectName, dict[str, Series]]]:
        """Many objects over time, until the moment at the latest."""
        return super().trends_of(names, metrics, since, self._until(until))

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
        """The polls of an object until the moment at the latest."""
        return super().samples(name, metric, source, first=first, last=self._until(last), newest=newest)

    def covering_samples(
        self, name: ObjectName, metric: str, *, first: int = FIRST, last: int = LAST, newest_of: int | None = None
    ) -> tuple[Source, Sequence[Sample]]:
        """``samples`` of the source that covers this time best, and which it is."""
        return super().covering_samples(name, metric, first=first, last=self._until(last), newest_of=newest_of)

    def poll_columns(
        self, name: ObjectName, metrics: Sequence[str], *, first: int, until: int = LAST, before: int = FIRST
    ) -> PollColumns:
        """The polls of an object until the moment at the latest, several metrics in one go."""
        read = super().poll_columns
        return self.kept.past.columns(
            name,
            metrics,
            first,
            self._until(until),
            before,
            lambda begin, end: read(name, metrics, first=begin, until=end, before=before),
        )

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
        """The polls of objects until the moment at the latest, in one go."""
        read = super().poll_columns_of_all
        return self.kept.past.columns_of_all(
            owner,
            kind,
            metrics,
            first,
            self._until(until),
            before,
            most=most,
            read=lambda begin, end: read(owner, kind, metrics, first=begin, until=end, before=before, most=most),
        )

    def has_columns_of_all(self, owner: str, kind: str, metrics: Sequence[str], first: int) -> bool:
        """Whether the polls of all objects were read for another moment, and those until this one follow them."""
        return self.kept.past.has_of_all(owner, kind, metrics, first, self.at)

    def hour_means(
        self, kind: str, metric: str, hours: Sequence[int], name: ObjectName | None = None
    ) -> dict[ObjectName, list[float]]:
        """The means of hours that had ended by then."""
        return super().hour_means(kind, metric, self._ended(hours), name)

    def hour_figures(
        self, name: ObjectName, metrics: Sequence[str], since: int = FIRST, until: int = LAST
    ) -> Mapping[str, HourSeries]:
        """The hours of an object that had ended by then."""
        return super().hour_figures(name, metrics, since, min(until, self.at - self.at % HOUR_MS))

    def hours_of_kind(
        self, kind: str, metric: str, begun: Sequence[int], most: int | None = None
    ) -> dict[ObjectName, Figures]:
        """The hours of all objects that had ended by then."""
        return super().hours_of_kind(kind, metric, self._ended(begun), most)

    def spans_of_kind(self, kind: str, metric: str, since: int, until: int) -> dict[ObjectName, MetricHour]:
        """The hours of all objects that had ended by then, together."""
        return super().spans_of_kind(kind, metric, since, min(until, self.at - self.at % HOUR_MS))

    def hours(self, kind: str, metric: str, begun: Sequence[int]) -> list[HourMean]:
        """The means of hours that had ended by then."""
        return super().hours(kind, metric, self._ended(begun))

    def snapshot_times(self, owner: str, newest: int) -> list[int]:
        """When the ``newest`` snapshots of an owner until then were taken, oldest first."""
        with self._query() as connection:
            rows = connection.execute(
                "SELECT ts FROM snapshot WHERE owner = ? AND ts BETWEEN ? AND ? ORDER BY ts DESC LIMIT ?",
                (owner, FIRST, self.at, newest),
            ).fetchall()
        return [integer(ts) for (ts,) in reversed(rows)]

    def snapshot_span(self, owner: str, since: int, until: int) -> list[int]:
        """When the snapshots of an owner were taken from ``since`` on, ``until`` or the moment at the latest, oldest
        first.
        """
        return super().snapshot_span(owner, since, self._until(until))

    def severity_spans(self, since: int, until: int) -> tuple[SeveritySpan, ...]:
        """The severities over time of the alerts that fired from ``since`` on, ``until`` or the moment at the latest."""
        return super().severity_spans(since, self._until(until))

    def polled_cells(self, since: int, until: int, step_ms: int) -> Mapping[str, frozenset[int]]:
        """In which parts of a time until then a snapshot was taken."""
        return super().polled_cells(since, self._until(until), step_ms)

    def leading(self, kind: str, metric: str, count: int) -> list[tuple[ObjectName, CurrentValue]]:
        """The objects of a kind that had the greatest numbers above 0 in a metric, the greatest first."""
        self._metric(kind, metric)
        found: list[tuple[float, ObjectName, CurrentValue]] = []
        for owner in self.owners():
            with self._query() as connection:
                every = partial(self.kept.objects_of, connection, owner.name, kind)
                numbers = self._moment(kind, (metric,)).leaders(connection, owner.name, metric, count, every)
            values = self._values(owner.name, kind, (metric,), numbers=numbers)
            found += [
                (-latest.value, name, latest)
                for name, values_of in values.items()
                if (latest := values_of.get(metric)) is not None
                and latest.unanswered is None
                and isinstance(latest.value, int | float)
                and latest.value > 0
            ]
        return [(name, latest) for _, name, latest in sorted(found, key=lambda each: each[:2])[:count]]

    def polls(self, kind: str, metrics: Sequence[str], first: int, *, others: bool = False) -> Iterator[Poll]:
        """Every poll of every object of a kind from ``first`` until then, in time order; ``others`` as of a store."""
        for poll in super().polls(kind, metrics, first, others=others):
            if poll.ts > self.at:
                return
            yield poll

    def polls_near(self, kind: str, metrics: Sequence[str], moments: Sequence[int]) -> Iterator[Poll]:
        """The polls of all objects in the first snapshots at or after each moment, until then."""
        return (poll for poll in super().polls_near(kind, metrics, moments) if poll.ts <= self.at)

    def rate_sums(self, kind: str, metric: str, begun: Sequence[int], step_ms: int, **selection: Any) -> Any:
        """Sums over the objects of each owner, until then."""
        until = self._until(selection.get("until"))
        return super().rate_sums(kind, metric, begun, step_ms, **{**selection, "until": until})

    def polls_at(
        self, names: Collection[ObjectName], metrics: Sequence[str], moments: Sequence[int]
    ) -> tuple[Poll, ...]:
        """The polls of some objects at some moments, until then."""
        return super().polls_at(names, metrics, [each for each in moments if each <= self.at])

    def records(self, kind: str, metrics: Sequence[str], first: int) -> Iterator[Poll]:
        """Every record that ended from ``first`` until then."""
        return (poll for poll in super().records(kind, metrics, first) if poll.ts <= self.at)

    def newest_records(self) -> tuple[Snapshot, ...]:
        """Not kept."""
        return ()

    def current(self, name: ObjectName) -> Mapping[str, CurrentValue]:
        """The value, or the reason of its absence, that every metric of an object had."""
        self._kind(name.kind)
        with self._query() as connection:
            number = self._number(connection, name)
            query = self._moment(name.kind, None)
            return self.kept.value(connection, query, number, name.owner, self._last_of(name.owner))

    def current_by_kind(
        self, owner: str, kind: str, metrics: Collection[str] | None = None
    ) -> Mapping[ObjectName, Mapping[str, CurrentValue]]:
        """``current`` of all objects of a kind of an owner that were there."""
        return self._values(owner, kind, metrics)

    def current_of(
        self, owner: str, kind: str, names: Collection[ObjectName], metrics: Collection[str]
    ) -> Mapping[ObjectName, Mapping[str, CurrentValue]]:
        """``current`` of those of these objects of one owner and kind that were there."""
        return self._values(owner, kind, metrics, names=names)

    def current_naming(
        self,
        owner: str,
        kind: str,
        naming: tuple[str, str],
        metrics: Collection[str] | None = None,
        *,
        doubtful: bool = False,
    ) -> Mapping[ObjectName, Mapping[str, CurrentValue]]:
        """``current_by_kind`` of the objects that named another one then, and of few others; ``doubtful`` as of a store."""
        metric, value = naming
        self._metric(kind, metric)
        with self._query() as connection:
            query, last = self._moment(kind, (metric,)), self._last_of(owner)
            numbers = self.kept.naming(connection, query, owner, last, metric, value, doubtful=doubtful)
        return self._values(owner, kind, metrics, numbers=numbers)

    def _values(
        self,
        owner: str,
        kind: str,
        metrics: Collection[str] | None,
        *,
        names: Collection[ObjectName] | None = None,
        numbers: Collection[int] | None = None,
    ) -> Mapping[ObjectName, Mapping[str, CurrentValue]]:
        """``current`` of the objects of a kind of an owner that were there; only of those with these names or numbers."""
        self._kind(kind)
        with self._query() as connection:
            query = self._moment(kind, metrics)
            return self.kept.values(connection, query, owner, self._last_of(owner), names=names, numbers=numbers)

    def instances(self, name: ObjectName) -> tuple[Instance, ...]:  # noqa: ARG002 - as of a store
        """Not kept."""
        return ()

    def alerts(
        self, *, include_ended: bool = False, include_pending: bool = False, review: bool | None = None
    ) -> tuple[StoredAlert, ...]:
        """The alerts as they were then, as far as they were stored by then."""
        with self._query() as connection:
            found = self.kept.alerts.read(connection, self.at, ended=include_ended)
        return tuple(
            each
            for each in found
            if (include_pending or each.alert.started is not None)
            and (review is None or (each.alert.kind_of_rule != OPERATIONAL) is review)
        )

    def alerts_about(self, name: ObjectName) -> tuple[StoredAlert, ...]:
        """The alerts of an object as they were then."""
        found = self.alerts(include_ended=True, include_pending=True)
        return tuple(each for each in found if name in (each.alert.key.object, each.alert.scope))

    def alerts_within(self, since: int, until: int) -> tuple[StoredAlert, ...]:
        """The operational alerts that fired from ``since`` on, ``until`` or the moment at the latest."""
        return tuple(
            each
            for each in self.alerts(include_ended=True, review=False)
            if (each.alert.started or 0) <= until and (each.alert.ended is None or each.alert.ended >= since)
        )

    def alert(self, number: int) -> StoredAlert | None:
        """The alert with this number as it was then; None: there was none."""
        with self._query() as connection:
            return next(iter(self.kept.alerts.read(connection, self.at, ended=True, number=number)), None)

    def actions(self) -> Actions:
        """What people had done about alerts."""
        return super().actions().until(self.at)

    def count_unseen(self, since: int) -> int:  # noqa: ARG002 - as of a store
        """0: who looks at the past has seen what ended before."""
        return 0

    def audit(self, *, since: int = 0, until: int = LAST, limit: int) -> tuple[AuditEntry, ...]:
        """The actions of people until then."""
        return super().audit(since=since, until=self._until(until), limit=limit)

    def transitions(self, number: int) -> tuple[StoredTransition, ...]:
        """How an alert came to be what it was, oldest first."""
        return tuple(each for each in super().transitions(number) if each.ts <= self.at)

    def receivers(self) -> tuple[ReceiverRow, ...]:
        """Not kept."""
        return ()

    def last_notifications(self, alerts: Iterable[int]) -> Mapping[tuple[int, str], LastNotification]:  # noqa: ARG002
        """Not kept."""
        return {}

    def alert_groups(self) -> Mapping[tuple[str, str], AlertGroup]:
        """Not kept."""
        return {}

    def mutes(self) -> tuple[frozenset[int], Mapping[int, int]]:
        """Not kept."""
        return frozenset(), {}

    def event_queues(self) -> tuple[EventQueueRow, ...]:
        """Not kept."""
        return ()

    def consoles_failing(self) -> tuple[tuple[str, str], ...]:
        """Not kept."""
        return ()

    def messages(self, **selection: Any) -> tuple[StoredMessage, ...]:
        """Console messages until then."""
        return super().messages(**{**selection, "until": self._until(selection.get("until"))})

    def changes(self, **selection: Any) -> tuple[Change, ...]:
        """Changes of definitions seen until then."""
        return super().changes(**{**selection, "until": self._until(selection.get("until"))})

    def journal(self, since: int, until: int = LAST, **selection: Any) -> tuple[JournalEntry, ...]:
        """Entries of the journal until then."""
        return super().journal(since, self._until(until), **selection)

    def new_messages(self, number: int, since: int) -> NewMessages:
        """Console messages until then."""
        found = super().new_messages(number, since)
        return found._replace(rows=tuple(each for each in found.rows if each.ts <= self.at))

    def newest_messages(self, owner: str, code: str) -> tuple[StoredMessage, ...]:
        """Console messages until then, those that no later one about the same object replaced."""
        return tuple(each for each in super().newest_messages(owner, code) if each.ts <= self.at)

    def unknown_counts(self) -> tuple[UnknownRow, ...]:
        """Not kept."""
        return ()

    def _until(self, until: int | None) -> int:
        return self.at if until is None else min(until, self.at)

    def _ended(self, begun: Sequence[int]) -> list[int]:
        return [hour for hour in begun if hour + HOUR_MS <= self.at]

    def _last_of(self, owner: str) -> int:
        """The newest snapshot of an owner by then, else of its records; the moment itself where there is none."""
        return next((each.last_ts for each in self.owners() if each.name == owner), self.at)

    def _moment(self, kind: str, metrics: Collection[str] | None) -> MomentQuery:
        self._look_at_columns()
        tables = self._tables[kind]
        present, kept = (self._columns.get(name, frozenset()) for name in (tables.current, tables.history))
        return MomentQuery(self._kind(kind), tables, present, kept, self.at, metrics, self.kept.hours)
