"""The way from the number of unknown verdicts to their list, by keys and by the mouse."""

from __future__ import annotations

from typing import Any

import pytest

from mqvitals_agent.view.screens.unknown import UNKNOWN_KEY
from mqvitals_tui.screens.detail_screen import DetailScreen
from mqvitals_tui.screens.main_screen import MainScreen
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.painting import Banner


@pytest.mark.parametrize("width", [80, 120])
async def test_enter_on_the_overview_lists_them_and_opens_their_objects(
    lives: Any, shown: Any, until: Any, width: int
) -> None:
    """The cursor reaches the line that counts them; Enter lists them, Enter again opens what one is about, Esc returns."""
    app = lives("incident").app()
    async with app.run_test(size=(width, 24)) as pilot:
        await shown(pilot)
        main = app.screen
        assert isinstance(main, MainScreen)
        lines = main.query_one("#lines", LinesView)
        for _ in lines.lines:
            if lines.cursor_key != UNKNOWN_KEY:
                await pilot.press("down")
        assert lines.cursor_key == UNKNOWN_KEY
        await pilot.press("enter")
        await until(pilot, lambda: main.tab.id == "unknown")
        await shown(pilot)
        assert any("to do: " in each.text for each in lines.lines)
        await until(pilot, lambda: bool(lines.cursor_key))
        about = lines.cursor_key
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, DetailScreen))
        assert str(app.screen.object_name) == about
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is main and lines.cursor_key == about)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: main.tab.id == "overview")


async def test_a_click_on_the_number_lists_them(lives: Any, shown: Any, until: Any) -> None:
    """Elsewhere on the first line a click does nothing."""
    app = lives("incident").app()
    async with app.run_test(size=(120, 30)) as pilot:
        await shown(pilot)
        main = app.screen
        header = main.query_one("#header", Banner)
        first = header.text.splitlines()[0]
        await pilot.click(header, offset=(2, 0))
        assert main.tab.id == "overview"
        await pilot.click(header, offset=(first.index("? "), 0))
        await until(pilot, lambda: main.tab.id == "unknown")
