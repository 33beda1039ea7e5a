"""A trend beside that of an earlier day."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.figures.buckets import Parts
from mqvitals_agent.view.figures.trend import Trend
from mqvitals_agent.view.trend.comparison import (
    ComparedTrend,
    Earlier,
    compared,
    comparison_csv,
    comparison_json,
    comparison_text,
    earlier_day,
)
from mqvitals_agent.view.trend.selection import SeamedTrend
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.tables import metric

START = 1795176000000  # 2026-11-20 12:00 UTC
DAY, HOUR, MINUTE = 86_400_000, 3_600_000, 60_000
SPAN = TimeRange(START, START + HOUR - 1)
BERLIN = ZoneInfo("Europe/Berlin")
YESTERDAY = Earlier("yesterday", DAY)


def view(begin: int, value: Callable[[int], float | None], name: str = "depth", kind: str = "queue") -> Trend:
    points = tuple((begin + minute * MINUTE, value(minute)) for minute in range(60))
    lengths = (MINUTE,) * 60
    return Trend(
        ObjectName("QM01", kind, "X"), metric(kind, name), points, TimeRange(begin, begin + HOUR - 1), intervals=lengths
    )


def pair(now: Callable[[int], float | None], past: Callable[[int], float | None], name: str = "depth") -> ComparedTrend:
    return compared(alone(view(START, now, name)), alone(view(START - DAY, past, name)), YESTERDAY)


def alone(view: Trend) -> SeamedTrend:
    """A series of which samples tell."""
    return SeamedTrend(view, None, view.span.since)


@given(st.integers(START - 200 * DAY, START + 200 * DAY), st.integers(1, 60), st.sampled_from([UTC, BERLIN]))
def test_the_clock_shows_the_same(since: int, days: int, zone: ZoneInfo) -> None:
    """Whatever day is compared with, and whether the clock was changed since."""
    begin = datetime.fromtimestamp(since / 1000, zone)
    wanted = (begin - timedelta(days=days)).date()
    earlier = earlier_day(str(wanted), TimeRange(since, since + HOUR), zone)
    then = datetime.fromtimestamp((since - earlier.ms) / 1000, zone)
    assert then.date() == wanted
    if then.utcoffset() == (then - timedelta(hours=3)).replace(fold=0).utcoffset():
        assert then.strftime("%H:%M:%S") == begin.strftime("%H:%M:%S")
    assert earlier.span(TimeRange(since, since + HOUR)) == (since - earlier.ms, since + HOUR - earlier.ms)


def test_days_by_name() -> None:
    """Over the night in which clocks go back yesterday is 25 hours ago."""
    assert earlier_day("yesterday", SPAN, UTC).ms == DAY
    assert earlier_day("last-week", SPAN, BERLIN).ms == 7 * DAY
    monday = int(datetime(2026, 10, 26, 0, tzinfo=BERLIN).timestamp() * 1000)
    assert earlier_day("yesterday", TimeRange(monday, monday), BERLIN).ms == 25 * HOUR


@pytest.mark.parametrize(
    ("words", "reason"),
    [("soon", "yesterday, last-week or a date"), ("2026-11-20", "an earlier day"), ("2026-11-21", "an earlier day")],
)
def test_what_is_no_earlier_day(words: str, reason: str) -> None:
    """Is refused with the reason."""
    with pytest.raises(ValueError, match=reason):
        earlier_day(words, SPAN, UTC)


def test_differences() -> None:
    """The figures of both days, with differences in their units and as shares."""
    found = pair(lambda minute: 100 + minute, lambda _: 100)
    told = comparison_json(found)["compared"]["figures"]
    assert told["max"] == {"value": 159, "before": 100, "difference": 59}
    assert told["avg"]["difference"] == pytest.approx(29.5)
    assert "sum" not in told
    lines = list(comparison_csv([found], parts=False))
    assert lines[0] == "object,metric,figure,value,before,difference"
    assert '"QM01/queue/X",depth,max,159,100,59' in lines
    text = "\n".join(comparison_text([found], 100, 5))
    assert "159 msgs" in text
    assert "+59 msgs" in text
    assert "+59 %" in text
    counter = pair(lambda _: 120, lambda _: 60, "gets")
    assert comparison_json(counter)["compared"]["figures"]["sum"]["difference"] == pytest.approx(60 * 60, rel=0.05)


def test_parts_beside_each_other() -> None:
    """With equal parts each has the value of the same part of the other day, and the greatest differences are named."""
    now, past = view(START, lambda minute: 500 if minute >= 50 else 10), view(START - DAY, lambda _: 10)
    edges = [START + place * 10 * MINUTE for place in range(7)]
    found = compared(alone(now), alone(past), YESTERDAY, Parts(edges, 10 * MINUTE))
    lines = list(comparison_csv([found], parts=True))
    assert len(lines) == 7
    assert lines[-1] == '"QM01/queue/X",depth,2026-11-20T12:50:00.000Z,500.0,10.0,490.0'
    text = list(comparison_text([found], 80, 5))
    assert text[text.index("The greatest differences:") + 2].startswith("12:50:00  500 msgs")


def test_a_difference_that_rounds_to_nothing_has_no_sign() -> None:
    """Rates that differ in digits that are not written differ by 0.0, in CSV and in JSON."""
    now, past = view(START, lambda _: 1.0), view(START - DAY, lambda _: 1.0 + 1e-9)
    edges = [START + place * 10 * MINUTE for place in range(7)]
    found = compared(alone(now), alone(past), YESTERDAY, Parts(edges, 10 * MINUTE))
    lines = list(comparison_csv([found], parts=True))[1:]
    assert {line.rsplit(",", 1)[1] for line in lines} == {"0.0"}
    assert "-0.0" not in json.dumps(comparison_json(found))


def test_a_day_without_data_is_no_zero() -> None:
    """Neither a figure nor a difference is made up."""
    found = compared(
        alone(view(START, lambda _: 7)),
        alone(Trend(ObjectName("QM01", "queue", "X"), metric("queue", "depth"), (), SPAN)),
        YESTERDAY,
    )
    assert comparison_json(found)["compared"]["figures"]["max"] == {"value": 7, "before": None, "difference": None}
    text = "\n".join(comparison_text([found], 80, 4))
    assert "no data" in text
    assert "no poll" in text


@given(st.lists(st.none() | st.integers(0, 2**40), min_size=2, max_size=60), st.integers(40, 140))
def test_any_comparison_fits(values: list[int | None], width: int) -> None:
    """Whatever the values, lines keep their width."""
    found = pair(lambda minute: values[minute % len(values)], lambda minute: values[-1 - minute % len(values)])
    assert all(cells(line) <= width for line in comparison_text([found], width, 4))
    assert len(list(comparison_csv([found], parts=True))) == 61
