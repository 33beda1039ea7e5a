"""Hours from a store: the same whether they are rolled up, sealed or still rows; which source an hour is of."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.reading.hours import best, mean_of, of_samples
from mqvitals_agent.store.rows.samples.sample import Sample, SampleColumns
from mqvitals_agent.store.rows.sealed.roller import Roller
from mqvitals_agent.store.rows.sealed.rollup import MetricHour, together
from mqvitals_agent.store.rows.sealed.sealer import Sealer
from mqvitals_agent.store.rows.tables import tables_of
from mqvitals_agent.store.writer import Store
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.timestamps import HOUR_MS

BEGIN = 20_000 * 24 * HOUR_MS
NOTHING = Evaluation((), ())
Q1, Q2 = ObjectName("QM01", "queue", "APP.ONE"), ObjectName("QM01", "queue", "APP.TWO")


def cycle(ts: int, values: Mapping[ObjectName, Mapping[str, int]]) -> Snapshot:
    readings = tuple(Reading(name, "STATUS", ts, of_name, 600_000) for name, of_name in values.items())
    return Snapshot("QM01", False, ts // 1000, ts, readings)


def record(ts: int, values: Mapping[str, int]) -> Snapshot:
    reading = Reading(Q1, "SMF", ts, values, HOUR_MS, poll=False, source=Source.SMF)
    return Snapshot("QM01", False, ts // 1000, ts, (reading,))


def filled(path: Path, make: Any, hours: int) -> None:
    """Polls every ten minutes, the depth of the first queue the number of the hour; one hour of records alone."""
    with Store.open(path, kinds=make.kinds) as store:
        for place in range(6 * hours):
            ts = BEGIN + 600_000 * (place + 1)
            hour = place // 6
            if hour != 5:
                store.write(cycle(ts, {Q1: {"depth": hour, "puts": 60}, Q2: {"depth": 7, "puts": hour}}), NOTHING)
        store.write(record(BEGIN + 6 * HOUR_MS, {"depth": 500, "puts": 3_600}), NOTHING)


def test_the_figures_of_an_object(path: Path, make: Any) -> None:
    """Whole hours and the one under way; that without polls is told by records."""
    filled(path, make, 49)
    with StoreReader.open(path, kinds=make.kinds) as reader:
        found = reader.hour_figures(Q1, ("depth", "puts"), BEGIN, BEGIN + 48 * HOUR_MS)
        assert [(ts - BEGIN) // HOUR_MS for ts, _ in found["depth"].hours] == list(range(48))
        depths = dict(found["depth"].hours)
        assert depths[BEGIN + 3 * HOUR_MS] == MetricHour(6, 3, 3, 3 * HOUR_MS, HOUR_MS, 3)
        assert depths[BEGIN + 5 * HOUR_MS] == MetricHour(1, 500, 500, 500 * HOUR_MS, HOUR_MS, 500)
        assert dict(found["puts"].hours)[BEGIN + 40 * HOUR_MS] == MetricHour(6, 60, 60, 360, HOUR_MS, 60)
        assert reader.hour_figures(Q1, ("depth",), BEGIN + 60 * HOUR_MS)["depth"].hours == ()


def test_the_same_before_and_after(path: Path, make: Any) -> None:
    """Rolled up or not, of one object or of all, and as means."""
    filled(path, make, 76)

    def asked() -> Sequence[object]:
        with StoreReader.open(path, kinds=make.kinds) as reader:
            begun = [BEGIN + hour * HOUR_MS for hour in (0, 1, 2, 5, 23, 24, 47, 60, 75)]
            return (
                [reader.hour_figures(name, ("depth", "puts")) for name in (Q1, Q2)],
                reader.hours_of_kind("queue", "depth", begun),
                reader.hours_of_kind("queue", "puts", begun),
                sorted(reader.hours("queue", "puts", begun)),
                {name: sorted(means) for name, means in reader.hour_means("queue", "depth", begun).items()},
                reader.hour_means("queue", "depth", begun, Q1),
            )

    before = asked()
    # Samples that are sealed are read through the same readers as rows: here what is asked for stays rows, or is rolled up.
    tables = tables_of(make.kinds)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        rows = connection.execute("SELECT * FROM sample_queue").fetchall()
        for _ in Sealer(tables, set()).round(connection, BEGIN + 52 * HOUR_MS):
            pass
        for _ in Roller(tables).round(connection, BEGIN + 52 * HOUR_MS):
            pass
        assert connection.execute("SELECT day FROM rolled WHERE kind = 'queue'").fetchone() == (20_001,)
        connection.execute("DELETE FROM chunk")
        connection.executemany(
            f"INSERT OR IGNORE INTO sample_queue VALUES({', '.join('?' * len(rows[0]))})",
            [row for row in rows if row[0] > BEGIN + 47 * HOUR_MS],
        )
    assert asked() == before


def test_hours_of_objects_that_come_and_are_forgotten(path: Path, make: Any) -> None:
    """A reader that stays open knows the objects of now."""
    third = ObjectName("QM01", "queue", "APP.THREE")
    with Store.open(path, kinds=make.kinds) as store, StoreReader.open(path, kinds=make.kinds) as reader:

        def known() -> set[ObjectName]:
            return set(reader.hours_of_kind("queue", "depth", (BEGIN,)))

        assert known() == set()
        store.write(cycle(BEGIN + 60_000, {Q1: {"depth": 1}, Q2: {"depth": 2}}), NOTHING)
        assert known() == {Q1, Q2}
        store.write(cycle(BEGIN + 120_000, {third: {"depth": 3}}), NOTHING)
        assert known() == {Q1, Q2, third}
        with store.deleting() as connection:
            connection.execute("DELETE FROM object WHERE name = ?", (Q1.name,))
        assert known() == {Q2, third}


def test_moments_know_hours_that_were_over(path: Path, make: Any) -> None:
    """As of a moment there are no later hours, and none of which a part came later."""
    filled(path, make, 30)
    with StoreReader.open(path, kinds=make.kinds) as reader:
        then = reader.as_of(BEGIN + 20 * HOUR_MS + 1_800_000)
        hours = then.hour_figures(Q1, ("depth",), BEGIN)["depth"].hours
        assert [(ts - BEGIN) // HOUR_MS for ts, _ in hours] == list(range(20))


SAMPLES = st.lists(
    st.tuples(st.integers(1, 3 * HOUR_MS), st.one_of(st.none(), st.integers(1, HOUR_MS)), st.integers(-9, 9)),
    max_size=30,
    unique_by=lambda each: each[0],
).map(lambda rows: [Sample(*row) for row in sorted(rows)])


@given(SAMPLES, st.booleans(), st.booleans())
def test_hours_of_samples(samples: list[Sample], counter: bool, records: bool) -> None:
    """Each sample is of one hour: numbers and increases of the hours are those of the samples."""
    found = of_samples(SampleColumns(*zip(*samples, strict=True)), counter=counter, records=records)
    assert sum(each.count for each in found.values()) == len(samples)
    if counter:
        assert sum(each.total for each in found.values()) == sum(each.value or 0 for each in samples)
    for hour, each in found.items():
        own = [sample.value or 0 for sample in samples if hour * HOUR_MS < sample.ts <= (hour + 1) * HOUR_MS]
        assert (each.lowest, each.highest, each.last) == (min(own), max(own), own[-1])
        if not counter and each.covered_ms:
            assert each.lowest - 1e-9 <= (each.mean or 0) <= each.highest + 1e-9


@pytest.mark.parametrize(("poll_ms", "chosen"), [(3_000_000, 1), (2_800_000, 2), (0, 2)])
def test_the_source_of_an_hour(poll_ms: int, chosen: int) -> None:
    """Polls, unless records cover clearly more."""
    by_source = {
        Source.SMF: {9: MetricHour(1, 2, 2, 2, HOUR_MS, 2)},
        Source.POLL: {9: MetricHour(1, 1, 1, 1, poll_ms, 1)},
    }
    assert best(by_source)[9].last == chosen


def test_a_single_value_is_its_own_mean() -> None:
    """Nobody knows for how long it held; an increase over an unknown time is no rate."""
    hour = MetricHour(1, 12, 12, 0, 0, 12)
    assert mean_of(hour, counter=False) == 12
    assert mean_of(hour, counter=True) is None


def test_spans_of_all_objects(path: Path, make: Any) -> None:
    """What all hours of a time come to together is what its hours come to, one after the other, also before they are rolled up."""
    filled(path, make, 76)

    def asked() -> Sequence[Mapping[ObjectName, MetricHour]]:
        with StoreReader.open(path, kinds=make.kinds) as reader:
            found = []
            for first, last in ((0, 76), (3, 50), (24, 48), (30, 31), (70, 90), (80, 90)):
                spans = reader.spans_of_kind("queue", "puts", BEGIN + first * HOUR_MS, BEGIN + last * HOUR_MS)
                for name in (Q1, Q2):
                    hours = reader.hour_figures(name, ("puts",), BEGIN + first * HOUR_MS, BEGIN + last * HOUR_MS)
                    each = [hour for _, hour in hours["puts"].hours if not (name == Q1 and hour.count == 1)]
                    assert (name in spans) == bool(each)
                    if each:
                        assert spans[name] == together(each)
                found.append(spans)
            return found

    before = asked()
    tables = tables_of(make.kinds)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for part in (Sealer(tables, set()), Roller(tables)):
            for _ in part.round(connection, BEGIN + 60 * HOUR_MS):
                pass
        assert connection.execute("SELECT day FROM rolled WHERE kind = 'queue'").fetchone() == (20_001,)
    assert asked() == before
