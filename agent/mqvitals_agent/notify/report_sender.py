"""Sends reports to receivers at their times, each until it is taken or too old, and never a second one for a moment."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Any, Final, TypeVar, cast

from mqvitals_agent.clock import Clock, with_timeout
from mqvitals_agent.log import as_change, as_event, as_recovery
from mqvitals_agent.notify.delivery import MakeReceiver
from mqvitals_agent.notify.receiver import DeliveryOutcome, DeliveryStatus, NotificationReceiver
from mqvitals_agent.notify.report import ReportMessage, ReportReceiver
from mqvitals_agent.notify.report_schedule import LATE_MS, ReportTimes, dealt_with, decide_report, tried_again
from mqvitals_agent.notify.retry import RetryPolicy, pause_ms
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.rows.alerts.reports import ReportKey, ReportRepository, ReportRow
from mqvitals_agent.text.figure import age
from mqvitals_agent.threads import BoundedCall, NoAnswerError, OnStore
from mqvitals_config.receivers.receiver import ReceiverSettings
from mqvitals_config.sections.reports import ReportSettings
from mqvitals_rules.timestamps import iso

_LOG = logging.getLogger(__name__)

_T = TypeVar("_T")

BUILD_S: Final = 120.0
"""A report that is not built within this time is tried again."""
_LOOK_MS: Final = 60_000
"""The clock may be set: the time is looked at so often."""

BuildReport = Callable[[ReportSettings, int, bool], ReportMessage]
"""(report, its moment in ms UTC, whether it is late) -> what is sent. Runs in a thread; raises StoreError."""


class ReportSender:
    """Sends the reports of the settings, in ``run``, until it is closed.

    ``times`` are those of each report by its name, ``receivers`` the settings of each receiver by its name.
    """

    def __init__(
        self,
        reports: Sequence[ReportSettings],
        times: Mapping[str, ReportTimes],
        receivers: Mapping[str, ReceiverSettings],
        build: BuildReport,
        on_store: OnStore[ReportRepository],
        clock: Clock,
        chance_of: Callable[[str], Callable[[], float]],
        make: MakeReceiver,
    ) -> None:
        self._reports = reports
        self._times = times
        self._receivers = receivers
        self._build = build
        self._on_store = on_store
        self._clock = clock
        self._chance_of = chance_of
        self._make = make
        self._closed = asyncio.Event()
        self._retry = RetryPolicy(clock, chance_of("reports"), "all receivers of reports")
        self._building = BoundedCall()
        self._made: dict[str, NotificationReceiver] = {}
        self._built: tuple[tuple[str, int, bool], ReportMessage] | None = None
        self._build_lock = asyncio.Lock()

    def close(self) -> None:
        """End ``run``, after an attempt that is under way."""
        self._closed.set()

    async def run(self) -> None:
        """Send until ``close``."""
        keys = {(str(each.name), str(name)): each for each in self._reports for name in each.receivers}
        await self._stored(lambda rows: rows.keep(keys))
        known = await self._stored(lambda rows: rows.read())
        async with AsyncExitStack() as opened, asyncio.TaskGroup() as group:
            for name in {receiver for _, receiver in keys}:
                # One for all attempts: it may know which of its addresses have the report already.
                made = self._made[name] = self._make(cast("Any", self._receivers[name]), self._clock.now)
                opened.push_async_callback(made.aclose)
            for key, report in keys.items():
                group.create_task(self._send(key, report, known.get(key)), name=f"report {key[0]} to {key[1]}")

    async def _stored(self, function: Callable[[ReportRepository], _T]) -> _T:
        return await self._retry.call(lambda: self._on_store(function))

    async def _send(self, key: ReportKey, report: ReportSettings, row: ReportRow | None) -> None:
        """Send one report to one receiver, moment after moment."""
        times, stored = self._times[key[0]], row
        while not self._closed.is_set():
            now = self._clock.now()
            decision = decide_report(times, row, now)
            row = decision.row
            if decision.skipped:
                _log_skipped(key, decision.skipped)
            if decision.due is not None:
                row = await self._attempt(key, report, row, decision.due)
            if row != stored:
                kept = stored = row
                await self._stored(lambda rows: rows.write(key, kept))  # noqa: B023 - used at once
            if decision.due is None:
                await self._rest(min(decision.at - now, _LOOK_MS))

    async def _rest(self, ms: int) -> None:
        with suppress(TimeoutError):
            await with_timeout(self._closed.wait(), self._clock, max(ms, 1))

    async def _attempt(self, key: ReportKey, report: ReportSettings, row: ReportRow, due: int) -> ReportRow:
        """Make one attempt; returns what is known then."""
        name, receiver = key
        with self._clock.hold():
            outcome = await self._outcome(report, receiver, due)
        now = self._clock.now()
        if outcome.status is DeliveryStatus.ACCEPTED:
            _LOG.info(
                f"report {name} of {iso(due)} has been sent to {receiver}: {outcome.text}",
                extra=as_event("report.sent", report=name, receiver=receiver, at=iso(due)),
            )
            _LOG.info(
                f"reports reach {receiver} again", extra=as_recovery(f"report {key}", "report.back", receiver=receiver)
            )
            return dealt_with(row, due, now)
        _LOG.error(
            f"report {name} could not be sent to {receiver}: {outcome.text}; it is tried again",
            extra=as_change(f"report {key}", "report.failing", report=name, receiver=receiver),
        )
        pause = pause_ms(row.attempts + 1, self._chance_of(receiver)(), outcome.retry_after_ms)
        return tried_again(row, outcome.text, now + pause)

    async def _outcome(self, report: ReportSettings, receiver: str, due: int) -> DeliveryOutcome:
        try:
            message = await self._message(report, due)
        except NoAnswerError:
            return DeliveryOutcome(DeliveryStatus.AGAIN, f"it could not be built within {age(round(BUILD_S * 1000))}")
        except StoreError as error:
            return DeliveryOutcome(DeliveryStatus.AGAIN, str(error))
        return await cast("ReportReceiver", self._made[receiver]).send_report(message)

    async def _message(self, report: ReportSettings, due: int) -> ReportMessage:
        """The message of a report; built once for all its receivers."""
        wanted = str(report.name), due, self._clock.now() - due > LATE_MS
        async with self._build_lock:
            if self._built is None or self._built[0] != wanted:
                message = await self._building.run(lambda: self._build(report, due, wanted[2]), BUILD_S)
                self._built = wanted, message
            return self._built[1]


def _log_skipped(key: ReportKey, count: int) -> None:
    name, receiver = key
    often = "one moment" if count == 1 else f"{count} moments"
    _LOG.warning(
        f"report {name} was not sent to {receiver} at {often}: the agent was not running, or the receiver took nothing",
        extra=as_event("report.skipped", report=name, receiver=receiver, moments=count),
    )
