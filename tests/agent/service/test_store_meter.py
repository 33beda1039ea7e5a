"""What the agent says of its own store: sizes, growth, and when the limit or the disk will be reached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.service.agent_meters import DiskSpace, StoreMeter, slope
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.retention import Retention, RetentionPolicy, StoreSize
from mqvitals_agent.store.writer import Store
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Absence

BEGAN = 1_763_640_000_000
MINUTE = 60_000
HOUR = 60 * MINUTE
GB = 1024**3
NAME = ObjectName("PRDQSG", "store")


class Measured(Retention):
    """A store whose size and age the test says."""

    told = StoreSize(0, 0, 0)
    first = BEGAN
    cut = False
    sealed: int | None = BEGAN

    def size(self) -> StoreSize:
        return self.told

    def oldest(self) -> int:
        return self.first

    def limited(self, now: int) -> bool:
        return self.cut

    def sealed_since(self, now: int) -> int | None:
        return self.sealed


class Ground:
    """A file system of 100 GB."""

    def __init__(self) -> None:
        self.free: int | None = 50 * GB

    def __call__(self, path: Path) -> DiskSpace:
        assert path.name == "store.db"
        if self.free is None:
            raise OSError("gone")
        return DiskSpace(100 * GB, self.free)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store.db") as opened:
        yield opened


def values(meter: StoreMeter, now: int) -> dict[str, Any]:
    return dict(meter.measure(NAME, now).values)


def test_a_line_through_points() -> None:
    """Growth is the slope of the line through all points; too few or too short a time tells nothing."""
    points = [(BEGAN + minute * MINUTE, 1000 + minute * 10 + (minute % 2)) for minute in range(0, 180, 5)]
    assert slope(points) == pytest.approx(600, abs=1)
    assert slope([(ts, 7) for ts, _ in points]) == 0
    assert slope(points[:24]) is Absence.WINDOW
    assert slope([points[0], points[-1]]) is Absence.WINDOW
    assert slope([]) is Absence.WINDOW


def test_nothing_is_foretold_at_first(store: Store) -> None:
    """Sizes are there from the first time on; growth and what follows from it are absent, never zero."""
    meter = StoreMeter(store, Retention(store, RetentionPolicy.of(HOUR, GB)), disk=Ground())
    told = values(meter, BEGAN)
    assert told["used_bytes"] >= told["data_bytes"] > 0
    assert told["file_bytes"] > 0
    assert (told["limit_bytes"], told["keep_s"], told["held_s"]) == (GB, 3600, Absence.NOTHING_TO_TELL)
    assert told["disk_free_pct"] == 50
    for name in (
        "growth_bytes_per_h",
        "limit_ahead",
        "limit_reached_s",
        "disk_fill_bytes_per_h",
        "disk_filling",
        "disk_full_s",
    ):
        assert told[name] is Absence.WINDOW, name


def grown(
    store: Store, policy: RetentionPolicy, *, by: int = 0, fill: int = 0, hours: int = 3, every: int = 5
) -> tuple[Measured, dict[str, Any]]:
    """What is said after some hours in which the store and the disk took so many bytes an hour, measured ``every`` so many minutes."""
    retention, ground = Measured(store, policy), Ground()
    meter = StoreMeter(store, retention, disk=ground)
    told: dict[str, Any] = {}
    for minute in range(0, hours * 60 + 1, every):
        retention.told = StoreSize(GB + by * minute // 60, 0, GB)
        ground.free = 50 * GB - fill * minute // 60
        told = values(meter, BEGAN + minute * MINUTE)
    return retention, told


def test_the_limit_before_keep(store: Store) -> None:
    """It grows 0.1 GB an hour: the last 0.7 GB of the limit last for seven hours, and ``keep`` would need longer."""
    _, told = grown(store, RetentionPolicy.of(30 * 24 * HOUR, 2 * GB), by=GB // 10)
    assert told["growth_bytes_per_h"] == pytest.approx(GB / 10, rel=1e-6)
    assert told["limit_reached_s"] == pytest.approx(7 * 3600, rel=1e-6)
    assert told["limit_used_pct"] == pytest.approx(65)
    assert told["limit_ahead"] == 1
    assert told["held_s"] == 3 * 3600


def test_rows_tell_nothing_of_what_sealed_hours_take(store: Store) -> None:
    """While no hour is sealed, and of the time before, growth says nothing of when the limit is reached."""
    policy = RetentionPolicy.of(30 * 24 * HOUR, 20 * GB)
    for since in (None, BEGAN + 4 * HOUR, BEGAN + 3 * HOUR):
        retention = Measured(store, policy)
        retention.sealed = since
        meter = StoreMeter(store, retention, disk=Ground())
        found: dict[str, Any] = {}
        for minute in range(0, 5 * 60 + 1, 5):
            # A gigabyte an hour as rows, a tenth of it once they are sealed.
            grows = min(minute, 180) + max(minute - 180, 0) // 10
            retention.told = StoreSize(GB * grows // 60, 0, GB)
            found = values(meter, BEGAN + minute * MINUTE)
        if since == BEGAN + 3 * HOUR:
            assert found["limit_reached_s"] == pytest.approx(168 * 3600, rel=0.02)
            assert meter.outlook is not None
        else:
            assert found["limit_reached_s"] is found["limit_ahead"] is Absence.WINDOW
            assert meter.outlook is None


def test_what_the_limit_does(store: Store) -> None:
    """When it is reached, where that is before ``keep``; and that it was."""
    retention = Measured(store, RetentionPolicy.of(30 * 24 * HOUR, 2 * GB))
    meter = StoreMeter(store, retention, disk=Ground())
    for minute in range(0, 181, 5):
        retention.told = StoreSize(GB + GB // 10 * minute // 60, 0, GB)
        values(meter, BEGAN + minute * MINUTE)
    assert meter.outlook is not None
    assert meter.outlook._replace(reached=None) == (2 * GB, None, False)
    assert meter.outlook.reached == pytest.approx(BEGAN + 10 * HOUR, abs=2_000)
    retention.cut = True
    retention.told = StoreSize(GB, 0, GB)
    values(meter, BEGAN + 4 * HOUR)
    assert meter.outlook.missed


@pytest.mark.parametrize("every", [1, 4, 7, 60])
def test_growth_however_often_it_is_measured(store: Store, every: int) -> None:
    """Of the last day, to the newest measurement."""
    _, told = grown(store, RetentionPolicy.of(None, None), by=GB // 10, hours=28, every=every)
    assert told["growth_bytes_per_h"] == pytest.approx(GB / 10, rel=1e-6)
    assert told["used_bytes"] == GB + GB // 10 * (28 * 60 // every * every) // 60


def test_a_day_is_told_from_some_hundreds_of_measurements(store: Store) -> None:
    """Each looks through all of them: a cycle must not get dearer as the day goes on."""
    retention, measured = Measured(store, RetentionPolicy.of(None, None)), []
    meter = StoreMeter(store, retention, disk=Ground())
    for minute in range(30 * 60):
        retention.told = StoreSize(GB + minute, 0, GB)
        meter.measure(NAME, BEGAN + minute * MINUTE)
        measured.append(len(meter._points or ()))
    assert 12 * 24 <= max(measured) <= 12 * 24 + 2
    assert measured[-1] >= 12 * 24


def test_keep_before_the_limit(store: Store) -> None:
    """After nine hours samples go by age, an hour before the limit would be reached."""
    _, told = grown(store, RetentionPolicy.of(9 * HOUR, 2 * GB), by=GB // 10)
    assert told["limit_ahead"] == 0


def test_no_growth_is_no_date(store: Store) -> None:
    """What does not grow, or has no limit, has no time left; on the disk likewise."""
    _, told = grown(store, RetentionPolicy.of(30 * 24 * HOUR, 2 * GB), fill=-GB)
    assert told["limit_reached_s"] is Absence.NOTHING_TO_TELL
    assert told["limit_ahead"] == 0
    assert (told["disk_filling"], told["disk_full_s"]) == (0, Absence.NOTHING_TO_TELL)
    _, told = grown(store, RetentionPolicy.of(30 * 24 * HOUR, None), by=GB)
    assert told["limit_bytes"] is told["limit_reached_s"] is told["limit_used_pct"] is Absence.NOTHING_TO_TELL
    assert told["limit_ahead"] == 0


def test_the_limit_has_cost_samples(store: Store) -> None:
    """Missed while the limit deletes what is younger than ``keep``; for ever with a limit means as much as fits."""
    for keep, missed in ((30 * 24 * HOUR, 1), (None, 0)):
        retention = Measured(store, RetentionPolicy.of(keep, GB))
        retention.cut = True
        assert values(StoreMeter(store, retention, disk=Ground()), BEGAN)["keep_missed"] == missed


def test_the_disk_fills(store: Store) -> None:
    """Whoever takes the space: 47 GB are left, five an hour go."""
    _, told = grown(store, RetentionPolicy.of(None, None), fill=GB)
    assert told["disk_filling"] == 1
    assert told["disk_full_s"] == pytest.approx(47 * 3600)
    assert told["disk_free_bytes"] == 47 * GB


def test_a_disk_that_cannot_be_looked_at(store: Store) -> None:
    """Its figures are absent, those of the store are told."""
    ground = Ground()
    ground.free = None
    told = values(StoreMeter(store, Retention(store, RetentionPolicy.of(None, None)), disk=ground), BEGAN)
    assert told["disk_free_bytes"] is told["disk_full_s"] is told["disk_filling"] is Absence.NO_ANSWER
    assert told["data_bytes"] > 0


def snapshot(owner: str, ts: int, *, group: bool = False) -> Snapshot:
    return Snapshot(
        owner, group, 1, ts, (Reading(ObjectName(owner, "queue_manager"), "CONNECTION", ts, {"reachable": 1}),)
    )


def stored(store: Store, snapshots: tuple[Snapshot, ...]) -> list[ObjectName]:
    """Store what has readings of the store; returns whose these are, ``gone`` ones not."""
    for each in snapshots:
        store.write(each, Evaluation((), ()))
    return [
        reading.object
        for each in snapshots
        for reading in each.readings
        if reading.object.kind == "store" and not reading.gone
    ]


def test_it_belongs_to_the_group(store: Store) -> None:
    """Told once a minute with the group's snapshot, and after a restart as before."""
    for restart in range(2):
        meter = StoreMeter(store, Retention(store, RetentionPolicy.of(None, None)), disk=Ground())
        found = []
        for cycle in range(12):
            ts = BEGAN + restart * HOUR + cycle * 10_000
            both = (snapshot("QM01", ts), snapshot("PRDQSG", ts, group=True))
            found += stored(store, meter.added(both))
            if restart and not cycle:
                assert stored(store, meter.added(both[:1])) == []
        assert found == [NAME, NAME]


