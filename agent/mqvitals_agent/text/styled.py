"""Lines of styled spans: what a person sees, and what each piece means. The terminal interface paints them, ``ansi`` prints them."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.terminal import cells


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


_RULE = "─"


def heading(title: str, width: int) -> Line:
    """A title with a rule behind it."""
    return Line((Span(f"{title} ", Tone.STRONG), Span(_RULE * max(width - cells(title) - 1, 0), Tone.FAINT)))


def is_heading(line: Line) -> bool:
    """Whether ``heading`` made a line."""
    return len(line.spans) == 2 and line.spans[0].tone is Tone.STRONG and not line.spans[1].text.strip(_RULE)
