"""Retention: what goes, what stays, in which order, in how small steps, and that the file stops growing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mqsamples.pruning import delete_all
from mqsamples.stored import stored_notifications
from mqvitals_agent.alerting.decision import NotificationStatus
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.retention import STEP_S, Retention, RetentionPolicy
from mqvitals_agent.store.rows.alerts.notification_rows import (
    NotificationOutcome,
    PendingGroup,
    PendingNotification,
    insert_groups,
)
from mqvitals_agent.store.rows.messages import ConsoleRow, message
from mqvitals_agent.store.rows.samples.smf_records import SmfFile, SmfPart
from mqvitals_agent.store.rows.samples.snapshot_writer import SnapshotWriter
from mqvitals_agent.store.writer import Store
from mqvitals_rules.lifecycle.alert import AlertState, Severity, Transition, Why
from mqvitals_rules.snapshot import Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence

HOUR = 3_600_000
DAY = 24 * HOUR
FOREVER = RetentionPolicy.of(None, None)


class Steady:
    """A clock of seconds that goes on by ``tick`` each time that it is looked at."""

    def __init__(self, tick: float = 0.0) -> None:
        self.now = 0.0
        self.tick = tick

    def __call__(self) -> float:
        self.now += self.tick
        return self.now


def count(path: Path, query: str, *parameters: Any) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute(query, parameters).fetchone()[0])


@pytest.fixture
def store(path: Path, make: Any) -> Iterable[Store]:
    with Store.open(path, kinds=make.kinds, created=make.start) as opened:
        yield opened


def hourly(make: Any, store: Store, hours: Iterable[float], *, names: Iterable[str] = ("A", "B")) -> None:
    """A snapshot an hour."""
    for hour in hours:
        ts = at(make, hour)
        readings = [replace(make.status(0, name, depth=hour, puts=1), ts=ts) for name in names]
        store.write(replace(make.snapshot(int(hour) + 1, *readings), ts=ts), make.verdict())


def at(make: Any, hours: float) -> int:
    return int(make.start + hours * HOUR)


def ended(make: Any, store: Store, name: str, started: float, ended: float | None) -> int:
    """An alert from one hour to another (None: it still fires); returns its number."""
    began = at(make, started)
    fires = replace(make.alert(1, AlertState.FIRING, name=name), since=began, updated=began, started=began, ended=None)
    empty = Snapshot("QM01", False, 1, began, ())
    store.write(empty, make.verdict(Transition(fires, None, Why.CONDITION_HOLDS)))
    if ended is not None:
        over = at(make, ended)
        done = replace(fires, state=AlertState.RESOLVED, updated=over, ended=over, why=Why.CLEARED)
        store.write(replace(empty, ts=over), make.verdict(Transition(done, fires, Why.CLEARED)))
    return count(store.path, "SELECT max(id) FROM alert")


def test_what_is_older_than_keep_goes(path: Path, make: Any, store: Store) -> None:
    """Samples and snapshots older than ``keep`` are deleted, those at its border stay, and the store says from when on it is whole."""
    hourly(make, store, range(100))
    retention = Retention(store, RetentionPolicy.of(DAY, None))
    assert retention.step(at(make, 99)).first
    delete_all(retention, at(make, 99))
    with StoreReader.open(path, kinds=make.kinds) as reader:
        series = reader.trend(make.queue("A"), "depth")
        assert [value for _, value in series.points] == list(range(75, 100))
        assert reader.current(make.queue("A"))["depth"].value == 99
        assert reader.meta().kept_from == at(make, 75)
    assert count(path, "SELECT count(*) FROM snapshot") == 25
    assert count(path, "SELECT count(*) FROM sample_queue") == 50


def test_what_is_no_longer_kept_is_said(path: Path, make: Any, store: Store) -> None:
    """A time from which samples were deleted is told apart from one in which nothing was there yet."""
    hourly(make, store, range(100), names=("OLD",))
    hourly(make, store, range(100, 110), names=("OLD", "NEW"))
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert reader.trend(make.queue("OLD"), "depth").kept_from is None
    delete_all(Retention(store, RetentionPolicy.of(DAY, None)), at(make, 110))
    with StoreReader.open(path, kinds=make.kinds) as reader:
        kept_from = at(make, 110 - 24)
        assert reader.trend(make.queue("OLD"), "depth").kept_from == kept_from
        assert reader.trend(make.queue("OLD"), "depth", at(make, 1), at(make, 2)).kept_from == kept_from
        assert reader.trend(make.queue("OLD"), "depth", kept_from).kept_from is None
        assert reader.trend(make.queue("NEW"), "depth").kept_from is None


def test_the_first_deletion_is_announced_once(path: Path, make: Any) -> None:
    """Before anything is deleted for the first time a step says so; never again, also after a restart."""
    with Store.open(path, kinds=make.kinds) as store:
        hourly(make, store, range(30))
        assert not Retention(store, FOREVER).step(at(make, 30)).first
        assert not Retention(store, RetentionPolicy.of(2 * DAY, None)).step(at(make, 30)).first
        retention = Retention(store, RetentionPolicy.of(DAY, None))
        step = retention.step(at(make, 30))
        assert (step.first, step.more, step.rows) == (True, True, 0)
        assert count(path, "SELECT count(*) FROM sample_queue") == 60
        assert delete_all(retention, at(make, 30)) > 0
    with Store.open(path, kinds=make.kinds) as store:
        hourly(make, store, range(30, 40))
        retention = Retention(store, RetentionPolicy.of(DAY, None))
        assert not retention.step(at(make, 40)).first


def test_forever_deletes_nothing(path: Path, make: Any, store: Store) -> None:
    """Without bounds everything stays, however old."""
    hourly(make, store, range(100))
    ended(make, store, "A", 1, 2)
    assert delete_all(Retention(store, FOREVER), at(make, 1_000_000)) == 0
    assert Retention(store, FOREVER).kept_from is None


def test_alerts(path: Path, make: Any, store: Store) -> None:
    """Ended alerts go with their transitions and notices; open ones stay, and those of which a notice is owed."""
    hourly(make, store, range(3))
    old = ended(make, store, "OLD", 1, 2)
    owed = ended(make, store, "OWED", 1, 3)
    still = ended(make, store, "OPEN", 1, None)
    late = ended(make, store, "LATE", 1, 90)
    ended(make, store, "NEWEST", 95, 96)
    with store.deleting() as connection:
        notice = PendingNotification(
            old, "oncall", NotificationStatus.RESOLVED, Severity.WARNING, "f", at(make, 2), "{}"
        )
        insert_groups(connection, [PendingGroup((replace(notice, alert_id=number),)) for number in (old, owed)])
    store.notifications.done(1, at(make, 2), NotificationOutcome.ACCEPTED)
    retention = Retention(store, RetentionPolicy.of(DAY, None))
    delete_all(retention, at(make, 100))
    with StoreReader.open(path, kinds=make.kinds) as reader:
        kept = {each.id for each in reader.alerts(include_ended=True)}
        assert kept & {old, owed, still, late} == {owed, still, late}
        assert [each["alert_id"] for each in stored_notifications(path, "done_ts IS NULL")] == [owed]
        assert stored_notifications(path, f"alert_id = {old}") == []
        assert reader.transitions(old) == ()
        assert len(reader.transitions(still)) == 1
        assert reader.meta().alerts_kept_from == at(make, 2) + 1
    store.notifications.done(2, at(make, 100), NotificationOutcome.ACCEPTED)
    delete_all(retention, at(make, 101))
    assert count(path, "SELECT count(*) FROM alert WHERE id = ?", owed) == 0


def test_numbers_are_not_given_twice(path: Path, make: Any) -> None:
    """The newest alert and the newest object stay, though old: after a restart their numbers would be another's."""
    with Store.open(path, kinds=make.kinds) as store:
        hourly(make, store, range(2), names=("A", "B"))
        number = ended(make, store, "A", 0, 1)
        gone = [replace(make.gone(0, name), ts=at(make, 2)) for name in ("A", "B")]
        store.write(replace(make.snapshot(3, *gone), ts=at(make, 2)), make.verdict())
        delete_all(Retention(store, RetentionPolicy.of(DAY, None)), at(make, 100))
    assert count(path, "SELECT count(*) FROM alert WHERE id = ?", number) == 1
    assert count(path, "SELECT count(*) FROM object WHERE name = 'B'") == 1


