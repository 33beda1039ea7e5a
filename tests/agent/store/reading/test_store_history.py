"""What goes into history and comes out as a trend."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mqvitals_agent.store.error import UnknownNameError
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import KINDS


def points(path: Path, make: Any, metric: str, **span: int) -> list[tuple[int, float | None]]:
    with StoreReader.open(path, kinds=make.kinds) as reader:
        return [(ts - make.start, value) for ts, value in reader.trend(make.queue(), metric, **span).points]


def fill(path: Path, make: Any, *snapshots: Snapshot) -> None:
    with Store.open(path, kinds=make.kinds) as store:
        for snapshot in snapshots:
            store.write(snapshot, make.verdict())


def test_trend_has_a_point_a_poll(path: Path, make: Any) -> None:
    """Every poll is a point: a value, or null where the value was absent or no answer came."""
    fill(
        path,
        make,
        make.snapshot(1, make.status(1, depth=5, puts=Absence.FIRST_READING)),
        make.snapshot(2, make.status(2, depth=0.25, puts=7)),
        make.snapshot(3, make.silence(3)),
        make.snapshot(4),
        make.snapshot(5, make.status(5, depth=1 << 40, puts=0)),
    )
    assert points(path, make, "depth") == [(10_000, 5), (20_000, 0.25), (30_000, None), (50_000, 1 << 40)]
    assert points(path, make, "puts") == [(10_000, None), (20_000, 7), (30_000, None), (50_000, 0)]
    assert [type(value) for _, value in points(path, make, "depth")][:2] == [int, float]


def test_trend_between_two_times(path: Path, make: Any) -> None:
    """Both ends of the span belong to it."""
    fill(path, make, *(make.snapshot(cycle, make.status(cycle, depth=cycle)) for cycle in range(1, 9)))
    assert points(path, make, "depth", since=make.ts(3), until=make.ts(5)) == [(30_000, 3), (40_000, 4), (50_000, 5)]


def test_readings_of_an_object_are_one_row(path: Path, make: Any) -> None:
    """Several answers about an object in one snapshot fill one row; absence does not replace a value, a later value does."""
    fill(
        path,
        make,
        make.snapshot(1, make.status(1, depth=5), make.definition(1, max_depth=100, usage=1, description="in")),
        make.snapshot(2, make.definition(2, depth=9, max_depth=100), make.status(2, depth=Absence.NOT_RETURNED)),
        make.snapshot(3, make.status(3, depth=5), make.definition(3, depth=6)),
    )
    assert points(path, make, "depth") == [(10_000, 5), (20_000, 9), (30_000, 6)]
    assert points(path, make, "max_depth") == [(10_000, 100), (20_000, 100), (30_000, None)]
    assert points(path, make, "usage") == [(10_000, 1), (20_000, None), (30_000, None)]


def test_an_answer_beside_the_poll_is_no_poll(path: Path, make: Any) -> None:
    """A definition told between two polls makes a point of what it tells and no null point of what it does not."""
    fill(
        path,
        make,
        make.snapshot(1, make.status(1, depth=5)),
        make.snapshot(2, make.definition(2, max_depth=100)),
        make.snapshot(3, make.status(3, depth=6)),
    )
    assert points(path, make, "depth") == [(10_000, 5), (30_000, 6)]
    assert points(path, make, "max_depth") == [(10_000, None), (20_000, 100), (30_000, None)]


def test_objects_with_one_name_are_told_apart(path: Path, make: Any) -> None:
    """A queue of the same name in another queue manager is another object with another history."""
    with Store.open(path, kinds=make.kinds) as store:
        store.write(make.snapshot(1, make.status(1, depth=1)), make.verdict())
        store.write(make.snapshot(1, make.status(1, owner="QM02", depth=2), owner="QM02"), make.verdict())
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert [reader.trend(make.queue(owner=owner), "depth").points[0][1] for owner in ("QM01", "QM02")] == [1, 2]


def test_a_cycle_told_again_replaces_itself(path: Path, make: Any) -> None:
    """Replaying a recording into the same store once more leaves one row a cycle."""
    for _ in range(2):
        fill(path, make, *(make.snapshot(cycle, make.status(cycle, depth=cycle)) for cycle in (1, 2)))
    assert points(path, make, "depth") == [(10_000, 1), (20_000, 2)]


def test_objects_of_one_snapshot_may_tell_different_metrics(path: Path, make: Any) -> None:
    """Each row holds what its own object told; a cycle told again with fewer metrics has none of the others."""
    fill(
        path,
        make,
        make.snapshot(1, make.status(1, depth=5, puts=3), make.definition(1, "APPL.OUT", usage=1, max_depth=9)),
        make.snapshot(2, make.status(2, depth=6, puts=4), make.status(2, "APPL.OUT", description="text alone")),
        make.snapshot(2, make.status(2, puts=7)),
    )
    assert points(path, make, "depth") == [(10_000, 5), (20_000, None)]
    assert points(path, make, "puts") == [(10_000, 3), (20_000, 7)]
    with StoreReader.open(path, kinds=make.kinds) as reader:
        other = make.queue("APPL.OUT")
        told = {metric: [value for _, value in reader.trend(other, metric).points] for metric in ("depth", "max_depth")}
    assert told == {"depth": [None], "max_depth": [9, None]}


def test_unknown_names_have_suggestions(path: Path, make: Any) -> None:
    """An unknown object, kind or metric, and a text, are refused with the closest names."""
    fill(path, make, make.snapshot(1, make.status(1, depth=1), make.status(1, "APPL.OUT", depth=1)))
    with StoreReader.open(path, kinds=make.kinds) as reader:
        with pytest.raises(UnknownNameError, match=r"did you mean QM01/queue/APPL\.OUT") as caught:
            reader.trend(ObjectName.parse("QM01/queue/appl.oun"), "depth")
        assert caught.value.closest[0] == "QM01/queue/APPL.OUT"
        with pytest.raises(UnknownNameError, match="no metric 'dept'; did you mean depth"):
            reader.trend(make.queue(), "dept")
        with pytest.raises(UnknownNameError, match="no kind 'queu'; did you mean queue"):
            reader.trend(ObjectName("QM01", "queu", "X"), "depth")
        with pytest.raises(UnknownNameError, match="is a text"):
            reader.trend(make.queue(), "description")


def test_a_reading_outside_the_vocabulary_is_refused_whole(path: Path, make: Any) -> None:
    """An unknown metric or kind, or a foreign object, is a mistake of ours: nothing of that snapshot is kept, the next one is."""
    with Store.open(path, kinds=make.kinds) as store:
        for bad in (
            make.snapshot(1, make.status(1, "A", depth=1), make.status(1, "B", dept=1)),
            make.snapshot(1, make.status(1, "A", depth=1), make.status(1, "B", owner="QM02", depth=1)),
        ):
            with pytest.raises(ValueError, match=r"no metric queue\.dept|does not belong"):
                store.write(bad, make.verdict())
        store.write(make.snapshot(2, make.status(2, depth=2)), make.verdict())
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert [str(row.name) for row in reader.objects()] == ["QM01/queue/APPL.IN"]
        assert reader.owners()[0].last_cycle == 2


def test_names_from_mq_are_data(path: Path, make: Any) -> None:
    """Whatever characters a name or text holds, it comes back as it was."""
    nasty = "A'; DROP TABLE object;--/%[x]\"\x1b[31m"
    fill(path, make, make.snapshot(1, make.status(1, nasty, depth=1, description=nasty)))
    with StoreReader.open(path, kinds=make.kinds) as reader:
        name = make.queue(nasty)
        assert reader.trend(name, "depth").points == ((make.ts(1), 1),)
        assert reader.current(name)["description"].value == nasty
        assert [row.name for row in reader.objects(str(name))] == [name]


def test_every_number_of_the_vocabulary_survives(path: Path, make: Any) -> None:
    """For each kind, each number and state written is the one that its trend gives back."""
    from mqvitals_rules.snapshot import Reading

    written: dict[tuple[ObjectName, str], int] = {}
    readings = []
    for kind in KINDS.values():
        name = ObjectName("QM01", kind.name, "" if kind.single else "X.Y")
        values = {metric.name: number for number, metric in enumerate(kind.metrics, 1) if metric.in_history}
        readings.append(Reading(name, kind.poll, make.ts(1), values))
        written.update({(name, metric): value for metric, value in values.items()})
    with Store.open(path) as store:
        store.write(make.snapshot(1, *readings), make.verdict())
    with StoreReader.open(path) as reader:
        for (name, metric), value in written.items():
            assert reader.trend(name, metric).points == ((make.ts(1), value),), (name, metric)


def test_sqlite_stores_nan_as_null() -> None:
    """The writer binds NaN for NULL, which only works while SQLite stores it so in every type of column."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t(a INTEGER, b ANY, c TEXT) STRICT")
    connection.execute("INSERT INTO t VALUES(?, ?, ?)", (float("nan"),) * 3)
    assert connection.execute("SELECT a, b, c FROM t").fetchall() == [(None, None, None)]
    connection.close()


