"""A machine's wall clock that is set: dates follow it at once, and what has elapsed is what has elapsed."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from mqvitals_agent.alerting.action import fingerprint
from mqvitals_agent.service.cycles.cycle_clock import RECENT_MS, CycleClock, DatingReason
from mqvitals_agent.store.reader import StoreReader
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.sections.rules import RuleSettings
from mqvitals_rules.lifecycle.alert import Alert, AlertState
from mqvitals_rules.snapshot import ObjectName

HOUR = 3_600_000
YEARS_56 = 56 * 365 * 24 * HOUR
QUEUE = ObjectName("QM01", "queue", "APP.A")


def samples(house: Any, name: ObjectName = QUEUE) -> list[tuple[int, int | None, float | None]]:
    """Time, interval and depth of each sample of the queue."""
    with StoreReader.open(house.store) as reader:
        return list(reader.samples(name, "depth"))


def events(house: Any, event: str) -> list[str]:
    return [line for line in house.log.getvalue().splitlines() if f" {event} " in line]


class Wall:
    """A wall clock beside elapsed time, and a grid that goes by both."""

    def __init__(self, now: int, last_ts: int = -1, interval_ms: int = 30_000) -> None:
        self.now, self.steady = now, 5_000_000
        self.grid = CycleClock(interval_ms)
        self.grid.start(now, self.steady, 0, last_ts)
        self.dates: list[int] = []
        self.step()

    def step(self, cycles: int = 1, set_by: int = 0) -> CycleClock:
        """Set the clock, and begin a cycle; then the others, an interval after each other."""
        self.now += set_by
        for _ in range(cycles):
            if self.dates:
                self.now += self.grid.interval_ms
                self.steady += self.grid.interval_ms
            self.grid.step(self.now, self.steady)
            self.dates.append(self.grid.began)
        return self.grid


NOW = 1_795_176_000_000


def test_dates_lead_until_the_clock_has_caught_up() -> None:
    """They go half as fast as the clock, so that the lead becomes shorter by half of what passes."""
    wall = Wall(NOW, NOW + 45_000)
    leads = [wall.grid.lead, *(wall.step().lead for _ in range(4))]
    assert leads == [45_001, 30_001, 15_001, 0, 0]


def test_a_start_in_1970_that_is_put_right() -> None:
    """The store's newest sample is believed more than such a clock; the first cycle after the correction is dated by the clock."""
    wall = Wall(1_000, NOW)
    wall.step(3)
    assert wall.dates[0] == NOW + 1
    grid = wall.step(set_by=NOW + HOUR)
    assert (grid.dating, grid.began) == (DatingReason.CLOCK, wall.now)
    assert grid.number == 5


def test_an_hour_back_for_one_cycle_leaves_no_trace() -> None:
    """Older samples are not given up for a clock that may be wrong; once it is right again, so are the dates."""
    wall = Wall(NOW)
    wall.step(1000)
    back = wall.step(set_by=-HOUR)
    assert (back.dating, back.shift) == (DatingReason.BEHIND, -15_000)
    again = wall.step(set_by=HOUR)
    assert (again.began, again.lead, again.shift) == (wall.now, 0, 15_000)
    assert wall.dates == sorted(set(wall.dates))


@pytest.mark.parametrize("cycles", [1, 100])
@pytest.mark.parametrize("by", [HOUR, YEARS_56])
def test_ahead_and_back(by: int, cycles: int) -> None:
    """Dates follow at once both ways, however long the clock was wrong."""
    wall = Wall(NOW)
    wall.step(1000)
    ahead = wall.step(cycles, set_by=by)
    assert (ahead.began, ahead.dating) == (wall.now, DatingReason.CLOCK)
    back = wall.step(set_by=-by)
    assert back.dating.deletes
    assert (back.began, back.lead, back.shift) == (wall.now, 0, -by)


