"""The reports that a running agent sends: built from its store in a thread, beside its cycles."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

from mqvitals_agent.alerting.labels import Labeller
from mqvitals_agent.clock import Clock
from mqvitals_agent.handover.reading import HandoverRequest, read_handover
from mqvitals_agent.notify.delivery import make_receiver
from mqvitals_agent.notify.report import ReportMessage, report_message
from mqvitals_agent.notify.report_schedule import ReportTimes
from mqvitals_agent.notify.report_sender import ReportSender
from mqvitals_agent.service.agent_config import AgentConfig
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.alerts.reports import ReportRepository
from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.figure import moment, times_in, zone_name
from mqvitals_agent.threads import OnStore
from mqvitals_config.sections.reports import ReportSettings


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
