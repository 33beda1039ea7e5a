"""Lines of styled spans: what a person sees, and what each piece means.

The terminal interface paints them, ``ansi`` prints them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from itertools import zip_longest
from typing import NamedTuple

from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.terminal import cells, wrap


class Tone(Enum):
    """The meaning of a piece of text; the words express it too. Each looks different in every theme."""

    PLAIN = "plain"
    FAINT = "faint"  # of less importance: titles, units, zeros
    STRONG = "strong"
    STALE = "stale"  # a figure too old to describe the present
    ABSENT = "absent"  # no figure; the text gives the reason
    UNKNOWN = "unknown"
    OK = "ok"
    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"
    CALM = "calm"  # of a meter: far from the value at which a rule fires,
    RISING = "rising"  # on the way there,
    NEAR = "near"  # close to it


def tone_of(health: Health) -> Tone:
    """The tone of a health."""
    return Tone(health.word)


class Span(NamedTuple):
    """A piece of a line of styled text; ``bold``: whether it stands out, None: as its tone does; ``shaded``: on a
    ground of its own, as the time of an alert in a chart."""

    text: str
    tone: Tone = Tone.PLAIN
    bold: bool | None = None
    shaded: bool = False


class Part(NamedTuple):
    """The cells of a line from ``begin`` to before ``end`` that lead somewhere by themselves, such as a cell of a matrix.

    ``key`` is the whole name of the object that Enter opens there. ``at`` is the past moment (ms UTC) to which Enter
    leads instead, 0: none; ``words`` say what there is, for the last line of the screen.
    """

    begin: int
    end: int
    key: str
    at: int = 0
    words: str = ""


class Line(NamedTuple):
    """A line of styled text.

    ``key`` is the whole name of the object that Enter opens, empty: none. ``alert`` and ``silence`` are the number in
    the store of the alert or silence that the line is about, 0: none. ``parts`` are its own ways, from left to right:
    the cursor goes from one to the next. ``figure`` is the metric whose figure the line shows, ``copies`` the command
    that it holds, ``section`` the section of the page whose heading it is, which folds; empty: none. ``at`` is the past moment (ms UTC) that it tells of,
    0: none.
    """

    spans: tuple[Span, ...]
    key: str = ""
    alert: int = 0
    silence: int = 0
    parts: tuple[Part, ...] = ()
    figure: str = ""
    copies: str = ""
    section: str = ""
    at: int = 0

    @property
    def is_stop(self) -> bool:
        """Whether the cursor stops at it: there is something to open or to act on."""
        return any(self[1:])

    @property
    def text(self) -> str:
        """The plain text."""
        return "".join(span.text for span in self.spans)


def line(text: str = "", tone: Tone = Tone.PLAIN, key: str = "") -> Line:
    """A line of one tone."""
    return Line((Span(text, tone),), key)


def signed_line(text: str, health: Health, *, bold: bool | None = None) -> Line:
    """A line that begins with the glyph and word of the health, in its tone; the rest is plain. ``bold``: all of it."""
    sign = str(health)
    if not text.startswith(sign):
        return line(text)
    return Line((Span(sign, tone_of(health), bold), Span(text[len(sign) :], Tone.PLAIN, bold or None)))


def wrapped(
    text: str, width: int, tone: Tone = Tone.PLAIN, *, first: str = "", rest: str = "", key: str = ""
) -> list[Line]:
    """``text`` in lines of at most ``width`` cells, all of one tone; ``first`` and ``rest`` as for ``wrap``."""
    return [line(each, tone, key) for each in wrap(text, width, first=first, rest=rest)]


def labelled(
    label: Span,
    text: str,
    width: int,
    tone: Tone = Tone.PLAIN,
    *,
    gap: str = "  ",
    indent: int | None = None,
    key: str = "",
) -> list[Line]:
    """``text`` wrapped behind a label that has its own tone and a gap; further lines begin below the text, or
    ``indent`` cells in."""
    head = f"{label.text}{gap}"
    first, *rest = wrap(text, width, first=head, rest=" " * (cells(head) if indent is None else indent))
    return [Line((label, Span(first[len(label.text) :], tone)), key), *(line(each, tone, key) for each in rest)]


class Panel(NamedTuple):
    """Lines of a part of the screen, each in at most ``width`` cells."""

    width: int
    lines: tuple[Line, ...]


PANEL_GAP = 3
"""Cells between two panels."""


def beside_each_other(panels: Sequence[Panel]) -> list[Line]:
    """Panels in one row of panels: each keeps its cells, and what opens when the cursor is there."""
    lines = []
    for row in zip_longest(*(panel.lines for panel in panels)):
        spans: list[Span] = []
        parts: list[Part] = []
        x = 0
        for place, (panel, shown) in enumerate(zip(panels, row, strict=True)):
            if place:
                spans.append(Span(" " * PANEL_GAP))
                x += PANEL_GAP
            text = 0 if shown is None else cells(shown.text)
            spans += () if shown is None else shown.spans
            spans.append(Span(" " * (panel.width - text)))
            if shown is not None and shown.key:
                parts.append(Part(x, x + panel.width, shown.key))
            x += panel.width
        lines.append(Line(tuple(spans), parts[0].key if parts else "", parts=tuple(parts)))
    return lines


_RULE = "─"


def heading(title: str, width: int) -> Line:
    """A title followed by a horizontal rule."""
    return Line((Span(f"{title} ", Tone.STRONG), Span(_RULE * max(width - cells(title) - 1, 0), Tone.FAINT)))


def is_heading(line: Line) -> bool:
    """Whether a line is a heading."""
    return len(line.spans) == 2 and line.spans[0].tone is Tone.STRONG and not line.spans[1].text.strip(_RULE)


COLOUR_VARIABLE = "MQVITALS_COLOR"
"""``always`` colours output that is not a terminal too, ``never`` none; for programs that pass the output on."""

# The terminal's own palette, so that light and dark ones stay readable. The words and glyphs say the same without.
_SGR: Mapping[Tone, str] = {
    Tone.FAINT: "2",
    Tone.STRONG: "1",
    Tone.OK: "32",
    Tone.INFO: "36",
    Tone.UNKNOWN: "35",
    Tone.WARNING: "1;33",
    Tone.CRITICAL: "1;31",
}


def wants_colour(environ: Mapping[str, str], *, terminal: bool) -> bool:
    """Whether to colour: on a terminal, unless NO_COLOR is set or the terminal is a dumb one."""
    word = environ.get(COLOUR_VARIABLE, "")
    if environ.get("NO_COLOR") or word == "never":
        return False
    return word == "always" or (terminal and environ.get("TERM", "") != "dumb")


def ansi(shown: Line, *, colour: bool) -> str:
    """The line as it is printed: with ``colour`` its tones as escape sequences, without blanks at its end."""
    return "".join(
        f"\x1b[{codes}m{span.text}\x1b[0m" if colour and span.text and (codes := _codes(span)) else span.text
        for span in shown.spans
    ).rstrip()


_BOLD = "1"


def _codes(span: Span) -> str:
    codes = _SGR.get(span.tone, "").split(";") if span.tone in _SGR else []
    if span.bold is not None:
        codes = [*([_BOLD] if span.bold else []), *(each for each in codes if each != _BOLD)]
    return ";".join(codes)
