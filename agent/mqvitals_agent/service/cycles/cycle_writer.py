"""A cycle's exchanges on the store's thread: collected into snapshots, evaluated by the rules, and stored."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import tzinfo
from pathlib import Path

from mqvitals_agent.ingest.live_state import LiveState
from mqvitals_agent.ingest.pipeline import Ingest, OnTransitions
from mqvitals_agent.ingest.stored_baselines import FurtherHours
from mqvitals_agent.poll.collector import Collector
from mqvitals_agent.remote_write.state import RemoteState
from mqvitals_agent.service.agent_meters import ReceiverMeter, RemoteWriteMeter, StoreMeter, disk_space
from mqvitals_agent.service.cycles.cycle import CycleExchanges, ExchangeTap, StoredCycle, dated_at, shifted
from mqvitals_agent.service.cycles.cycle_clock import CORRECTION_MS
from mqvitals_agent.service.server_meter import ServerMeter, ServerState
from mqvitals_agent.store.deletion_clock import DeletionClock, DeletionDecision
from mqvitals_agent.store.error import StoreError, StoreState
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.resilient import ResilientStore
from mqvitals_agent.store.retention import Retention, RetentionPolicy, RetentionStep, never
from mqvitals_agent.store.rows.alerts.notifications import UpdateOutbox
from mqvitals_agent.store.rows.journal import ACTIVE, RELOADED, STARTED, JournalEntry
from mqvitals_agent.store.sealing import Sealing, SealingStep
from mqvitals_agent.store.writer import Store
from mqvitals_config.decoding.scalars import time_zone
from mqvitals_config.settings import Settings
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.lifecycle.step import forgiven
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.ruleset.facts import Facts
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.agent import RECEIVER_KIND, REMOTE_WRITE_KIND, SERVER_KIND
from mqvitals_rules.vocabulary.journal import EntryKind

_OURS = frozenset({"queue_manager", "store", "receiver", "remote_write", "server"})
"""Kinds that the agent itself reports: they exist as long as their queue manager is monitored."""


class CycleWriter:
    """Collects snapshots, evaluates rules and stores both. Use it in one thread, after ``open``.

    ``changed`` is as for ``Ingest``; ``steady_s`` returns elapsed time, seconds; ``engines`` how it goes with those of remote
    write, ``served`` with the small server. ``live`` may be read by other threads. ``taken_over``: another agent has polled
    until now, and its alerts are gone on with. ``further`` knows hours that the store does not hold.
    """

    def __init__(
        self,
        path: Path,
        settings: Settings,
        rule_config: RuleConfig,
        queue_managers: Sequence[str],
        *,
        source: str = "",
        update_outbox: UpdateOutbox | None = None,
        tap: ExchangeTap | None = None,
        changed: OnTransitions | None = None,
        steady_s: Callable[[], float] = time.monotonic,
        engines: Callable[[], Sequence[RemoteState]] = tuple,
        served: Callable[[], ServerState | None] = lambda: None,
        taken_over: bool = False,
        further: FurtherHours | None = None,
    ) -> None:
        self._path = path
        self._further = further
        self._engines = engines
        self._served = served
        self._taken_over = taken_over
        self._steady_s = steady_s
        self.live = LiveState()
        self._deletion_clock: DeletionClock | None = None
        self._settings = settings
        self._rule_config = rule_config
        self._queue_managers = tuple(queue_managers)
        self._source = source
        self._update_outbox = update_outbox
        self._tap = tap
        self._changed = changed
        self._collector = self._new_collector()
        self._store: ResilientStore | None = None
        self._retention: Retention | None = None
        self._sealing: Sealing | None = None
        self._retained: Store | None = None
        self._meter: StoreMeter | None = None
        self._receivers = ReceiverMeter()
        self._remote_write = RemoteWriteMeter()
        self._server = ServerMeter()
        self._ingest: Ingest | None = None
        self._known: dict[tuple[str, bool], dict[ObjectName, dict[str, Reading]]] = {}
        self._unwatched: dict[tuple[str, bool], list[ObjectName]] = {}
        self._began = self._now = 0
        self._failing: dict[str, str] = {}
        """What fails of upkeep, by what is done."""
        self._first: int | None = None
        """The date of this run's first cycle, by the clock as it is set now."""

    @property
    def facts(self) -> Facts:
        """What the site declares, by the configuration in force."""
        return self._rule_config.facts

    @property
    def store(self) -> Store:
        """The store's open file. Raises StoreError when it is not open, or missing."""
        return self.resilient_store.file

    @property
    def resilient_store(self) -> ResilientStore:
        """The open store, which works on without its file. Raises StoreError when it is not open."""
        if self._store is None:
            raise StoreError(f"the store {self._path} is not open")
        return self._store

    def open(self, now: int) -> tuple[int, int]:
        """Open the store at ``now`` (ms UTC); returns number and time of its last cycle, 0 and -1 for a new store.

        Raises StoreError.
        """
        self._now = now
        self._store = ResilientStore(self._open_file, lambda: self._now, dropped=self._lost)
        what = ACTIVE if self._taken_over else STARTED
        try:
            self._deletion_clock = DeletionClock(self._store.file, now, self._steady_ms())
            with StoreReader.open(self._path) as reader:
                self._settle(reader)
            self._ingest_in_use()
            self._note_agent(what)
            progress = self._store.file.progress().values()
            last = max((each.cycle for each in progress), default=0)
            # An owner whose last snapshot is of an earlier cycle may have a date of a clock that was set back since.
            return last, max((each.ts for each in progress if each.cycle == last), default=-1)
        except BaseException:  # raised again; a store that is half open keeps its lock
            self.close()
            raise

    def _open_file(self, now: int, busy_ms: int) -> Store:
        settings = self._settings.store
        return Store.open(
            self._path,
            source=self._source,
            group=self._settings.name or "",
            created=now,
            mode=settings.mode,
            shared_with=settings.group or "",
            busy_ms=busy_ms,
            ordered=bool(self._settings.remote_write),
        )

    def take(self, batch: CycleExchanges) -> StoredCycle:
        """Evaluate and store a cycle. A snapshot that cannot be written waits; ``errors`` says why."""
        store = self.resilient_store
        self._began = self._now = batch.began
        self._correct(batch)
        errors: list[StoreError] = []
        for queue_manager, intervals in batch.intervals.items():
            for interval in intervals:
                self._collector.builder.polling.set_interval(
                    queue_manager, interval.form, interval.interval_ms, interval.doubled
                )
        for queue_manager, calls in batch.calls.items():
            self._collector.builder.polling.set_calls(queue_manager, calls)
        for exchange in batch.exchanges:
            if self._tap is not None:
                self._tap(exchange)
            self._collector.feed(exchange)
        snapshots = self._collector.end_cycle(batch.number) if batch.exchanges else ()
        if batch.lead > 0:
            snapshots = tuple(dated_at(snapshot, batch.began) for snapshot in snapshots)
        before = store.written_snapshots, store.written_readings
        store.retry()
        snapshots = self._measured(snapshots)
        ingest = self._ingest_in_use()
        unwatched = self._unwatch(ingest, batch, errors)
        with store.gathering():
            for snapshot in snapshots:
                self._remember(snapshot)
                try:
                    ingest.take((snapshot,))
                except StoreError as error:
                    errors.append(error)
                    self._lost(snapshot)
        state = store.state
        if (refusal := store.take_refusal()) is not None:
            errors.append(refusal)
        return StoredCycle(
            batch.number,
            batch.began,
            len(batch.exchanges),
            store.written_snapshots - before[0],
            store.written_readings - before[1],
            ingest.firing,
            (*errors, *([state.trouble] if state.trouble else [])),
            tuple(unwatched),
            state,
            tuple(store.take_incidents()),
            store.refused,
            None if self._meter is None else self._meter.outlook,
        )

    def _correct(self, batch: CycleExchanges) -> None:
        """Date what is remembered of earlier cycles by the clock as it is set now: ages and intervals stay true."""
        if abs(batch.correction) >= CORRECTION_MS:
            self._collector.builder.shift(batch.correction)
        if self._first is None:
            self._first = batch.began
        elif abs(batch.shift) >= CORRECTION_MS:
            since, self._first = self._first, self._first + batch.shift
            if self._ingest is not None:
                self._ingest.shift(batch.shift, since)
            for known in self._known.values():
                for name, readings in known.items():
                    known[name] = {probe: shifted(reading, batch.shift) for probe, reading in readings.items()}

    def take_records(self, snapshot: Snapshot) -> None:
        """Store records between two cycles. Rules evaluate them as of the last cycle, by which they may be stale.

        Raises StoreError while the store cannot be written: the caller repeats them later.
        """
        store = self.resilient_store
        store.check()
        self._ingest_in_use().take((replace(snapshot, ts=max(snapshot.ts, self._began)),), store.write_now)

    def delete_old(self, waits: Callable[[], bool] = never) -> RetentionStep:
        """Delete some of what the store no longer keeps as of the last cycle; end soon when ``waits`` returns True.

        Raises StoreError; the step is rolled back then.
        """
        clock = self._deletion_clock
        if not self._began or clock is None:
            return RetentionStep(0, more=False)
        with self._upkeep("deleting"):
            retention = self._retaining()
            clock.go_on(self.store)
            return retention.step(clock.as_of(self._began, self._steady_ms()), waits)

    def write_back(self) -> bool:
        """Write the store's log back into its file where it is long; returns whether it was. Raises StoreError."""
        return bool(self._began) and self._retaining().write_back()

    def seal(self, waits: Callable[[], bool] = never) -> SealingStep:
        """Seal some of the finished hours as of the last cycle; end soon when ``waits`` returns True.

        Raises StoreError; the step is rolled back then.
        """
        clock = self._deletion_clock
        if not self._began or clock is None:
            return SealingStep()
        with self._upkeep("sealing"):
            retention = self._retaining()
            if self._sealing is None:
                self._sealing = Sealing(self.store, retention.policy.limit)
            # What is deleted by no clock is sealed by none: samples of a wrong one are to go first.
            return self._sealing.step(clock.as_of(self._began, self._steady_ms()), waits)

    @contextmanager
    def _upkeep(self, doing: str) -> Iterator[None]:
        """A step between cycles, which may find what no cycle touches damaged."""
        try:
            yield
        except StoreError as error:
            self._failing[doing] = f"{doing} fails: {error.message}"
            self.resilient_store.suspect(error)
            raise
        self._failing.pop(doing, None)

    @property
    def deletion(self) -> DeletionDecision:
        """The time as of which was deleted last, and why it is not the clock's."""
        return DeletionDecision(self._now) if self._deletion_clock is None else self._deletion_clock.decision

    @property
    def _waits(self) -> str:
        """Why old samples are not deleted, or finished hours not sealed; empty: they are."""
        return "; ".join(filter(None, (self.deletion.reason, *self._failing.values())))

    def _steady_ms(self) -> int:
        return round(self._steady_s() * 1000)

    def reload(self, settings: Settings, rule_config: RuleConfig, queue_managers: Sequence[str], *, anew: bool) -> None:
        """Use other settings and rules; open alerts stay. With ``anew`` nothing is known of the queue managers yet.

        Raises StoreError when the store cannot be read: the settings are in force nevertheless.
        """
        self._settings, self._rule_config, self._queue_managers = settings, rule_config, tuple(queue_managers)
        self._ingest = None
        self._retention = self._sealing = None
        self._note_agent(RELOADED)
        if anew:
            self._collector = self._new_collector()
            with StoreReader.open(self._path) as reader:
                self._settle(reader)
        self._ingest_in_use()

    def _note_agent(self, what: str) -> None:
        """Note in the journal what the agent has done, as of its last cycle."""
        about = ObjectName(self._settings.name or next(iter(self._queue_managers), "-"), "agent")
        self.resilient_store.note_entry(JournalEntry(self._now, EntryKind.AGENT, about, what))

    def close(self) -> StoreState:
        """Close the store; returns its state. A second call does nothing."""
        self._ingest = None
        self._retention = self._retained = self._sealing = self._meter = self._deletion_clock = None
        state = StoreState()
        if self._store is not None:
            self._store.close()
            state = self._store.state
            self._store = None
        return state

    def _retaining(self) -> Retention:
        """The retention of the file in use. Raises StoreError."""
        file = self.store
        if self._retention is None or self._retained is not file:
            watch = self._settings.smf.watch
            policy = RetentionPolicy(self._settings.store.keep, self._settings.store.limit)
            self._retention = Retention(file, policy, folder=None if watch is None else Path(watch))
            self._retained, self._sealing = file, None
            if self._meter is None:
                self._meter = StoreMeter(file, self._retention, disk=disk_space)
            else:
                self._meter.go_on(file, self._retention)
        return self._retention

    def _measured(self, snapshots: tuple[Snapshot, ...]) -> tuple[Snapshot, ...]:
        """The snapshots with the metrics of the store and of receivers, or without them when it cannot be read now."""
        with suppress(StoreError):
            self._retaining()
        if self._meter is None:
            return snapshots
        try:
            measured = self._meter.added(snapshots, self.resilient_store.state, self._waits)
            # Those of the settings before, which the store knows until delivery begins, are receivers no more.
            names = {str(each.name) for each in self._settings.receivers}
            rows = [each for each in self.resilient_store.notifications.receivers() if each.name in names]
            measured = self._receivers.added(measured, self._meter.owner, rows)
            engines = {str(each.name) for each in self._settings.remote_write}
            measured = self._remote_write.added(measured, self._meter.owner, self._engines(), engines)
            return self._server.added(measured, self._meter.owner, self._served())
        except StoreError:
            return snapshots

    def _settle(self, reader: StoreReader) -> None:
        """Read which objects the store knows from earlier runs.

        Those of queue managers that are monitored may be gone meanwhile; those of others are gone.
        """
        watched = {*self._queue_managers, *(str(each.name) for each in self._settings.queue_managers)}
        name = self._settings.name
        owners = {
            each.name: each.is_group
            for each in reader.owners()
            # An owner with records only was never monitored: there is nothing to end.
            if each.last_cycle
            and ((each.is_group and name not in (None, each.name)) or (not each.is_group and each.name not in watched))
        }
        self._unwatched = {}
        there = []
        for row in reader.objects():
            owner = row.name.owner
            if owner in owners:
                self._unwatched.setdefault((owner, owners[owner]), []).append(row.name)
            elif row.name.kind not in _OURS:
                there.append(row.name)
            elif row.name.kind == RECEIVER_KIND.name:
                self._receivers.remember(row.name)
            elif row.name.kind == REMOTE_WRITE_KIND.name:
                self._remote_write.remember(row.name)
            elif row.name.kind == SERVER_KIND.name:
                self._server.remember(row.name)
        # What an agent before this one knew, and has alerts about, may never have been in this store.
        known = set(there)
        there += [
            name
            for alert in self.resilient_store.alerts.all_open()
            for name in dict.fromkeys((alert.key.object, alert.scope))
            if name not in known and name.owner not in owners and name.kind not in _OURS
        ]
        self._collector.builder.remember(there)

    def _unwatch(self, ingest: Ingest, batch: CycleExchanges, errors: list[StoreError]) -> list[str]:
        done = []
        for (owner, is_group), objects in list(self._unwatched.items()):
            gone = tuple(Reading(each, "", batch.began, {}, gone=True) for each in objects)
            try:
                ingest.unwatch(Snapshot(owner, group=is_group, cycle=batch.number, ts=batch.began, readings=gone))
            except StoreError as error:
                errors.append(error)
                break
            del self._unwatched[owner, is_group]
            self._known.pop((owner, is_group), None)
            done.append(owner)
        return done

    def _lost(self, snapshot: Snapshot) -> None:
        """A snapshot will never be stored: report once more that its objects are gone."""
        self._collector.builder.remember(reading.object for reading in snapshot.readings if reading.gone)

    def _ingest_in_use(self) -> Ingest:
        """The ingest of the settings in force."""
        if self._ingest is not None:
            return self._ingest
        store = self.resilient_store
        self._ingest = ingest = Ingest(
            store,
            self._rule_config,
            self._update_outbox,
            older=store.older,
            further=self._further,
            known=self._latest(),
            changed=self._changed,
            live=self.live,
            resumed=self._resumed,
        )
        self._taken_over = False
        store.latest = ingest.latest
        return ingest

    def _resumed(self, alert: Alert) -> Alert:
        """An open alert as this agent goes on with it."""
        if not self._taken_over:
            return alert
        interval_ms = self._settings.polling.interval
        return forgiven(alert, self._rule_config.rules.look_back_polls(alert, interval_ms))

    def _latest(self) -> list[Snapshot]:
        """The latest readings of every object, from which a new engine begins."""
        return [
            Snapshot(owner, group=group, cycle=0, ts=0, readings=tuple(_by_time(objects.values())))
            for (owner, group), objects in self._known.items()
        ]

    def _remember(self, snapshot: Snapshot) -> None:
        known = self._known.setdefault((snapshot.owner, snapshot.group), {})
        for reading in snapshot.readings:
            if reading.gone:
                known.pop(reading.object, None)
            elif reading.answered or reading.poll:
                known.setdefault(reading.object, {})[reading.probe] = reading

    def _new_collector(self) -> Collector:
        return Collector(self._settings.name or "", self._queue_managers, self._zone_of)

    def _zone_of(self, queue_manager: str) -> tzinfo | None:
        zone = self._settings.time_zone_of(queue_manager)
        return None if zone is None else time_zone(zone)


def _by_time(objects: Iterable[Mapping[str, Reading]]) -> list[Reading]:
    return sorted((reading for readings in objects for reading in readings.values()), key=lambda reading: reading.ts)
