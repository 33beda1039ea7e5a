"""The help: every key of the screen below, and its action."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Line, Span, Tone, heading, line, tone_of
from mqvitals_agent.text.terminal import cut, fit, wrap
from mqvitals_agent.view.alerts.handling import ACKNOWLEDGED, IN_MAINTENANCE, NEW, SILENCED
from mqvitals_tui.keys import APP, HELP, Hint, hint_line, key_names
from mqvitals_tui.tabs import EVERYWHERE
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.painting import Banner, StatusBar

_KEYS = 20

Groups = Sequence[tuple[str, Sequence[Binding]]]

MOUSE = (
    ("Click", "Put the cursor on a line; on a title: sort by it; on a screen's name above: go there"),
    ("Double click", "Open the object"),
    ("Wheel", "Move the text or the table; the cursor stays on its object"),
)
"""The functions of a mouse; all of them have keys too."""


def help_lines(groups: Groups, width: int, everywhere: Sequence[Binding] = EVERYWHERE) -> tuple[Line, ...]:
    """The keys of a screen and of all screens like it (``everywhere``), and the meaning of signs, in ``width`` cells."""
    lines: list[Line] = []
    for title, bindings in (*groups, ("Everywhere", (*everywhere, *APP))):
        lines += [heading(title, width), *_bindings(bindings, width)]
    lines.append(heading("Mouse", width))
    for what, words in MOUSE:
        lines += _entry(what, words, width)
    lines.append(heading("Signs", width))
    for health in sorted(Health, reverse=True):
        first, *rest = wrap(_MEANING[health], max(width - _KEYS, 10))
        lines.append(Line((Span(fit(f" {health}", _KEYS), tone_of(health)), Span(first))))
        lines += [line(" " * _KEYS + each) for each in rest]
    lines += [
        Line((Span(fit(f" {mark}", _KEYS), Tone.STRONG), Span(cut(_MARKS[mark], max(width - _KEYS, 10)))))
        for mark in _MARKS
    ]
    last = "No key or click here changes a queue manager."
    return (*lines, *(line(f" {each}", Tone.FAINT) for each in wrap(last, width - 1)))


_MARKS = {
    NEW: "the alert is not acknowledged: it is bold",
    ACKNOWLEDGED: "somebody has acknowledged the alert",
    SILENCED: "the alert is silenced",
    IN_MAINTENANCE: "the alert is expected: maintenance",
}

_MEANING = {
    Health.CRITICAL: "work is stopped or lost, or soon will be",
    Health.WARNING: "it gets worse, or has less room than it should",
    Health.INFO: "worth knowing",
    Health.OK: "polled recently, and nothing is wrong",
    Health.UNKNOWN: "not polled, not answered or too old: the state is unknown",
}


def _bindings(bindings: Iterable[Binding], width: int) -> list[Line]:
    return [each for binding in bindings for each in _entry(key_names(binding), binding.tooltip, width)]


def _entry(keys: str, words: str, width: int) -> list[Line]:
    first, *rest = wrap(words, max(width - _KEYS, 10))
    lines = [Line((Span(fit(f" {keys}", _KEYS), Tone.STRONG), Span(first)))]
    return [*lines, *(line(" " * _KEYS + each) for each in rest)]


class HelpScreen(Screen[None], inherit_bindings=False):
    """The keys of the screen below, as a text that scrolls; ``groups`` are those of that screen alone, ``everywhere``
    those of all screens like it.
    """

    BINDINGS: ClassVar[list[BindingType]] = list(HELP)
    AUTO_FOCUS = "#lines"
    DEFAULT_CSS = """
    HelpScreen { background: $background; }
    HelpScreen #lines { height: 1fr; scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    """

    def __init__(self, groups: Groups, everywhere: Sequence[Binding] = EVERYWHERE) -> None:
        super().__init__()
        self._groups = groups
        self._everywhere = everywhere

    def compose(self) -> ComposeResult:
        """Title, keys, and how to leave."""
        yield Banner(id="title")
        yield LinesView(id="lines")
        yield StatusBar(id="keys")

    def on_mount(self) -> None:
        """The title stays."""
        self.query_one("#title", Banner).show((line("mqvitals  keys", Tone.STRONG),))

    def on_resize(self, event: events.Resize) -> None:
        """Lines are made for a width."""
        self.query_one("#lines", LinesView).show(
            help_lines(self._groups, max(event.size.width - 1, 20), self._everywhere)
        )
        hints = (Hint("Esc", "back"), Hint("Up Down", "read on", 1))
        self.query_one("#keys", StatusBar).show((hint_line(hints, event.size.width),))