def test_without_a_group_it_belongs_to_the_first(store: Store) -> None:
    """A group that shows itself only later takes it over."""
    meter = StoreMeter(store, Retention(store, RetentionPolicy.of(None, None)), disk=Ground())
    found = []
    for minute in range(6):
        ts = BEGAN + minute * MINUTE
        found.append(stored(store, meter.added((snapshot("QM01", ts), snapshot("QM02", ts)))))
    first = ObjectName("QM01", "store")
    assert found == [[], [], [first], [first], [first], [first]]
    ts = BEGAN + 10 * MINUTE
    assert stored(store, meter.added((snapshot("QM01", ts), snapshot("PRDQSG", ts, group=True)))) == [NAME]
    with StoreReader.open(store.path) as reader:
        assert {row.name for row in reader.objects("*/store")} == {NAME}


def test_growth_goes_on_after_a_restart(store: Store) -> None:
    """What earlier runs measured counts, so that a restart does not cost two hours of knowledge."""
    for run in range(2):
        retention = Measured(store, RetentionPolicy.of(None, None))
        meter = StoreMeter(store, retention, disk=Ground())
        reading = None
        for minute in range(run * 90, run * 90 + 61, 5):
            retention.told = StoreSize(GB + minute * 1024**2, 0, GB)
            ts = BEGAN + minute * MINUTE
            reading = meter.measure(NAME, ts)
            store.write(replace(snapshot("PRDQSG", ts, group=True), readings=(reading,)), Evaluation((), ()))
        assert reading is not None
        assert (reading.values["growth_bytes_per_h"] is Absence.WINDOW) is (run == 0)
    assert reading is not None
    assert reading.values["growth_bytes_per_h"] == pytest.approx(60 * 1024**2)
