"""Replay: cycles by the recording's interval, at the wanted pace."""

from __future__ import annotations

from dataclasses import replace as _replace

import pytest

from mqvitals_agent.connection.connection import Exchange, MqiFailure
from mqvitals_agent.poll.collector import Collector
from mqvitals_agent.poll.replay import ReplayCycle, ReplayPace, ReplaySummary, TimeJump, replay

BEGAN = 1795176000007


def at(seconds: float, line: int = 0) -> Exchange:
    """An exchange so many seconds after the first."""
    return Exchange(line, BEGAN + round(seconds * 1000), 5, "QM01", error=MqiFailure(2, 2059))


class Time:
    """A clock that moves only while somebody sleeps, and notes each sleep."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))
        self.now += seconds


def play(
    exchanges: list[Exchange], speed: float | None = None, time: Time | None = None, created: int | None = None
) -> tuple[list[ReplayCycle], ReplaySummary]:
    """Replay with an interval of 10 s."""
    time = time or Time()
    cycles: list[ReplayCycle] = []
    summary = ReplaySummary()
    pace = ReplayPace(speed, time.clock, time.sleep)
    replay(exchanges, 10_000, Collector("G", ["QM01"]), pace, cycles.append, summary, created)
    return cycles, summary


def test_cycles_are_counted_from_the_first_exchange() -> None:
    """An exchange belongs to cycle 1 + floor((at - first at) / interval); the last cycle ends with the recording."""
    cycles, summary = play([at(0), at(9.999), at(10), at(25)])
    assert [(each.number, each.began - BEGAN) for each in cycles] == [(1, 0), (2, 10_000), (3, 25_000)]
    assert [snapshot.cycle for each in cycles for snapshot in each.snapshots if snapshot.owner == "QM01"] == [1, 2, 3]
    assert (summary.cycles, summary.exchanges) == (3, 4)


def test_cycles_are_those_of_the_recorder() -> None:
    """Recording that began less than an interval before the first exchange began its first cycle then; else it tells nothing."""
    exchanges = [at(0), at(7), at(10)]
    assert [each.number for each in play(exchanges, created=BEGAN - 4_000)[0]] == [1, 2]
    for elsewhere in (BEGAN - 10_000, BEGAN + 1):
        assert [each.began - BEGAN for each in play(exchanges, created=elsewhere)[0]] == [0, 10_000]
    assert [each.began - BEGAN for each in play(exchanges, created=BEGAN - 4_000)[0]] == [0, 7_000]


def test_pause_in_the_recording_leaves_cycles_out() -> None:
    """A cycle without exchanges is not made up; the numbers go on as the clock did."""
    cycles, _ = play([at(0), at(35)])
    assert [each.number for each in cycles] == [1, 4]


def test_late_exchange_counts_to_the_cycle_under_way() -> None:
    """Lines out of order never lead back."""
    cycles, summary = play([at(0), at(12), at(3), at(13)])
    assert [each.number for each in cycles] == [1, 2]
    assert summary.exchanges == 4


def test_times_out_of_order_are_counted() -> None:
    """Every line earlier than one before it counts, also a whole run of them, and the first is known."""
    _, summary = play([at(0, 2), at(12, 3), at(3, 4), at(4, 5), at(13, 6)])
    assert (summary.disordered, summary.first_disordered) == (2, 4)
    _, summary = play([at(0, 2), at(12, 3), at(12, 4)])
    assert summary.disordered == 0


def test_time_of_a_snapshot_never_runs_back() -> None:
    """A late exchange may be the first of its owner in a cycle: the snapshot is not dated before the cycle began."""
    for order in ([0, 12, 3, 25, 1], [40, 30, 20, 10, 0], [0, 10, 0, 20, 5, 30]):
        exchanges = [_replace(at(each), queue_manager=f"QM0{1 + place % 2}") for place, each in enumerate(order)]
        cycles, _ = play(exchanges)
        for owner in ("QM01", "QM02"):
            times = [snapshot.ts for each in cycles for snapshot in each.snapshots if snapshot.owner == owner]
            assert times == sorted(set(times))
        assert all(
            each.began <= snapshot.ts
            and all(reading.interval_ms is None or reading.interval_ms > 0 for reading in snapshot.readings)
            for each in cycles
            for snapshot in each.snapshots
        )


def test_jumps_ahead_are_noted() -> None:
    """More than an hour and more than a hundred intervals is a gap, with its line; a cycle or two left out is none."""
    _, summary = play([at(0, 2), at(3600, 3), at(7201, 4)])
    assert (summary.gap_count, summary.gaps) == (1, [TimeJump(4, BEGAN + 3_600_000, BEGAN + 7_201_000)])
    summary = ReplaySummary()
    replay(
        [at(0), at(7201)], 100_000, Collector(), ReplayPace(None, Time().clock, Time().sleep), lambda _: None, summary
    )
    assert summary.gap_count == 0


def test_notes_of_gaps_are_bounded() -> None:
    """A recording with one line a day must not fill the memory with notes."""
    _, summary = play([at(day * 86400) for day in range(100)])
    assert summary.gap_count == 99
    assert len(summary.gaps) < 50


def test_pauses_are_no_longer_than_an_interval() -> None:
    """Ten years in the recording are an interval's pause, and what follows keeps its pace."""
    time = Time()
    play([at(0), at(10 * 365 * 86400), at(10 * 365 * 86400 + 4), at(3)], 20.0, time)
    assert time.slept == pytest.approx([0.5, 0.2])


def test_empty_recording_has_no_cycle() -> None:
    """No exchange, no cycle, no snapshot."""
    cycles, summary = play([])
    assert cycles == []
    assert summary.cycles == 0


def test_pace_of_life_and_faster() -> None:
    """Speed 1 waits as long as it took, speed 10 a tenth of that; without a speed nothing waits."""
    for speed, expected in [(1.0, [4.0, 6.0]), (10.0, [0.4, 0.6]), (None, [])]:
        time = Time()
        play([at(0), at(4), at(10)], speed, time)
        assert time.slept == pytest.approx(expected)


def test_time_lost_is_made_up() -> None:
    """Waiting is counted from the beginning: what took long in between shortens the next wait."""
    time = Time()
    pace = ReplayPace(1.0, time.clock, time.sleep)
    pace.wait(0, 10_000)
    time.now += 3
    pace.wait(2_000, 10_000)
    pace.wait(5_000, 10_000)
    assert time.slept == [2.0]


def test_cycle_is_handed_over_before_the_wait() -> None:
    """The last cycle's snapshots do not wait for the next one's first exchange."""
    time = Time()
    seen: list[float] = []
    pace = ReplayPace(1.0, time.clock, time.sleep)
    replay([at(0), at(10)], 10_000, Collector(), pace, lambda _: seen.append(time.now), ReplaySummary())
    assert seen == [100.0, 110.0]


def test_summary_names_commands_without_a_probe() -> None:
    """What was not read is told in the end, by name."""
    unread = Exchange(0, BEGAN, 5, "QM01", 40, None, (), MqiFailure(2, 2033))
    _, summary = play([unread, unread])
    assert summary.unprobed == {"PING_Q_MGR": 2}
