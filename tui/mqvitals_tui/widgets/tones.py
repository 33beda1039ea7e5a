"""How a tone looks: one component class for each, coloured by the theme's variables, never by fixed colours.

Without colours (``NO_COLOR``), and in the theme of high contrast, the tones differ by weight, slant, underline or reversal
as well. What is drawn with blocks or dots has none of these: a low block reversed reads as a high one, and a line under
blank dots as a curve. The words beside a drawing have the tone and its attributes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from mqvitals_agent.text.chart import BLOCKS
from mqvitals_agent.text.styled import Line, Tone
from mqvitals_agent.text.terminal import cut, fit, safe


class Look(NamedTuple):
    """A tone's theme variable, its text style, and its text style where there are no colours."""

    variable: str
    style: str
    colourless: str


LOOKS = {
    Tone.FAINT: Look("text-muted", "none", "dim"),
    Tone.STRONG: Look("foreground", "bold", "bold"),
    Tone.STALE: Look("text-secondary", "italic", "italic"),
    Tone.ABSENT: Look("text-disabled", "none", "underline italic"),
    Tone.UNKNOWN: Look("text-accent", "none", "bold italic"),
    Tone.OK: Look("text-success", "none", "none"),
    Tone.INFO: Look("text-primary", "none", "underline"),
    Tone.WARNING: Look("text-warning", "bold", "bold underline"),
    Tone.CRITICAL: Look("text-error", "bold", "bold reverse"),
}
"""Plain text has no look of its own: it is as its row is. OK is told by its glyph, which no other tone has."""

TONE_CLASSES = frozenset(f"tone--{tone.value}" for tone in LOOKS)
"""What a widget that paints tones adds to its COMPONENT_CLASSES."""


def tone_css(widget: str) -> str:
    """The rules of all tones for a widget class of this name, to be part of its DEFAULT_CSS."""
    rules = []
    for tone, look in LOOKS.items():
        rules.append(f"{widget} > .tone--{tone.value} {{ color: ${look.variable}; text-style: {look.style}; }}")
        # The toolkit dims by mixing with what is behind: from the full colour it stays readable.
        color = "color: $foreground; " if look.colourless == "dim" else ""
        rules.append(f"{widget}:nocolor > .tone--{tone.value} {{ {color}text-style: {look.colourless}; }}")
    return "\n".join(rules)


def attribute_css(widgets: Iterable[str], within: str) -> str:
    """The rules that give the tones of these widget classes the looks without colours too, inside the class ``within``.

    Not dim, however: that would take away the contrast for which such a theme is chosen.
    """
    return "\n".join(
        f".{within} {widget} > .tone--{tone.value} {{ text-style: {look.colourless}; }}"
        for widget in widgets
        for tone, look in LOOKS.items()
        if look.colourless != "dim"
    )


def tone_style(widget: Widget, tone: Tone, ground: Style) -> Style:
    """The style of ``tone`` on a row of style ``ground``, in a widget that has the tones' component classes."""
    if tone is Tone.PLAIN:
        return ground
    own = widget.get_component_rich_style(f"tone--{tone.value}")
    return ground + own.without_color + Style(color=own.color)


_DRAWN = frozenset((*BLOCKS, *map(chr, range(0x2800, 0x2900))))
_BARE = Style(bold=False, italic=False, underline=False, reverse=False)


def is_drawn(text: str) -> bool:
    """Whether a text is a drawing: blocks or braille dots, with blanks between them or not."""
    return not text.isascii() and not set(text) - _DRAWN - {" "}


def span_style(widget: Widget, tone: Tone, ground: Style, text: str) -> Style:
    """The style of ``text`` in ``tone``: of a drawing the colours alone, and that it is dim, which hides nothing of it."""
    style = tone_style(widget, tone, ground)
    return style + _BARE if is_drawn(text) else style


def fitted(text: str, width: int, *, right: bool = False) -> str:
    """``text``, made safe, in exactly ``width`` cells: ours by our measure, and where the toolkit's differs, by its."""
    text = fit(safe(text), width, right=right)
    if text.isascii() or cell_len(text) == width:
        return text
    return set_cell_size(text, width)


def paint(widget: Widget, line: Line, width: int, ground: Style) -> Strip:
    """The line in ``width`` cells, what does not fit cut with an ellipsis."""
    segments: list[Segment] = []
    left = width
    for position, span in enumerate(line.spans):
        text = safe(span.text)
        size = cell_len(text)
        more = any(later.text.strip() for later in line.spans[position + 1 :])
        if size > left or (size == left and more):
            text = set_cell_size(cut(text, left) if size > left else cut(text + " ", left), left)
            size = left
        segments.append(Segment(text, span_style(widget, span.tone, ground, text)))
        left -= size
        if left <= 0:
            break
    if left > 0:
        segments.append(Segment(" " * left, ground))
    return Strip(segments, width)
