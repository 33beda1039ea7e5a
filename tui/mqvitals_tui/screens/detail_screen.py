"""One object: a chart of a metric, and below it its figures, related objects, rules, and the next command to type."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widget import Widget

from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.figure import object_words
from mqvitals_agent.text.styled import Line, Span, Tone, line
from mqvitals_agent.text.terminal import cells, cut, safe
from mqvitals_agent.view.frame import DETAIL, HOUR_MS, FrameRequest
from mqvitals_agent.view.screens.object import detail_lines
from mqvitals_agent.view.trend import Trend, not_kept
from mqvitals_agent.view.trend_chart import chart_of
from mqvitals_rules.ruleset.markdown import one_line
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Metric, MetricType
from mqvitals_rules.vocabulary.tables import KINDS
from mqvitals_tui.feed import LoadedFrame
from mqvitals_tui.keys import ACTIONS, MOVES, WHO, Hint, asking_key, hint_line, own_hints
from mqvitals_tui.keys import DETAIL as DETAIL_KEYS
from mqvitals_tui.screens.acting_screen import ActingScreen
from mqvitals_tui.screens.frame_screen import ScreenContext, trail_line
from mqvitals_tui.widgets.chart import BrailleChart
from mqvitals_tui.widgets.cursor_view import CursorView, LinesView
from mqvitals_tui.widgets.painting import Banner, StatusBar

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


_SHORT_UNITS = {"pct": "%", "us": "µs", "count": "", "number": ""}


def unit_words(metric: Metric) -> str:
    """The unit in words; a counter's values are rates."""
    unit = _SHORT_UNITS.get(metric.unit, metric.unit)
    if metric.type is MetricType.COUNTER:
        return f"{unit} per second".strip()
    return unit


DAY_MS = 24 * HOUR_MS

_CHARTED = 18
"""The least lines for a chart and some text below it."""


