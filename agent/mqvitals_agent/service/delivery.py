"""What a run sends: notifications and reports to receivers, samples to engines."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from mqvitals_agent.alerting.labels import Labeller
from mqvitals_agent.clock import Clock
from mqvitals_agent.handover.reading import HandoverRequest, read_handover
from mqvitals_agent.log import as_event
from mqvitals_agent.notify.delivery import Notifier, make_receiver
from mqvitals_agent.notify.outbox import Outbox, OutboxSettings
from mqvitals_agent.notify.report import ReportMessage, report_message
from mqvitals_agent.notify.report_schedule import ReportTimes
from mqvitals_agent.notify.report_sender import ReportSender
from mqvitals_agent.service.agent_config import AgentConfig
from mqvitals_agent.service.monitored_group import MonitoredGroup
from mqvitals_agent.service.service import Service
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.alerts.notifications import UpdateOutbox
from mqvitals_agent.store.rows.alerts.reports import ReportRepository
from mqvitals_agent.store.rows.remote_write import RemoteWriteRepository
from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.figure import moment, times_in, zone_name
from mqvitals_agent.threads import OnStore, ThreadWorker, WorkerEndedError
from mqvitals_config.sections.reports import ReportSettings

if TYPE_CHECKING:
    from mqvitals_agent.remote_write.remote_writer import RemoteWriter
    from mqvitals_agent.remote_write.state import RemoteState
    from mqvitals_agent.standby.feed import AlertFeed

_LOG = logging.getLogger(__name__)

_T = TypeVar("_T")

Start = Callable[[Coroutine[None, None, None]], asyncio.Task[None]]
"""Starts a task that ends with the run."""

LAST_S: Final = 0.2
"""Tasks that have been told to end may take this long."""


class Deliveries:
    """Sends from the first stored cycle on, since the store is open then.

    ``worker`` is the store's thread, ``service`` gives the run's service, ``late`` says why cycles do not go on, ``start``
    starts its tasks. Of two agents ``feed`` is what the other follows, and ``anew``: this one has taken over. ``failed`` is
    called with what ended a task against expectation.
    """

    def __init__(
        self,
        store: Path,
        config: AgentConfig,
        group: MonitoredGroup,
        worker: ThreadWorker,
        service: Callable[[], Service],
        *,
        late: Callable[[], str],
        start: Start,
        failed: Callable[[BaseException], None],
        feed: AlertFeed | None,
        anew: bool,
    ) -> None:
        self._store = store
        self._config = config
        self._clock = group.clock
        self._chance_of = group.chance_of
        self._worker = worker
        self._service = service
        self._late = late
        self._start = start
        self._failed = failed
        self._feed = feed
        self._anew = anew
        self._tasks: set[asyncio.Task[None]] = set()
        self._notifier: Notifier | None = None
        self._remote_write: RemoteWriter | None = None
        self._reports = ScheduledReports(store, self._on_reports, group.clock, group.chance_of)
        self._outbox = Outbox(
            lambda: service().resilient_store, worker, _outbox_settings(config), group.clock.now, group.machine.now
        )

    @property
    def update_outbox(self) -> UpdateOutbox:
        """Makes the notifications about a cycle's changes of alerts, in its transaction."""
        return self._outbox.update

    @property
    def tasks(self) -> frozenset[asyncio.Task[None]]:
        """What sends now: it ends by itself after ``close``, with an attempt that is under way."""
        return frozenset(self._tasks)

    def engines(self) -> Sequence[RemoteState]:
        """How sending to each engine of remote write goes."""
        return () if self._remote_write is None else self._remote_write.states()

    def stored(self) -> None:
        """A cycle is stored: there may be something to send."""
        if self._notifier is None:
            self._begin()
        else:
            self._notifier.wake()
        if self._remote_write is not None:
            self._remote_write.wake()
        elif self._config.settings.remote_write:
            self._begin_remote_write()

    def acted(self) -> None:
        """People did something about alerts, of which receivers may have to hear."""
        if self._notifier is not None:
            self._notifier.wake()

    def configure(self, config: AgentConfig) -> None:
        """Send by another configuration from now on; engines of remote write stay."""
        self._config = config
        self._outbox.configure(_outbox_settings(config))
        if self._notifier is not None:
            self._notifier.close()
            self._begin()

    def close(self) -> None:
        """Begin no attempt any more."""
        self._reports.close()
        if self._notifier is not None:
            self._notifier.close()

    async def drain(self, rest_s: Callable[[], float]) -> None:
        """Everything is stored and the store still open: send what can be sent, and log what waits for the next run.

        ``rest_s`` tells for how long, as of now.
        """
        if self._remote_write is not None:
            await self._remote_write.drain(rest_s())
        if self._notifier is None:
            return
        self._reports.close()
        await self._notifier.drain(rest_s())
        self._notifier.close()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=LAST_S)
        try:
            pending = await self._outbox.run(lambda rows: rows.pending_counts())
        except StoreError:
            # The write before has logged it.
            return
        count = sum(pending.values())
        if count:
            whose = ", ".join(f"{number} to {name}" for name, number in sorted(pending.items()))
            text = f"notifications pending for the next run: {whose}"
            _LOG.warning(text, extra=as_event("notices.wait", notices=count))

    def _begin(self) -> None:
        make = partial(make_receiver, link=self._config.settings.link)
        self._notifier = Notifier(self._outbox, self._clock, self._chance_of, make, self._late, self._feed)
        self._send(self._notifier.run())
        self._send(self._reports.run(self._config))

    def _begin_remote_write(self) -> None:
        # Imported with the first engine: what it brings takes a tenth of a second.
        from mqvitals_agent.remote_write.remote_writer import RemoteWriter

        self._remote_write = RemoteWriter(
            self._config.settings.remote_write,
            self._store,
            self._on_remote_write,
            self._clock,
            self._chance_of,
            anew=self._anew,
        )
        self._send(self._remote_write.run())

    def _send(self, work: Coroutine[None, None, None]) -> None:
        task = self._start(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_end)

    def _on_end(self, task: asyncio.Task[None]) -> None:
        """It ended with the run, by a reload, or by a bug."""
        self._tasks.discard(task)
        if task.cancelled() or (bug := task.exception()) is None:
            return
        # An outcome that arrives after the store is closed is too late, which is no bug.
        others = bug.split(WorkerEndedError)[1] if isinstance(bug, BaseExceptionGroup) else bug
        if others is not None and not isinstance(others, WorkerEndedError):
            self._failed(bug)

    def _on_reports(self, function: Callable[[ReportRepository], _T]) -> Awaitable[_T]:
        """Call a function with the rows of reports on the store's thread."""
        return self._worker.run(lambda: function(self._service().store.reports))

    def _on_remote_write(self, function: Callable[[RemoteWriteRepository], _T]) -> Awaitable[_T]:
        """Call a function with the rows of remote write on the store's thread."""
        return self._worker.run(lambda: function(self._service().store.remote_write))


