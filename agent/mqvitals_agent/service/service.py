"""The living agent: cycles on the interval's grid, one task a queue manager, one thread that stores."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from mqvitals_agent.clock import Clock
from mqvitals_agent.connection.connection import Connector, Exchange
from mqvitals_agent.connection.recording_format import RecordingHeader
from mqvitals_agent.console.watch import ConsoleWatch
from mqvitals_agent.log import as_change, as_event, as_recovery, forget
from mqvitals_agent.notify.alert_log import log_alerts
from mqvitals_agent.poll.queries import USAGE_FLOOR_MS, ScheduledQuery
from mqvitals_agent.service.cycle_clock import CORRECTION_MS, CycleClock, DatingReason
from mqvitals_agent.service.cycle_writer import CycleExchanges, CycleWriter, ExchangeTap, StoredCycle, in_order
from mqvitals_agent.service.on_demand import OnDemandRequests
from mqvitals_agent.service.poller import Poller, Uniform
from mqvitals_agent.service.poller_pool import PollerPool
from mqvitals_agent.service.watched_folder import WatchedFolder
from mqvitals_agent.smf.partial_sample import GroupNames
from mqvitals_agent.store.deletion_clock import DeletionDecision
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.resilient import ResilientStore, StoreState
from mqvitals_agent.store.rows.notifications import BuildNotifications
from mqvitals_agent.store.writer import Store
from mqvitals_agent.threads import ThreadWorker
from mqvitals_config.scalars import format_duration
from mqvitals_config.settings import Settings, format_size
from mqvitals_rules.ruleset.config import RuleConfig

_LOG = logging.getLogger(__name__)

_T = TypeVar("_T")

_PAUSE_MS = 75
"""Between two steps of retention, so that it takes a quarter of the store's thread at most."""


