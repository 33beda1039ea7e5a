"""As many lines of toned text as are given: the header, which grows when there is something to know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from mqvitals_agent.text.styled import Line, line
from mqvitals_tui.widgets.tones import TONE_CLASSES, paint, tone_css


class Banner(Widget):
    """Lines that are painted anew when they change; its height is their number, and it is not there without any."""

    DEFAULT_CSS = "Banner { height: 1; width: 1fr; background: $panel; color: $foreground; }\n" + tone_css("Banner")
    COMPONENT_CLASSES: ClassVar[set[str]] = set(TONE_CLASSES)

    class Clicked(Message):
        """A click on the cell ``x`` of the line ``y``."""

        def __init__(self, banner: Banner, x: int, y: int) -> None:
            super().__init__()
            self.banner = banner
            self.x = x
            self.y = y

        @property
        def control(self) -> Banner:
            """The banner, for ``@on`` with a selector."""
            return self.banner

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - the toolkit's word
        super().__init__(id=id, classes=classes)
        self._lines: tuple[Line, ...] = ()
        self.display = False

    def show(self, lines: Sequence[Line]) -> None:
        """Show these lines."""
        lines = tuple(lines)
        if lines == self._lines:
            return
        if len(lines) != len(self._lines):
            self.styles.height = len(lines)
            self.display = bool(lines)
        self._lines = lines
        self.refresh()

    @property
    def text(self) -> str:
        """The plain text of the lines."""
        return "\n".join(each.text for each in self._lines)

    def render_line(self, y: int) -> Strip:
        """One of the lines."""
        return paint(self, self._lines[y] if y < len(self._lines) else line(), self.size.width, self.rich_style)

    def on_click(self, event: events.Click) -> None:
        """Say where."""
        offset = event.get_content_offset(self)
        if offset is not None:
            self.post_message(self.Clicked(self, offset.x, offset.y))