def test_messages(path: Path, make: Any, store: Store) -> None:
    """Console messages go by when they came last."""
    kept = ConsoleRow("console.log", 10, 1, "mark", "{}", "", at(make, 50))
    store.messages.add(kept, [message("QM01", "CSQX500I", at(make, hour), "words") for hour in range(50)], ["QM01"])
    delete_all(Retention(store, RetentionPolicy.of(10 * HOUR, None)), at(make, 50))
    assert count(path, "SELECT min(ts) FROM message") == at(make, 40)
    assert store.messages.console("console.log")[0] == kept


def test_bookkeeping_of_records(path: Path, make: Any, store: Store, tmp_path: Path) -> None:
    """What is remembered of SMF records goes with their samples; a file that still lies in the folder is not forgotten."""
    for hour in range(30):
        record = Reading(
            make.queue("A"), "SMF", at(make, hour), {"max_depth": hour}, HOUR, poll=False, source=Source.SMF
        )
        store.write(Snapshot("QM01", False, 0, at(make, 30), (record,)), make.verdict())
    store.smf.add_records(
        [(bytes([hour]) * 20, at(make, hour)) for hour in range(30)],
        [SmfPart(make.queue(name), "SMF", at(make, hour), 1, "{}") for hour in range(30) for name in ("A", "B")],
    )
    (tmp_path / "there").touch()
    for name, hour in (("gone", 1), ("there", 1), ("new", 29)):
        store.smf.add_file(SmfFile(name, 1, 1), at(make, hour))
    delete_all(Retention(store, RetentionPolicy.of(10 * HOUR, None), folder=tmp_path), at(make, 30))
    for table in ("record", "smf_record", "smf_part", "sample_queue"):
        assert count(path, f"SELECT min(ts) FROM {table}") == at(make, 20), table
    assert {file.name for file in store.smf.files()} == {"there", "new"}
    assert store.smf.newest_part(make.queue("A"), 0) is not None


