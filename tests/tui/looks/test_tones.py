"""Every tone is readable in every theme and looks different from the others, with colours and without."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from math import dist
from operator import mul
from pathlib import Path
from typing import Any

import pytest
from rich.color import Color as RichColor
from rich.style import Style
from textual.app import App, ComposeResult
from textual.color import Color
from textual.theme import Theme

from mqvitals_agent.text.styled import Line, Span, Tone
from mqvitals_tui.themes import COLOUR_BLIND, CONTRAST, DARK, GROUNDS, LIGHT, THEMES
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.painting import TONE_STYLES, TonedWidget, fitted

Lives = Callable[[str], Any]

DOCS = Path(__file__).parents[3] / "docs"

LEAST = 4.5
"""The contrast that the web's accessibility guidelines ask of text."""


def luminance(color: Color) -> float:
    def channel(value: float) -> float:
        return value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = (channel(part / 255) for part in color.rgb)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Color, other: Color) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def pairs() -> Iterator[tuple[str, str, str, Color, Color]]:
    for theme in THEMES:
        variables = theme.to_color_system().generate() | theme.variables
        for ground in GROUNDS:
            for tone in Tone:
                name = TONE_STYLES[tone].variable if tone in TONE_STYLES else "foreground"
                yield theme.name, tone.value, ground, Color.parse(variables[name]), Color.parse(variables[ground])


def test_every_tone_is_readable_on_every_ground() -> None:
    """The contrast of each tone with each background of each theme is 4.5 or more."""
    poor = [
        f"{theme}: {tone} on {ground} {contrast(text, behind):.2f}"
        for theme, tone, ground, text, behind in pairs()
        if contrast(text, behind) < LEAST
    ]
    assert poor == []


def test_high_contrast_theme_deserves_its_name() -> None:
    """There the contrast with the plain background is 7 or more for all."""
    for theme, tone, ground, text, behind in pairs():
        if theme == CONTRAST.name and ground == "background":
            assert contrast(text, behind) >= 7, tone


def test_the_page_of_the_design_has_these_colours() -> None:
    """Each tone with its colour, and with its contrast rounded down: none below the least."""
    page = (DOCS / "screen-design.md").read_text("utf-8")
    assert runpy.run_path(str(DOCS / "colour_tables.py"))["with_tables"](page) == page
    for theme in THEMES:
        rows = re.findall(
            r"^\| (\w+) \| `#\w+` \| ([\d.]+) \| ([\d.]+) \|$", page.partition(f"-- {theme.name} --")[2], re.MULTILINE
        )
        for (tone, plain, worst), expected in zip(rows[: len(Tone)], Tone, strict=True):
            ratios = [
                contrast(text, behind)
                for name, each, _, text, behind in pairs()
                if (name, each) == (theme.name, expected.value)
            ]
            assert tone == expected.value
            assert 0 <= ratios[0] - float(plain) < 0.11
            assert 0 <= min(ratios) - float(worst) < 0.11
            assert float(worst) >= LEAST


