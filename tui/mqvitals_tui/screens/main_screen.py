"""The main screen: one of the tabs of ``mqvitals_tui.tabs`` at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input

from mqvitals_agent.text.figure import clock, number, zone_name
from mqvitals_agent.text.styled import Line, Part
from mqvitals_agent.view.figures.table import Item
from mqvitals_agent.view.frame import Frame, FrameRequest
from mqvitals_agent.view.lists.columns import COLUMNS, spaced
from mqvitals_agent.view.lists.items import matching, ordered
from mqvitals_agent.view.screens.alerts import GROUP_KEY
from mqvitals_agent.view.screens.header import UNKNOWN_SIGN
from mqvitals_agent.view.screens.unknown import UNKNOWN_KEY
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.feed import LoadedFrame
from mqvitals_tui.keys import (
    ACROSS,
    ACTIONS,
    BEFORE,
    EXTEND,
    MAIN,
    MOVES,
    SEEN,
    WHO,
    Hint,
    asking_key,
    hint_line,
    own_hints,
)
from mqvitals_tui.screens.acting_screen import ActingScreen
from mqvitals_tui.screens.frame_screen import ScreenContext
from mqvitals_tui.tabs import TABS, TABS_BY_ID, Tab, TabState, next_sibling, siblings, tab_row
from mqvitals_tui.widgets.cursor_view import CursorView
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.painting import Banner, StatusBar
from mqvitals_tui.widgets.text_line import TextLine
from mqvitals_tui.widgets.virtual_table import VirtualTable

if TYPE_CHECKING:
    from mqvitals_tui.app import MqvitalsApp

Sort = tuple[str, bool]
"""A column's id, and whether the greatest comes first."""


_TABLES_ONLY = frozenset({"sort_next", "sort_previous", "reverse"})

_LEAST_TABLE, _TABLE_SHARE = 4, 0.4
"""The least lines of a table above its text, and its largest share of the screen; the text has the rest."""


