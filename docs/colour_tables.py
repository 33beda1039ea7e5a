"""Writes the tables of screen-design.md: the colours of each theme and their contrast, from themes.py: ``make docs``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from textual.color import Color
from textual.theme import Theme

from mqvitals_agent.text.styled import Tone
from mqvitals_tui.themes import GROUNDS, THEMES
from mqvitals_tui.widgets.painting import TONE_STYLES


def luminance(colour: Color) -> float:
    """The relative luminance of WCAG 2, 0 to 1."""

    def linear(part: int) -> float:
        value = part / 255
        return value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = map(linear, colour.rgb)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Color, other: Color) -> float:
    """The contrast ratio of WCAG 2, 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def colours(theme: Theme) -> Iterator[str]:
    """A theme's table: each tone, its colour, and its contrast with the plain ground and with the least fitting one."""
    variables = theme.to_color_system().generate() | theme.variables
    grounds = [Color.parse(variables[name]) for name in GROUNDS]
    yield "| Tone | Colour | On the background | On the worst ground |"
    yield "|---|---|--:|--:|"
    for tone in Tone:
        name = TONE_STYLES[tone].variable if tone in TONE_STYLES else "foreground"
        ratios = [contrast(Color.parse(variables[name]), ground) for ground in grounds]
        # Rounded down: 4.49 is not 4.5.
        words = [f"{int(10 * ratio) / 10:.1f}" for ratio in (ratios[0], min(ratios))]
        yield f"| {tone.value} | `{variables[name]}` | {words[0]} | {words[1]} |"


def _whole(text: str, _: re.Match[str]) -> str:
    """A replacement that is taken as it is."""
    return text


def with_tables(page: str) -> str:
    """The page with the tables as they are now, each between its marks."""
    for theme in THEMES:
        begin, end = f"<!-- {theme.name} -->", f"<!-- end of {theme.name} -->"
        table = "\n".join(colours(theme))
        page = re.sub(f"{begin}.*?{end}", partial(_whole, f"{begin}\n{table}\n{end}"), page, flags=re.DOTALL)
    return page


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_tables(path.read_text(encoding="utf-8")), encoding="utf-8")
