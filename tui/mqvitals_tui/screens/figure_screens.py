"""Screens about the figures of an object: one explained, and all that can be charted to choose from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice, product
from typing import ClassVar, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from mqvitals_agent.text.styled import Line, Span, Tone, line
from mqvitals_agent.text.terminal import cells, cut, fit
from mqvitals_tui.keys import CHOICE, EXPLANATION, Hint, hint_line
from mqvitals_tui.widgets.cursor_view import CursorView
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.painting import Banner, StatusBar

_Result = TypeVar("_Result")

LETTERS = "asdfghlqwertyuiopzxcvbnm"
"""The letters of labels, those under the fingers first; j and k move the cursor."""


def labels_for(count: int) -> tuple[str, ...]:
    """``count`` different labels of one letter each, or of two where one does not tell them apart.

    Raises ValueError for more than two letters can tell apart.
    """
    if count > len(LETTERS) ** 2:
        raise ValueError(f"two letters do not tell {count} figures apart")
    words = product(LETTERS) if count <= len(LETTERS) else product(LETTERS, LETTERS)
    return tuple("".join(each) for each in islice(words, count))


class _FigureScreen(Screen[_Result], inherit_bindings=False):
    """A title, lines, and keys."""

    AUTO_FOCUS = "#lines"
    DEFAULT_CSS = """
    _FigureScreen { background: $background; }
    _FigureScreen #lines { height: 1fr; scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    """

    def compose(self) -> ComposeResult:
        """Title, text, keys."""
        yield Banner(id="title")
        yield LinesView(id="lines")
        yield StatusBar(id="keys")

    def on_resize(self, _: events.Resize) -> None:
        """Lines are made for a width."""
        self.paint_all()

    def paint_all(self) -> None:
        """Show everything at the present size."""


class ExplanationScreen(_FigureScreen[None]):
    """A figure explained; ``lines`` makes the text for a width."""

    BINDINGS: ClassVar[list[BindingType]] = list(EXPLANATION)

    def __init__(self, lines: Callable[[int], tuple[Line, ...]]) -> None:
        super().__init__()
        self._lines = lines

    def paint_all(self) -> None:
        """The text and its keys."""
        width = self.size.width
        self.query_one("#title", Banner).show((line("mqvitals  a figure explained", Tone.STRONG),))
        self.query_one("#lines", LinesView).show(self._lines(max(width - 1, 20)))
        hints = (Hint("Esc", "back"), Hint("Up Down", "read on", 1))
        self.query_one("#keys", StatusBar).show((hint_line(hints, width),))


class ChoiceScreen(_FigureScreen[str | None]):
    """The figures that can be charted, each with one or two letters; its result is the metric, None: none was chosen.

    ``figures`` are (metric, value in words, meaning).
    """

    BINDINGS: ClassVar[list[BindingType]] = list(CHOICE)

    def __init__(self, figures: Sequence[tuple[str, str, str]]) -> None:
        super().__init__()
        self._figures = dict(zip(labels_for(len(figures)), figures, strict=True))
        self._typed = ""

    def paint_all(self) -> None:
        """The figures whose labels begin with what was typed."""
        width = self.size.width
        title = f"mqvitals  chart which figure?  {self._typed}"
        self.query_one("#title", Banner).show((line(title, Tone.STRONG),))
        shown = {label: each for label, each in self._figures.items() if label.startswith(self._typed)}
        names = max((cells(name) for name, _, _ in shown.values()), default=0)
        lines = (self._line(label, *each, names, max(width - 1, 20)) for label, each in shown.items())
        self.query_one("#lines", LinesView).show(tuple(lines))
        hints = (Hint("Esc", "back"), Hint("letters", "chart it"), Hint("Enter", "chart the one under the cursor", 1))
        self.query_one("#keys", StatusBar).show((hint_line(hints, width),))

    def _line(self, label: str, name: str, value: str, meaning: str, names: int, width: int) -> Line:
        head = f" {fit(label, 4)}"
        text = f"{fit(name, names)}  {fit(value, 12, right=True)}"
        room = width - cells(head) - cells(text) - 2
        more = f"  {cut(meaning, room)}" if room > 8 else ""
        return Line((Span(head, Tone.STRONG), Span(text), Span(more, Tone.FAINT)), figure=name)

    def on_key(self, event: events.Key) -> None:
        """A letter of a label; once it is complete its figure is chosen."""
        if event.key == "backspace":
            self._typed = self._typed[:-1]
        elif event.character is not None and any(
            each.startswith(self._typed + event.character) for each in self._figures
        ):
            self._typed += event.character
        else:
            return
        event.stop()
        if self._typed in self._figures:
            self.dismiss(self._figures[self._typed][0])
        else:
            self.paint_all()

    def on_cursor_view_opened(self, _: CursorView.Opened) -> None:
        """Enter on a figure, or a double click."""
        self.action_choose()

    def action_choose(self) -> None:
        """The figure under the cursor."""
        under = self.query_one("#lines", LinesView).cursor_line
        if under is not None:
            self.dismiss(under.figure)

    def action_leave(self) -> None:
        """Back without a choice."""
        self.dismiss(None)
