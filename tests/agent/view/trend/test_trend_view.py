"""A series as JSON, CSV and text."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.chart_lines import chart_lines
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.figures.trend import Trend, gap_spans, unit_of
from mqvitals_agent.view.trend.chart import chart_of
from mqvitals_agent.view.trend.report import shown_value, trend_csv, trend_json, trend_text
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.tables import metric

START = 1795176000000
Values = Sequence[int | float | None]


def view(kind: str, name: str, values: Values, *, why: str = "", note: str = "") -> Trend:
    points = tuple((START + index * 10_000, value) for index, value in enumerate(values))
    end = points[-1][0] if points else START + 60_000
    return Trend(ObjectName("QM01", kind, "X"), metric(kind, name), points, TimeRange(START, end), why, note)


def test_json() -> None:
    """One object with the points in order, null where a poll had no value."""
    shown = trend_json(view("queue", "depth", [3, None, 5]))
    assert json.dumps(shown) == (
        '{"metric": "depth", "object": "QM01/queue/X", "unit": "messages", "points": '
        '[["2026-11-20T12:00:00.000Z", 3], ["2026-11-20T12:00:10.000Z", null], ["2026-11-20T12:00:20.000Z", 5]]}'
    )


@given(st.floats() | st.integers(), st.sampled_from([("queue", "depth", 6), ("page_set", "used_pct", 2)]))
def test_a_figure_for_programs(value: float, of: tuple[str, str, int]) -> None:
    """It has few decimals and is near the value; 0.0 has no sign, whole numbers are as they were."""
    kind, name, digits = of
    shown = shown_value(value, metric(kind, name))
    if not math.isfinite(value):
        assert shown is None
        return
    assert shown is not None
    assert type(shown) is type(value)
    if isinstance(value, int):
        assert shown == value
        return
    assert math.isclose(shown, value, rel_tol=1e-15, abs_tol=0.5000001 * 10**-digits)
    assert abs(value) > 1e9 or -int(Decimal(str(shown)).as_tuple().exponent) <= max(digits, 1)
    assert str(shown) != "-0.0"


def test_json_numbers() -> None:
    """Shares have two decimals, whole numbers stay whole, other numbers stay exact, states are their numbers."""
    assert [value for _, value in trend_json(view("page_set", "used_pct", [70.476190, 70, 92.0]))["points"]] == [
        70.48,
        70,
        92.0,
    ]
    whole = trend_json(view("queue", "depth", [3]))["points"][0][1]
    assert isinstance(whole, int)
    assert trend_json(view("cf_structure", "backup_age_s", [1.2345]))["points"][0][1] == 1.2345
    assert trend_json(view("channel", "status", [5]))["points"][0][1] == 5
    assert trend_json(view("page_set", "used_pct", [float("nan")]))["points"][0][1] is None


@pytest.mark.parametrize(
    ("kind", "name", "unit"),
    [
        ("channel", "msgs", "messages per interval"),
        ("channel", "batches", "per interval"),
        ("queue", "depth", "messages"),
        ("channel", "status", ""),
    ],
)
def test_units(kind: str, name: str, unit: str) -> None:
    """A counter's unit says that its values are increases."""
    assert unit_of(metric(kind, name)) == unit


def test_csv() -> None:
    """A header, and an empty field where a value is absent."""
    assert list(trend_csv(view("queue", "depth", [3, None]))) == [
        "at,value",
        "2026-11-20T12:00:00.000Z,3",
        "2026-11-20T12:00:10.000Z,",
    ]


def test_text_golden() -> None:
    """What it is, the chart, last, min and max, number of polls and gaps, times and unit."""
    values = [60, 50, 40, 30, None, 10, 4, 4, 20, 55]
    shown = trend_text(view("buffer_pool", "free_pct", values, note="The past: replay of x.gz"), 60, 4)
    assert "\n".join(shown) == POOL


def test_counter_golden() -> None:
    """A counter shows its rate, which is that of twenty seconds behind an absent poll; and the sum of its increases."""
    series = view("channel", "bytes_sent", [None, 2_000_000, None, 4_000_000])
    shown = trend_text(replace(series, intervals=(None, 10_000, None, 20_000)), 60, 3)
    assert "\n".join(shown) == COUNTER


def records(kind: str, name: str, *told: tuple[int, int, float | None]) -> Trend:
    """The series of records: end (seconds from the beginning), length (seconds), value."""
    points = tuple((START + end * 1000, value) for end, _, value in told)
    span = TimeRange(START, points[-1][0])
    intervals = tuple(length * 1000 for _, length, _ in told)
    return Trend(ObjectName("QM01", kind, "3"), metric(kind, name), points, span, "", "", intervals, by_records=True)


