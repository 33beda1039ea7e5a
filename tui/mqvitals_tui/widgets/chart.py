"""A chart that fills its widget, with its figures in words below."""

from __future__ import annotations

from typing import ClassVar

from textual.strip import Strip
from textual.widget import Widget

from mqvitals_agent.text.chart_lines import AXIS_LINES, Chart, chart_lines, cursor_at, cursor_moved, legend
from mqvitals_agent.text.styled import Line, Tone, line
from mqvitals_tui.widgets.painting import TONE_CLASSES, paint, tone_css

_BESIDE = 2
_LEGEND_LINES = 1


class BrailleChart(Widget):
    """A chart, and a legend below it: last, least and greatest value, or at the cursor those of its moment.

    At least five lines.
    """

    DEFAULT_CSS = (
        "BrailleChart { height: 1fr; min-height: 5; width: 1fr; background: $background; color: $foreground; }\n"
        + tone_css("BrailleChart")
    )
    COMPONENT_CLASSES: ClassVar[set[str]] = set(TONE_CLASSES)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - the toolkit's word
        super().__init__(id=id, classes=classes)
        self._chart: Chart | None = None
        self._time_words = ""
        self._empty = ""
        self._key: object = None
        self._drawn: tuple[tuple[int, int], tuple[Line, ...]] | None = None

    def show(self, chart: Chart, *, time_words: str = "", empty: str = "No poll in this time") -> None:
        """Draw ``chart``.

        ``time_words`` are between the first and the last moment where there is room. ``empty`` is the text when no
        value is present.
        """
        key = (_without_functions(chart), time_words, empty)
        if key == self._key:
            return
        self._key, self._chart, self._time_words, self._empty = key, chart, time_words, empty
        self._drawn = None
        self.refresh()

    @property
    def chart(self) -> Chart | None:
        """What is drawn; None before anything was."""
        return self._chart

    def moment_at(self, x: int) -> int | None:
        """The moment (ms UTC) at the cell ``x`` of the widget, for a cursor; None without a chart."""
        return None if self._chart is None else cursor_at(self._chart, self.size.width, self._rows, x)

    def moment_beside(self, cells: int) -> int | None:
        """The moment (ms UTC) ``cells`` on from the cursor, back where negative; None without a chart."""
        return None if self._chart is None else cursor_moved(self._chart, self.size.width, self._rows, cells)

    @property
    def _rows(self) -> int:
        return max(self.size.height - AXIS_LINES - _LEGEND_LINES, 1)

    def render_line(self, y: int) -> Strip:
        """One line of the chart at its current size."""
        size = (self.size.width, self.size.height)
        if self._drawn is None or self._drawn[0] != size:
            self._drawn = (size, self._draw(*size))
        lines = self._drawn[1]
        return paint(self, lines[y] if y < len(lines) else line(), size[0], self.rich_style)

    def _draw(self, width: int, height: int) -> tuple[Line, ...]:
        chart = self._chart
        if chart is None or not chart.has_values:
            return (line(self._empty, Tone.ABSENT),)
        *drawing, times = chart_lines(chart, width, max(height - AXIS_LINES - _LEGEND_LINES, 1))
        return (*drawing, line(_between(times.text, self._time_words), Tone.FAINT), legend(chart, width))


def _without_functions(chart: Chart) -> object:
    """All that is drawn but the functions, which are made anew each time."""
    series = [(each.name, each.points, each.scale, each.longest) for each in (*chart.series, *chart.behind)]
    facts = (chart.scale, chart.span, chart.limits, chart.shaded, chart.marks, chart.steps, chart.cursor)
    return len(chart.series), series, facts


def _between(times: str, words: str) -> str:
    """``words`` in the middle between the first and the last time, where they fit with two blanks on each side."""
    begin, _, end = times.strip().partition(" ")
    start = times.index(begin) + len(begin)
    stop = len(times) - len(end.strip())
    room = stop - start - len(words)
    if not words or not end or room < 2 * _BESIDE:
        return times
    return f"{times[:start]}{' ' * (room // 2)}{words}{' ' * (room - room // 2)}{times[stop:]}"
