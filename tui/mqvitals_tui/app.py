"""The terminal interface of a store, whether an agent, a replay or the demo fills it, and its command palette."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from rich.console import RenderableType
from textual.app import App
from textual.binding import BindingType
from textual.command import CommandPalette
from textual.filter import LineFilter
from textual.message import Message
from textual.screen import Screen

from mqvitals_agent.commandline.time_arguments import now_ms
from mqvitals_agent.fleet.sources import FleetWatch, GroupConfig, LocalGroup
from mqvitals_agent.gc_tuning import freeze_long_lived
from mqvitals_agent.store.rows.samples.steps import TimeStep
from mqvitals_agent.text.figure import moment, times_in, zone_name
from mqvitals_agent.text.symbols import Symbols
from mqvitals_agent.view.alerts.handling import Incident
from mqvitals_agent.view.frame import Frame
from mqvitals_config.settings import Settings
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.feed import Feed, FeedFailed, FrameLoaded
from mqvitals_tui.keys import APP
from mqvitals_tui.palette import NavigationProvider
from mqvitals_tui.screens.before_screen import BeforeScreen
from mqvitals_tui.screens.comparison_screen import ComparisonScreen
from mqvitals_tui.screens.detail_screen import DetailScreen
from mqvitals_tui.screens.fleet_screen import FleetScreen, RemoteGroupScreen, WatchScreen
from mqvitals_tui.screens.frame_screen import TICK_S, FrameScreen, ScreenContext
from mqvitals_tui.screens.help_screen import HelpScreen
from mqvitals_tui.screens.lines_screen import LinesScreen
from mqvitals_tui.screens.main_screen import MainScreen
from mqvitals_tui.screens.moment_form import MomentForm
from mqvitals_tui.tabs import TABS_BY_ID, next_sibling
from mqvitals_tui.themes import CONTRAST, DARK, THEMES
from mqvitals_tui.time_machine import Player, Travelled, Way, one_step, played, refusal, to_moment, to_now
from mqvitals_tui.widgets.changed_cells import compacted
from mqvitals_tui.widgets.painting import SymbolFilter, attribute_css
from mqvitals_tui.zones import ZoneSwitch, zone_choices

_ATTRIBUTES = "attributes"
"""The CSS class of the app while tones differ by more than colours."""


@dataclass(frozen=True, slots=True)
class ShownGroup:
    """What the screens of a group are about: its store, its rules and settings, the time by which it is filled, and the end
    of its child agent, as for ``MqvitalsApp``."""

    store: Path
    rule_config: RuleConfig
    settings: Settings
    now: Callable[[], int]
    ended: Callable[[], str] = str


class MqvitalsApp(App[None], inherit_bindings=False):
    """Shows the store at ``store``, which need not exist yet, with the rules in ``rule_config``; None: first the ``fleet``.

    It only reads, but for requests to the agent and what people do about alerts. The ``fleet`` is read from when it is first
    looked at; one of its local groups takes the place of the one that is shown, with a feed of its own.

    ``now`` gives the time, ms since 1970 UTC; ``theme`` is the name of one of ``THEMES``. ``ended`` is a sentence once
    the child agent has ended, else empty. ``machine`` is the machine's clock, ms since 1970 UTC, by which requests to
    the agent are dated, and actions; ``author`` is who acts, None: the user of the operating system. ``settings`` give
    alerts labels and routes, and say whether a new critical alert rings the bell. Everything is painted in ``symbols``.
    ``zone`` is the terminal's, in which times are shown unless the settings name another.
    """

    TITLE = "mqvitals"
    COMMANDS = {NavigationProvider}  # noqa: RUF012 - the toolkit's declaration
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS: ClassVar[list[BindingType]] = list(APP)
    NOTIFICATION_TIMEOUT = 4
    CSS = attribute_css(("Banner", "LinesView", "VirtualTable"), _ATTRIBUTES)

    def __init__(
        self,
        store: Path | None,
        rule_config: RuleConfig,
        now: Callable[[], int],
        theme: str = DARK.name,
        ended: Callable[[], str] = str,
        machine: Callable[[], int] = now_ms,
        settings: Settings | None = None,
        author: str | None = None,
        symbols: Symbols = Symbols.BRAILLE,
        zone: tzinfo = UTC,
        fleet: FleetWatch | None = None,
    ) -> None:
        super().__init__()
        self._symbol_filter = SymbolFilter(symbols)
        settings = settings or Settings()
        self._first_theme = theme
        self._machine, self._author, self._zone = machine, author, zone
        self._settled = False
        self._fleet = fleet
        self._fleet_zones = ZoneSwitch(zone_choices(settings, zone))
        self._fleet_runs = False
        self._first = None if store is None else ShownGroup(store, rule_config, settings, now, ended)
        self._group: ShownGroup | None = None
        self._opening = ""
        """The key of the group of the fleet that is to be shown once its settings are read."""
        if self._first is not None:
            self._take(self._first)

    def _take(self, group: ShownGroup) -> None:
        """Make the feed and the main screen of a group, which has nothing of the one before."""
        self._group = group
        self.store = group.store
        settings = group.settings
        zones = ZoneSwitch(zone_choices(settings, self._zone))
        self._screen_context = ScreenContext(
            group.rule_config, group.now, group.ended, self._machine, settings, self._author, zones=zones
        )
        self._feed = Feed(
            group.store, group.rule_config, group.now, self._post, settings=settings, machine=self._machine
        )
        self._main = MainScreen(self._screen_context)
        self.player = Player()
        self._mark: int | None = None
        self._rings = settings.tui.bell
        self._known: frozenset[Incident] | None = None

    @property
    def symbols(self) -> Symbols:
        """The set of symbols in which everything is painted."""
        return self._symbol_filter.symbols

    def get_line_filters(self) -> Sequence[LineFilter]:
        """The toolkit's, and the one that paints in the terminal's symbols: of frames and scroll bars too."""
        return [*super().get_line_filters(), *([self._symbol_filter] if self._symbol_filter.enabled else [])]

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        """Write to the terminal only the cells that are to be repainted, and the colours that change."""
        super()._display(screen, compacted(renderable))

    def _post(self, message: Message) -> None:
        """Called from the feed's thread; messages after the end are dropped."""
        if self.is_running:
            self.post_message(message)

    def on_mount(self) -> None:
        """Themes, the main screen, and the feed."""
        for theme in THEMES:
            self.register_theme(theme)
        self.use_theme(self._first_theme)
        if self._group is None:
            self.action_fleet()
        else:
            self._begin()
        self.set_interval(TICK_S, self._play)

    def _begin(self) -> None:
        self.push_screen(self._main)
        self.run_worker(self._feed.run, name="feed", thread=True)

    def on_unmount(self) -> None:
        """Stop the feed's thread."""
        if self._group is not None:
            self._feed.stop()

    async def _shutdown(self) -> None:
        """End the searches of the palette before its widgets go: a search without its list ends as a fault of the
        program."""
        for screen in self.screen_stack:
            self.workers.cancel_node(screen)
        await super()._shutdown()

    # -- frames -------------------------------------------------------------------------------------------------------

    def on_frame_screen_frame_requested(self, message: FrameScreen.FrameRequested) -> None:
        """The screen on top requests another frame."""
        self._feed.request(message.request)

    def on_frame_loaded(self, message: FrameLoaded) -> None:
        """Pass it to the screens; each shows the frame that it requested, and in its header the newest of all."""
        if not self._is_of_the_group(message.feed):
            return
        self._screen_context.news.take(message.read.frame)
        for screen in self.screen_stack:
            if isinstance(screen, FrameScreen):
                screen.take(message.read)
        self._ring(message.read.frame)
        if not self._settled and not self.is_headless:
            # With the first frame all long-lived objects exist. Without a terminal other code shares the process.
            self._settled = True
            self.call_after_refresh(freeze_long_lived)

    def _ring(self, frame: Frame) -> None:
        """Ring the bell once for critical alerts that were not there at the last frame, but not for the first frame's."""
        if not self._rings or frame.request.at is not None:
            return
        critical = [each for each in frame.status.alerts if each.severity is Severity.CRITICAL]
        asking = {(each.key, each.started) for each in critical if frame.handled.asks(each)}
        if self._known is not None and asking - self._known:
            self.bell()
        # An alert that is told again after a silence is not new: it has rung.
        self._known = (self._known or frozenset()) & {(each.key, each.started) for each in critical} | asking

    # -- the past ----------------------------------------------------------------------------------------------------

    def travel(self, way: Way, *, away: bool = True) -> None:
        """Show another moment on all screens; ``away``: it may be a past one."""
        self.player.away = self.player.away or away
        self._feed.travel(way)

    def travel_to(self, moment_ms: int) -> None:
        """Show all screens as of a past moment, ms UTC."""
        self.travel(to_moment(moment_ms, self._screen_context.zones.zone))

    def on_travelled(self, message: Travelled) -> None:
        """Where a way ended; at now there is nothing to play."""
        if not self._is_of_the_group(message.feed):
            return
        self.player.arrive(message.at)
        if message.words:
            self.notify(message.words, markup=False)

    def action_step(self, what: str, on: bool) -> None:  # noqa: FBT001 - the toolkit passes positions
        """A cycle or an alert's transition back or on; the play stops."""
        self.player.playing = False
        self.travel(one_step(TimeStep[what.upper()], on=on), away=not on)

    def action_go_to_time(self) -> None:
        """Ask for a time; where the cursor is on an alert its start stands there already."""
        top = self.screen
        if isinstance(top, FrameScreen):
            self.player.playing = False
            chosen = top.chosen_moment
            self.push_screen(MomentForm(self._screen_context, self.store, chosen, self.travel))

    def action_live(self) -> None:
        """Back to now."""
        self.player.playing = False
        self.travel(to_now, away=False)

    def action_play(self) -> None:
        """Play the past, or stop."""
        if not self.player.away:
            self.notify("There is nothing to play now: [ leads a cycle back, g to a time", markup=False)
            return
        self.player.playing = not self.player.playing
        self._repaint_top()

    def action_speed(self) -> None:
        """The next speed."""
        self.player.faster()
        if not self.player.away:
            self.notify(f"The past will be played x{self.player.speed}", markup=False)
        self._repaint_top()

    def _repaint_top(self) -> None:
        if isinstance(self.screen, FrameScreen | WatchScreen):
            self.screen.repaint()

    def _play(self) -> None:
        if self._group is not None and self.player.playing:
            self.travel(played(round(TICK_S * 1000) * self.player.speed))

    def on_feed_failed(self, message: FeedFailed) -> None:
        """Every screen shows it; the last frame stays."""
        if not self._is_of_the_group(message.feed):
            return
        self._screen_context.news.fail(message.text, waiting=message.waiting)
        for screen in self.screen_stack:
            if isinstance(screen, FrameScreen):
                screen.repaint()

    # -- navigation --------------------------------------------------------------------------------------------------

    def open_holders(self, queue: ObjectName) -> None:
        """Ask which applications have a queue open, and show them."""
        at = self._screen_context.news.at
        if at is not None:
            self.notify(refusal("queue managers can be asked", at, self._screen_context.zones.zone), markup=False)
            return
        # What is asked of queue managers is imported only where somebody asks: it would delay every start.
        from mqvitals_tui.screens.holders_screen import HoldersScreen

        self.push_screen(HoldersScreen(self._screen_context, self.store, queue, self._trail))

    @property
    def _trail(self) -> tuple[str, ...]:
        """The titles of the screens that lead to the next one."""
        top = self.screen
        if isinstance(top, DetailScreen | LinesScreen):
            return (*top.trail, top.trail_title)
        return (self._main.tab.title,)

    def open_object(self, name: ObjectName) -> None:
        """Show the detail of an object."""
        top = self.screen
        if not isinstance(top, DetailScreen) or top.object_name != name:
            self.push_screen(DetailScreen(self._screen_context, name, self._trail))

    def open_before(self, alert: int) -> None:
        """Show what came before the alert with this number in the store."""
        self.push_screen(BeforeScreen(self._screen_context, alert, self._trail))

    def action_compare(self) -> None:
        """Compare the moment of the screens with another one: of an object's page the object, else the group."""
        top = self.screen
        if isinstance(top, FrameScreen):
            name = top.object_name if isinstance(top, DetailScreen) else None
            at = self._screen_context.news.at
            self.push_screen(ComparisonScreen(self._screen_context, name, self._trail, at, self._mark))

    def action_mark(self) -> None:
        """Mark the moment of the screens."""
        newest = self._screen_context.news.newest
        if newest is not None:
            self._mark = newest.now
            words = f"Marked {moment(self._mark)} {zone_name(self._mark)}: = compares other moments with it"
            self.notify(words, markup=False)

    def go_to(self, tab: str) -> None:
        """Show a tab of the main screen, whatever screens are above it."""
        while self.screen is not self._main and len(self.screen_stack) > 1:
            self.pop_screen()
        self._main.go_to(TABS_BY_ID[tab])

    def action_tab(self, tab: str) -> None:
        """A digit; a further press leads to the next tab with this digit, if there is one."""
        here, wanted = self._main.tab, TABS_BY_ID[tab]
        following = next_sibling(here) if self.screen is self._main and here.key == wanted.key else None
        self.go_to((following or wanted).id)

    def action_keys(self) -> None:
        """The help for the screen on top."""
        top = self.screen
        if isinstance(top, FrameScreen):
            self.push_screen(HelpScreen(top.help_groups()))
        elif isinstance(top, WatchScreen):
            self.push_screen(HelpScreen(top.help_groups(), top.everywhere))

    def action_command_palette(self) -> None:
        """The command palette."""
        if isinstance(self.screen, FrameScreen):
            self.push_screen(
                CommandPalette(placeholder="a screen, or words of an object's name", id="--command-palette")
            )

    # -- the fleet ---------------------------------------------------------------------------------------------------

    @property
    def has_fleet(self) -> bool:
        """Whether there are several groups to look at."""
        return self._fleet is not None

    def action_fleet(self) -> None:
        """All groups of the fleet."""
        if self._fleet is None:
            self.notify("There is no fleet: list groups under fleet in the configuration", markup=False)
            return
        if not self._fleet_runs:
            self._fleet_runs = True
            self.run_worker(self._fleet.run(self._show_fleet), name="fleet")
        came_from = None
        if self._group is not None:
            store = self._group.store
            local = (each for each in self._fleet.sources if isinstance(each, LocalGroup))
            came_from = next((each.key for each in local if _same_file(each.store, store)), "")
        self.push_screen(FleetScreen(self._fleet, self._machine, self._fleet_zones, came_from=came_from))

    def leave_group(self) -> None:
        """Back from a group to the fleet, where that was looked at first."""
        if self._fleet is not None and self._group is not self._first:
            self.action_fleet()

    def _show_fleet(self) -> None:
        if self.is_running and isinstance(self.screen, WatchScreen):
            self.screen.repaint()

    def open_group(self, key: str) -> None:
        """Show the group of the fleet with this key: its own screens, or what its agent says elsewhere."""
        assert self._fleet is not None
        source = self._fleet.source(key)
        if not isinstance(source, LocalGroup):
            self.push_screen(RemoteGroupScreen(self._fleet, self._machine, self._fleet_zones, key))
            return
        for group in filter(None, (self._group, self._first)):
            if _same_file(group.store, source.store):
                self._show_group(group)
                return
        self._opening = key
        self.run_worker(partial(self._read_config, source), name="config", thread=True)

    def _read_config(self, source: LocalGroup) -> None:
        """Runs in a thread of its own: rules take a moment to read."""
        config = source.config
        self.call_from_thread(self._opened, source, config)

    def _opened(self, source: LocalGroup, config: GroupConfig) -> None:
        if source.key != self._opening or not isinstance(self.screen, FleetScreen):
            # Meanwhile another one was chosen, or none.
            return
        self._show_group(ShownGroup(source.store, config.rule_config, config.settings, self._machine))
        if config.problem:
            self.notify(config.problem, severity="warning", markup=False)

    def _show_group(self, group: ShownGroup) -> None:
        """Lead from the fleet to a group: to where it was left, or to its overview."""
        self._opening = ""
        if group is self._group:
            self.pop_screen()
            return
        if self._group is not None:
            self._feed.stop()
        while len(self.screen_stack) > 1:
            self.pop_screen()
        self._take(group)
        self._begin()

    def _is_of_the_group(self, feed: object) -> bool:
        """Whether a message is of the feed of the group that is shown; one before may have posted its last."""
        return feed is None or feed is self._feed

    # -- zones -------------------------------------------------------------------------------------------------------

    def action_next_zone(self) -> None:
        """Show times in the next zone, on all screens."""
        top = self.screen
        zones = top.zones if isinstance(top, WatchScreen) else self._screen_context.zones
        if not zones.next():
            self.notify(
                "All zones here are the same; tui.time_zone and time_zone of queue managers name others", markup=False
            )
            return
        self._repaint_top()
        with times_in(zones.zone):
            name, whose = zone_name(self._machine()), zones.shown.words
        self.notify(f"Times are now in {name}{'' if whose == name else f' ({whose})'}", markup=False)

    # -- themes ------------------------------------------------------------------------------------------------------

    def use_theme(self, name: str) -> None:
        """Change the theme."""
        self.set_class(name == CONTRAST.name, _ATTRIBUTES)
        self.theme = name

    def action_next_theme(self) -> None:
        """The next of the themes."""
        names = [theme.name for theme in THEMES]
        here = names.index(self.theme) if self.theme in names else -1
        self.use_theme(names[(here + 1) % len(names)])


def _same_file(one: Path, other: Path) -> bool:
    return one == other or one.resolve() == other.resolve()
