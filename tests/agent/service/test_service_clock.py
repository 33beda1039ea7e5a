"""A machine's clock that was set back: samples keep their order, their intervals and about their distances."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from mqvitals_agent.service.grid import Grid
from mqvitals_agent.store.reader import StoreReader
from mqvitals_rules.snapshot import ObjectName

HOUR = 3_600_000
QUEUE = ObjectName("QM01", "queue", "APP.A")


def samples(house: Any) -> list[tuple[int, int | None, float | None]]:
    """Time, interval and depth of each sample of the queue."""
    with StoreReader.open(house.store) as reader:
        return list(reader.samples(QUEUE, "depth"))


def test_dates_lead_until_the_clock_has_caught_up() -> None:
    """They go half as fast as the clock, so that the lead becomes shorter by half of what passes."""
    grid = Grid(30_000)
    grid.start(1_000_000, 4, 1_045_000)
    leads = []
    for now in range(1_000_000, 1_150_000, 30_000):
        grid.step(now)
        leads.append(grid.lead)
    assert leads == [45_001, 30_001, 15_001, 1, 0]


async def test_set_back_while_the_agent_was_down(house: Any, queue_depth: Any) -> None:
    """A restart dates its samples after the newest one, at half the clock's pace; their intervals are those of life."""
    house.of("QM01").items = {"INQUIRE_Q_STATUS": [queue_depth("APP.A", 5)]}
    async with house.running():
        await house.clock.advance(65_000)
    newest = samples(house)[-1][0]
    house.clock.set(house.clock.now() - HOUR)
    async with house.running():
        await house.clock.advance(125_000)
    after = [(ts, interval) for ts, interval, _ in samples(house) if ts > newest]
    assert [interval for _, interval in after] == [None, 30_000, 30_000, 30_000, 30_000]
    assert after[0][0] == newest + 1
    assert [late - early for (early, _), (late, _) in pairwise(after)] == [15_000] * 4


async def test_set_back_while_it_runs(house: Any, queue_depth: Any) -> None:
    """Nothing counts as done within a millisecond, which would make any rate a huge one; the log tells of it twice in all."""
    house.of("QM01").items = {"INQUIRE_Q_STATUS": [queue_depth("APP.A", 5)]}
    async with house.running():
        await house.clock.advance(65_000)
        house.clock.set(house.clock.now() - 120_000)
        await house.clock.advance(400_000)
    times = [ts for ts, _, _ in samples(house)]
    assert times == sorted(set(times))
    assert {interval for _, interval, _ in samples(house)[1:]} <= {None, 30_000}
    log = house.log.getvalue()
    assert (log.count("clock.behind"), log.count("clock.caught_up")) == (1, 1)
    assert times[-1] <= house.clock.now()


async def test_a_clock_that_goes_right_is_no_news(house: Any) -> None:
    """Neither a restart at once nor the cycles after it say anything of the clock."""
    for _ in range(2):
        async with house.running():
            await house.clock.advance(65_000)
    assert "clock." not in house.log.getvalue()
