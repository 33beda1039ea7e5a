"""What came before an alert: changes and figures that left their usual range, the highest score first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from mqvitals_agent.view.frame import BEFORE, FrameRequest
from mqvitals_agent.view.history.before import before_lines
from mqvitals_tui.feed import LoadedFrame
from mqvitals_tui.keys import BEFORE_SCREEN, MOVES, Hint, hint_line
from mqvitals_tui.screens.frame_screen import ScreenContext, trail_line
from mqvitals_tui.screens.lines_screen import LinesScreen
from mqvitals_tui.widgets.painting import Banner, StatusBar


class BeforeScreen(LinesScreen):
    """What came before the alert with the ``number`` in the store."""

    BINDINGS: ClassVar[list[BindingType]] = list(BEFORE_SCREEN)

    trail_title = "before it"

    def __init__(self, context: ScreenContext, number: int, trail: tuple[str, ...]) -> None:
        super().__init__(context, trail)
        self.number = number

    @property
    def request(self) -> FrameRequest:
        """What came before this alert."""
        return FrameRequest(BEFORE, alert=self.number)

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
        self.query_one("#keys", StatusBar).show((hint_line(hints, width, self.older_words),))

    def paint(self, read: LoadedFrame, width: int) -> None:
        """The lines, the highest score first."""
        frame = read.frame
        self.lines.show(before_lines(frame.before, frame.now, max(width - 1, 20)))
