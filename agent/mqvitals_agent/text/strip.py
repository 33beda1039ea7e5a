"""A heat strip: the states of one thing over time, one cell a stretch: ``▁▁▁▅██▁ ▁▁``.

The worse a state is, the higher and the warmer is its cell, so that it says the same without colours.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Span, Tone, tone_of

_HEIGHTS: Final = {
    Health.OK: "▁",
    Health.INFO: "▂",
    Health.UNKNOWN: "░",
    Health.WARNING: "▅",
    Health.CRITICAL: "█",
}

STRIP_GLYPHS: Final = frozenset(_HEIGHTS.values())
"""What a strip is drawn with, beside blanks."""


def strip(states: Iterable[Health | None]) -> tuple[Span, ...]:
    """A row of cells, one a stretch of time: the worse the state, the higher and the warmer; None (no data) is a hole.

    Cells of one state that follow each other are one span.
    """
    spans: list[Span] = []
    for state in states:
        glyph, tone = (" ", Tone.PLAIN) if state is None else (_HEIGHTS[state], _strip_tone(state))
        if spans and spans[-1].tone is tone:
            spans[-1] = spans[-1]._replace(text=spans[-1].text + glyph)
        else:
            spans.append(Span(glyph, tone))
    return tuple(spans)


def _strip_tone(state: Health) -> Tone:
    """A long time in health is calm to look at: it is not painted in the colour of a sign."""
    return Tone.CALM if state is Health.OK else tone_of(state)
