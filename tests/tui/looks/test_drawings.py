"""Blocks and dots are painted in the colour of their tone alone: attributes would change what they show."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult

from mqvitals_agent.text.chart import Scale, TimeRange
from mqvitals_agent.text.chart_lines import Chart, ChartSeries, chart_lines
from mqvitals_agent.text.figure import clock
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Line, Span, Tone
from mqvitals_agent.view.figures.table import Cell, Column, Item
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.themes import CONTRAST, DARK
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.painting import Banner, is_drawn
from mqvitals_tui.widgets.virtual_table import VirtualTable

Lives = Callable[[str], Any]

SPARK = "▁ ▃█"
LOOKS = [(CONTRAST.name, False), (DARK.name, True), (CONTRAST.name, True)]


@pytest.fixture(params=LOOKS, ids=["contrast", "no colour", "contrast and no colour"])
def theme(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The theme in which tones differ by attributes."""
    name, colourless = request.param
    if colourless:
        monkeypatch.setenv("NO_COLOR", "1")
    else:
        monkeypatch.delenv("NO_COLOR", raising=False)
    return str(name)


def drawn(segments: Iterable[Segment]) -> list[Segment]:
    return [segment for segment in segments if is_drawn(segment.text)]


def bare(segment: Segment) -> bool:
    """Whether nothing changes what the blocks or dots of a segment show."""
    style = segment.style
    return style is None or not (style.reverse or style.underline or style.italic or style.bold or style.strike)


@pytest.mark.parametrize("text", ["▁▂ █", "⠀⠀", "⣿ ⠁"])
def test_drawings(text: str) -> None:
    """Blocks and dots are drawings, with blanks between them or not."""
    assert is_drawn(text)


@pytest.mark.parametrize("text", ["", "   ", "● CRITICAL", "BP3 ▁", "───", "┤", "漢"])
def test_no_drawings(text: str) -> None:
    """Words, signs and rules are none."""
    assert not is_drawn(text)


async def test_sparklines_on_the_overview(lives: Lives, shown: Any, theme: str) -> None:
    """In every state, under the cursor too, blocks are never reversed or underlined; words of what is critical are."""
    app = lives("incident").app()
    async with app.run_test(size=(120, 40)) as pilot:
        app.use_theme(theme)
        await shown(pilot)
        view = app.screen.query_one(LinesView)
        critical = [line for line in view.lines for span in line.spans if span.tone is Tone.CRITICAL]
        assert critical
        for row in range(view.row_count):
            view._move(row)
            await pilot.pause(0)
            strip = view.render_line(row - view.scroll_offset.y)
            assert all(map(bare, drawn(strip)))
        found = [segment for strip in app.screen._compositor.render_strips() for segment in strip]
        assert len(drawn(found)) >= 4
        assert any("CRITICAL" in each.text and each.style and each.style.reverse for each in found)


class Drawing(App[None]):
    """A table with a sparkline in it, and a chart."""

    def compose(self) -> ComposeResult:
        yield VirtualTable()
        yield LinesView()


async def test_sparklines_in_tables_and_charts(theme: str) -> None:
    """A critical cell of blocks has no attribute, nor has a curve or the blank dots around it, under a cursor or not."""
    app = Drawing()
    async with app.run_test(size=(60, 20)) as pilot:
        app.register_theme(CONTRAST)
        app.register_theme(DARK)
        app.theme = theme
        table, chart = app.query_one(VirtualTable), app.query_one(LinesView)
        table.focus()
        column = Column("past", "Past", 6, lambda *_: Cell(SPARK, Tone.CRITICAL), lambda _: None)
        items = tuple(Item(ObjectName("QM01", "queue", str(row)), Health.OK, {}) for row in range(2))
        table.show([column], items, 0)
        points = [(0, 0.0), (1000, 50.0), (2000, 100.0)]
        series, earlier = (ChartSeries("now", points),), (ChartSeries("yesterday", [(0, 90.0), (2000, 10.0)]),)
        chart.show(chart_lines(Chart(series, Scale(0.0, 100.0, ()), TimeRange(0, 2000), str, clock, earlier), 60, 8))
        await pilot.pause()
        for row in (1, 2):
            assert len(drawn(table.render_line(row))) == 1
            assert all(map(bare, drawn(table.render_line(row))))
        dots = [segment for y in range(chart.size.height) for segment in drawn(chart.render_line(y))]
        assert dots
        assert all(map(bare, dots))


async def test_gaps_between_places_have_no_line(lives: Lives, shown: Any, theme: str) -> None:
    """In the row of places nothing is underlined but the mark."""
    app = lives("incident").app()
    async with app.run_test(size=(80, 24)) as pilot:
        app.use_theme(theme)
        await shown(pilot)
        for tab in ("overview", "queues", "agent"):
            app.go_to(tab)
            await shown(pilot)
            segments = list(app.screen.query_one("#tabs", Banner).render_line(0))
            assert {each.text for each in segments if each.style and each.style.underline} <= {"›"}
            assert "›" in {each.text for each in segments}


async def test_words_keep_their_attributes(theme: str) -> None:
    """Beside a drawing of the same tone the words are as before."""
    app = Lines()
    async with app.run_test(size=(40, 5)) as pilot:
        app.register_theme(CONTRAST)
        app.register_theme(DARK)
        app.theme = theme
        await pilot.pause()
        words, spark = list(app.query_one(LinesView).render_line(0))[:2]
        assert bare(spark)
        # What contrast adds is the app's own style sheet.
        assert "CRITICAL" in words.text
        assert words.style is not None
        assert words.style.bold


class Lines(App[None]):
    """A line with words and a drawing of one tone."""

    def compose(self) -> ComposeResult:
        yield LinesView()

    def on_mount(self) -> None:
        """Show it."""
        self.query_one(LinesView).show([Line((Span("● CRITICAL", Tone.CRITICAL), Span(SPARK, Tone.CRITICAL)))])
