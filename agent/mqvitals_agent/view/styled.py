"""Lines of styled text: what a person sees, as spans with the meaning of each. The screens paint them, ``ansi`` prints them."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from mqvitals_agent.view.severity import Health


class Tone(Enum):
    """How a piece of text is meant; the words say it too. Each looks different from the others in every theme."""

    PLAIN = "plain"
    FAINT = "faint"  # what matters less: titles, units, zeros of no interest
    STRONG = "strong"
    STALE = "stale"  # a figure that is too old to tell how it is now
    ABSENT = "absent"  # there is no figure, and the text says why
    UNKNOWN = "unknown"
    OK = "ok"
    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


def tone_of(health: Health) -> Tone:
    """The tone of a health."""
    return Tone(health.word)


class Span(NamedTuple):
    """A piece of a line of styled text."""

    text: str
    tone: Tone = Tone.PLAIN


class Line(NamedTuple):
    """A line of styled text; ``key`` names what Enter on it opens (an object's whole name), empty: nothing."""

    spans: tuple[Span, ...]
    key: str = ""

    @property
    def text(self) -> str:
        """The plain text."""
        return "".join(span.text for span in self.spans)


def line(text: str = "", tone: Tone = Tone.PLAIN, key: str = "") -> Line:
    """A line of one tone."""
    return Line((Span(text, tone),), key)
