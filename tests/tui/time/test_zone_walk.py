"""Wherever one walks, no time is in another zone than the one of the screen, which the header names."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from textual.pilot import Pilot

from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.text.figure import times_in
from mqvitals_config.settings import Settings, TuiSettings
from mqvitals_tui.screens.detail_screen import DetailScreen
from mqvitals_tui.screens.form_screen import FormScreen
from mqvitals_tui.screens.moment_form import MomentForm
from mqvitals_tui.tabs import TABS
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.painting import Banner
from mqvitals_tui.widgets.text_line import TextLine
from mqvitals_tui.widgets.virtual_table import VirtualTable

Lives = Callable[[str], Any]
Until = Callable[[Pilot[None], Callable[[], bool]], Awaitable[None]]
Text = Callable[[Any], str]

CLOCK = re.compile(r"\b\d\d:\d\d(:\d\d)?\b")


def texts(app: Any) -> Iterator[str]:
    """All that the screen on top shows, also what is scrolled out of sight."""
    screen = app.screen
    for banner in screen.query(Banner):
        yield banner.text
    for view in screen.query(LinesView):
        yield from (each.text for each in view.lines)
    for table in screen.query(VirtualTable):
        with times_in(app._screen_context.zones.zone):
            for column in table._columns:
                yield column.title
                yield from (column.cell(item, app._screen_context.now()).text for item in table.items)
    for box in screen.query(TextLine):
        yield from (box.value, box.placeholder)


@pytest.mark.parametrize(
    ("zone", "name", "hour"),
    [("Europe/Berlin", "CET", 13), pytest.param("America/New_York", "EST", 7, marks=pytest.mark.soak)],
)
async def test_no_screen_says_utc(
    lives: Lives, until: Until, shown: Any, screen_text: Text, zone: str, name: str, hour: int
) -> None:
    """Tabs, a page of each kind, what came before, comparisons and forms, now and in the past."""
    life = lives("incident")
    app = life.app(settings=Settings(tui=TuiSettings(time_zone=zone)))
    with StoreReader.open(life.store) as reader:
        kinds = {each.name.kind: each.name for each in reader.objects()}
        began = [each for each in reader.alerts() if each.alert.started is not None]

    def check(where: str) -> None:
        found = [*texts(app), *screen_text(app).splitlines()]
        # A form says how a time with its own zone is written.
        other = r"\bUTC\b" if isinstance(app.screen, FormScreen) else r"\bUTC\b|:\d\dZ\b"
        assert not [each for each in found if re.search(other, each)], where
        if any(CLOCK.search(each) for each in found):
            assert any(name in each for each in found), where

    async with app.run_test(size=(160, 60)) as pilot:
        await shown(pilot)
        for past in (False, True):
            for tab in TABS:
                app.go_to(tab.id)
                await shown(pilot)
                check(f"{tab.id}, past: {past}")
                # Lists leave the zone to the header.
                assert f" {name}" in app.screen.query_one("#header", Banner).text
            for kind, object_name in kinds.items():
                app.open_object(object_name)
                await until(pilot, lambda: isinstance(app.screen, DetailScreen) and app.screen.frame is not None)
                check(f"{kind}, past: {past}")
                await pilot.press("escape")
            app.open_before(began[0].id)
            await shown(pilot)
            check(f"before, past: {past}")
            app.screen.dismiss()
            app.action_compare()
            await shown(pilot)
            check(f"comparison, past: {past}")
            app.screen.dismiss()
            await pilot.press("g")
            await until(pilot, lambda: isinstance(app.screen, MomentForm))
            check("the empty form of a moment")
            app.screen.query_one("#time", TextLine).value = f"{hour:02d}:01"
            await until(pilot, lambda: f"{hour:02d}:01:00 {name}" in " ".join(texts(app)))
            check("the form of a moment")
            await pilot.press("enter")
            await until(pilot, lambda: app._screen_context.news.at is not None)
        await pilot.press("l")
        await until(pilot, lambda: app._screen_context.news.at is None)
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, FormScreen))
        check("the form of a maintenance window")
