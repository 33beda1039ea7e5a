"""A terminal whose locale is not one of UTF-8 gets ASCII alone, on every screen; a setting chooses otherwise."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from textual.command import CommandPalette

from mqsamples.pairs import alone
from mqvitals_agent.text.symbols import BRAILLE, SIGNS, Symbols, drawn
from mqvitals_agent.view.alerts.handling import ACKNOWLEDGED, IN_MAINTENANCE, NEW, SILENCED
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.screens.form_screen import FormScreen
from mqvitals_tui.screens.help_screen import HelpScreen
from mqvitals_tui.tabs import TABS_BY_ID
from mqvitals_tui.terminal import as_utf8, symbols_for

Lives = Callable[[str], Any]
Text = Callable[[Any], str]

OBJECTS = ("QM01/buffer_pool/3", "QM03/channel/TO.PARTNER", "QM02/queue/PAYMENTS.IN", "PRDQSG/cf_structure/APPL1")


@pytest.mark.parametrize("locale", alone("C", "POSIX", "en_US.ISO-8859-1"))
async def test_every_screen_in_ascii(
    lives: Lives, shown: Any, until: Any, screen_text: Text, monkeypatch: pytest.MonkeyPatch, locale: str
) -> None:
    """Nothing beyond ASCII is painted on a tab, an object, in a form, the help, the palette, or on a small terminal."""
    monkeypatch.setenv("LC_ALL", locale)
    app = lives("incident").app(symbols=symbols_for(None))
    size = {"C": (120, 40), "POSIX": (80, 24)}.get(locale, (200, 60))
    async with app.run_test(size=size) as pilot:
        await shown(pilot)
        seen: dict[str, str] = {}
        for tab in TABS_BY_ID:
            app.go_to(tab)
            await shown(pilot)
            await pilot.pause(0)
            seen[tab] = screen_text(app)
        for name in OBJECTS:
            app.go_to("overview")
            app.open_object(ObjectName.parse(name))
            await shown(pilot)
            await pilot.pause(0)
            seen[name] = screen_text(app)
        app.go_to("alerts")
        await shown(pilot)
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, FormScreen))
        seen["form"] = screen_text(app)
        await pilot.press("escape")
        await shown(pilot)
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        seen["help"] = screen_text(app)
        await pilot.press("escape")
        await shown(pilot)
        app.action_command_palette()
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        await pilot.press("p", "a", "y")
        await until(pilot, lambda: "PAY" in screen_text(app))
        seen["palette"] = screen_text(app)
        for place, text in seen.items():
            beyond = {char for char in text if not char.isascii()}
            assert beyond == set(), place
            assert len(text.split()) > 10, place
        assert "X CRITICAL" in seen["overview"]


def test_a_sign_means_one_thing() -> None:
    """No state has in ASCII the mark of what people did about an alert."""
    signs = {*SIGNS.values(), "?"}
    assert len(signs) == 5
    assert not signs & {NEW, ACKNOWLEDGED, SILENCED, IN_MAINTENANCE}


async def test_each_set_keeps_every_column(lives: Lives, shown: Any, screen_text: Text) -> None:
    """The same screen in the three sets differs by its glyphs alone; that of blocks has no braille."""
    texts = {}
    for symbols in Symbols:
        app = lives("incident").app(symbols=symbols)
        async with app.run_test(size=(100, 40)) as pilot:
            app.open_object(ObjectName.parse(OBJECTS[0]))
            await shown(pilot)
            await pilot.pause(0)
            texts[symbols] = screen_text(app)
    braille = texts[Symbols.BRAILLE]
    assert any(ord(char) in BRAILLE for char in braille)
    assert not any(ord(char) in BRAILLE for char in texts[Symbols.BLOCK])
    for symbols, text in texts.items():
        wanted = [drawn(each, symbols).rstrip() for each in braille.splitlines()]
        assert [each.rstrip() for each in text.splitlines()] == wanted


@pytest.mark.parametrize("chosen", [each.value for each in Symbols])
def test_the_setting_outranks_the_locale(chosen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who chooses a set gets it, whatever the locale."""
    for locale in ("C", "C.UTF-8"):
        monkeypatch.setenv("LC_ALL", locale)
        assert symbols_for(chosen).value == chosen


def test_chosen_symbols_pass_a_stream_of_ascii() -> None:
    """Who chooses braille in the locale C gets it: the stream lets it through while the screen is there."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii", errors="replace", write_through=True)
    with as_utf8(stream):
        stream.write("⣿ ● ")
    stream.write("●")
    assert raw.getvalue() == "⣿ ● ?".encode()
    with as_utf8(None), as_utf8(io.StringIO()):
        pass
