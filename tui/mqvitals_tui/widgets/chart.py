"""A braille chart that fills its widget, with its figures in words below."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.strip import Strip
from textual.widget import Widget

from mqvitals_agent.text.chart import Scale, TimeRange, chart, plot
from mqvitals_agent.text.figure import clock
from mqvitals_agent.text.styled import Line, Span, Tone, line
from mqvitals_agent.text.terminal import cells
from mqvitals_tui.widgets.painting import TONE_CLASSES, paint, tone_css

Points = Sequence[tuple[int, float | None]]

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
        self._points: Points = ()
        self._scale = Scale(0.0, 1.0, ())
        self._span = TimeRange(0, 1)
        self._words: Callable[[float], str] = str
        self._time: Callable[[int], str] = clock
        self._time_words = ""
        self._shown: object = None
        self._earlier: tuple[tuple[str, Points], ...] = ()
        self._steps = False
        self._tone = Tone.INFO
        self._empty = ""
        self._drawn: tuple[tuple[int, int], tuple[Line, ...]] | None = None

    def show(
        self,
        points: Points,
        scale: Scale,
        span: TimeRange,
        *,
        words: Callable[[float], str],
        time_label: Callable[[int], str] = clock,
        time_words: str = "",
        earlier: Sequence[tuple[str, Points]] = (),
        steps: bool = False,
        tone: Tone = Tone.INFO,
        empty: str = "No poll in this time",
    ) -> None:
        """Draw ``points`` (ms UTC, value or None for a gap) over ``span``.

        ``words`` writes a value with its unit, ``time_label`` a moment; ``time_words`` are between the first and the
        last moment where there is room. ``earlier`` are series of other days with the name of each, their times
        moved into the span. ``steps``: a value holds until the next. ``empty`` is the text when no value is present.
        """
        shown = (tuple(points), scale, span, tuple(earlier), steps, tone, empty, time_words)
        if shown == self._shown:
            return
        self._shown, self._time_words = shown, time_words
        self._points, self._scale, self._span = points, scale, span
        self._words, self._time, self._steps = words, time_label, steps
        self._earlier = tuple((name, series) for name, series in earlier if series)
        self._tone, self._empty = tone, empty
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
        values = [value for _, value in self._points if value is not None and math.isfinite(value)]
        if not values:
            return (line(self._empty, Tone.ABSENT),)
        rows = max(height - _UNDER - 1, 1)
        drawing = chart(
            self._points,
            self._scale,
            self._span,
            width=width,
            height=rows,
            time_label=self._time,
            steps=self._steps,
        )
        inner = drawing[rows].count("─")
        behind = [
            plot(series, self._scale, self._span, width=inner, height=rows, steps=self._steps)
            for _, series in self._earlier
        ]
        lines = [
            Line(
                (
                    Span(text[:-inner], Tone.FAINT),
                    *_over(text[-inner:], [plane[y] for plane in behind], self._tone),
                )
            )
            for y, text in enumerate(drawing[:rows])
        ]
        axis, times = drawing[rows:]
        lines += [line(axis, Tone.FAINT), line(_between(times, self._time_words), Tone.FAINT)]
        return (*lines, self._legend(values, width))

    def _legend(self, values: list[float], width: int) -> Line:
        last = self._points[-1][1]
        newest = (
            self._words(last)
            if last is not None and math.isfinite(last)
            else f"absent, before {self._words(values[-1])}"
        )
        text = f"last {newest}   min {self._words(min(values))}   max {self._words(max(values))}"
        names = f"   faint: {', '.join(name for name, _ in self._earlier)}" if self._earlier else ""
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


def _over(front: str, behind: Sequence[str], tone: Tone) -> list[Span]:
    """A row of the plot over rows of other series: where it has no dots, theirs are shown, faint."""
    spans: list[Span] = []
    for x, char in enumerate(front):
        here = tone
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
