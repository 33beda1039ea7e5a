"""The themes: dark, light, high contrast, and one for colour-blind people. Every tone is readable on every background a
theme uses; docs/screen-design.md has the colours and their contrast.

The names of the variables are Textual's, so the widgets also work, with less contrast, with any other theme.
"""

from __future__ import annotations

from textual.theme import Theme

DARK = Theme(
    name="mqvitals-dark",
    dark=True,
    primary="#4aa8d8",
    secondary="#7f8fa6",
    accent="#e08bf0",
    warning="#f2c14e",
    error="#ff6b6b",
    success="#63d489",
    foreground="#e3e8ee",
    background="#101418",
    surface="#151b21",
    panel="#1c242c",
    variables={
        "text-error": "#ff7f7f",
        "text-warning": "#f2c14e",
        "text-success": "#63d489",
        "text-primary": "#5cc8e8",
        "text-accent": "#e59bf3",
        "text-muted": "#a9b4c0",
        "text-secondary": "#c4a878",
        "text-disabled": "#919ba7",
        "primary-muted": "#1d3143",
        "block-cursor-blurred-background": "#1f262e",
        "secondary-lighten-1": "#6f9fc4",
        "primary-lighten-1": "#5fb6a4",
        "warning-lighten-1": "#bcbf58",
    },
)

LIGHT = Theme(
    name="mqvitals-light",
    dark=False,
    primary="#0a6c94",
    secondary="#5b6b80",
    accent="#8a1f9c",
    warning="#8a5a00",
    error="#b3161f",
    success="#1c6b34",
    foreground="#1a1f25",
    background="#fbfbf8",
    surface="#f3f3ee",
    panel="#e6e9ec",
    variables={
        "text-error": "#b00f1a",
        "text-warning": "#714b00",
        "text-success": "#17602d",
        "text-primary": "#075873",
        "text-accent": "#851b97",
        "text-muted": "#47515b",
        "text-secondary": "#674f1f",
        "text-disabled": "#545e68",
        "primary-muted": "#cfe1f4",
        "block-cursor-blurred-background": "#e2e6ea",
        "secondary-lighten-1": "#3a5c7c",
        "primary-lighten-1": "#1c645c",
        "warning-lighten-1": "#66590a",
    },
)

CONTRAST = Theme(
    name="mqvitals-contrast",
    dark=True,
    primary="#5ee7ff",
    secondary="#d0d0d0",
    accent="#ff9dff",
    warning="#ffe14d",
    error="#ff8080",
    success="#5dff8f",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#1c1c1c",
    variables={
        "text-error": "#ff9191",
        "text-warning": "#ffe14d",
        "text-success": "#5dff8f",
        "text-primary": "#5ee7ff",
        "text-accent": "#ffa8ff",
        "text-muted": "#dadada",
        "text-secondary": "#f0cf98",
        "text-disabled": "#c0c0c0",
        "primary-muted": "#003c7a",
        "block-cursor-blurred-background": "#2a2a2a",
        "secondary-lighten-1": "#9fc8ea",
        "primary-lighten-1": "#8fe3d2",
        "warning-lighten-1": "#dce26a",
    },
)

COLOUR_BLIND = Theme(
    name="mqvitals-colour-blind",
    dark=True,
    primary="#9fd8ff",
    secondary="#7d8ea6",
    accent="#f0a6d8",
    warning="#f5e04f",
    error="#ff8f66",
    success="#5cb8ff",
    foreground="#e8ecf1",
    background="#0e1116",
    surface="#141920",
    panel="#1b222b",
    variables={
        "text-error": "#ff8f66",
        "text-warning": "#f5e04f",
        "text-success": "#5cb8ff",
        "text-primary": "#9fd8ff",
        "text-accent": "#f0a6d8",
        "text-muted": "#a9b4c0",
        "text-secondary": "#b9ad97",
        "text-disabled": "#919ba7",
        "primary-muted": "#17304a",
        "block-cursor-blurred-background": "#202830",
        "secondary-lighten-1": "#7d9cc0",
        "primary-lighten-1": "#86b3cf",
        "warning-lighten-1": "#cbb87a",
    },
)
"""Good is blue, a warning yellow, critical orange: no pair of states rests on red against green."""

THEMES = (DARK, LIGHT, CONTRAST, COLOUR_BLIND)
"""All themes, the default first."""

GROUNDS = ("background", "surface", "panel", "primary-muted", "block-cursor-blurred-background")
"""The variables of backgrounds: tones must be readable on each."""
