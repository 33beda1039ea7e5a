"""The way to a screen, in one line."""

from __future__ import annotations

from mqvitals_agent.text.styled import Line, Span, Tone
from mqvitals_agent.text.terminal import cells


def trail_line(names: tuple[str, ...], width: int) -> Line:
    """The names of places and objects in ``width`` cells; where they are too long, the middle is left out."""
    parts = list(names)
    while len(parts) > 2 and cells(" › ".join(parts)) + 1 > width:
        del parts[2 if parts[1] == "…" and len(parts) > 3 else 1]
        if parts[1] != "…" and len(parts) > 2:
            parts[1] = "…"
    before = "".join(f"{part} › " for part in parts[:-1])
    return Line((Span(f" {before}", Tone.FAINT), Span(parts[-1], Tone.STRONG)))
