"""The past as OpenMetrics with times: every sample of the store, once, in the order that the format wants."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.openmetrics.backfill import sample_lines
from mqvitals_agent.openmetrics.names import family_of, sample_names
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.result import Series
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import MetricType
from mqvitals_rules.vocabulary.tables import KINDS, kind, metric

Found = dict[tuple[str, str], list[tuple[int, float]]]


def read(text: str) -> Found:
    """By name and object the points, ms and value; the parser refuses what is in another order than the format's."""
    found: Found = {}
    for family in text_string_to_metric_families(text):  # type: ignore[no-untyped-call]
        for sample in family.samples:
            about = next(
                (sample.labels[label] for label in ("queue", "channel", "pageset") if label in sample.labels),
                "",
            )
            owner = sample.labels.get("qmgr") or sample.labels.get("qsg") or ""
            found.setdefault((sample.name, f"{owner}/{about}"), []).append(
                (round(float(sample.timestamp) * 1000), sample.value)
            )
    return found


@pytest.fixture
def store(replayed: Callable[[str], Path], tmp_path: Path) -> Path:
    """A store with the whole recording of an incident."""
    return Path(shutil.copy(replayed("incident"), tmp_path / "incident.db"))


def test_every_sample_is_there_once_with_its_time(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Gauges as they are, counters as the total of the increases of this time."""
    target = tmp_path / "past.om"
    assert (
        main(["export", "--openmetrics", "--store", str(store), "--last", "30d", "--out", str(target), "--quiet"]) == 0
    )
    found = read(target.read_text(encoding="utf-8"))
    checked = 0
    with StoreReader.open(store) as reader:
        for each in reader.objects("*/queue/*") + reader.objects("*/channel/*") + reader.objects("*/page_set/*"):
            for name, series in reader.trends(
                each.name, [known.name for known in KINDS[each.name.kind].metrics if known.in_history]
            ).items():
                known = metric(each.name.kind, name)
                family = family_of(kind(each.name.kind), known)
                if family is None:
                    continue
                points = [(ts, value) for ts, value in series.points if value is not None]
                total, expected = 0.0, []
                for ts, value in points:
                    total += value
                    expected.append((ts, family.value_of(total if known.type is MetricType.COUNTER else value)))
                about = f"{each.name.owner}/{each.name.name}"
                assert found.get((family.sample, about), []) == [each for each in expected if each[1] is not None]
                checked += len(points)
    assert checked > 1000


def test_what_is_named_alone_is_written_to_standard_output(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of several kinds, or of one, with some of the metrics."""
    arguments = ["export", "--openmetrics", "--store", str(store), "--last", "30d", "--quiet"]
    assert main([*arguments, "--kind", "channel", "--metrics", "msgs,status"]) == 0
    text = capsys.readouterr().out
    assert text.endswith("# EOF\n")
    names = {name for name, _ in read(text)}
    assert names == {"ibmmq_channel_messages", "ibmmq_channel_status", "ibmmq_channel_status_squash"}
    assert names == {each for of in ("msgs", "status") for each in sample_names(kind("channel"), metric("channel", of))}


@pytest.mark.parametrize("option", [["--every", "1h"], ["--codes"], ["--format", "csv"]])
def test_options_of_tables_are_refused(store: Path, option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """The message names the option."""
    assert main(["export", "--openmetrics", "--store", str(store), *option]) != 0
    assert f"{option[0]} is about a table" in capsys.readouterr().err


POINTS = st.lists(
    st.tuples(st.integers(1, 1 << 42), st.none() | st.integers(0, 1 << 40) | st.floats(0, 1e12)), max_size=20
)


@given(POINTS)
def test_a_counter_never_falls_and_an_absence_is_no_sample(points: list[tuple[int, int | float | None]]) -> None:
    """Whatever is stored of it."""
    family = family_of(kind("channel"), metric("channel", "msgs"))
    assert family is not None
    series = Series(ObjectName("QM01", "channel", "A"), "msgs", "messages", tuple(points))
    lines = [line.split(" ") for line in sample_lines(family, "", series)]
    values = [float(value) for _, value, _ in lines]
    assert values == sorted(values)
    assert [round(float(ts) * 1000) for *_, ts in lines] == [ts for ts, value in points if value is not None]
