"""Readings of other sources than polls: each at its own time, in whatever order they come, beside the polls."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.examples import COSTLY
from mqvitals_agent.ingest.windows import WindowedMetric, WindowHistory
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_rules.history import Point
from mqvitals_rules.snapshot import PATIENCE_MS, Reading, Source
from mqvitals_rules.vocabulary.metric import Absence, Reported

HALF_HOUR = 1_800_000
CYCLE_MS = 10_000
Record = Callable[..., Reading]


@pytest.fixture
def record(make: Any) -> Record:
    """A record of the n-th half hour: it ends with it."""

    def of(
        number: int, probe: str = "SMF_115", source: Source = Source.SMF, name: str = "APPL.IN", **values: Reported
    ) -> Reading:
        ts = make.start + number * HALF_HOUR
        return Reading(make.queue(name), probe, ts, values, HALF_HOUR, poll=False, source=source)

    return of


def tell(path: Path, make: Any, *snapshots: Sequence[Reading], first: int = 1) -> None:
    with Store.open(path, kinds=make.kinds) as store:
        for cycle, readings in enumerate(snapshots, first):
            store.write(make.snapshot(cycle, *readings), make.verdict())


def rows(path: Path, table: str = "sample_queue") -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(f"SELECT * FROM {table}").fetchall()
    finally:
        connection.close()


def test_each_record_is_a_row_of_its_own_time(path: Path, make: Any, record: Record) -> None:
    """Several records of an object in one snapshot, and a poll beside them, are as many rows of history."""
    tell(path, make, [make.status(1, depth=5), record(2, max_depth=20), record(1, max_depth=10)])
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert reader.trend(make.queue(), "depth").points == ((make.ts(1), 5),)
        ends = [make.start + number * HALF_HOUR for number in (1, 2)]
        assert reader.trend(make.queue(), "max_depth").points == ((ends[0], 10), (ends[1], 20))
        found = reader.samples(make.queue(), "max_depth", Source.SMF)
        assert [(sample.ts, sample.interval_ms, sample.value) for sample in found] == [
            (ends[0], HALF_HOUR, 10),
            (ends[1], HALF_HOUR, 20),
        ]
        assert reader.samples(make.queue(), "max_depth", Source.SMF, newest=1) == found[1:]
        assert reader.samples(make.queue(), "max_depth", Source.STATISTICS) == []


def test_a_record_told_twice_is_one(path: Path, make: Any, record: Record) -> None:
    """The same record in a later snapshot, or after a restart, adds nothing."""
    told = record(1, puts=7, description="x")
    tell(path, make, [told, told], [told])
    before = rows(path), rows(path, "current_queue"), rows(path, "record")
    tell(path, make, [told], first=3)
    assert (rows(path), rows(path, "current_queue"), rows(path, "record")) == before
    assert len(before[0]) == len(before[2]) == 1


def test_records_of_one_end_share_a_row(path: Path, make: Any, record: Record) -> None:
    """What two probes tell of the same interval stands together, and neither takes away what the other told."""
    tell(path, make, [record(1, "SMF_115", puts=7)], [record(1, "SMF_116", depth=3, puts=Absence.NOT_RETURNED)])
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert reader.samples(make.queue(), "puts", Source.SMF)[0].value == 7
        assert reader.samples(make.queue(), "depth", Source.SMF)[0].value == 3
    assert len(rows(path)) == 1


def test_the_newest_told_is_the_value_now(path: Path, make: Any, record: Record) -> None:
    """Of two probes the newer value counts, whichever came last; a late record changes history alone, after a restart too."""
    tell(path, make, [record(3, depth=30)], [make.status(2, depth=2)], [record(2, depth=20)])
    tell(path, make, [record(1, depth=10)], first=4)
    with StoreReader.open(path, kinds=make.kinds) as reader:
        now = reader.current(make.queue())["depth"]
        assert (now.value, now.ts, now.probe, now.source, now.interval_ms) == (
            30,
            make.start + 3 * HALF_HOUR,
            "SMF_115",
            Source.SMF,
            HALF_HOUR,
        )
        assert [sample.value for sample in reader.samples(make.queue(), "depth", Source.SMF)] == [10, 20, 30]
    tell(path, make, [make.status(700, depth=7)], first=700)
    with StoreReader.open(path, kinds=make.kinds) as reader:
        now = reader.current(make.queue())["depth"]
        assert (now.value, now.probe, now.source, now.interval_ms) == (7, "STATUS", Source.POLL, None)


def test_records_of_other_shapes_at_once(path: Path, make: Any, record: Record) -> None:
    """A snapshot brings records that hold different metrics: current state is what the newest holds."""
    tell(path, make, [record(1, depth=1)])
    tell(path, make, [record(2, depth=2), record(3, depth=3, puts=3), record(4, puts=4)], first=2)
    with StoreReader.open(path, kinds=make.kinds) as reader:
        now = reader.current(make.queue())
        assert {metric: told.value for metric, told in now.items()} == {"puts": 4}


def test_a_record_goes_stale_by_its_own_interval(path: Path, make: Any, record: Record) -> None:
    """A half hour's record is believed for two and a half half hours after its end, and is then marked as stale."""
    hour = HALF_HOUR // 5_000
    tell(path, make, [record(2, puts=1), make.status(hour, depth=1)], first=hour)
    for cycle, why in ((hour + 450, None), (hour + 451, Absence.STALE)):
        tell(path, make, [make.status(cycle, depth=2)], first=cycle)
        with StoreReader.open(path, kinds=make.kinds) as reader:
            assert reader.current(make.queue())["puts"].unanswered is why
            assert reader.current(make.queue())["depth"].unanswered is None


