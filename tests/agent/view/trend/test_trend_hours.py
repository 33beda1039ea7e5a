"""Parts of a time that are whole hours: from hours where these are rolled up, from samples after that."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkKey
from mqvitals_agent.store.rows.sealed.roller import Roller
from mqvitals_agent.store.rows.sealed.rollup import MetricHour
from mqvitals_agent.store.rows.sealed.sealer import Sealer
from mqvitals_agent.store.rows.tables import tables_of
from mqvitals_agent.store.writer import Store
from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.view.figures.buckets import Parts, refusal
from mqvitals_agent.view.figures.trend import Aggregate, Trend
from mqvitals_agent.view.trend.hours import figure_of_hours, figures_with_hours, tells, with_hours
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.timestamps import HOUR_MS
from mqvitals_rules.vocabulary.tables import KINDS, metric

DAY_MS = 24 * HOUR_MS
BEGIN = 20_000 * DAY_MS
"""2024-10-04."""
QUEUE = ObjectName("QM01", "queue", "APP.ONE")
KEPT = 3
"""Days of the store; of the first two of them the samples are gone."""


def sealed(path: Path) -> None:
    """Polls every half an hour: the depth is the hour of the day, with 100 more on later days; 30 puts a minute."""
    with Store.open(path) as writer:
        for half in range(2 * 24 * KEPT + 4):
            ts = BEGIN + (half + 1) * HOUR_MS // 2 - 60_000
            values = {"depth": half // 2 % 24 + 100 * (half // 48), "puts": 900}
            reading = Reading(QUEUE, "INQUIRE_Q_STATUS", ts, values, HOUR_MS // 2)
            writer.write(Snapshot("QM01", False, half + 1, ts, (reading,)), Evaluation((), ()))
    tables = tables_of(KINDS)
    now = BEGIN + (24 * KEPT + 2) * HOUR_MS
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for part in (Sealer(tables, set()).round(connection, now), Roller(tables).round(connection, now)):
            for _ in part:
                pass


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Without the samples of the first two days."""
    path = tmp_path_factory.mktemp("hours") / "store.db"
    sealed(path)
    end = BEGIN + 2 * DAY_MS
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DELETE FROM chunk WHERE id < ?", (ChunkKey(end // HOUR_MS, 0, 0).id,))
        connection.execute("DELETE FROM snapshot WHERE ts < ?", (end,))
    return path


