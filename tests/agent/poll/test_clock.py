"""Local times of queue managers, and the zone they are in."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from mqvitals_agent.poll.local_time import QueueManagerClock, local_ms, told_time
from mqvitals_rules.timestamps import parse_iso

NOON = parse_iso("2026-11-20T12:00:00.000Z")
HOUR = 3_600_000


def test_dates_and_times_are_read() -> None:
    """yyyy-mm-dd and hh.mm.ss become ms on the local clock face; blank and malformed ones nothing."""
    assert local_ms("2026-11-20", "12.59.59") == NOON + HOUR - 1000
    for date, time in [
        ("", ""),
        ("2026-11-20", ""),
        ("", "12.00.00"),
        ("20.11.2026", "12.00.00"),
        ("2026-11-20", "noon"),
    ]:
        assert local_ms(date, time) is None
    assert local_ms(None, (1, 2)) is None
    assert told_time(None, (1, 2)) is None
    assert told_time("2026-11-20", "12.59.59") == ("2026-11-20 12.59.59", local_ms("2026-11-20", "12.59.59"))


def observed(offset_ms: int, *, polls: int = 3, behind_ms: int = 500, step_ms: int = 10_000) -> QueueManagerClock:
    """A clock that saw a newest time a little behind the present in some polls."""
    clock = QueueManagerClock()
    for poll in range(polls):
        now = NOON + poll * step_ms
        clock.observe(now + offset_ms - behind_ms, now, 10)
    return clock


@pytest.mark.parametrize("quarters", [-48, -14, -1, 0, 1, 4, 22, 23, 51, 56])
def test_zone_is_derived_to_the_quarter_hour(quarters: int) -> None:
    """Three polls with recent activity give the zone, for every zone there is."""
    offset = quarters * 900_000
    assert observed(offset).utc(NOON + offset) == NOON


@pytest.mark.parametrize("behind_ms", [0, 999, 30_000, 110_000])
def test_zone_is_derived_from_activity_a_little_ago(behind_ms: int) -> None:
    """The newest time may be some time ago."""
    assert observed(HOUR, behind_ms=behind_ms).utc(NOON + HOUR) == NOON


@pytest.mark.parametrize("ahead_ms", [1, 2_000, 4_900])
def test_zone_survives_clocks_that_differ(ahead_ms: int) -> None:
    """The queue manager's clock may run some seconds before ours."""
    assert observed(HOUR, behind_ms=-ahead_ms).utc(NOON + HOUR) == NOON


def test_two_polls_are_not_enough() -> None:
    """Until three polls agree the zone is not known."""
    clock = observed(HOUR, polls=2)
    assert not clock.known
    assert clock.utc(NOON) is None


def test_idle_queue_manager_proves_nothing() -> None:
    """A newest time that does not move cannot tell the zone, nor one that is long ago."""
    clock = QueueManagerClock()
    for poll in range(50):
        clock.observe(NOON + HOUR, NOON + poll * 10_000, 10)
    assert not clock.known
    assert not observed(HOUR, behind_ms=400_000).known
    assert not observed(30 * HOUR).known


def test_zone_follows_the_change_to_summer_time() -> None:
    """When the derived zone changes, three polls later it is the new one."""
    clock = observed(HOUR)
    for poll in range(3):
        now = NOON + HOUR + poll * 10_000
        assert clock.utc(now + HOUR) == now
        clock.observe(now + 2 * HOUR - 500, now, 10)
    assert clock.utc(NOON + 2 * HOUR) == NOON


def test_configured_zone_goes_before_what_is_seen() -> None:
    """A named zone is right in summer and winter, whatever the times look like."""
    clock = QueueManagerClock(ZoneInfo("Europe/Berlin"))
    clock.observe(NOON, NOON, 0)
    winter = local_ms("2026-11-20", "13.00.00")
    summer = local_ms("2026-07-20", "14.00.00")
    assert winter is not None
    assert summer is not None
    assert clock.utc(winter) == NOON
    assert clock.utc(summer) == parse_iso("2026-07-20T12:00:00.000Z")
