"""The grid of cycles, the wait before another attempt, and what is under way in a timetable."""

from __future__ import annotations

from mqvitals_agent.poll.queries import zos_queries
from mqvitals_agent.service.cycles.cycle_clock import CycleClock, Schedule
from mqvitals_agent.service.cycles.poller import reconnect_wait_ms
from mqvitals_config.sections.collection import PollingSettings


def test_numbers_follow_the_store_and_skip_what_was_slept_through() -> None:
    """Cycle 8 follows the stored 7; a pause of two intervals leaves two numbers out."""
    grid = CycleClock(30_000)
    grid.start(1_000_000, 500_000, 7)
    assert (grid.step(1_000_000, 500_000), grid.number, grid.next) == (500_000, 8, 530_000)
    assert (grid.step(1_030_004, 530_004), grid.number, grid.began) == (530_000, 9, 1_030_004)
    assert (grid.step(1_121_000, 621_000), grid.number, grid.next) == (620_000, 12, 650_000)
    assert grid.left_out(650_001) == 3


def test_a_clock_that_is_set_moves_no_cycle() -> None:
    """Cycles begin by elapsed time, whatever the wall clock shows: none is early, late or left out."""
    grid = CycleClock(30_000)
    grid.start(1_000_000, 500_000, 0)
    grid.step(1_000_000, 500_000)
    for steady, now in ((530_000, 1_030_000), (560_000, 400_000), (590_000, 9_000_000_000)):
        assert grid.step(now, steady) == steady
        assert grid.next == steady + 30_000
    assert (grid.number, grid.left_out(590_000)) == (4, 0)


def test_another_interval_begins_with_the_next_cycle() -> None:
    """The new grid starts where the old one's next cycle would have."""
    grid = CycleClock(30_000)
    grid.start(0, 0, 0)
    grid.step(0, 0)
    grid.change(10_000)
    assert (grid.step(30_000, 30_000), grid.next, grid.number) == (30_000, 40_000, 2)


def test_waits_grow_to_a_minute() -> None:
    """Full jitter: anything from nothing to 1, 2, 4 ... 60 s."""
    assert [reconnect_wait_ms(failures, lambda _, longest: longest) for failures in (1, 2, 6, 7, 1000)] == [
        1_000,
        2_000,
        32_000,
        60_000,
        60_000,
    ]
    assert reconnect_wait_ms(5, lambda shortest, _: shortest) == 0


def test_question_under_way_is_not_asked_twice() -> None:
    """It is due again only when it was answered, or could not be put."""
    (first, *_) = zos_queries(PollingSettings())
    table = Schedule([first], lambda _: 30_000)
    assert table.take_due(0) == (first,)
    assert table.take_due(60_000) == ()
    table.answered(first, 10, silent=False)
    assert table.take_due(90_000) == (first,)
    table.missed(first)
    assert table.take_due(90_001) == (first,)


def test_a_cluster_with_many_members_is_asked_for_less_often() -> None:
    """From 500 replies a third as often, until there are fewer; other queries stay as they are."""
    by_name = {query.question: query for query in zos_queries(PollingSettings())}
    cluster, queues = by_name["INQUIRE_CLUSTER_Q_MGR"], by_name["INQUIRE_Q"]
    table = Schedule([cluster, queues], lambda _: 300_000)
    table.take_due(0)
    assert table.answered(cluster, 10, silent=False, replies=499) == ""
    assert table.answered(queues, 10, silent=False, replies=10_000) == ""
    assert table.take_due(300_000) == (cluster, queues)
    assert table.answered(cluster, 10, silent=False, replies=500) == "500 replies: asked every 900 s"
    assert table.take_due(900_000) == ()
    assert [interval.interval_ms for interval in table.intervals()] == [900_000, 300_000]
    assert table.take_due(1_200_000) == (cluster,)
    assert table.answered(cluster, 10, silent=True) == ""
    assert [interval.interval_ms for interval in table.intervals()] == [900_000, 300_000]
    assert table.answered(cluster, 10, silent=False, replies=12) == "12 replies: asked every 300 s"


def test_other_settings_keep_what_stays_the_same() -> None:
    """A reload neither asks what is not due nor forgets what is under way; anew asks everything else."""
    one, two, *_ = zos_queries(PollingSettings())
    table = Schedule([one, two], lambda _: 30_000)
    table.take_due(0)
    table.answered(one, 5_000, silent=False)
    later = Schedule([one, two], lambda _: 30_000, table)
    assert later.take_due(30_000) == ()
    assert [interval.interval_ms for interval in later.intervals()] == [60_000, 30_000]
    assert Schedule([one, two], lambda _: 30_000, table, anew=True).take_due(30_000) == (one,)
