"""The windows that rules look at, in memory and from the store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.examples import COSTLY
from mqvitals_agent.ingest.windows import WindowedMetric, WindowHistory
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.history import MetricHistory, Point, covered_values
from mqvitals_rules.snapshot import Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence

WANTED = (
    WindowedMetric("queue", "depth", 60_000),
    WindowedMetric("queue", "puts", 0, 3),
    WindowedMetric("queue", "max_depth", 0, 2),
)


def test_points_are_polls(make: Any) -> None:
    """Each poll is a point, absent values are None; intervals are the time since the poll before, of counters what they cover."""
    history = WindowHistory(WANTED, kinds=make.kinds)
    windows: MetricHistory = history
    late = Reading(make.queue(), "STATUS", make.ts(4), {"depth": 9, "puts": 30}, 20_000)
    history.add(make.snapshot(1, make.status(1, depth=5, puts=Absence.FIRST_READING)))
    history.add(make.snapshot(2, make.status(2, depth=Absence.NOT_RETURNED, puts=7), make.definition(2, max_depth=10)))
    history.add(make.snapshot(3, make.silence(3)))
    history.add(make.snapshot(4, late))
    history.add(make.snapshot(5, make.definition(5, max_depth=10)))
    first, second, third, fourth = (make.ts(cycle) for cycle in (1, 2, 3, 4))
    assert windows.points(make.queue(), "depth", first - 1) == [
        Point(first, 5.0, None),
        Point(second, None, 10_000),
        Point(third, None, 10_000),
        Point(fourth, 9.0, 10_000),
    ]
    assert windows.points(make.queue(), "puts", first) == [
        Point(second, 7.0, 10_000),
        Point(third, None, None),
        Point(fourth, 30.0, 20_000),
    ]
    assert windows.last(make.queue(), "max_depth", 3) == [
        Point(second, 10.0, 10_000),
        Point(third, None, 10_000),
        Point(fourth, None, 10_000),
    ]
    assert windows.points(make.queue("OTHER"), "depth", 0) == []
    assert windows.last(make.queue(), "depth", 0) == []


def test_what_was_not_wanted_is_refused(make: Any) -> None:
    """A metric nobody named at the start is a mistake of the caller."""
    history = WindowHistory(WANTED, kinds=make.kinds)
    history.add(make.snapshot(1, make.status(1, depth=5)))
    with pytest.raises(KeyError):
        history.points(make.queue(), "usage", 0)


def test_of_a_text_it_is_known_whether_it_changed(path: Path, make: Any) -> None:
    """Equal texts are equal points, beside the numbers of the same object; a restart forgets them, and only them."""
    wanted = (*WANTED, WindowedMetric("queue", "description", 60_000))
    history = WindowHistory(wanted, kinds=make.kinds)
    readings = [
        make.status(1, depth=5, description="one"),
        make.status(2, depth=5, description="one"),
        make.status(3, depth=5, description="two"),
        make.status(4, depth=5, description=Absence.NOT_RETURNED),
        make.status(5, depth=5, description="two"),
    ]
    with Store.open(path, kinds=make.kinds) as store:
        for cycle, reading in enumerate(readings, 1):
            history.add(make.snapshot(cycle, reading))
            store.write(make.snapshot(cycle, reading), Evaluation((), ()))
    values = [point.value for point in history.points(make.queue(), "description", 0)]
    assert values[0] == values[1] != values[2] == values[4]
    assert (values[0] is None, values[3]) == (False, None)
    assert [point.value for point in history.points(make.queue(), "depth", 0)] == [5.0] * 5
    with StoreReader.open(path, kinds=make.kinds) as reader:
        again = WindowHistory(wanted, older=reader, kinds=make.kinds)
        assert [point.value for point in again.points(make.queue(), "description", 0)] == [None] * 5
        assert [point.value for point in again.points(make.queue(), "depth", 0)] == [5.0] * 5
        record = replace(make.status(6, depth=7, description="two"), source=Source.SMF, poll=False)
        again.add(make.snapshot(6, record))
        assert again.points(make.queue(), "description", make.ts(5))[-1].value == values[4]


def test_gone_objects_leave_the_memory(make: Any) -> None:
    """An object that is gone is still there for the rules of that snapshot, and begins anew when it comes back."""
    history = WindowHistory(WANTED, kinds=make.kinds)
    history.add(make.snapshot(1, make.status(1, depth=5)))
    history.add(make.snapshot(2, make.gone(2)))
    assert [point.value for point in history.points(make.queue(), "depth", 0)] == [5.0, None]
    history.add(make.snapshot(3, make.status(3, depth=1)))
    assert [point.value for point in history.points(make.queue(), "depth", 0)] == [1.0]


@pytest.mark.parametrize("by", [-3_600_000, -40_000, 40_000, 3_600_000])
def test_a_corrected_clock_neither_stretches_windows_nor_tells_a_poll_twice(make: Any, tmp_path: Path, by: int) -> None:
    """What is in memory lies as far back as time has elapsed; what is older comes from the store, once."""
    path = tmp_path / "store.db"
    with Store.open(path, kinds=make.kinds) as store, StoreReader.open(path, kinds=make.kinds) as reader:
        history = WindowHistory(WANTED, older=reader, kinds=make.kinds)
        for cycle in range(1, 61):
            snapshot = make.snapshot(cycle, make.status(cycle, depth=cycle))
            history.add(snapshot)
            store.write(snapshot, make.verdict())
        history.shift(by)
        now = make.ts(61) + by
        snapshot = make.snapshot(61, make.status(61, depth=61))
        dated = tuple(replace(each, ts=now) for each in snapshot.readings)
        history.add(replace(snapshot, ts=now, readings=dated))
        minute = history.points(make.queue(), "depth", now - 60_000)
        assert [(point.ts - now, point.value, point.interval_ms) for point in minute] == [
            (-10_000 * back, 61 - back, 10_000) for back in range(5, -1, -1)
        ]
        for found in (history.last(make.queue(), "depth", 55), history.points(make.queue(), "depth", 0)):
            values = [point.value or 0 for point in found]
            assert [point.ts for point in found] == sorted({point.ts for point in found})
            assert values == sorted(set(values))
            assert values[-6:] == [56, 57, 58, 59, 60, 61]


def plain(snapshots: list[Snapshot], metric: str, since: int) -> list[Point]:
    """The same from all snapshots, without any memory to manage."""
    points: list[Point] = []
    previous: int | None = None
    for snapshot in snapshots:
        for reading in snapshot.readings:
            value = reading.values.get(metric)
            number = None if value is None or isinstance(value, Absence) else float(value)
            interval = (
                reading.interval_ms if metric == "puts" else (None if previous is None else snapshot.ts - previous)
            )
            points.append(Point(snapshot.ts, number, interval))
            previous = snapshot.ts
    return [point for point in points if point.ts > since]


POLLS = st.lists(st.sampled_from(["poll", "silent", "not asked", "restart"]), min_size=1, max_size=90)


@COSTLY
@given(polls=POLLS, span=st.integers(0, 20), count=st.integers(1, 30), back=st.integers(0, 95))
def test_memory_and_store_are_one_past(
    polls: list[str], span: int, count: int, back: int, make: Any, tmp_path_factory: Any
) -> None:
    """However little is in memory, and however often the process began anew, the past is the whole past."""
    path = tmp_path_factory.mktemp("windows") / "store.db"
    wanted = (WindowedMetric("queue", "depth", span * 10_000), WindowedMetric("queue", "puts", 0, 2))
    snapshots: list[Snapshot] = []
    Store.open(path, kinds=make.kinds).close()
    older = StoreReader.open(path, kinds=make.kinds)
    history = WindowHistory(wanted, older=older, kinds=make.kinds)
    with Store.open(path, kinds=make.kinds) as store:
        for cycle, what in enumerate(polls, 1):
            if what == "restart":
                older.close()
                older = StoreReader.open(path, kinds=make.kinds)
                history = WindowHistory(wanted, older=older, kinds=make.kinds)
                if snapshots:
                    history.add(snapshots[-1])
            readings = {
                "poll": (make.status(cycle, depth=cycle % 7, puts=cycle),),
                "silent": (make.silence(cycle),),
            }.get(what, ())
            snapshots.append(make.snapshot(cycle, *readings))
            history.add(snapshots[-1])
            if not any(snapshot.readings for snapshot in snapshots):
                continue
            everything = plain(snapshots, "depth", make.ts(max(0, cycle - back)))
            found = list(history.points(make.queue(), "depth", make.ts(max(0, cycle - back))))
            # The poll before the first one in memory may be unknown after a restart: only an interval can be missing.
            assert [point[:2] for point in found] == [point[:2] for point in everything]
            assert all(a.interval_ms in (b.interval_ms, None) for a, b in zip(found, everything, strict=False))
            for metric in ("depth", "puts"):
                last = list(history.last(make.queue(), metric, count))
                assert [point[:2] for point in last] == [p[:2] for p in plain(snapshots, metric, 0)[-count:]]
                for since in (make.ts(max(0, cycle - back)), snapshots[-1].ts - 1, snapshots[-1].ts - 50_000):
                    window = max(1, snapshots[-1].ts - since)
                    covered = history.covered(make.queue(), metric, since, window)
                    points = history.points(make.queue(), metric, since)
                    assert list(covered) == list(covered_values(points, since, window))
            store.write(snapshots[-1], make.verdict())
    older.close()


def test_memory_is_bounded(path: Path, make: Any) -> None:
    """An object takes no more memory than its span needs, however long it is polled; what is older is in the store."""
    history = WindowHistory((WindowedMetric("queue", "depth", 100_000),), kinds=make.kinds)
    for cycle in range(1, 500):
        history.add(make.snapshot(cycle, make.status(cycle, depth=cycle)))
    assert 10 <= len(history.points(make.queue(), "depth", 0)) <= 30
    assert history.points(make.queue(), "depth", 0)[0].interval_ms == 10_000


def test_nothing_is_read_while_memory_suffices(path: Path, make: Any) -> None:
    """Within the span that was asked for the store is not queried, not even in its first minutes or after a restart."""

    class Silent(StoreReader):
        def samples(self, *_: Any, **__: Any) -> Any:
            raise AssertionError("the store was queried")

    with Store.open(path, kinds=make.kinds) as store:
        for begin in (1, 30):
            with Silent.open(path, kinds=make.kinds) as older:
                history = WindowHistory((WindowedMetric("queue", "depth", 100_000, 5),), older=older, kinds=make.kinds)
                for cycle in range(begin, begin + 29):
                    snapshot = make.snapshot(cycle, make.status(cycle, depth=cycle))
                    history.add(snapshot)
                    assert len(history.points(make.queue(), "depth", make.ts(cycle - 9))) == min(9, cycle)
                    assert len(history.last(make.queue(), "depth", 5)) == min(5, cycle)
                    store.write(snapshot, make.verdict())
