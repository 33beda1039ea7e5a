"""The log says once that a window begins and once that it ends, also when settings change meanwhile."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import UTC

import pytest

from mqvitals_agent.alerting.calendar import TimeSpan
from mqvitals_agent.alerting.maintenance import NO_CALENDAR, MaintenanceWindow, SiteCalendar
from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.service.run_log import MaintenanceWatch
from mqvitals_agent.threads import run_in_loop
from mqvitals_rules.ruleset.pattern import ObjectPattern

START = 1_795_176_000_000
HOUR = 3_600_000
QM03 = (ObjectPattern.parse("QM03/*"),)


def window(name: str, start: int, end: int) -> MaintenanceWindow:
    """From and until so many hours after the start."""
    span = TimeSpan(START + start * HOUR, START + end * HOUR)
    return MaintenanceWindow(name, "IPL of SYS3", UTC, span, queue_managers=QM03, planned_down=True)


def test_each_beginning_and_each_end_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """A window that a reload brings begins then, one that it takes away ends then; one that stays does neither."""
    clock = VirtualClock(START)
    caplog.set_level(logging.INFO)
    found: list[tuple[float, str]] = []

    def look() -> None:
        found.extend((round((clock.now() - START) / HOUR, 1), each.getMessage()) for each in caplog.records)
        caplog.clear()

    async def run() -> None:
        windows = window("a", -1, 2), window("b", 1, 2), window("b", 2, 3)
        watch = MaintenanceWatch(SiteCalendar(windows=windows), clock)
        task = asyncio.create_task(watch.run())
        await clock.sleep(60_000)
        for calendar in (SiteCalendar(windows=(*windows[1:], window("c", 0, 9))), NO_CALENDAR, NO_CALENDAR):
            for _ in range(9):
                await clock.sleep(HOUR // 4)
                look()
            watch.configure(calendar)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    run_in_loop(run(), clock)
    about = "nothing is notified about QM03 (planned down): IPL of SYS3"
    assert found == [
        (0.3, f"maintenance 'a' has begun, until 14:00 UTC; {about}"),
        (1, f"maintenance 'b' has begun, until 15:00 UTC; {about}"),
        (2, "maintenance 'a' has ended"),
        (2.5, f"maintenance 'c' has begun, until 21:00 UTC; {about}"),
        (3, "maintenance 'b' has ended"),
        (4.8, "maintenance 'c' has ended"),
    ]
