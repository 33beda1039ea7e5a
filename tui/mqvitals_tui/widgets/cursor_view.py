"""Scrolling views with a cursor that follows a row by its key: the base of the table, and the view of lines."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from mqvitals_agent.text.styled import Line, Part, Tone, is_heading, line
from mqvitals_tui.keys import ACROSS, MOVES
from mqvitals_tui.widgets.changed_cells import ShownLines
from mqvitals_tui.widgets.painting import TONE_CLASSES, paint, tone_css


class CursorView(ScrollView, can_focus=True, inherit_bindings=False):
    """Rows below ``header`` fixed lines (0 or 1). The cursor is on one of ``stops``; without any, keys scroll."""

    BINDINGS: ClassVar[list[BindingType]] = list(MOVES)

    class _Keyed(Message):
        """About the row of ``key`` in ``view``."""

        def __init__(self, view: CursorView, key: str) -> None:
            super().__init__()
            self.view = view
            self.key = key

        @property
        def control(self) -> CursorView:
            """The view, for ``@on`` with a selector."""
            return self.view

    class Opened(_Keyed):
        """Enter or a double click on a row; ``key`` is empty where it leads to no object."""

    class Highlighted(_Keyed):
        """The cursor is on another key; empty: on no row."""

    class Resized(Message):
        """The view has room for another number of rows than before."""

    header: ClassVar[int] = 0

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - the toolkit's word
        super().__init__(id=id, classes=classes)
        self._stops: Sequence[int] = ()
        self._cursor = -1
        self._posted_key = ""
        self._page_before = 1
        self._shown = ShownLines()
        self._held = ""

    @abstractmethod
    def key_at(self, row: int) -> str:
        """The key of a row that is a stop."""

    @abstractmethod
    def _row_strip(self, row: int, width: int) -> Strip:
        """A row as it is shown, exactly ``width`` cells."""

    def _header_strip(self, width: int) -> Strip:
        """The header line, exactly ``width`` cells; blank unless a view has one."""
        return Strip.blank(width)

    @property
    @abstractmethod
    def row_count(self) -> int:
        """How many rows there are."""

    @property
    def cursor(self) -> int:
        """The row of the cursor, -1 without one."""
        return self._cursor

    @property
    def cursor_key(self) -> str:
        """The key under the cursor, empty without one."""
        return self.key_at(self._cursor) if self._cursor >= 0 else ""

    @property
    def page(self) -> int:
        """How many rows are in sight at once, at least 1."""
        return max(self.scrollable_content_region.height - self.header, 1)

    def go_to(self, key: str) -> bool:
        """Put the cursor on the row of ``key`` and scroll there; False when there is none."""
        row = self._find(key, max(self._cursor, 0))
        if row >= 0:
            self._move(row)
        return row >= 0

    # -- rows changed ------------------------------------------------------------------------------------------------

    def _rows_changed(self, stops: Sequence[int], key: str, near: int = -1) -> None:
        """The rows have changed; the cursor stays on ``key`` if that still exists, of several on that closest to ``near``.

        ``near`` -1 is where the cursor was. A cursor that was in sight stays in sight; one that was scrolled away does not scroll the view.
        """
        top = self.scroll_offset.y
        seen = self._cursor < 0 or top <= self._cursor < top + self.page
        self._stops = stops
        if not stops:
            self._cursor = -1
        else:
            row = self._find(key, self._cursor if near < 0 else near) if key or near >= 0 else -1
            self._cursor = row if row >= 0 else self._nearest(max(self._cursor, 0))
        if seen and self._cursor >= 0 and self.is_attached and self.size.height and (key or top):
            self._show_cursor()
        if self.is_attached and self.size.height:
            self._fit_scroll_bars()
        # After scrolling the toolkit repaints all of it anyway.
        self._shown.refresh(self, self.size.height, self._line_at)
        self._post_highlighted()

    def _find(self, key: str, near: int) -> int:
        """The row of ``key``, searched outwards from ``near``: most rows move little from one poll to the next."""
        stops = self._stops
        middle = min(bisect_left(stops, near), len(stops))
        for distance in range(max(middle, len(stops) - middle) + 1):
            for position in {middle - distance, middle + distance}:
                if 0 <= position < len(stops) and self.key_at(stops[position]) == key:
                    return stops[position]
        return -1

    def _nearest(self, row: int) -> int:
        position = min(bisect_left(self._stops, row), len(self._stops) - 1)
        return self._stops[position]

    def _post_highlighted(self) -> None:
        key = self.cursor_key
        if key != self._posted_key:
            self._posted_key = key
            self.post_message(self.Highlighted(self, key))

    def _fit_scroll_bars(self) -> None:
        """Show scroll bars where they are needed and nowhere else.

        Textual updates them only when a view's size changes, and then sometimes for old content: without this a bar
        stays beside rows that all fit.
        """
        if self.show_vertical_scrollbar is not (self.virtual_size.height > self.container_size.height):
            self.call_after_refresh(self._refresh_scrollbars)

    def on_resize(self) -> None:
        """A cursor that was in sight stays so in a smaller view."""
        before, self._page_before = self._page_before, self.page
        if before != self.page:
            self.post_message(self.Resized())
        if 0 <= self._cursor - self.scroll_offset.y < before:
            self._show_cursor()
        self._fit_scroll_bars()

    # -- painting ----------------------------------------------------------------------------------------------------

    @property
    def held(self) -> str:
        """The sentence that is shown in place of the rows; empty: the rows are."""
        return self._held

    def hold(self, words: str) -> None:
        """Show this sentence in place of the rows, which stay below it with their cursor; empty: show the rows."""
        if words != self._held:
            self._held = words
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of the view, y from its top."""
        if self._held:
            words = line(f" {self._held}" if y == 0 else "", Tone.FAINT)
            return self._shown.note(y, paint(self, words, self.size.width, self.rich_style))
        return self._shown.note(y, self._line_at(y))

    def _line_at(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        if y < self.header:
            return self._header_strip(width)
        row = y - self.header + self.scroll_offset.y
        if row >= self.row_count:
            return Strip.blank(width, self.rich_style)
        return self._row_strip(row, width)

    def _refresh_row(self, row: int) -> None:
        y = row - self.scroll_offset.y + self.header
        if row >= 0 and self.header <= y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))

    def on_focus(self) -> None:
        """Paint the cursor with the focus."""
        self._refresh_row(self._cursor)

    def on_blur(self) -> None:
        """Paint the cursor without the focus."""
        self._refresh_row(self._cursor)

    # -- moving ------------------------------------------------------------------------------------------------------

    def _move(self, row: int) -> None:
        before, self._cursor = self._cursor, row
        self._refresh_row(before)
        self._refresh_row(row)
        self._show_cursor()
        self._post_highlighted()

    def _show_cursor(self) -> None:
        top, page = self.scroll_offset.y, self.page
        if self._cursor < top:
            self._scroll(self._cursor)
        elif self._cursor >= top + page:
            self._scroll(self._cursor - page + 1)

    def _scroll(self, top: int) -> None:
        # Forced, because scroll bars that the new rows need may not be there before the next layout.
        self.scroll_to(y=min(max(top, 0), max(self.row_count - self.page, 0)), animate=False, force=True)

    def _after(self, row: int) -> int:
        """The first stop after ``row``, -1 without one."""
        position = bisect_right(self._stops, row)
        return self._stops[position] if position < len(self._stops) else -1

    def _before(self, row: int) -> int:
        """The last stop before ``row``, -1 without one."""
        position = bisect_left(self._stops, row) - 1
        return self._stops[position] if position >= 0 else -1

    def action_down(self) -> None:
        """To the next stop when it is in sight or next to it, else one line down: no line is skipped."""
        top = self.scroll_offset.y
        row = self._after(max(self._cursor, top - 1))
        if 0 <= row <= top + self.page:
            self._move(row)
        else:
            self._scroll(top + 1)

    def action_up(self) -> None:
        """To the previous stop when it is in sight or next to it, else one line up."""
        top = self.scroll_offset.y
        row = self._before(min(self._cursor, top + self.page) if self._cursor >= 0 else 0)
        if row >= max(top - 1, 0):
            self._move(row)
        else:
            self._scroll(top - 1)

    def action_page_down(self) -> None:
        """A page on, the cursor with it."""
        self._page(self.page)

    def action_page_up(self) -> None:
        """A page back, the cursor with it."""
        self._page(-self.page)

    def _page(self, step: int) -> None:
        top = min(max(self.scroll_offset.y + step, 0), max(self.row_count - self.page, 0))
        target = min(max(self._cursor + step, 0), max(self.row_count - 1, 0))
        row = self._before(target + 1) if step > 0 else self._after(target - 1)
        if row < 0 or not top <= row < top + self.page:
            row = self._after(top - 1) if step > 0 else self._before(top + self.page)
        self._scroll(top)
        if 0 <= row < top + self.page and row >= top:
            before, self._cursor = self._cursor, row
            self._refresh_row(before)
            self._refresh_row(row)
            self._post_highlighted()

    def action_home(self) -> None:
        """To the first stop and the top."""
        if self._stops:
            self._move(self._stops[0])
        self._scroll(0)

    def action_end(self) -> None:
        """To the last stop and the bottom."""
        if self._stops:
            self._move(self._stops[-1])
        self._scroll(self.row_count)

    def action_open(self) -> None:
        """Post ``Opened`` for the row under the cursor."""
        if self._cursor >= 0:
            self.post_message(self.Opened(self, self.cursor_key))

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor, a double click opens."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        if offset.y < self.header:
            self._header_clicked(offset.x + self.scroll_offset.x)
            return
        row = offset.y - self.header + self.scroll_offset.y
        if row >= self.row_count or self._after(row - 1) != row:
            return
        self._move(row)
        if event.chain == 2:
            self.action_open()

    def _header_clicked(self, x: int) -> None:
        """A click on the header, x from the left end of the rows."""


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

        Where none was chosen yet: of a line that begins with what it is about the first part.
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
            ground = self.get_component_rich_style("lines--cursor") if under else self.rich_style
            strip = paint(self, line, width, ground)
            if part is not None:
                strip = self._with_part(strip, paint(self, line, width, self.rich_style), part, width)
            self._strips[key] = strip
        return strip

    def _with_part(self, under: Strip, plain: Strip, part: Part, width: int) -> Strip:
        """The line with its chosen part: of a matrix that alone is on the cursor's ground, and keeps its colours; a cell
        of a strip, which is small, is inverted in the line ``under`` the cursor.
        """
        begin, end = min(part.begin, width), min(part.end, width)
        if not part.at:
            return Strip.join([plain.crop(0, begin), under.crop(begin, end), plain.crop(end, width)])
        style = self.get_component_rich_style("lines--part")
        chosen = Strip([Segment(segment.text, style) for segment in under.crop(begin, end)])
        return Strip.join([under.crop(0, begin), chosen, under.crop(end, width)])
