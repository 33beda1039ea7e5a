"""Colour, in one place: severities on a terminal that wants it. The words and glyphs say the same without."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mqvitals_agent.text.severity import Health

COLOUR_VARIABLE = "MQVITALS_COLOR"
"""``always`` colours what is not a terminal too, ``never`` nothing; for programs that pass our output on."""

_RESET = "\x1b[0m"
_DIM = "\x1b[2m"
_BOLD = "\x1b[1m"

# The terminal's own palette, so that light and dark ones stay readable.
_COLOURS = {
    Health.OK: "\x1b[32m",
    Health.INFO: "\x1b[36m",
    Health.UNKNOWN: "\x1b[35m",
    Health.WARNING: "\x1b[1;33m",
    Health.CRITICAL: "\x1b[1;31m",
}


def wants_colour(environ: Mapping[str, str], *, terminal: bool) -> bool:
    """Whether to colour: on a terminal, unless NO_COLOR is set or the terminal is a dumb one."""
    word = environ.get(COLOUR_VARIABLE, "")
    if environ.get("NO_COLOR") or word == "never":
        return False
    return word == "always" or (terminal and environ.get("TERM", "") != "dumb")


@dataclass(frozen=True, slots=True)
class Painter:
    """Colours text when ``colour`` is true; else gives it back as it is."""

    colour: bool = False

    def sign(self, text: str, health: Health) -> str:
        """``text`` in the colour of a health."""
        return f"{_COLOURS[health]}{text}{_RESET}" if self.colour and text else text

    def line(self, text: str, health: Health) -> str:
        """A line whose glyph and word stand at its beginning, coloured there."""
        sign = str(health)
        return self.sign(sign, health) + text[len(sign) :] if text.startswith(sign) else text

    def title(self, text: str) -> str:
        """A heading."""
        return f"{_BOLD}{text}{_RESET}" if self.colour and text else text

    def faint(self, text: str) -> str:
        """What matters less, such as the titles of columns."""
        return f"{_DIM}{text}{_RESET}" if self.colour and text else text
