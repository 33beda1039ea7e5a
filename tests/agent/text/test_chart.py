"""The braille chart: shape, gaps, extremes, bounds."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.text.chart import Scale, TimeRange, pauses, plot, scale_around, scale_of_states, scale_of_values
from mqvitals_agent.text.figure import number, quantity

Series = Sequence[tuple[int, float | None]]

START = 1795176000000
STEP = 10_000


def series(*values: float | None) -> list[tuple[int, float | None]]:
    return [(START + index * STEP, value) for index, value in enumerate(values)]


def span(points: Series) -> TimeRange:
    return TimeRange(points[0][0], points[-1][0])


def scale(low: float, high: float) -> Scale:
    return Scale(low, high, ())


def dots(lines: list[str]) -> set[tuple[int, int]]:
    """(column, row from the top) of every dot that is set."""
    order = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
    return {
        (2 * x + dx, 4 * y + dy)
        for y, line in enumerate(lines)
        for x, char in enumerate(line)
        for dx in (0, 1)
        for dy in range(4)
        if ord(char) - 0x2800 & order[dx][dy]
    }


def test_a_rising_line() -> None:
    """One point a column of dots, from the lower left to the upper right."""
    points = series(*range(8))
    lines = plot(points, scale(0, 7), span(points), width=4, height=2)
    assert lines == ["⠀⠀⡠⠊", "⡠⠊⠀⠀"]
    assert dots(lines) == {(x, 7 - x) for x in range(8)}


def test_one_dot_a_column_when_flat() -> None:
    """A constant is a line one dot high."""
    points = series(5, 5, 5, 5)
    assert plot(points, scale(0, 10), span(points), width=2, height=1) == ["⠒⠒"]


def test_a_gap_is_not_joined_and_not_zero() -> None:
    """Nothing is drawn where a poll had no answer, neither a dot at the bottom nor a line across."""
    points = series(8, 8, None, None, None, None, 8, 8)
    drawn = dots(plot(points, scale(0, 10), span(points), width=4, height=2))
    assert {x for x, _ in drawn} == {0, 1, 6, 7}
    assert len({y for _, y in drawn}) == 1


def test_a_pause_in_polling_is_a_gap() -> None:
    """Where nothing was polled for more than three intervals nothing is joined, though no null stands there."""
    points: Series = [*series(8, 8, 8), *[(START + (20 + index) * STEP, 8.0) for index in range(3)]]
    drawn = {x for x, _ in dots(plot(points, scale(0, 10), span(points), width=11, height=2))}
    assert drawn == {0, 1, 2, 20, 21}


def test_steps_hold_until_the_next_value() -> None:
    """A state goes from one level to the other at once, not by way of those between."""
    points: Series = [(START, 0.0), (START + 10 * STEP, 1.0)]
    drawn = dots(plot(points, scale(0, 1), span(points), width=5, height=2, steps=True))
    assert {y for x, y in drawn if x < 9} == {7}
    assert {y for x, y in drawn if x == 9} == set(range(7))


def test_a_single_value_between_gaps_shows() -> None:
    """One answer alone is a dot."""
    points = series(None, 3, None)
    assert len(dots(plot(points, scale(0, 10), span(points), width=10, height=3))) == 1


def test_spikes_and_dips_stay() -> None:
    """With many points to a column both its least and its greatest value are seen."""
    values: list[float | None] = [50.0] * 1000
    values[500], values[501] = 100.0, 0.0
    points = series(*values)
    rows = {y for _, y in dots(plot(points, scale(0, 100), span(points), width=5, height=4))}
    assert {0, 15} <= rows


def test_points_outside_the_span_are_left_out() -> None:
    """A chart of five minutes shows those five minutes."""
    points = series(1, 1, 9, 9)
    drawn = dots(plot(points, scale(0, 10), TimeRange(START + 2 * STEP, START + 3 * STEP), width=4, height=2))
    assert {y for _, y in drawn} == {1}


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ([64, 65, 64], 0, 100),
        ([], 0, 100),
        ([0, 0.6], 0, 100),
        ([99.4, 100], 0, 100),
        ([30, 104], 0, 104),
        ([-1, 3], -1, 100),
    ],
)
def test_a_share_has_a_fixed_scale(values: list[float], low: float, high: float) -> None:
    """Shares are drawn from 0 to 100, and farther only where a value is: a pool half free looks half free."""
    made = scale_of_values(values, lambda value: f"{value:g} %", top=100)
    assert (made.low, made.high) == (low, high)
    if high == 100 and low == 0:
        assert [text for _, text in made.ticks] == ["100 %", "50 %", "0 %"]


@pytest.mark.parametrize(
    ("values", "low", "high"), [([64, 65, 64], 64, 65), ([64.2], 64.2, 72.225), ([0, 1000], 0, 1000), ([], 0, 1)]
)
def test_a_zoomed_scale_is_that_of_the_values(values: list[float], low: float, high: float) -> None:
    """Zoomed it goes from the least to the greatest value."""
    made = scale_around(values, str)
    assert (made.low, made.high) == pytest.approx((low, high))


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ([1000, 1003], 951, 1052),
        ([1000.0, 1000.0, 1003.5], 951, 1052.4),
        ([3, 4], 3, 4),
        ([0, 1], 0, 1),
        ([900, 1000], 900, 1000),
        ([0.0042, 0.0043], 0.004, 0.0045),
        ([-1000, -1001], -1051, -950),
        ([10, 1000], 0, 1000),
        ([1.7e308, 1.79e308], 1.65e308, 1.7976931348623157e308),
    ],
)
def test_an_amount_that_wavers_is_calm(values: list[float], low: float, high: float) -> None:
    """Without a natural limit a scale is a tenth of the greatest value high at least, and ends of it stay numbers."""
    made = scale_of_values(values, str)
    assert made.low == pytest.approx(low, rel=0.01)
    assert made.high == pytest.approx(high, rel=0.01)
    assert made.low <= min(values) <= max(values) <= made.high


@pytest.mark.parametrize(("values", "labels"), [([0, 1], ["1", "0"]), ([3, 4], ["4", "3"]), ([0, 2], ["2", "1", "0"])])
def test_whole_numbers_have_whole_labels(values: list[float], labels: list[str]) -> None:
    """There is no half message: between two neighbours no label stands."""
    assert [text for _, text in scale_of_values(values, lambda value: f"{value:g}").ticks] == labels


def test_state_scale() -> None:
    """Each state seen has a level of its own, in the order of the numbers, with its name beside it."""
    labels, levels = scale_of_states([5, 3, 3, 6], lambda code: f"S{code}")
    assert levels == {3: 0.0, 5: 1.0, 6: 2.0}
    assert labels.ticks == ((0.0, "S3"), (1.0, "S5"), (2.0, "S6"))


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ([], 0, 1),
        ([0, 0], 0, 1),
        ([5, 5], 0, 5),
        ([4, 60], 0, 60),
        ([59.9, 93.1], 59.9, 93.1),
        ([-3, 3], -3, 3),
        ([-3, -3], -4, -2),
        ([110, 10], 0, 110),
    ],
)
def test_value_scale(values: list[float], low: float, high: float) -> None:
    """The scale begins at zero unless that would press the line together, and is never empty."""
    made = scale_of_values(values, str)
    assert (made.low, made.high) == (low, high)


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ([1, 2, 3], 0),
        ([1, None, 3], 1),
        ([None, None, 1, None], 2),
        ([None], 1),
        ([], 0),
        ([1, float("nan"), 2], 1),
    ],
)
def test_gaps(values: list[float | None], count: int) -> None:
    """Runs of absent values are counted, not the values."""
    assert len(list(pauses(series(*values)))) == count


def test_a_pause_counts_as_one_gap() -> None:
    """A pause without polls is a gap; after a null it is the same one."""
    later = [(START + 100 * STEP, 1.0), (START + 101 * STEP, 1.0)]
    assert len(list(pauses([*series(1, 1, 1), *later]))) == 1
    assert len(list(pauses([*series(1, 1, None), *later]))) == 1


VALUES = st.none() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=True, allow_infinity=True)


@given(
    st.lists(st.tuples(st.integers(0, 2**45), VALUES), max_size=50).map(
        lambda points: sorted(points, key=lambda p: p[0])
    ),
    st.integers(-5, 2000),
    st.integers(-5, 400),
)
def test_any_series_gives_a_chart_of_the_size_asked_for(points: Series, width: int, height: int) -> None:
    """Whatever the values and the size, the chart has its bounds and is made of braille."""
    bounds = span(points) if points else TimeRange(0, 0)
    values = [value for _, value in points if value is not None]
    made = scale_of_values(values, lambda value: quantity(value, "us"))
    lines = plot(points, made, bounds, width=width, height=height)
    assert len(lines) == min(max(height, 1), 200)
    assert {len(line) for line in lines} == {min(max(width, 2), 1000)}
    assert all(0x2800 <= ord(char) <= 0x28FF for line in lines for char in line)


@given(st.floats(-1e12, 1e12), st.floats(0, 1e12))
def test_no_two_labels_of_an_axis_are_the_same(low: float, height: float) -> None:
    """However the words round: what stands beside an axis tells its places apart, and each stands at its own value."""
    for scale in (
        scale_of_values([low, low + height], number),
        scale_around([low, low + height], number),
        scale_of_values([low, low + height], lambda value: f"{value:.0f}"),
    ):
        words = [label for _, label in scale.ticks]
        assert words
        assert len(words) == len(set(words))
        values = [value for value, _ in scale.ticks]
        assert values == sorted(values, reverse=True)
        assert all(scale.low <= value <= scale.high for value in values)