def test_a_clock_that_was_ahead_since_the_start_of_the_machine() -> None:
    """A clock in local time, put right a minute later: only this run's last minutes lie ahead."""
    wall = Wall(NOW + 2 * HOUR, NOW)
    wall.step(3)
    assert wall.step(set_by=-2 * HOUR).dating is DatingReason.RECENT
    assert wall.grid.began == wall.now


def test_a_run_that_began_years_ahead() -> None:
    """No agent rests for years: all that this run has stored is wrong, also after an hour."""
    wall = Wall(NOW + YEARS_56, NOW)
    wall.step(120)
    assert wall.step(set_by=-YEARS_56).dating is DatingReason.RETURNED


def test_no_more_than_the_last_minutes_are_given_up_without_a_reason() -> None:
    """As long as what lies ahead is recent, and not one interval longer."""
    for back, dating in ((RECENT_MS - 60_000, DatingReason.RECENT), (RECENT_MS + 60_000, DatingReason.BEHIND)):
        wall = Wall(NOW)
        wall.step(1000)
        assert wall.step(set_by=-back).dating is dating


def test_a_small_step_back_between_two_cycles_deletes_nothing() -> None:
    """Nothing lies ahead then."""
    wall = Wall(NOW)
    wall.step(10)
    grid = wall.step(set_by=-20_000)
    assert (grid.dating, grid.began, grid.correction) == (DatingReason.CLOCK, wall.now, -20_000)


async def test_set_back_while_the_agent_was_down(house: Any, queue_depth: Any) -> None:
    """A restart dates its samples after the newest one, at half the clock's pace; their intervals are those of elapsed time."""
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
    assert len(events(house, "clock.behind")) == 1


@pytest.mark.parametrize("by", [-120_000, -HOUR, HOUR, YEARS_56])
async def test_set_while_it_runs(house: Any, queue_depth: Any, by: int) -> None:
    """The next cycle is dated by the clock; intervals are what has elapsed; questions are put as often as ever."""
    for script in house.scripts:
        script.items = {"INQUIRE_Q_STATUS": [queue_depth("APP.A", 5)]}
    async with house.running():
        await house.clock.advance(65_000)
        house.clock.set(house.clock.now() + by)
        await house.clock.advance(30_000)
        for owner in ("QM01", "QM02", "QM03"):
            newest = samples(house, ObjectName(owner, "queue", "APP.A"))[-1]
            assert house.clock.now() - 30_000 < newest[0] <= house.clock.now()
        await house.clock.advance(60_000)
    times = [ts for ts, _, _ in samples(house)]
    assert times == sorted(set(times))
    assert len(times) == (3 if by < 0 else 6)
    assert {interval for _, interval, _ in samples(house)} <= {None, 30_000}
    assert house.of("QM01").times("INQUIRE_Q_STATUS") == [
        0, 30_000, 60_000, 90_000 + by, 120_000 + by, 150_000 + by,
    ]  # fmt: skip
    assert house.of("QM01").times("INQUIRE_Q")[1:] == []
    (line,) = events(house, "clock.corrected")
    assert f"by_ms={by}" in line
    assert not events(house, "clock.behind")
    with StoreReader.open(house.store) as reader:
        assert {owner.last_ts for owner in reader.owners()} == {times[-1]}


async def test_an_hour_ahead_for_one_cycle(house: Any, queue_depth: Any) -> None:
    """What was stored under the wrong clock goes, what was stored before stays, and nothing lies ahead."""
    house.of("QM01").items = {"INQUIRE_Q_STATUS": [queue_depth("APP.A", 5)]}
    async with house.running():
        await house.clock.advance(65_000)
        right = [ts for ts, _, _ in samples(house)]
        house.clock.set(house.clock.now() + HOUR)
        await house.clock.advance(30_000)
        house.clock.set(house.clock.now() - HOUR)
        await house.clock.advance(60_000)
    times = [ts for ts, _, _ in samples(house)]
    assert times[:3] == right
    assert [late - early for early, late in pairwise(times)] == [30_000, 30_000, 60_000, 30_000]
    assert {interval for _, interval, _ in samples(house)} <= {None, 30_000}