@pytest.mark.parametrize("before", [False, True])
def test_a_short_interval_is_no_reason_to_be_stale(path: Path, make: Any, record: Record, before: bool) -> None:
    """The first interval after a start is short: the next record is awaited as long as after a whole interval."""
    start, last = (ms // CYCLE_MS for ms in (2 * HALF_HOUR, 2 * HALF_HOUR + PATIENCE_MS))
    short = replace(record(2, puts=1), interval_ms=60_000)
    tell(path, make, [*([record(1, puts=9)] if before else []), short, make.status(start, depth=1)], first=start)
    for cycle, why in ((last, None), (last + 1, Absence.STALE)):
        tell(path, make, [make.status(cycle, depth=2)], first=cycle)
        with StoreReader.open(path, kinds=make.kinds) as reader:
            assert reader.current(make.queue())["puts"].unanswered is why
            then = reader.as_of(make.ts(cycle))
            assert then.current(make.queue())["puts"].unanswered is why


@pytest.mark.parametrize("minutes", [1, 5])
def test_short_intervals_of_a_site_count(path: Path, make: Any, record: Record, minutes: int) -> None:
    """Where several records in a row are of a short interval, the next one is overdue after two and a half of it."""
    start, length = 2 * HALF_HOUR, minutes * 60_000
    records = [replace(record(2, puts=1), interval_ms=length, ts=make.start + start + at * length) for at in (0, 1)]
    ends = (start + length) // CYCLE_MS
    tell(path, make, [*records, make.status(ends, depth=1)], first=ends)
    last = ends + length * 5 // 2 // CYCLE_MS
    for cycle, why in ((last, None), (last + 1, Absence.STALE)):
        tell(path, make, [make.status(cycle, depth=2)], first=cycle)
        with StoreReader.open(path, kinds=make.kinds) as reader:
            assert reader.current(make.queue())["puts"].unanswered is why


def test_a_record_from_before_does_not_bring_an_object_back(path: Path, make: Any, record: Record) -> None:
    """Only a record that began after the object was found to be gone tells that it is there again."""
    tell(path, make, [make.status(1, depth=1)], [make.gone(2)])
    for number, there in ((0, False), (1, False), (2, True)):
        tell(path, make, [record(number, puts=1)], first=number + 10)
        with StoreReader.open(path, kinds=make.kinds) as reader:
            assert bool(reader.objects()) is there


def test_the_newest_records_are_read_back(path: Path, make: Any, record: Record) -> None:
    """For the rules of the next process: of each probe its newest record, with its interval and what is absent in it."""
    newest = record(2, puts=4, depth=Absence.NOT_RETURNED, description="x")
    other = record(1, "STATQ", Source.STATISTICS, max_depth=9)
    tell(path, make, [make.status(1, depth=1), newest, record(1, puts=3), other])
    with StoreReader.open(path, kinds=make.kinds) as reader:
        [snapshot] = reader.newest_records()
    assert sorted(snapshot.readings, key=lambda each: each.probe) == [newest, other]


ORDER = st.permutations(list(range(8)))


@COSTLY
@given(order=ORDER, cuts=st.sets(st.integers(1, 7)), again=st.integers(0, 7), restart=st.booleans())
def test_any_order_of_records_is_the_same_past(
    order: list[int],
    cuts: set[int],
    again: int,
    restart: bool,
    make: Any,
    record: Record,
    tmp_path_factory: Any,
) -> None:
    """However records are ordered, cut into snapshots, repeated and interrupted: history and current state are the same."""
    records = [
        *(record(number, depth=number, puts=10 * number) for number in range(1, 4)),
        record(4, puts=Absence.NOT_RETURNED, depth=4),
        record(2, "SMF_116", max_depth=2),
        record(5, "SMF_116", max_depth=5, description="x"),
        record(2, "STATQ", Source.STATISTICS, depth=22),
        record(6, "STATQ", Source.STATISTICS, depth=Absence.RESET),
    ]
    folder = tmp_path_factory.mktemp("order")

    def outcome(path: Path, snapshots: list[list[Reading]]) -> Any:
        step = 1 if restart else len(snapshots)
        for start in range(0, len(snapshots), step):
            tell(path, make, *snapshots[start : start + step], first=start + 1)
        with StoreReader.open(path, kinds=make.kinds) as reader:
            past = {metric: reader.trend(make.queue(), metric).points for metric in ("depth", "puts", "max_depth")}
            now = {metric: told[:4] for metric, told in reader.current(make.queue()).items()}
        return past, now, sorted(rows(path), key=repr), sorted(rows(path, "record")), windows(snapshots)

    def windows(snapshots: list[list[Reading]]) -> Any:
        history = WindowHistory((WindowedMetric("queue", "depth", 10 * HALF_HOUR),), kinds=make.kinds)
        for cycle, readings in enumerate(snapshots, 1):
            history.add(make.snapshot(cycle, *readings))
        return history.points(make.queue(), "depth", 0), history.last(make.queue(), "depth", 3)

    shuffled = [records[place] for place in order]
    bounds = [0, *sorted(cuts), len(shuffled)]
    told = [shuffled[a:b] for a, b in pairwise(bounds)] + [[records[again]]]
    assert outcome(folder / "a.db", told) == outcome(folder / "b.db", [records])


@given(polled=st.lists(st.booleans(), min_size=200, max_size=200), back=st.integers(1, 200), late=st.booleans())
def test_increases_are_never_counted_twice(
    polled: list[bool], back: int, late: bool, make: Any, record: Record
) -> None:
    """One message a second, told by polls (some unanswered) and by records alike, is never more than one a second."""
    history = WindowHistory((WindowedMetric("queue", "puts", 10_000_000),), kinds=make.kinds)
    since = None
    records = [record(1, puts=HALF_HOUR // 1000)]
    for cycle, answers in enumerate(polled, 1):
        readings: list[Reading] = []
        if answers:
            covered = None if since is None else (cycle - since) * 10_000
            value = Absence.FIRST_READING if covered is None else covered // 1000
            readings.append(Reading(make.queue(), "STATUS", make.ts(cycle), {"puts": value}, covered))
            since = cycle
        else:
            readings.append(make.silence(cycle))
        if cycle == (190 if late else 180):
            readings += records
        history.add(make.snapshot(cycle, *readings))
    points = history.points(make.queue(), "puts", make.ts(200 - back))
    counted = [(point.value, point.interval_ms) for point in points if point.value is not None and point.interval_ms]
    assert all(value * 1000 == interval for value, interval in counted)
    ends = [(point.ts - (point.interval_ms or 0), point.ts) for point in points if point.value is not None]
    assert all(before[1] <= after[0] for before, after in pairwise(ends))


@pytest.mark.parametrize("restart", [False, True])
def test_polls_and_records_have_their_own_windows(path: Path, make: Any, record: Record, restart: bool) -> None:
    """Of an object with polls and records each metric has its own points, in memory and from the store."""
    with Store.open(path, kinds=make.kinds) as store:
        wanted = (WindowedMetric("queue", "depth", 60_000), WindowedMetric("queue", "puts", 60_000))
        older = StoreReader.open(path, kinds=make.kinds)
        history = WindowHistory(wanted, older=older, kinds=make.kinds)
        for cycle in range(1, 541):
            readings = [make.status(cycle, depth=cycle)]
            if cycle % 180 == 0:
                readings.append(record(cycle // 180, puts=cycle))
            snapshot = make.snapshot(cycle, *readings)
            history.add(snapshot)
            store.write(snapshot, make.verdict())
        if restart:
            history = WindowHistory(wanted, older=older, kinds=make.kinds)
        ends = [make.start + number * HALF_HOUR for number in (1, 2, 3)]
        points = [Point(end, 180.0 * number, HALF_HOUR) for number, end in enumerate(ends, 1)]
        assert list(history.points(make.queue(), "puts", make.start)) == points
        assert list(history.last(make.queue(), "puts", 2)) == points[1:]
        depths = history.points(make.queue(), "depth", make.ts(530))
        assert [point.value for point in depths] == list(range(531, 541))
        late = record(0, puts=1)
        history.add(make.snapshot(541, make.status(541, depth=1), late))
        store.write(make.snapshot(541, make.status(541, depth=1), late), make.verdict())
        assert list(history.points(make.queue(), "puts", 0)) == [Point(make.start, 1.0, HALF_HOUR), *points]
        older.close()


def test_a_structure_before_records_is_brought_up_to_date(path: Path, make: Any, record: Record) -> None:
    """A store of the structure before gets its list of records, and what polls told stays."""
    tell(path, make, [make.status(1, depth=5)])
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("DROP TABLE record")
        connection.execute("DELETE FROM _sqlite_migrations WHERE name = 'structure_5'")
        connection.execute("PRAGMA user_version = 4")
    connection.close()
    tell(path, make, [record(1, puts=3)], first=2)
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert reader.trend(make.queue(), "depth").points == ((make.ts(1), 5),)
        assert [value for _, value in reader.trend(make.queue(), "puts").points] == [3]


def test_what_records_never_told_is_sought_once(path: Path, make: Any, record: Record) -> None:
    """After a restart the store is asked once for records of a metric that only polls tell, not at every poll."""
    asked = []

    class Counting(StoreReader):
        def samples(self, *arguments: Any, **options: Any) -> Any:
            if Source.SMF in arguments:
                asked.append(arguments)
            return super().samples(*arguments, **options)

    tell(path, make, [make.status(1, depth=1), record(1, puts=1)])
    with Counting.open(path, kinds=make.kinds) as older:
        history = WindowHistory(
            (WindowedMetric("queue", "depth", 0, 3), WindowedMetric("queue", "puts")), older=older, kinds=make.kinds
        )
        for cycle in range(2, 10):
            history.add(make.snapshot(cycle, make.status(cycle, depth=cycle)))
            assert history.last(make.queue(), "depth", 3)[-1].value == cycle
    assert len(asked) == 1
