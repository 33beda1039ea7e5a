"""Keys that come faster than the screen follows: each acts on what the ones before it have brought about."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from textual import events
from textual.app import App
from textual.command import CommandList, CommandPalette, Hit

from mqsamples.patience import PATIENCE_S
from mqvitals_tui.palette import IndexedName, NavigationProvider
from mqvitals_tui.palette import _read_names as read_names
from mqvitals_tui.screens.detail_screen import DetailScreen
from mqvitals_tui.screens.help_screen import HelpScreen
from mqvitals_tui.screens.main_screen import MainScreen
from mqvitals_tui.widgets.text_line import TextLine, typeable
from mqvitals_tui.widgets.virtual_table import VirtualTable

Lives = Callable[[str], Any]

_CHARACTERS = {"enter": "\r", "escape": "\x1b", "slash": "/", "colon": ":", "question_mark": "?", "backspace": "\x7f"}


def burst(app: App[Any], *keys: str) -> None:
    """All keys at once, as a fast hand or a slow line delivers them."""
    for key in keys:
        app.post_message(events.Key(key, key if len(key) == 1 else _CHARACTERS.get(key)))


def filter_line(app: App[Any]) -> TextLine:
    return app.screen.query_one("#filter", TextLine)


def table(app: App[Any]) -> VirtualTable:
    return app.screen.query_one("#table", VirtualTable)


def main_screen(app: App[Any]) -> MainScreen:
    assert isinstance(app.screen, MainScreen)
    return app.screen


async def test_what_follows_the_slash_goes_into_the_filter(lives: Lives, shown: Any, until: Any) -> None:
    """A q typed right behind the slash is part of a name and does not end the program."""
    app = lives("incident").app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        burst(app, "3", "slash", *"qm02")
        await until(pilot, lambda: main_screen(app).filter_text == "qm02")
        assert app.is_running
        assert main_screen(app).tab.id == "queues"
        assert filter_line(app).has_focus


async def test_what_follows_enter_reaches_the_screen(lives: Lives, shown: Any, until: Any) -> None:
    """Enter ends the typing at once: an r behind it turns the order round and is no part of the filter."""
    app = lives("incident").app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        burst(app, "3", "slash", *"qm01", "enter", "r")
        await until(pilot, lambda: main_screen(app).sort is not None)
        assert main_screen(app).filter_text == "qm01"
        assert filter_line(app).value == "qm01"
        assert table(app).has_focus
        await until(pilot, lambda: table(app).row_count > 0)
        assert all("qm01" in item.key.casefold() for item in table(app).items)


async def test_q_behind_enter_leaves(lives: Lives, shown: Any, until: Any) -> None:
    """The filter is done with, so q is the key that leaves."""
    app = lives("incident").app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        burst(app, "3", "slash", *"qm01", "enter", "q")
        await until(pilot, lambda: app._exit)


async def test_a_filter_stays_with_its_place(lives: Lives, shown: Any, until: Any) -> None:
    """Whoever goes on to another list at once filters the first one only."""
    app = lives("incident").app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        burst(app, "3", "slash", *"qm01", "enter", "2")
        await until(pilot, lambda: main_screen(app).tab.id == "channels")
        await shown(pilot)
        assert main_screen(app).filter_text == ""
        await pilot.press("3")
        assert main_screen(app).filter_text == "qm01"


async def test_editing_keys_keep_their_order(lives: Lives, shown: Any, until: Any) -> None:
    """What is taken back is what stood there when the key was struck."""
    app = lives("incident").app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        burst(app, "3", "slash", *"qmx", "backspace", *"01", "left", "left", "backspace", "m", "enter")
        await until(pilot, lambda: main_screen(app).filter_text == "qm01")


async def test_escape_takes_all_of_the_filter_away(lives: Lives, shown: Any, until: Any) -> None:
    """No letter that was on its way comes after it."""
    app = lives("incident").app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        burst(app, "3", "slash", *"zzzz", "escape", "r")
        await until(pilot, lambda: main_screen(app).sort is not None)
        assert main_screen(app).filter_text == ""
        assert filter_line(app).value == ""
        assert not filter_line(app).display
        assert main_screen(app).tab.id == "queues"


async def test_keys_behind_an_opened_object_are_for_it(lives: Lives, shown: Any, until: Any) -> None:
    """Enter opens before the next key is looked at: ] charts the next metric of the object, Esc goes back from it."""
    app = lives("incident").app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        await pilot.press("4")
        await shown(pilot)
        burst(app, "enter", "greater_than_sign")
        await until(pilot, lambda: isinstance(app.screen, DetailScreen) and app.screen.request.metric != "")
        await shown(pilot)
        burst(app, "escape", "enter", "escape", "8")
        await until(pilot, lambda: isinstance(app.screen, MainScreen) and app.screen.tab.id == "alerts")
        assert len(app.screen_stack) == 2


async def test_help_and_palette_keep_keys_to_themselves(lives: Lives, shown: Any, until: Any) -> None:
    """While the help or the palette is open no key acts on the screen below it."""
    app = lives("incident").app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        burst(app, "question_mark", "3", "slash", "T")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
        assert app.is_running
        assert main_screen(app).tab.id == "overview"
        await pilot.press("colon")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        await pilot.press("q", "3", "slash")
        assert isinstance(app.screen, CommandPalette)
        assert app.is_running


async def test_keys_while_the_palette_reads_its_names(
    lives: Lives, shown: Any, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each key gives up the search of the one before; that the names are being read goes on, and the last one finds."""
    begun, told = Event(), Event()

    def slowly(store: Path) -> tuple[IndexedName, ...]:
        begun.set()
        told.wait(PATIENCE_S)
        return read_names(store)

    monkeypatch.setattr("mqvitals_tui.palette._read_names", slowly)
    app = lives("incident").app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        await pilot.press("colon")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette) and begun.is_set())
        try:
            for key in "pay":
                await pilot.press(key)
                await pilot.pause()
        finally:
            told.set()
        found = app.screen.query_one(CommandList)
        await until(pilot, lambda: any("PAYMENTS.IN" in str(each.prompt) for each in found.options))