def test_a_record_whose_sample_is_gone_is_stale(path: Path, make: Any, store: Store) -> None:
    """What an old record told last stays as current state, stale; and rules do not begin from it."""
    record = Reading(make.queue("A"), "SMF", at(make, 0), {"max_depth": 7}, HOUR, poll=False, source=Source.SMF)
    store.write(Snapshot("QM01", False, 0, at(make, 0), (record,)), make.verdict())
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert reader.current(make.queue("A"))["max_depth"].unanswered is None
        assert reader.newest_records()
    delete_all(Retention(store, RetentionPolicy.of(10 * HOUR, None)), at(make, 30))
    with StoreReader.open(path, kinds=make.kinds) as reader:
        told = reader.current(make.queue("A"))["max_depth"]
        assert (told.value, told.unanswered) == (7, Absence.STALE)
        assert reader.newest_records() == ()


def noted(path: Path, name: str, hours: Iterable[int]) -> None:
    """Means of hours as a former version noted them."""
    with closing(sqlite3.connect(path)) as connection, connection:
        (number,) = connection.execute("SELECT id FROM object WHERE name = ?", (name,)).fetchone()
        connection.executemany(
            "INSERT INTO hour_mean VALUES(?, 'queue', 'depth', ?, 1.0, 60)", [(hour, number) for hour in hours]
        )