class ScheduledReports:
    """Sends the reports of the settings in force, which ``begin`` takes.

    ``on_store`` calls a function with the rows of reports on the store's thread, ``chance_of`` is as for ``Notifier``.
    """

    def __init__(
        self,
        store: Path,
        on_store: OnStore[ReportRepository],
        clock: Clock,
        chance_of: Callable[[str], Callable[[], float]],
    ) -> None:
        self._store = store
        self._on_store = on_store
        self._clock = clock
        self._chance_of = chance_of
        self._sender: ReportSender | None = None
        self._ended = asyncio.Event()
        self._ended.set()

    async def run(self, config: AgentConfig) -> None:
        """Send the reports of ``config`` until ``close``; what was sent by the settings before ends first."""
        self.close()
        await self._ended.wait()
        settings = config.settings
        if not settings.reports:
            return
        self._ended.clear()
        self._sender = ReportSender(
            settings.reports,
            {str(each.name): ReportTimes.of(each, settings.time_zone) for each in settings.reports},
            {str(each.name): each for each in settings.receivers},
            lambda report, due, late: build_report(self._store, config, report, due, late=late),
            self._on_store,
            self._clock,
            self._chance_of,
            partial(make_receiver, link=settings.link),
        )
        try:
            await self._sender.run()
        finally:
            self._ended.set()

    def close(self) -> None:
        """End ``run`` after an attempt that is under way."""
        if self._sender is not None:
            self._sender.close()


def build_report(path: Path, config: AgentConfig, report: ReportSettings, due: int, *, late: bool) -> ReportMessage:
    """What is sent of a report for the moment ``due`` (ms UTC). Raises StoreError."""
    settings = config.settings
    times = ReportTimes.of(report, settings.time_zone)
    with times_in(times.zone), StoreReader.open(path) as reader:
        groups = [each.name for each in reader.owners() if each.is_group]
        labeller = Labeller.of_store(settings.name, groups, config.labels)
        request = HandoverRequest(TimeRange(due - report.last, due), calendar=config.calendar)
        found = read_handover(reader, request, config.rule_config, labeller)
        remark = ""
        if late:
            remark = (
                f"This report was due at {moment(due)} {zone_name(due)} and comes late: the agent was not running then,"
                " or the receiver did not take it."
            )
        return report_message(str(report.name), due, found, remark)


def _outbox_settings(config: AgentConfig) -> OutboxSettings:
    settings = config.settings
    rules, name = config.rule_config.rules, settings.name or ""
    return OutboxSettings(settings.receivers, rules, config.route, name, config.labels, config.calendar)
