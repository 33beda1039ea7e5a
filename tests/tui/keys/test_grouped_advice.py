"""Advice of one rule about many objects is one line: Enter lists it, and what is done about it says about how much."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from mqvitals_agent.view.screens.alerts import GROUP_KEY, matching_alerts
from mqvitals_tui.screens.main_screen import MainScreen
from mqvitals_tui.screens.silence_forms import SilenceForm
from mqvitals_tui.widgets.lines_view import LinesView

Lives = Callable[[str], Any]
Shown = Callable[[Pilot[None]], Awaitable[None]]
Until = Callable[[Pilot[None], Callable[[], bool]], Awaitable[None]]


async def at_group(app: Any, pilot: Pilot[None], shown: Shown) -> tuple[LinesView, str]:
    """The screen of alerts with the cursor on the line of the greatest group, and its key."""
    await shown(pilot)
    app.go_to("alerts")
    await shown(pilot)
    view = app.screen.query_one("#lines", LinesView)
    row = next(row for row, each in enumerate(view.lines) if each.key.startswith(GROUP_KEY))
    for _ in range(len(view.lines)):
        if view.cursor == row:
            break
        await pilot.press("down")
    assert view.cursor == row
    return view, view.lines[row].key


async def test_enter_lists_the_alerts(lives: Lives, shown: Shown, until: Until) -> None:
    """Each with its own line, on which keys act; Esc shows all again."""
    app = lives("quiet").app()
    async with app.run_test(size=(120, 40)) as pilot:
        view, key = await at_group(app, pilot, shown)
        frame = app.screen.frame
        wanted = matching_alerts(frame.alerts, key)
        count = int(view.lines[view.cursor].text.partition(" x")[2].split()[0])
        assert count == len(wanted) > 2
        await pilot.press("enter")
        await until(pilot, lambda: app.screen.filter_text == key)
        await pilot.pause()
        numbers = {each.alert for each in view.lines if each.alert}
        assert numbers == {frame.handled.number(each) for each in wanted}
        assert not any(each.key.startswith(GROUP_KEY) for each in view.lines)
        await pilot.press("escape")
        await until(pilot, lambda: not app.screen.filter_text)
        assert isinstance(app.screen, MainScreen)
        assert app.screen.tab.id == "alerts"


@pytest.mark.parametrize("key", ["a", "n", "o", "b"])
async def test_what_is_for_one_says_that_these_are_several(lives: Lives, shown: Shown, key: str) -> None:
    """No form opens, and nothing happens to the first of them."""
    app = lives("quiet").app()
    async with app.run_test(size=(120, 40)) as pilot:
        _, group = await at_group(app, pilot, shown)
        count = len(matching_alerts(app.screen.frame.alerts, group))
        await pilot.press(key)
        await pilot.pause()
        assert isinstance(app.screen, MainScreen)
        rule = group.removeprefix(GROUP_KEY).split()[0]
        assert any(f"{count} alerts of {rule}: Enter lists" in each.message for each in app._notifications)


async def test_a_silence_is_of_the_rule(lives: Lives, shown: Shown, until: Until) -> None:
    """Its form begins with the rule and says how many alerts it matches."""
    app = lives("quiet").app()
    async with app.run_test(size=(120, 40)) as pilot:
        _, group = await at_group(app, pilot, shown)
        rule = group.removeprefix(GROUP_KEY).split()[0]
        frame = app.screen.frame
        count = sum(each.key.rule == rule for each in frame.data.alerts)
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, SilenceForm))
        assert app.screen.query_one("#matchers").value == f"rule={rule}"
        await until(pilot, lambda: str(count) in "".join(each.text for each in app.screen.query_one("#lines").lines))
