"""One object: its state, card, charts, what to do, and below them all that is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widget import Widget

from mqvitals_agent.text.figure import figure, object_words, zone_name
from mqvitals_agent.text.styled import Line
from mqvitals_agent.text.terminal import safe
from mqvitals_agent.view.figures.values import MAIN_METRIC
from mqvitals_agent.view.frame import DETAIL, FrameRequest
from mqvitals_agent.view.object.detail import ChartedMetric, ObjectDetail
from mqvitals_agent.view.screens.object.chart_board import (
    Earlier,
    board_lines,
    fitting_span_ms,
    moved_cursor,
    next_span_ms,
    of_records,
    room_for,
)
from mqvitals_agent.view.screens.object.metric_page import metric_lines
from mqvitals_agent.view.screens.object.page import detail_lines
from mqvitals_agent.view.screens.object.sections import PageState
from mqvitals_rules.ruleset.markdown import one_line
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import DAY_MS, HOUR_MS
from mqvitals_rules.vocabulary.tables import KINDS
from mqvitals_rules.vocabulary.tables import metric as metric_of
from mqvitals_tui.feed import LoadedFrame
from mqvitals_tui.keys import ACTIONS, BEFORE, MOVES, WHO, Hint, asking_key, hint_line, own_hints
from mqvitals_tui.keys import DETAIL as DETAIL_KEYS
from mqvitals_tui.screens.acting_screen import ActingScreen
from mqvitals_tui.screens.figure_screens import ChoiceScreen, ExplanationScreen
from mqvitals_tui.screens.frame_screen import ScreenContext, trail_line
from mqvitals_tui.widgets.cursor_view import CursorView
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.painting import Banner, StatusBar

_AROUND = 2
"""Lines around header and page: the trail and the keys."""


class _DrawnCharts(NamedTuple):
    """The charts as last drawn, and from what."""

    detail: ObjectDetail
    earlier: Sequence[Earlier]
    setting: tuple[PageState, int, int, str]
    lines: tuple[Line, ...]


class DetailScreen(ActingScreen):
    """The detail of ``name``; ``trail`` are the titles of the screens that led here."""

    BINDINGS: ClassVar[list[BindingType]] = [*DETAIL_KEYS, WHO, *ACTIONS, BEFORE]
    AUTO_FOCUS = "#lines"
    DEFAULT_CSS = """
    DetailScreen { background: $background; }
    DetailScreen #lines { height: 1fr; scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    """

    def __init__(self, context: ScreenContext, name: ObjectName, trail: tuple[str, ...]) -> None:
        super().__init__(context)
        self.object_name = name
        self.trail = trail
        self._metric = ""
        self._chosen_ms: int | None = None
        self._steps = 0
        self._board: tuple[ChartedMetric, ...] = ()
        self._zoomed = False
        self._ago_ms: int | None = None
        self._drawn: _DrawnCharts | None = None

    def compose(self) -> ComposeResult:
        """Header, trail, text, keys."""
        yield Banner(id="header")
        yield Banner(id="trail")
        yield LinesView(id="lines")
        yield StatusBar(id="keys")

    @property
    def request(self) -> FrameRequest:
        """The object, and what its chart shows."""
        return FrameRequest(
            DETAIL,
            name=self.object_name,
            metric=self._metric,
            span_ms=self._chosen_ms or self._usual_ms,
            board=self._board,
        )

    @property
    def _usual_ms(self) -> int:
        # SMF records give one or two values an hour.
        return DAY_MS if of_records(self.object_name.kind) else HOUR_MS

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
            Hint("Enter", "open, chart", 1),
            Hint("f", "chart", 3),
            *((Hint("w", self._asking.description),) if self._asking and not self.in_past else ()),
            Hint("+ -", "span", 4),
            Hint("< >", "metric", 5),
            Hint("v", "add", 5),
            Hint("← →", "read", 5),
            *(
                hint._replace(spare=hint.spare + 3)
                for hint in (own_hints((*ACTIONS, BEFORE), past=self.in_past) if self._has_alerts else ())
            ),
            Hint("y", "copy", 2),
            Hint(":", "find", 6),
            Hint("?", "explain", 2),
            Hint("F1", "help"),
            Hint("q", "quit"),
        )
        self.query_one("#keys", StatusBar).show((hint_line(hints, width, self.older_words),))

    def help_groups(self) -> tuple[tuple[str, Sequence[Binding]], ...]:
        """The keys of an object."""
        own = (*ACTIONS, BEFORE, *DETAIL_KEYS, *((self._asking,) if self._asking else ()))
        return (("Here: an object", own), ("Moving about", MOVES))

    def paint(self, read: LoadedFrame, width: int) -> None:
        """The page."""
        if self._steps and read.frame.detail is not None:
            steps, self._steps = self._steps, 0
            self.action_metric(steps)
        state, width = self._state, max(width - 1, 20)
        lines = detail_lines(read.frame, width, state, lambda rows: self._charts(read, state, width, rows))
        self.query_one("#lines", LinesView).show(lines)

    def _charts(self, read: LoadedFrame, state: PageState, width: int, rows: int) -> tuple[Line, ...]:
        """The charts of the page; they do not change between two frames, while ages do."""
        detail = read.frame.detail
        if detail is None:
            return ()
        drawn, setting = self._drawn, (state, width, rows, zone_name(read.frame.now))
        if drawn is None or drawn.detail is not detail or drawn.earlier is not read.earlier or drawn.setting != setting:
            lines = tuple(board_lines(detail, read.earlier, state, width, rows))
            self._drawn = drawn = _DrawnCharts(detail, read.earlier, setting, lines)
        return drawn.lines

    @property
    def _state(self) -> PageState:
        header = self.query_one("#header", Banner).text
        height = self.size.height - len(header.splitlines()) - _AROUND
        folded = self.context.folded.get(self.object_name.kind, {})
        return PageState(max(height, 1), dict(folded), self.span_ms, self._ago_ms, self._zoomed)

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

    async def action_open(self) -> None:
        """Act on what is under the cursor at once, so that the next key is for what that leads to."""
        self._open()

    def on_cursor_view_opened(self, _: CursorView.Opened) -> None:
        """A double click."""
        self._open()

    def _open(self) -> None:
        """Fold or open a section, chart a figure, or open a related object."""
        under = self._under
        if under is None:
            return
        if under.section:
            self._fold(under.section)
        elif under.figure:
            self.chart(under.figure)
        elif under.key:
            self.open_key(under.key)

    @property
    def _under(self) -> Line | None:
        return self.query_one("#lines", LinesView).cursor_line

    @property
    def _detail(self) -> ObjectDetail | None:
        return None if self._read is None else self._read.frame.detail

    def _fold(self, section: str) -> None:
        folded = self.context.folded.setdefault(self.object_name.kind, {})
        folded[section] = not PageState(folded=folded).is_folded(section)
        self.repaint()

    def chart(self, metric: str) -> None:
        """Chart a metric of the object; of one without a past a notification says so."""
        detail = self._detail
        if detail is None or metric not in detail.chartable:
            self.notify(f"{metric} has no past to chart", markup=False)
            return
        self._metric = metric
        self._ask()

    def action_back(self) -> None:
        """To where this was opened."""
        self.dismiss()

    def action_span(self, step: int) -> None:
        """A longer or a shorter time in the chart."""
        self._chosen_ms = next_span_ms(self.span_ms, step)
        self._ask()

    def action_zoom(self) -> None:
        """Zoom the charts to the least and the greatest value, or show their whole scale again."""
        self._zoomed = not self._zoomed
        self.repaint()

    def action_cursor(self, step: int) -> None:
        """Move the cursor of the charts a cell later or earlier; past the end it disappears."""
        detail = self._detail
        if detail is not None:
            self._ago_ms = moved_cursor(detail, self._state, max(self.size.width - 1, 20), step)
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

    def action_part(self, step: int) -> None:
        """Go to the next section of the page, or to the one before."""
        self.query_one("#lines", LinesView).go_to_part(step)

    async def action_explain(self) -> None:
        """Explain the figure under the cursor; elsewhere show the keys."""
        under, detail = self._under, self._detail
        if under is None or not under.figure or detail is None or KINDS[detail.name.kind].metric(under.figure) is None:
            await self.app.run_action("keys")
            return
        name = under.figure
        now, as_of = (0, None) if self._read is None else (self._read.frame.now, self._read.frame.data.as_of)
        self.app.push_screen(ExplanationScreen(lambda width: metric_lines(detail, name, now, width, as_of=as_of)))

    def action_choose_chart(self) -> None:
        """List what can be charted, the card's figures first."""
        detail = self._detail
        if detail is None or not detail.chartable:
            self.notify("Nothing of this object can be charted", markup=False)
            return
        values = detail.values or {}
        first = [each.metric.name for each in detail.card if each.metric.name in detail.chartable]
        figures = []
        for name in dict.fromkeys((*first, *detail.chartable)):
            metric = metric_of(detail.name.kind, name)
            figures.append((name, figure(values[name].value, metric), metric.meaning))

        def charted(name: str | None) -> None:
            if name:
                self.chart(name)

        self.app.push_screen(ChoiceScreen(figures), charted)

    def action_add_chart(self) -> None:
        """Add what is under the cursor to the charts, or remove it where it is charted already."""
        wanted, detail = self._chartable_under(), self._detail
        if wanted is None or detail is None:
            self.notify("Put the cursor on a figure, or on an object that belongs to this one", markup=False)
            return
        if wanted in self._board:
            self._board = tuple(each for each in self._board if each != wanted)
        elif wanted == ChartedMetric(detail.name, detail.metric):
            self.notify(f"{wanted.metric} is charted already", markup=False)
            return
        else:
            charted = [ChartedMetric(detail.name, detail.metric), *self._board] if detail.metric else [*self._board]
            metrics = [metric_of(each.object.kind, each.metric) for each in charted]
            if not room_for(metrics, metric_of(wanted.object.kind, wanted.metric)):
                self.notify("There is no room for a further chart: v on a charted figure takes it away", markup=False)
                return
            self._board = (*self._board, wanted)
        self._ask()

    def _chartable_under(self) -> ChartedMetric | None:
        """The figure under the cursor, or of a related object what is charted here, else its main figure."""
        under, detail = self._under, self._detail
        if under is None or detail is None:
            return None
        if under.figure:
            return ChartedMetric(detail.name, under.figure) if under.figure in detail.chartable else None
        if not under.key or under.alert:
            return None
        name = ObjectName.parse(under.key)
        metric = detail.metric if name.kind == detail.name.kind and detail.metric else MAIN_METRIC[name.kind]
        return ChartedMetric(name, metric)

    def action_who(self) -> None:
        """Show which applications have the queue open, or the units of work of the queue manager."""
        if self._asking:
            self.open_holders(self.object_name)
        else:
            self.notify("w works on queues, queue managers and logs: it asks who uses them now", markup=False)

    def action_copy(self) -> None:
        """The MQSC command under the cursor, else that of what to do, to the terminal's clipboard."""
        under, detail = self._under, self._detail
        command = under.copies if under is not None and under.copies else ""
        if not command and detail is not None:
            command = safe(one_line(detail.mqsc))
        if not command:
            self.notify("There is no command to copy here", severity="warning", markup=False)
            return
        self.app.copy_to_clipboard(command)
        self.notify(f"Copied: {command}", markup=False)
