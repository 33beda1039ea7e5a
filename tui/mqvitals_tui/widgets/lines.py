"""A text of lines to read and walk: the cursor stops at those that lead somewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.cache import LRUCache
from textual.geometry import Size
from textual.strip import Strip

from mqvitals_agent.text.styled import Line, is_heading
from mqvitals_tui.widgets.cursor_view import CursorView
from mqvitals_tui.widgets.tones import TONE_CLASSES, paint, tone_css

_KEPT = 512


class LinesView(CursorView, can_focus=True):
    """Shows lines of toned text. Lines longer than the view are cut with an ellipsis: wrapping is the view model's."""

    DEFAULT_CSS = """
    LinesView { background: $background; color: $foreground; overflow-x: hidden; }
    LinesView > .lines--cursor { background: $block-cursor-blurred-background; }
    LinesView:focus > .lines--cursor { background: $primary-muted; text-style: bold; }
    LinesView:nocolor:focus > .lines--cursor { text-style: reverse; }
    LinesView:ansi:focus > .lines--cursor { text-style: reverse; }
    """ + tone_css("LinesView")
    COMPONENT_CLASSES: ClassVar[set[str]] = {"lines--cursor", *TONE_CLASSES}

    class Opened(CursorView.Opened):
        """Enter or a double click on the line of ``key``."""

    class Highlighted(CursorView.Highlighted):
        """The cursor came to the line of ``key``; empty: no line leads anywhere."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - the toolkit's word
        super().__init__(id=id, classes=classes)
        self._lines: tuple[Line, ...] = ()
        self._strips: LRUCache[object, Strip] = LRUCache(_KEPT)

    def show(self, lines: Sequence[Line]) -> None:
        """Show these lines; the cursor stays on the key it was on."""
        lines = tuple(lines)
        if lines == self._lines:
            return
        key = self.cursor_key
        self._lines = lines
        size = Size(0, len(self._lines))
        if size != self.virtual_size:
            self.virtual_size = size
        self._rows_changed(tuple(row for row, line in enumerate(self._lines) if line.key), key)

    def go_to_part(self, step: int) -> None:
        """To the first stop of a part so many parts on, or back; from the last to the first. A part begins with a heading.

        The heading and as much of its part as there is room for comes into sight. Without a part that has a stop nothing happens.
        """
        heads = [row for row, each in enumerate(self._lines) if is_heading(each)]
        parts = [
            (head, first, end)
            for head, end in zip(heads, [*heads[1:], len(self._lines)], strict=True)
            if head < (first := self._after(head)) < end
        ]
        if not parts:
            return
        here = sum(first <= self._cursor for _, first, _ in parts) - 1
        head, first, end = parts[(here + step) % len(parts)]
        self._move(first)
        top = self.scroll_offset.y
        self._scroll(min(max(top, end - self.page), head))

    @property
    def row_count(self) -> int:
        """How many lines there are."""
        return len(self._lines)

    @property
    def lines(self) -> tuple[Line, ...]:
        """What is shown."""
        return self._lines

    def key_at(self, row: int) -> str:
        """The key of a line."""
        return self._lines[row].key

    def notify_style_update(self) -> None:
        """The theme changed, or the focus: lines painted before are of no use."""
        super().notify_style_update()
        self._strips.clear()

    def _row_strip(self, row: int, width: int) -> Strip:
        line = self._lines[row]
        under = row == self._cursor
        key = (line.spans, under, width)
        strip = self._strips.get(key)
        if strip is None:
            ground = self.get_component_rich_style("lines--cursor") if under else self.rich_style
            strip = self._strips[key] = paint(self, line, width, ground)
        return strip
