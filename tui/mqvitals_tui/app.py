"""The full-screen interface over a store, whoever fills it: an agent, a replay, the demo."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual.app import App
from textual.binding import BindingType
from textual.message import Message

from mqvitals_rules.check import Judging
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.commands import Jumps
from mqvitals_tui.feed import Feed, FeedFailed, FrameRead
from mqvitals_tui.keys import EVERYWHERE
from mqvitals_tui.places import BY_ID
from mqvitals_tui.screens.detail_screen import DetailScreen
from mqvitals_tui.screens.frame_screen import FrameScreen, Sight
from mqvitals_tui.screens.help_screen import HelpScreen
from mqvitals_tui.screens.main_screen import MainScreen
from mqvitals_tui.themes import DARK, THEMES


class MqvitalsApp(App[None], inherit_bindings=False):
    """Shows the store at ``store``, which need not exist yet, judged by ``judging``. It only reads.

    ``now`` gives the time, ms since 1970 UTC; ``theme`` is the name of one of ``THEMES``.
    """

    TITLE = "mqvitals"
    COMMANDS = {Jumps}  # noqa: RUF012 - the toolkit's declaration
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS: ClassVar[list[BindingType]] = list(EVERYWHERE)
    NOTIFICATION_TIMEOUT = 4

    def __init__(self, store: Path, judging: Judging, now: Callable[[], int], theme: str = DARK.name) -> None:
        super().__init__()
        self.store = store
        self._sight = Sight(judging, now)
        self._first_theme = theme
        self._feed = Feed(store, judging, now, self._post)
        self._main = MainScreen(self._sight)

    def _post(self, message: Message) -> None:
        """From the feed's thread; what comes after the end is of no use to anybody."""
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
        """Let the feed's thread end."""
        self._feed.stop()

    # -- what was read -----------------------------------------------------------------------------------------------

    def on_frame_screen_wanted(self, message: FrameScreen.Wanted) -> None:
        """The screen on top wants something else."""
        self._feed.want(message.want)

    def on_frame_read(self, message: FrameRead) -> None:
        """To whoever wants it."""
        for screen in self.screen_stack:
            if isinstance(screen, FrameScreen):
                screen.take(message.read)

    def on_feed_failed(self, message: FeedFailed) -> None:
        """Every screen says so."""
        for screen in self.screen_stack:
            if isinstance(screen, FrameScreen):
                screen.fail(message.text, waiting=message.waiting)

    # -- going places ------------------------------------------------------------------------------------------------

    def on_frame_screen_drilled(self, message: FrameScreen.Drilled) -> None:
        """Enter on an object."""
        self.open_object(message.name)

    def open_object(self, name: ObjectName) -> None:
        """Show the detail of an object."""
        top = self.screen
        if isinstance(top, DetailScreen):
            if top.object_name == name:
                return
            trail = (*top.trail, top.words)
        else:
            trail = (self._main.place.title,)
        self.push_screen(DetailScreen(self._sight, name, trail))

    def go_to(self, place: str) -> None:
        """Show a place of the main screen, whatever lies above it."""
        while self.screen is not self._main and len(self.screen_stack) > 1:
            self.pop_screen()
        self._main.go_to(BY_ID[place].id)

    def action_place(self, place: str) -> None:
        """A digit."""
        self.go_to(place)

    def action_keys(self) -> None:
        """The help."""
        self.push_screen(HelpScreen())

    # -- looks -------------------------------------------------------------------------------------------------------

    def use_theme(self, name: str) -> None:
        """Change the theme."""
        self.theme = name

    def action_next_theme(self) -> None:
        """The next of the themes."""
        names = [theme.name for theme in THEMES]
        here = names.index(self.theme) if self.theme in names else -1
        self.use_theme(names[(here + 1) % len(names)])
