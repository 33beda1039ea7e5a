"""Tab and Shift+Tab go from part to part of the overview, and the heading of a part comes into sight with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from mqvitals_agent.text.styled import Line, heading, is_heading, line
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.painting import StatusBar

Lives = Callable[[str], Any]
Shown = Callable[[Pilot[None]], Awaitable[None]]


def title_above(view: LinesView) -> str:
    """The title of the part in which the cursor is."""
    above = [each for each in view.lines[: view.cursor] if is_heading(each)]
    return above[-1].text.partition(" ─")[0] if above else ""


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (80, 12)])
async def test_tab_on_the_overview(lives: Lives, shown: Shown, size: tuple[int, int]) -> None:
    """Each part in its order, the first again after the last, and back; always the part's first line, its heading in sight."""
    app = lives("incident").app()
    async with app.run_test(size=size) as pilot:
        await shown(pilot)
        view = app.screen.query_one(LinesView)
        titles = ["Queue managers", "Coupling facility", "Alerts, worst first (* not acknowledged)"]
        steps = [("tab", 1), ("tab", 2), ("tab", 0), ("shift+tab", 2), ("shift+tab", 1), ("shift+tab", 0)]
        assert title_above(view) == titles[0]
        for key, wanted in steps:
            await pilot.press(key)
            await pilot.pause()
            assert title_above(view) == titles[wanted]
            between = view.lines[max(row for row in range(view.cursor) if is_heading(view.lines[row])) : view.cursor]
            assert not any(each.key for each in between)
            head = view.cursor - len(between)
            top = view.scroll_offset.y
            assert top <= head < view.cursor < top + view.page
        await pilot.press("down", "tab")
        assert title_above(view) == titles[1]


async def test_the_last_line_names_tab_on_the_overview_alone(lives: Lives, shown: Shown) -> None:
    """Where the key leads to another part, and where there is room."""
    app = lives("incident").app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        for tab, named in (("overview", True), ("queues", False), ("alerts", False)):
            app.go_to(tab)
            await shown(pilot)
            assert ("Tab next part" in app.screen.query_one("#keys", StatusBar).text) == named


class Parts(App[None]):
    """A text."""

    def __init__(self, lines: list[Line]) -> None:
        super().__init__()
        self._all = lines

    def compose(self) -> ComposeResult:
        yield LinesView()

    def on_mount(self) -> None:
        """Show it."""
        self.query_one(LinesView).show(self._all)


async def test_a_part_that_leads_nowhere_is_passed() -> None:
    """The cursor stands on lines that lead somewhere; a text without such a part does not move."""
    told = [heading("A", 20), line("a", key="a"), heading("B", 20), line("b"), heading("C", 20), line("c", key="c")]
    app = Parts(told)
    async with app.run_test(size=(20, 10)) as pilot:
        await pilot.pause()
        view = app.query_one(LinesView)
        view.go_to_part(1)
        assert view.cursor_key == "c"
        view.go_to_part(1)
        assert view.cursor_key == "a"
        view.show([heading("A", 20), line("a"), line("b")])
        view.go_to_part(1)
        assert view.cursor_key == ""


@pytest.mark.parametrize("width", [0, 3, 30])
def test_headings_are_known(width: int) -> None:
    """However short their rule is; no other line is one."""
    assert is_heading(heading("Alerts", width))
    assert not is_heading(line("Alerts"))
    assert not is_heading(line("───"))
