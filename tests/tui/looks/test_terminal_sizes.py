"""The terminal may have any size, and change it at any time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from textual import events

from mqsamples.patience import PATIENCE_S
from mqvitals_agent.text.terminal import cells
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.screens.main_screen import MainScreen
from mqvitals_tui.tabs import TABS_BY_ID
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.virtual_table import VirtualTable

Lives = Callable[[str], Any]


SIZES = ((200, 60), (80, 24), (40, 10), (39, 10), (40, 9), (12, 3), (1, 1), (40, 10), (80, 24), (200, 60))
SCREENS = (*TABS_BY_ID, "help", "object", "filter", "palette")


def fills(text: str, width: int, height: int) -> bool:
    """Whether a text has as many lines as a terminal of this size, none of them wider."""
    return text.count("\n") == height - 1 and all(cells(line) <= width for line in text.splitlines())


@pytest.mark.parametrize("screen", SCREENS)
async def test_no_size_breaks_a_screen(
    lives: Lives, shown: Any, until: Any, screen_text: Any, soak: bool, screen: str
) -> None:
    """From very large to next to nothing and back every screen fits, and is at the end as it was at the beginning.

    In between each has every eighth size, another screen others; all of them in ``make soak``.
    """
    between = SIZES[1:-1] if soak else SIZES[1 + SCREENS.index(screen) % 8 : -1 : 8]
    app = lives("incident").app()
    async with app.run_test(size=SIZES[0]) as pilot:
        await shown(pilot)
        match screen:
            case "help":
                await pilot.press("question_mark")
            case "object":
                app.open_object(ObjectName("QM01", "buffer_pool", "3"))
            case "filter":
                await pilot.press("3", "slash", "q")
            case "palette":
                await pilot.press("colon")
            case _:
                app.go_to(screen)
        if screen not in ("help", "palette"):
            await shown(pilot)
        await until(pilot, lambda: screen_text(app).count("\n") == SIZES[0][1] - 1)
        first = screen_text(app)
        for width, height in (*between, SIZES[-1]):
            await pilot.resize_terminal(width, height)
            size = (width, height)
            await until(pilot, lambda size=size: app.screen.size == size and fills(screen_text(app), *size))
            lines = screen_text(app).splitlines()
            small = "is too small: 80x24" in " ".join(" ".join(lines).split())
            if screen not in ("help", "palette") and width > 20:
                assert small == (width < 40 or height < 10)
        if screen != "palette":
            end = time.monotonic() + PATIENCE_S
            while screen_text(app) != first:
                assert time.monotonic() < end
                # A cursor that had to be kept in sight has moved the text.
                await pilot.press("home")


async def test_a_small_terminal_still_says_how_bad_it_is(
    lives: Lives, shown: Any, until: Any, screen_text: Any
) -> None:
    """Where nothing else fits there are the numbers of alerts, and what size is asked for."""
    app = lives("incident").app()
    async with app.run_test(size=(38, 6)) as pilot:
        await shown(pilot)
        await until(pilot, lambda: "too small" in screen_text(app))
        assert "38x6 is too small: 80x24 shows all" in " ".join(screen_text(app).split())
        assert "●" in screen_text(app).splitlines()[0]


async def test_wheel_scrolls_and_clicks_choose_and_open(lives: Lives, shown: Any, until: Any) -> None:
    """The wheel moves the table and not the cursor; a click moves the cursor; the second one opens."""
    app = lives("incident").app()
    async with app.run_test(size=(80, 14)) as pilot:
        await shown(pilot)
        await pilot.press("3")
        await shown(pilot)
        table = app.screen.query_one("#table", VirtualTable)
        chosen = table.cursor_key
        await wheel(pilot, table, 3)
        await until(pilot, lambda: table.scroll_offset.y > 0)
        assert table.cursor_key == chosen
        top = table.scroll_offset.y
        await pilot.click(table, offset=(5, 3))
        assert table.cursor == top + 2
        chosen = table.cursor_key
        await pilot.double_click(table, offset=(5, 3))
        await until(pilot, lambda: str(getattr(app.screen, "object_name", "")) == chosen)
        await shown(pilot)
        lines = app.screen.query_one("#lines", LinesView)
        await wheel(pilot, lines, 3)
        await until(pilot, lambda: lines.scroll_offset.y > 0)
        await pilot.press("escape")
        assert isinstance(app.screen, MainScreen)


async def wheel(pilot: Any, view: Any, times: int) -> None:
    """Turn the wheel down over a view."""
    x, y = view.region.x + 2, view.region.y + 2
    for _ in range(times):
        pilot.app.post_message(
            events.MouseScrollDown(view, x, y, 0, 0, 0, shift=False, meta=False, ctrl=False, screen_x=x, screen_y=y)
        )
        await pilot.pause()
