"""What came before an alert: changes and figures that left their usual range, the highest score first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widget import Widget

from mqvitals_agent.view.before import before_lines
from mqvitals_agent.view.frame import BEFORE, FrameRequest
from mqvitals_tui.feed import LoadedFrame
from mqvitals_tui.keys import BEFORE_SCREEN, MOVES, Hint, hint_line
from mqvitals_tui.screens.frame_screen import FrameScreen, ScreenContext, trail_line
from mqvitals_tui.widgets.cursor_view import CursorView, LinesView
from mqvitals_tui.widgets.painting import Banner, StatusBar


class BeforeScreen(FrameScreen):
    """What came before the alert with the ``number`` in the store; ``trail`` are the titles of the screens that led here."""

    BINDINGS: ClassVar[list[BindingType]] = list(BEFORE_SCREEN)
    AUTO_FOCUS = "#lines"
    DEFAULT_CSS = """
    BeforeScreen { background: $background; }
    BeforeScreen #lines { height: 1fr; scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    """

    trail_title = "before it"

    def __init__(self, context: ScreenContext, number: int, trail: tuple[str, ...]) -> None:
        super().__init__(context)
        self.number = number
        self.trail = trail

    def compose(self) -> ComposeResult:
        """Header, trail, text, keys."""
        yield Banner(id="header")
        yield Banner(id="trail")
        yield LinesView(id="lines")
        yield StatusBar(id="keys")

    @property
    def request(self) -> FrameRequest:
        """What came before this alert."""
        return FrameRequest(BEFORE, alert=self.number)

    @property
    def body(self) -> Widget:
        """The text."""
        return self.query_one("#lines", LinesView)

    def help_groups(self) -> tuple[tuple[str, Sequence[Binding]], ...]:
        """The keys of this screen."""
        return (("Here: what came before an alert", BEFORE_SCREEN), ("Moving about", MOVES))

    def paint_static(self, width: int) -> None:
        """The trail and the keys."""
        self.query_one("#trail", Banner).show((trail_line((*self.trail, self.trail_title), width),))
        hints = (
            Hint("Esc", "back"),
            Hint("Enter", "open the object", 1),
            Hint(":", "find", 5),
            Hint("?", "help"),
            Hint("q", "quit"),
        )
        self.query_one("#keys", StatusBar).show((hint_line(hints, width),))

    def paint(self, read: LoadedFrame, width: int) -> None:
        """The lines, the highest score first."""
        frame = read.frame
        self.query_one("#lines", LinesView).show(before_lines(frame.before, frame.now, max(width - 1, 20)))

    def on_cursor_view_opened(self, message: CursorView.Opened) -> None:
        """Enter on a line opens its object."""
        self.open_key(message.key)

    def action_back(self) -> None:
        """To where this was opened."""
        self.dismiss()