async def test_an_hour_back_for_one_poll(house: Any, queue_depth: Any) -> None:
    """Of a run that has lasted nothing is given up, and nothing lies ahead afterwards."""
    house.of("QM01").items = {"INQUIRE_Q_STATUS": [queue_depth("APP.A", 5)]}
    async with house.running():
        await house.clock.advance(20 * 60_000 + 5_000)
        before = samples(house)
        house.clock.set(house.clock.now() - HOUR)
        await house.clock.advance(30_000)
        house.clock.set(house.clock.now() + HOUR)
        await house.clock.advance(60_000)
    found = samples(house)
    assert found[: len(before)] == before
    assert {interval for _, interval, _ in found} == {None, 30_000}
    times = [ts for ts, _, _ in found]
    assert [late - early for early, late in pairwise(times[-4:])] == [15_000, 45_000, 30_000]
    assert times[-1] == house.clock.now() - 5_000
    assert [len(events(house, event)) for event in ("clock.corrected", "clock.behind", "clock.caught_up")] == [2, 1, 1]


async def test_killed_while_the_cycle_after_a_correction_is_stored(house: Any, queue_depth: Any) -> None:
    """One queue manager's samples still lie ahead: that delays no other, and they go with its next cycle."""
    for script in house.scripts:
        script.items = {"INQUIRE_Q_STATUS": [queue_depth("APP.A", 5)]}
    async with house.running():
        await house.clock.advance(65_000)
    with sqlite3.connect(house.store) as connection:
        for statement in (
            "UPDATE owner SET last_ts = last_ts + 3600000, last_cycle = last_cycle - 1 WHERE name = 'QM03'",
            "UPDATE snapshot SET ts = ts + 3600000 WHERE owner = 'QM03' AND cycle = 2",
            (
                "UPDATE sample_queue SET ts = (SELECT ts FROM snapshot WHERE owner = 'QM03' AND cycle = 2)"
                " WHERE ts = (SELECT ts FROM snapshot WHERE owner = 'QM02' AND cycle = 2)"
                " AND object_id = (SELECT id FROM object WHERE owner = 'QM03' AND kind = 'queue')"
            ),
        ):
            assert connection.execute(statement).rowcount == 1
    async with house.running():
        await house.clock.advance(65_000)
    assert not events(house, "clock.behind")
    for owner in ("QM01", "QM03"):
        times = [ts for ts, _, _ in samples(house, ObjectName(owner, "queue", "APP.A"))]
        assert times == sorted(set(times))
        assert house.clock.now() - 30_000 < times[-1] <= house.clock.now()


@pytest.mark.parametrize("by", [-HOUR, -120_000, HOUR])
async def test_set_while_a_cycle_is_in_flight(house: Any, queue_depth: Any, by: int) -> None:
    """An answer that comes after the clock was set belongs to its cycle as if it had not been."""
    script = house.of("QM01")
    script.items = {"INQUIRE_Q_STATUS": [queue_depth("APP.A", 5)]}
    script.took = {"INQUIRE_Q_STATUS": 2_000}
    async with house.running():
        await house.clock.advance(61_000)
        house.clock.set(house.clock.now() + by)
        await house.clock.advance(120_000)
    assert {interval for _, interval, _ in samples(house)} <= {None, 30_000}
    assert max(exchange.elapsed_ms for exchange in house.tapped) == 2_000


DEEP = """rules:
  - id: OWN-01
    title: Deep
    kind: operational
    scope: queue
    when: depth > 3
    hold: {for: 2m}
    severity: warning
    summary: "{depth} wait"
    advice: Look.
    caveat: None.
    source: {document: Our own handbook, section: Chapter 1}
"""


def with_rule(house: Any, queue_depth: Any) -> None:
    """Depth 5 of the queue fires after two minutes."""
    path = house.store.parent / "ours.yaml"
    path.write_text(DEEP, "utf-8")
    house.settings = replace(
        house.settings, rules=RuleSettings(files=(LocatedText(str(path), Place("mqvitals.yaml")),))
    )
    house.of("QM01").items = {"INQUIRE_Q_STATUS": [queue_depth("APP.A", 5)]}


