"""Several groups on one screen, the worst first; and the page of one that an agent elsewhere watches."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from mqvitals_agent.fleet.lines import fleet_header, fleet_table
from mqvitals_agent.fleet.page import group_brief, group_page
from mqvitals_agent.fleet.ranking import RankedGroup, ranked
from mqvitals_agent.fleet.sources import FleetWatch
from mqvitals_agent.text.figure import times_in
from mqvitals_agent.text.styled import Line, Tone, line
from mqvitals_agent.text.terminal import safe
from mqvitals_tui.keys import FLEET, FLEET_COMMON, FLEET_GROUP, MOVES, OPEN, Hint, hint_line
from mqvitals_tui.screens.frame_screen import LEAST, TICK_S, trail_line
from mqvitals_tui.widgets.cursor_view import CursorView
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.painting import Banner, StatusBar
from mqvitals_tui.zones import ZoneSwitch

if TYPE_CHECKING:
    from mqvitals_tui.app import MqvitalsApp

_LEAST_BRIEF = 3
"""Fewer lines about the group under the cursor are not worth a gap."""


class WatchScreen(Screen[None], inherit_bindings=False):
    """Header, trail, lines and keys over what ``watch`` has read; painted every second, as ages count on.

    ``now`` gives the time, ms since 1970 UTC, and ``zones`` the zone in which times are shown.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*FLEET_COMMON, OPEN]
    AUTO_FOCUS = "#lines"
    DEFAULT_CSS = """
    WatchScreen { background: $background; overflow: hidden; }
    WatchScreen #lines { height: 1fr; scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    """
    everywhere: ClassVar[Sequence[Binding]] = FLEET_COMMON

    def __init__(self, watch: FleetWatch, now: Callable[[], int], zones: ZoneSwitch) -> None:
        super().__init__()
        self._watch = watch
        self._now = now
        self.zones = zones

    def compose(self) -> ComposeResult:
        """Header, trail, lines, keys."""
        yield Banner(id="header")
        yield Banner(id="trail")
        yield LinesView(id="lines")
        yield StatusBar(id="keys")

    @abstractmethod
    def help_groups(self) -> tuple[tuple[str, Sequence[Binding]], ...]:
        """The keys that do something here, by what they are for."""

    @abstractmethod
    def paint(self, groups: Sequence[RankedGroup], now: int, width: int) -> None:
        """Show the groups as of ``now`` in ``width`` cells."""

    @property
    def lines(self) -> LinesView:
        """The lines."""
        return self.query_one("#lines", LinesView)

    def on_mount(self) -> None:
        """Ages count on."""
        self.set_interval(TICK_S, self.repaint)

    def on_resize(self, _: events.Resize) -> None:
        """Lines are made for a width, and for a height."""
        self.call_after_refresh(self.repaint)

    def on_screen_resume(self) -> None:
        """On top again."""
        self.repaint()

    def on_cursor_view_resized(self, _: CursorView.Resized) -> None:
        """The lines have another number of rows."""
        self.repaint()

    def repaint(self) -> None:
        """Paint everything as of now."""
        if not self.is_mounted or not self.size.width or self.app.screen is not self:
            return
        width = self.size.width
        with times_in(self.zones.zone):
            now = self._now()
            groups = ranked(self._watch.groups())
            header = fleet_header(groups, now, width)
            if width < LEAST[0] or self.size.height < LEAST[1]:
                header = (header[0], line(f"{width}x{self.size.height} is too small: 80x24 shows all", Tone.WARNING))
            self.query_one("#header", Banner).show(header)
            self.paint(groups, now, width)

    def show_keys(self, hints: Sequence[Hint]) -> None:
        """The last line."""
        common = (Hint("T", "theme", 5), Hint("?", "help"), Hint("q", "quit"))
        self.query_one("#keys", StatusBar).show((hint_line((*hints, *common), self.size.width),))


