"""The objects that stand out in a metric."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.figures.trend import Aggregate, Trend
from mqvitals_agent.view.trend.top import top_csv, top_json, top_lists, top_text
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.tables import metric

START = 1795176000000
VALUES = st.lists(st.none() | st.integers(0, 100), max_size=6)


def view(number: int, *values: float | None, kind: str = "queue", name: str = "depth") -> Trend:
    points = tuple((START + place * 10_000, value) for place, value in enumerate(values))
    span = TimeRange(START, START + 60_000)
    lengths = (10_000,) * len(points) if name == "msgs" else ()
    return Trend(ObjectName("QM01", kind, f"Q{number:03}"), metric(kind, name), points, span, intervals=lengths)


@given(
    st.lists(VALUES, max_size=300), st.integers(1, 20), st.sampled_from([Aggregate.MIN, Aggregate.MAX, Aggregate.LAST])
)
def test_the_worst_are_those_of_all(told: list[list[int | None]], most: int, by: Aggregate) -> None:
    """However many there are: none that is left out stands before one that is shown; of equal values the first time."""
    found = top_lists((view(number, *values) for number, values in enumerate(told)), by, most)

    def choose(values: list[int]) -> int:
        return min(values) if by is Aggregate.MIN else max(values) if by is Aggregate.MAX else values[-1]

    known = {number: [value for value in values if value is not None] for number, values in enumerate(told)}
    figures = {number: choose(values) for number, values in known.items() if values}
    order = sorted(figures, key=lambda number: (figures[number] * (1 if by is Aggregate.MIN else -1), number))
    if not told:
        assert found == []
        return
    (shown,) = found
    assert [(row.view.object.name, row.value) for row in shown.rows] == [
        (f"Q{number:03}", figures[number]) for number in order[:most]
    ]
    assert (shown.among, shown.without) == (len(told), len(told) - len(figures))
    for row in shown.rows:
        values = told[int(row.view.object.name[1:])]
        at = (
            values.index(int(row.value))
            if by is not Aggregate.LAST
            else max(i for i, v in enumerate(values) if v is not None)
        )
        assert row.at == START + at * 10_000
    assert all(cells(line) <= 60 for line in top_text(found, TimeRange(START, START + 60_000), 60))


def test_rates_and_means() -> None:
    """Counters are compared by their rates, with their unit; a mean says how much time has data."""
    found = top_lists([view(1, None, 100, kind="channel", name="msgs"), view(2, 50, 10)], Aggregate.AVG, 5)
    shown = top_json(found)["top"]
    assert [(each["metric"], each["unit"]) for each in shown] == [
        ("msgs", "messages per second"),
        ("depth", "messages"),
    ]
    assert shown[0]["objects"] == [{"object": "QM01/channel/Q001", "value": 10.0, "covered_s": 10.0}]
    assert shown[1]["objects"] == [{"object": "QM01/queue/Q002", "value": 30.0, "covered_s": 20.0}]
    assert list(top_csv(found))[1:] == [
        '"QM01/channel/Q001",msgs,avg,10.0,,10.0',
        '"QM01/queue/Q002",depth,avg,30.0,,20.0',
    ]
    text = "\n".join(top_text(found, TimeRange(START, START + 60_000), 80))
    assert "10 msgs/s" in text
    assert "With data" in text


@pytest.mark.parametrize("by", [each for each in Aggregate if each is not Aggregate.SUM])
def test_nothing_is_no_zero(by: Aggregate) -> None:
    """Objects without any value are counted, not listed."""
    found = top_lists([view(1), view(2, None, None), view(3, float("nan"))], by, 3)
    assert json.dumps(top_json(found)) == json.dumps(
        {
            "top": [
                {
                    "metric": "depth",
                    "kind": "queue",
                    "by": by.value,
                    "unit": "messages",
                    "among": 3,
                    "without_value": 3,
                    "objects": [],
                }
            ]
        }
    )
    assert "0 of 3 objects; 3 objects without a value" in "\n".join(top_text(found, TimeRange(START, START), 80))
