"""The window functions' arithmetic."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.expression import functions
from mqvitals_rules.history import UNKNOWN_MS, Point, Polls, covered_values, covering
from mqvitals_rules.snapshot import Source

MINUTE = 60_000
NOW = 1_700_000_000_000


def over_window(calculate: functions.Calculate, points: Sequence[Point], since: int, window_ms: int) -> float | None:
    """A function of the values that cover a window."""
    values = covered_values(points, since, window_ms)
    return calculate(values) if values else None


def polls(*values: float | None, every: int | None = MINUTE, now: int = NOW) -> list[Point]:
    """One poll a minute, the last one now."""
    begin = now - MINUTE * (len(values) - 1)
    return [Point(begin + MINUTE * index, value, every) for index, value in enumerate(values)]


@pytest.mark.parametrize(
    ("window", "seconds", "expected"),
    [("1h", 2, None), ("1h", 59, None), ("1h", 60, True), ("1d", 30, None), ("5m", 2, True)],
)
def test_two_seconds_say_nothing_about_an_hour(
    compiled: Any, context: Any, window: str, seconds: int, expected: bool | None
) -> None:
    """One record of so many seconds, with two opens: an hour of them is not shown, nor compared."""
    expression = compiled(f'3600 * rate(msgs, "{window}") > 60', "channel")
    found = expression.explain(context({"msgs": 2}, {"msgs": [2]}, every_ms=1000 * seconds))
    assert found.truth is (None if expected is None else 3600 * 2 / seconds > 60)
    assert ("not enough history" in found.filled) is (expected is None)


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        (polls(60, 120, 180), 2.0),
        (polls(60, None, 180), 2.0),
        (polls(0, 0), 0.0),
        (polls(None, None), None),
        ([], None),
        (polls(60, every=None), None),
        ([Point(NOW, 90, 30_000), Point(NOW, 90, 60_000)], 2.0),
        ([Point(NOW, 5, None), Point(NOW, 60, 60_000)], 1.0),
        ([Point(NOW, 5, 0)], None),
        (polls(inf, -inf), None),
    ],
)
def test_rate_is_increase_over_the_time_it_took(points: Sequence[Point], expected: float | None) -> None:
    """Increases that are absent, or of unknown duration, count neither above nor below the line."""
    assert functions.rate(points) == expected


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        (polls(1, 2, 3), 6),
        (polls(None, 2), 2),
        (polls(2, every=None), 2),
        (polls(None), None),
        ([], None),
        (polls(inf, -inf), None),
    ],
)
def test_delta_adds_what_is_present(points: Sequence[Point], expected: float | None) -> None:
    """One increase is enough for a sum; none makes it unknown."""
    assert functions.delta(points) == expected


@pytest.mark.parametrize(
    ("points", "covered"),
    [
        (polls(1, 2, 3, 4, 5), True),
        (polls(1, 2, 3, 4), True),  # exactly 80 %
        (polls(1, 2, 3), False),
        (polls(1, None, 3, 4, 5), True),
        (polls(1, None, None, 4, 5), False),
        (polls(1, 2, 3, 4, every=None), False),
        (polls(None, None, None, None, None), False),
        ([], False),
        ([Point(NOW, 7, 3_600_000)], True),  # one poll an hour stands for the whole window
        ([Point(NOW - 100_000, 7, 3_600_000)], False),  # nothing tells of the last 100 s
        ([Point(NOW - 60_000, 7, 3_600_000)], True),
        ([Point(NOW, 7, 239_999)], False),  # 1 ms short of 80 %
        ([Point(NOW, 7, 240_000)], True),
        ([Point(NOW - 299_000, 7, 3_600_000), *polls(1, 2)], False),  # what lies before the window does not count
    ],
)
def test_average_least_and_greatest_need_four_fifths_of_the_window(points: Sequence[Point], covered: bool) -> None:
    """Present values stand for the time since the poll before them; 80 % of the window must be covered."""
    since, window = NOW - 5 * MINUTE, 5 * MINUTE
    found = [over_window(each, points, since, window) for each in (functions.mean, min, max)]
    present = [point.value for point in points if point.value is not None]
    if covered:
        assert found == [sum(present) / len(present), min(present), max(present)]
    else:
        assert found == [None, None, None]


def test_average_of_infinities_is_unknown() -> None:
    """What comes to no number is unknown, not a number that equals nothing."""
    assert over_window(functions.mean, polls(inf, -inf, 0, 0, 0), NOW - 5 * MINUTE, 5 * MINUTE) is None


@pytest.mark.parametrize(
    ("points", "limit", "expected"),
    [
        (polls(10, 20, 30, 40, 50), 100, 300.0),
        (polls(10, None, 30, 40, 50, None, 70), 100, 180.0),
        (polls(50, 40, 30, 20, 10), 0, 60.0),
        (polls(10, 20, 30, 40, 50), 50, 0.0),
        (polls(10, 20, 30, 40, 50), 45, 0.0),  # it passed the limit since the first of them
        (polls(10, 20, 30, 40, 50), 5, inf),  # it leads away from it
        (polls(50, 40, 30, 20, 10), 90, inf),
        (polls(7, 7, 7, 7, 7), 100, inf),
        (polls(7, 7, 7, 7, 7), 7, 0.0),
        (polls(10, 20, 30, 40), 100, None),
        (polls(10, None, 30, 40, 50), 100, None),
        ([Point(NOW, float(value), None) for value in range(5)], 100, None),
        (polls(1, 2, 3, 4, inf), 100, None),
        (polls(1, 2, 3, 4, 5), inf, inf),
        ([], 100, None),
    ],
)
def test_eta_follows_a_straight_line(points: Sequence[Point], limit: float, expected: float | None) -> None:
    """Seconds until the line through at least five values meets the limit; infinite where it never does."""
    found = functions.eta(points, limit, NOW)
    assert found == (expected if expected is None else pytest.approx(expected))


def test_eta_counts_from_now_and_not_from_the_last_value() -> None:
    """Values that are a minute old leave a minute less."""
    assert functions.eta(polls(10, 20, 30, 40, 50, now=NOW - MINUTE), 100, NOW) == pytest.approx(240.0)


def test_eta_takes_the_best_line_through_noise() -> None:
    """Least squares: the line of 1, 3, 2, 5, 4 rises 0.8 a minute and stands at 4.6 now."""
    assert functions.eta(polls(1, 3, 2, 5, 4), 10, NOW) == pytest.approx(60 * (10 - 4.6) / 0.8)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((1, 2, 3, 4), True),
        ((1, 2, 2, 4), False),
        ((1, 2, 3, 0), False),
        ((1, 2, 3), None),
        ((3, 2), False),
        ((1,), None),
        ((), None),
        ((1, None, 3, 4), None),
        ((1, None, 1, 2), False),
        ((None, 2, 3, 3), False),
        ((None, None, None, None), None),
    ],
)
def test_rising_needs_every_poll_above_the_one_before(values: Sequence[float | None], expected: bool | None) -> None:
    """Three rises take four polls; a gap leaves it open unless the others deny it already."""
    assert functions.is_rising(polls(*values), 3) is expected


@st.composite
def columns(draw: st.DrawFn) -> Polls:
    """Polls of a gauge or a counter, often of one value all the time, some absent, some after a gap of unknown length."""
    number = st.sampled_from((0.0, 5.0, 5.0, 5.0, 7.5, -3.0))
    values = draw(st.lists(st.one_of(number, st.just(5.0), st.just(nan)), max_size=12))
    steps = draw(st.lists(st.sampled_from((1, MINUTE, 7 * MINUTE)), min_size=len(values), max_size=len(values)))
    ts = [NOW - sum(steps[place:]) for place in range(len(steps))]
    intervals = None
    if draw(st.booleans()):
        gap = st.sampled_from((-1, MINUTE, 3 * MINUTE))
        intervals = array("q", draw(st.lists(gap, min_size=len(values), max_size=len(values))))
    first = ts[0] if ts else NOW
    before = first - draw(st.sampled_from((MINUTE, 2 * UNKNOWN_MS)))
    return Polls(array("q", ts), array("d", values), intervals, before)


@given(columns(), st.sampled_from((MINUTE, 10 * MINUTE, 60 * MINUTE)), st.sampled_from((5.0, 6.0, -10.0)))
def test_columns_say_what_their_points_say(polls: Polls, window_ms: int, limit: float) -> None:
    """The quick ways through columns come to what goes through one point after another."""
    points = list(polls)
    # A window holds points after its beginning alone.
    since = min([NOW - window_ms, *(ts - 1 for ts in polls.ts)])
    assert functions.rate(polls) == functions.rate(points)
    assert functions.rate(polls, MINUTE + 1) == functions.rate(points, MINUTE + 1)
    assert functions.is_unchanged(polls, since, window_ms) is functions.is_unchanged(points, since, window_ms)
    assert functions.delta(polls) == functions.delta(points)
    assert functions.last_change(polls) == functions.last_change(points)
    for calculate in (functions.mean, functions.middle, min, max):
        found = over_window(calculate, polls, since, window_ms)
        assert found == over_window(calculate, points, since, window_ms)
    assert functions.eta(polls, limit, NOW) == functions.eta(points, limit, NOW)
    for rises in (1, 2, 5):
        assert functions.is_rising(polls[-rises - 1 :], rises) == functions.is_rising(points[-rises - 1 :], rises)
        assert functions.is_rising(polls, rises) == functions.is_rising(points, rises)


@given(columns())
def test_a_point_of_columns_is_the_same_by_its_place_and_by_going_through_them(polls: Polls) -> None:
    every = list(polls)
    assert [polls[place] for place in range(len(polls))] == every
    assert list(reversed(polls)) == every[::-1]
    with pytest.raises(IndexError):
        polls[len(polls)]


@given(columns(), st.integers(0, 100), st.integers(1, 100))
def test_columns_cover_as_much_as_their_points(polls: Polls, minutes: int, recorded: int) -> None:
    since = NOW - minutes * MINUTE
    records = [Point(NOW, 1.0, recorded * MINUTE)]
    by_columns, by_points = (covering({Source.POLL: each, Source.SMF: records}, since) for each in (polls, list(polls)))
    assert by_columns[0] is by_points[0]
    assert list(by_columns[1]) == list(by_points[1])
