"""Styled lines painted in the colours of the theme: a component class for each tone, ``paint``, and the widgets of a
few lines.

Without colours (``NO_COLOR``), and in the high-contrast theme, tones differ by weight, slant, underline or reversal as
well. What is drawn with blocks or dots has none of these: a reversed low block reads as a high one, and underlined
blank dots as a curve. The words beside a drawing have the tone and its attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.color import Color
from textual.filter import LineFilter
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from mqvitals_agent.text.meter import METER_GLYPHS
from mqvitals_agent.text.sparkline import BLOCKS
from mqvitals_agent.text.strip import STRIP_GLYPHS
from mqvitals_agent.text.styled import Line, Tone, line
from mqvitals_agent.text.symbols import Symbols, drawn
from mqvitals_agent.text.terminal import cut, fit, safe
from mqvitals_tui.widgets.changed_cells import ShownLines


class ToneStyle(NamedTuple):
    """A tone's theme variable, its text style, and its text style where there are no colours."""

    variable: str
    style: str
    colourless: str


TONE_STYLES = {
    Tone.FAINT: ToneStyle("text-muted", "none", "dim"),
    Tone.STRONG: ToneStyle("foreground", "bold", "bold"),
    Tone.STALE: ToneStyle("text-secondary", "italic", "italic"),
    Tone.ABSENT: ToneStyle("text-disabled", "none", "underline italic"),
    Tone.UNKNOWN: ToneStyle("text-accent", "none", "bold italic"),
    Tone.OK: ToneStyle("text-success", "none", "none"),
    Tone.INFO: ToneStyle("text-primary", "none", "underline"),
    Tone.WARNING: ToneStyle("text-warning", "bold", "bold underline"),
    Tone.CRITICAL: ToneStyle("text-error", "bold", "bold reverse"),
    Tone.CALM: ToneStyle("secondary-lighten-1", "none", "none"),
    Tone.RISING: ToneStyle("primary-lighten-1", "none", "none"),
    Tone.NEAR: ToneStyle("warning-lighten-1", "none", "none"),
}
"""Plain text has the style of its row. OK has no attributes: its glyph is unique; those of meters
have none: their length says the same."""

SHADED = "shaded"
"""The component class of the ground of shaded spans."""

TONE_CLASSES = frozenset((SHADED, *(f"tone--{tone.value}" for tone in TONE_STYLES)))
"""The component classes of a widget that paints tones."""


def tone_css(widget: str) -> str:
    """The CSS rules of all tones for a widget class of this name, for its DEFAULT_CSS."""
    rules = [f"{widget} > .{SHADED} {{ background: $panel; }}"]
    for tone, look in TONE_STYLES.items():
        rules.append(f"{widget} > .tone--{tone.value} {{ color: ${look.variable}; text-style: {look.style}; }}")
        # Textual dims by mixing with the background: from the full colour it stays readable.
        color = "color: $foreground; " if look.colourless == "dim" else ""
        rules.append(f"{widget}:nocolor > .tone--{tone.value} {{ {color}text-style: {look.colourless}; }}")
    return "\n".join(rules)


def attribute_css(widgets: Iterable[str], within: str) -> str:
    """The rules that give the tones of these widget classes the attributes of the colourless style, inside the CSS
    class ``within``.

    Except dim, which would reduce the contrast for which such a theme is chosen.
    """
    return "\n".join(
        f".{within} {widget} > .tone--{tone.value} {{ text-style: {look.colourless}; }}"
        for widget in widgets
        for tone, look in TONE_STYLES.items()
        if look.colourless != "dim"
    )


