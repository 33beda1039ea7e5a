"""A table of any length: an immutable sequence of items, of which only the lines in sight are made.

Its cost depends on the size of the terminal, not on the number of items, so every poll just shows the new items.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, tzinfo
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.cache import LRUCache
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from mqvitals_agent.text.figure import times_in
from mqvitals_agent.text.styled import Tone, line
from mqvitals_agent.text.terminal import cells as measured
from mqvitals_agent.text.terminal import cut
from mqvitals_agent.view.figures.table import Cell, Column, Item, cell_spans
from mqvitals_tui.keys import ACROSS
from mqvitals_tui.widgets.cursor_view import CursorView
from mqvitals_tui.widgets.painting import TONE_CLASSES, fitted, paint, span_style, tone_css

_KEPT = 1024
"""The most lines in the cache; several screenfuls."""

ASCENDING, DESCENDING = "↑", "↓"


class VirtualTable(CursorView, can_focus=True):
    """Shows items by columns. Texts are data: never read as markup, always cut or padded to their column."""

    DEFAULT_CSS = """
    VirtualTable { background: $background; color: $foreground; }
    VirtualTable > .table--header { background: $panel; color: $text-muted; text-style: bold; }
    VirtualTable > .table--sorted { background: $panel; color: $foreground; text-style: bold underline; }
    VirtualTable > .table--cursor { background: $block-cursor-blurred-background; }
    VirtualTable:focus > .table--cursor { background: $primary-muted; text-style: bold; }
    VirtualTable:nocolor:focus > .table--cursor { text-style: reverse; }
    VirtualTable:ansi:focus > .table--cursor { text-style: reverse; }
    """ + tone_css("VirtualTable")
    COMPONENT_CLASSES: ClassVar[set[str]] = {"table--header", "table--sorted", "table--cursor", *TONE_CLASSES}
    BINDINGS: ClassVar[list[BindingType]] = list(ACROSS)

    class Sorted(Message):
        """A click on the title of a column: sort by ``column``, its id."""

        def __init__(self, view: VirtualTable, column: str) -> None:
            super().__init__()
            self.view = view
            self.column = column

        @property
        def control(self) -> VirtualTable:
            """The table, for ``@on`` with a selector."""
            return self.view

    header = 1

    def __init__(self, *, empty: str = "Nothing to show", id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._empty = empty
        self._columns: tuple[Column, ...] = ()
        self._items: Sequence[Item] = ()
        self._now = 0
        self._zone: tzinfo = UTC
        self._sort: tuple[str, bool] | None = None
        self._cells: dict[int, tuple[Cell, ...]] = {}
        self._strips: LRUCache[object, Strip] = LRUCache(_KEPT)

    def show(
        self,
        columns: Sequence[Column],
        items: Sequence[Item],
        now: int,
        sort: tuple[str, bool] | None = None,
        *,
        empty: str | None = None,
        zone: tzinfo = UTC,
    ) -> None:
        """Show these items as they are at ``now`` (ms UTC), in this order, which is that of ``sort`` (id, descending).

        The sequence is kept, so it must not change. ``empty`` is the sentence in place of items when there are none,
        ``zone`` that of the times in cells, which are made when they are painted.
        """
        key = self.cursor_key
        columns = tuple(columns)
        if columns != self._columns:
            self._strips.clear()
        self._columns, self._items, self._now, self._sort = columns, items, now, sort
        self._zone = zone
        if empty is not None:
            self._empty = empty
        self._cells.clear()
        size = Size(sum(column.width + 1 for column in columns), len(items) + self.header)
        if size != self.virtual_size:
            self.virtual_size = size
        self._rows_changed(range(len(items)), key)

    @property
    def row_count(self) -> int:
        """How many items there are."""
        return len(self._items)

    @property
    def items(self) -> Sequence[Item]:
        """The items."""
        return self._items

    def key_at(self, row: int) -> str:
        """The key of an item."""
        return self._items[row].key

    def notify_style_update(self) -> None:
        """The theme or the focus changed: discard painted lines."""
        super().notify_style_update()
        self._strips.clear()

    def _line_at(self, y: int) -> Strip:
        """One line of the table; without items the second line is the reason."""
        if not self._items and y == self.header:
            return paint(self, line(f" {self._empty}", Tone.FAINT), self.size.width, self.ground)
        return super()._line_at(y)

    def _header_strip(self, width: int) -> Strip:
        plain = self.get_component_rich_style("table--header")
        segments: list[Segment] = []
        for column in self._columns:
            if self._sort is not None and column.id == self._sort[0]:
                marker = DESCENDING if self._sort[1] else ASCENDING
                title = cut(column.title, column.width - 1) + marker
                segments.append(
                    Segment(
                        fitted(title, column.width, right=column.right), self.get_component_rich_style("table--sorted")
                    )
                )
            else:
                segments.append(Segment(fitted(column.title, column.width, right=column.right), plain))
            segments.append(Segment(" ", plain))
        left = self.scroll_offset.x
        return Strip(segments).crop_extend(left, left + width, plain)

    def _row_strip(self, row: int, width: int) -> Strip:
        cells = self._cells.get(row)
        if cells is None:
            if len(self._cells) >= _KEPT:
                self._cells.clear()
            item, now = self._items[row], self._now
            with times_in(self._zone):
                cells = self._cells[row] = tuple([column.cell(item, now) for column in self._columns])
        left = self.scroll_offset.x
        under = row == self._cursor
        key = (cells, under, left, width)
        strip = self._strips.get(key)
        if strip is None:
            ground = self.get_component_rich_style("table--cursor") if under else self.ground
            strip = self._strips[key] = self._line(cells, ground).crop_extend(left, left + width, ground)
        return strip

    def _line(self, cells: tuple[Cell, ...], ground: Style) -> Strip:
        segments: list[Segment] = []
        run: list[str] = []
        for column, cell in zip(self._columns, cells, strict=True):
            for text, tone, *_ in cell_spans(cell, column):
                # As the toolkit measures them: columns line up whatever the text is.
                shown = fitted(text, measured(text))
                if tone is Tone.PLAIN:
                    run.append(shown)
                    continue
                if run:
                    segments.append(Segment("".join(run), ground))
                    run = []
                segments.append(Segment(shown, span_style(self, tone, ground, shown)))
            # The gap has the style of the row: an underlined or reversed cell ends with its column.
            run.append(" ")
        if run:
            segments.append(Segment("".join(run), ground))
        return Strip(segments)

    def _edges(self) -> list[int]:
        """The first cell of each column."""
        edges, x = [], 0
        for column in self._columns:
            edges.append(x)
            x += column.width + 1
        return edges

    def action_right(self) -> None:
        """To the beginning of the next column."""
        left = self.scroll_offset.x
        self.scroll_to(x=min([x for x in self._edges() if x > left], default=left), animate=False, force=True)

    def action_left(self) -> None:
        """To the beginning of the column before."""
        left = self.scroll_offset.x
        self.scroll_to(x=max([x for x in self._edges() if x < left], default=0), animate=False, force=True)

    def _header_clicked(self, x: int) -> None:
        for column, begin in zip(self._columns, self._edges(), strict=True):
            if begin <= x < begin + column.width:
                self.post_message(self.Sorted(self, column.id))
