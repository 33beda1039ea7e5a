"""The themes: dark, light, high contrast, and one for colour-blind people. Every tone is readable on every background a
theme uses; docs/screen-design.md has the colours and their contrast.

The names of the variables are Textual's, so the widgets also work, with less contrast, with any other theme.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from textual.theme import Theme

_Colours = Mapping[str, tuple[str, str, str, str]]
"""By name, a colour for each theme: dark, light, high contrast, for colour-blind people."""

_COLOURS: Final[_Colours] = {
    "primary": ("#4aa8d8", "#0a6c94", "#5ee7ff", "#9fd8ff"),
    "secondary": ("#7f8fa6", "#5b6b80", "#d0d0d0", "#7d8ea6"),
    "accent": ("#e08bf0", "#8a1f9c", "#ff9dff", "#f0a6d8"),
    "warning": ("#f2c14e", "#8a5a00", "#ffe14d", "#f5e04f"),
    "error": ("#ff6b6b", "#b3161f", "#ff8080", "#ff8f66"),
    "success": ("#63d489", "#1c6b34", "#5dff8f", "#5cb8ff"),
    "foreground": ("#e3e8ee", "#1a1f25", "#ffffff", "#e8ecf1"),
    "background": ("#101418", "#fbfbf8", "#000000", "#0e1116"),
    "surface": ("#151b21", "#f3f3ee", "#000000", "#141920"),
    "panel": ("#1c242c", "#e6e9ec", "#1c1c1c", "#1b222b"),
}

_VARIABLES: Final[_Colours] = {
    "text-error": ("#ff7f7f", "#b00f1a", "#ff9191", "#ff8f66"),
    "text-warning": ("#f2c14e", "#714b00", "#ffe14d", "#f5e04f"),
    "text-success": ("#63d489", "#17602d", "#5dff8f", "#5cb8ff"),
    "text-primary": ("#5cc8e8", "#075873", "#5ee7ff", "#9fd8ff"),
    "text-accent": ("#e59bf3", "#851b97", "#ffa8ff", "#f0a6d8"),
    "text-muted": ("#a9b4c0", "#47515b", "#dadada", "#a9b4c0"),
    "text-secondary": ("#c4a878", "#674f1f", "#f0cf98", "#b9ad97"),
    "text-disabled": ("#919ba7", "#545e68", "#c0c0c0", "#919ba7"),
    "primary-muted": ("#1d3143", "#cfe1f4", "#003c7a", "#17304a"),
    "block-cursor-blurred-background": ("#1f262e", "#e2e6ea", "#2a2a2a", "#202830"),
    "secondary-lighten-1": ("#6f9fc4", "#3a5c7c", "#9fc8ea", "#7d9cc0"),
    "primary-lighten-1": ("#5fb6a4", "#1c645c", "#8fe3d2", "#86b3cf"),
    "warning-lighten-1": ("#bcbf58", "#66590a", "#dce26a", "#cbb87a"),
}


def _theme(place: int, name: str, *, dark: bool = True) -> Theme:
    own: dict[str, Any] = {key: colours[place] for key, colours in _COLOURS.items()}
    variables = {key: colours[place] for key, colours in _VARIABLES.items()}
    return Theme(name=f"mqvitals-{name}", dark=dark, variables=variables, **own)


DARK = _theme(0, "dark")
LIGHT = _theme(1, "light", dark=False)
CONTRAST = _theme(2, "contrast")
COLOUR_BLIND = _theme(3, "colour-blind")
"""Good is blue, a warning yellow, critical orange: no pair of states rests on red against green."""

THEMES = (DARK, LIGHT, CONTRAST, COLOUR_BLIND)
"""All themes, the default first."""

GROUNDS = ("background", "surface", "panel", "primary-muted", "block-cursor-blurred-background")
"""The variables of backgrounds: tones must be readable on each."""