class DetailScreen(ActingScreen):
    """The detail of ``name``; ``trail`` are the titles of the screens that led here."""

    BINDINGS: ClassVar[list[BindingType]] = [*DETAIL_KEYS, WHO, *ACTIONS]
    AUTO_FOCUS = "#lines"
    DEFAULT_CSS = """
    DetailScreen { background: $background; }
    DetailScreen #chart { height: 30%; min-height: 7; max-height: 14; }
    DetailScreen #lines { height: 1fr; scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    """

    def __init__(self, context: ScreenContext, name: ObjectName, trail: tuple[str, ...]) -> None:
        super().__init__(context)
        self.object_name = name
        self.trail = trail
        self._metric = ""
        self._chosen_ms: int | None = None
        self._zoomed = False
        self._steps = 0

    def compose(self) -> ComposeResult:
        """Header, trail, title of the chart, chart, text, keys."""
        yield Banner(id="header")
        yield Banner(id="trail")
        yield Banner(id="what")
        yield BrailleChart(id="chart")
        yield LinesView(id="lines")
        yield StatusBar(id="keys")

    @property
    def request(self) -> FrameRequest:
        """The object, and what its chart shows."""
        return FrameRequest(
            DETAIL, name=self.object_name, metric=self._metric, span_ms=self._chosen_ms or self._usual_ms
        )

    @property
    def _of_records(self) -> bool:
        kind = KINDS.get(self.object_name.kind)
        return kind is not None and kind.poll.startswith("SMF ")

    @property
    def _usual_ms(self) -> int:
        # SMF records give one or two values an hour.
        return DAY_MS if self._of_records else HOUR_MS

    @property
    def span_ms(self) -> int:
        """The length of the chart, ms: as chosen, else that of the history, up to an hour or, for records, a day."""
        if self._chosen_ms is not None:
            return self._chosen_ms
        detail = None if self._read is None else self._read.frame.detail
        return (
            self._usual_ms if detail is None or detail.trend is None else fitting_span_ms(detail.trend, self._usual_ms)
        )

    @property
    def body(self) -> Widget:
        """The text."""
        return self.query_one("#lines", LinesView)

    @property
    def _asking(self) -> Binding | None:
        return asking_key(self.object_name.kind)

    @property
    def trail_title(self) -> str:
        """The object in words, for the trail of those opened from here."""
        return object_words(self.object_name)

    def paint_static(self, width: int) -> None:
        """The trail and the keys."""
        self.query_one("#trail", Banner).show((trail_line((*self.trail, object_words(self.object_name)), width),))
        hints = (
            Hint("Esc", "back"),
            Hint("Enter", "open", 1),
            *((Hint("w", self._asking.description),) if self._asking else ()),
            Hint("+ -", "span", 3),
            Hint("[ ]", "metric", 4),
            *(hint._replace(spare=hint.spare + 3) for hint in (own_hints(ACTIONS) if self._has_alerts else ())),
            Hint("c", "copy MQSC", 2),
            Hint(":", "find", 5),
            Hint("?", "help"),
            Hint("q", "quit"),
        )
        self.query_one("#keys", StatusBar).show((hint_line(hints, width),))

    def help_groups(self) -> tuple[tuple[str, Sequence[Binding]], ...]:
        """The keys of an object."""
        own = (*ACTIONS, *DETAIL_KEYS, *((self._asking,) if self._asking else ()))
        return (("Here: an object", own), ("Moving about", MOVES))

    def paint(self, read: LoadedFrame, width: int) -> None:
        """Chart and text."""
        detail = read.frame.detail
        chart = self.query_one("#chart", BrailleChart)
        trend = None if detail is None else detail.trend
        if self.size.height < _CHARTED:
            trend = None
        chart.display = trend is not None
        self.query_one("#what", Banner).show(() if trend is None else (self._what(read, width),))
        if trend is not None:
            trend = last_part(trend, self.span_ms)
            time = span_words(self.span_ms)
            empty = (
                f"Absent in {time}: {trend.why}"
                if trend.points and trend.why
                else not_kept(trend) or f"No {'record' if self._of_records else 'poll'} in {time}"
            )
            drawn = chart_of([trend], earlier=read.earlier, zoomed=self._zoomed)
            chart.show(drawn, time_words=f"{time}, UTC{', zoomed' if self._zoomed else ''}", empty=empty)
        if self._steps and detail is not None:
            steps, self._steps = self._steps, 0
            self.action_metric(steps)
        self.query_one("#lines", LinesView).show(detail_lines(read.frame, max(width - 1, 20)))

    def _what(self, read: LoadedFrame, width: int) -> Line:
        detail = read.frame.detail
        if detail is None or detail.trend is None:
            return line()
        metric = detail.trend.metric
        unit = unit_words(metric)
        which = f"{detail.chartable.index(detail.metric) + 1} of {len(detail.chartable)}"
        head = f" {metric.name}"
        deleted = not_kept(last_part(detail.trend, self.span_ms))
        end = f"{f', {unit}' if unit else ''}; metric {which}{f'; {deleted}' if deleted else ''}"
        meaning = cut(f": {metric.meaning}", max(width - cells(head) - cells(end), 0))
        return Line((Span(head, Tone.STRONG), Span(f"{meaning if cells(meaning) > 8 else ''}{end}", Tone.FAINT)))

    @property
    def _has_alerts(self) -> bool:
        detail = None if self._read is None else self._read.frame.detail
        return detail is not None and bool(detail.alerts or detail.below)

    @property
    def chosen_line(self) -> Line | None:
        """The line under the cursor where it is about an alert, else that of the object's worst alert."""
        view = self.query_one("#lines", LinesView)
        under = view.cursor_line
        if under is not None and under.alert:
            return under
        return next((each for each in view.lines if each.alert), None)

    @property
    def chosen_owner(self) -> str:
        """The object's owner."""
        return self.object_name.owner

    # -- actions -----------------------------------------------------------------------------------------------------

    def on_cursor_view_opened(self, message: CursorView.Opened) -> None:
        """Enter on a related object."""
        self.open_key(message.key)

    def action_back(self) -> None:
        """To where this was opened."""
        self.dismiss()

    def action_span(self, step: int) -> None:
        """A longer or a shorter time in the chart."""
        self._chosen_ms = next_span_ms(self.span_ms, step)
        self._ask()

    def action_zoom(self) -> None:
        """The chart from the least to the greatest value, or with its whole scale again."""
        self._zoomed = not self._zoomed
        self.repaint()

    def action_metric(self, step: int) -> None:
        """Another metric in the chart."""
        detail = None if self._read is None else self._read.frame.detail
        if detail is None:
            # Pressed before the object was read: applied when it is.
            self._steps += step
            return
        if not detail.chartable:
            return
        shown = self._metric or detail.metric
        here = detail.chartable.index(shown) if shown in detail.chartable else 0
        self._metric = detail.chartable[(here + step) % len(detail.chartable)]
        self._ask()

    def _ask(self) -> None:
        self.post_message(self.FrameRequested(self.request))

    def action_who(self) -> None:
        """Show which applications have the queue open, or the units of work of the queue manager."""
        if self._asking:
            self.open_holders(self.object_name)
        else:
            self.notify("w works on queues, queue managers and logs: it asks who uses them now", markup=False)

    def action_copy(self) -> None:
        """The MQSC command to the terminal's clipboard."""
        detail = None if self._read is None else self._read.frame.detail
        command = "" if detail is None else safe(one_line(detail.mqsc))
        if not command:
            self.notify("There is no command to copy here", severity="warning", markup=False)
            return
        self.app.copy_to_clipboard(command)
        self.notify(f"Copied: {command}", markup=False)
