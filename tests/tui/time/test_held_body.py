"""Below the header stands nothing of another moment, however long the next frame takes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from threading import Event
from typing import Any

import pytest
from textual.pilot import Pilot

from mqsamples.pairs import paired
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.screens.detail_screen import DetailScreen
from mqvitals_tui.widgets.cursor_view import CursorView
from mqvitals_tui.widgets.painting import Banner

Lives = Callable[[str], Any]
Until = Callable[[Pilot[None], Callable[[], bool]], Awaitable[None]]
Text = Callable[[Any], str]

POOL = ObjectName("QM01", "buffer_pool", "3")


def holding_back(app: Any) -> Event:
    """The app's feed reads only while the event is set."""
    gate = Event()
    gate.set()
    read = app._feed._read

    def read_through_gate(*words: Any) -> Any:
        while not gate.wait(0.02) and app.is_running:
            pass
        return read(*words)

    app._feed._read = read_through_gate
    return gate


def body(app: Any, screen_text: Text) -> list[str]:
    """The lines between the header with the tabs or the trail, and the keys."""
    first = min(each.region.y for each in app.screen.query(CursorView) if each.display)
    return screen_text(app).splitlines()[first:-1]


@pytest.mark.parametrize(
    ("tab", "width"),
    paired(
        ["overview", "queues", "storage_matrix", "storage", "alerts", "journal", "unknown", "task_matrix"], [80, 160]
    ),
)
async def test_a_list_of_another_moment_is_not_seen(
    lives: Lives, until: Until, shown: Any, screen_text: Text, tab: str, width: int
) -> None:
    """Back from an object on whose page one stepped in time: the list is read first, and its cursor stays."""
    app = lives("incident").app()
    gate = holding_back(app)
    async with app.run_test(size=(width, 40)) as pilot:
        await shown(pilot)
        app.go_to(tab)
        await shown(pilot)
        main = app.screen
        view = next(each for each in main.query(CursorView) if each.display and each.row_count)
        before, key, row = body(app, screen_text), view.cursor_key, view.cursor
        app.open_object(POOL)
        await until(pilot, lambda: isinstance(app.screen, DetailScreen) and app.screen.frame is not None)
        await pilot.press("left_square_bracket")
        await until(pilot, lambda: app._screen_context.news.at is not None)
        gate.clear()
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is main and "AS OF" in main.query_one("#header", Banner).text)
        assert main.frame is None
        seen = [each.strip() for each in body(app, screen_text) if each.strip(" ▁▂▃▄▅▆▇█▔")]
        assert seen
        assert all(each.startswith("reading 2026-") for each in seen), seen
        await pilot.press("enter", "b")
        assert app.screen is main
        gate.set()
        await until(pilot, lambda: main.frame is not None and not view.held)
        assert not body(app, screen_text)[0].strip().startswith("reading")
        app.open_object(POOL)
        await until(pilot, lambda: isinstance(app.screen, DetailScreen) and app.screen.frame is not None)
        await pilot.press("l")
        await until(pilot, lambda: app._screen_context.news.at is None)
        gate.clear()
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is main and "AS OF" not in main.query_one("#header", Banner).text)
        # What was read last of now is shown at once: nothing was stored since.
        assert not view.held
        # The overview fills what rows there are.
        await until(pilot, lambda: body(app, screen_text) == before or tab == "overview")
        assert (view.cursor_key, view.cursor) == (key, row)
        gate.set()


def in_past(app: Any, past: bool) -> bool:
    return (app._screen_context.news.at is not None) is past


async def test_the_clock_may_paint_first(lives: Lives, until: Until, shown: Any) -> None:
    """A second ends before a list is told that it is on top again: under a header of another moment its body is held, and what
    was read last of the header's moment is shown.
    """
    app = lives("incident").app()
    gate = holding_back(app)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot)
        app.go_to("queues")
        await shown(pilot)
        main = app.screen
        view = next(each for each in main.query(CursorView) if each.display and each.row_count)
        for key, past in (("left_square_bracket", True), ("l", False)):
            app.open_object(POOL)
            await until(pilot, lambda: isinstance(app.screen, DetailScreen) and app.screen.frame is not None)
            await pilot.press(key)
            await until(pilot, partial(in_past, app, past))
            gate.clear()
            popped = app.pop_screen()
            assert app.screen is main
            main._tick()
            assert ("AS OF" in main.query_one("#header", Banner).text) is past
            assert bool(view.held) is past
            assert (main.frame is None) is past
            gate.set()
            await popped
            await until(pilot, lambda: main.frame is not None and not view.held)


async def test_a_step_that_is_being_read(lives: Lives, until: Until, shown: Any, screen_text: Text) -> None:
    """Until the frame of the moment is there, header and body are both of the moment before."""
    app = lives("incident").app()
    gate = holding_back(app)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot)
        app.open_object(POOL)
        await until(pilot, lambda: isinstance(app.screen, DetailScreen) and app.screen.frame is not None)
        before = screen_text(app)
        gate.clear()
        await pilot.press("left_square_bracket")
        await until(pilot, lambda: app.player.away and app._feed._at is not None)
        await pilot.pause(0.1)
        assert screen_text(app) == before
        gate.set()
        await until(pilot, lambda: app._screen_context.news.at is not None and "AS OF" in screen_text(app))
        assert app.screen.frame is not None
        assert not app.screen.query_one("#lines", CursorView).held
