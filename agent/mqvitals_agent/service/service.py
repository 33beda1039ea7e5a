"""The running agent: cycles on the interval's grid, one task for each queue manager, one thread that stores."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from mqvitals_agent.clock import Clock
from mqvitals_agent.connection.connection import Connector, Exchange
from mqvitals_agent.connection.recording_format import RecordingHeader
from mqvitals_agent.console.event_watch import EventWatch
from mqvitals_agent.console.watch import ConsoleWatch
from mqvitals_agent.ingest.live_state import LiveState
from mqvitals_agent.ingest.stored_baselines import FurtherHours
from mqvitals_agent.log import as_event
from mqvitals_agent.poll.queries import USAGE_FLOOR_MS, ScheduledQuery
from mqvitals_agent.remote_write.state import RemoteState
from mqvitals_agent.service.cycles.cycle import CycleExchanges, ExchangeTap, StoredCycle, in_order
from mqvitals_agent.service.cycles.cycle_clock import CORRECTION_MS, CycleClock
from mqvitals_agent.service.cycles.cycle_log import CycleLog, log_alerts
from mqvitals_agent.service.cycles.cycle_writer import CycleWriter
from mqvitals_agent.service.cycles.poller import Poller, Uniform
from mqvitals_agent.service.cycles.poller_pool import PollerPool
from mqvitals_agent.service.on_demand import ActionWatch, OnDemandRequests
from mqvitals_agent.service.server_meter import ServerState
from mqvitals_agent.service.watched_folder import WatchedFolder
from mqvitals_agent.smf.partial_sample import GroupNames
from mqvitals_agent.store.error import StoreError, StoreState
from mqvitals_agent.store.resilient import ResilientStore
from mqvitals_agent.store.rows.alerts.actions import Actions
from mqvitals_agent.store.rows.alerts.notifications import UpdateOutbox
from mqvitals_agent.store.writer import Store
from mqvitals_agent.threads import ThreadWorker
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import RuleConfig

_LOG = logging.getLogger(__name__)

_T = TypeVar("_T")

_PAUSE_MS = 75
"""The pause between two steps of retention or sealing, which then take a quarter of the store's thread at most."""


