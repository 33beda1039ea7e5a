"""The chart fills the place it is given and says its figures in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from textual.app import App, ComposeResult

from mqvitals_agent.text.chart import Scale, TimeRange
from mqvitals_agent.text.chart_lines import Chart, ChartPoints, ChartSeries
from mqvitals_agent.text.figure import clock
from mqvitals_agent.text.styled import Tone
from mqvitals_agent.text.terminal import cells
from mqvitals_tui.widgets.chart import BrailleChart

Text = Callable[[App[Any]], str]

BLANK = "\u2800"
SPAN = TimeRange(0, 3_600_000)
SCALE = Scale(0.0, 100.0, ((100.0, "100 %"), (50.0, "50 %"), (0.0, "0 %")))


class Charting(App[None]):
    """One chart on the whole screen."""

    def compose(self) -> ComposeResult:
        yield BrailleChart()

    @property
    def chart(self) -> BrailleChart:
        return self.query_one(BrailleChart)


def words(value: float) -> str:
    return f"{value:g} %"


def data(
    points: ChartPoints,
    scale: Scale = SCALE,
    words: Callable[[float], str] = words,
    earlier: tuple[tuple[str, ChartPoints], ...] = (),
) -> Chart:
    behind = tuple(ChartSeries(name, series) for name, series in earlier if series)
    return Chart((ChartSeries("depth", points),), scale, SPAN, words, clock, behind)


def points() -> list[tuple[int, float | None]]:
    return [(minute * 60_000, float(minute % 30 + 10)) for minute in range(60)]


async def test_chart_fills_its_size_with_labels_axis_and_legend(screen_text: Text) -> None:
    """All lines are used: plot, axis, times, legend; the labels stand at the left."""
    app = Charting()
    async with app.run_test(size=(60, 12)) as pilot:
        app.chart.show(data(points()))
        await pilot.pause()
        lines = screen_text(app).splitlines()
        assert len(lines) == 12
        assert lines[0].startswith("100 % ┤")
        assert lines[8].startswith("  0 % ┤")
        assert lines[9] == "      └" + "─" * 53
        assert lines[10].split() == ["00:00:00", "01:00:00"]
        assert lines[11] == "last 39 %   min 10 %   max 39 %"


@pytest.mark.parametrize("width", [30, 61, 80, 119, 120])
async def test_curve_and_axis_end_in_the_same_cell(screen_text: Text, width: int) -> None:
    """The newest point is drawn above the last cell of the axis, which is the last of the line; so ends its moment."""
    app = Charting()
    async with app.run_test(size=(width, 12)) as pilot:
        app.chart.show(data([*points(), (3_600_000, 90.0)]))
        await pilot.pause()
        lines = screen_text(app).splitlines()
        assert max(cells(each.rstrip(BLANK)) for each in lines[:9]) == width
        assert cells(lines[9]) == width
        assert lines[9].endswith("─")
        assert cells(lines[10]) == width


async def test_changes_are_marked_in_the_axis_and_named_in_the_legend(screen_text: Text) -> None:
    """The newest is named, the others are counted; the drawing keeps its size."""
    app = Charting()
    marks = ((0, "MAXDEPTH 5 -> 6"), (3_600_000, "MAXDEPTH 6 -> 7"))
    async with app.run_test(size=(90, 12)) as pilot:
        app.chart.show(replace(data(points()), marks=marks))
        await pilot.pause()
        lines = screen_text(app).splitlines()
        assert len(lines) == 12
        axis = lines[-3].rstrip().partition("└")[2]
        assert axis == f"▲{'─' * (len(axis) - 2)}▲"
        assert lines[-1].rstrip().endswith(f"▲ {clock(3_600_000)} MAXDEPTH 6 -> 7 and 1 more")


async def test_chart_is_drawn_anew_for_another_size(screen_text: Text) -> None:
    """After a resize axis and plot are as wide and high as the place, down to five lines and less."""
    app = Charting()
    async with app.run_test(size=(60, 12)) as pilot:
        app.chart.show(data(points()))
        for width, height in ((120, 30), (30, 5), (8, 5), (60, 3), (200, 60)):
            await pilot.resize_terminal(width, height)
            await pilot.pause()
            lines = screen_text(app).splitlines()
            assert len(lines) == height
        assert lines[-3] == "      └" + "─" * 193
        await pilot.resize_terminal(40, 5)
        await pilot.pause()
        assert screen_text(app).splitlines()[4] == "last 39 %   min 10 %   max 39 %"


async def test_earlier_series_show_faint_where_the_main_one_is_not() -> None:
    """Yesterday's line is drawn in another tone and named; the main line is as without it."""
    app = Charting()
    high: ChartPoints = [(ts, 90.0) for ts, _ in points()]
    async with app.run_test(size=(60, 12)) as pilot:
        app.chart.show(data(points(), earlier=(("yesterday", high), ("last week", ()))))
        await pilot.pause()
        drawing = app.chart._draw(60, 12)
        assert any(span.tone is Tone.FAINT and "⣀" in span.text for line in drawing[:2] for span in line.spans[1:])
        assert "faint: yesterday" in drawing[-1].text
        assert "last week" not in drawing[-1].text
        app.chart.show(data(points()))
        alone = app.chart._draw(60, 12)
        bright = ["".join(span.text for span in line.spans[1:] if span.tone is Tone.INFO) for line in drawing[2:9]]
        assert [line.replace("\u2800", "") for line in bright] == [
            line.text[7:].replace("\u2800", "") for line in alone[2:9]
        ]


async def test_absent_values_are_said_not_drawn_as_zero(screen_text: Text) -> None:
    """No value at all gives the sentence; an absent last value is named as such."""
    app = Charting()
    async with app.run_test(size=(60, 12)) as pilot:
        app.chart.show(data([(0, None), (60_000, None)]), empty="Absent: not collected (MONQ off)")
        await pilot.pause()
        assert screen_text(app).strip() == "Absent: not collected (MONQ off)"
        app.chart.show(data([*points(), (3_600_000, None)]))
        await pilot.pause()
        assert screen_text(app).splitlines()[-1] == "last absent, before 39 %   min 10 %   max 39 %"
        app.chart.show(data(()))
        await pilot.pause()
        assert screen_text(app).strip() == "No poll in this time"


async def test_hostile_labels_do_not_reach_the_terminal(screen_text: Text) -> None:
    """Markup and controls in names and words are shown as text."""
    app = Charting()
    async with app.run_test(size=(80, 12)) as pilot:
        scale = Scale(0.0, 100.0, ((100.0, "[/x]"), (0.0, "low")))
        app.chart.show(
            data(points(), scale=scale, words=lambda value: "[red]\x1b[31m", earlier=(("[/y]\x1b[2J", points()),))
        )
        await pilot.pause()
        text = screen_text(app)
        assert "[/x]" in text
        assert "[/y]␛[2J" in text
        assert "\x1b" not in text
