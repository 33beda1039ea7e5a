"""A sparkline: nothing bad of its time is hidden by what came after it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.meter import Bound, meter_tone
from mqvitals_agent.text.severity import health_of
from mqvitals_agent.text.sparkline import BLOCKS, spark_spans, sparkline, worst_of_stretches
from mqvitals_agent.text.styled import Span, Tone, tone_of
from mqvitals_rules.lifecycle.alert import Severity

HOUR = TimeRange(0, 3_600_000)
ORDER = (Tone.CALM, Tone.RISING, Tone.NEAR, Tone.WARNING, Tone.CRITICAL)

SHARES = st.none() | st.floats(-5, 105) | st.just(float("nan"))
POLLED = st.lists(st.tuples(st.integers(0, HOUR.until), SHARES), min_size=1, max_size=80).map(
    lambda points: sorted(points, key=lambda point: point[0])
)
BOUNDS = st.lists(
    st.builds(Bound, st.floats(0, 100), st.sampled_from([Severity.WARNING, Severity.CRITICAL])), max_size=3
)


def cells(spans: tuple[Span, ...]) -> list[tuple[str, Tone]]:
    return [(char, span.tone) for span in spans for char in span.text]


def test_a_minute_at_zero_is_seen() -> None:
    """A pool without a free buffer for one minute of the hour, calm before and after."""
    points = [(minute * 60_000, 0.0 if minute == 31 else 80.0) for minute in range(60)]
    bounds = (Bound(5.0, Severity.CRITICAL),)
    shown = cells(spark_spans(points, HOUR, 8, bounds, low_is_bad=True))
    assert shown[31 * 8 // 60] == ("▁", Tone.CRITICAL)
    assert [tone for _, tone in shown].count(Tone.CRITICAL) == 1
    assert sparkline(points, HOUR, 8, low_is_bad=True) == "▇▇▇▇▁▇▇▇"
    assert sparkline(points, HOUR, 8) == "▇" * 8


@given(POLLED, BOUNDS, st.booleans(), st.integers(1, 40))
def test_no_value_beyond_a_threshold_is_invisible(
    points: list[tuple[int, float | None]], bounds: list[Bound], low: bool, width: int
) -> None:
    """The cell of the time of any value beyond a bound is at least as alarming, and as high or low, as the value."""
    shown = cells(spark_spans(points, HOUR, width, bounds, low_is_bad=low))
    assert len(shown) == width
    for ts, value in points:
        if value is None or value != value:
            continue
        char, tone = shown[min(ts * width // HOUR.until, width - 1)]
        reached = [each for each in bounds if (value <= each.value if low else value >= each.value)]
        if reached:
            assert ORDER.index(tone) >= ORDER.index(tone_of(health_of(max(each.severity for each in reached))))
        height = min(max(int(value * 8 / 100), 0), 7)
        assert BLOCKS.index(char) <= height if low else BLOCKS.index(char) >= height


@given(POLLED, st.booleans(), st.integers(1, 40))
def test_nothing_is_made_up(points: list[tuple[int, float | None]], low: bool, width: int) -> None:
    """Each cell has a value of its stretch, or holds the newest one before it; without any value all is blank."""
    known = [value for _, value in points if value is not None and value == value]
    for x, value in enumerate(worst_of_stretches(points, HOUR, width, low_is_bad=low)):
        end = (x + 1) * HOUR.until // width
        here = [
            each
            for ts, each in points
            if each is not None and each == each and min(ts * width // HOUR.until, width - 1) == x
        ]
        if here:
            assert value == (min if low else max)(here)
        elif value is not None:
            assert value == [each for ts, each in points if ts <= end][-1]
        assert value is None or value in known


def test_gaps_are_blank() -> None:
    """A stretch without polls is blank, unless polls are farther apart than stretches; nothing before the first."""
    points = [(ts * 60_000, 50.0) for ts in (*range(10, 20), *range(40, 60))]
    assert sparkline(points, HOUR, 12) == "  ▅▅    ▅▅▅▅"
    assert sparkline([(0, 50.0), (1_800_000, 100.0)], HOUR, 8) == "▅▅▅▅████"
    assert sparkline([(0, 50.0), (60_000, None)], HOUR, 6) == "▅     "
    assert sparkline([], HOUR, 6) == " " * 6


@pytest.mark.parametrize("tone", [Tone.STALE, Tone.ABSENT])
def test_one_tone_for_what_is_stale(tone: Tone) -> None:
    """Figures too old to describe the present do not alarm."""
    spans = spark_spans([(0, 100.0)], HOUR, 4, (Bound(90, Severity.CRITICAL),), tone=tone)
    assert {span.tone for span in spans if span.text.strip()} == {tone}
    assert meter_tone(100.0, (Bound(90, Severity.CRITICAL),)) is Tone.CRITICAL
