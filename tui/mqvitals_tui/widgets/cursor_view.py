"""Scrolling views with a cursor that follows a row by its key: the base of the table and of the view of lines."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.geometry import Region
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from mqvitals_agent.text.styled import Tone, line
from mqvitals_tui.keys import MOVES
from mqvitals_tui.widgets.changed_cells import ShownLines
from mqvitals_tui.widgets.painting import TonedWidget, paint


class CursorView(ScrollView, TonedWidget, can_focus=True, inherit_bindings=False):
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
            return self._shown.note(y, paint(self, words, self.size.width, self.ground))
        return self._shown.note(y, self._line_at(y))

    def _line_at(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        if y < self.header:
            return self._header_strip(width)
        row = y - self.header + self.scroll_offset.y
        if row >= self.row_count:
            return Strip.blank(width, self.ground)
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