def test_objects(path: Path, make: Any, store: Store) -> None:
    """Who has been gone for longer goes, unless an alert or a baseline refers to it; who came back stays."""
    names = ("GONE", "MEANT", "ALARMED", "BACK", "HERE")
    hourly(make, store, range(3), names=names)
    gone = [replace(make.gone(0, name), ts=at(make, 3)) for name in names[:-1]]
    store.write(replace(make.snapshot(3, *gone), ts=at(make, 3)), make.verdict())
    noted(path, "MEANT", [at(make, 2) // HOUR * HOUR])
    ended(make, store, "ALARMED", 2, None)
    hourly(make, store, range(90, 100), names=("BACK", "HERE"))
    retention = Retention(store, RetentionPolicy.of(DAY, None))
    delete_all(retention, at(make, 100))
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert {row.name.name for row in reader.objects(gone=True)} == {"MEANT", "ALARMED", "BACK", "HERE"}
        assert reader.hour_means("queue", "depth", [at(make, 2) // HOUR * HOUR])
    for table in ("reading", "current_queue"):
        assert count(path, f"SELECT count(*) FROM {table} WHERE object_id NOT IN (SELECT id FROM object)") == 0
    hourly(make, store, [101], names=("GONE", "HERE"))
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert reader.current(make.queue("GONE"))["depth"].value == 101
        assert [value for _, value in reader.trend(make.queue("GONE"), "depth").points] == [101]


def test_an_owner_goes_as_a_whole(path: Path, make: Any) -> None:
    """A queue manager that is no longer watched stays known as such until nothing of it is left."""
    from mqvitals_rules.snapshot import ObjectName

    kinds = make.kinds
    with Store.open(path, kinds=kinds) as store:
        log = Reading(ObjectName("QM02", "log"), "LOG", at(make, 0), {"used_pct": 4})
        status = replace(make.status(0, "A", "QM02", depth=1), ts=at(make, 0))
        store.write(Snapshot("QM02", False, 1, at(make, 0), (log, status)), make.verdict())
        gone = (replace(log, values={}, gone=True, ts=at(make, 1)), replace(make.gone(0, "A", "QM02"), ts=at(make, 1)))
        store.write(Snapshot("QM02", False, 2, at(make, 1), gone), make.verdict())
        number = ended(make, store, "B", 0, None)
        hourly(make, store, range(90, 100))
        delete_all(Retention(store, RetentionPolicy.of(DAY, None)), at(make, 100))
        assert store.progress().keys() == {"QM01"}
        assert count(path, "SELECT count(*) FROM object WHERE owner = 'QM02'") == 0
        assert number


def test_baselines_outlive_samples(path: Path, make: Any, store: Store) -> None:
    """The means of hours stay, though ``keep`` is an hour and the store is over its limit."""
    hourly(make, store, range(50))
    noted(path, "A", [at(make, hour) for hour in range(50)])
    delete_all(Retention(store, RetentionPolicy.of(HOUR, 1)), at(make, 50))
    assert count(path, "SELECT count(*) FROM hour_mean") == 50


def test_the_oldest_samples_go_when_the_store_is_full(path: Path, make: Any, store: Store) -> None:
    """Over the limit the oldest go first, until the store holds less; open alerts and current state stay, and it says that ``keep`` is missed."""
    names = [f"APPL.{number:03d}" for number in range(200)]
    hourly(make, store, range(120), names=names)
    still = ended(make, store, "APPL.001", 1, None)
    retention = Retention(store, FOREVER)
    with store.database.reading() as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = retention.size()
    limit = before.total
    retention.change(RetentionPolicy.of(365 * DAY, limit))
    # What a round writes into the log counts in the next one.
    while delete_all(retention, at(make, 120)):
        pass
    after = retention.size()
    # The log counts, up to a quarter of the limit.
    assert limit * 0.75 < after.data + min(after.log, limit // 4) < limit
    assert after.files >= before.data
    oldest = retention.oldest()
    assert oldest is not None
    assert at(make, 10) < oldest < at(make, 110)
    assert retention.kept_from is not None
    assert oldest - HOUR <= retention.kept_from <= oldest
    assert retention.limited(at(make, 120))
    assert not retention.limited(at(make, 150))
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert [each.id for each in reader.alerts()] == [still]
        assert len(reader.trend(make.queue("APPL.007"), "depth").points) == (at(make, 119) - oldest) // HOUR + 1
        assert reader.current(make.queue("APPL.007"))["depth"].value == 119
    retention.change(RetentionPolicy.of(DAY, None))
    assert not retention.limited(at(make, 120))


def test_what_goes_when_samples_are_not_enough(path: Path, make: Any, store: Store) -> None:
    """A limit that cannot be kept costs messages, then ended alerts; never the last hour, nor what is open."""
    hourly(make, store, [*range(50), 99.9])
    store.messages.add(
        ConsoleRow("c", 1, 1, "m"), [message("QM01", "X", at(make, hour), f"{hour}") for hour in (10, 99.5)], ["QM01"]
    )
    old, still, new = (ended(make, store, name, 90, until) for name, until in (("A", 95), ("B", None), ("C", 99.8)))
    delete_all(Retention(store, RetentionPolicy.of(None, 1)), at(make, 100))
    assert count(path, "SELECT count(*) FROM sample_queue") == 2
    assert count(path, "SELECT count(*) FROM message") == 1
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert {each.id for each in reader.alerts(include_ended=True)} == {still, new}
    assert old not in (still, new)


def test_steps_are_short(make: Any, store: Store) -> None:
    """A step ends after its time, with statements that become smaller while they take long, and says that there is more."""
    hourly(make, store, range(100), names=[f"N{number}" for number in range(30)])
    steady = Steady(0.0)
    retention = Retention(store, RetentionPolicy.of(DAY, None), steady=steady)
    retention.step(at(make, 99))
    steady.tick = STEP_S / 3
    began = steady.now
    step = retention.step(at(make, 99))
    assert step.more
    assert 0 < step.rows <= 300
    assert steady.now - began < 2 * STEP_S
    steps = 1
    while retention.step(at(make, 99)).more:
        steps += 1
    assert steps > 20


def test_a_waiting_cycle_ends_a_step(make: Any, store: Store) -> None:
    """While a cycle waits a step runs one statement at most; the next one goes on."""
    hourly(make, store, range(100), names=[f"N{number}" for number in range(30)])
    retention = Retention(store, RetentionPolicy.of(DAY, None), steady=Steady())
    retention.step(at(make, 99))
    first = retention.step(at(make, 99), lambda: True)
    assert first.more
    assert 0 < first.rows <= 200
    assert delete_all(retention, at(make, 99)) > 1_000


def test_the_file_stops_growing(path: Path, make: Any, store: Store) -> None:
    """After several lengths of ``keep`` the file is as long as after two of them, within a tenth: pages are used again."""
    names = [f"APPL.{number:03d}" for number in range(60)]
    retention = Retention(store, RetentionPolicy.of(HOUR, None))
    sizes = []
    for cycle in range(1, 6 * 60 + 1):
        ts = make.start + cycle * 60_000
        readings = [replace(make.status(cycle, name, depth=cycle, puts=cycle % 7), ts=ts) for name in names]
        store.write(replace(make.snapshot(cycle, *readings), ts=ts), make.verdict())
        delete_all(retention, ts)
        if cycle % 60 == 0:
            sizes.append(retention.size())
    settled = sizes[1]
    for later in sizes[2:]:
        assert later.data <= settled.data * 1.1
        assert later.files <= settled.files * 1.1


def test_a_step_that_fails_changes_nothing(
    path: Path, make: Any, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a step cannot be committed all is there as before, in memory too, and the next one does it."""
    hourly(make, store, range(3), names=("GONE", "HERE"))
    store.write(
        replace(make.snapshot(4, replace(make.gone(0, "GONE"), ts=at(make, 3))), ts=at(make, 3)), make.verdict()
    )
    hourly(make, store, range(90, 100), names=("HERE",))
    retention = Retention(store, RetentionPolicy.of(DAY, None), steady=Steady())
    retention.step(at(make, 100))
    failing: Callable[..., Any] = SnapshotWriter.drop_objects

    def broken(self: SnapshotWriter, objects: Mapping[int, Any]) -> None:
        failing(self, objects)
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patched:
        patched.setattr(SnapshotWriter, "drop_objects", broken)
        with pytest.raises(StoreError):
            delete_all(retention, at(make, 100))
    assert count(path, "SELECT count(*) FROM object") == 2
    assert retention.kept_from is None
    hourly(make, store, [101], names=("HERE",))
    delete_all(retention, at(make, 101))
    assert count(path, "SELECT count(*) FROM object") == 1
    assert retention.kept_from == at(make, 101 - 24)


def test_an_older_store_gets_what_retention_needs(path: Path, make: Any) -> None:
    """A store of the structure before is brought up to date with its rows, and retention works in it."""
    with Store.open(path, kinds=make.kinds) as store:
        hourly(make, store, range(50))
        ended(make, store, "A", 1, 2)
        ended(make, store, "B", 1, 49)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP INDEX alert_ended")
        connection.execute("DROP INDEX smf_record_ts")
        name = "structure_11"
        connection.execute("DELETE FROM _sqlite_migrations WHERE name = ?", (name,))
        connection.execute("PRAGMA user_version = 10")
    with Store.open(path, kinds=make.kinds) as store:
        delete_all(Retention(store, RetentionPolicy.of(DAY, None)), at(make, 50))
        assert store.alerts.firing() == ()
    assert count(path, "SELECT count(*) FROM alert") == 1
    assert count(path, "SELECT count(*) FROM sqlite_schema WHERE name IN ('alert_ended', 'smf_record_ts')") == 2


NAMES = tuple(map(str, range(300)))


def log_of(store: Store) -> Path:
    return store.path.with_name(store.path.name + "-wal")


def test_the_log_is_written_back_before_a_commit_has_to(make: Any, store: Store) -> None:
    """As a step of its own, once it is an eighth of what a commit writes back, and no sooner; the store writes on as before."""
    retention = Retention(store, RetentionPolicy.of(None, None))
    assert not retention.write_back()
    hour = 0
    while log_of(store).stat().st_size < 125 * 16_384:
        hourly(make, store, range(hour, hour + 5), names=NAMES)
        hour += 5
    assert log_of(store).stat().st_size < 500 * 16_384, "no commit has written it back"
    assert retention.write_back()
    assert log_of(store).stat().st_size == 0
    assert not retention.write_back()
    hourly(make, store, [hour])
    assert count(store.path, "SELECT count(*) FROM snapshot") == hour + 1


def test_a_reader_that_holds_the_log_is_not_waited_for(make: Any, store: Store) -> None:
    """It is tried again when the log has grown, or is whole again; what the reader sees stays."""
    retention = Retention(store, RetentionPolicy.of(None, None))
    hourly(make, store, [0])
    with closing(sqlite3.connect(store.path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM snapshot").fetchone() == (1,)
        hourly(make, store, range(1, 80), names=NAMES)
        held = log_of(store).stat().st_size
        assert held > 125 * 16_384
        assert not retention.write_back()
        assert log_of(store).stat().st_size == held
        assert reader.execute("SELECT count(*) FROM snapshot").fetchone() == (1,)
        reader.execute("COMMIT")
    hourly(make, store, range(80, 160), names=NAMES)
    assert log_of(store).stat().st_size <= 2 * held
    assert count(store.path, "SELECT count(*) FROM snapshot") == 160
