"""The title of a part of a screen."""

from __future__ import annotations

from mqvitals_agent.view.styled import Line, Span, Tone
from mqvitals_agent.view.text import cells

_RULE = "─"


def heading(title: str, width: int) -> Line:
    """A title with a rule behind it."""
    return Line((Span(f"{title} ", Tone.STRONG), Span(_RULE * max(width - cells(title) - 1, 0), Tone.FAINT)))


def is_heading(line: Line) -> bool:
    """Whether ``heading`` made a line."""
    return len(line.spans) == 2 and line.spans[0].tone is Tone.STRONG and not line.spans[1].text.strip(_RULE)
