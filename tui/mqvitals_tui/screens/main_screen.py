"""The main screen: the overview, the lists, the alerts and the agent, one at a time."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Input

from mqvitals_agent.view.agent_view import agent_lines
from mqvitals_agent.view.alert_list import alert_lines
from mqvitals_agent.view.columns import columns
from mqvitals_agent.view.figure import number
from mqvitals_agent.view.frame import AGENT, ALERTS, OVERVIEW, Frame, Want
from mqvitals_agent.view.listing import matching, ordered
from mqvitals_agent.view.overview import overview_lines
from mqvitals_agent.view.table import Item, Line, Span, Tone
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.feed import Read
from mqvitals_tui.keys import MAIN
from mqvitals_tui.places import BY_ID, PLACES, Place, place_row
from mqvitals_tui.screens.frame_screen import FrameScreen, Sight
from mqvitals_tui.screens.spacing import spaced
from mqvitals_tui.widgets.banner import Banner
from mqvitals_tui.widgets.lines import LinesView
from mqvitals_tui.widgets.status_bar import StatusBar
from mqvitals_tui.widgets.virtual_table import VirtualTable

Sort = tuple[str, bool]
"""A column's id, and whether the greatest comes first."""


class MainScreen(FrameScreen, inherit_bindings=False):
    """One place at a time; each keeps its filter and its order while others are shown."""

    BINDINGS: ClassVar[list[BindingType]] = list(MAIN)
    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    MainScreen { background: $background; }
    MainScreen LinesView, MainScreen VirtualTable {
        height: 1fr; scrollbar-size-vertical: 1; scrollbar-size-horizontal: 1; scrollbar-gutter: stable;
    }
    MainScreen #filter { dock: bottom; height: 1; border: none; padding: 0 1; background: $panel; margin-bottom: 1; }
    MainScreen #lines.above { height: auto; max-height: 8; }
    """

    def __init__(self, sight: Sight) -> None:
        super().__init__(sight)
        self._place: Place = PLACES[0]
        self._filters: dict[str, str] = {}
        self._sorts: dict[str, Sort] = {}
        self._made: tuple[tuple[Item, ...], str, Sort | None, tuple[Item, ...]] | None = None

    def compose(self) -> ComposeResult:
        """Header, places, the text or the table, the filter, the keys."""
        yield Banner(id="header")
        yield Banner(id="places")
        yield LinesView(id="lines")
        yield VirtualTable(id="table")
        yield Input(id="filter", placeholder="words of the name, severity:critical, state:retrying", compact=True)
        yield StatusBar(id="keys")

    def on_mount(self) -> None:
        """The overview first."""
        self.query_one("#filter", Input).display = False
        self._arrange()

    @property
    def want(self) -> Want:
        """What the place wants."""
        return self._place.want

    @property
    def place(self) -> Place:
        """The place that is shown."""
        return self._place

    @property
    def sort(self) -> Sort | None:
        """The column that the table of this place is sorted by, None: the worst first."""
        return self._sorts.get(self._place.id)

    @property
    def filter_text(self) -> str:
        """What the filter of this place says."""
        return self._filters.get(self._place.id, "")

    def go_to(self, place: str) -> None:
        """Show another place."""
        self._place = BY_ID[place]
        self._arrange()
        self.post_message(self.Wanted(self.want))
        self.repaint()

    # -- painting ----------------------------------------------------------------------------------------------------

    def _arrange(self) -> None:
        lines, table = self.query_one("#lines", LinesView), self.query_one("#table", VirtualTable)
        tabular = bool(self._place.columns)
        agent = self._place.want.screen == AGENT
        lines.display = not tabular or agent
        lines.set_class(agent, "above")
        table.display = tabular
        lines.show(())
        table.show((), (), 0, empty="reading the store")
        box = self.query_one("#filter", Input)
        with box.prevent(Input.Changed):
            box.value = self.filter_text
        box.display = bool(self.filter_text)
        (table if tabular else lines).focus()

    def paint_frame_around(self, width: int) -> None:
        """The row of places, and the keys."""
        self.query_one("#places", Banner).show((place_row(self._place.id, width)[0],))
        words = ["Enter open"]
        if self._place.want.screen != OVERVIEW:
            words.append("/ filter")
        if self._place.columns:
            words += ["< > sort", "r reverse"]
        words += [": find", "T theme", "? help", "q quit"]
        self.query_one("#keys", StatusBar).show(_keys(words))

    def paint(self, read: Read, width: int) -> None:
        """The place's own lines or table."""
        frame = read.frame
        lines, table = self.query_one("#lines", LinesView), self.query_one("#table", VirtualTable)
        room = max(width - 1, 20)
        if frame.want.screen == OVERVIEW:
            lines.show(overview_lines(frame, room))
        elif frame.want.screen == ALERTS:
            lines.show(alert_lines(frame, room, self.filter_text))
        if frame.want.screen == AGENT:
            lines.show(agent_lines(frame, room))
        if self._place.columns:
            self._paint_table(table, frame, room)

    def _paint_table(self, table: VirtualTable, frame: Frame, width: int) -> None:
        shown = spaced(columns(self._place.columns), width)
        items = self._items(frame)
        empty = "Nothing matches the filter" if self.filter_text and frame.items else "None is known"
        table.show(shown, items, frame.now, self.sort, empty=empty)
        if self.filter_text:
            count = f"{number(len(items))} of {number(len(frame.items))}"
            self.query_one("#keys", StatusBar).show(
                _keys(["Esc all", "/ change", "Enter open", "? help", "q quit"], count)
            )

    def _items(self, frame: Frame) -> tuple[Item, ...]:
        # Ages tick every second, but tens of thousands of items are chosen and sorted only when something changed.
        if self._made is not None:
            read, text, sort, items = self._made
            if read is frame.items and (text, sort) == (self.filter_text, self.sort):
                return items
        items = matching(frame.items, self.filter_text)
        if self.sort is not None:
            by, reverse = self.sort
            column = next((each for each in columns(self._place.columns) if each.id == by), None)
            items = items if column is None else ordered(items, column, reverse=reverse)
        self._made = (frame.items, self.filter_text, self.sort, items)
        return items

    # -- opening -----------------------------------------------------------------------------------------------------

    def on_lines_view_opened(self, message: LinesView.Opened) -> None:
        """Enter on a line."""
        self._open(message.key)

    def on_virtual_table_opened(self, message: VirtualTable.Opened) -> None:
        """Enter on an item."""
        self._open(message.key)

    def _open(self, key: str) -> None:
        self.post_message(self.Drilled(ObjectName.parse(key)))

    def on_banner_clicked(self, message: Banner.Clicked) -> None:
        """A click on the row of places goes there."""
        if message.banner.id == "places":
            for begin, end, place in place_row(self._place.id, self.size.width)[1]:
                if begin <= message.x < end:
                    self.go_to(place)

    # -- filter and order --------------------------------------------------------------------------------------------

    def action_filter(self) -> None:
        """Type what is to be shown."""
        if self._place.want.screen == OVERVIEW:
            self.notify("The overview has no filter; lists and alerts do", markup=False)
            return
        box = self.query_one("#filter", Input)
        box.display = True
        box.focus()

    def on_input_changed(self, message: Input.Changed) -> None:
        """Filter as it is typed."""
        self._filters[self._place.id] = message.value
        self.repaint()

    def on_input_submitted(self, _: Input.Submitted) -> None:
        """Back to what is left."""
        self.query_one("#filter", Input).display = bool(self.filter_text)
        self._focus_body()

    def _focus_body(self) -> None:
        self.query_one("#table" if self._place.columns else "#lines").focus()

    def action_back(self) -> None:
        """Take the filter away, else go to the overview."""
        box = self.query_one("#filter", Input)
        if box.display:
            box.value = ""
            box.display = False
            self._filters.pop(self._place.id, None)
            self._focus_body()
            self.repaint()
        elif self._place is not PLACES[0]:
            self.go_to(PLACES[0].id)

    def action_sort(self, step: int) -> None:
        """Sort by the next column in sight; beyond the last, the worst come first again."""
        shown = self._shown_columns()
        if not shown:
            return
        ids = ["", *shown]
        here = ids.index(self.sort[0]) if self.sort is not None and self.sort[0] in ids else 0
        self._sort_by(ids[(here + step) % len(ids)])

    def action_reverse(self) -> None:
        """Turn the order of the sorted column round."""
        if self.sort is not None:
            self._sorts[self._place.id] = (self.sort[0], not self.sort[1])
            self.repaint()
        elif shown := self._shown_columns():
            self._sort_by(shown[0])

    def on_virtual_table_sorted(self, message: VirtualTable.Sorted) -> None:
        """A click on a title: sort by it, and by a second one the other way round."""
        if self.sort is not None and self.sort[0] == message.column:
            self.action_reverse()
        else:
            self._sort_by(message.column)

    def _sort_by(self, column: str) -> None:
        if column:
            self._sorts[self._place.id] = (column, False)
        else:
            self._sorts.pop(self._place.id, None)
        self.repaint()

    def _shown_columns(self) -> list[str]:
        if not self._place.columns:
            return []
        return [each.id for each in spaced(columns(self._place.columns), max(self.size.width - 1, 20))]


def _keys(words: list[str], first: str = "") -> Line:
    """Each key strong, what it does faint; before them what else is to be said."""
    spans: list[Span] = [Span(f" {first}", Tone.INFO)] if first else []
    for each in words:
        key, _, text = each.rpartition(" ")
        spans += [Span("  " if spans else " "), Span(key, Tone.STRONG), Span(f" {text}", Tone.FAINT)]
    return Line(tuple(spans))
