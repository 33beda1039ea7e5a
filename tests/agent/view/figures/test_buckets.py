"""Parts of a time: where they begin, and what is told of each, by the time that values are about."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.view.figures.buckets import MOST_BUCKETS, Parts, bucket_edges, bucketed, figures_of, refusal
from mqvitals_agent.view.figures.trend import Aggregate, Trend, gap_spans, shown_unit
from mqvitals_agent.view.trend.chart import chart_of
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.tables import metric

START = 1795176000000
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
BERLIN = ZoneInfo("Europe/Berlin")
ZONES = [UTC, BERLIN, ZoneInfo("America/New_York"), ZoneInfo("Australia/Lord_Howe"), ZoneInfo("Asia/Kolkata")]
EVERY = [1_000 * 30, MINUTE, 5 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 7 * DAY]
Points = Sequence[tuple[int, float | None]]


def polled(points: Points, kind: str = "queue", name: str = "depth", until: int = 0) -> Trend:
    span = TimeRange(START, max(until, points[-1][0] if points else START))
    return Trend(ObjectName("QM01", kind, "X"), metric(kind, name), points, span)


def counted(told: Sequence[tuple[int, int | None, float | None]]) -> Trend:
    """A counter: when (ms from the beginning), over how long, and the increase."""
    points = tuple((START + ts, value) for ts, _, value in told)
    span = TimeRange(START, points[-1][0])
    lengths = tuple(length for _, length, _ in told)
    return Trend(ObjectName("QM01", "channel", "X"), metric("channel", "msgs"), points, span, intervals=lengths)


def edges(count: int, every_ms: int) -> list[int]:
    return [START + place * every_ms for place in range(count + 1)]


@given(st.sampled_from(ZONES), st.sampled_from(EVERY), st.integers(0, 2**41), st.integers(0, 500))
def test_parts_cover_the_time(zone: ZoneInfo, every: int, since: int, count: int) -> None:
    """They join, begin at a full step of the clock, and only the first and last reach beyond the time."""
    span = TimeRange(since, since + min(count * every, 40 * DAY))
    found = bucket_edges(span, every, zone)
    assert found == sorted(set(found))
    assert found[0] <= span.since < found[1]
    assert found[-2] <= span.until < found[-1]
    for edge in found:
        shown = datetime.fromtimestamp(edge / 1000, zone)
        midnight = shown.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
        if shown.utcoffset() == midnight.utcoffset():
            clock = (shown.replace(tzinfo=None) - midnight.replace(tzinfo=None)) // timedelta(milliseconds=1)
            assert clock % min(every, DAY) == 0


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-06-01", 24)])
def test_days_are_as_long_as_they_are(day: str, hours: int) -> None:
    """A day on which clocks change has 23 or 25 hours, each of which is a part."""
    begin = datetime.fromisoformat(day).replace(tzinfo=BERLIN)
    since = int(begin.timestamp() * 1000)
    assert bucket_edges(TimeRange(since, since), DAY, BERLIN) == [since, since + hours * HOUR]
    found = bucket_edges(TimeRange(since, since + hours * HOUR - 1), HOUR, BERLIN)
    assert found == [since + place * HOUR for place in range(hours + 1)]


def test_weeks_begin_on_mondays() -> None:
    """Seven days, wherever the time begins."""
    first, second = bucket_edges(TimeRange(START, START), 7 * DAY, BERLIN)
    assert datetime.fromtimestamp(first / 1000, BERLIN).strftime("%A %H:%M") == "Monday 00:00"
    assert second > START >= first


@pytest.mark.parametrize("every", [7 * MINUTE, 36 * HOUR, 500])
def test_steps_that_no_clock_has_are_refused(every: int) -> None:
    """With the reason; and so are more parts than anybody reads."""
    with pytest.raises(ValueError, match="divides a day"):
        bucket_edges(TimeRange(START, START + HOUR), every, UTC)
    with pytest.raises(ValueError, match=f"more than {MOST_BUCKETS:,} parts"):
        bucket_edges(TimeRange(START, START + 2 * MOST_BUCKETS * 1_000), 1_000, UTC)


@given(
    st.lists(st.tuples(st.integers(1_000, 900_000), st.booleans()), min_size=1, max_size=60),
    st.sampled_from([10_000, MINUTE, 5 * MINUTE]),
)
def test_a_constant_rate_is_constant_in_every_part(polls: list[tuple[int, bool]], every: int) -> None:
    """Whatever the distance of polls, and with times that no increase covers: 240 a second, or nothing; and the sums are
    what was counted."""
    told: list[tuple[int, int | None, float | None]] = []
    ts = total = 0
    for distance, answered in polls:
        ts += distance
        told.append((ts, distance, 0.24 * distance) if answered else (ts, None, None))
        total += distance if answered else 0
    view = counted(told)
    all_of_it = edges(ts // every + 1, every)
    means = bucketed(view, all_of_it, every, Aggregate.AVG)
    assert all(value is None or value == pytest.approx(240) for _, value in means.points)
    for (_, value), ms in zip(means.points, means.intervals, strict=True):
        assert (value is None) is (ms == 0)
    assert sum(ms or 0 for ms in means.intervals) == total
    sums = bucketed(view, all_of_it, every, Aggregate.SUM)
    assert sum(value or 0 for _, value in sums.points) == pytest.approx(0.24 * total)
    assert shown_unit(sums) == "messages"
    assert shown_unit(means) == "messages per second"


@given(
    st.lists(st.tuples(st.integers(10, 29), st.none() | st.integers(0, 1000)), min_size=2, max_size=40),
    st.sampled_from([5, 10, 60, 300]),
)
def test_figures_are_those_of_every_second(polls: list[tuple[int, int | None]], every_s: int) -> None:
    """A polled value holds until the next poll: mean, 95th percentile and extremes are those of a list with the value of
    each second, without the seconds that no value is known for."""
    points: list[tuple[int, float | None]] = []
    second = 0
    for distance, value in polls:
        points.append((START + second * 1000, value))
        second += distance
    seconds: list[list[tuple[float, bool]]] = [[] for _ in range(second // every_s + 1)]
    for (ts, figure), (following, _) in pairwise(points):
        for each in range((ts - START) // 1000, (following - START) // 1000):
            if figure is not None:
                place = each // every_s
                seconds[place].append((figure, ts >= START + place * every_s * 1000))
    # The last value goes on for an unknown time: it is left out.
    points[-1] = (points[-1][0], None)
    view = polled(points)
    parts = edges(len(seconds), every_s * 1000)
    told = {each: bucketed(view, parts, every_s * 1000, each).points for each in Aggregate if each is not Aggregate.SUM}
    for place, values in enumerate(seconds):
        found = {each: shown[place][1] for each, shown in told.items()}
        if not values:
            assert set(found.values()) == {None}
            continue
        every_value = sorted(value for value, _ in values)
        own = [value for value, begun in values if begun] or every_value
        assert found[Aggregate.AVG] == pytest.approx(sum(every_value) / len(every_value))
        assert (found[Aggregate.MIN], found[Aggregate.MAX]) == (min(own), max(own))
        assert found[Aggregate.LAST] == values[-1][0]
        assert found[Aggregate.P95] == every_value[-(-len(every_value) * 95 // 100) - 1]


def test_a_part_without_data_is_a_gap() -> None:
    """Not zero: neither in the chart nor among the gaps."""
    view = polled([(START + second * 1000, 5) for second in (*range(0, 60, 10), *range(300, 360, 10))])
    shown = bucketed(view, edges(6, MINUTE), MINUTE, Aggregate.AVG)
    assert [value for _, value in shown.points] == [5, None, None, None, None, 5]
    assert gap_spans(shown) == (TimeRange(START + MINUTE, START + 5 * MINUTE),)
    assert (START + MINUTE, None) in chart_of([shown]).series[0].points


def test_a_record_is_about_its_interval() -> None:
    """Half an hour told at its end is in the parts before it, and half of the time without records is none of them."""
    told = [(30 * MINUTE, 30 * MINUTE, 1800.0), (90 * MINUTE, 30 * MINUTE, 5400.0)]
    shown = bucketed(counted(told), edges(6, 15 * MINUTE), 15 * MINUTE, Aggregate.AVG)
    assert [value for _, value in shown.points] == [1, 1, None, None, 3, 3]
    found = figures_of(counted(told))
    assert found is not None
    assert (found.avg, found.total, found.max_at, found.covered_ms) == (2, 7200, START + 90 * MINUTE, HOUR)


def test_states_have_a_last_one_only() -> None:
    """And only a counter has a sum."""
    status, depth, msgs = metric("channel", "status"), metric("queue", "depth"), metric("channel", "msgs")
    assert "is a state" in refusal(Aggregate.AVG, status)
    assert refusal(Aggregate.LAST, status) == refusal(Aggregate.SUM, msgs) == refusal(Aggregate.P95, depth) == ""
    assert "counts nothing" in refusal(Aggregate.SUM, depth)
    view = polled([(START, 3), (START + 10_000, 5)], "channel", "status")
    assert Parts(edges(1, MINUTE), MINUTE).of(view).points == ((START, 5),)
    assert figures_of(polled([])) is None
