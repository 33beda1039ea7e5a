"""The store fails while the agent runs: alerts are judged and sent, and the file gets everything when it can."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.alerting.decision import NotificationStatus
from mqvitals_agent.service.service import Service
from mqvitals_agent.store import resilient
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.alerts.notification_rows import NotificationOutcome, PendingGroup, PendingNotification
from mqvitals_agent.store.rows.alerts.notifications import NotificationChanges
from mqvitals_agent.store.rows.samples.snapshot_writer import SnapshotWriter
from mqvitals_agent.store.writer import Store
from mqvitals_rules.lifecycle.alert import AlertState


class Post:
    """A receiver that takes everything at once, in the service's own thread of the store."""

    def __init__(self, house: Any) -> None:
        self._house = house
        self.sent: list[tuple[str, str]] = []
        self.about_store: list[tuple[str, str]] = []
        self.numbers: list[int] = []

    def update_outbox(self, changes: Any) -> None:
        """Each change is a notification by itself."""
        made = [
            PendingNotification(
                number,
                "ops",
                NotificationStatus.RESOLVED if change.after.state is AlertState.RESOLVED else NotificationStatus.FIRING,
                change.after.severity,
                f"{change.after.key.object}:{change.after.since}",
                change.after.updated,
                f"{change.after.key.rule} {change.after.key.object}",
            )
            for number, change in changes
        ]
        pending = tuple(PendingGroup((each,)) for each in made)
        notifications = self._house.service.resilient_store.notifications
        notifications.apply(NotificationChanges(self._house.clock.now(), pending))

    def deliver(self, service: Service, now: int) -> None:
        """Send all that is due."""
        for stored in service.resilient_store.notifications.due("ops", now, 100):
            (alert,) = stored.alerts
            rule = alert.payload.partition(" ")[0]
            if rule in {UNWRITABLE, BEGUN_ANEW}:
                self.about_store.append((rule, alert.status.value))
            else:
                self.sent.append((alert.payload, alert.status.value))
            self.numbers.append(stored.number)
            service.resilient_store.notifications.done(stored.number, now, NotificationOutcome.ACCEPTED)


UNWRITABLE, BEGUN_ANEW = "AGENT-10", "AGENT-11"
ALERT = "AGENT-01 QM03/queue_manager"
BOTH = [(ALERT, "firing"), (ALERT, "resolved")]


async def cycles(house: Any, service: Service, post: Post, count: int) -> None:
    """Let some cycles go by, and send after each what is owed."""
    for _ in range(count):
        await house.clock.advance(30_000)
        post.deliver(service, house.clock.now())


def stored(house: Any, path: Path | None = None) -> list[tuple[str, str]]:
    """(rule and object, state) of every step of every alert in the file but waiting ones."""
    with StoreReader.open(path or house.store) as reader:
        return [
            (f"{each.alert.key.rule} {each.alert.key.object}", step.state.value)
            for each in reader.alerts(include_ended=True)
            for step in reader.transitions(each.id)
            if step.state is not AlertState.PENDING and each.alert.key.object.kind != "store"
        ]


def outcomes(path: Path) -> list[str | None]:
    with closing(sqlite3.connect(path)) as connection, connection:
        rows = connection.execute("SELECT outcome FROM notice WHERE payload NOT LIKE '%/store' ORDER BY id")
        return [row[0] for row in rows]


def cycle_numbers(path: Path) -> list[int]:
    with closing(sqlite3.connect(path)) as connection, connection:
        return [row[0] for row in connection.execute("SELECT cycle FROM snapshot WHERE owner = 'QM01' ORDER BY ts")]


def events(house: Any) -> list[str]:
    return [line.split(" ")[2] for line in house.log.getvalue().splitlines() if " store." in line]


@contextmanager
def full(service: Service) -> Iterator[None]:
    """No page may be added to the file, as on a full disk: SQLite answers SQLITE_FULL."""
    connection = service.store._connection
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    # Free space within the file is filled, too, and no transaction finds any.
    write = SnapshotWriter._write_snapshot

    def fill(store: SnapshotWriter, snapshot: Any) -> None:
        write(store, snapshot)
        connection.execute("INSERT OR REPLACE INTO meta VALUES('ballast', ?)", ("x" * 400_000,))

    alerts = Store.write_alerts

    def refuse(store: Store, write: Any) -> None:
        def and_fill(connection: Any) -> None:
            write(connection)
            connection.execute("INSERT OR REPLACE INTO meta VALUES('ballast', ?)", ("x" * 400_000,))

        alerts(store, and_fill)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SnapshotWriter, "_write_snapshot", fill)
        patch.setattr(Store, "write_alerts", refuse)
        yield
    connection.execute("PRAGMA max_page_count = 1073741823")


