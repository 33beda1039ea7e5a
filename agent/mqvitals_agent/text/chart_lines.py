"""A chart as lines of styled spans: several series, the thresholds of rules, alert spans, a cursor that reads values.

``chart_lines`` draws a ``Chart`` with the labels of its scale at the left and the time axis below. Series beyond the
first have tones of their own and a digit at their end, thresholds are dashed lines with the glyph and words of their
severity, and the time of an alert is a thick part of the axis, with its sign before it, below its shaded columns: none is told
by colour alone.

A cursor is a moment: ``cursor_moved`` and ``cursor_at`` find it from keys and clicks, ``values_at`` reads the series
there, ``legend`` says it.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from mqvitals_agent.text.chart import (
    HEIGHT_RANGE,
    MARK,
    WIDTH_RANGE,
    Scale,
    TimeRange,
    label_rows,
    longest_distance,
    plot,
    row_of,
)
from mqvitals_agent.text.severity import health_of
from mqvitals_agent.text.styled import Line, Span, Tone, tone_of
from mqvitals_agent.text.symbols import BRAILLE
from mqvitals_agent.text.terminal import cells, cut, fit, safe
from mqvitals_rules.lifecycle.alert import Severity

AXIS_LINES: Final = 2
"""Lines below the plot: the axis and its times."""

SERIES_TONES: Final = (Tone.INFO, Tone.STRONG, Tone.CALM, Tone.RISING)
"""The tones of the series, in their order; of more they begin anew."""

_BLANK: Final = chr(BRAILLE.start)
_CURSOR, _CURSOR_FOOT, _THICK = "│", "┴", "━"
_DASH: Final = (0x09, 0x12, 0x24, 0xC0)
"""Both dots of a row of a braille cell, from the top."""

ChartPoints = Sequence[tuple[int, float | None]]
"""(ms UTC, value or None), in time order."""


class ChartSeries(NamedTuple):
    """A line of a chart. ``scale`` and ``words`` (of a value) are its own, None: the chart's.

    ``longest`` is the longest distance, ms, between two points that are joined; None: as ``longest_distance`` has it.
    """

    name: str
    points: ChartPoints
    scale: Scale | None = None
    words: Callable[[float], str] | None = None
    longest: float | None = None


class ChartLimit(NamedTuple):
    """A horizontal line at the value (in the unit of the chart's scale) from which a rule fires, and its words."""

    value: float
    severity: Severity
    label: str


class ShadedSpan(NamedTuple):
    """A time in which an alert was open, ms UTC, both ends included."""

    since: int
    until: int
    severity: Severity


class SeriesValue(NamedTuple):
    """What a series says of a moment: the point (ms UTC, value) that held then; None: a gap, or nothing yet."""

    name: str
    ts: int | None
    value: float | None


@dataclass(frozen=True, slots=True)
class Chart:
    """What ``chart_lines`` draws over ``span``.

    ``series`` are drawn over each other, the first in front; ``behind`` are faint (other days, their times moved).
    ``words`` says a value of the scale, ``time_label`` a moment (ms UTC). With ``steps`` a value holds until the next
    one. ``marks`` are the moments at which something changed, and what. ``cursor`` is a moment, None: there is none.
    """

    series: tuple[ChartSeries, ...]
    scale: Scale
    span: TimeRange
    words: Callable[[float], str]
    time_label: Callable[[int], str]
    behind: tuple[ChartSeries, ...] = ()
    limits: tuple[ChartLimit, ...] = ()
    shaded: tuple[ShadedSpan, ...] = ()
    marks: tuple[tuple[int, str], ...] = ()
    steps: bool = False
    cursor: int | None = None

    @property
    def has_values(self) -> bool:
        """Whether any series has a value to draw."""
        return any(_is(value) for each in self.series for _, value in each.points)


def chart_lines(chart: Chart, width: int, height: int) -> list[Line]:
    """The chart in ``width`` cells: ``height`` lines of the plot, and ``AXIS_LINES`` below it."""
    height = min(max(height, HEIGHT_RANGE[0]), HEIGHT_RANGE[1])
    labels = label_rows(chart.scale, height)
    inner = plot_width(chart, width, height)
    margin = _margin(chart.scale, height)
    canvas = _canvas(chart, inner, height)
    shaded = {x for each in chart.shaded for x in _cells_of(each, chart.span, inner)}
    lines = []
    for y, row in enumerate(canvas):
        label = f"{fit(labels.get(y, ''), margin, right=True)} {'┤' if y in labels else '│'}"
        lines.append(Line((Span(label, Tone.FAINT), *_joined(row, shaded))))
    axis = (Span(f"{' ' * margin} └", Tone.FAINT), *_joined(_axis(chart, inner), frozenset()))
    return [*lines, Line(axis), Line((Span(f"{' ' * (margin + 2)}{_times(chart, inner)}", Tone.FAINT),))]


def plot_width(chart: Chart, width: int, height: int) -> int:
    """Cells of the plot itself in a chart of this size."""
    return min(max(width - _margin(chart.scale, height) - 2, WIDTH_RANGE[0]), WIDTH_RANGE[1])


def cursor_at(chart: Chart, width: int, height: int, x: int) -> int:
    """The moment (ms UTC) at the middle of the cell ``x`` of a line of the chart; beyond the plot its nearest end."""
    inner = plot_width(chart, width, height)
    cell = min(max(x - (width - inner), 0), inner - 1)
    return _moment(cell, chart.span, inner)


def cursor_moved(chart: Chart, width: int, height: int, by: int) -> int:
    """The moment ``by`` cells on from the cursor (back: negative); without one from the end of the chart."""
    inner = plot_width(chart, width, height)
    here = inner if chart.cursor is None and by < 0 else inner - 1
    if chart.cursor is not None:
        here = _cell(min(max(chart.cursor, chart.span.since), chart.span.until), chart.span, inner)
    return _moment(min(max(here + by, 0), inner - 1), chart.span, inner)


def values_at(series: Iterable[ChartSeries], ts: int) -> list[SeriesValue]:
    """What each series says of the moment ``ts`` (ms UTC): its newest point until then, unless a gap is between."""
    found = []
    for each in series:
        place = bisect_right(each.points, ts, key=lambda point: point[0]) - 1
        longest = longest_distance(each.points) if each.longest is None else each.longest
        if place < 0:
            found.append(SeriesValue(each.name, None, None))
            continue
        at, value = each.points[place]
        there = _is(value) and ts - at <= longest
        found.append(SeriesValue(each.name, at if there else None, value if there else None))
    return found


def legend(chart: Chart, width: int) -> Line:
    """The figures in words, in ``width`` cells: at the cursor those of its moment, else the newest, least and greatest."""
    if chart.cursor is not None:
        parts = [Span(chart.time_label(chart.cursor), Tone.STRONG)]
        readings = values_at((*chart.series, *chart.behind), chart.cursor)
        for place, (each, read) in enumerate(zip((*chart.series, *chart.behind), readings, strict=True)):
            value = "no value" if read.value is None else (each.words or chart.words)(read.value)
            parts.append(_named(chart, place, value))
        return _cut(parts, width)
    if len(chart.series) != 1:
        return _cut([_named(chart, place, _newest(chart, each)) for place, each in enumerate(chart.series)], width)
    values = [value for _, value in chart.series[0].points if value is not None and math.isfinite(value)]
    if not values:
        return Line(())
    low, high = chart.words(min(values)), chart.words(max(values))
    text = cut(f"last {_newest(chart, chart.series[0])}   min {low}   max {high}", width)
    names = f"   faint: {', '.join(each.name for each in chart.behind)}" if chart.behind else ""
    # What changed counts for more than which days are shown faint.
    text += cut(_mark_words(chart), max(width - cells(text), 0)) if chart.marks else ""
    if cells(text) + cells(names) > width:
        names = ""
    return Line((Span(text), Span(names, Tone.FAINT)))


def series_tone(place: int) -> Tone:
    """The tone of the series at this place, from 0."""
    return SERIES_TONES[place % len(SERIES_TONES)]


def _is(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _newest(chart: Chart, series: ChartSeries) -> str:
    words = series.words or chart.words
    values = [value for _, value in series.points if value is not None and math.isfinite(value)]
    if not values:
        return "absent"
    return words(values[-1]) if _is(series.points[-1][1]) else f"absent, before {words(values[-1])}"


def _named(chart: Chart, place: int, words: str) -> Span:
    """A figure with the name of its series where there are several, in the tone of its line."""
    several = len(chart.series) > 1 or (chart.cursor is not None and bool(chart.behind))
    if place >= len(chart.series):
        return Span(f"{chart.behind[place - len(chart.series)].name} {words}", Tone.FAINT)
    if not several:
        return Span(words)
    digit = f"{place + 1} " if len(chart.series) > 1 else ""
    return Span(f"{digit}{chart.series[place].name} {words}", series_tone(place))


def _cut(parts: Sequence[Span], width: int) -> Line:
    """The spans with three blanks between them, those that do not fit left out or cut."""
    spans: list[Span] = []
    left = width
    for each in parts:
        lead = "   " if spans else ""
        text = cut(f"{lead}{safe(each.text)}", left)
        if text.strip(" …"):
            spans.append(each._replace(text=text))
            left -= cells(text)
    return Line(tuple(spans))


def _mark_words(chart: Chart) -> str:
    """The newest change, and how many more are marked."""
    ts, changed = chart.marks[-1]
    more = f" and {len(chart.marks) - 1} more" if len(chart.marks) > 1 else ""
    return f"   {MARK} {chart.time_label(ts)} {changed}{more}"


class _CanvasCell(NamedTuple):
    char: str
    tone: Tone


def _canvas(chart: Chart, width: int, height: int) -> list[list[_CanvasCell]]:
    """The cells of the plot: series over limits over what is behind."""

    def drawn(series: Sequence[ChartSeries]) -> list[list[str]]:
        return [
            plot(
                each.points,
                each.scale or chart.scale,
                chart.span,
                width=width,
                height=height,
                steps=chart.steps,
                longest=each.longest,
            )
            for each in series
        ]

    front, back = drawn(chart.series), drawn(chart.behind)
    limits = _limit_rows(chart, height)
    cursor = None
    if chart.cursor is not None and chart.span.since <= chart.cursor <= chart.span.until:
        cursor = _cell(chart.cursor, chart.span, width)
    blank = _CanvasCell(_BLANK, series_tone(0))
    canvas = []
    for y in range(height):
        row = [blank] * width
        behind: set[int] = set()
        for plane in back:
            _lay(row, plane[y], Tone.FAINT, behind)
        if dashed := limits.get(y):
            bits = sum(_DASH[each] for each in dashed)
            dash = _CanvasCell(chr(BRAILLE.start + bits), tone_of(health_of(max(dashed.values()))))
            row[::2] = [dash] * len(row[::2])
        if cursor is not None:
            row[cursor] = _CanvasCell(_CURSOR, Tone.STRONG)
        of_series: set[int] = set()
        for place in reversed(range(len(front))):
            _lay(row, front[place][y], series_tone(place), of_series)
        canvas.append(row)
    _put_digits(canvas, chart)
    _put_labels(canvas, chart)
    return canvas


def _lay(row: list[_CanvasCell], dots: str, tone: Tone, taken: set[int]) -> None:
    """Put the dots of a series on a row; in the cells of ``taken``, those of the others, they are joined to theirs."""
    if not dots.strip(_BLANK):
        return
    for x, char in enumerate(dots):
        if char != _BLANK:
            # The codes of braille cells are a multiple of 256 and their dots.
            row[x] = _CanvasCell(chr(ord(row[x].char) | ord(char)) if x in taken else char, tone)
            taken.add(x)


def _limit_rows(chart: Chart, height: int) -> dict[int, dict[int, Severity]]:
    """By line of the plot the rows of dots, from its top, with a limit within the scale, and the worst severity there."""
    rows: dict[int, dict[int, Severity]] = {}
    for each in chart.limits:
        if chart.scale.low <= each.value <= chart.scale.high:
            y = row_of(each.value, chart.scale, height)
            line = rows.setdefault(y >> 2, {})
            line[y & 3] = max(each.severity, line.get(y & 3, each.severity))
    return rows


def _put_digits(canvas: list[list[_CanvasCell]], chart: Chart) -> None:
    """The digit of each series at its newest point, where there are several."""
    if len(chart.series) < 2:
        return
    taken: set[tuple[int, int]] = set()
    for place, each in enumerate(chart.series[:9]):
        inside = (point for point in reversed(each.points) if chart.span.since <= point[0] <= chart.span.until)
        newest = next((point for point in inside if _is(point[1])), None)
        if newest is None:
            continue
        ts, value = newest
        x = _cell(ts, chart.span, len(canvas[0]))
        y = row_of(value or 0.0, each.scale or chart.scale, len(canvas)) >> 2
        spots = sorted(range(len(canvas)), key=lambda other, y=y: abs(other - y))  # type: ignore[misc]
        at = next((spot for spot in spots if (spot, x) not in taken), y)
        taken.add((at, x))
        canvas[at][x] = _CanvasCell(str(place + 1), series_tone(place))


def _put_labels(canvas: list[list[_CanvasCell]], chart: Chart) -> None:
    """The words of each limit on its line, where no series is; the worst first."""
    for each in sorted(chart.limits, key=lambda limit: -limit.severity):
        if not chart.scale.low <= each.value <= chart.scale.high:
            continue
        health = health_of(each.severity)
        text = f"{health.glyph} {safe(each.label)} "
        row = canvas[row_of(each.value, chart.scale, len(canvas)) >> 2]
        tone = tone_of(health)
        free = [_is_free(cell) for cell in row]
        size = len(text)
        start = next((x for x in range(len(row) - size + 1) if all(free[x : x + size])), None)
        if start is None or size != cells(text):
            continue
        row[start : start + size] = [_CanvasCell(char, tone) for char in text]


def _is_free(cell: _CanvasCell) -> bool:
    """Whether words may take the place of a cell: it has no dot of a series, and no word yet."""
    return cell.char == _BLANK or (ord(cell.char) in BRAILLE and cell.tone not in SERIES_TONES)


def _axis(chart: Chart, width: int) -> list[_CanvasCell]:
    axis = [_CanvasCell("─", Tone.FAINT)] * width
    for each in sorted(chart.shaded, key=lambda shaded: shaded.severity):
        health = health_of(each.severity)
        for place, x in enumerate(_cells_of(each, chart.span, width)):
            # The sign tells the severity where colours do not.
            axis[x] = _CanvasCell(_THICK if place else health.glyph, tone_of(health))
    for ts, _ in chart.marks:
        if chart.span.since <= ts <= chart.span.until:
            axis[_cell(ts, chart.span, width)] = _CanvasCell(MARK, Tone.FAINT)
    if chart.cursor is not None and chart.span.since <= chart.cursor <= chart.span.until:
        axis[_cell(chart.cursor, chart.span, width)] = _CanvasCell(_CURSOR_FOOT, Tone.STRONG)
    return axis


def _times(chart: Chart, width: int) -> str:
    begin, end = chart.time_label(chart.span.since), chart.time_label(chart.span.until)
    room = width - cells(begin) - cells(end)
    return f"{begin}{' ' * room}{end}" if room > 0 else fit(begin, width)


def _margin(scale: Scale, height: int) -> int:
    return max((cells(label) for label in label_rows(scale, height).values()), default=0)


def _cell(ts: int, span: TimeRange, width: int) -> int:
    """The cell of a moment within the span, as ``plot`` has it."""
    return min((ts - span.since) * width // max(span.until - span.since, 1), width - 1)


def _moment(cell: int, span: TimeRange, width: int) -> int:
    return span.since + (2 * cell + 1) * (span.until - span.since) // (2 * width)


def _cells_of(shaded: ShadedSpan, span: TimeRange, width: int) -> range:
    if shaded.until < span.since or shaded.since > span.until:
        return range(0)
    first, last = max(shaded.since, span.since), min(shaded.until, span.until)
    return range(_cell(first, span, width), _cell(last, span, width) + 1)


def _joined(row: Sequence[_CanvasCell], shaded: frozenset[int] | set[int]) -> list[Span]:
    spans: list[Span] = []
    begin = 0
    for x in range(1, len(row) + 1):
        if x < len(row):
            first, here = row[begin], row[x]
            # Words in a row of dots have attributes, dots have none.
            alike = here is first or (here.tone is first.tone and (here.char >= _BLANK) is (first.char >= _BLANK))
            if alike and (not shaded or (x in shaded) is (begin in shaded)):
                continue
        text = "".join([cell.char for cell in row[begin:x]])
        spans.append(Span(text, row[begin].tone, shaded=begin in shaded))
        begin = x
    return spans