DEFICIENCIES = {
    "no red cones": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "no green cones": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "no blue cones": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
"""What is left of linear red, green and blue, after Machado, Oliveira and Fernandes (2009)."""

APART = 15
"""A distance in CIE L*a*b* that nobody overlooks; 2.3 can just be told apart."""


def seen_by(rows: Sequence[Sequence[float]], color: Color) -> tuple[float, float, float]:
    """A colour as an eye without some cones sees it, in L*a*b* under D65."""

    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    def root(value: float) -> float:
        return value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116

    parts = [linear(part / 255) for part in color.rgb]
    red, green, blue = (min(max(sum(map(mul, row, parts)), 0.0), 1.0) for row in rows)
    x = root((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047)
    y = root(0.2126 * red + 0.7152 * green + 0.0722 * blue)
    z = root((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_states_stay_apart_for_colour_blind_people(deficiency: str) -> None:
    """In their theme OK, unknown, warning and critical are told apart by colour too, whichever cones are missing."""
    looks = {
        tone: seen_by(DEFICIENCIES[deficiency], text)
        for theme, tone, ground, text, _ in pairs()
        if (theme, ground) == (COLOUR_BLIND.name, "background")
    }
    for one, other in combinations((Tone.OK, Tone.UNKNOWN, Tone.WARNING, Tone.CRITICAL), 2):
        assert dist(looks[one.value], looks[other.value]) >= APART, (one, other)


class Toned(App[None]):
    """All tones, one to a line."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.wanted = theme

    def compose(self) -> ComposeResult:
        yield LinesView()

    def on_mount(self) -> None:
        self.register_theme(self.wanted)
        self.theme = self.wanted.name
        self.query_one(LinesView).show([Line((Span(tone.value, tone),)) for tone in Tone])


async def painted(theme: Theme) -> dict[Tone, Style]:
    """The style that reaches the terminal for each tone, after the toolkit's filters."""
    app = Toned(theme)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        view = app.query_one(LinesView)
        found = {}
        for y, tone in enumerate(Tone):
            strip = view.render_line(y)
            for each in app._filters:
                strip = strip.apply_filter(each, Color.parse(theme.background or "#000000"))
            found[tone] = next(iter(strip)).style or Style()
        return found


def attributes(style: Style) -> tuple[bool | None, ...]:
    parts = (style.bold, style.italic, style.underline, style.reverse, style.strike, style.dim)
    return tuple(bool(part) for part in parts)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
async def test_tones_differ_in_every_theme(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    """No two tones look the same."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    looks = await painted(theme)
    for one, other in combinations(Tone, 2):
        assert looks[one] != looks[other], (one, other)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
async def test_tones_differ_without_colours(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    """With NO_COLOR all is grey, and what must not be mistaken differs by weight, slant, line or reversal."""
    monkeypatch.setenv("NO_COLOR", "1")
    looks = await painted(theme)
    for style in looks.values():
        for color in (style.color, style.bgcolor):
            assert color is None or grey(color)
    telling = (Tone.PLAIN, Tone.STALE, Tone.ABSENT, Tone.UNKNOWN, Tone.INFO, Tone.WARNING, Tone.CRITICAL)
    for one, other in combinations(telling, 2):
        assert attributes(looks[one]) != attributes(looks[other]), (one, other)
    for tone in telling[1:]:
        assert attributes(looks[tone]) != attributes(looks[Tone.OK]), tone


def grey(color: RichColor) -> bool:
    red, green, blue = color.get_truecolor()
    return red == green == blue


def test_themes_are_light_and_dark() -> None:
    """The toolkit is told which is which."""
    assert DARK.dark
    assert CONTRAST.dark
    assert not LIGHT.dark
    assert len({theme.name for theme in THEMES}) == len(THEMES)


@pytest.mark.parametrize("text", ["", "abc", "abcdefgh", "漢" * 9, "❤️❤️❤️", "\x1b[2J", "가가가", "[/x]"])
@pytest.mark.parametrize("width", [1, 2, 5, 7])
def test_fitted_text_takes_its_width_by_the_toolkits_measure(text: str, width: int) -> None:
    """Where ours and the toolkit's measure of a character differ, columns still line up."""
    from rich.cells import cell_len

    assert cell_len(fitted(text, width)) == width
    assert cell_len(fitted(text, width, right=True)) == width


async def test_tones_follow_theme_and_focus(lives: Lives, shown: Any) -> None:
    """What was found out for one theme, or without the focus, is not what is painted in another."""
    app = lives("incident").app()
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot)
        view = app.screen.query_one(LinesView)
        for theme in (*THEMES, THEMES[0]):
            app.use_theme(theme.name)
            for focus in (None, view):
                app.screen.set_focus(focus)
                await pilot.pause()
                for widget in app.screen.query(TonedWidget):
                    assert widget.ground == widget.rich_style
                    for tone in set(Tone) - {Tone.PLAIN}:
                        own = widget.get_component_rich_style(f"tone--{tone.value}")
                        found = widget.tone_style(tone, widget.ground)
                        assert (found.color, found.bgcolor) == (own.color, widget.rich_style.bgcolor)