def told(capsys: pytest.CaptureFixture[str], store: Path, *arguments: str) -> dict[str, Any]:
    span = "--from", "2024-10-04 00:00", "--to", "2024-10-06 23:59", "--tz", "UTC"
    assert main(["trend", *arguments, str(QUEUE), *span, "--store", str(store), "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_days_whose_samples_are_gone(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same figures for all days; it is told up to when they are those of hours."""
    lowest = told(capsys, store, "depth", "--every", "1d", "--agg", "min")
    assert [value for _, value in lowest["points"]] == [0, 100, 200]
    assert lowest["hours_until"] == "2024-10-06T00:00:00.000Z"
    highest = told(capsys, store, "depth", "--every", "1d", "--agg", "max")
    assert [value for _, value in highest["points"]] == [23, 123, 223]
    average = told(capsys, store, "depth", "--every", "1d")
    assert [value for _, value in average["points"]][:2] == [11.5, 111.5]
    rates = told(capsys, store, "puts", "--every", "6h")
    assert [value for _, value in rates["points"]] == pytest.approx([0.5] * 12)
    total = told(capsys, store, "puts", "--every", "1d", "--agg", "sum")
    assert [value for _, value in total["points"]][:2] == [43_200, 43_200]
    assert rates["covered_s"][:8] == [6 * 3600.0] * 8


def test_what_hours_do_not_know(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A percentile and parts of less than an hour are those of the samples that there are."""
    for arguments in (("depth", "--every", "1d", "--agg", "p95"), ("depth", "--every", "30m")):
        found = told(capsys, store, *arguments)
        assert "hours_until" not in found
        assert {value for at, value in found["points"] if at < "2024-10-06"} == {None}
        assert found["points"][-1][1] is not None


@pytest.mark.parametrize(
    "arguments", [("1d", "min"), ("1d", "avg"), ("6h", "sum"), ("1h", "last"), ("30m", "max"), ("1d", "p95")]
)
def test_an_export_tells_the_same(store: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, str]) -> None:
    """Of metrics that hours know, and of one that is an attribute of the definition, in one table."""
    every, aggregate = arguments
    parts = "--every", every, "--agg", aggregate
    metrics = ["puts"] if aggregate == "sum" else ["depth", "max_depth"] if aggregate != "avg" else ["depth", "puts"]
    span = "--from", "2024-10-04 00:00", "--to", "2024-10-06 23:59", "--tz", "UTC"
    listed = ",".join(metrics)
    assert (
        main(["export", str(QUEUE), "--metrics", listed, *parts, *span, "--store", str(store), "--format", "jsonl"])
        == 0
    )
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for each in metrics:
        points = told(capsys, store, each, *parts)["points"]
        assert [row["at"] for row in rows] == [at for at, _ in points]
        assert [row[each] for row in rows] == pytest.approx([value for _, value in points], nan_ok=True)


def test_the_chart_says_where_samples_begin(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A sentence below it."""
    span = "--from", "2024-10-04 00:00", "--to", "2024-10-06 23:59", "--tz", "UTC"
    assert main(["trend", "depth", str(QUEUE), *span, "--every", "1h", "--store", str(store), "--width", "200"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "from whole hours until 2024-10-06 00:00:00 UTC, then from samples" in words


@pytest.mark.parametrize(
    ("by", "value", "at"),
    [
        ("max", 223, "2024-10-06T23:00:00.000Z"),
        ("min", 0, "2024-10-04T00:00:00.000Z"),
        ("last", 223, "2024-10-06T23:00:00.000Z"),
        ("avg", 111.5, None),
    ],
)
def test_who_stands_out(store: Path, capsys: pytest.CaptureFixture[str], by: str, value: float, at: str | None) -> None:
    """By hours, of which each is told by its begin."""
    span = "--from", "2024-10-04 00:00", "--to", "2024-10-06 23:59", "--tz", "UTC"
    command = ["trend", "depth", "*/queue/*", *span, "--store", str(store), "--top", "3", "--by", by]
    assert main([*command, "--json"]) == 0
    (table,) = json.loads(capsys.readouterr().out)["top"]
    assert (table["among"], table["without_value"], table["by_hours"]) == (1, 0, True)
    (row,) = table["objects"]
    assert row["object"] == str(QUEUE)
    assert row["value"] == value
    assert row.get("at") == at
    assert main(command) == 0
    assert "; by whole hours" in capsys.readouterr().out


def test_who_stands_out_in_a_short_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Samples tell it while they are there, also within an hour; then the hours of which all lies in it."""
    store = tmp_path / "store.db"
    sealed(store)
    command = ["trend", "depth", "*/queue/*", "--tz", "UTC", "--store", str(store), "--top", "3", "--json"]

    def top(since: str, until: str) -> dict[str, Any]:
        span = "--from", f"2024-10-04 {since}", "--to", f"2024-10-04 {until}"
        assert main([*command, *span]) == 0
        (found,) = json.loads(capsys.readouterr().out)["top"]
        assert isinstance(found, dict)
        return found

    row = {"object": str(QUEUE), "value": 12, "at": "2024-10-04T12:29:00.000Z"}
    for since, until in (("12:10", "12:40"), ("10:10", "12:40")):
        short = top(since, until)
        assert "by_hours" not in short
        assert short["objects"] == [row]
    assert top("09:10", "12:40")["by_hours"]
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("INSERT OR REPLACE INTO meta VALUES('kept_from', ?)", (str(BEGIN + DAY_MS),))
    assert top("10:10", "12:40")["by_hours"]


def test_a_chart_of_a_time_without_samples_is_one_of_hours(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where samples were deleted and the hours are known, without being asked for."""
    command = ["trend", "depth", str(QUEUE), "--tz", "UTC", "--store", str(store), "--width", "200"]
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("INSERT OR REPLACE INTO meta VALUES('kept_from', ?)", (str(BEGIN + 2 * DAY_MS),))
    assert main([*command, "--from", "2024-10-04 00:00", "--to", "2024-10-06 23:59"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "72 intervals of" in words
    assert "avg of each, no gaps" in words
    assert "from whole hours until 2024-10-06 00:00:00 UTC, then from samples" in words
    assert main([*command, "--from", "2024-10-06 00:00", "--to", "2024-10-06 23:59"]) == 0
    assert "48 polls" in capsys.readouterr().out


def gone(store: Path) -> None:
    """The store says that the samples of its first two days are gone."""
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("INSERT OR REPLACE INTO meta VALUES('kept_from', ?)", (str(BEGIN + 2 * DAY_MS),))


def test_a_day_is_compared_with_one_whose_samples_are_gone(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With and without parts; the figures are those that hours know, and those of samples where both days have them."""
    gone(store)
    command = ["trend", "depth", str(QUEUE), "--tz", "UTC", "--store", str(store), "--compare"]
    whole = "--from", "2024-10-06 00:00", "--to", "2024-10-06 23:59"

    def figures(found: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
        return {name: tuple(each.values()) for name, each in found["compared"]["figures"].items()}

    for parts in ((), ("--every", "6h")):
        assert main([*command, "yesterday", *whole, *parts, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        told_ = figures(found)
        assert told_["min"] == (200, 100, 100)
        assert told_["max"] == (223, 123, 100)
        assert told_["last"] == (223, 123, 100)
        assert "p95" not in told_
        assert told_["avg"][1] == 111.5
        assert found["compared"]["hours_until"] == "2024-10-06T00:00:00.000Z"
        assert len(found["compared"]["points"]) == len(found["points"]) == (4 if parts else 24)
    assert main([*command, "yesterday", *whole, "--csv"]) == 0
    assert f"{QUEUE},depth,max,223,123,100" in capsys.readouterr().out.replace('"', "")
    both = "--from", "2024-10-05 12:00", "--to", "2024-10-06 11:59"
    assert main([*command, "yesterday", *both, "--json"]) == 0
    assert figures(json.loads(capsys.readouterr().out))["min"] == (112, 12, 100), "half of it by hours, half by samples"
    assert main([*command, "yesterday", *whole, "--width", "120"]) == 0
    assert "no data" not in capsys.readouterr().out


def test_a_forecast_rests_on_days_whose_samples_are_gone(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the course of all days that hours tell of: samples of less than two days would leave the line of the last hour."""
    found = told(capsys, store, "depth", "--forecast", "--limit", "500")["forecast"]
    assert found["by"] == "the daily course of 3 days"
    assert "2024-10-08" <= found["at"] < "2024-10-10", "100 more on each day"


def test_an_export_has_no_parts_before_an_object_was_seen(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Those after it without data are there: they are gaps."""
    span = "--from", "2024-10-01 00:00", "--to", "2024-10-08 23:59", "--tz", "UTC"
    command = ["export", str(QUEUE), "--metrics", "depth", "--every", "1d", "--agg", "max", "--format", "jsonl"]
    assert main([*command, *span, "--store", str(store)]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["at"][:10], row["depth"]) for row in rows] == [
        ("2024-10-04", 23),
        ("2024-10-05", 123),
        ("2024-10-06", 223),
        ("2024-10-07", 301),
        ("2024-10-08", None),
    ]


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=40), st.data())
def test_figures_of_hours_and_samples_are_those_of_all(values: list[int], data: st.DataObject) -> None:
    """Wherever samples begin: one an hour, of the hour that it ends."""
    seam = data.draw(st.integers(0, len(values)))
    name = data.draw(st.sampled_from(("depth", "puts")))
    points = [
        (BEGIN + (hour + 1) * HOUR_MS, abs(value) if name == "puts" else value) for hour, value in enumerate(values)
    ]
    span = TimeRange(BEGIN, points[-1][0])

    def view(of: Sequence[tuple[int, int]], since: int) -> Trend:
        lengths = (HOUR_MS,) * len(of)
        return Trend(QUEUE, metric("queue", name), of, TimeRange(since, span.until), intervals=lengths, by_records=True)

    hours = [
        (ts - HOUR_MS, MetricHour(1, value, value, value if name == "puts" else value * HOUR_MS, HOUR_MS, value))
        for ts, value in points[:seam]
    ]
    found = figures_with_hours(view(points[seam:], BEGIN + seam * HOUR_MS), hours)
    every = figures_with_hours(view(points, BEGIN), ())
    wanted = [each for each in Aggregate if not refusal(each, metric("queue", name))]
    assert list(every) == wanted
    assert found.keys() == {each for each in wanted if not seam or tells(each, metric("queue", name))}
    for each, value in found.items():
        assert value == pytest.approx(every[each])


HOURS = st.dictionaries(
    st.integers(0, 47),
    st.tuples(st.integers(-50, 50), st.integers(1, HOUR_MS)).map(
        lambda each: MetricHour(2, each[0], each[0] + 2, (each[0] + 1) * each[1], each[1], each[0] + 2)
    ),
)


@given(
    HOURS,
    st.sampled_from((1, 2, 6, 24)),
    st.sampled_from((Aggregate.AVG, Aggregate.MIN, Aggregate.MAX, Aggregate.LAST)),
)
def test_parts_of_hours(hours: dict[int, MetricHour], length: int, aggregate: Aggregate) -> None:
    """Each part is told by its hours, those with more data weighing more; a part without hours is absent."""
    edges = [BEGIN + hour * HOUR_MS for hour in range(0, 49, length)]
    span = TimeRange(edges[0], edges[-1])
    parts = Parts(edges, length * HOUR_MS, aggregate)
    young = Trend(QUEUE, metric("queue", "depth"), (), span)
    found = with_hours(
        young, [(BEGIN + hour * HOUR_MS, each) for hour, each in sorted(hours.items())], parts, edges[-1]
    )
    for place, (begin, value) in enumerate(found.points):
        own = [hours[hour] for hour in range(place * length, (place + 1) * length) if hour in hours]
        assert begin == edges[place]
        assert found.intervals[place] == sum(each.covered_ms for each in own)
        if not own:
            assert value is None
        elif aggregate is Aggregate.AVG:
            assert value == pytest.approx(sum(each.total for each in own) / sum(each.covered_ms for each in own))
        else:
            figures = {
                Aggregate.MIN: min(each.lowest for each in own),
                Aggregate.MAX: max(each.highest for each in own),
                Aggregate.LAST: own[-1].last,
            }
            assert value == figures[aggregate]


def test_which_figures_hours_know() -> None:
    """Of a counter no bounds: an increase in an hour is no rate."""
    depth, puts = metric("queue", "depth"), metric("queue", "puts")
    assert [each for each in Aggregate if not tells(each, depth)] == [Aggregate.P95]
    assert [each for each in Aggregate if tells(each, puts)] == [Aggregate.AVG, Aggregate.SUM]


def test_a_sum_of_nothing_is_absent() -> None:
    """What did not increase in any time has no sum; what did not in a time that is known has 0."""
    puts = metric("queue", "puts")
    assert figure_of_hours(MetricHour(1, 0, 0, 0.0, 0, 0), Aggregate.SUM, puts) is None
    assert figure_of_hours(MetricHour(1, 0, 0, 0, 60_000, 0), Aggregate.SUM, puts) == 0
    assert figure_of_hours(MetricHour(1, 7, 7, 7, 0, 7), Aggregate.SUM, puts) == 7
