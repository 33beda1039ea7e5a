"""One run of the agent: the service, delivery, signals, reloading, the first and the last line of the log."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from mqvitals_agent.clock import SystemClock, VirtualClock
from mqvitals_agent.connection.connection import Exchange
from mqvitals_agent.connection.recording_format import RecordingError, RecordingHeader
from mqvitals_agent.errors import ExitCode
from mqvitals_agent.gc_tuning import MANY_THRESHOLDS, fewer_collections, freeze_long_lived
from mqvitals_agent.log import LineHandler, as_event, logging_to
from mqvitals_agent.service.agent_config import AgentConfig
from mqvitals_agent.service.cycles.cycle import StoredCycle
from mqvitals_agent.service.delivery import LAST_S, Deliveries
from mqvitals_agent.service.monitored_group import MonitoredGroup, PollTargets, write_smf
from mqvitals_agent.service.process import ServiceManager, handled_signals
from mqvitals_agent.service.reload import REREAD_S, FileWatch, Refused, Rereading
from mqvitals_agent.service.run_log import (
    INTERRUPTED,
    MaintenanceWatch,
    RunTotals,
    config_words,
    late_words,
    log_beginning,
    log_end,
    log_first_day,
    log_missing,
    state_words,
)
from mqvitals_agent.service.service import Service
from mqvitals_agent.service.serving import Serving
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.rows.alerts.actions import Actions
from mqvitals_agent.store.writer import Store
from mqvitals_agent.threads import ThreadWorker, WorkerEndedError, run_in_loop
from mqvitals_config.decoding.scalars import format_duration
from mqvitals_config.sections.history import PROMETHEUS
from mqvitals_config.settings import Settings

if TYPE_CHECKING:
    from mqvitals_agent.ingest.stored_baselines import FurtherHours
    from mqvitals_agent.standby.feed import AlertFeed
    from mqvitals_agent.store.result import AgentStanding

_LOG = logging.getLogger(__name__)

_T = TypeVar("_T")

_DRAIN_S = 5.0
"""When the time of a run is over, notifications that are due are sent for this long."""

_DRAIN_AFTER_SIGNAL_S = 0.5
"""The same when a signal ends the run, from the signal on: a run ends within a second."""

_STORING_MS = 60_000
"""A cycle of the largest group is evaluated and stored within seconds, on a slow disk too."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a run of the agent is started with.

    ``for_ms`` is its length, None: until a signal. ``reread`` reads the configuration again and raises ConfigError or
    Failure; None: it stays. ``record`` is called with each exchange and the header of a recording, on the store's
    thread. ``manager`` is the service manager that gets the agent's state.
    """

    config: AgentConfig
    group: MonitoredGroup
    store: Path
    for_ms: int | None = None
    reread: Callable[[], AgentConfig] | None = None
    record: Callable[[Exchange, RecordingHeader], None] | None = None
    manager: ServiceManager | None = None
    reread_s: float = REREAD_S


def run_agent(options: RunOptions) -> int:
    """Run the agent, logging to standard error; returns the exit code. Raises Failure when it cannot begin."""
    log, clock = options.config.settings.log, options.group.clock
    handler = LineHandler(sys.stderr, clock, form=log.format, level=log.level)
    with logging_to(handler):
        # First of all: a second agent fails here, and a new store keeps when the scenario began.
        claim_store(options.store, options.config.settings, options.group)
        return run_in_loop(_run(options, handler), clock)


async def _run(options: RunOptions, handler: LineHandler) -> int:
    # A recording is made beside the agents.
    if options.config.settings.standby is None or options.record is not None:
        return await AgentRun(options, handler).run()
    from mqvitals_agent.service.standby_run import run_in_turn

    return await run_in_turn(options, handler)


def claim_store(path: Path, settings: Settings, group: MonitoredGroup) -> None:
    """Create the store, or check that it can be written.

    Raises StoreError: another agent writes it, it is no store, no permission. A new one keeps the scenario's beginning
    as its own. Repairs are logged.
    """
    store = Store.open(
        path,
        source=group.source,
        group=settings.name or group.site,
        created=group.began,
        mode=settings.store.mode,
        shared_with=settings.store.group or "",
    )
    if store.repaired:
        rows = ", ".join(f"{table} {count:,}" for table, count in store.repaired.items())
        _LOG.warning(
            f"rows of the store that were dated outside any calendar have been dropped or corrected: {rows}",
            extra=as_event("store.repaired", rows=sum(store.repaired.values())),
        )
    store.close()


class AgentRun:
    """One run, from the first line of the log to the last. Created within a running event loop."""

    def __init__(
        self,
        options: RunOptions,
        handler: LineHandler,
        *,
        feed: AlertFeed | None = None,
        standing: AgentStanding | None = None,
        answer: Callable[[str, str, float], Awaitable[bytes]] | None = None,
    ) -> None:
        """``handler`` writes the log; a reload changes its form and level.

        Of two agents ``feed`` is what this one, which is active, offers to the other, ``answer`` serves it; ``standing`` is
        kept in the store.
        """
        self._feed = feed
        self._standing = standing
        self.gave_way = False
        """Whether the run ended because another agent is active."""
        self._options = options
        self._group = options.group
        self._config = options.config.for_group(self._group)
        self._handler = handler
        self._manager = options.manager or ServiceManager()
        self._rereading = Rereading(options.reread_s)
        self._reason = ""
        self._code = int(ExitCode.DONE)
        self._done = RunTotals()
        self._cycle_at = 0.0
        self._until: int | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._worker = ThreadWorker(clock=self._group.clock)
        self._drain_until: float | None = None
        self._bug: BaseException | None = None
        self._reload_lock = asyncio.Lock()
        self._refused = ""
        self._files = FileWatch(self._group.machine, self._reload)
        self._serving = Serving(
            options.store,
            self._group,
            self._late,
            answer=answer,
            active=None if standing is None else True,
        )
        self._maintenance = MaintenanceWatch(self._config.calendar, self._group.clock)
        self._delivery = Deliveries(
            options.store,
            self._config,
            self._group,
            self._worker,
            lambda: self._service,
            late=self._late,
            start=self._start,
            failed=self._on_delivery_failure,
            feed=feed,
            anew=standing is not None,
        )

    @property
    def config(self) -> AgentConfig:
        """The configuration in force."""
        return self._config

    @property
    def targets(self) -> PollTargets:
        """The queue managers that are polled."""
        return self._group.targets

    async def run(self) -> int:
        """Run until a signal comes or the time is over; returns the exit code. Logs its own failures."""
        group = self._group
        self._service = self._make_service()
        log_beginning(self._config, group, self._options.store)
        self._manager.starting(self._longest_cycle_ms())
        self._start(self._manager.watch(self._await_worker, self._longest_cycle_ms, SystemClock()))
        if isinstance(group.clock, VirtualClock):
            group.clock.caught_up = self._caught_up
        self._work = asyncio.create_task(self._service.run(), name="service")
        if self._options.for_ms is not None:
            self._start(self._end_after(self._options.for_ms))
        if self._options.reread is not None and (files := self._config.files):
            self._start(self._watch_files(files))
        self._serving.use(self._config, self._service.live, self._start)
        self._start(log_first_day(self._options.store, lambda: self._config.rule_config, group.clock))
        self._start(self._maintenance.run())
        if group.smf is not None:
            self._start(write_smf(group.smf, group.clock))
        signals = handled_signals(
            lambda: self.stop("stopped by SIGTERM"),
            lambda: self.stop("stopped by Ctrl-C", INTERRUPTED),
            self._on_hangup,
        )
        with signals, fewer_collections():
            try:
                await self._work
            except asyncio.CancelledError:
                if not self._reason:
                    raise
            except StoreError as error:
                self._on_failure(error)
            except BaseExceptionGroup as errors:
                expected, bugs = errors.split((StoreError, RecordingError))
                if bugs is not None or expected is None:
                    raise
                self._on_failure(_first(expected))
            finally:
                await self._end_tasks()
            self._count_missing()
            left = self._service.final_state
            if self._code == ExitCode.DONE and (left.incidents or left.waiting or left.dropped or left.unwritten):
                self._code = int(ExitCode.FOUND)
            if not self.gave_way:
                log_end(self._reason, self._code, self._done, group.clock)
        if self._bug is not None:
            raise self._bug
        return self._code

    def _make_service(self) -> Service:
        group, targets = self._group, self._group.targets
        return Service(
            self._config.settings,
            self._config.rule_config,
            self._options.store,
            targets.connectors,
            group.clock,
            source=group.source,
            update_outbox=self._delivery.update_outbox,
            tap=None if self._options.record is None else self._record,
            stored=self._stored,
            uniform=group.uniform,
            usage_floor_ms=group.usage_floor_ms,
            worker=self._worker,
            before_close=lambda: self._delivery.drain(self._rest_s),
            others=targets.others,
            requests_clock=group.machine,
            acted=self._acted,
            served=lambda: self._serving.state,
            engines=self._delivery.engines,
            taken_over=self._standing is not None,
            further=_further(self._config.settings),
        )

    def stop(self, reason: str, code: int = ExitCode.DONE, *, at_once: bool = True) -> None:
        """End in order because of ``reason``; ``at_once``: within a second. A second call cancels what is under way."""
        if self._reason:
            self._work.cancel()
            return
        self._reason, self._code = reason, code
        self._manager.stopping(reason)
        if at_once:
            self._drain_until = time.monotonic() + _DRAIN_AFTER_SIGNAL_S
        if self._feed is not None and self._feed.followers:
            self._leave_to_follower()
        self._service.stop()

    def give_way(self, reason: str) -> None:
        """End in order because another agent is active: it tells whatever is still to be told."""
        if not self._reason:
            self.gave_way = True
            self._reason, self._code = reason, int(ExitCode.DONE)
            self._leave_to_follower()
            self._service.stop()

    def _leave_to_follower(self) -> None:
        """Send nothing more: who takes over knows what waits."""
        self._drain_until = time.monotonic()
        self._delivery.close()

    async def _watch_files(self, files: Sequence[str]) -> None:
        await self._files.watch(files)
        await self._files.run()

    def _on_hangup(self) -> None:
        self._start(self._reload())

    def _start(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _end_after(self, for_ms: int) -> None:
        until = self._group.clock.now() + for_ms
        await self._group.clock.sleep(for_ms)
        if not self._reason:
            self._until = until
            self.stop(f"the {format_duration(for_ms)} are over", at_once=False)

    def _rest_s(self) -> float:
        """For how long what is due may still be sent, s."""
        return _DRAIN_S if self._drain_until is None else max(self._drain_until - time.monotonic(), 0)

    async def _end_tasks(self) -> None:
        """End the tasks beside the service. The next run repeats an attempt that is under way."""
        self._delivery.close()
        tasks = set(self._tasks)
        for task in tasks - self._delivery.tasks:
            task.cancel()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=LAST_S)
            for task in late:
                task.cancel()

    def _record(self, exchange: Exchange) -> None:
        """On the store's thread."""
        assert self._options.record is not None
        self._options.record(exchange, self._service.header)

    def _stored(self, stored: StoredCycle) -> None:
        """A cycle is stored: the store is open, and there may be notifications."""
        if self._feed is not None:
            self._feed.note()
        self._cycle_at = self._group.clock.steady_s()
        self._done = self._done.with_cycle(stored)
        self._serving.note(stored, self._service.left_out(self._group.clock.now()))
        if self._done.cycles == 1:
            # All objects exist now and there is little garbage: this collection is short.
            freeze_long_lived(MANY_THRESHOLDS)
            self._start(self._store_refused())
            self._start(self._store_standing())
        asked = len(self._group.targets.connectors) + len(self._group.targets.others)
        self._manager.cycle(state_words(stored, asked))
        self._delivery.stored()

    def _acted(self, _: Actions) -> None:
        """People did something about alerts."""
        if self._feed is not None:
            self._feed.note()
        self._delivery.acted()

    def _longest_cycle_ms(self) -> int:
        """The longest time from the end of one cycle to the end of the next, ms."""
        return 2 * self._config.settings.polling.interval + _STORING_MS

    def _late(self) -> str:
        """Why cycles do not go on; empty while they do. One that the store cannot take counts: it is kept in memory."""
        silent_ms = (self._group.clock.steady_s() - self._cycle_at) * 1000
        return late_words(silent_ms, self._longest_cycle_ms(), self._config.settings.polling.interval)

    async def _await_worker(self) -> None:
        """Return when the store's thread answers."""
        with suppress(WorkerEndedError):
            await self._worker.run(lambda: None)

    def _on_delivery_failure(self, bug: BaseException) -> None:
        self._bug = bug
        self.stop("receivers can no longer be notified", ExitCode.FAILED)

    async def _reload(self) -> None:
        """Read the configuration again. With a mistake in it nothing changes."""
        if self._options.reread is None:
            _LOG.warning("a recording keeps its settings to the end", extra=as_event("agent.reload_refused"))
            return
        async with self._reload_lock:
            # Before they are read, so that a change during the reading is seen.
            await self._files.watch(self._config.files)
            self._manager.reloading()
            try:
                self._refused, places = await self._apply_config()
                await self._files.watch_too((*self._config.files, *places))
                await self._store_refused()
            finally:
                self._manager.reloaded()

    async def _store_refused(self) -> None:
        """Store what is wrong with the settings, for readers of the store."""
        refused = self._refused
        with suppress(StoreError, WorkerEndedError):
            await self._worker.run(lambda: self._service.resilient_store.note_refused(refused))

    async def _store_standing(self) -> None:
        """Store which of two agents this is, for readers of the store."""
        standing = self._standing
        with suppress(StoreError, WorkerEndedError):
            await self._worker.run(lambda: self._service.store.note_standing(standing))

    async def _apply_config(self) -> tuple[str, tuple[str, ...]]:
        """Read the configuration and apply it. Returns what is wrong with it and the files with problems."""
        assert self._options.reread is not None
        read = await self._rereading.read(self._config, self._group, self._options.reread)
        if isinstance(read, Refused):
            return read.text, read.places
        config, targets = read
        if self._reason:
            return "", ()
        self._service.reload(config.settings, config.rule_config, targets.connectors, targets.others)
        self._config = config
        self._maintenance.configure(config.calendar)
        self._group = replace(self._group, targets=targets)
        self._handler.configure(form=config.settings.log.format, level=config.settings.log.level)
        self._serving.use(config, self._service.live, self._start)
        self._delivery.configure(config)
        _LOG.info(
            f"settings and rules have been read again; from the next cycle on: {config_words(config)}",
            extra=as_event(
                "agent.reloaded", interval_ms=config.settings.polling.interval, receivers=len(config.settings.receivers)
            ),
        )
        return "", ()

    def _caught_up(self) -> None:
        _LOG.info("the agent's time has reached now: it continues in real time", extra=as_event("clock.at_now"))

    def _count_missing(self) -> None:
        """A run of a given length stores every cycle of that time, or logs how many are missing."""
        if self._until is None or self._code != ExitCode.DONE:
            return
        left_out, left = self._service.left_out(self._until), self._service.final_state
        unstored = left.dropped + left.waiting
        if left_out or unstored or not self._done.snapshots:
            self._code = int(ExitCode.FOUND)
            log_missing(self._options.for_ms or 0, left_out, unstored, self._done)

    def _on_failure(self, error: BaseException) -> None:
        _LOG.error(str(error), extra=as_event("agent.failed"))
        self._reason, self._code = "it could not go on", int(ExitCode.FAILED)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first error in a group and its nested groups."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _further(settings: Settings) -> FurtherHours | None:
    """What knows hours that the store does not hold; None: the store is all that there is."""
    if settings.history.backend != PROMETHEUS:
        return None
    # What speaks HTTP takes time to import.
    from mqvitals_agent.engine_history.hour_means import EngineHourMeans

    return EngineHourMeans.of(settings)
