"""Lines of styled spans with a cursor, which stops at what can be opened, folded, copied or charted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.cache import LRUCache
from textual.geometry import Size
from textual.strip import Strip

from mqvitals_agent.text.styled import Line, Part, is_heading
from mqvitals_tui.keys import ACROSS
from mqvitals_tui.widgets.cursor_view import CursorView
from mqvitals_tui.widgets.painting import TONE_CLASSES, paint, tone_css

_KEPT = 512


def _about(line: Line) -> tuple[str | int, ...]:
    """What a line is about, whatever its words are now."""
    return line.key, line.alert, line.silence, line.figure, line.copies, line.section


class LinesView(CursorView, can_focus=True):
    """Shows styled lines. Lines longer than the view are cut with an ellipsis: they are wrapped when they are made.

    In a line with parts, left and right go from one to the next; up and down keep to the part in the same place. While
    none is chosen, the cursor is on the line as a whole.
    """

    DEFAULT_CSS = """
    LinesView { background: $background; color: $foreground; overflow-x: hidden; }
    LinesView > .lines--cursor { background: $block-cursor-blurred-background; }
    LinesView:focus > .lines--cursor { background: $primary-muted; text-style: bold; }
    LinesView:nocolor:focus > .lines--cursor { text-style: reverse; }
    LinesView:ansi:focus > .lines--cursor { text-style: reverse; }
    LinesView > .lines--part { background: $foreground; color: $background; text-style: bold; }
    LinesView:nocolor > .lines--part { text-style: bold underline; }
    LinesView:ansi > .lines--part { text-style: bold underline; }
    """ + tone_css("LinesView")
    COMPONENT_CLASSES: ClassVar[set[str]] = {"lines--cursor", "lines--part", *TONE_CLASSES}
    BINDINGS: ClassVar[list[BindingType]] = list(ACROSS)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - the toolkit's word
        super().__init__(id=id, classes=classes)
        self._lines: tuple[Line, ...] = ()
        self._strips: LRUCache[object, Strip] = LRUCache(_KEPT)
        self._x = -1

    def show(self, lines: Sequence[Line]) -> None:
        """Show these lines; the cursor stays on the key it was on."""
        lines = tuple(lines)
        if lines == self._lines:
            return
        key, was, row = self.cursor_key, self.cursor_line, self._cursor
        self._lines = lines
        size = Size(0, len(self._lines))
        if size != self.virtual_size:
            self.virtual_size = size
        # Several alerts may be about one object, and not every stop has a key: the cursor stays on its own line.
        near = -1
        if was is not None and (was.alert or was.silence or not was.key):
            about = _about(was)
            alike = [number for number, each in enumerate(lines) if _about(each) == about]
            near = min(alike, key=lambda number: abs(number - row), default=-1)
        self._rows_changed(tuple(row for row, line in enumerate(self._lines) if line.is_stop), key, near)

    def go_to_part(self, step: int) -> None:
        """To the first stop of the section ``step`` sections on, or back, cyclically. A section begins with a heading.

        The heading and as much of its section as fits is scrolled into sight. Without a section with a stop nothing
        happens.
        """
        heads = [row for row, each in enumerate(self._lines) if each.section or is_heading(each)]
        parts = [
            (head, first, end)
            for head, end in pairwise([*heads, len(self._lines)])
            if head <= (first := self._after(head - 1)) < end
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
        """The lines."""
        return self._lines

    @property
    def cursor_line(self) -> Line | None:
        """The line under the cursor, None without one."""
        return self._lines[self.cursor] if 0 <= self.cursor < len(self._lines) else None

    def key_at(self, row: int) -> str:
        """The key of a line, or of its part that is chosen."""
        part = self._part_at(row)
        return self._lines[row].key if part is None else part.key

    @property
    def chosen_part(self) -> Part | None:
        """The part under the cursor; None: the cursor is on a whole line, or on none."""
        return self._part_at(self.cursor) if 0 <= self.cursor < len(self._lines) else None

    def _part_at(self, row: int) -> Part | None:
        """The part of a line in the place of the cursor, or the closest one.

        Where none was chosen yet it is the first part, on a line that begins with what it is about.
        """
        line = self._lines[row]
        if not line.parts:
            return None
        if self._x < 0:
            first = line.parts[0]
            return first if first.key == line.key and not first.at else None
        return min(line.parts, key=lambda part: max(part.begin - self._x, self._x - part.end + 1, 0))

    def _go_across(self, step: int) -> None:
        if not 0 <= self.cursor < len(self._lines) or not (parts := self._lines[self.cursor].parts):
            return
        here = self._part_at(self.cursor)
        if here is None:
            # Into a strip from its newest end.
            chosen = parts[-1] if step < 0 else parts[0]
        else:
            place = parts.index(here) + step
            if not 0 <= place < len(parts):
                if here.at:
                    self._choose(-1)
                return
            chosen = parts[place]
        self._choose(chosen.begin)

    def _choose(self, x: int) -> None:
        self._x = x
        self._refresh_row(self._cursor)
        self._post_highlighted()
        self.post_message(self.PartChosen(self, self.cursor_key))

    class PartChosen(CursorView._Keyed):
        """The cursor went to another part of its line."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Without parts of lines there is no way across."""
        if action in ("left", "right"):
            return any(each.parts for each in self._lines)
        return super().check_action(action, parameters)

    def action_left(self) -> None:
        """To the part before; from the first moment of a strip to the whole line."""
        self._go_across(-1)

    def action_right(self) -> None:
        """To the next part; from the last moment of a strip to the whole line."""
        self._go_across(1)

    def notify_style_update(self) -> None:
        """The theme or the focus changed: discard painted lines."""
        super().notify_style_update()
        self._strips.clear()

    def on_click(self, event: events.Click) -> None:
        """A click also chooses the part of the line; the base's handler follows."""
        offset = event.get_content_offset(self)
        if offset is not None and 0 <= offset.y + self.scroll_offset.y < len(self._lines):
            parts = self._lines[offset.y + self.scroll_offset.y].parts
            self._x = next(
                (part.begin for part in parts if part.begin <= offset.x < part.end), -1 if parts else self._x
            )

    def _row_strip(self, row: int, width: int) -> Strip:
        line = self._lines[row]
        under = row == self._cursor
        part = self._part_at(row) if under and self.has_focus else None
        key = (line.spans, under, width, part and part[:2])
        strip = self._strips.get(key)
        if strip is None:
            ground = self.get_component_rich_style("lines--cursor") if under else self.ground
            strip = paint(self, line, width, ground)
            if part is not None:
                strip = self._with_part(strip, paint(self, line, width, self.ground), part, width)
            self._strips[key] = strip
        return strip

    def _with_part(self, under: Strip, plain: Strip, part: Part, width: int) -> Strip:
        """The line with its chosen part.

        In a matrix that part alone is on the ground of the cursor, and keeps its colours. In a strip, whose cells are
        small, it is inverted in the line ``under`` the cursor.
        """
        begin, end = min(part.begin, width), min(part.end, width)
        if not part.at:
            return Strip.join([plain.crop(0, begin), under.crop(begin, end), plain.crop(end, width)])
        style = self.get_component_rich_style("lines--part")
        chosen = Strip([Segment(segment.text, style) for segment in under.crop(begin, end)])
        return Strip.join([under.crop(0, begin), chosen, under.crop(end, width)])
