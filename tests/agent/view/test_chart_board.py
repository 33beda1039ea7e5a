"""The chart board of an object's page: which charts there are, and what stands in them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.chart_lines import SERIES_TONES, ShadedSpan
from mqvitals_agent.text.styled import Tone
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.figures.trend import Trend
from mqvitals_agent.view.object.detail import ObjectDetail
from mqvitals_agent.view.screens.object.chart_board import (
    board_lines,
    chart_layers,
    moved_cursor,
    room_for,
)
from mqvitals_agent.view.screens.object.sections import PageState
from mqvitals_agent.view.trend.chart import MOST_CHARTS, MOST_SERIES, board_of
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.thresholds import Threshold
from mqvitals_rules.vocabulary.metric import Metric, MetricType
from mqvitals_rules.vocabulary.tables import KINDS
from mqvitals_rules.vocabulary.tables import metric as metric_of

METRICS = [metric for metric in KINDS["queue"].metrics if metric.in_history]
HOUR = 3_600_000
NOW = 1795176590000
POOL = ObjectName("QM01", "buffer_pool", "3")
OTHER = ObjectName("QM01", "buffer_pool", "4")
STATE = PageState(span_ms=HOUR)


def trend(metric: str, value: float, name: ObjectName = POOL) -> Trend:
    """A level hour."""
    points = tuple((NOW - minute * 60_000, value) for minute in range(60, -1, -1))
    return Trend(name, metric_of(name.kind, metric), points, TimeRange(NOW - HOUR, NOW))


DETAIL = ObjectDetail(POOL, metric="free_pct", chartable=("free", "free_pct"), trend=trend("free_pct", 40.0))


def text(detail: ObjectDetail, state: PageState = STATE, width: int = 100, rows: int = 14) -> list[str]:
    return [each.text for each in board_lines(detail, (), state, width, rows)]


def test_a_chart_takes_the_lines_it_is_given() -> None:
    """Its title knows its metric and folds the charts; then plot, axis, times, figures."""
    lines = tuple(board_lines(DETAIL, (), STATE, 100, 14))
    assert len(lines) == 14
    assert (lines[0].section, lines[0].figure) == ("charts", "free_pct")
    assert lines[0].text.startswith("▾ free_pct: share of the pool that is free")
    assert lines[0].text.endswith("metric 2 of 2")
    assert "the last hour, UTC" in lines[-2].text
    assert lines[-1].text == "last 40 %   min 40 %   max 40 %"
    assert max(cells(each.text) for each in lines) <= 100


def test_folded_charts_leave_their_title() -> None:
    """It says what was charted."""
    assert [each[:10] for each in text(DETAIL, PageState(folded={"charts": True}))] == ["▸ free_pct"]


def test_thresholds_are_lines_and_alerts_shaded() -> None:
    """A dashed line with its rule, and a thick axis for the time of the alert."""
    bound = Threshold("free_pct", 20, low_is_bad=True, severity=Severity.WARNING, rule="BP-01")
    span = ShadedSpan(NOW - HOUR // 2, NOW, Severity.WARNING)
    lines = text(replace(DETAIL, thresholds=(bound,), alert_spans=(span,)))
    assert any("▲ 20 % BP-01" in each for each in lines)
    axis = lines[-3]
    assert 0 < axis.count("━") < axis.count("─") + axis.count("━")
    assert "━" not in "".join(text(replace(DETAIL, thresholds=(bound,))))


def test_metrics_and_objects_share_a_chart_of_their_unit() -> None:
    """Another pool's share joins that of this one, in a tone of its own and with its name; buffers have a chart below."""
    detail = replace(DETAIL, board=(trend("free_pct", 80.0, OTHER), trend("free", 4000.0)))
    lines = tuple(board_lines(detail, (), STATE, 100, 14))
    assert len(lines) == 28
    assert "1 QM01 buffer pool 3 40 %" in lines[13].text
    assert "2 QM01 buffer pool 4 80 %" in lines[13].text
    assert [span.tone for span in lines[13].spans] == list(SERIES_TONES[:2])
    assert lines[14].figure == "free"


