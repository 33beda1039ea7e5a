"""Retention of sealed hours: chunks with all that belongs to them, kinds apart, days that are not rolled up, rolled-up hours."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mqsamples.pruning import delete_all
from mqsamples.sealed import BEGAN, DAY, HOUR, Samples, at, fill, held, hours_of, seal_all
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.retention import Retention, RetentionPolicy
from mqvitals_agent.store.writer import Store
from mqvitals_config.sections.store import KeepSettings, RawKeep
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source


def roll(store: Store, days: Iterable[int], *, metrics: int = 2, kinds: Iterable[str] = ("queue", "log")) -> None:
    """Rows as rolled-up days have them, counted from the first day."""
    with store.database.writing() as connection:
        for kind in kinds:
            for metric in range(metrics):
                connection.execute(
                    "INSERT OR IGNORE INTO rollup_metric(kind, metric) VALUES(?, ?)", (kind, f"metric{metric}")
                )
            for day in days:
                connection.execute(
                    "INSERT OR REPLACE INTO rollup(metric, day, object_id, source, data)"
                    " SELECT m.id, ?, o.id, 1, x'00' FROM rollup_metric AS m JOIN object AS o USING(kind) WHERE kind = ?",
                    (BEGAN // DAY + day, kind),
                )
                connection.execute("INSERT OR REPLACE INTO rolled(kind, day) VALUES(?, ?)", (kind, BEGAN // DAY + day))


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def finish(store: Store, policy: RetentionPolicy, now: int) -> int:
    return delete_all(Retention(store, policy, steady=lambda: 0.0), now)


def kept(samples: Samples, since: int) -> Samples:
    return {key: row for key, row in samples.items() if key[3] >= since}


@pytest.fixture
def store(path: Path, make: Any) -> Iterable[Store]:
    with Store.open(path, kinds=make.kinds, created=BEGAN) as opened:
        yield opened


def test_old_chunks_go_with_what_belongs_to_them(path: Path, make: Any, store: Store) -> None:
    """Whole hours go, with snapshots, axes and the index of records; what stays is as it was, and the store says from when."""
    fill(make, store, [hour / 2 for hour in range(4, 100)])
    seal_all(store, at(40))
    before = held(path)
    assert finish(store, RetentionPolicy.of(DAY, None), at(49.75)) > 0
    # At 25:45 the hour of 25:00 is not over; what of it is sealed stays.
    assert held(path) == kept(before, at(25))
    assert {int(hour) for (hour,) in rows(path, "SELECT DISTINCT hour FROM chunk_axis")} == {
        BEGAN // HOUR + hour for hour in range(25, 40)
    }
    assert min(rows(path, "SELECT ts FROM record")) == (at(25),)
    assert len(rows(path, "SELECT * FROM record")) == 50
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert reader.meta().kept_from == at(25)
        assert min(rows(path, "SELECT ts FROM snapshot")) == (at(25),)


def test_rows_over_a_chunk_that_goes(path: Path, make: Any, store: Store) -> None:
    """A late record of a sealed hour is a row beside the chunk: both go, or both stay."""
    fill(make, store, range(2, 60))
    seal_all(store, at(50))
    for hour in (5, 45):
        late = Reading(make.queue("B"), "SMF", at(hour), {"max_depth": 9}, HOUR, poll=False, source=Source.SMF)
        store.write(Snapshot("QM01", False, 0, at(hour), (late,)), make.verdict())
    before = held(path)
    finish(store, RetentionPolicy.of(DAY, None), at(60))
    assert held(path) == kept(before, at(36))
    assert rows(path, f"SELECT count(*) FROM record WHERE ts = {at(45)}") == [(2,)]


def test_kinds_apart(path: Path, make: Any, store: Store) -> None:
    """A kind that is kept shorter goes alone: what the others need stays, and each chart says from when on it is whole."""
    fill(make, store, range(2, 100))
    seal_all(store, at(90))
    before = held(path)
    policy = RetentionPolicy(KeepSettings(RawKeep(3 * DAY, {"queue": DAY}), DAY, None), None)
    finish(store, policy, at(100))
    expected = {
        key: row for key, row in before.items() if key[3] >= (at(100 - 24) if key[0] == "queue" else at(100 - 72))
    }
    assert held(path) == expected
    assert min(rows(path, "SELECT hour FROM chunk_axis")) == (BEGAN // HOUR + 28,)
    assert min(rows(path, "SELECT ts FROM snapshot")) == (at(28),)
    assert min(rows(path, "SELECT ts FROM record")) == (at(76),)
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert reader.meta().kept_from == at(76)
        series = reader.trend(make.queue("A"), "depth")
        assert (series.kept_from, [value for _, value in series.points]) == (at(76), list(range(76, 100)))
        series = reader.trend(ObjectName("QM01", "log"), "used_pct")
        assert (series.kept_from, [value for _, value in series.points]) == (at(28), list(range(28, 100)))
    finish(store, policy, at(101))
    assert {ts for kind, _, _, ts in held(path) if kind == "queue"} == {at(hour) for hour in range(77, 100)}
    finish(store, policy._replace(keep=KeepSettings(RawKeep(None, {"queue": None}), None, None)), at(1000))
    assert len(hours_of(held(path))) == 100 - 29


def test_days_that_are_not_rolled_up_stay(path: Path, make: Any, store: Store) -> None:
    """While hours are kept longer, samples wait for them, of each kind for its own; the limit waits for nothing."""
    fill(make, store, range(2, 120))
    seal_all(store, at(110))
    before = held(path)
    policy = RetentionPolicy(KeepSettings(RawKeep(DAY), 100 * DAY, None), None)
    assert finish(store, policy, at(120)) == 0
    roll(store, [0, 1])
    finish(store, policy, at(120))
    # The last hour is there for the first values of the next day.
    assert held(path) == kept(before, at(47))
    roll(store, [2], kinds=("log",))
    finish(store, policy, at(120))
    assert held(path) == {key: row for key, row in before.items() if key[3] >= (at(71) if key[0] == "log" else at(47))}
    assert hours_of({key: row for key, row in held(path).items() if key[0] == "queue"})
    finish(store, policy._replace(unrolled=True), at(120))
    assert held(path) == kept(before, at(96))


def test_a_kind_without_samples_holds_nothing_up(path: Path, make: Any, store: Store) -> None:
    """A kind of which nothing came any more was rolled up to its last day: nobody waits for the days after it."""
    fill(make, store, range(2, 30))
    seal_all(store, at(30))
    for hour in range(30, 120):
        status = replace(make.status(2, "A", depth=hour), ts=at(hour))
        store.write(replace(make.snapshot(hour, status), ts=at(hour)), make.verdict())
    seal_all(store, at(110))
    roll(store, range(5), kinds=("queue",))
    roll(store, range(2), kinds=("log",))
    finish(store, RetentionPolicy(KeepSettings(RawKeep(DAY), 100 * DAY, None), None), at(120))
    assert min(hours_of(held(path))) == BEGAN // HOUR + 96
    assert min(rows(path, "SELECT ts FROM snapshot")) == (at(96),)


def test_over_the_limit_sealed_hours_go_first(path: Path, make: Any, store: Store) -> None:
    """The oldest chunks before younger rows, then messages and the rest, and rolled-up hours last."""
    names = [f"APPL.{number:03d}" for number in range(60)]
    fill(make, store, [2 + part / 8 for part in range(58 * 8)], names)
    seal_all(store, at(30))
    roll(store, range(3), metrics=10)
    with store.database.reading() as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before, rolled = held(path), rows(path, "SELECT count(*) FROM rollup")
    limit = Retention(store, RetentionPolicy.of(None, None)).size().total
    policy = RetentionPolicy(KeepSettings(RawKeep(None), None, None), limit)
    while finish(store, policy, at(60)):
        pass
    after = held(path)
    first = min(ts for _, _, _, ts in after)
    assert at(3) <= first < at(59)
    assert after == kept(before, first)
    assert rows(path, "SELECT count(*) FROM rollup") == rolled
    # A limit that cannot be kept costs all but the last hour of samples, then whole days of hours.
    finish(store, policy._replace(limit=1), at(60))
    assert held(path) == kept(before, at(59))
    assert rows(path, "SELECT min(day) FROM rollup") == [(BEGAN // DAY + 2,)]
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert reader.meta().hours_kept_from == at(48)


def test_rolled_up_hours_go_after_their_own_time(path: Path, make: Any, store: Store) -> None:
    """Whole days, of every metric; objects are known as long as any of their hours are."""
    fill(make, store, range(898, 900))
    gone = [replace(make.gone(6, name), ts=at(900)) for name in ("A", "B")]
    store.write(replace(make.snapshot(60_000, *gone), ts=at(900)), make.verdict())
    fill(make, store, [990, 1100], ("NEW",))
    seal_all(store, at(900))
    roll(store, range(46))
    policy = RetentionPolicy(KeepSettings(RawKeep(DAY), 10 * DAY, DAY), None)
    finish(store, policy, at(1100.5))
    first = BEGAN // DAY + 35
    assert rows(path, "SELECT DISTINCT day FROM rollup ORDER BY day") == [(first + day,) for day in range(11)]
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert reader.meta().hours_kept_from == first * DAY
        assert {each.name.name for each in reader.objects(gone=True)} == {"", "A", "B", "NEW"}
    finish(store, policy._replace(keep=KeepSettings(RawKeep(DAY), 2 * DAY, DAY)), at(1100.5))
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert {each.name.name for each in reader.objects(gone=True)} == {"", "NEW"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(0, 80),
    st.integers(1, 60),
    st.integers(1, 60),
    st.lists(st.integers(1, 5), max_size=12),
    st.sampled_from([0, 1, 2, 3]),
)
def test_what_should_stay_stays(
    tmp_path_factory: pytest.TempPathFactory, make: Any, sealed: int, raw: int, queue: int, stops: list[int], days: int
) -> None:
    """However much is sealed and rolled up, wherever steps end and others begin anew: what is younger than its bound is
    there as it was, what is older by an hour and rolled up is not.
    """
    path = tmp_path_factory.mktemp("store") / "kept.db"
    with Store.open(path, kinds=make.kinds, created=BEGAN) as store:
        fill(make, store, range(2, 80, 2))
        seal_all(store, at(sealed))
        roll(store, range(days))
        before = held(path)
        now = at(80)
        policy = RetentionPolicy(KeepSettings(RawKeep(raw * HOUR, {"queue": queue * HOUR}), 10 * DAY, None), None)
        retention = Retention(store, policy, steady=lambda: 0.0)
        for stop in stops:
            left = iter(range(stop))
            retention.step(now, lambda left=left: next(left, None) is None)  # type: ignore[misc]
            retention = Retention(store, policy, steady=lambda: 0.0)
        finish(store, policy, now)
        after = held(path)
        for key, row in before.items():
            age = (queue if key[0] == "queue" else raw) * HOUR
            bound = min(now - age, BEGAN + days * DAY - HOUR)
            if key[3] >= bound:
                assert after[key] == row
            elif key[3] < bound - HOUR:
                assert key not in after
        assert after.keys() <= before.keys()
        spans = {(number, source, ts) for _, number, source, ts in after if source == int(Source.SMF)}
        assert spans == {tuple(row) for row in rows(path, "SELECT object_id, source, ts FROM record")}