CYCLES = st.lists(
    st.tuples(
        st.integers(1, 24),
        st.sampled_from(("QM01", "QM02")),
        st.sampled_from(("A", "B", "C")),
        st.one_of(st.just(Absence.NO_ANSWER), st.integers(0, 5_000)),
        st.sampled_from((0, 1, Absence.NOT_RETURNED)),
    ),
    max_size=40,
    unique_by=lambda each: each[:3],
)


@given(cycles=CYCLES, step=st.sampled_from((20_000, 50_000)), last=st.integers(1, 24))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_sums_of_a_rate(tmp_path_factory: pytest.TempPathFactory, make: Any, cycles: Any, step: int, last: int) -> None:
    """The sum over an owner's objects in the first cycle of each stretch is that of the polls of this cycle, whatever was
    polled; as of a moment nothing later counts."""
    path = tmp_path_factory.mktemp("sums") / "store.db"
    readings: dict[tuple[int, str], list[Any]] = {}
    for cycle, owner, name, puts, usage in cycles:
        readings.setdefault((cycle, owner), []).append(make.status(cycle, name, owner, puts=puts, usage=usage))
    fill(path, make, *(make.snapshot(cycle, *of, owner=owner) for (cycle, owner), of in sorted(readings.items())))
    begun = range(make.start, make.ts(25), step)
    with StoreReader.open(path, kinds=make.kinds) as reader:
        polls = list(reader.polls("queue", ("puts", "usage"), make.start))
        for at in (make.ts(24), make.ts(last)):
            expected: dict[str, dict[int, float]] = {}
            for begin in begun:
                seen = [poll for poll in polls if begin <= poll.ts < begin + step and poll.ts <= at]
                first = min((poll.ts for poll in seen), default=None)
                for _, name, interval, (puts, usage), *_ in (poll for poll in seen if poll.ts == first):
                    if puts is not None and usage != 1 and interval is not None:
                        sums = expected.setdefault(name.owner, {})
                        sums[begin] = sums.get(begin, 0.0) + puts / interval * 1000
            for found in (
                reader.rate_sums("queue", "puts", begun, step, without=("usage", 1), until=at),
                reader.as_of(at).rate_sums("queue", "puts", begun, step, without=("usage", 1)),
            ):
                assert {owner: set(sums) for owner, sums in found.items()} == {owner: set(begun) for owner in expected}
                known = {
                    owner: {ts: each for ts, each in sums.items() if each is not None} for owner, sums in found.items()
                }
                assert known == {owner: pytest.approx(sums) for owner, sums in expected.items()}
        with pytest.raises(UnknownNameError):
            reader.rate_sums("queue", "putts", begun, step, without=("usage", 1))


