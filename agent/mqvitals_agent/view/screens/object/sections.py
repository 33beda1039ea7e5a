"""Sections of a page that a person folds away: each is a heading, and below it lines that are made only where they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from mqvitals_agent.text.styled import Line, Span, Tone, heading

OPEN, FOLDED = "▾", "▸"

FOLDED_AT_FIRST = ("rules ", "ways", "absent")
"""How the names of the sections begin that are folded until a person opens them."""


@dataclass(frozen=True, slots=True)
class PageState:
    """How a person has set a page.

    ``height`` is the number of lines in sight at once, 0: not known, so that nothing is moved out of sight. ``folded``
    says of the sections that a person has folded or opened which it was. ``span_ms`` is the length of the charts, ms, 0:
    that of what was read; ``ago_ms`` how long before their end their cursor stands, None: there is none. ``zoomed``:
    they go from the least to the greatest value.
    """

    height: int = 0
    folded: Mapping[str, bool] = field(default_factory=dict)
    span_ms: int = 0
    ago_ms: int | None = None
    zoomed: bool = False

    def is_folded(self, section: str) -> bool:
        """Whether a section is folded: as a person left it, else as it is at first."""
        return self.folded.get(section, section.startswith(FOLDED_AT_FIRST))


def section_lines(state: PageState, section: str, title: str, width: int, body: Iterable[Line]) -> Iterator[Line]:
    """The heading of a section and, unless it is folded, its lines; nothing of a section without lines."""
    lines = iter(body)
    first = next(lines, None)
    if first is None:
        return
    folded = state.is_folded(section)
    yield heading(f"{FOLDED if folded else OPEN} {title}", width)._replace(section=section)
    if not folded:
        yield first
        yield from lines


def folding_line(state: PageState, section: str, sign: Span, text: str, tone: Tone = Tone.FAINT) -> Line:
    """A line that Enter folds or opens, as a heading does, beginning with a sign of its own."""
    return Line((sign, Span(f"{FOLDED if state.is_folded(section) else OPEN} {text}", tone)), section=section)
