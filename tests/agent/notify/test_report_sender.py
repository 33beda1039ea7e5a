"""Reports on their way: sent at their time, again while the receiver is down, late with a word, never twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest

from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.notify.receiver import DeliveryOutcome, DeliveryStatus
from mqvitals_agent.notify.report import ReportMessage
from mqvitals_agent.notify.report_schedule import SEND_WITHIN_MS, ReportTimes
from mqvitals_agent.notify.report_sender import ReportSender
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.rows.alerts.reports import ReportKey, ReportRepository, ReportRow
from mqvitals_agent.store.writer import Store
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.receivers.receiver import ReceiverSettings
from mqvitals_config.sections.reports import ReportSettings
from mqvitals_rules.lifecycle.alert import Severity

START = 1_795_176_000_000  # 2026-11-20 12:00:00 UTC
HOUR, MINUTE = 3_600_000, 60_000
T = TypeVar("T")
ACCEPTED, AGAIN, REFUSED = DeliveryStatus.ACCEPTED, DeliveryStatus.AGAIN, DeliveryStatus.REFUSED


def text(words: str) -> LocatedText:
    """A word of the settings."""
    return LocatedText(words, Place("mqvitals.yaml", 1, 1))


@dataclass
class Site:
    """A store, a clock, and receivers that answer as told: ``down`` are those that take nothing."""

    path: Path
    clock: VirtualClock = field(default_factory=lambda: VirtualClock(START))
    at: str = "13:00"
    receivers: tuple[str, ...] = ("ops",)
    down: dict[str, DeliveryStatus] = field(default_factory=dict)
    sent: list[tuple[str, int, int, bool]] = field(default_factory=list)
    built: int = 0
    broken: bool = False

    async def run(self, ms: int) -> None:
        """The agent runs so long."""
        report = ReportSettings(text("day"), text(self.at), tuple(map(text, self.receivers)))
        settings = {name: ReceiverSettings(text(name)) for name in self.receivers}
        with Store.open(self.path) as store:

            async def on_store(function: Callable[[ReportRepository], T]) -> T:
                if self.broken:
                    raise StoreError("the disk is full")
                return function(store.reports)

            sender = ReportSender(
                (report,),
                {"day": ReportTimes.of(report, None)},
                settings,
                self._build,
                on_store,
                self.clock,
                lambda _: lambda: 1.0,
                lambda settings, now: _Receiver(self, settings.name, now),  # type: ignore[arg-type, return-value]
            )
            work = asyncio.create_task(sender.run())
            await self.clock.sleep(ms)
            sender.close()
            with suppress(asyncio.CancelledError):
                await work

    def rows(self) -> Mapping[ReportKey, ReportRow]:
        """What the store keeps."""
        with Store.open(self.path) as store:
            return store.reports.read()

    def _build(self, report: ReportSettings, due: int, late: bool) -> ReportMessage:
        self.built += 1
        return ReportMessage(str(report.name), due, "Handover", Severity.WARNING, {}, "brief", "text", "<html>", late)


@dataclass
class _Receiver:
    site: Site
    name: str
    now: Callable[[], int]

    async def send_report(self, report: ReportMessage, /) -> DeliveryOutcome:
        status = self.site.down.get(self.name, ACCEPTED)
        if status is ACCEPTED:
            self.site.sent.append((self.name, report.at, self.now(), report.late))
        return DeliveryOutcome(status, "as told")

    async def aclose(self) -> None:
        """Nothing is open."""


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A new store at noon."""
    return Site(tmp_path / "store.db")


async def test_it_is_sent_at_its_time_once_a_day(site: Site) -> None:
    """To each of its receivers, and built once for all."""
    site.receivers = ("ops", "chat")
    await site.run(50 * HOUR)
    one = START + HOUR
    assert sorted(site.sent) == [
        (name, one + day * 24 * HOUR, one + day * 24 * HOUR, False) for name in ("chat", "ops") for day in (0, 1, 2)
    ]
    assert site.built == 3


async def test_a_restart_sends_nothing_twice(site: Site) -> None:
    """What is sent is in the store."""
    for _ in range(6):
        await site.run(30 * MINUTE)
    assert [(at, late) for _, at, _, late in site.sent] == [(START + HOUR, False)]
    assert site.rows()["day", "ops"].sent == START + HOUR


async def test_an_agent_that_was_down_sends_late_and_says_so(site: Site) -> None:
    """Within six hours; what is older is given up."""
    await site.run(MINUTE)
    await site.clock.sleep(3 * HOUR)
    await site.run(MINUTE)
    assert [(at, late) for _, at, _, late in site.sent] == [(START + HOUR, True)]
    await site.clock.sleep(24 * HOUR + SEND_WITHIN_MS)
    await site.run(MINUTE)
    assert len(site.sent) == 1


@pytest.mark.parametrize("status", [AGAIN, REFUSED])
async def test_a_receiver_that_is_down_gets_it_when_it_is_back(site: Site, status: DeliveryStatus) -> None:
    """Others do not wait for it, and a restart goes on with it."""
    site.receivers = ("ops", "chat")
    site.down["ops"] = status
    await site.run(90 * MINUTE)
    assert [name for name, *_ in site.sent] == ["chat"]
    assert site.rows()["day", "ops"].attempts > 3
    assert site.rows()["day", "ops"].error == "as told"
    site.down.clear()
    await site.run(10 * MINUTE)
    (_, at, when, late) = site.sent[-1]
    assert (site.sent[-1][0], at, late) == ("ops", START + HOUR, True)
    assert when < START + 101 * MINUTE
    assert site.rows()["day", "ops"].attempts == 0


async def test_it_is_given_up_after_six_hours(site: Site) -> None:
    """The next one comes in time."""
    site.down["ops"] = AGAIN
    await site.run(8 * HOUR)
    site.down.clear()
    await site.run(18 * HOUR)
    assert [(at, late) for _, at, _, late in site.sent] == [(START + 25 * HOUR, False)]


async def test_what_is_no_longer_in_the_settings_is_forgotten(site: Site) -> None:
    """A receiver that comes back begins anew."""
    site.receivers = ("ops", "chat")
    await site.run(MINUTE)
    site.receivers = ("ops",)
    await site.run(MINUTE)
    assert list(site.rows()) == [("day", "ops")]


async def test_nothing_is_sent_while_the_store_cannot_say_what_was(site: Site) -> None:
    """The store is asked until it answers."""
    await site.run(MINUTE)
    site.broken = True
    work = asyncio.create_task(site.run(3 * HOUR))
    await site.clock.sleep(2 * HOUR)
    assert not site.sent
    site.broken = False
    await work
    assert [(at, late) for _, at, _, late in site.sent] == [(START + HOUR, True)]
