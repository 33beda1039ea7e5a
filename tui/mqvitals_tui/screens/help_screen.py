"""The help: every key and what it does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from mqvitals_agent.view.overview import heading
from mqvitals_agent.view.severity import Health
from mqvitals_agent.view.table import Line, Span, Tone, line, tone_of
from mqvitals_agent.view.text import fit, wrap
from mqvitals_tui.keys import DETAIL, EVERYWHERE, HELP, MAIN, MOVES, shown
from mqvitals_tui.widgets.banner import Banner
from mqvitals_tui.widgets.lines import LinesView
from mqvitals_tui.widgets.status_bar import StatusBar

_KEYS = 20


def help_lines(width: int) -> tuple[Line, ...]:
    """All keys, and what the signs mean, in ``width`` cells."""
    lines = [heading("Everywhere", width), *_bindings(EVERYWHERE, width), heading("Lists and texts", width)]
    for keys, words in MOVES:
        lines += _entry(keys, words, width)
    lines += [heading("Lists, alerts and agent", width), *_bindings(MAIN, width)]
    lines += [heading("An object", width), *_bindings(DETAIL, width), heading("Signs", width)]
    for health in sorted(Health, reverse=True):
        lines.append(Line((Span(fit(f" {health}", _KEYS), tone_of(health)), Span(_MEANING[health]))))
    return (*lines, line(" Nothing that can be done here changes a queue manager.", Tone.FAINT))


_MEANING = {
    Health.CRITICAL: "work is stopped or lost, or soon will be",
    Health.WARNING: "it gets worse, or has less room than it should",
    Health.INFO: "worth knowing",
    Health.OK: "asked lately, and nothing is wrong",
    Health.UNKNOWN: "not asked, not answered or too old: nobody can say",
}


def _bindings(bindings: Iterable[Binding], width: int) -> list[Line]:
    return [each for binding in bindings for each in _entry(shown(binding), binding.tooltip, width)]


def _entry(keys: str, words: str, width: int) -> list[Line]:
    first, *rest = wrap(words, max(width - _KEYS, 10))
    lines = [Line((Span(fit(f" {keys}", _KEYS), Tone.STRONG), Span(first)))]
    return [*lines, *(line(" " * _KEYS + each) for each in rest)]


class HelpScreen(Screen[None], inherit_bindings=False):
    """All keys on one page that scrolls."""

    BINDINGS: ClassVar[list[BindingType]] = list(HELP)
    AUTO_FOCUS = "#lines"
    DEFAULT_CSS = """
    HelpScreen { background: $background; }
    HelpScreen #lines { height: 1fr; scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    """

    def compose(self) -> ComposeResult:
        """A title, the keys, the way out."""
        yield Banner(id="title")
        yield LinesView(id="lines")
        yield StatusBar(Line((Span(" Esc", Tone.STRONG), Span(" back", Tone.FAINT))), id="keys")

    def on_mount(self) -> None:
        """The title stays."""
        self.query_one("#title", Banner).show((line("mqvitals  keys", Tone.STRONG),))

    def on_resize(self, event: events.Resize) -> None:
        """Lines are made for a width."""
        self.query_one("#lines", LinesView).show(help_lines(max(event.size.width - 1, 20)))