class Service:
    """Polls, judges and stores until ``stop``. It begins and stays up when no queue manager can be reached.

    ``source`` says in the store where its samples come from. ``owed`` tells the notices that alerts owe; ``stored``
    is called in the event loop after each cycle. ``tap`` sees every exchange in the order of ``at``, in the worker's
    thread; what it raises stops the agent. ``others`` are members of the group without a connector, asked about
    through one that has one. ``farewell`` is called when all is stored, before the store is closed. ``uniform`` is
    chance. ``usage_floor_ms`` is the least time between two DISPLAY USAGE. ``asking`` is the clock of people who put
    questions into the store, the machine's; None: ``clock`` is that.
    """

    def __init__(
        self,
        settings: Settings,
        judging: RuleConfig,
        store_path: Path | str,
        connectors: Sequence[Connector],
        clock: Clock,
        *,
        source: str = "",
        owed: BuildNotifications | None = None,
        tap: ExchangeTap | None = None,
        stored: Callable[[StoredCycle], None] | None = None,
        uniform: Uniform = random.uniform,
        usage_floor_ms: int = USAGE_FLOOR_MS,
        worker: ThreadWorker | None = None,
        farewell: Callable[[], Awaitable[None]] | None = None,
        others: Sequence[str] = (),
        asking: Clock | None = None,
    ) -> None:
        """Raises ValueError for settings that ``poll.queries.polling_problems`` finds fault with."""
        self._settings = settings
        self._clock = clock
        self._stored = stored
        self._worker = worker or ThreadWorker(clock=clock)
        self._asking = asking or clock
        self._farewell = farewell
        self._cycle_clock = CycleClock(settings.polling.interval)
        self._writer = CycleWriter(
            Path(store_path),
            settings,
            judging,
            [*(each.queue_manager for each in connectors), *others],
            source=source,
            owed=owed,
            tap=tap,
            changed=log_alerts,
            steady_s=clock.steady_s,
        )
        self._pool = PollerPool(self, clock, uniform, usage_floor_ms)
        self._pool.plan(settings.polling, connectors, others, anew=True)
        self._next: tuple[Settings, RuleConfig, Sequence[Connector], Sequence[str]] | None = None
        self._connectors = tuple(connectors)
        self._others = tuple(others)
        self._arrived: list[Exchange] = []
        self._awaited: set[str] = set()
        self._changed = asyncio.Event()
        self._handed = 0
        self._stopping = False
        self._storing: asyncio.Task[None] | None = None
        self._cycle_stored = asyncio.Event()
        self._left = StoreState()
        self._behind = False

    @property
    def store(self) -> Store:
        """The open store, for functions that run in the worker's thread.

        Raises StoreError before the first cycle and after the end.
        """
        return self._writer.store

    @property
    def ledger(self) -> ResilientStore:
        """The open store, which goes on without its file; as ``store`` otherwise."""
        return self._writer.ledger

    @property
    def left(self) -> StoreState:
        """How the store was at the end."""
        return self._left

    @property
    def header(self) -> RecordingHeader:
        """The first line of a recording of this service; its time is right once the first exchange came
        through ``tap``.
        """
        return RecordingHeader(
            created=self._cycle_clock.begin,
            name=self._settings.name or "",
            queue_managers=(*(each.queue_manager for each in self._connectors), *self._others),
            interval_s=self._settings.polling.interval / 1000,
        )

    def left_out(self, until: int) -> int:
        """How many cycles the grid has had until a moment, ms UTC, that never began."""
        return self._cycle_clock.left_out(self._steady_ms() + until - self._clock.now())

    def stop(self) -> None:
        """Ask for the end: no new questions, and ``run`` returns within a second, all that came being stored."""
        self._stopping = True
        self._changed.set()

    def reload(
        self,
        settings: Settings,
        judging: RuleConfig,
        connectors: Sequence[Connector] | None = None,
        others: Sequence[str] = (),
    ) -> None:
        """Go on by these settings and rules from the next cycle on; alerts stay as they are.

        ``connectors`` and ``others`` are those of all queue managers now (None: as before): a connector that equals
        the one before keeps its connection. The store and the group's name stay the same. Raises ValueError as the
        constructor does; nothing changes then.
        """
        self._pool.check(settings.polling)
        if connectors is None:
            connectors, others = self._connectors, self._others
        self._next = (settings, judging, tuple(connectors), tuple(others))

    async def run(self) -> None:
        """Work until ``stop``. Raises StoreError when the store cannot be opened, and in a group whatever
        is a mistake.
        """
        with ExitStack() as ending:
            await self._run(ending)

    async def _run(self, ending: ExitStack) -> None:
        begin = self._clock.now()
        try:
            try:
                last, last_ts = await self._worker.run(self._writer.open, begin)
            except BaseException:
                # Whoever is cancelled meanwhile must not leave it open.
                await self._worker.run(self._writer.close)
                raise
            self._cycle_clock.start(begin, self._steady_ms(), last, last_ts)
            try:
                async with asyncio.TaskGroup() as tasks:
                    self._pool.start(tasks)
                    on_demand = self._answer_requests(tasks)
                    folder = self._watch_folder(tasks)
                    consoles = self._follow_consoles(tasks)
                    retention = tasks.create_task(self._retain(), name="retention")
                    await self._cycles(tasks)
                    # The end comes at the moment at which it was asked for: nothing is waited for any more.
                    ending.enter_context(self._clock.hold())
                    on_demand.cancel()
                    retention.cancel()
                    if folder is not None:
                        folder.cancel()
                    if consoles is not None:
                        consoles.cancel()
                    self._pool.end()
            finally:
                await self._finish()
        finally:
            self._worker.end()

    def _answer_requests(self, tasks: asyncio.TaskGroup) -> asyncio.Task[None]:
        """Begin to answer requests in the store."""
        group = self._settings.name or ""
        requests = OnDemandRequests(self._pool, lambda: self.store, self._worker, group, self._asking, self._clock)
        return tasks.create_task(requests.run(), name="questions")

    def _watch_folder(self, tasks: asyncio.TaskGroup) -> asyncio.Task[None] | None:
        """Begin to look for SMF records where the settings say so."""
        settings = self._settings
        if settings.smf.watch is None:
            return None
        members = [*(each.queue_manager for each in self._connectors), *self._others]
        groups = GroupNames(dict.fromkeys(members, str(settings.name)) if settings.name else {})
        folder = WatchedFolder(Path(settings.smf.watch), self._writer, self._worker, groups, self._clock)
        return tasks.create_task(folder.run(), name="SMF records")

    def _follow_consoles(self, tasks: asyncio.TaskGroup) -> asyncio.Task[None] | None:
        """Begin to follow files of console lines where the settings say so."""
        if not self._settings.console.follow:
            return None
        consoles = ConsoleWatch(self._settings, self._members, lambda: self.store, self._worker, self._clock)
        return tasks.create_task(consoles.run(), name="consoles")

    def _members(self) -> frozenset[str]:
        """The queue managers that are watched now, and those that the settings name."""
        named = (str(each.name) for each in self._settings.queue_managers)
        return frozenset((*(each.queue_manager for each in self._connectors), *self._others, *named))

    async def _cycles(self, tasks: asyncio.TaskGroup) -> None:
        while not self._stopping:
            await self._reload()
            moment = self._cycle_clock.step(self._clock.now(), self._steady_ms())
            self._tell_clock()
            self._awaited = self._pool.begin_cycle(moment)
            alarm = tasks.create_task(self._sleep_until(self._cycle_clock.next))
            try:
                await self._until(lambda: alarm.done() or not self._awaited)  # noqa: B023 - used before the next round
                if self._stopping:
                    return
                await self._hand_over(tasks)
                await self._until(alarm.done)
            finally:
                alarm.cancel()

    async def _until(self, true: Callable[[], bool]) -> None:
        """Wait until something is true, or the end was asked for."""
        while not self._stopping and not true():
            await self._changed.wait()
            self._changed.clear()

    async def _sleep_until(self, moment: int) -> None:
        """Until the next moment of the cycle."""
        while (rest := moment - self._steady_ms()) > 0:
            await self._clock.sleep(rest)
        self._changed.set()

    def _steady_ms(self) -> int:
        """Elapsed time, ms."""
        return round(self._clock.steady_s() * 1000)

    async def _reload(self) -> None:
        if self._next is None:
            return
        (settings, judging, connectors, others), self._next = self._next, None
        await self._idle_store()
        settings = self._kept(settings)
        before = [each.queue_manager for each in self._connectors], self._others
        anew = ([each.queue_manager for each in connectors], tuple(others)) != before or any(
            settings.time_zone_of(each.queue_manager) != self._settings.time_zone_of(each.queue_manager)
            for each in connectors
        )
        self._settings, self._connectors, self._others = settings, tuple(connectors), tuple(others)
        self._cycle_clock.change(settings.polling.interval)
        self._pool.plan(settings.polling, connectors, others, anew=anew)
        names = [*(each.queue_manager for each in connectors), *others]
        # One that is asked no more has no snapshot any more, whatever it still said.
        self._arrived = [exchange for exchange in self._arrived if exchange.queue_manager in names]
        try:
            await self._worker.run(lambda: self._writer.reload(settings, judging, names, anew=anew))
        except StoreError as error:
            self._tell((error,), self._left)

    def _kept(self, settings: Settings) -> Settings:
        """The settings, with those as before that only a new start can change; says which these are."""
        before = self._settings
        pairs = (
            ("name", before.name, settings.name),
            ("store", before.store, replace(settings.store, keep=before.store.keep, max_size=before.store.max_size)),
            ("smf", before.smf, settings.smf),
            ("console", before.console, settings.console),
        )
        changed = [key for key, old, new in pairs if old != new]
        if changed:
            _LOG.warning(
                f"{' and '.join(changed)}: what has changed there takes effect at the next start",
                extra=as_event("settings.later"),
            )
        store = replace(before.store, keep=settings.store.keep, max_size=settings.store.max_size)
        return replace(settings, name=before.name, store=store, smf=before.smf, console=before.console)

    async def _hand_over(self, tasks: asyncio.TaskGroup) -> None:
        """Give the cycle's exchanges to the worker. It may be one cycle behind; then this waits."""
        await self._idle_store()
        self._storing = tasks.create_task(self._store(self._batch()))

    def _batch(self) -> CycleExchanges:
        arrived, self._arrived = self._arrived, []
        cycle = self._cycle_clock
        self._handed = cycle.number
        pool = self._pool
        exchanges = in_order(arrived, cycle.now)
        return CycleExchanges(
            cycle.number,
            cycle.began,
            exchanges,
            pool.intervals(),
            cycle.lead,
            pool.calls(),
            correction=cycle.correction,
            shift=cycle.shift,
        )

    async def _store(self, batch: CycleExchanges) -> None:
        stored = await self._worker.run(self._writer.take, batch)
        self._tell_incidents(stored)
        self._tell(stored.errors, stored.state)
        if stored.unwatched:
            names = ", ".join(stored.unwatched)
            text = f"no longer monitored: {names}; their alerts have ended, their history stays"
            _LOG.warning(text, extra=as_event("queue_manager.unwatched", queue_managers=names))
        if self._stored is not None:
            self._stored(stored)
        self._cycle_stored.set()

    async def _retain(self) -> None:
        """Delete what the store no longer keeps, step by step after each cycle, until cancelled."""
        while True:
            await self._cycle_stored.wait()
            self._cycle_stored.clear()
            more = True
            while more and not self._is_storing():
                try:
                    step = await self._worker.run(self._writer.delete_old, self._is_storing)
                except StoreError as error:
                    text = f"data older than store.keep cannot be deleted: {error}"
                    _LOG.error(text, extra=as_change("retention", "store.retention_failed"))
                    break
                forget(_LOG, "retention")
                if step.first:
                    self._announce_retention()
                self._tell_deletion(self._writer.deletion)
                more = step.more
                await self._clock.sleep(_PAUSE_MS)

    def _is_storing(self) -> bool:
        """Whether a cycle is being stored, or waits to be. May be asked in any thread."""
        return self._storing is not None and not self._storing.done()

    def _tell_deletion(self, deletion: DeletionDecision) -> None:
        """Say once that deleting waits for the clock, and once more when it does not any more."""
        key = "retention clock"
        if deletion.reason:
            _LOG.warning(deletion.reason, extra=as_change(key, "store.retention_waits"))
        else:
            _LOG.info(
                "data older than store.keep is deleted again",
                extra=as_recovery(key, "store.retention_resumed"),
            )

    def _announce_retention(self) -> None:
        store = self._settings.store
        keep = "for ever" if store.keep is None else f"for {format_duration(store.keep)}"
        most = "without a limit" if store.max_size is None else f"at most {format_size(store.max_size)}"
        _LOG.warning(
            f"the store keeps samples, ended alerts and console messages {keep}, {most}: older data is deleted from now on;"
            " store.keep and store.max_size change that (forever and none keep everything)",
            extra=as_event("store.retention"),
        )

    async def _idle_store(self) -> None:
        if self._storing is not None:
            await self._storing
            self._storing = None

    async def _finish(self) -> None:
        """Store what came last, let those who read and write beside us end, and close the store."""
        try:
            if self._arrived:
                if self._handed == self._cycle_clock.number:
                    # The cycle is stored already: what came after its end makes one of its own.
                    self._cycle_clock.close(self._clock.now(), self._steady_ms())
                await self._store(self._batch())
            if self._farewell is not None:
                await self._farewell()
        finally:
            self._left = await self._worker.run(self._writer.close)
            self._tell_left(self._left)

    def _tell(self, errors: Sequence[StoreError], state: StoreState) -> None:
        text = "; ".join(dict.fromkeys(map(str, errors)))
        if text and state.trouble is not None:
            text += "; rules are still evaluated and alerts sent"
        if text:
            _LOG.error(text, extra=as_change("store", "store.failed"))
        else:
            _LOG.info(
                "cycles are stored again",
                extra=as_recovery("store", "store.recovered", waiting=state.waiting, dropped=state.dropped),
            )
        if state.dropped > self._left.dropped:
            _LOG.error(
                "the oldest cycles waiting for the store are dropped: there are too many",
                extra=as_change("store dropped", "store.dropped", dropped=state.dropped),
            )
        elif not text:
            forget(_LOG, "store dropped")
        self._left = state

    def _tell_incidents(self, stored: StoredCycle) -> None:
        for incident in stored.incidents:
            _LOG.error(incident.text, extra=as_event("store.damaged"))
        for kind, count in stored.refused.items():
            _LOG.warning(
                f"{kind}: such values are not stored; {count:,} so far",
                extra=as_change(f"store refused {kind}", "store.refused", refused=count),
            )

    def _tell_left(self, state: StoreState) -> None:
        if state.waiting or state.unwritten:
            _LOG.error(
                f"the last writes to the store failed: snapshots lost: {state.waiting:,}, alerts and notifications not up"
                f" to date: {state.unwritten:,}; the next run may send some of these again",
                extra=as_event("store.unwritten", snapshots=state.waiting, alerts=state.unwritten),
            )

    def _tell_clock(self) -> None:
        """Say once that the clock was set, and once more when samples are dated by it again."""
        cycle = self._cycle_clock
        behind = cycle.dating is DatingReason.BEHIND
        by = cycle.correction
        if abs(by) >= CORRECTION_MS:
            length = format_duration(abs(by) // 1000 * 1000)
            _LOG.warning(
                f"the clock was set {'ahead' if by > 0 else 'back'} by {length}; samples are dated {cycle.dating.value}"
                + ("; those are deleted" if cycle.dating.deletes else ""),
                extra=as_event("clock.corrected", by_ms=by, lead_ms=max(cycle.lead, 0)),
            )
        if behind and not self._behind:
            _LOG.error(
                f"the clock is {format_duration(cycle.lead // 1000 * 1000)} behind the last sample in the store: until it has"
                " caught up, samples are dated after that one, at half the clock's pace; see that the clock is right."
                " If it is, stop the agent, and `mqvitals store check --repair` deletes what lies more than a day ahead",
                extra=as_event("clock.behind", behind_ms=cycle.lead),
            )
        elif self._behind and not behind:
            _LOG.info("samples are dated by the clock again", extra=as_event("clock.caught_up"))
        self._behind = behind

    def connected(self, poller: Poller) -> None:
        """A queue manager has been reached: it may be the first that can answer for the group."""
        if not self._stopping and self._pool.connected(poller):
            self._awaited.add(poller.name)

    def arrived(self, poller: Poller, errand: ScheduledQuery | None, exchange: Exchange) -> None:
        """An exchange has ended."""
        if not self._pool.holds(poller):
            return
        self._arrived.append(self._timed(exchange))
        if errand is not None:
            self._pool.answered(poller, errand, exchange)
        self._look(poller)

    def _timed(self, exchange: Exchange) -> Exchange:
        """The exchange as of the clock of its cycle: what was set meanwhile counts from the next cycle on."""
        now = self._cycle_clock.wall(self._steady_ms())
        if exchange.at <= now and abs(self._clock.now() - now) < CORRECTION_MS:
            return exchange
        return replace(exchange, at=max(now - exchange.elapsed_ms, self._cycle_clock.now))

    def missed(self, poller: Poller, errand: ScheduledQuery) -> None:
        """An errand was not put."""
        self._pool.missed(poller, errand)
        self._look(poller)

    def _look(self, poller: Poller) -> None:
        if not poller.busy:
            self._awaited.discard(poller.name)
        self._changed.set()
