"""The title of a part of a screen."""

from __future__ import annotations

from mqvitals_agent.view.table import Line, Span, Tone
from mqvitals_agent.view.text import cells


def heading(title: str, width: int) -> Line:
    """A title with a rule behind it."""
    return Line((Span(f"{title} ", Tone.STRONG), Span("─" * max(width - cells(title) - 1, 0), Tone.FAINT)))
