"""How long a chart reaches back by itself, and by the keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.view.figures.trend import Trend
from mqvitals_agent.view.screens.object.chart_board import (
    SPANS_MS,
    fitting_span_ms,
    last_part,
    next_span_ms,
    span_words,
    unit_words,
)
from mqvitals_agent.view.trend.chart import chart_of
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.tables import metric
from mqvitals_tui.screens.detail_screen import DetailScreen

MINUTE = 60_000
HOUR = 60 * MINUTE
NOW = 10 * HOUR

Lives = Callable[[str], Any]


def trend(*ages_ms: int) -> Trend:
    """A trend of the last hour with points of these ages."""
    points = tuple((NOW - age, float(age % 97)) for age in sorted(ages_ms, reverse=True))
    return Trend(
        ObjectName("QM01", "buffer_pool", "3"), metric("buffer_pool", "free_pct"), points, TimeRange(NOW - HOUR, NOW)
    )


@pytest.mark.parametrize(
    ("oldest", "minutes"),
    [(0, 1), (40_000, 1), (MINUTE, 1), (MINUTE + 1, 5), (6 * MINUTE, 15), (16 * MINUTE, 30), (31 * MINUTE, 60)],
)
def test_the_shortest_step_that_holds_all(oldest: int, minutes: int) -> None:
    """A young store fills its chart, and the span grows with its age up to what is asked for."""
    assert fitting_span_ms(trend(oldest, 0), HOUR) == minutes * MINUTE


def test_nothing_is_absent_for_the_whole_time() -> None:
    """Without points the chart speaks of all the time that was looked at."""
    assert fitting_span_ms(trend(), HOUR) == HOUR


def test_steps() -> None:
    """Each key press goes one step, and stays at the ends."""
    assert next_span_ms(HOUR, 1) == 3 * HOUR
    assert next_span_ms(HOUR, -1) == 30 * MINUTE
    assert next_span_ms(SPANS_MS[0], -1) == SPANS_MS[0]
    assert next_span_ms(SPANS_MS[-1], 1) == SPANS_MS[-1]


def test_steps_have_names() -> None:
    """Every step is told in words; what is no step has none."""
    assert span_words(MINUTE) == "the last minute"
    assert span_words(15 * MINUTE) == "the last 15 minutes"
    assert span_words(3 * HOUR) == "the last 3 hours"
    assert span_words(7 * 24 * HOUR) == "the last 7 days"
    assert len({span_words(ms) for ms in SPANS_MS}) == len(SPANS_MS)
    with pytest.raises(ValueError, match="minutes"):
        span_words(1500)


def test_only_what_is_drawn_decides_on_the_scale() -> None:
    """Points before the span, of this day or of others, have no part in the scale."""
    whole = trend(50 * MINUTE, 40_000, 0)
    short = last_part(whole, MINUTE)
    assert [NOW - ts for ts, _ in short.points] == [40_000, 0]
    assert short.span == TimeRange(NOW - MINUTE, NOW)
    drawn = chart_of([short], earlier=(("yesterday", ((NOW - 30 * MINUTE, 5000.0), (NOW - 20_000, 50.0))),))
    assert drawn.scale.high <= 100
    assert [(each.name, each.points) for each in drawn.behind] == [("yesterday", ((NOW - 20_000, 50.0),))]
    assert last_part(whole, HOUR) is whole


def test_units() -> None:
    """A unit is written as people write it, and a counter says that its values are rates."""
    assert unit_words(metric("buffer_pool", "free_pct")) == "%"
    assert unit_words(metric("channel", "nettime_us_short")) == "us"
    assert unit_words(metric("log", "written_bytes")) == "bytes per second"


async def test_the_span_grows_until_somebody_chooses(lives: Lives, shown: Any, until: Any, screen_text: Any) -> None:
    """Two minutes of life fill a chart of five minutes; plus and minus go on from there, and then it stays."""
    app = lives("incident").app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        app.open_object(ObjectName("QM01", "buffer_pool", "3"))
        await shown(pilot)
        detail = app.screen
        assert isinstance(detail, DetailScreen)
        await until(pilot, lambda: "the last 5 minutes, UTC" in screen_text(app))
        assert "%; metric" in screen_text(app)
        await pilot.press("minus")
        await until(pilot, lambda: "the last minute, UTC" in screen_text(app))
        assert detail.request.span_ms == MINUTE
        await pilot.press("plus", "plus")
        await until(pilot, lambda: "the last 15 minutes, UTC" in screen_text(app))
