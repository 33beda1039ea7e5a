"""The terminal interface of a store, whether an agent, a replay or the demo fills it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual.app import App
from textual.binding import BindingType
from textual.command import CommandPalette
from textual.message import Message

from mqvitals_agent.commandline.arguments import now_ms
from mqvitals_agent.gc_tuning import freeze_long_lived
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.feed import Feed, FeedFailed, FrameLoaded
from mqvitals_tui.keys import APP, SIBLING_TABS, TABS_BY_ID
from mqvitals_tui.palette import NavigationProvider
from mqvitals_tui.screens.detail_screen import DetailScreen
from mqvitals_tui.screens.frame_screen import FrameScreen, ScreenContext
from mqvitals_tui.screens.help_screen import HelpScreen
from mqvitals_tui.screens.holders_screen import HoldersScreen
from mqvitals_tui.screens.main_screen import MainScreen
from mqvitals_tui.themes import CONTRAST, DARK, THEMES
from mqvitals_tui.widgets.painting import attribute_css

_ATTRIBUTES = "attributes"
"""The CSS class of the app while tones differ by more than colours."""


class MqvitalsApp(App[None], inherit_bindings=False):
    """Shows the store at ``store``, which need not exist yet, with the rules in ``judging``.

    It only reads, but for requests to the agent.

    ``now`` gives the time, ms since 1970 UTC; ``theme`` is the name of one of ``THEMES``. ``ended`` is a sentence once
    the child agent has ended, else empty. ``machine`` is the machine's clock, ms since 1970 UTC, by which requests to
    the agent are dated.
    """

    TITLE = "mqvitals"
    COMMANDS = {NavigationProvider}  # noqa: RUF012 - the toolkit's declaration
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS: ClassVar[list[BindingType]] = list(APP)
    NOTIFICATION_TIMEOUT = 4
    CSS = attribute_css(("Banner", "BrailleChart", "LinesView", "VirtualTable"), _ATTRIBUTES)

    def __init__(
        self,
        store: Path,
        judging: RuleConfig,
        now: Callable[[], int],
        theme: str = DARK.name,
        ended: Callable[[], str] = str,
        machine: Callable[[], int] = now_ms,
    ) -> None:
        super().__init__()
        self.store = store
        self._screen_context = ScreenContext(judging, now, ended, machine)
        self._first_theme = theme
        self._feed = Feed(store, judging, now, self._post)
        self._main = MainScreen(self._screen_context)
        self._settled = False

    def _post(self, message: Message) -> None:
        """Called from the feed's thread; messages after the end are dropped."""
        if self.is_running:
            self.post_message(message)

    def on_mount(self) -> None:
        """Themes, the main screen, and the feed."""
        for theme in THEMES:
            self.register_theme(theme)
        self.use_theme(self._first_theme)
        self.push_screen(self._main)
        self.run_worker(self._feed.run, name="feed", thread=True)

    def on_unmount(self) -> None:
        """Stop the feed's thread."""
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
        """Pass it to the screens; each shows the frame that it requested."""
        for screen in self.screen_stack:
            if isinstance(screen, FrameScreen):
                screen.take(message.read)
        if not self._settled and not self.is_headless:
            # With the first frame all long-lived objects exist. Without a terminal other code shares the process.
            self._settled = True
            self.call_after_refresh(freeze_long_lived)

    def on_feed_failed(self, message: FeedFailed) -> None:
        """Every screen shows it."""
        for screen in self.screen_stack:
            if isinstance(screen, FrameScreen):
                screen.fail(message.text, waiting=message.waiting)

    # -- navigation --------------------------------------------------------------------------------------------------

    def open_holders(self, queue: ObjectName) -> None:
        """Ask which applications have a queue open, and show them."""
        self.push_screen(HoldersScreen(self._screen_context, self.store, queue, self._trail))

    @property
    def _trail(self) -> tuple[str, ...]:
        """The titles of the screens that lead to the next one."""
        top = self.screen
        if isinstance(top, DetailScreen | HoldersScreen):
            return (*top.trail, top.trail_title)
        return (self._main.tab.title,)

    def open_object(self, name: ObjectName) -> None:
        """Show the detail of an object."""
        top = self.screen
        if not isinstance(top, DetailScreen) or top.object_name != name:
            self.push_screen(DetailScreen(self._screen_context, name, self._trail))

    def go_to(self, tab: str) -> None:
        """Show a tab of the main screen, whatever screens are above it."""
        while self.screen is not self._main and len(self.screen_stack) > 1:
            self.pop_screen()
        self._main.go_to(TABS_BY_ID[tab].id)

    def action_tab(self, tab: str) -> None:
        """A digit; a second press leads to the sibling tab, if there is one."""
        here = self.screen is self._main and self._main.tab.id == tab
        self.go_to(SIBLING_TABS[tab].id if here and tab in SIBLING_TABS else tab)

    def action_keys(self) -> None:
        """The help for the screen on top."""
        top = self.screen
        if isinstance(top, FrameScreen):
            self.push_screen(HelpScreen(top.help_groups()))

    def action_command_palette(self) -> None:
        """The command palette."""
        if isinstance(self.screen, FrameScreen):
            self.push_screen(
                CommandPalette(placeholder="a screen, or words of an object's name", id="--command-palette")
            )

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