def test_rates_divide_by_what_records_cover() -> None:
    """Half of the time has no records: the rate is that of the other half, and each time without is named."""
    told = [(1800 + 3600 * hour, 1800, 17_712) for hour in range(6)]
    shown = " ".join(" ".join(trend_text(records("buffer_pool", "tpw", *told), 80, 3)).split())
    assert "6 records, one every" in shown
    assert "on average 9.84 pages/s" in shown
    assert "5 gaps (12:30:00 to 13:00:00, 13:30:00 to 14:00:00," in shown
    assert "16:30:00 to 17:00:00);" in shown


def test_records_that_join_have_no_gaps() -> None:
    """Not to the millisecond, and of what several tell together to the minute; a missing one is a gap all the same."""
    joined = [(60, 60, 1), (121, 60, 1), (180, 60, 1)]
    assert gap_spans(records("buffer_pool", "tpw", *joined)) == ()
    assert gap_spans(records("log", "ci_writes", (900, 900, 5), (1810, 900, 5))) == (
        TimeRange(START + 900_000, START + 910_000),
    )
    structure = records("cf_structure", "full_count", (60, 59, 1), (120, 45, 1), (240, 60, 1))
    assert gap_spans(structure) == (TimeRange(START + 120_000, START + 180_000),)
    assert gap_spans(records("buffer_pool", "tpw", (60, 60, 1), (120, 60, None), (180, 60, 1))) == (
        TimeRange(START + 60_000, START + 120_000),
    )


def test_no_line_across_a_gap_of_records() -> None:
    """The chart shows two dots, not a stroke, where half of the time is not covered."""
    apart = trend_text(records("buffer_pool", "low", (60, 60, 5), (240, 60, 5)), 60, 3)
    beside = trend_text(records("buffer_pool", "low", (60, 60, 5), (120, 60, 5), (180, 60, 5), (240, 60, 5)), 60, 3)

    def dots(lines: list[str]) -> int:
        return sum("\u2801" <= each <= "\u28ff" for line in lines for each in line)

    assert dots(apart) == 2
    assert dots(beside) > 20


def test_state_golden() -> None:
    """A state's chart has the states' names beside it, and tells how often each was seen."""
    shown = trend_text(view("channel", "status", [3, 3, 5, 5, None, 3]), 60, 3)
    assert "\n".join(shown) == STATE


def test_absent_at_the_end() -> None:
    """A value that is absent now is not passed off as the last."""
    shown = "\n".join(trend_text(view("queue", "depth", [3, None], why="queue manager unreachable"), 80, 3))
    assert "last 3 msgs at 2026-11-20 12:00:00, then absent: queue manager unreachable" in shown


def test_absent_at_all() -> None:
    """A series without any value says why instead of drawing nothing."""
    shown = "\n".join(trend_text(view("channel", "xqtime_us_short", [None, None], why="not collected"), 80, 3))
    assert "Absent at all 2 polls: not collected" in shown
    assert "⠀" not in shown


def test_no_polls() -> None:
    """A time without a poll says so."""
    shown = "\n".join(trend_text(view("queue", "depth", []), 80, 3))
    assert "No poll from 2026-11-20 12:00:00 to 12:01:00 UTC" in shown


@given(
    st.sampled_from([("queue", "depth"), ("channel", "status"), ("channel", "bytes_sent"), ("page_set", "used_pct")]),
    st.lists(st.none() | st.integers(0, 2**62) | st.floats(-1e300, 1e300), max_size=30),
    st.integers(40, 120),
)
def test_any_series_fits(which: tuple[str, str], values: Values, width: int) -> None:
    """Whatever the values, the text keeps its width and JSON can be written."""
    made = view(*which, values)
    assert all(cells(line) <= width for line in trend_text(made, width, 5))
    json.dumps(trend_json(made), allow_nan=False)
    assert len(list(trend_csv(made))) == len(values) + 1


POOL = """\
QM01/buffer_pool/X free_pct: share of the pool that is free
  at this moment
The past: replay of x.gz

100 % ┤⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀
 50 % ┤⠤⠤⠤⣀⣀⣀⣀⡀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⣀
      │⠀⠀⠀⠀⠀⠀⠀⠈⠉⠉⠒⠒⠒⠢⠤⠤⣀⣀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⣀⠤⠒⠉⠀
  0 % ┤⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠒⠒⠒⠢⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠒⠒⠊⠉⠉⠀⠀⠀⠀⠀
      └─────────────────────────────────────────────────────
       12:00:00                                     12:01:30

last 55 %; min 4 % at 12:01:00; max 60 % at 12:00:00
10 polls, one every 10 s, 1 gap (12:00:30 to 12:00:50);
  2026-11-20 12:00:00 to 12:01:30 UTC; unit: %"""
COUNTER = """\
QM01/channel/X bytes_sent: bytes sent, control data included

 195 KiB/s ┤⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉
97.7 KiB/s ┤⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀
     0 B/s ┤⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀
           └────────────────────────────────────────────────
            12:00:00                                12:00:30

last 195 KiB/s; min 195 KiB/s at 12:00:10; max 195 KiB/s at
  12:00:10; total 5.7 MiB, on average 195 KiB/s
4 polls, one every 10 s, no gaps; 2026-11-20 12:00:00 to
  12:00:30 UTC; unit: bytes per second"""
