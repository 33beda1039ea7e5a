"""Advice of one rule about many objects is one line: Enter lists it, and what is done about it says about how much."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.alerts.action_client import ActionClient
from mqvitals_agent.view.screens.alerts import GROUP_KEY, alert_lines, matching_alerts
from mqvitals_tui.screens.alert_forms import UndoForm
from mqvitals_tui.screens.form_screen import FormScreen
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


async def test_all_are_acknowledged_at_once_and_taken_back_at_once(
    lives: Lives, shown: Shown, until: Until, tmp_path: Path
) -> None:
    """A, a note, Enter: each has an acknowledgement and a line of the audit; the line says so; u takes all of them back."""
    life = lives("quiet").copied(tmp_path / "own.db")
    app = life.app(author="anna")
    async with app.run_test(size=(120, 40)) as pilot:
        view, group = await at_group(app, pilot, shown)
        frame = app.screen.frame
        numbers = sorted(frame.handled.number(each) for each in matching_alerts(frame.alerts, group))
        # One of them is ben's already, who keeps it.
        with ActionClient.open(life.store, "ben") as client:
            client.acknowledge(numbers[0], life.now - 1_000)
        await until(pilot, lambda: "(1 acknowledged)" in "\n".join(each.text for each in view.lines))
        await pilot.press("A")
        await until(pilot, lambda: isinstance(app.screen, FormScreen))
        about = "\n".join(each.text for each in app.screen.about(100))
        assert f"{len(numbers) - 1} alerts of {group.removeprefix(GROUP_KEY).split()[0]}" in about
        assert "1 other acknowledged already" in about
        await pilot.press(*"known", "enter")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
        await until(pilot, lambda: " (acknowledged)" in "\n".join(each.text for each in view.lines))
        with StoreReader.open(life.store) as reader:
            made = [each for some in reader.actions().acknowledgements.values() for each in some]
            lines = [each for each in reader.audit(limit=1_000) if each.author == "anna"]
        assert sorted(each.alert for each in made) == numbers
        assert {(each.author, each.note) for each in made} == {("anna", "known"), ("ben", "")}
        assert len(lines) == len(numbers) - 1
        assert {each.action for each in lines} == {"acknowledge"}
        assert view.lines[view.cursor].key == group
        await pilot.press("A")
        await pilot.pause()
        assert any("are acknowledged" in each.message for each in app._notifications)
        await pilot.press("u")
        await until(pilot, lambda: isinstance(app.screen, UndoForm))
        await until(pilot, lambda: f"{len(numbers) - 1} alerts" in "".join(each.text for each in app.screen.about(100)))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
        await until(pilot, lambda: "(1 acknowledged)" in "\n".join(each.text for each in view.lines))
        with StoreReader.open(life.store) as reader:
            assert [each.author for each in reader.audit(limit=1_000)].count("anna") == 2 * (len(numbers) - 1)


async def test_a_filter_is_part_of_the_group(lives: Lives, shown: Shown) -> None:
    """A group under a filter has those alone that the filter shows."""
    app = lives("quiet").app()
    async with app.run_test(size=(120, 40)) as pilot:
        _, group = await at_group(app, pilot, shown)
        frame = app.screen.frame
        every = matching_alerts(frame.alerts, group)
        word = every[0].key.object.owner
        lines = alert_lines(frame, 120, word)
        groups = [each for each in lines if each.key.startswith(GROUP_KEY)]
        assert groups
        for each in groups:
            found = matching_alerts(frame.alerts, each.key)
            assert f"x{len(found)} " in each.text
            assert all(word.casefold() in str(alert.key.object).casefold() for alert in found)


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
