"""Reads a store, beside its writer or after it."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mqvitals_agent.alerting.decision import LastNotification
from mqvitals_agent.alerting.grouping import AlertGroup
from mqvitals_agent.store.error import UnknownNameError
from mqvitals_agent.store.file.database import closed_on_error, explained
from mqvitals_agent.store.file.integrity import count_invalid_times
from mqvitals_agent.store.file.schema import (
    ALERTS_FROM,
    KEPT_FROM,
    REFUSED,
    columns_of,
    open_reader,
    read_meta,
    refuse_foreign_objects,
)
from mqvitals_agent.store.result import LIVE, CurrentValue, Owner, Series, StoredObject, StoreMeta, UnknownRow
from mqvitals_agent.store.rows.actions import (
    NO_ACTIONS,
    Actions,
    AuditEntry,
    count_unseen,
    last_audit,
    read_actions,
    read_audit,
)
from mqvitals_agent.store.rows.alerts import (
    SeveritySpan,
    StoredAlert,
    StoredTransition,
    read_alerts,
    read_severity_spans,
    read_transitions,
)
from mqvitals_agent.store.rows.changes import Change, read_changes
from mqvitals_agent.store.rows.current import CurrentQuery
from mqvitals_agent.store.rows.history import (
    FIRST,
    LAST,
    HistoryQuery,
    HourMean,
    Poll,
    PollColumns,
    Sample,
    read_hours,
    read_means,
)
from mqvitals_agent.store.rows.journal import JournalEntry, JournalQuery, read_journal
from mqvitals_agent.store.rows.messages import (
    EventQueueRow,
    NewMessages,
    StoredMessage,
    read_event_queues,
    read_failing,
    read_followed,
    read_messages,
    read_new_messages,
    read_newest_messages,
)
from mqvitals_agent.store.rows.notification_rows import read_last
from mqvitals_agent.store.rows.notifications import read_groups, read_mutes
from mqvitals_agent.store.rows.objects import (
    number_of,
    read_closest,
    read_instances,
    read_leading,
    read_objects,
    read_owners,
    read_polled_cells,
    read_snapshot_span,
    read_snapshot_times,
    read_unknown_counts,
)
from mqvitals_agent.store.rows.receivers import ReceiverRow, read_receivers
from mqvitals_agent.store.rows.steps import Step, end_of_cycle, step_back, step_on
from mqvitals_agent.store.rows.tables import moment, tables_of, text
from mqvitals_rules.history import covering, newest
from mqvitals_rules.snapshot import Instance, ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.event import CONSOLE, categories_of
from mqvitals_rules.vocabulary.journal import EntryKind
from mqvitals_rules.vocabulary.metric import Kind, Metric
from mqvitals_rules.vocabulary.tables import KINDS

if TYPE_CHECKING:
    from mqvitals_agent.store.moment_reader import KeptKinds

OPERATIONAL = "operational"
"""The ``kind_of_rule`` of alerts to act on; every other kind is advice."""

_STEPS = 20_000
"""SQLite instructions between two looks at the clock: about a millisecond."""


class StoreReader:
    """A read-only view of a store. Use it from one thread; ``close`` it, or leave a ``with`` block.

    Each query sees the store as of its own moment. Every method raises StoreError when the store cannot be read, or
    when the query takes longer than ``limit_s``.
    """

    failing = False
    generation = 0
    """What cannot be read raises."""

    def __init__(self, path: Path, connection: sqlite3.Connection, kinds: Mapping[str, Kind], limit_s: float) -> None:
        """For ``open``."""
        self.path = path
        self._connection = connection
        self._kinds = kinds
        self._limit_s = limit_s
        self._tables = tables_of(kinds)
        self._actions = NO_ACTIONS
        self._schema = -1
        self._kept_until = 0
        self._kept_kinds: KeptKinds = {}
        self._columns: dict[str, frozenset[str]] = {}
        with self._query():
            self._look_at_columns()

    @classmethod
    def open(cls, path: Path | str, *, kinds: Mapping[str, Kind] = KINDS, limit_s: float = 30.0) -> StoreReader:
        """Open the store at ``path``.

        Raises StoreError: no such file, no permission, no store, empty, a newer or older structure, damaged.
        """
        path = Path(path).resolve()
        with closed_on_error(open_reader(path)) as connection:
            return cls(path, connection, kinds, limit_s)

    def as_of(self, at: int) -> StoreReader:
        """A view of the store as of ``at`` (ms UTC), with the same methods; it uses the connection of this reader.

        What was read for a moment serves later calls for others, until ``forget_moments`` or a moment after that reading.
        """
        from mqvitals_agent.store.moment_reader import MomentReader

        if self._kept_until < at:
            self._kept_until, self._kept_kinds = self.last_ts() or 0, {}
        return MomentReader(self, at, self._kept_kinds)

    def forget_moments(self) -> None:
        """Release what was read for past moments."""
        self._kept_until, self._kept_kinds = 0, {}

    def step(self, at: int | None, step: Step, *, on: bool) -> int | None:
        """The moment (ms UTC) one step before ``at``, or with ``on`` after it; ``at`` None: before the newest cycle.

        None: there is no such step.
        """
        with self._query() as connection:
            if at is None:
                return None if on else step_back(connection, LAST, step)
            return step_on(connection, at, step) if on else step_back(connection, at, step)

    def end_of_cycle(self, ts: int) -> int:
        """When the cycle was over in which a snapshot was taken at ``ts``, ms UTC."""
        with self._query() as connection:
            return end_of_cycle(connection, ts)

    def close(self) -> None:
        """Close the store; a second call does nothing."""
        self._connection.close()

    def __enter__(self) -> StoreReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def meta(self) -> StoreMeta:
        """The store's own facts."""
        with self._query() as connection:
            facts = read_meta(connection)
        return StoreMeta(
            mode=facts.get("mode", LIVE),
            source=facts.get("source", ""),
            group=facts.get("group", ""),
            created=facts.get("created", ""),
            version=facts.get("version", ""),
            refused=facts.get(REFUSED, ""),
            kept_from=_moment_of(facts, KEPT_FROM),
            alerts_kept_from=_moment_of(facts, ALERTS_FROM),
        )

    def owners(self) -> tuple[Owner, ...]:
        """Every queue manager that has a snapshot, by name, the group last."""
        with self._query() as connection:
            return read_owners(connection)

    def passed_over(self) -> Mapping[str, int]:
        """How many rows of each table are dated outside any calendar, and are therefore not read."""
        with self._query() as connection:
            self._look_at_columns()
            there = [each for each in self._tables.values() if each.history in self._columns]
            return count_invalid_times(connection, there)

    def last_ts(self) -> int | None:
        """When the newest snapshot was taken: "now" for a replayed store. None when there is none yet."""
        return max((owner.last_ts for owner in self.owners()), default=None)

    def objects(self, pattern: str = "*", *, gone: bool = False) -> tuple[StoredObject, ...]:
        """The objects whose whole name is ``pattern``, or matches it as file names do (``QM*/queue/APPL.*``).

        Sorted by name. Those that no longer exist only with ``gone``.
        """
        with self._query() as connection:
            return read_objects(connection, pattern, gone=gone)

    def has(self, name: ObjectName) -> bool:
        """Whether the store knows an object, also one that no longer exists."""
        with self._query() as connection:
            return number_of(connection, name) is not None

    def closest(self, wanted: str) -> tuple[str, ...]:
        """The three whole names of objects that look most like ``wanted``, best first, for "did you mean"."""
        with self._query() as connection:
            return read_closest(connection, wanted)

    def trend(self, name: ObjectName, metric: str, since: int | None = None, until: int | None = None) -> Series:
        """A number or state over time: one point a poll, from ``since`` to ``until`` (ms UTC, both included).

        Where records hold it, and polls do not or cover less of this time, one point a record.

        Raises UnknownNameError for an unknown object or metric, or a text, which has no history.
        """
        known = self._metric(name.kind, metric)
        if not known.in_history:
            raise UnknownNameError(f"{name.kind}.{metric} is a text: only numbers and states have a history")
        with self._query() as connection:
            self._number(connection, name)
            first, last = FIRST if since is None else since, LAST if until is None else until
            source, samples = covering(self._by_source(connection, name, metric, first=first, last=last), first - 1)
            kept_from = self._deleted(connection, name, first)
        points = tuple((ts, value) for ts, _, value in samples)
        return Series(name, metric, known.unit, points, tuple(each[1] for each in samples), source, kept_from)

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
            # What only records hold has nothing in thousands of polls, where there is a record.
            polled = [
                metric
                for metric, each in known.items()
                if not each.needs_smf or not any(rows[metric] for rows in by_source.values())
            ]
            nothing: dict[str, list[Sample]] = {metric: [] for metric in known}
            polls = history.several(connection, name, polled, first=first, last=last)
            by_source = {Source.POLL: nothing | polls, **by_source}
            kept_from = self._deleted(connection, name, first)
        series = {}
        for metric, found in known.items():
            source, samples = covering({each: rows[metric] for each, rows in by_source.items()}, first - 1)
            points = tuple((ts, value) for ts, _, value in samples)
            lengths = tuple(each.interval_ms for each in samples)
            series[metric] = Series(name, metric, found.unit, points, lengths, source, kept_from)
        return series

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
            return self._history(name.kind).samples(
                connection, name, metric, source, first=first, last=last, polled_only=True, newest=newest
            )

    def covering_samples(
        self, name: ObjectName, metric: str, *, first: int = FIRST, last: int = LAST, newest_of: int | None = None
    ) -> tuple[Source, Sequence[Sample]]:
        """``samples`` of the one source that covers this time best, and which it is.

        Raises UnknownNameError for an unknown metric.
        """
        self._metric(name.kind, metric)
        with self._query() as connection:
            found = self._by_source(
                connection, name, metric, first=first, last=last, newest=newest_of, polled_only=True
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

    def record_sources(self, name: ObjectName) -> tuple[Source, ...]:
        """The sources, other than polls, that have samples of an object."""
        with self._query() as connection:
            return self._history(name.kind).sources(connection, name)

    def _by_source(
        self, connection: sqlite3.Connection, name: ObjectName, metric: str, **selection: Any
    ) -> dict[Source, list[Sample]]:
        """The samples of each source, as ``HistoryQuery.samples`` selects them."""
        history = self._history(name.kind)
        sources = (Source.POLL, *history.sources(connection, name))
        return {source: history.samples(connection, name, metric, source, **selection) for source in sources}

    def hour_means(
        self, kind: str, metric: str, hours: Sequence[int], name: ObjectName | None = None
    ) -> dict[ObjectName, list[float]]:
        """The means of the hours that began at ``hours`` (ms UTC), of all objects of a kind or of one.

        Raises UnknownNameError.
        """
        self._metric(kind, metric)
        with self._query() as connection:
            return read_means(connection, kind, metric, hours, name)

    def hours(self, kind: str, metric: str, begun: Sequence[int]) -> list[HourMean]:
        """The means of the hours that began at ``begun`` (ms UTC), of all objects of a kind. Raises UnknownNameError."""
        self._metric(kind, metric)
        with self._query() as connection:
            return read_hours(connection, kind, metric, begun)

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

    def leading(self, kind: str, metric: str, count: int) -> list[tuple[ObjectName, CurrentValue]]:
        """The objects of a kind with the greatest numbers above 0 in a metric, the greatest first. Raises UnknownNameError."""
        self._metric(kind, metric)
        with self._query() as connection:
            self._look_at_columns()
            tables = self._tables[kind]
            if metric not in self._columns.get(tables.current, ()):
                return []
            return read_leading(connection, tables.current, kind, metric, count)

    def polls(self, kind: str, metrics: Sequence[str], first: int) -> Iterator[Poll]:
        """Every poll of every object of a kind with ts >= ``first``, in time order. Raises UnknownNameError."""
        for metric in metrics:
            self._metric(kind, metric)
        with self._query() as connection:
            yield from self._history(kind).polls(connection, metrics, first)

    def polls_near(self, kind: str, metrics: Sequence[str], moments: Sequence[int]) -> Iterator[Poll]:
        """The polls of every object of a kind in the kind's first snapshot at or after each moment (ms UTC) but the last,
        and before the next one: one look at each part of a long time. Raises UnknownNameError.
        """
        for metric in metrics:
            self._metric(kind, metric)
        with self._query() as connection:
            yield from self._history(kind).polls_near(connection, metrics, moments)

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

    def current(self, name: ObjectName) -> Mapping[str, CurrentValue]:
        """The newest value, or the reason of its absence, of every metric of an object.

        Raises UnknownNameError for an unknown object.
        """
        self._kind(name.kind)
        with self._query() as connection:
            number = self._number(connection, name)
            return self._current(name.kind, None).of(connection, "object_id = ?", (number,)).get(number, {})

    def current_by_kind(
        self, owner: str, kind: str, metrics: Collection[str] | None = None
    ) -> Mapping[ObjectName, Mapping[str, CurrentValue]]:
        """``current`` of all existing objects of a kind of an owner, by name; only of ``metrics`` when given.

        Raises UnknownNameError for an unknown kind.
        """
        self._kind(kind)
        with self._query() as connection:
            numbers = connection.execute(
                "SELECT id, name FROM object WHERE owner = ? AND kind = ? AND gone_ts IS NULL ORDER BY name",
                (owner, kind),
            ).fetchall()
            values = self._current(kind, metrics).of(
                connection,
                "object_id IN (SELECT id FROM object WHERE owner = ? AND kind = ? AND gone_ts IS NULL)",
                (owner, kind),
            )
            return {ObjectName(owner, kind, text(name)): values.get(number, {}) for number, name in numbers}

    def current_of(
        self, owner: str, kind: str, names: Collection[ObjectName], metrics: Collection[str]
    ) -> Mapping[ObjectName, Mapping[str, CurrentValue]]:
        """``current`` of those of these objects of one owner and kind that exist. Raises UnknownNameError."""
        found = self.current_by_kind(owner, kind, metrics)
        return {name: values for name, values in found.items() if name in names}

    def current_naming(
        self,
        owner: str,
        kind: str,
        naming: tuple[str, str],
        metrics: Collection[str] | None = None,
        *,
        doubtful: bool = False,
    ) -> Mapping[ObjectName, Mapping[str, CurrentValue]]:
        """``current_by_kind`` of the objects that name another: of ``naming``, a metric and a value as it stands in a name.

        There may be further ones among them. With ``doubtful`` all are there of which it is not known what they name, and
        where there are others, one of these. Raises UnknownNameError.
        """
        metric, value = naming
        self._metric(kind, metric)
        with self._query() as connection:
            there = self._current(kind, (metric,)).naming(connection, owner, metric, value, doubtful=doubtful)
            values = self._current(kind, metrics).of(
                connection,
                "object_id IN (SELECT value FROM json_each(?))",
                (json.dumps([number for number, _ in there]),),
            )
            return {ObjectName(owner, kind, name): values.get(number, {}) for number, name in there}

    def instances(self, name: ObjectName) -> tuple[Instance, ...]:
        """The current instances of an object that has several, by key.

        Raises UnknownNameError for an unknown object.
        """
        with self._query() as connection:
            return read_instances(connection, self._number(connection, name), name)

    def alerts(
        self, *, include_ended: bool = False, include_pending: bool = False, review: bool | None = None
    ) -> tuple[StoredAlert, ...]:
        """The firing alerts, in the order they arose; also those that ended after firing, or wait for their hold.

        ``review``: True only advice, False only operational alerts, None both.
        """
        states = ["firing", *(["resolved"] if include_ended else []), *(["pending"] if include_pending else [])]
        with self._query() as connection:
            found = tuple(read_alerts(connection, f"state IN ({', '.join('?' * len(states))})", tuple(states)))
        return tuple(each for each in found if review is None or (each.alert.kind_of_rule != OPERATIONAL) is review)

    def alerts_about(self, name: ObjectName) -> tuple[StoredAlert, ...]:
        """The alerts of an object, in the order they arose: of itself, or as the object to which they belong; also those
        that have ended, or wait for their hold.
        """
        where = "(owner = ? AND kind = ? AND name = ?) OR (scope_owner = ? AND scope_kind = ? AND scope_name = ?)"
        with self._query() as connection:
            return tuple(read_alerts(connection, where, (*name, *name)))

    def alerts_within(self, since: int, until: int) -> tuple[StoredAlert, ...]:
        """The alerts of operational rules that fired at some time from ``since`` to ``until`` (ms UTC), in the order
        they arose.
        """
        where = "kind_of_rule = ? AND started <= ? AND (state = 'firing' OR state = 'resolved' AND ended >= ?)"
        with self._query() as connection:
            return tuple(read_alerts(connection, where, (OPERATIONAL, until, since)))

    def severity_spans(self, since: int, until: int) -> tuple[SeveritySpan, ...]:
        """How severe the alerts of operational rules were that fired from ``since`` to ``until`` (ms UTC), by alert."""
        with self._query() as connection:
            return tuple(read_severity_spans(connection, OPERATIONAL, since, until))

    def alert(self, number: int) -> StoredAlert | None:
        """The alert with this number in the store; None: there is none."""
        with self._query() as connection:
            return next(read_alerts(connection, "id = ?", (number,)), None)

    def actions(self) -> Actions:
        """What people did about alerts; read again only where something is new since the last look."""
        with self._query() as connection:
            self._actions = read_actions(connection, self._actions)
        return self._actions

    def last_action(self) -> int:
        """The number of the newest action of a person; it changes with every action."""
        with self._query() as connection:
            return last_audit(connection)

    def count_unseen(self, since: int) -> int:
        """How many warnings and worse began after ``since`` (ms UTC) and ended before anybody acknowledged them."""
        with self._query() as connection:
            return count_unseen(connection, OPERATIONAL, since)

    def audit(self, *, since: int = 0, until: int = LAST, limit: int) -> tuple[AuditEntry, ...]:
        """The newest ``limit`` actions of people from ``since`` to ``until`` (ms UTC), oldest first."""
        with self._query() as connection:
            return read_audit(connection, since=since, until=until, limit=limit)

    def transitions(self, number: int) -> tuple[StoredTransition, ...]:
        """How an alert came to be what it is, oldest first."""
        with self._query() as connection:
            return tuple(read_transitions(connection, number))

    def receivers(self) -> tuple[ReceiverRow, ...]:
        """The receivers of notifications, by name, and their state."""
        with self._query() as connection:
            return read_receivers(connection)

    def last_notifications(self, alerts: Iterable[int]) -> Mapping[tuple[int, str], LastNotification]:
        """(number of an alert, receiver) -> the last notification that the receiver has or will get."""
        with self._query() as connection:
            return read_last(connection, alerts)

    def alert_groups(self) -> Mapping[tuple[str, str], AlertGroup]:
        """(receiver, key) -> the state of each group of alerts that has something to tell, or was told something."""
        with self._query() as connection:
            return read_groups(connection)

    def mutes(self) -> tuple[frozenset[int], Mapping[int, int]]:
        """The numbers of the firing alerts that are muted; of those that were, the last row of a notification before."""
        with self._query() as connection:
            return read_mutes(connection)

    def consoles_followed(self) -> frozenset[str]:
        """The queue managers whose console messages the followed files hold."""
        with self._query() as connection:
            return read_followed(connection)

    def event_queues(self) -> tuple[EventQueueRow, ...]:
        """The event queues that are read, by the queue manager whose events come on them and their name."""
        with self._query() as connection:
            return read_event_queues(connection)

    def sources_followed(self) -> Mapping[str, frozenset[str]]:
        """Queue manager -> the sources of messages that are followed: its console, categories of its events."""
        found = dict.fromkeys(self.consoles_followed(), frozenset((CONSOLE,)))
        for row in self.event_queues():
            if row.ts and not row.problem:
                found[row.owner] = found.get(row.owner, frozenset()) | categories_of(row.queue)
        return found

    def consoles_failing(self) -> tuple[tuple[str, str], ...]:
        """The files of console messages that cannot be followed, by path, and why."""
        with self._query() as connection:
            return read_failing(connection)

    def messages(
        self,
        *,
        owners: Sequence[str] | None = None,
        codes: Collection[str] | None = None,
        since: int = -1,
        until: int | None = None,
        about: tuple[str, str] | None = None,
        limit: int | None = None,
    ) -> tuple[StoredMessage, ...]:
        """Console messages with ``since`` < last time and first time <= ``until``, oldest first; the newest ``limit``
        of them.

        ``about`` is kind and name of an object that they name.
        """
        with self._query() as connection:
            return tuple(
                read_messages(
                    connection, owners=owners, codes=codes, since=since, until=until, about=about, limit=limit
                )
            )

    def changes(
        self,
        *,
        since: int = 0,
        until: int | None = None,
        possible_at: int | None = None,
        pattern: str | None = None,
        objects: Collection[ObjectName] | None = None,
        limit: int,
    ) -> tuple[Change, ...]:
        """The newest ``limit`` changes of definitions seen from ``since`` to ``until`` (ms UTC), oldest first.

        With ``possible_at`` only those that may have been made by then, also if they were seen later. ``pattern`` is as
        of ``objects()``; ``objects`` are those wanted.
        """
        with self._query() as connection:
            return read_changes(
                connection,
                since=since,
                until=until,
                possible_at=possible_at,
                pattern=pattern,
                objects=objects,
                limit=limit,
            )

    def journal(
        self,
        since: int,
        until: int = LAST,
        *,
        owners: Collection[str] | None = None,
        objects: Collection[ObjectName] | None = None,
        kinds: Collection[EntryKind] | None = None,
        pattern: str | None = None,
        limit: int,
    ) -> tuple[JournalEntry, ...]:
        """The newest ``limit`` entries of the journal from ``since`` to ``until`` (ms UTC), oldest first.

        ``owners``, ``objects`` and ``kinds`` are those wanted; ``pattern`` is as of ``objects()``.
        """
        with self._query() as connection:
            return read_journal(connection, JournalQuery(since, until, owners, objects, kinds, pattern, limit))

    def new_messages(self, number: int, since: int) -> NewMessages:
        """The console messages in rows with a higher number than ``number``, and those that came last after ``since``
        (ms UTC).
        """
        with self._query() as connection:
            return read_new_messages(connection, number, since)

    def newest_messages(self, owner: str, code: str) -> tuple[StoredMessage, ...]:
        """The newest console message of a queue manager with an id about each object."""
        with self._query() as connection:
            return read_newest_messages(connection, owner, code)

    def unknown_counts(self) -> tuple[UnknownRow, ...]:
        """For how many objects of each owner's last snapshot a rule is unknown, by reason."""
        with self._query() as connection:
            return read_unknown_counts(connection)

    @contextmanager
    def _query(self) -> Iterator[sqlite3.Connection]:
        ends = time.monotonic() + self._limit_s
        self._connection.set_progress_handler(lambda: time.monotonic() > ends, _STEPS)
        with explained(self.path, "reading"):  # rows are decoded inside the query
            yield self._connection

    def _kind(self, kind: str) -> Kind:
        known = self._kinds.get(kind)
        if known is None:
            raise UnknownNameError(f"there is no kind {kind!r}", tuple(get_close_matches(kind, self._kinds)))
        return known

    def _metric(self, kind: str, metric: str) -> Metric:
        known = self._kind(kind)
        found = known.metric(metric)
        if found is None:
            near = get_close_matches(metric, [each.name for each in known.metrics])
            raise UnknownNameError(f"kind {kind} has no metric {metric!r}", tuple(near))
        return found

    def _number(self, connection: sqlite3.Connection, name: ObjectName) -> int:
        number = number_of(connection, name)
        if number is None:
            raise UnknownNameError(f"the store {self.path} holds no object {name}", self.closest(str(name)))
        return number

    def _deleted(self, connection: sqlite3.Connection, name: ObjectName, first: int) -> int | None:
        """From when on the samples of an object are kept, where it was there before and ``first`` is earlier."""
        kept_from = _moment_of(read_meta(connection), KEPT_FROM)
        if kept_from is None or first >= kept_from:
            return None
        row = connection.execute(
            "SELECT 1 FROM object WHERE owner = ? AND kind = ? AND name = ? AND first_ts < ?", (*name, kept_from)
        ).fetchone()
        return None if row is None else kept_from

    def _look_at_columns(self) -> None:
        """Which columns there are now: a writer that begins, perhaps of a later version, adds those that
        are missing.
        """
        schema = self._connection.execute("PRAGMA schema_version").fetchone()[0]
        if schema != self._schema:
            refuse_foreign_objects(self.path, self._connection)
            self._columns = columns_of(self._connection)
            self._schema = schema

    def _history(self, kind: str) -> HistoryQuery:
        self._look_at_columns()
        tables = self._tables[kind]
        return HistoryQuery(tables, self._columns.get(tables.history, frozenset()))

    def _current(self, kind: str, metrics: Collection[str] | None) -> CurrentQuery:
        self._look_at_columns()
        tables = self._tables[kind]
        return CurrentQuery(tables, self._columns.get(tables.current, frozenset()), metrics)


def _moment_of(facts: Mapping[str, str], key: str) -> int | None:
    return moment(int(facts[key])) if facts.get(key, "").isdecimal() else None