class MainScreen(ActingScreen):
    """One tab at a time; each keeps its filter and its order."""

    BINDINGS: ClassVar[list[BindingType]] = [*MAIN, WHO, *ACTIONS, BEFORE, SEEN, EXTEND]
    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    MainScreen { background: $background; }
    MainScreen LinesView, MainScreen VirtualTable {
        height: 1fr; scrollbar-size-vertical: 1; scrollbar-size-horizontal: 1; scrollbar-gutter: stable;
    }
    MainScreen #filter { dock: bottom; height: 1; border: none; padding: 0 1; background: $panel; margin-bottom: 1; }
    MainScreen #lines.above { height: auto; max-height: 8; }
    """

    def __init__(self, context: ScreenContext) -> None:
        super().__init__(context)
        self._tab: Tab = TABS[0]
        self._filters: dict[str, str] = {}
        self._sorts: dict[str, Sort] = {}
        self._count = ""
        self._made: tuple[tuple[Item, ...], str, Sort | None, tuple[Item, ...]] | None = None

    def compose(self) -> ComposeResult:
        """Header, tabs, text or table, filter, keys."""
        yield Banner(id="header")
        yield Banner(id="tabs")
        yield LinesView(id="lines")
        yield VirtualTable(id="table")
        yield TextLine(id="filter", placeholder="words of the name, severity:critical, state:retrying")
        yield StatusBar(id="keys")

    def on_mount(self) -> None:
        """Show the overview."""
        self._box.display = False
        self._arrange()

    @property
    def _box(self) -> TextLine:
        return self.query_one("#filter", TextLine)

    @property
    def request(self) -> FrameRequest:
        """The frame of the tab."""
        return self._tab.request

    @property
    def tab(self) -> Tab:
        """The current tab."""
        return self._tab

    @property
    def sort(self) -> Sort | None:
        """The column by which the table of this tab is sorted, None: the worst first."""
        return self._sorts.get(self._tab.id)

    @property
    def filter_text(self) -> str:
        """The filter of this tab."""
        return self._filters.get(self._tab.id, "")

    def go_to(self, tab: Tab) -> None:
        """Show another tab."""
        self._tab = tab
        self._arrange()
        self.post_message(self.FrameRequested(self.request))
        self.repaint()

    # -- painting ----------------------------------------------------------------------------------------------------

    def _arrange(self) -> None:
        lines, table = self.query_one("#lines", LinesView), self.query_one("#table", VirtualTable)
        tab = self._tab
        lines.display = tab.lines is not None
        lines.set_class(bool(tab.columns) and not tab.below, "above")
        if tab.below:
            self.move_child(lines, after=table)
        else:
            self.move_child(lines, before=table)
        table.display = bool(tab.columns)
        table.styles.height = "1fr"
        lines.show(())
        table.show((), (), 0, empty=self._empty)
        box = self._box
        with box.prevent(Input.Changed):
            box.value = self.filter_text
        box.display = bool(self.filter_text)
        self._focus_body()

    @property
    def _empty(self) -> str:
        """The text of a table before a frame was read."""
        news = self.context.news
        if news.waiting:
            return "nothing to show: there is no store yet"
        return "nothing to show: the store cannot be read" if news.failed else "reading the store"

    def help_groups(self) -> tuple[tuple[str, Sequence[Binding]], ...]:
        """The keys of this tab, without those that do nothing here."""
        tab = self._tab
        idle: set[str] = set()
        if not tab.filters:
            idle.add("filter")
        if not tab.columns:
            idle |= _TABLES_ONLY
        if next_sibling(tab) is None:
            idle.add("data_sets")
        if not (tab.parts or (tab.lines and tab.columns)):
            idle |= {"focus_next", "focus_previous"}
        here = (*tab.own_keys, *(binding for binding in MAIN if binding.id not in idle))
        return (
            (f"Here: {tab.title}", here),
            ("Moving about", (*MOVES, *(ACROSS if tab.columns or tab.across else ()))),
        )

    def paint_static(self, width: int) -> None:
        """The row of tabs and the keys; and the text of a table before a frame was read."""
        if self._tab.columns and self.frame is None and not (self._read is not None and self._is_mine(self._read)):
            self.query_one("#table", VirtualTable).show((), (), 0, empty=self._empty)
        self.query_one("#tabs", Banner).show((tab_row(self._tab, width)[0],))
        self.query_one("#keys", StatusBar).show((self._hints(width),))

    def _hints(self, width: int) -> Line:
        fleet = (Hint("F", "fleet", 2),) if cast("MqvitalsApp", self.app).has_fleet else ()
        help_quit = (*fleet, Hint(":", "find", 3), Hint("T", "theme", 5), Hint("?", "help"), Hint("q", "quit"))
        tab = self._tab
        if self.focused is self._box:
            return hint_line((Hint("Enter", "keep the filter"), Hint("Esc", "remove it"), Hint("F1", "help")), width)
        if self.filter_text:
            sort = (Hint("< >", "sort", 3),) if tab.columns else ()
            first = (Hint("Esc", "show all"), Hint("/", "change"), Hint("Enter", "open", 1))
            return hint_line((*first, *sort, *help_quit), width, self.older_words or self._count)
        hints: tuple[Hint, ...] = (Hint("Enter", "open"),) if tab.opens else ()
        part = self.chosen_part
        if part is not None and part.at:
            hints = (Hint("Enter", f"as of {clock(part.at)} {zone_name(part.at)}, {part.words}"),)
        if tab is not TABS[0]:
            hints += (Hint("Esc", "back", 4),)
        if tab.filters:
            hints += (Hint("/", "filter"),)
        if following := next_sibling(tab):
            hints += (Hint("d", following.name),)
        if tab.part:
            in_text = bool(tab.columns) and self.focused is self.query_one("#lines")
            hints += (Hint("Tab", "table" if in_text else tab.part, 1 if tab.columns else 2),)
        hints += own_hints(tab.own_keys, past=self.in_past)
        if tab.columns:
            # Beside two widgets there is less room.
            hints += (Hint("< >", "sort", 1), Hint("r", "reverse", 5 if tab.part else 2))
        return hint_line((*hints, *help_quit), width, self.older_words)

    def paint(self, read: LoadedFrame, width: int) -> None:
        """The lines or the table of the tab."""
        frame, tab = read.frame, self._tab
        lines, table = self.query_one("#lines", LinesView), self.query_one("#table", VirtualTable)
        room = max(width - 1, 20)
        if tab.columns:
            self._paint_table(table, frame, room)
        if tab.below:
            most = max(int(self.size.height * _TABLE_SHARE), _LEAST_TABLE)
            table.styles.height = min(len(table.items) + 1, most) if table.items else "1fr"
        if tab.lines is not None:
            item = next((item for item in table.items if item.key == table.cursor_key), None) if tab.below else None
            state = TabState(self.filter_text, item, lines.size.height, lines.cursor_key)
            lines.show(tab.lines(frame, room, state))
            if tab.matrix and lines.cursor_key != state.key:
                # Now the cursor has its place.
                lines.show(tab.lines(frame, room, state._replace(key=lines.cursor_key)))

    def _paint_table(self, table: VirtualTable, frame: Frame, width: int) -> None:
        shown = spaced(COLUMNS[self._tab.columns], width)
        items = self._items(frame)
        empty = "Nothing matches the filter" if self.filter_text and frame.items else "None is known"
        table.show(shown, items, frame.now, self.sort, empty=empty, zone=frame.zone)
        self._count = f"{number(len(items))} of {number(len(frame.items))}" if self.filter_text else ""
        self.query_one("#keys", StatusBar).show((self._hints(self.size.width),))

    def _items(self, frame: Frame) -> tuple[Item, ...]:
        # Ages change every second, but tens of thousands of items are filtered and sorted only when something changed.
        if self._made is not None:
            read, text, sort, items = self._made
            if read is frame.items and (text, sort) == (self.filter_text, self.sort):
                return items
        items = matching(frame.items, self.filter_text)
        if self.sort is not None:
            by, reverse = self.sort
            column = next((each for each in COLUMNS[self._tab.columns] if each.id == by), None)
            items = items if column is None else ordered(items, column, reverse=reverse)
        self._made = (frame.items, self.filter_text, self.sort, items)
        return items

    @property
    def chosen_line(self) -> Line | None:
        """The line of the text under the cursor."""
        return self.query_one("#lines", LinesView).cursor_line if self._tab.lines is not None else None

    @property
    def chosen_owner(self) -> str:
        """The owner of the object under the cursor."""
        line = self.chosen_line
        key = self.query_one("#table", VirtualTable).cursor_key if self._tab.columns else line.key if line else ""
        return "" if not key or key == UNKNOWN_KEY or key.startswith(GROUP_KEY) else ObjectName.parse(key).owner

    # -- opening -----------------------------------------------------------------------------------------------------

    def on_cursor_view_opened(self, message: CursorView.Opened) -> None:
        """Enter on a line or an item."""
        if not self._travels():
            self.open_key(message.key)

    def open_key(self, key: str) -> None:
        """Open the object with this whole name; the line about unknown verdicts leads to their list, one about several
        alerts filters for them."""
        if key == UNKNOWN_KEY:
            self.go_to(TABS_BY_ID["unknown"])
        elif key.startswith(GROUP_KEY):
            self._filters[self._tab.id] = key
            self._arrange()
            self.repaint()
        else:
            super().open_key(key)

    def on_cursor_view_highlighted(self, message: CursorView.Highlighted) -> None:
        """The cursor of a table or a matrix is on another object: show its text below."""
        if self._tab.matrix or (self._tab.below and isinstance(message.view, VirtualTable)):
            self.repaint()

    def on_cursor_view_resized(self, _: CursorView.Resized) -> None:
        """A text that fills its rows is made for as many as there are, once the header has its height."""
        if self._tab.lines is not None:
            self.repaint()

    def on_banner_clicked(self, message: Banner.Clicked) -> None:
        """A click on a tab shows it, one on the number of unknown verdicts their list."""
        if message.banner.id == "header" and UNKNOWN_SIGN in message.banner.words_at(message.x, message.y):
            self.go_to(TABS_BY_ID["unknown"])
        if message.banner.id == "tabs":
            for begin, end, tab in tab_row(self._tab, self.size.width)[1]:
                if begin <= message.x < end:
                    self.go_to(TABS_BY_ID[tab])

    # -- filter and order --------------------------------------------------------------------------------------------

    def action_filter(self) -> None:
        """Open the filter."""
        if not self._tab.filters:
            self.notify(f"The screen {self._tab.title} has no filter; lists and alerts do", markup=False)
            return
        box = self._box
        box.display = True
        self.set_focus(box)
        self.repaint()

    def on_input_changed(self, _: Input.Changed) -> None:
        """Filter while typing. The input is always that of the current tab; a message may be older."""
        self._take_filter(self._box.value)

    def _take_filter(self, text: str) -> None:
        if text != self.filter_text:
            self._filters[self._tab.id] = text
            self.repaint()

    async def action_open(self) -> None:
        """In the filter: accept it; else open what is under the cursor."""
        box = self._box
        if self.focused is not box:
            if not self._travels():
                await super().action_open()
            return
        self._take_filter(await box.finish())
        box.display = bool(self.filter_text)
        self._focus_body()
        self.repaint()

    @property
    def chosen_part(self) -> Part | None:
        """The part of the line under the cursor."""
        view = self.query_one("#lines", LinesView)
        return view.chosen_part if self._tab.lines is not None and self.focused is view else None

    @property
    def chosen_moment(self) -> int | None:
        """That of the cell of a strip under the cursor, or when the alert there began to fire."""
        part = self.chosen_part
        return part.at if part is not None and part.at else super().chosen_moment

    def _travels(self) -> bool:
        """From a cell of a strip to its moment; False: the cursor is not on one."""
        part = self.chosen_part
        if part is None or not part.at:
            return False
        self.travel_to(part.at)
        return True

    def on_lines_view_part_chosen(self, _: LinesView.PartChosen) -> None:
        """The last line says where Enter leads."""
        self.query_one("#keys", StatusBar).show((self._hints(self.size.width),))

    @property
    def body(self) -> Widget:
        """The table, or the text where there is none."""
        return self.query_one("#table" if self._tab.columns else "#lines")

    def _focus_body(self) -> None:
        self.set_focus(self.body)

    async def action_back(self) -> None:
        """Remove the filter, else go to the overview."""
        box = self._box
        if box.display:
            await box.finish()
            box.value = ""
            box.display = False
            self._filters.pop(self._tab.id, None)
            self._focus_body()
            self.repaint()
        elif (first := siblings(self._tab)[0]) is not self._tab:
            self.go_to(first)
        elif first is not TABS[0]:
            self.go_to(TABS[0])
        else:
            cast("MqvitalsApp", self.app).leave_group()

    def action_data_sets(self) -> None:
        """To the next tab with the same digit."""
        following = next_sibling(self._tab)
        if following is None:
            self.notify(
                "Clients are behind 2, Channels; dead letters behind 3, Queues; matrices and lists behind 4, 5 and 6",
                markup=False,
            )
        else:
            self.go_to(following)

    def action_who(self) -> None:
        """Show which applications have the queue under the cursor open, or the units of work behind a log."""
        asks = asking_key(self._tab.request.kind) in self._tab.own_keys
        key = self.query_one("#table", VirtualTable).cursor_key if asks else ""
        if key:
            self.open_holders(ObjectName.parse(key))
        else:
            self.notify("Put the cursor on a queue (3) or a log (7) and press w to ask who uses it now", markup=False)

    def action_part(self, step: int) -> None:
        """To another section of the overview, else to the next widget."""
        if self._tab.parts:
            self.query_one("#lines", LinesView).go_to_part(step)
        elif step > 0:
            self.focus_next()
        else:
            self.focus_previous()

    def action_sort(self, step: int) -> None:
        """Sort by the next visible column; after the last one the worst come first again."""
        shown = self._shown_columns()
        if not shown:
            return
        ids = ["", *shown]
        here = ids.index(self.sort[0]) if self.sort is not None and self.sort[0] in ids else 0
        self._sort_by(ids[(here + step) % len(ids)])

    def action_reverse(self) -> None:
        """Turn the order of the sorted column round."""
        if self.sort is not None:
            self._sorts[self._tab.id] = (self.sort[0], not self.sort[1])
            self.repaint()
        elif shown := self._shown_columns():
            self._sort_by(shown[0])

    def on_virtual_table_sorted(self, message: VirtualTable.Sorted) -> None:
        """A click on a title sorts by it, a second one reverses the order."""
        if self.sort is not None and self.sort[0] == message.column:
            self.action_reverse()
        else:
            self._sort_by(message.column)

    def _sort_by(self, column: str) -> None:
        if column:
            self._sorts[self._tab.id] = (column, False)
        else:
            self._sorts.pop(self._tab.id, None)
        self.repaint()

    def _shown_columns(self) -> list[str]:
        if not self._tab.columns:
            return []
        return [each.id for each in spaced(COLUMNS[self._tab.columns], max(self.size.width - 1, 20))]
