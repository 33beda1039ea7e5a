"""One line of toned text across the screen: the title above, the keys below."""

from __future__ import annotations

from typing import ClassVar

from textual.strip import Strip
from textual.widget import Widget

from mqvitals_agent.text.styled import Line, line
from mqvitals_tui.widgets.tones import TONE_CLASSES, paint, tone_css


class Bar(Widget):
    """A line that is painted anew when it changes and costs nothing while it does not."""

    DEFAULT_CSS = "Bar { height: 1; width: 1fr; background: $panel; color: $foreground; }\n" + tone_css("Bar")
    COMPONENT_CLASSES: ClassVar[set[str]] = set(TONE_CLASSES)

    def __init__(self, text: Line | None = None, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._line = text or line()

    def show(self, text: Line) -> None:
        """Show this line."""
        if text != self._line:
            self._line = text
            self.refresh()

    @property
    def text(self) -> str:
        """The plain text of the line."""
        return self._line.text

    def render_line(self, y: int) -> Strip:
        """The line; further lines, should it be given any, are blank."""
        return paint(self, self._line if y == 0 else line(), self.size.width, self.rich_style)
