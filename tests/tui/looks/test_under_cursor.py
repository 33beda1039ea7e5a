"""Matrices and the logs show the object under the cursor in the rows that they leave."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from mqvitals_agent.text.figure import object_words
from mqvitals_agent.text.styled import is_heading
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.virtual_table import VirtualTable

Lives = Callable[[str], Any]
Shown = Callable[[Pilot[None]], Awaitable[None]]


def told(view: LinesView) -> list[str]:
    """The titles of the text."""
    return [each.text.partition(" ─")[0] for each in view.lines if is_heading(each)]


@pytest.mark.parametrize("tab", ["storage_matrix", "structure_matrix", "task_matrix"])
async def test_the_cell_under_the_cursor(lives: Lives, shown: Shown, tab: str) -> None:
    """At once and after each key; no key leads into it."""
    app = lives("incident").app()
    async with app.run_test(size=(200, 60)) as pilot:
        await shown(pilot)
        app.go_to(tab)
        await shown(pilot)
        view = app.screen.query_one("#lines", LinesView)
        seen = set()
        for key in ("", "right", "down", "right", "down", "left"):
            if key:
                await pilot.press(key)
                await pilot.pause()
            words = object_words(ObjectName.parse(view.cursor_key))
            assert words in told(view)
            seen.add(words)
        assert len(seen) > 2
        await pilot.press("end")
        await pilot.pause()
        assert view.lines[view.cursor].parts
        assert view.size.height >= len(view.lines)


async def test_the_log_under_the_cursor(lives: Lives, shown: Shown) -> None:
    """Below the table."""
    app = lives("incident").app()
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot)
        app.go_to("logs")
        await shown(pilot)
        table, view = app.screen.query_one("#table", VirtualTable), app.screen.query_one("#lines", LinesView)
        for _ in range(2):
            assert object_words(ObjectName.parse(table.cursor_key)) == told(view)[0]
            await pilot.press("down")
            await pilot.pause()