class TonedWidget(Widget):
    """A widget that has the tones' component classes: what they look like is found out once for each state of its style.

    The toolkit forgets it at every repaint, if only of a few cells.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._tones: dict[tuple[Tone, Style], Style] = {}
        self._ground: Style | None = None

    @property
    def ground(self) -> Style:
        """The style of plain text."""
        if self._ground is None:
            self._ground = self.rich_style
        return self._ground

    def tone_style(self, tone: Tone, ground: Style) -> Style:
        """The style of ``tone`` on a row of style ``ground``."""
        if tone is Tone.PLAIN:
            return ground
        found = self._tones.get((tone, ground))
        if found is None:
            own = self.get_component_rich_style(f"tone--{tone.value}")
            found = self._tones[tone, ground] = ground + own.without_color + Style(color=own.color)
        return found

    def notify_style_update(self) -> None:
        """The theme, the focus or a class changed."""
        super().notify_style_update()
        self._tones.clear()
        self._ground = None


_DRAWN = frozenset((*BLOCKS, *METER_GLYPHS, *STRIP_GLYPHS, *map(chr, range(0x2800, 0x2900))))
_BARE = Style(bold=False, italic=False, underline=False, reverse=False)


def is_drawn(text: str) -> bool:
    """Whether a text is a drawing: blocks or braille dots, with or without blanks."""
    return not text.isascii() and not set(text) - _DRAWN - {" "}


def span_style(widget: TonedWidget, tone: Tone, ground: Style, text: str, *, bold: bool | None = None) -> Style:
    """The style of ``text`` in ``tone``; a drawing has its colours and dimming alone. ``bold`` is that of a span."""
    style = widget.tone_style(tone, ground)
    if bold is not None:
        style += Style(bold=bold)
    return style + _BARE if is_drawn(text) else style


def fitted(text: str, width: int, *, right: bool = False) -> str:
    """``text``, made safe, in exactly ``width`` cells, as Textual measures them."""
    text = fit(safe(text), width, right=right)
    if text.isascii() or cell_len(text) == width:
        return text
    return set_cell_size(text, width)


def paint(widget: TonedWidget, line: Line, width: int, ground: Style) -> Strip:
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
        under = ground + Style(bgcolor=widget.get_component_rich_style(SHADED).bgcolor) if span.shaded else ground
        segments.append(Segment(text, span_style(widget, span.tone, under, text, bold=span.bold)))
        left -= size
        if left <= 0:
            break
    if left > 0:
        segments.append(Segment(" " * left, ground))
    return Strip(segments, width)


class SymbolFilter(LineFilter):
    """Translates all that is painted into a set of symbols, cell for cell."""

    def __init__(self, symbols: Symbols) -> None:
        super().__init__(enabled=symbols is not Symbols.BRAILLE)
        self.symbols = symbols

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 - the toolkit's signature
        """The segments with their texts in these symbols."""
        return [
            segment if segment.control or segment.text.isascii() else segment._replace(text=self._drawn(segment.text))
            for segment in segments
        ]

    def _drawn(self, text: str) -> str:
        shown, size = drawn(text, self.symbols), cell_len(text)
        # The toolkit measures some characters otherwise.
        return shown if cell_len(shown) == size else set_cell_size(shown, size)


class Banner(TonedWidget):
    """A few styled lines; its height is their number, and it is hidden without any."""

    DEFAULT_CSS = "Banner { height: 1; width: 1fr; background: $panel; color: $foreground; }\n" + tone_css("Banner")
    COMPONENT_CLASSES: ClassVar[set[str]] = set(TONE_CLASSES)

    class Clicked(Message):
        """A click on the cell ``x`` of the line ``y``."""

        def __init__(self, banner: Banner, x: int, y: int) -> None:
            super().__init__()
            self.banner = banner
            self.x = x
            self.y = y

        @property
        def control(self) -> Banner:
            """The banner, for ``@on`` with a selector."""
            return self.banner

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - the toolkit's word
        super().__init__(id=id, classes=classes)
        self._lines: tuple[Line, ...] = ()
        self._turned = 0
        self._shown = ShownLines()
        self.display = False

    @property
    def turned(self) -> int:
        """How many lines are painted in reverse."""
        return self._turned

    def show(self, lines: Sequence[Line], *, turned: int = 0) -> None:
        """Show these lines, the first ``turned`` ones in reverse."""
        lines = tuple(lines)
        if lines == self._lines and turned == self._turned:
            return
        self._turned = turned
        same = len(lines) == len(self._lines)
        if not same:
            self.styles.height = len(lines)
            self.display = bool(lines)
        self._lines = lines
        if same:
            self._shown.refresh(self, len(lines), self._line_at)
        else:
            self.refresh()

    @property
    def text(self) -> str:
        """The plain text of the lines."""
        return "\n".join(each.text for each in self._lines)

    def words_at(self, x: int, y: int) -> str:
        """The span that has the cell ``x`` of the line ``y``; empty where there is none."""
        end = 0
        for span in self._lines[y].spans if y < len(self._lines) else ():
            end += cell_len(span.text)
            if x < end:
                return span.text
        return ""

    def render_line(self, y: int) -> Strip:
        """One of the lines."""
        return self._shown.note(y, self._line_at(y))

    def _line_at(self, y: int) -> Strip:
        strip = paint(self, self._lines[y] if y < len(self._lines) else line(), self.size.width, self.ground)
        return strip.apply_style(Style(reverse=True)) if y < self._turned else strip

    def on_click(self, event: events.Click) -> None:
        """Post ``Clicked``."""
        offset = event.get_content_offset(self)
        if offset is not None:
            self.post_message(self.Clicked(self, offset.x, offset.y))


class StatusBar(Banner):
    """The keys of the screen; docked at the bottom."""

    DEFAULT_CSS = "StatusBar { dock: bottom; }"