def test_two_charts_stand_beside_each_other_where_it_is_wide() -> None:
    """Two charts take the rows of one and half of the width each, a third begins a row of its own; none is lost, and the
    cursor stands at the same moment in both."""
    two = replace(DETAIL, board=(trend("free", 4000.0),))
    assert chart_layers(two, 199) == 1
    assert chart_layers(two, 120) == 2
    lines = tuple(board_lines(two, (), STATE, 199, 14))
    assert len(lines) == 14
    assert max(cells(each.text) for each in lines) <= 199
    assert (lines[0].section, lines[0].figure) == ("charts", "free_pct")
    assert "▾ free_pct" in lines[0].text[:98]
    assert lines[0].text[101:].lstrip().startswith("free: ")
    assert (lines[-1].text[:98].rstrip(), lines[-1].text[101:].strip()) == (
        "last 40 %   min 40 %   max 40 %",
        "last 4 k buffers   min 4 k buffers   max 4 k buffers",
    )
    ago = moved_cursor(two, STATE, 199, -40)
    *_, axis, _, told = text(two, replace(STATE, ago_ms=ago), 199)
    assert axis[:98].count("┴") == axis[101:].count("┴") == 1
    assert told[:98].split()[0] == told[101:].split()[0]
    assert ":" in told.split()[0]
    queue = ObjectName("QM01", "queue", "APPL1")
    more = replace(two, board=(*two.board, trend("oldest_msg_age_s", 5.0, queue), trend("depth", 5.0, queue)))
    wide = text(more, width=199)
    assert chart_layers(more, 199) == 2
    assert len(wide) == 28
    assert {each for each in text(more, width=98) if each.startswith("last ")} <= {
        half.strip() for each in wide for half in (each[:98], each[101:])
    }
    assert text(two, PageState(folded={"charts": True}), 199)[0].startswith("▸ free_pct")


def test_the_cursor_reads_time_and_values() -> None:
    """It comes from the end, goes back cell by cell, and past the end it is gone."""
    ago = moved_cursor(DETAIL, STATE, 100, -1)
    assert ago is not None
    assert 0 <= ago < HOUR // 50
    far = moved_cursor(DETAIL, replace(STATE, ago_ms=ago), 100, -30)
    assert far is not None
    assert far > ago
    lines = tuple(board_lines(DETAIL, (), replace(STATE, ago_ms=far), 100, 14))
    assert "┴" in lines[-3].text
    assert lines[-1].spans[0].tone is Tone.STRONG
    assert lines[-1].text.endswith("40 %")
    assert moved_cursor(DETAIL, replace(STATE, ago_ms=ago), 100, 1) is None


def test_absence_is_said() -> None:
    """No value at all gives the reason, and no drawing."""
    points = tuple((ts, None) for ts, _ in trend("free_pct", 1.0).points)
    absent = replace(trend("free_pct", 1.0), points=points, why="not collected (MONQ off)")
    assert text(replace(DETAIL, trend=absent))[1:] == ["Absent in the last hour: not collected (MONQ off)"]
    never = replace(absent, points=(), why="")
    assert text(replace(DETAIL, trend=never))[1:] == ["No poll in the last hour"]
    assert text(replace(DETAIL, trend=None)) == []


@given(st.lists(st.sampled_from(METRICS), max_size=12))
def test_each_metric_stands_in_one_chart_of_its_unit(chosen: list[Metric]) -> None:
    """Whatever is added: at most four charts of at most four series, of one unit each, states alone; none moves."""
    board = board_of(chosen)
    assert len(board) <= MOST_CHARTS
    placed = [position for chart in board for position in chart]
    assert len(set(placed)) == len(placed)
    for chart in board:
        assert len({chosen[position].unit for position in chart}) == 1
        assert len(chart) <= (1 if chosen[chart[0]].type is MetricType.STATE else MOST_SERIES)
    for count in range(len(chosen)):
        before = [tuple(one for one in chart if one < count) for chart in board]
        assert board_of(chosen[:count]) == tuple(each for each in before if each)


def test_there_is_room_for_four_charts() -> None:
    """A fifth unit has none, a further series of a unit that is there has."""
    units = [metric_of("queue", name) for name in ("depth", "input_handles", "oldest_msg_age_s", "qtime_us_short")]
    assert len(board_of(units)) == MOST_CHARTS
    assert not room_for(units, metric_of("queue", "get_rate"))
    assert room_for(units, metric_of("queue", "uncommitted_msgs"))
