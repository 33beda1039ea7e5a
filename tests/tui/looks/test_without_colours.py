"""Without colours, and where contrast matters most, glyph, word, weight and slant say what colours say."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest
from rich.style import Style
from textual.app import App
from textual.color import Color

from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Tone
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.tabs import TABS_BY_ID
from mqvitals_tui.themes import CONTRAST, DARK, THEMES
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.painting import is_drawn
from mqvitals_tui.widgets.virtual_table import VirtualTable

Lives = Callable[[str], Any]

TOLD_APART = (Tone.PLAIN, Tone.FAINT, Tone.STALE, Tone.ABSENT, Tone.UNKNOWN, Tone.INFO, Tone.WARNING, Tone.CRITICAL)
"""All but OK, which has its glyph, and strong, which has no meaning of its own."""


def attributes(style: Style) -> tuple[bool, ...]:
    parts = (style.bold, style.italic, style.underline, style.reverse, style.strike, style.dim)
    return tuple(bool(part) for part in parts)


def looks(app: App[Any], widget: type[Any]) -> dict[Tone, tuple[bool, ...]]:
    view = app.screen.query(widget).first()
    return {tone: attributes(view.tone_style(tone, Style())) for tone in Tone}


@pytest.mark.parametrize("widget", [LinesView, VirtualTable])
async def test_tones_without_colours(
    lives: Lives, shown: Any, monkeypatch: pytest.MonkeyPatch, widget: type[Any]
) -> None:
    """With NO_COLOR each tone differs from the others by an attribute, OK by its glyph."""
    monkeypatch.setenv("NO_COLOR", "1")
    app = lives("incident").app()
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot)
        found = looks(app, widget)
        for one, other in combinations(TOLD_APART, 2):
            assert found[one] != found[other], (one, other)


async def test_tones_in_the_theme_of_high_contrast(lives: Lives, shown: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """There they have the same attributes, but nothing is dimmed; the next theme takes them away again."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    app = lives("incident").app(theme=CONTRAST.name)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot)
        found = looks(app, LinesView)
        for one, other in combinations(TOLD_APART, 2):
            assert found[one] != found[other] or Tone.FAINT in (one, other), (one, other)
        assert not any(look[-1] for look in found.values())
        app.use_theme(DARK.name)
        await pilot.pause()
        assert looks(app, LinesView)[Tone.UNKNOWN] != found[Tone.UNKNOWN]


@pytest.mark.parametrize("state", ["incident", "stale", "empty"])
async def test_no_state_is_told_by_colour_alone(
    lives: Lives, shown: Any, until: Any, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    """On every screen what is painted in the colour of a health has its glyph or its word in the same line."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    app = lives(state).app()
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot)
        seen = 0
        for tab in (*TABS_BY_ID, "object"):
            if tab == "object":
                app.open_object(ObjectName("QM01", "buffer_pool", "3"))
            else:
                app.go_to(tab)
            await shown(pilot)
            for view in app.screen.query(LinesView):
                for line in view.lines:
                    for span in line.spans:
                        health = next((each for each in Health if each.word == span.tone.value), None)
                        # A block says by its height what its colour adds to.
                        words = span.text.strip() and not is_drawn(span.text)
                        if health is not None and health is not Health.INFO and words:
                            seen += 1
                            assert says(health, line.text, span.text), (tab, line.text)
            for table in app.screen.query(VirtualTable):
                for item in table.items:
                    first = table._columns[0].cell(item, 0)
                    seen += 1
                    assert str(item.health) in first.text or first.text.startswith(item.health.glyph)
        assert seen or state == "empty"


def says(health: Health, text: str, part: str) -> bool:
    """Whether a line says how it is: by the sign, the part itself in words, or, of what is unknown, in a sentence."""
    return health.glyph in text or health is Health.UNKNOWN or "retry" in part or "stop" in part


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
async def test_nothing_but_grey_reaches_a_terminal_without_colours(
    lives: Lives, shown: Any, monkeypatch: pytest.MonkeyPatch, theme: Any
) -> None:
    """After the toolkit's filters no cell of the screen has a hue."""
    monkeypatch.setenv("NO_COLOR", "1")
    app = lives("incident").app(theme=theme.name)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot)
        for strip in app.screen._compositor.render_strips():
            painted = strip
            for each in app.get_line_filters():
                painted = painted.apply_filter(each, Color.parse("#000000"))
            for segment in painted:
                for color in (segment.style.color, segment.style.bgcolor) if segment.style else ():
                    assert color is None or len(set(color.get_truecolor())) == 1