async def test_alerts_are_sent_while_the_disk_is_full(house: Any) -> None:
    """Start and end reach the receiver within two cycles, once each; with space again all of it is in the file, once."""
    post = Post(house)
    async with house.running(update_outbox=post.update_outbox) as service:
        await cycles(house, service, post, 2)
        with full(service):
            house.of("QM03").down = 2059
            await cycles(house, service, post, 2)
            assert post.sent == BOTH[:1]
            assert house.stored[-1].state.waiting
            assert "the disk is full" in str(house.stored[-1].errors[0])
            house.of("QM03").down = 0
            await cycles(house, service, post, 14)
            assert post.sent == BOTH
            assert stored(house) == []
        await cycles(house, service, post, 2)
        assert stored(house) == BOTH
        assert outcomes(house.store) == ["accepted", "accepted"]
        assert house.stored[-1].errors == ()
        assert house.stored[-1].state.waiting == 0
    assert post.sent == BOTH
    assert post.about_store == [(UNWRITABLE, "firing"), (UNWRITABLE, "resolved")]
    numbers = cycle_numbers(house.store)
    assert numbers == list(range(1, numbers[-1] + 1)), "every cycle of the outage is in the file"
    assert events(house) == ["store.failed", "store.recovered"]


async def test_an_outage_of_hundreds_of_cycles_is_bounded(house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Old snapshots are given up and counted; alerts and notices are not."""
    monkeypatch.setattr(resilient, "MAX_WAITING_READINGS", 300)
    post = Post(house)
    async with house.running(update_outbox=post.update_outbox) as service:
        service.resilient_store._most = 300
        await cycles(house, service, post, 2)
        with full(service):
            for down in (2059, 0) * 3:
                house.of("QM03").down = down
                await cycles(house, service, post, 35)
            state = house.stored[-1].state
            store = service.resilient_store
            assert sum(len(each.snapshot.readings) for each in store._waiting) <= 300
            assert state.dropped > 500
        await cycles(house, service, post, 3)
        assert stored(house) == BOTH * 3
        assert house.stored[-1].state.dropped == state.dropped
    assert post.sent == BOTH * 3
    assert len(set(post.numbers)) == len(post.numbers)
    assert events(house) == ["store.failed", "store.dropped", "store.recovered"]


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 // 4096 * 4096)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def overwritten(path: Path) -> None:
    path.write_bytes(b"something else entirely\n" * 5000)


def overwritten_within(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(16384)
        file.write(b"\xff" * 16384 * 60)


def log_truncated(path: Path) -> None:
    os.truncate(path.with_name(path.name + "-wal"), 0)


def log_deleted(path: Path) -> None:
    path.with_name(path.name + "-wal").unlink()
    path.with_name(path.name + "-shm").unlink()


def deleted(path: Path) -> None:
    path.unlink()


def replaced(path: Path) -> None:
    other = path.with_name("other.db")
    Store.open(other).close()
    other.replace(path)


def closed(path: Path) -> None:
    path.chmod(0)


def with_a_trigger(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TRIGGER t AFTER INSERT ON snapshot BEGIN DELETE FROM alert; END")
    connection.close()


@pytest.mark.parametrize(
    ("damage", "aside"),
    [
        (truncated, True),
        (emptied, True),
        (overwritten, True),
        (overwritten_within, True),
        (with_a_trigger, True),
        (replaced, True),
        (deleted, False),
        (log_truncated, False),
        (log_deleted, False),
        (closed, False),
    ],
)
async def test_a_store_that_is_damaged_while_the_agent_runs(
    house: Any, damage: Callable[[Path], None], *, aside: bool
) -> None:
    """It is said at once, the file is set aside where it cannot be gone on with, and alerts go on as before.

    What fires was sent once before and is not sent again; its end is sent, and a new alert is, too.
    """
    post = Post(house)
    house.of("QM03").down = 2059
    async with house.running(update_outbox=post.update_outbox) as service:
        await cycles(house, service, post, 10)
        assert post.sent == BOTH[:1]
        with StoreReader.open(house.store) as reader:
            (before,) = [each.alert for each in reader.alerts() if each.alert.key.object.kind != "store"]
        damage(house.store)
        await cycles(house, service, post, 2)
        if damage is not closed:
            assert events(house)[0] == "store.damaged"
            assert house.stored[-1].state.incidents == 1
        assert len(list(house.store.parent.glob("samples.db.damaged-*Z"))) == aside
        with StoreReader.open(house.store) as reader:
            (after,) = [each.alert for each in reader.alerts() if each.alert.key.object.kind != "store"]
            assert (after.key, after.since, after.started) == (before.key, before.since, before.started)
        house.of("QM02").down = 2059
        house.of("QM03").down = 0
        await cycles(house, service, post, 14)
        assert house.stored[-1].errors == ()
    assert post.sent == [BOTH[0], ("AGENT-01 QM02/queue_manager", "firing"), BOTH[1]]
    assert sorted(stored(house)) == sorted(post.sent)
    assert post.about_store == ([] if damage is closed else [(BEGUN_ANEW, "firing")])
    with closing(sqlite3.connect(house.store)) as connection, connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("SELECT count(*) FROM notice WHERE done_ts IS NULL").fetchone() == (0,)
    numbers = cycle_numbers(house.store)
    assert numbers[-14:] == list(range(numbers[-1] - 13, numbers[-1] + 1))


async def test_a_file_of_somebody_else_in_the_stores_place_is_left_alone(house: Any) -> None:
    """It is no store: it is not renamed and not written; alerts are sent, and a new store begins when it has gone."""
    post = Post(house)
    async with house.running(update_outbox=post.update_outbox) as service:
        await cycles(house, service, post, 2)
        house.store.rename(house.store.with_name("away.db"))
        house.store.write_text("a letter")
        house.of("QM03").down = 2059
        await cycles(house, service, post, 3)
        assert post.sent == BOTH[:1]
        assert house.store.read_text() == "a letter"
        assert "no mqvitals store" in str(house.stored[-1].errors)
        house.store.unlink()
        await cycles(house, service, post, 2)
        assert stored(house) == BOTH[:1]
    assert post.sent == BOTH[:1]
    with closing(sqlite3.connect(house.store.with_name("away.db"))) as connection, connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert cycle_numbers(house.store.with_name("away.db")) == [1, 2, 3]


async def test_a_folder_that_is_renamed_and_comes_back(house: Any, tmp_path: Path) -> None:
    """Meanwhile everything waits; then the same file goes on, and nothing is missing."""
    folder = tmp_path / "data"
    folder.mkdir()
    house.store = folder / "samples.db"
    post = Post(house)
    async with house.running(update_outbox=post.update_outbox) as service:
        await cycles(house, service, post, 2)
        folder.rename(tmp_path / "elsewhere")
        house.of("QM03").down = 2059
        await cycles(house, service, post, 3)
        assert post.sent == BOTH[:1]
        assert not folder.exists()
        (tmp_path / "elsewhere").rename(folder)
        await cycles(house, service, post, 2)
        assert house.stored[-1].state.incidents == 0
    numbers = cycle_numbers(house.store)
    assert numbers == list(range(1, numbers[-1] + 1))
    assert stored(house) == BOTH[:1]


async def test_another_program_keeps_the_store_locked(house: Any) -> None:
    """Longer than anybody waits: alerts are sent, the agent ends in time, and what it could not write it counts."""
    post = Post(house)
    async with house.running(update_outbox=post.update_outbox) as service:
        await cycles(house, service, post, 2)
        other = sqlite3.connect(house.store, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        house.of("QM03").down = 2059
        await cycles(house, service, post, 3)
        assert post.sent == BOTH[:1]
        assert "locked" in str(house.stored[-1].errors)
        begin = asyncio.get_running_loop().time()
    assert asyncio.get_running_loop().time() - begin < 5, "each transaction waits a quarter of a second at most"
    assert service.final_state.waiting
    assert events(house)[-1] == "store.unwritten"
    other.close()


async def test_the_start_of_an_agent_after_an_outage(house: Any) -> None:
    """What an orderly end could still write is known to the next run: nothing is sent again."""
    post = Post(house)
    async with house.running(update_outbox=post.update_outbox) as service:
        await cycles(house, service, post, 2)
        with full(service):
            house.of("QM03").down = 2059
            await cycles(house, service, post, 3)
    assert post.sent == BOTH[:1]
    async with house.running(update_outbox=post.update_outbox) as service:
        await cycles(house, service, post, 3)
    assert post.sent == BOTH[:1]
    assert stored(house) == BOTH[:1]


async def test_a_snapshot_that_no_file_can_hold(house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given up and said; it does not stand in the way of those after it."""
    take = SnapshotWriter._write_snapshot
    faulty = [True]

    def write(store: SnapshotWriter, snapshot: Any) -> None:
        if snapshot.owner == "QM02" and snapshot.cycle == 2 and faulty:
            "\ud800".encode()
        take(store, snapshot)

    monkeypatch.setattr(SnapshotWriter, "_write_snapshot", write)
    post = Post(house)
    house.of("QM03").down = 2059
    async with house.running(update_outbox=post.update_outbox) as service:
        await cycles(house, service, post, 4)
        assert house.stored[-1].state.dropped == 1
        assert house.stored[-1].errors == ()
    assert post.sent == BOTH[:1]
    with closing(sqlite3.connect(house.store)) as connection, connection:
        rows = connection.execute("SELECT cycle FROM snapshot WHERE owner = 'QM02' ORDER BY ts").fetchall()
    assert [cycle for (cycle,) in rows][:4] == [1, 3, 4, 5]
    assert "cannot be stored" in house.log.getvalue()
