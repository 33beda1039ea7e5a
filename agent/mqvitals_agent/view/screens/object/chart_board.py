"""The chart board of an object's page: one to four charts, each of one unit, with one or several series."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.chart_lines import AXIS_LINES, Chart, ChartLimit, chart_lines, cursor_moved, legend
from mqvitals_agent.text.figure import figure, object_words, zone_name
from mqvitals_agent.text.styled import PANEL_GAP, Line, Panel, Span, Tone, beside_each_other, line
from mqvitals_agent.text.terminal import cells, cut
from mqvitals_agent.view.figures.trend import Points, Trend, not_kept
from mqvitals_agent.view.screens.object.sections import FOLDED, OPEN, PageState
from mqvitals_agent.view.trend.chart import board_of, chart_of
from mqvitals_rules.vocabulary.metric import Metric, MetricType
from mqvitals_rules.vocabulary.tables import KINDS

if TYPE_CHECKING:
    from mqvitals_agent.view.object.detail import ObjectDetail

Earlier = tuple[str, Points]
"""A series of another day, its times moved to those of the chart, and its name."""

LEAST_ROWS, MOST_ROWS = 8, 14
"""Lines of a chart with its title, axis and legend."""

_AROUND = 2 + AXIS_LINES
"""Lines of a chart beside its plot: title, axis, times, legend."""
_BESIDE = 2

_WIDE: Final = 160
"""Cells from which two charts stand beside each other."""

_MINUTES = (1, 5, 15, 30, 60, 3 * 60, 6 * 60, 12 * 60, 24 * 60, 3 * 24 * 60, 7 * 24 * 60)
_UNITS = ((24 * 60, "day"), (60, "hour"), (1, "minute"))

SPANS_MS = tuple(minutes * 60_000 for minutes in _MINUTES)
"""The lengths of a chart, ms, the shortest first."""


def fitting_span_ms(trend: Trend, most_ms: int) -> int:
    """The shortest step that holds all points of a trend, at most ``most_ms``: a young store fills its chart.

    A trend without points gets the longest.
    """
    if not trend.points:
        return most_ms
    past = trend.span.until - trend.points[0][0]
    return min(next((ms for ms in SPANS_MS if ms >= past), most_ms), most_ms)


def next_span_ms(span_ms: int, step: int) -> int:
    """The length ``step`` positions after ``span_ms`` (before it, when negative), or the first or last one."""
    position = SPANS_MS.index(span_ms) + step
    return SPANS_MS[min(max(position, 0), len(SPANS_MS) - 1)]


def last_part(trend: Trend, span_ms: int) -> Trend:
    """The last ``span_ms`` of a trend."""
    since = trend.span.until - span_ms
    if since <= trend.span.since:
        return trend
    first = bisect_left(trend.points, since, key=lambda point: point[0])
    span = TimeRange(since, trend.span.until)
    return replace(trend, points=trend.points[first:], intervals=trend.intervals[first:], span=span)


def span_words(ms: int) -> str:
    """A length in words: ``the last 15 minutes``. Raises ValueError unless it is a whole number of minutes."""
    minutes, rest = divmod(ms, 60_000)
    if rest:
        raise ValueError(f"{ms} ms is no whole number of minutes")
    size, unit = next((size, unit) for size, unit in _UNITS if minutes % size == 0)
    count = minutes // size
    return f"the last {unit}" if count == 1 else f"the last {count} {unit}s"


_SHORT_UNITS = {"pct": "%", "count": "", "number": ""}


def unit_words(metric: Metric) -> str:
    """The unit in words; a counter's values are rates."""
    unit = _SHORT_UNITS.get(metric.unit, metric.unit)
    if metric.type is MetricType.COUNTER:
        return f"{unit} per second".strip()
    return unit


def of_records(kind: str) -> bool:
    """Whether objects of a kind are known from SMF records alone: one or two values an hour."""
    known = KINDS.get(kind)
    return known is not None and known.poll.startswith("SMF ")


def room_for(metrics: Sequence[Metric], another: Metric) -> bool:
    """Whether a chart board with these metrics has room for one more."""
    return any(len(metrics) in chart for chart in board_of((*metrics, another)))


def _beside(charts: int, width: int) -> int:
    """How many charts stand beside each other."""
    return 2 if charts > 1 and width >= _WIDE else 1


def _chart_width(detail: ObjectDetail, width: int) -> int:
    """The cells of a chart in ``width`` cells."""
    beside = _beside(_chart_count(detail), width)
    return (width - PANEL_GAP * (beside - 1)) // beside


def _chart_count(detail: ObjectDetail) -> int:
    trends = () if detail.trend is None else (detail.trend, *detail.board)
    return len(board_of([each.metric for each in trends]))


