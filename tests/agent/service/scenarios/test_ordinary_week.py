"""A week of a site as it runs: nobody is told anything but the faults that the scenario contains."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.simulator.connector import connectors
from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.scenario import WEEK_MS, load_scenario
from mqvitals_agent.simulator.site import ZONE_MS
from mqvitals_agent.store.reader import StoreReader
from mqvitals_rules.lifecycle.alert import Alert, AlertState

MONDAY = 1794783600000  # 2026-11-16 00:00 in the local time of the group
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


class Fault(NamedTuple):
    """An alert that the scenario contains: within which time after ``at`` it fires, and after which it has ended, ms after
    Monday 00:00. One that comes ``sometimes`` depends on when the agent polled.
    """

    alert: str
    at: int
    fires_within: int
    lasts: int
    sometimes: bool = False


DEAD_LETTERS = "AGENT-05 QM01/queue/SYSTEM.DEAD.LETTER.QUEUE"
STUCK, FILLING = 2 * DAY + 3 * HOUR + 12 * MINUTE, 3 * DAY + 10 * HOUR + 40 * MINUTE
UNREAD = 4 * DAY + 14 * HOUR + 5 * MINUTE
INITIATOR, RESTART = 5 * DAY + 7 * HOUR, 6 * DAY + 6 * HOUR
FAULTS = (
    # Nothing is sent for five minutes, seen by two polls; it ends with the channel's first batches.
    Fault("OPS-101 QM01/queue/PARTNER", STUCK, 9 * MINUTE, 30 * MINUTE),
    Fault("CF-05 PRDQ/cf_structure/APPL1", FILLING, 6 * MINUTE, 20 * MINUTE),
    Fault("CF-03 PRDQ/cf_structure/APPL1", FILLING, 6 * MINUTE, 20 * MINUTE),
    Fault("Q-01 PRDQ/queue/APPL1.ORDERS", FILLING, 6 * MINUTE, 20 * MINUTE),
    # Five rises in a row, seen twice: which polls they fall on decides.
    Fault("Q-02 PRDQ/queue/APPL1.ORDERS", FILLING, 8 * MINUTE, 20 * MINUTE, sometimes=True),
    Fault("Q-03 QM02/queue/PAYMENTS.IN", UNREAD, 8 * MINUTE, 20 * MINUTE),
    # It fills the buffer pool, and Q-03 is named as the cause.
    Fault("BP-02 QM02/buffer_pool/3", UNREAD, 10 * MINUTE, 20 * MINUTE),
    # A planned restart is told as what it is: the agent cannot know that it was planned.
    Fault("AGENT-04 QM02/channel_initiator", INITIATOR, 2 * MINUTE, 4 * MINUTE),
    Fault("AGENT-01 QM03/queue_manager", RESTART, MINUTE, 12 * MINUTE),
)


async def lived(house: Any, begin: int, length: int, interval: int) -> list[Alert]:
    """The operational alerts of an agent that begins so many ms after Monday 00:00, polling once in an interval."""
    house.clock = VirtualClock(MONDAY + begin)
    house.scripts = connectors(SimulatedGroup(load_scenario("ordinary-week"), MONDAY + begin), house.clock)
    house.settings = replace(house.settings, polling=replace(house.settings.polling, interval=interval))
    async with house.running():
        for _ in range(length // interval):
            await house.clock.advance(interval)
    with StoreReader.open(house.store) as reader:
        return [each.alert for each in reader.alerts(include_ended=True, review=False)]


def told(alerts: Iterable[Alert], begin: int, length: int) -> None:
    """The faults of these hours were told in time, each ended, and nothing else was told but old dead letters, once."""
    left = [fault for fault in FAULTS if begin <= fault.at < begin + length]
    dead_letters = []
    for alert in alerts:
        name = f"{alert.key.rule} {alert.key.object}"
        if name == DEAD_LETTERS:
            dead_letters.append(alert)
            continue
        fault = next((fault for fault in left if fault.alert == name), None)
        assert fault is not None, f"{name} was told: {alert.summary}"
        left.remove(fault)
        started = (alert.started or 0) - MONDAY - fault.at
        assert 0 <= started <= fault.fires_within, name
        assert alert.ended is not None, name
        assert alert.ended - MONDAY - fault.at <= fault.lasts, name
    assert not [fault for fault in left if not fault.sometimes]
    assert [alert.state for alert in dead_letters] == [AlertState.FIRING]


HOURS = {
    "the night from Monday to Tuesday": (21 * HOUR + 40 * MINUTE, 5 * HOUR + 20 * MINUTE, 10 * MINUTE),
    "Tuesday morning, as the traffic begins": (DAY + 4 * HOUR + 40 * MINUTE, 3 * HOUR, 10 * MINUTE),
    "the channel that is stuck on Wednesday": (STUCK - 12 * MINUTE, 42 * MINUTE, 2 * MINUTE),
    "the structure that fills on Thursday": (FILLING - 3 * MINUTE, 21 * MINUTE, MINUTE),
    "the consumer that ends on Friday": (UNREAD - 10 * MINUTE, 30 * MINUTE, 2 * MINUTE),
    "the channel initiator on Saturday": (INITIATOR - 3 * MINUTE, 10 * MINUTE, MINUTE),
    "the restart on Sunday": (RESTART - 2 * MINUTE, 18 * MINUTE, 2 * MINUTE),
}
"""The hours in which most happens: when each begins and how long it is, and how often it is polled."""


@pytest.mark.parametrize("hours", HOURS)
async def test_only_the_faults_are_told(house: Any, hours: str) -> None:
    """An agent that begins shortly before knows nothing of the days before."""
    begin, length, interval = HOURS[hours]
    told(await lived(house, begin, length, interval), begin, length)


@pytest.mark.soak
async def test_only_the_faults_are_told_in_the_whole_week(house: Any) -> None:
    """Each minute from Monday to Sunday."""
    told(await lived(house, 0, WEEK_MS, MINUTE), 0, WEEK_MS)


def test_the_week_begins_on_monday() -> None:
    """In local time, whenever the agent begins; a scenario without a week begins with the agent."""
    week = load_scenario("ordinary-week")
    assert week.began(MONDAY) == week.began(MONDAY + WEEK_MS - 1) == MONDAY
    assert week.began(MONDAY - 1) == MONDAY - WEEK_MS
    assert load_scenario("quiet").began(MONDAY + 5) == MONDAY + 5
    assert (MONDAY + ZONE_MS) % DAY == 0