async def test_leaving_while_the_palette_searches(
    lives: Lives, shown: Any, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program ends without a fault when a search of the palette is under way: here it goes on once its list is gone."""
    gone = asyncio.Event()

    async def search(_: NavigationProvider, text: str) -> AsyncIterator[Hit]:
        await gone.wait()
        yield Hit(1, text, lambda: None)

    monkeypatch.setattr(NavigationProvider, "discover", lambda self: search(self, ""))
    monkeypatch.setattr(NavigationProvider, "search", search)
    monkeypatch.setattr(CommandList, "on_unmount", lambda _: gone.set(), raising=False)
    app = lives("incident").app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        await pilot.press("colon")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
    assert gone.is_set()


@pytest.mark.parametrize("key", ["ctrl+c", "q"])
async def test_leaving(lives: Lives, shown: Any, until: Any, key: str) -> None:
    """Both keys leave; Ctrl+C also out of the filter."""
    app = lives("incident").app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        burst(app, *(("3", "slash", "a") if key == "ctrl+c" else ()), key)
        await until(pilot, lambda: app._exit)


@pytest.mark.parametrize(
    ("pasted", "text"),
    [
        ("QM01\nQM02\n", "QM01 QM02"),
        ("\r\n\t ", ""),
        ("\x1b[31mQM01\x07", "[31mQM01"),
        ("a\u202eb\u200bc", "abc"),
        ("[/x] 漢", "[/x] 漢"),
    ],
)
async def test_paste(lives: Lives, shown: Any, until: Any, pasted: str, text: str) -> None:
    """Of a paste the filter takes one line of what can be typed; nothing in it acts as a key."""
    assert typeable(pasted) == text
    app = lives("incident").app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        await pilot.press("3", "slash")
        app.post_message(events.Paste(pasted))
        await until(pilot, lambda: filter_line(app).value == text)
        assert main_screen(app).filter_text == text
        assert filter_line(app).has_focus


async def test_paste_onto_a_list_does_nothing(lives: Lives, shown: Any) -> None:
    """Pasted text is no keys: a q in it does not leave."""
    app = lives("incident").app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        app.post_message(events.Paste("3q\n"))
        await pilot.pause()
        assert app.is_running
        assert main_screen(app).tab.id == "overview"