class Service:
    """Polls, evaluates rules and stores until ``stop``. It runs even when no queue manager can be reached.

    ``source`` describes the origin of samples in the store. ``update_outbox`` makes the notifications about
    alerts. ``stored`` is called in the event loop after each cycle. ``tap`` gets every exchange in the order of
    ``at``, in the worker's thread; what it raises stops the agent. ``others`` are members of the group without a
    connector, polled through one that has one. ``before_close`` is called when everything is stored, before the store
    is closed. ``uniform`` returns random numbers between two limits. ``usage_floor_ms`` is the least time between two
    DISPLAY USAGE. ``requests_clock`` is the clock by which people put requests into the store, the machine's; None:
    ``clock`` is that. ``acted`` is called with all that people did about alerts, at the start and within a second of
    write, ``served`` with the small server. ``live`` may be read by other threads. ``taken_over``: another agent has polled
    until now, and its alerts are gone on with.
    """

    def __init__(
        self,
        settings: Settings,
        rule_config: RuleConfig,
        store_path: Path | str,
        connectors: Sequence[Connector],
        clock: Clock,
        *,
        source: str = "",
        update_outbox: UpdateOutbox | None = None,
        tap: ExchangeTap | None = None,
        stored: Callable[[StoredCycle], None] | None = None,
        uniform: Uniform = random.uniform,
        usage_floor_ms: int = USAGE_FLOOR_MS,
        worker: ThreadWorker | None = None,
        before_close: Callable[[], Awaitable[None]] | None = None,
        others: Sequence[str] = (),
        requests_clock: Clock | None = None,
        acted: Callable[[Actions], None] = lambda _: None,
        engines: Callable[[], Sequence[RemoteState]] = tuple,
        served: Callable[[], ServerState | None] = lambda: None,
        taken_over: bool = False,
        further: FurtherHours | None = None,
    ) -> None:
        """Raises ValueError for settings that ``poll.queries.polling_problems`` finds fault with."""
        self._settings = settings
        self._clock = clock
        self._stored = stored
        self._worker = worker or ThreadWorker(clock=clock)
        self._requests_clock = requests_clock or clock
        self._acted = acted
        self._before_close = before_close
        self._cycle_clock = CycleClock(settings.polling.interval)
        self._writer = CycleWriter(
            Path(store_path),
            settings,
            rule_config,
            [*(each.queue_manager for each in connectors), *others],
            source=source,
            update_outbox=update_outbox,
            tap=tap,
            changed=log_alerts,
            steady_s=clock.steady_s,
            engines=engines,
            served=served,
            taken_over=taken_over,
            further=further,
        )
        self._pool = PollerPool(self, clock, uniform, usage_floor_ms)
        self._pool.plan(settings.polling, connectors, others, anew=True)
        self._next: tuple[Settings, RuleConfig, tuple[Connector, ...], tuple[str, ...]] | None = None
        self._connectors = tuple(connectors)
        self._others = tuple(others)
        self._arrived: list[Exchange] = []
        self._awaited: set[str] = set()
        self._changed = asyncio.Event()
        self._handed = 0
        self._stopping = False
        self._storing: asyncio.Task[None] | None = None
        self._cycle_stored = asyncio.Event()
        self._log = CycleLog()

    @property
    def store(self) -> Store:
        """The open store, for functions that run in the worker's thread.

        Raises StoreError before the first cycle and after the end.
        """
        return self._writer.store

    @property
    def resilient_store(self) -> ResilientStore:
        """The open store, which goes on without its file; as ``store`` otherwise."""
        return self._writer.resilient_store

    @property
    def live(self) -> LiveState:
        """What is known now, for other threads."""
        return self._writer.live

    @property
    def final_state(self) -> StoreState:
        """The state of the store at the end."""
        return self._log.state

    @property
    def header(self) -> RecordingHeader:
        """The first line of a recording of this service. Its time is right once ``tap`` got the first exchange."""
        return RecordingHeader(
            created=self._cycle_clock.begin,
            name=self._settings.name or "",
            queue_managers=self._queue_managers,
            interval_s=self._settings.polling.interval / 1000,
        )

    def left_out(self, until: int) -> int:
        """How many cycles of the grid until a moment, ms UTC, did not begin."""
        return self._cycle_clock.left_out(self._steady_ms() + until - self._clock.now())

    def stop(self) -> None:
        """Send no more queries; ``run`` stores what has come and returns within a second."""
        self._stopping = True
        self._changed.set()

    def reload(
        self,
        settings: Settings,
        rule_config: RuleConfig,
        connectors: Sequence[Connector] | None = None,
        others: Sequence[str] = (),
    ) -> None:
        """Use these settings and rules from the next cycle on; alerts stay as they are.

        ``connectors`` and ``others`` are those of all queue managers now (None: as before): a connector that equals
        the one before keeps its connection. The store and the group's name stay the same. Raises ValueError as the
        constructor does; nothing changes then.
        """
        self._pool.check(settings.polling)
        if connectors is None:
            connectors, others = self._connectors, self._others
        self._next = (settings, rule_config, tuple(connectors), tuple(others))

    async def run(self) -> None:
        """Work until ``stop``. Raises StoreError when the store cannot be opened; bugs in an exception group."""
        with ExitStack() as ending:
            ending.callback(self._worker.end)
            try:
                last, last_ts = await self._worker.run(self._writer.open, self._clock.now())
            except BaseException:  # also when this task is cancelled meanwhile
                await self._worker.run(self._writer.close)
                raise
            # Both clocks at one moment: what passed while the store was opened is no correction of the clock.
            self._cycle_clock.start(self._clock.now(), self._steady_ms(), last, last_ts)
            try:
                async with asyncio.TaskGroup() as tasks:
                    self._pool.start(tasks)
                    beside = [tasks.create_task(work, name=name) for name, work in self._work_beside()]
                    await self._cycles(tasks)
                    # The end comes at the moment of ``stop``: time stands still while the last data are stored.
                    ending.enter_context(self._clock.hold())
                    for task in beside:
                        task.cancel()
                    self._pool.end()
            finally:
                await self._finish()

    def _work_beside(self) -> Iterator[tuple[str, Coroutine[None, None, None]]]:
        """What runs beside the cycles until they end, each with its name."""
        settings, clock, worker = self._settings, self._clock, self._worker
        group = settings.name or ""
        requests = OnDemandRequests(self._pool, lambda: self.store, worker, group, self._requests_clock, clock)
        yield "requests", requests.run()
        yield "actions", ActionWatch(lambda: self.resilient_store, worker, self._requests_clock, self._acted).run()
        if settings.smf.watch is not None:
            groups = GroupNames(dict.fromkeys(self._queue_managers, group) if group else {})
            yield "SMF records", WatchedFolder(Path(settings.smf.watch), self._writer, worker, groups, clock).run()
        if settings.console.follow:
            yield "consoles", ConsoleWatch(settings, self._members, lambda: self.store, worker, clock).run()
        yield "events", self._event_watch().run()
        yield "upkeep", self._keep_store()

    def _event_watch(self) -> EventWatch:
        return EventWatch(
            lambda: self._settings,
            self._connected_members,
            lambda name, query: self._pool.put(name, lambda _: query),
            self._arrived_beside,
            lambda: self.store,
            self._worker,
            self._clock,
        )

    def _connected_members(self) -> tuple[str, ...]:
        """The queue managers that have a connection of their own."""
        return tuple(each.queue_manager for each in self._connectors)

    def _arrived_beside(self, exchange: Exchange) -> None:
        """An exchange that no cycle waits for has ended; it counts for the present one."""
        self._arrived.append(exchange)

    @property
    def _queue_managers(self) -> tuple[str, ...]:
        """The queue managers that are monitored now."""
        return (*(each.queue_manager for each in self._connectors), *self._others)

    def _members(self) -> frozenset[str]:
        """The queue managers that are monitored now, and those that the settings name."""
        return frozenset((*self._queue_managers, *(str(each.name) for each in self._settings.queue_managers)))

    async def _cycles(self, tasks: asyncio.TaskGroup) -> None:
        while not self._stopping:
            await self._reload()
            moment = self._cycle_clock.step(self._clock.now(), self._steady_ms())
            self._log.note_clock(self._cycle_clock)
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
        """Wait until something is true, or for ``stop``."""
        while not self._stopping and not true():
            await self._changed.wait()
            self._changed.clear()

    async def _sleep_until(self, moment: int) -> None:
        while (rest := moment - self._steady_ms()) > 0:
            await self._clock.sleep(rest)
        self._changed.set()

    def _steady_ms(self) -> int:
        """Elapsed time, ms."""
        return round(self._clock.steady_s() * 1000)

    async def _reload(self) -> None:
        if self._next is None:
            return
        (settings, rule_config, connectors, others), self._next = self._next, None
        await self._idle_store()
        settings = self._kept(settings)
        before, connectors_before, others_before = self._settings, self._connectors, self._others
        self._settings, self._connectors, self._others = settings, connectors, others
        names = self._queue_managers
        same = [each.queue_manager for each in connectors], others
        anew = same != ([each.queue_manager for each in connectors_before], others_before) or any(
            settings.time_zone_of(each.queue_manager) != before.time_zone_of(each.queue_manager) for each in connectors
        )
        self._cycle_clock.change(settings.polling.interval)
        self._pool.plan(settings.polling, connectors, others, anew=anew)
        # A queue manager that is no longer monitored has no snapshot, even if answers came.
        self._arrived = [exchange for exchange in self._arrived if exchange.queue_manager in names]
        try:
            await self._worker.run(lambda: self._writer.reload(settings, rule_config, names, anew=anew))
        except StoreError as error:
            self._log.note_state((error,), self._log.state)

    def _kept(self, settings: Settings) -> Settings:
        """The settings with those of before that only a new start can change; logs which have changed."""
        before = self._settings
        pairs = (
            ("name", before.name, settings.name),
            ("store", before.store, replace(settings.store, keep=before.store.keep, limit=before.store.limit)),
            ("smf", before.smf, settings.smf),
            ("console", before.console, settings.console),
            ("standby", before.standby, settings.standby),
            ("remote_write", before.remote_write, settings.remote_write),
            ("history", before.history, settings.history),
        )
        changed = [key for key, old, new in pairs if old != new]
        if changed:
            _LOG.warning(
                f"{' and '.join(changed)}: what has changed there takes effect at the next start",
                extra=as_event("settings.later"),
            )
        store = replace(before.store, keep=settings.store.keep, limit=settings.store.limit)
        return replace(
            settings,
            name=before.name,
            store=store,
            smf=before.smf,
            console=before.console,
            standby=before.standby,
            remote_write=before.remote_write,
            history=before.history,
        )

    async def _hand_over(self, tasks: asyncio.TaskGroup) -> None:
        """Give the cycle's exchanges to the worker, after it has stored those of the cycle before."""
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
        self._log.note_stored(stored)
        if self._stored is not None:
            self._stored(stored)
        self._cycle_stored.set()

    async def _keep_store(self) -> None:
        """Delete what the store no longer keeps, then seal finished hours, step by step after each cycle, until cancelled; and
        between the steps write the log back where it is long.
        """
        while True:
            await self._cycle_stored.wait()
            self._cycle_stored.clear()
            for step in (self._delete_old, self._seal):
                more = True
                while more and not self._is_storing():
                    more = await self._write_back() or await step()
                    await self._clock.sleep(_PAUSE_MS)

    async def _write_back(self) -> bool:
        """Write the log back as a step of its own; returns whether there was enough of it."""
        with suppress(StoreError):  # the step that comes next finds what is wrong, and says it
            return await self._worker.run(self._writer.write_back)
        return False

    async def _delete_old(self) -> bool:
        """A step of retention; returns whether there is more to delete."""
        try:
            step = await self._worker.run(self._writer.delete_old, self._is_storing)
        except StoreError as error:
            self._log.note_retention_failed(error)
            return False
        self._log.note_retention(self._writer.deletion, self._settings.store if step.first else None)
        return step.more

    async def _seal(self) -> bool:
        """A step of sealing; returns whether there is more to seal."""
        try:
            step = await self._worker.run(self._writer.seal, self._is_storing)
        except StoreError as error:
            self._log.note_sealing_failed(error)
            return False
        self._log.note_sealing(step)
        return step.more

    def _is_storing(self) -> bool:
        """Whether a cycle is being stored, or waits to be. Any thread may call it."""
        return self._storing is not None and not self._storing.done()

    async def _idle_store(self) -> None:
        if self._storing is not None:
            await self._storing
            self._storing = None

    async def _finish(self) -> None:
        """Store what came last, call ``before_close``, and close the store."""
        try:
            if self._arrived:
                if self._handed == self._cycle_clock.number:
                    # The cycle is stored already: what came later makes a cycle of its own.
                    self._cycle_clock.close(self._clock.now(), self._steady_ms())
                await self._store(self._batch())
            if self._before_close is not None:
                await self._before_close()
        finally:
            self._log.note_end(await self._worker.run(self._writer.close))

    def connected(self, poller: Poller) -> None:
        """A queue manager is connected: it may be the first that can answer for the group."""
        if not self._stopping and self._pool.connected(poller):
            self._awaited.add(poller.name)

    def arrived(self, poller: Poller, query: ScheduledQuery | None, exchange: Exchange) -> None:
        """An exchange has ended."""
        if not self._pool.holds(poller):
            return
        self._arrived.append(self._timed(exchange))
        if query is not None:
            self._pool.answered(poller, query, exchange)
        self._note_idle(poller)

    def _timed(self, exchange: Exchange) -> Exchange:
        """The exchange dated by the clock of its cycle: a correction meanwhile counts from the next cycle on."""
        now = self._cycle_clock.wall(self._steady_ms())
        if exchange.at <= now and abs(self._clock.now() - now) < CORRECTION_MS:
            return exchange
        return replace(exchange, at=max(now - exchange.elapsed_ms, self._cycle_clock.now))

    def missed(self, poller: Poller, query: ScheduledQuery) -> None:
        """A query was not sent."""
        self._pool.missed(poller, query)
        self._note_idle(poller)

    def _note_idle(self, poller: Poller) -> None:
        if not poller.busy:
            self._awaited.discard(poller.name)
        self._changed.set()