class FleetScreen(WatchScreen):
    """One line a group; Enter leads into it. ``came_from`` is the key of the group that was shown before; None: none was,
    empty: one that is not of the fleet."""

    BINDINGS: ClassVar[list[BindingType]] = list(FLEET)

    def __init__(
        self, watch: FleetWatch, now: Callable[[], int], zones: ZoneSwitch, *, came_from: str | None = None
    ) -> None:
        super().__init__(watch, now, zones)
        self._leads_back = came_from is not None
        self._came_from = came_from or ""

    def help_groups(self) -> tuple[tuple[str, Sequence[Binding]], ...]:
        """The keys of this screen."""
        return (("Here: the fleet", FLEET if self._leads_back else ()), ("Moving about", MOVES))

    def paint(self, groups: Sequence[RankedGroup], now: int, width: int) -> None:
        """The table, and in the rows that are left the group under the cursor."""
        view = self.lines
        room = max(width - 1, 20)
        table = fleet_table(groups, now, room)
        view.show(self._with_brief(table, groups, now, room))
        if self._came_from and view.go_to(self._came_from):
            self._came_from = ""
        # The cursor has its place only now.
        view.show(self._with_brief(table, groups, now, room))
        back = (Hint("Esc", "back", 2),) if self._leads_back else ()
        self.show_keys((Hint("Enter", "into the group"), *back))

    def _with_brief(
        self, table: Sequence[Line], groups: Sequence[RankedGroup], now: int, width: int
    ) -> tuple[Line, ...]:
        view = self.lines
        rows = view.size.height - len(table) - 1
        under = next((each for each in groups if each.group.key == view.cursor_key), None)
        if under is None or rows < _LEAST_BRIEF:
            return tuple(table)
        return (*table, line(), *group_brief(under, now, width, rows, more="Enter shows all"))

    def on_cursor_view_highlighted(self, _: CursorView.Highlighted) -> None:
        """The cursor is on another group."""
        self.repaint()

    def on_cursor_view_opened(self, message: CursorView.Opened) -> None:
        """Enter or a double click on a group."""
        self._open(message.key)

    async def action_open(self) -> None:
        """Open the group under the cursor at once, so that the next key is for what opened."""
        self._open(self.lines.cursor_key)

    def _open(self, key: str) -> None:
        if key:
            cast("MqvitalsApp", self.app).open_group(key)

    def action_back(self) -> None:
        """To the group that was shown before."""
        if self._leads_back:
            self.dismiss()


class RemoteGroupScreen(WatchScreen):
    """All that an agent elsewhere says of its group, which is ``key`` in the fleet."""

    BINDINGS: ClassVar[list[BindingType]] = list(FLEET_GROUP)

    def __init__(self, watch: FleetWatch, now: Callable[[], int], zones: ZoneSwitch, key: str) -> None:
        super().__init__(watch, now, zones)
        self._key = key

    def help_groups(self) -> tuple[tuple[str, Sequence[Binding]], ...]:
        """The keys of this page."""
        return (("Here: a group of the fleet", FLEET_GROUP), ("Moving about", MOVES))

    def paint(self, groups: Sequence[RankedGroup], now: int, width: int) -> None:
        """The page of the group, also where its other agent has become the active one."""
        source = self._watch.source(self._key)
        shown = "" if source is None else source.shown
        of_source = (each for each in groups if any(agent.source == shown for agent in each.group.agents))
        group = next((each for each in groups if each.group.key == self._key), next(of_source, None))
        name = shown if group is None else group.group.name
        self.query_one("#trail", Banner).show((trail_line(("Fleet", safe(name)), width),))
        self.lines.show(() if group is None else tuple(group_page(group, now, max(width - 1, 20))))
        self.show_keys((Hint("Esc", "back"), Hint("Up Down", "read on", 3)))

    async def action_open(self) -> None:
        """There is nothing to open here: its own screens are where its agent runs."""
        self.notify("Its own screens are on the machine of its agent: 'mqvitals top' there", markup=False)

    def action_back(self) -> None:
        """To the fleet."""
        self.dismiss()
