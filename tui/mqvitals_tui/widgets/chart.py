"""A braille chart that fills its widget, with its figures in words below."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import ClassVar

from textual.strip import Strip
from textual.widget import Widget

from mqvitals_agent.text.chart import MARK, TimeRange, chart, plot
from mqvitals_agent.text.figure import clock
from mqvitals_agent.text.styled import Line, Span, Tone, line
from mqvitals_agent.text.terminal import cells, cut
from mqvitals_agent.view.trend import ChartData
from mqvitals_tui.widgets.painting import TONE_CLASSES, paint, tone_css

_BLANK = "\u2800"
_BESIDE = 2
_UNDER = 2
"""Lines below the plot: the axis and its times."""


class BrailleChart(Widget):
    """One series, with earlier ones faint behind it, and a legend: last, least and greatest value.

    At least five lines.
    """

    DEFAULT_CSS = (
        "BrailleChart { height: 1fr; min-height: 5; width: 1fr; background: $background; color: $foreground; }\n"
        + tone_css("BrailleChart")
    )
    COMPONENT_CLASSES: ClassVar[set[str]] = set(TONE_CLASSES)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - the toolkit's word
        super().__init__(id=id, classes=classes)
        self._data: ChartData | None = None
        self._span = TimeRange(0, 1)
        self._time_words = ""
        self._empty = ""
        self._drawn: tuple[tuple[int, int], tuple[Line, ...]] | None = None

    def show(
        self, data: ChartData, span: TimeRange, *, time_words: str = "", empty: str = "No poll in this time"
    ) -> None:
        """Draw ``data`` over ``span``.

        ``time_words`` are between the first and the last moment where there is room. ``empty`` is the text when no
        value is present.
        """
        shown = (span, time_words, empty)
        if self._data is not None and shown == (self._span, self._time_words, self._empty):
            # Its functions are made anew each time.
            before = self._data
            if data == before._replace(words=data.words, time_label=data.time_label):
                return
        self._data = data
        self._span, self._time_words, self._empty = shown
        self._drawn = None
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of the chart at its current size."""
        size = (self.size.width, self.size.height)
        if self._drawn is None or self._drawn[0] != size:
            self._drawn = (size, self._draw(*size))
        lines = self._drawn[1]
        return paint(self, lines[y] if y < len(lines) else line(), size[0], self.rich_style)

    def _draw(self, width: int, height: int) -> tuple[Line, ...]:
        data, span = self._data, self._span
        values = [] if data is None else [value for _, value in data.points if value is not None and isfinite(value)]
        if data is None or not values:
            return (line(self._empty, Tone.ABSENT),)
        rows = max(height - _UNDER - 1, 1)
        drawing = chart(
            data.points,
            data.scale,
            span,
            width=width,
            height=rows,
            time_label=data.time_label,
            steps=data.steps,
            marks=[ts for ts, _ in data.marks],
        )
        inner = len(drawing[rows].partition("└")[2])
        earlier = [(name, series) for name, series in data.earlier if series]
        behind = [plot(series, data.scale, span, width=inner, height=rows, steps=data.steps) for _, series in earlier]
        lines = [
            Line((Span(text[:-inner], Tone.FAINT), *_over(text[-inner:], [plane[y] for plane in behind])))
            for y, text in enumerate(drawing[:rows])
        ]
        axis, times = drawing[rows:]
        lines += [line(axis, Tone.FAINT), line(_between(times, self._time_words), Tone.FAINT)]
        return (*lines, _legend(data, values, [name for name, _ in earlier], width))


def _mark_words(data: ChartData) -> str:
    """The newest change of the definition, and how many more are marked."""
    if not data.marks:
        return ""
    ts, changed = data.marks[-1]
    more = f" and {len(data.marks) - 1} more" if len(data.marks) > 1 else ""
    return f"   {MARK} {clock(ts)} {changed}{more}"


def _legend(data: ChartData, values: list[float], earlier: Sequence[str], width: int) -> Line:
    last = data.points[-1][1]
    newest = data.words(values[-1])
    if last is None or not isfinite(last):
        newest = f"absent, before {newest}"
    text = f"last {newest}   min {data.words(min(values))}   max {data.words(max(values))}"
    names = f"   faint: {', '.join(earlier)}" if earlier else ""
    # What changed counts for more than which days are shown faint.
    text += cut(_mark_words(data), max(width - cells(text), 0)) if data.marks else ""
    if cells(text) + cells(names) > width:
        names = ""
    return Line((Span(text), Span(names, Tone.FAINT)))


def _between(times: str, words: str) -> str:
    """``words`` in the middle between the first and the last time, where they fit with two blanks on each side."""
    begin, _, end = times.strip().partition(" ")
    start = times.index(begin) + len(begin)
    stop = len(times) - len(end.strip())
    room = stop - start - len(words)
    if not words or not end or room < 2 * _BESIDE:
        return times
    return f"{times[:start]}{' ' * (room // 2)}{words}{' ' * (room - room // 2)}{times[stop:]}"


def _over(front: str, behind: Sequence[str]) -> list[Span]:
    """A row of the plot over rows of other series: where it has no dots, theirs are shown, faint."""
    spans: list[Span] = []
    for x, char in enumerate(front):
        here = Tone.INFO
        if char == _BLANK and behind:
            bits = 0
            for row in behind:
                bits |= ord(row[x]) - ord(_BLANK)
            char, here = chr(ord(_BLANK) + bits), Tone.FAINT
        if spans and spans[-1].tone is here:
            spans[-1] = Span(spans[-1].text + char, here)
        else:
            spans.append(Span(char, here))
    return spans
