"""A screen that is no tab: a trail, and lines of which each may lead to an object."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.widget import Widget

from mqvitals_tui.screens.frame_screen import FrameScreen, ScreenContext
from mqvitals_tui.widgets.cursor_view import CursorView
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.painting import Banner, StatusBar


class LinesScreen(FrameScreen):
    """Header, trail, lines, keys; ``trail`` are the titles of the screens that led here."""

    AUTO_FOCUS = "#lines"
    DEFAULT_CSS = """
    LinesScreen { background: $background; }
    LinesScreen #lines { height: 1fr; scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    """

    trail_title = ""
    """Its title in the trail of what is opened from here."""

    def __init__(self, context: ScreenContext, trail: tuple[str, ...]) -> None:
        super().__init__(context)
        self.trail = trail

    def compose(self) -> ComposeResult:
        """Header, trail, lines, keys."""
        yield Banner(id="header")
        yield Banner(id="trail")
        yield LinesView(id="lines")
        yield StatusBar(id="keys")

    @property
    def body(self) -> Widget:
        """The lines."""
        return self.lines

    @property
    def lines(self) -> LinesView:
        """The lines."""
        return self.query_one("#lines", LinesView)

    def on_cursor_view_opened(self, message: CursorView.Opened) -> None:
        """Enter on a line opens its object."""
        self.open_key(message.key)

    def action_back(self) -> None:
        """To where this was opened."""
        self.dismiss()