def chart_layers(detail: ObjectDetail, width: int) -> int:
    """How many charts stand below each other in ``width`` cells."""
    count = _chart_count(detail)
    return -(-count // _beside(count, width))


def board_lines(
    detail: ObjectDetail, earlier: Sequence[Earlier], state: PageState, width: int, rows: int
) -> Iterator[Line]:
    """The charts of an object's page, each of ``rows`` lines; the title of the first folds all of them. On a very wide
    screen two stand beside each other.

    ``earlier`` is drawn faint behind the first one's own series.
    """
    if detail.trend is None:
        return
    trends = (detail.trend, *detail.board)
    board = [[trends[one] for one in places] for places in board_of([each.metric for each in trends])]
    size = _chart_width(detail, width)
    if state.is_folded("charts"):
        yield _titled(detail, board[0], state, size, FOLDED)
        return
    charts = [
        (
            _titled(detail, each, state, size, " " if position else OPEN),
            *_chart(detail, each, () if position else earlier, state, size, rows),
        )
        for position, each in enumerate(board)
    ]
    beside = _beside(len(board), width)
    for first in range(0, len(charts), beside):
        if beside == 1:
            yield from charts[first]
            continue
        title, *drawn = beside_each_other([Panel(size, each) for each in charts[first : first + beside]])
        # The keys act on the first chart of a row; the figure of the other one stands in the card or the figures too.
        yield charts[first][0]._replace(spans=title.spans)
        yield from drawn


def _titled(detail: ObjectDetail, trends: Sequence[Trend], state: PageState, width: int, sign: str) -> Line:
    """The title of a chart; that of the first, with the sign of a section, folds all charts."""
    spans = (Span(f"{sign} ", Tone.STRONG), *_title(detail, trends[0], state, width - 2))
    return Line(spans, section="" if sign == " " else "charts", figure=trends[0].metric.name)


def _title(detail: ObjectDetail, trend: Trend, state: PageState, width: int) -> tuple[Span, ...]:
    """The metric, its meaning where it fits, its unit and which of the object's metrics it is."""
    metric, unit = trend.metric, unit_words(trend.metric)
    whose = f"{object_words(trend.object)} " if trend.object != detail.name else ""
    head = f"{whose}{metric.name}"
    which = ""
    if not whose and metric.name in detail.chartable:
        which = f"; metric {detail.chartable.index(metric.name) + 1} of {len(detail.chartable)}"
    deleted = not_kept(last_part(trend, state.span_ms) if state.span_ms else trend)
    end = f"{f', {unit}' if unit else ''}{which}{f'; {deleted}' if deleted else ''}"
    meaning = cut(f": {metric.meaning}", max(width - cells(head) - cells(end), 0))
    return Span(head, Tone.STRONG), Span(f"{meaning if cells(meaning) > 8 else ''}{end}", Tone.FAINT)


def _chart(
    detail: ObjectDetail, trends: Sequence[Trend], earlier: Sequence[Earlier], state: PageState, width: int, rows: int
) -> Iterator[Line]:
    span_ms = _span_of(trends[0], state)
    time = span_words(span_ms)
    drawn = _drawn(detail, trends, earlier, state)
    if not drawn.has_values:
        trend = last_part(trends[0], span_ms)
        none = not_kept(trend) or f"No {'record' if of_records(detail.name.kind) else 'poll'} in {time}"
        yield line(f"Absent in {time}: {trend.why}" if trend.points and trend.why else none, Tone.ABSENT)
        if trend.lacking:
            yield line(cut(trend.lacking, width), Tone.FAINT)
        return
    lacking = trends[0].lacking
    *drawing, times = chart_lines(drawn, width, max(rows - _AROUND - bool(lacking), 1))
    yield from drawing
    words = f"{time}, {zone_name(drawn.span.until)}{', zoomed' if state.zoomed else ''}"
    yield line(_between(times.text, words), Tone.FAINT)
    yield legend(drawn, width)
    if lacking:
        yield line(cut(lacking, width), Tone.FAINT)


def _span_of(trend: Trend, state: PageState) -> int:
    return state.span_ms or trend.span.until - trend.span.since


def _drawn(detail: ObjectDetail, trends: Sequence[Trend], earlier: Sequence[Earlier], state: PageState) -> Chart:
    """The chart of these trends: with thresholds and the time of alerts where it is about the object itself."""
    parts = [last_part(each, _span_of(each, state)) for each in trends]
    span, own = parts[0].span, trends[0].object == detail.name
    return chart_of(
        parts,
        earlier=earlier,
        limits=_limits(detail, trends[0].metric) if own else (),
        shaded=detail.alert_spans if own else (),
        zoomed=state.zoomed,
        cursor=None if state.ago_ms is None else max(span.until - state.ago_ms, span.since),
    )


def _limits(detail: ObjectDetail, metric: Metric) -> list[ChartLimit]:
    """The thresholds of a metric as lines; a counter is drawn as a rate, which no threshold is compared with."""
    if metric.type is MetricType.COUNTER:
        return []
    return [
        ChartLimit(each.value, each.severity, f"{figure(each.value, metric)} {each.rule}")
        for each in detail.thresholds
        if each.metric == metric.name
    ]


def moved_cursor(detail: ObjectDetail, state: PageState, width: int, by: int) -> int | None:
    """How long before the end of the charts (ms) their cursor stands after ``by`` cells, back where negative.

    Without a cursor it comes from the end; past the end it is gone, None.
    """
    if detail.trend is None:
        return None
    drawn = _drawn(detail, [detail.trend], (), state)
    moment = cursor_moved(drawn, _chart_width(detail, width), MOST_ROWS - _AROUND, by)
    if by > 0 and (drawn.cursor is None or moment <= drawn.cursor):
        return None
    return drawn.span.until - moment


def _between(times: str, words: str) -> str:
    """``words`` in the middle between the first and the last time, where they fit with two blanks on each side."""
    begin, _, end = times.strip().partition(" ")
    start = times.index(begin) + len(begin)
    stop = len(times) - len(end.strip())
    room = stop - start - len(words)
    if not words or not end or room < 2 * _BESIDE:
        return times
    return f"{times[:start]}{' ' * (room // 2)}{words}{' ' * (room - room // 2)}{times[stop:]}"
