"""Whole charts: several series, thresholds, alert spans, a cursor, and what they say in words."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.text.chart import Scale, TimeRange, scale_of_values
from mqvitals_agent.text.chart_lines import (
    AXIS_LINES,
    Chart,
    ChartLimit,
    ChartPoints,
    ChartSeries,
    ShadedSpan,
    chart_lines,
    cursor_at,
    cursor_moved,
    legend,
    plot_width,
    values_at,
)
from mqvitals_agent.text.figure import clock, quantity
from mqvitals_agent.text.styled import Line, Tone
from mqvitals_agent.text.symbols import BRAILLE, Symbols, drawn
from mqvitals_agent.text.terminal import cells
from mqvitals_rules.lifecycle.alert import Severity

START = 1795176000000
STEP = 10_000
BLANK = chr(BRAILLE.start)


def series(*values: float | None) -> list[tuple[int, float | None]]:
    return [(START + index * STEP, value) for index, value in enumerate(values)]


def percent(value: float) -> str:
    return f"{value:g} %"


def made(*points: ChartPoints, **told: object) -> Chart:
    span = TimeRange(points[0][0][0], max(each[-1][0] for each in points))
    lines = tuple(ChartSeries(f"line{place + 1}", each) for place, each in enumerate(points))
    scale = Scale(0.0, 100.0, ((100.0, "100 %"), (50.0, "50 %"), (0.0, "0 %")))
    return Chart(lines, scale, span, percent, clock, **told)  # type: ignore[arg-type]


def texts(lines: Sequence[Line]) -> list[str]:
    return [each.text.replace(BLANK, " ").rstrip() for each in lines]


def tones(lines: Sequence[Line]) -> set[Tone]:
    return {span.tone for line in lines for span in line.spans if span.text.strip(f" {BLANK}")}


def test_chart_golden() -> None:
    """Labels at the left, moments below, a gap in the middle."""
    points = series(60, 50, 40, 30, None, 10, 4, 4, 20, 60)
    assert texts(chart_lines(made(points), 30, 4)) == GOLDEN


GOLDEN = [
    "100 % ┤",
    " 50 % ┤⠤⢄⣀⡀                  ⡠",
    "      │   ⠈⠑⠒⠤⣀            ⢀⠜",
    "  0 % ┤            ⠐⠒⠤⠤⠤⠤⠔⠊⠁",
    "      └───────────────────────",
    "       12:00:00       12:01:30",
]


def test_limits_are_dashed_lines_with_words() -> None:
    """A threshold is a dashed line in the tone of its severity, with glyph and words; the curve is drawn over it."""
    limits = (ChartLimit(90, Severity.CRITICAL, "90 %"), ChartLimit(80, Severity.WARNING, "80 %"))
    lines = chart_lines(made(series(*[30.0] * 30), limits=limits), 60, 10)
    shown = texts(lines)
    assert "● 90 %" in shown[1] or "● 90 %" in shown[0]
    assert any("▲ 80 %" in each for each in shown)
    dashes = [
        span for line in lines[:-2] for span in line.spans if span.tone is Tone.WARNING and BLANK not in span.text
    ]
    assert dashes
    for line in lines:
        for span in line.spans:
            # Words have the attributes of their tone, dots have none: they are never in one span.
            assert len({ord(char) in BRAILLE for char in span.text}) <= 1
    alone = chart_lines(made(series(*[30.0] * 30)), 60, 10)

    def curve(of: Sequence[Line]) -> list[str]:
        return [
            "".join(span.text for span in line.spans[1:] if span.tone is Tone.INFO).strip(BLANK) for line in of[:-2]
        ]

    assert [each for each in curve(lines) if each] == [each for each in curve(alone) if each]


def test_a_limit_outside_of_the_scale_is_not_drawn() -> None:
    """Neither a line nor words at an end of the scale that is not there."""
    chart = made(series(1, 2, 3), limits=(ChartLimit(400, Severity.CRITICAL, "400"),))
    assert "400" not in "".join(texts(chart_lines(chart, 60, 10)))


def test_several_series_have_tones_digits_and_names() -> None:
    """Each is told by its tone and by a digit at its newest point; the legend has digit, name and value."""
    chart = made(series(*[20.0] * 20), series(*[20.0] * 20), series(*[90.0] * 19, None))
    lines = chart_lines(chart, 60, 10)
    assert tones(lines) >= {Tone.INFO, Tone.STRONG, Tone.CALM}
    found = "".join(texts(lines)[:-AXIS_LINES])
    assert all(digit in found for digit in "123")
    assert legend(chart, 80).text == "1 line1 20 %   2 line2 20 %   3 line3 absent, before 90 %"
    assert legend(chart, 20).text == "1 line1 20 %   2 li…"


def test_series_with_scales_of_their_own() -> None:
    """Bytes and messages share a plot: each fills its own scale and is said in its own unit."""
    own = ChartSeries("bytes", series(0, 4096), Scale(0, 4096, ()), lambda value: quantity(value, "bytes"))
    chart = made(series(100.0, 0.0))
    chart = Chart((*chart.series, own), chart.scale, chart.span, percent, clock)
    lines = texts(chart_lines(chart, 40, 6))
    assert lines[0].partition("┤")[2].strip() != ""
    assert legend(chart, 80).text == "1 line1 0 %   2 bytes 4 KiB"


def test_alert_spans_are_shaded_and_thick_in_the_axis() -> None:
    """The columns of the time have another ground; without colours the axis says the same."""
    shaded = (ShadedSpan(START + 3 * STEP, START + 5 * STEP, Severity.CRITICAL), ShadedSpan(0, 5, Severity.WARNING))
    chart = made(series(*[50.0] * 11), shaded=shaded)
    lines = chart_lines(chart, 40, 6)
    for line in lines[:-AXIS_LINES]:
        where = "".join(("#" if span.shaded else ".") * cells(span.text) for span in line.spans)
        assert where.count("#") == pytest.approx(0.2 * plot_width(chart, 40, 6), abs=1.5)
        assert "#.#" not in where
    axis = lines[-AXIS_LINES]
    assert {span.tone for span in axis.spans if "━" in span.text} == {Tone.CRITICAL}
    assert "=====" in drawn(axis.text, Symbols.ASCII)


def test_the_cursor_reads_time_and_values() -> None:
    """At the cursor a line goes from top to bottom, the axis has a foot, and the legend says that moment."""
    chart = made(series(*range(0, 100, 10)), series(*[50.0] * 5, None, *[70.0] * 4), cursor=START + 5 * STEP)
    lines = texts(chart_lines(chart, 60, 8))
    assert sum("│" in each[7:] for each in lines[:-AXIS_LINES]) >= 6
    assert "┴" in lines[-AXIS_LINES]
    assert legend(chart, 80).text == "12:00:50   1 line1 50 %   2 line2 no value"


def test_values_at_a_moment() -> None:
    """A value holds until the next point; a gap, a pause and the time before the first have none."""
    one = ChartSeries("one", [*series(1, 2, None, 4), (START + 20 * STEP, 5.0)])

    def at(ts: int) -> float | None:
        return values_at([one], ts)[0].value

    assert at(START - 1) is None
    assert (at(START), at(START + STEP - 1), at(START + STEP)) == (1, 1, 2)
    assert at(START + 2 * STEP) is None
    assert at(START + 4 * STEP) == 4
    assert at(START + 10 * STEP) is None
    assert at(START + 20 * STEP) == 5
    assert values_at([one], START + 4 * STEP)[0].ts == START + 3 * STEP


VALUES = st.none() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=True, allow_infinity=True)
LIMITS = st.lists(
    st.builds(ChartLimit, st.floats(-1e6, 1e6), st.sampled_from(Severity), st.text(max_size=12)), max_size=4
)


@given(
    st.lists(st.lists(VALUES, min_size=1, max_size=40), min_size=1, max_size=5),
    LIMITS,
    st.integers(-5, 500) | st.none(),
    st.integers(30, 120),
    st.integers(1, 20),
)
def test_charts_fit_their_size(
    values: list[list[float | None]], limits: list[ChartLimit], cursor: int | None, width: int, height: int
) -> None:
    """Whatever is drawn, a chart has the lines that were asked for and is never wider."""
    points = [series(*each) for each in values]
    scale = scale_of_values(
        [value for each in values for value in each if value is not None], lambda value: quantity(value, "messages")
    )
    span = TimeRange(START, START + 39 * STEP)
    chart = Chart(
        tuple(ChartSeries("x", each) for each in points),
        scale,
        span,
        percent,
        clock,
        limits=tuple(limits),
        shaded=(ShadedSpan(START - 5, START + STEP, Severity.WARNING),),
        marks=((START + 3, "changed"),),
        cursor=None if cursor is None else START + cursor * 1000,
    )
    lines = chart_lines(chart, width, height)
    assert len(lines) == height + AXIS_LINES
    assert all(cells(line.text) == width for line in lines[:-1])
    assert cells(lines[-1].text) <= width
    assert cells(legend(chart, width).text) <= width


@given(st.integers(20, 200), st.integers(1, 20), st.lists(st.integers(-300, 300), max_size=6), st.integers(0, 250))
def test_the_cursor_stays_in_the_chart(width: int, height: int, moves: list[int], click: int) -> None:
    """However it is moved, it is a moment of the chart; a step to the right and back leads to where it was."""
    chart = made(series(*range(30)))
    at = cursor_at(chart, width, height, click)
    assert chart.span.since <= at <= chart.span.until
    for by in moves:
        moved = Chart(chart.series, chart.scale, chart.span, percent, clock, cursor=at)
        at = cursor_moved(moved, width, height, by)
        assert chart.span.since <= at <= chart.span.until
    here = Chart(
        chart.series, chart.scale, chart.span, percent, clock, cursor=cursor_at(chart, width, height, width // 2)
    )
    there = cursor_moved(here, width, height, 1)
    back = Chart(chart.series, chart.scale, chart.span, percent, clock, cursor=there)
    if there != here.cursor:
        assert cursor_moved(back, width, height, -1) == here.cursor
    assert cursor_moved(chart, width, height, -1) >= cursor_moved(chart, width, height, -2)