STATE = """\
QM01/channel/X status: state of the channel; of several
  instances, the worst; INACTIVE when it has none

RETRYING ┤⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⡏⠉⠉⠉⠉⠉⠉⠉⠉⠉⠁⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀
         │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⡇⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀
 RUNNING ┤⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⠇⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢀
         └──────────────────────────────────────────────────
          12:00:00                                  12:00:50

last RUNNING; seen: RUNNING at 3 polls, RETRYING at 2 polls
6 polls, one every 10 s, 1 gap (12:00:30 to 12:00:50);
  2026-11-20 12:00:00 to 12:00:50 UTC"""


def test_what_is_no_longer_kept() -> None:
    """Deleted is told apart from not polled: for a part of the time beside the points, for all of it instead of them."""
    part = replace(
        view("queue", "depth", [3, 4, 5]), span=TimeRange(START - 3_600_000, START + 20_000), kept_from=START - 5_000
    )
    assert "; not kept before 2026-11-20 11:59:55 UTC" in " ".join(trend_text(part, 200, 4))
    assert trend_json(part)["kept_from"] == "2026-11-20T11:59:55.000Z"
    whole = replace(view("queue", "depth", []), span=TimeRange(START - 7_200_000, START - 3_600_000), kept_from=START)
    text = " ".join(trend_text(whole, 200, 4))
    assert "Not kept: samples from before 2026-11-20 12:00:00 UTC have been deleted" in text
    assert "No poll" not in text
    silent = replace(whole, span=TimeRange(START - 7_200_000, START + 3_600_000))
    assert "No poll from" in " ".join(trend_text(silent, 200, 4))
    assert "kept" not in " ".join(trend_text(view("queue", "depth", [3, 4, 5]), 200, 4))


def test_damaged_hours() -> None:
    """A sealed hour of the time that cannot be read is told beside the points that are there, and with a chart of none."""
    hours = (START - 7_200_000, START - 3_600_000)
    part = replace(view("queue", "depth", [3, 4, 5]), span=TimeRange(START - 3_000_000, START + 20_000), damaged=hours)
    assert "; 1 hour is damaged (mqvitals store check)" in " ".join(trend_text(part, 200, 4))
    assert trend_json(part)["damaged"] == ["2026-11-20T10:00:00.000Z", "2026-11-20T11:00:00.000Z"]
    none = replace(view("queue", "depth", []), span=TimeRange(START - 7_200_000, START), damaged=hours)
    assert "2 hours are damaged (mqvitals store check)" in " ".join(trend_text(none, 200, 4))
    assert "damaged" not in trend_json(replace(part, damaged=()))


def varied(distances: Sequence[int], rate: float) -> Trend:
    """A counter that grows at a constant rate (a second), polled at these distances (ms)."""
    points: list[tuple[int, int]] = []
    ts, total, told = START, 0.0, 0
    for distance in distances:
        ts += distance
        total += rate * distance / 1000
        points.append((ts, int(total) - told))
        told = int(total)
    span = TimeRange(START, ts)
    return Trend(
        ObjectName("QM01", "channel", "TO.QM02"),
        metric("channel", "msgs"),
        tuple(points),
        span,
        intervals=tuple(distances),
    )


@given(st.lists(st.integers(2_000, 60_000), min_size=3, max_size=60))
def test_a_constant_rate_is_flat(distances: list[int]) -> None:
    """240 messages a second are 240, within 2 per cent, at every point, however far the polls are apart; the line
    has no gap."""
    trend = varied(distances, 240)
    drawn = chart_of([trend])
    values = [value for _, value in drawn.series[0].points]
    assert all(value is not None and abs(value - 240) <= 0.02 * 240 for value in values)
    assert len(values) == len(distances)
    assert gap_spans(trend) == ()
    rows = [each.text.partition("┤")[2] or each.text.partition("│")[2] for each in chart_lines(drawn, 60, 6)[:-2]]
    assert sum(row.strip("\u2800") != "" for row in rows) <= 2
    columns = [any(cell != "\u2800" for cell in column) for column in zip(*rows, strict=True)]
    assert False not in columns[columns.index(True) :]
    assert all(abs(rate - 240) <= 0.02 * 240 for _, rate in trend_json(trend)["per_second"])
    assert [int(line.split(",")[1]) for line in list(trend_csv(trend))[1:]] == [value for _, value in trend.points]


def test_a_rate_after_a_pause_is_that_of_the_pause() -> None:
    """An increase over ten minutes is divided by them, and with no interval stored by the time since the value
    before."""
    trend = varied([10_000, 10_000, 600_000, 10_000], 240)
    for told in (trend, replace(trend, intervals=())):
        rates = [rate for _, rate in trend_json(told)["per_second"]]
        assert rates[1:] == [240.0, 240.0, 240.0]
    assert "240 msgs/s" in "\n".join(trend_text(trend, 80, 4))