def alert(house: Any) -> Alert:
    with StoreReader.open(house.store) as reader:
        (found,) = (
            each.alert
            for each in reader.alerts(include_ended=True, include_pending=True)
            if each.alert.key.rule == "OWN-01"
        )
    return found


@pytest.mark.parametrize("by", [-120_000, HOUR, YEARS_56])
async def test_holds_go_by_elapsed_time(house: Any, queue_depth: Any, by: int) -> None:
    """Two minutes are five polls, whatever the clock was set to meanwhile; then the alert is as old as it is."""
    with_rule(house, queue_depth)
    async with house.running():
        await house.clock.advance(65_000)
        house.clock.set(house.clock.now() + by)
        await house.clock.advance(30_000)
        assert alert(house).state is AlertState.PENDING
        await house.clock.advance(30_000)
        assert (found := alert(house)).state is AlertState.FIRING
    assert found.started == NOW + 120_000 + by
    assert found.started - found.since == 120_000


@pytest.mark.parametrize("by", [-120_000, HOUR, YEARS_56])
async def test_an_alert_of_the_wrong_clock_is_as_old_as_it_is(house: Any, queue_depth: Any, by: int) -> None:
    """Its beginning is corrected with the clock; it stays the same incident to the receivers that know it."""
    with_rule(house, queue_depth)
    house.clock.set(NOW - by)
    async with house.running():
        await house.clock.advance(240_000)
        before = alert(house)
        house.clock.set(house.clock.now() + by)
        await house.clock.advance(30_000)
        after = alert(house)
        assert after.started == NOW + 120_000
        assert after.since == NOW
        assert fingerprint(after) == fingerprint(before)
        house.of("QM01").items = {"INQUIRE_Q_STATUS": [queue_depth("APP.A", 0)]}
        await house.clock.advance(120_000)
        ended = alert(house)
        assert ended.ended is not None
    assert ended.ended - after.started == 240_000
    assert fingerprint(ended) == fingerprint(before)
    resolved = next(line for line in house.log.getvalue().splitlines() if "alert.resolved" in line)
    assert "fired_ms=240000" in resolved


async def test_an_alert_of_an_earlier_run_keeps_its_beginning(house: Any, queue_depth: Any) -> None:
    """A machine that starts in 1970 and is put right: what began before the start began when it did."""
    with_rule(house, queue_depth)
    async with house.running():
        await house.clock.advance(150_000)
    before = alert(house)
    now = house.clock.now()
    house.clock.set(5_000)
    async with house.running():
        await house.clock.advance(65_000)
        assert alert(house).started == before.started
        house.clock.set(now + HOUR)
        await house.clock.advance(60_000)
        assert alert(house).started == before.started
        times = [ts for ts, _, _ in samples(house)]
    assert times == sorted(set(times))
    assert now + HOUR <= times[-1] <= house.clock.now()


async def test_a_clock_that_goes_right_is_no_news(house: Any) -> None:
    """Neither a restart at once nor the cycles after it say anything of the clock."""
    for _ in range(2):
        async with house.running():
            await house.clock.advance(65_000)
    assert "clock." not in house.log.getvalue()


async def test_a_store_that_opens_slowly_is_no_news_of_the_clock(house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What passes meanwhile passes by both clocks."""
    at_once = house.worker.run

    async def slowly(function: Any, *arguments: Any) -> Any:
        if function.__name__ == "open":
            await house.clock.sleep(2_000)
        return await at_once(function, *arguments)

    monkeypatch.setattr(house.worker, "run", slowly)
    async with house.running():
        await house.clock.advance(65_000)
    assert len(house.of("QM01").times("INQUIRE_Q_STATUS")) == 3
    assert "clock.corrected" not in house.log.getvalue()