_Told = st.sampled_from(["status", "no_depth", "definition", "silence", "record", "nothing"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    polls=st.lists(st.lists(_Told, min_size=4, max_size=4), min_size=1, max_size=8),
    span=st.tuples(st.integers(0, 9), st.integers(0, 9)),
    at_once=st.sampled_from([1, 8, 400_000]),
)
def test_many_objects_are_read_as_each_alone(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    make: Any,
    polls: list[list[str]],
    span: tuple[int, int],
    at_once: int,
) -> None:
    """Whatever was told of them, and however many are read at once."""
    monkeypatch.setattr("mqvitals_agent.store.reading.history._AT_ONCE", at_once)
    path = tmp_path_factory.mktemp("many") / "store.db"

    def reading(what: str, cycle: int, name: str) -> Reading:
        if what == "record":
            values = {"max_depth": cycle}
            ts = make.ts(cycle)
            return Reading(make.queue(name), "SMF_115", ts, values, 10_000, poll=False, source=Source.SMF)
        if what == "definition":
            return make.definition(cycle, name, max_depth=cycle)  # type: ignore[no-any-return]
        if what == "silence":
            return make.silence(cycle, name)  # type: ignore[no-any-return]
        value = Absence.NOT_COLLECTED if what == "no_depth" else cycle
        return make.status(cycle, name, depth=value, puts=cycle)  # type: ignore[no-any-return]

    names = ["A", "B", "C", "D"]
    first = [make.status(0, name, depth=0) for name in names]
    fill(
        path,
        make,
        make.snapshot(0, *first),
        *(
            make.snapshot(
                cycle,
                *(reading(each, cycle, name) for name, each in zip(names, told, strict=True) if each != "nothing"),
            )
            for cycle, told in enumerate(polls, 1)
        ),
    )
    since, until = make.ts(min(span)), make.ts(max(span))
    metrics = ("depth", "puts", "max_depth")
    with StoreReader.open(path, kinds=make.kinds) as reader:
        wanted = [make.queue(name) for name in names[1:]]
        found = dict(reader.trends_of(wanted, metrics, since, until))
        assert found == {name: reader.trends(name, metrics, since, until) for name in wanted}
        then = reader.as_of(make.ts(1))
        assert all(
            ts <= make.ts(1)
            for _, series in then.trends_of(wanted, metrics)
            for each in series.values()
            for ts, _ in each.points
        )
        with pytest.raises(UnknownNameError):
            list(reader.trends_of([make.queue("Z")], metrics))
