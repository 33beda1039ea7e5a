"""Notices as rows: kept with their alert, taken in order, forgotten when they are old."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlite_utils import Database

from mqsamples.stored import stored_notifications
from mqvitals_agent.alerting.decision import LastNotification, NotificationStatus
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.file.database import StoreDatabase
from mqvitals_agent.store.file.migration import STRUCTURE, migrate, migrations
from mqvitals_agent.store.file.schema import APPLICATION_ID, PAGE_SIZE
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.alerts.notification_rows import (
    KEEP_MS,
    LONGEST_PAUSE_MS,
    NotificationOutcome,
    PendingGroup,
    PendingNotification,
)
from mqvitals_agent.store.rows.alerts.notifications import NotificationChanges, NotificationRepository
from mqvitals_agent.store.rows.alerts.receivers import ReceiverChanges, read_receivers
from mqvitals_agent.store.writer import Store
from mqvitals_rules.lifecycle.alert import AlertState, Severity, Transition, Why
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence

PENDING, FIRING, RESOLVED = AlertState.PENDING, AlertState.FIRING, AlertState.RESOLVED
ACCEPTED, REFUSED = NotificationOutcome.ACCEPTED, NotificationOutcome.REFUSED


class Owed:
    """One notice for each transition, and a note of what came."""

    def __init__(self, receiver: str = "ops") -> None:
        self.receiver = receiver
        self.seen: list[tuple[int, AlertState, Severity]] = []

    def __call__(self, changes: Sequence[tuple[int, Transition]]) -> list[PendingNotification]:
        self.seen += [(number, change.after.state, change.after.severity) for number, change in changes]
        return [
            PendingNotification(
                number,
                self.receiver,
                NotificationStatus.RESOLVED if change.after.state is RESOLVED else NotificationStatus.FIRING,
                change.after.severity,
                f"{number:016x}",
                change.after.updated,
                '{"version": "4"}',
            )
            for number, change in changes
        ]


def write(store: Store, make: Any, cycle: int, after: Any, before: Any, owed: Any) -> None:
    """A snapshot in which one alert changed."""
    store.write(
        make.snapshot(cycle),
        make.verdict(Transition(after, before, Why.HELD)),
        lambda changes: insert(store, make.ts(cycle), owed(changes)),
    )


def insert(store: Store, ts: int, pending: Sequence[PendingNotification]) -> None:
    """Make notifications, each of one alert."""
    store.notifications.apply(NotificationChanges(ts, tuple(PendingGroup((each,)) for each in pending)))


def nothing() -> None:
    """What new receivers are to be told."""


def ids(store: Store, now: int, limit: int = 10, receiver: str = "ops") -> list[int]:
    """The notices that are due."""
    return [each.number for each in store.notifications.due(receiver, now, limit)]


def test_visible_transitions_are_owed_with_their_numbers(path: Path, make: Any) -> None:
    """Not the mere counting of polls, nor what never fired."""
    owed = Owed()
    pending = make.alert(1, PENDING)
    firing = make.alert(2, FIRING, started=2)
    counted = make.alert(3, FIRING, started=2, true_polls=9)
    worse = make.alert(4, FIRING, Severity.CRITICAL, started=2)
    ended = make.alert(5, RESOLVED, Severity.CRITICAL, started=2, ended=5)
    with Store.open(path, kinds=make.kinds) as store:
        before = None
        for cycle, after in enumerate((pending, firing, counted, worse, ended), 1):
            write(store, make, cycle, after, before, owed)
            before = after
        write(store, make, 6, make.alert(6, PENDING), None, owed)
        write(store, make, 7, make.alert(7, RESOLVED), make.alert(6, PENDING), owed)
        assert store.notifications.last([1]) == {
            (1, "ops"): LastNotification(NotificationStatus.RESOLVED, Severity.CRITICAL, 3)
        }
        assert store.notifications.last([2, 3]) == {}
    assert owed.seen == [
        (1, FIRING, Severity.WARNING),
        (1, FIRING, Severity.CRITICAL),
        (1, RESOLVED, Severity.CRITICAL),
    ]


def test_an_alert_that_the_store_hears_of_late_is_owed(path: Path, make: Any) -> None:
    """What began it could not be kept: the next that is told of it counts."""
    owed = Owed()
    with Store.open(path, kinds=make.kinds) as store:
        firing = make.alert(2, FIRING, started=2)
        write(store, make, 3, make.alert(3, FIRING, started=2, true_polls=3), firing, owed)
    assert owed.seen == [(1, FIRING, Severity.WARNING)]


def test_alert_and_notice_are_one_transaction(path: Path, make: Any) -> None:
    """When either cannot be kept neither is."""

    class Broken(Owed):
        def __call__(self, changes: Sequence[tuple[int, Transition]]) -> list[PendingNotification]:
            assert len(ledger.alerts.firing()) == 1  # the store already tells of the alert
            raise KeyError("broken")

    with Store.open(path, kinds=make.kinds) as ledger:
        with pytest.raises(KeyError):
            write(ledger, make, 1, make.alert(1, FIRING, started=1), None, Broken())
        assert ledger.alerts.firing() == ()
        assert ids(ledger, make.ts(9)) == []
        write(ledger, make, 1, make.alert(1, FIRING, started=1), None, Owed())
        assert [each.id for each in ledger.alerts.firing()] == [1]
        assert ids(ledger, make.ts(9)) == [1]


def three(store: Store, make: Any) -> None:
    """Three notices of one alert."""
    before = None
    for cycle, severity in enumerate((Severity.INFO, Severity.WARNING, Severity.CRITICAL), 1):
        after = make.alert(cycle, FIRING, severity, started=1)
        write(store, make, cycle, after, before, Owed())
        before = after


def test_notices_are_taken_in_order(path: Path, make: Any) -> None:
    """Nothing overtakes one that waits; what is done is no longer due; receivers are apart."""
    with Store.open(path, kinds=make.kinds) as store:
        three(store, make)
        now = make.ts(10)
        assert ids(store, now) == [1, 2, 3]
        assert ids(store, now, limit=2) == [1, 2]
        assert ids(store, now, receiver="other") == []
        store.notifications.failed(1, now, "it answered 500", now + 1000)
        assert ids(store, now) == []
        assert ids(store, now + 1000) == [1, 2, 3]
        (first,) = store.notifications.due("ops", now + 1000, 1)
        assert (first.attempts, first.next_ts, first.error) == (1, now + 1000, "it answered 500")
        assert first.alerts[0] == PendingNotification(
            1, "ops", NotificationStatus.FIRING, Severity.INFO, f"{1:016x}", make.ts(1), '{"version": "4"}'
        )
        store.notifications.done(1, now, ACCEPTED)
        store.notifications.done(2, now, REFUSED, "it answered 400")
        assert ids(store, now) == [3]


def test_a_refused_one_is_kept_with_its_reason(path: Path, make: Any) -> None:
    """It is done, and the others are still pending."""
    with Store.open(path, kinds=make.kinds) as store:
        three(store, make)
        store.notifications.done(1, make.ts(5), REFUSED, "it answered 400")
    assert [each["id"] for each in stored_notifications(path, "done_ts IS NULL")] == [3, 2]
    (done,) = stored_notifications(path, "alert_id = 1 AND receiver = 'ops' AND done_ts IS NOT NULL")
    assert (done["done_ts"], done["outcome"], done["error"]) == (make.ts(5), REFUSED.value, "it answered 400")


def test_old_ones_go(path: Path, make: Any) -> None:
    """Thirty days after they were done; not the last one about an alert that is open, and not those that are owed."""
    with Store.open(path, kinds=make.kinds) as store:
        three(store, make)
        store.notifications.done(1, make.ts(1), ACCEPTED)
        store.notifications.done(2, make.ts(1), ACCEPTED)
        later = make.ts(1) + KEEP_MS + 1
        store.notifications.done(3, later, ACCEPTED)
        assert len(store.notifications.last([1])) == 1
        assert [each["id"] for each in stored_notifications(path)] == [3]
        store.notifications.done(3, make.ts(1), ACCEPTED)
        store.notifications.done(99, later, ACCEPTED)
        assert [each["id"] for each in stored_notifications(path)] == [3]
        last = make.alert(3, FIRING, Severity.CRITICAL, started=1)
        write(store, make, 4, make.alert(4, RESOLVED, started=1, ended=4), last, Owed())
        write(store, make, 5, make.alert(5, FIRING, started=5), None, Owed())
        store.notifications.done(5, later, ACCEPTED)
        assert [each["id"] for each in stored_notifications(path)] == [5, 4, 3]


def test_pruning_and_taking_use_their_indexes(path: Path, make: Any) -> None:
    """Neither reads notices that it has no use for."""
    with Store.open(path, kinds=make.kinds):
        connection = sqlite3.connect(path)
        plans = [
            " ".join(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}"))
            for sql in (
                "SELECT * FROM notice WHERE receiver = 'ops' AND done_ts IS NULL ORDER BY number, id",
                "DELETE FROM notice WHERE done_ts < 5 AND alert_id NOT IN (SELECT id FROM alert WHERE state <> 'resolved')",
                "SELECT receiver, status, severity FROM notice WHERE alert_id = 1 ORDER BY id",
            )
        ]
        connection.close()
    assert "notice_waits" in plans[0]
    assert "TEMP B-TREE" not in plans[0]
    assert "notice_done" in plans[1]
    assert "notice_alert" in plans[2]


def test_screens_read_no_more_than_they_show(path: Path, make: Any) -> None:
    """How receivers do is told from indexes alone, and from the rows of single notices; so is what is due."""
    seen: list[str] = []
    with Store.open(path, kinds=make.kinds) as store:
        three(store, make)
        store.notifications.update_receivers(["ops"], make.ts(5), nothing)
        store.notifications.failed(1, make.ts(5), "x", make.ts(6), refused=True)
        connection = sqlite3.connect(path)
        connection.set_trace_callback(seen.append)
        read_receivers(connection)
        NotificationRepository(StoreDatabase(path, connection)).due("ops", 5, 20)
        NotificationRepository(StoreDatabase(path, connection)).next_due("ops", 5)
        NotificationRepository(StoreDatabase(path, connection)).pending_counts()
        connection.set_trace_callback(None)
        plans = [
            row[3] for sql in set(seen) for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}") if "notice" in sql
        ]
        connection.close()
    searched = [plan for plan in plans if plan.startswith(("SCAN", "SEARCH"))]
    assert len(searched) >= 7
    for plan in searched:
        # What a subquery reads stands in a line of its own.
        assert "subquery" in plan or any(
            index in plan for index in ("notice_owed", "notice_waits", "notice_refused", "notice_alert", "PRIMARY KEY")
        ), plan
    assert not any("TEMP B-TREE" in plan for plan in plans)


def test_a_hundred_thousand_delivered_notices_cost_a_screen_nothing(path: Path, make: Any) -> None:
    """The virtual machine of SQLite takes as many steps as with none."""

    def steps() -> int:
        count = [0]
        connection = sqlite3.connect(path)
        connection.set_progress_handler(lambda: count.__setitem__(0, count[0] + 1), 1)
        read_receivers(connection)
        NotificationRepository(StoreDatabase(path, connection)).due("ops", 5, 20)
        connection.close()
        return count[0]

    with Store.open(path, kinds=make.kinds) as store:
        store.notifications.update_receivers(["ops"], make.ts(5), nothing)
        three(store, make)
        before = steps()
        store._connection.execute(
            "INSERT INTO notice(alert_id, receiver, status, severity, fingerprint, made_ts, payload, done_ts, outcome)"
            " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)"
            " SELECT 1, 'ops', 'firing', 'info', 'f', 1, '{}', 1, 'accepted' FROM n"
        )
        assert steps() == before


def test_a_refused_one_is_stepped_over(path: Path, make: Any) -> None:
    """With what comes after it about the same alert; both are due when it is, and after a clock was set back."""
    owed = Owed()
    with Store.open(path, kinds=make.kinds) as store:
        first, second = make.alert(1, FIRING, started=1), make.alert(1, FIRING, started=1, name="OTHER")
        write(store, make, 1, first, None, owed)
        write(store, make, 2, second, None, owed)
        write(store, make, 3, make.alert(3, RESOLVED, started=1, ended=3), first, owed)
        now = make.ts(10)
        store.notifications.failed(1, now, "it answered 400", now + 1000, refused=True)
        assert ids(store, now) == [2]
        assert store.notifications.next_due("ops", now) == now + 1000
        assert store.notifications.next_due("other", now) is None
        assert ids(store, now + 1000) == [1, 2, 3]
        assert store.notifications.next_due("ops", now + 1000) is None
        assert ids(store, now + 1000 - LONGEST_PAUSE_MS - 1) == [1, 2, 3]
        store.notifications.failed(1, now + 1000, "it answered 500", now + 2000)
        (stored,) = store.notifications.due("ops", now + 2000, 1)
        assert (stored.refused, stored.attempts, stored.error) == (now, 2, "it answered 500")


def test_receivers_are_adopted_or_not(path: Path, make: Any) -> None:
    """All in one transaction: what others are owed is dropped, what waits is due, what new ones are owed is kept."""
    asked: list[list[str]] = []

    def introduce() -> None:
        asked.append([row.name for row in read_receivers(store.database.connection)])
        insert(
            store,
            make.ts(7),
            [PendingNotification(1, "new", NotificationStatus.FIRING, Severity.INFO, "f", 5, "{}")],
        )

    def broken() -> None:
        introduce()
        raise KeyError("broken")

    with Store.open(path, kinds=make.kinds) as store, StoreReader.open(path, kinds=make.kinds) as reader:
        three(store, make)
        assert reader.receivers() == ()
        assert store.notifications.update_receivers(["ops"], make.ts(5), nothing) == ReceiverChanges({}, ("ops",))
        store.notifications.failed(1, make.ts(6), "x", make.ts(9))
        before = reader.receivers()
        with pytest.raises(KeyError):
            store.notifications.update_receivers(["new"], make.ts(7), broken)
        assert reader.receivers() == before
        assert ids(store, make.ts(6)) == []
        assert store.notifications.update_receivers(["new", "ops"], make.ts(7), introduce) == ReceiverChanges(
            {}, ("new",)
        )
        assert ids(store, make.ts(6)) == [1, 2, 3]
        assert store.notifications.pending_counts() == {"ops": 3, "new": 1}
        assert store.notifications.update_receivers(["new"], make.ts(8), introduce) == ReceiverChanges({"ops": 3}, ())
        assert store.notifications.update_receivers(["new"], make.ts(9), introduce) == ReceiverChanges({}, ())
        assert asked == [["new"], ["new", "ops"]]
        assert [(row.name, row.since, row.waiting) for row in reader.receivers()] == [("new", make.ts(7), 1)]
        # What was dropped is not known to whoever was to get it.
        assert store.notifications.last([1]) == {
            (1, "new"): LastNotification(NotificationStatus.FIRING, Severity.INFO, 4)
        }


def test_what_a_receiver_takes_to_be_firing(path: Path, make: Any) -> None:
    """An alert that has ended and of which it heard nothing but the beginning."""
    with Store.open(path, kinds=make.kinds) as store:
        firing = make.alert(1, FIRING, started=1)
        write(store, make, 1, firing, None, Owed())
        write(store, make, 2, make.alert(2, RESOLVED, started=1, ended=2), firing, Owed())
        store.notifications.done(1, make.ts(3), ACCEPTED)
        store.notifications.apply(NotificationChanges(make.ts(3), told=(1,)))
        store.notifications.update_receivers(["ops"], make.ts(4), nothing)
        assert store.alerts.ending() == ()  # its end waits
        store.notifications.update_receivers([], make.ts(5), nothing)
        store.notifications.update_receivers(["other"], make.ts(6), nothing)
        assert store.alerts.ending() == ()
        store.notifications.update_receivers(["ops", "other"], make.ts(7), nothing)
        assert [each.id for each in store.alerts.ending()] == [1]


def test_what_the_pipeline_asks(path: Path, make: Any) -> None:
    """Owners that are the group, and the newest value of a metric, or why there is none."""
    with Store.open(path, kinds=make.kinds) as store:
        store.write(make.snapshot(1, make.status(1, depth=5)), make.verdict())
        store.write(make.snapshot(1, owner="PRDQSG", group=True), make.verdict())
        assert store.groups() == {"PRDQSG"}
        assert store.value_now(make.queue(), "depth") == 5
        assert store.value_now(make.queue(), "usage") is Absence.NOT_ASKED
        assert store.value_now(make.queue("OTHER"), "depth") is Absence.NOT_ASKED
        assert store.value_now(ObjectName("QM01", "nothing", "x"), "depth") is Absence.NOT_ASKED


def test_a_store_of_structure_1_is_brought_up_to_date(path: Path, make: Any) -> None:
    """What is in it stays, a reader says what to do until then, and notices can be kept afterwards."""
    db = Database(path)
    db.conn.execute(f"PRAGMA page_size = {PAGE_SIZE}")
    db.conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.conn.execute("PRAGMA journal_mode = WAL")
    migrations().apply(db, stop_before="structure_2")
    db.conn.execute("INSERT INTO meta VALUES('mode', 'live')")
    db.conn.execute("INSERT INTO object VALUES(1, 'QM01', 'queue', 'APPL.IN', 5, NULL)")
    db.conn.execute(
        "INSERT INTO alert VALUES(7, 'Q-03', 'QM01', 'queue', 'APPL.IN', 'form', 'QM01', 'queue', 'APPL.IN',"
        " 'operational', 'queue_filling', 'firing', 'warning', 'warning', 1, 2, 2, NULL, 'HELD', 'fills', 1, 0, 0)"
    )
    db.conn.execute("PRAGMA user_version = 1")
    db.conn.commit()
    assert "notice" not in db.table_names()
    db.close()
    with pytest.raises(StoreError, match=f"older structure 1; this mqvitals reads {STRUCTURE}"):
        StoreReader.open(path, kinds=make.kinds)
    with Store.open(path, kinds=make.kinds) as store:
        (old,) = store.alerts.all_open()
        assert store.notifications.last([7]) == {}
        ended = make.alert(9, RESOLVED, started=2, ended=9)
        write(store, make, 9, ended, old, Owed())
        (notice,) = store.notifications.due("ops", make.ts(9), 5)
        assert notice.alerts[0].alert_id == 7
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert [str(row.name) for row in reader.objects()] == ["QM01/queue/APPL.IN"]
    # Once more changes nothing.
    migrate(path, application_id=APPLICATION_ID, page_size=PAGE_SIZE)
    assert len(stored_notifications(path)) == 1


def test_a_store_of_structure_2_is_brought_up_to_date(path: Path, make: Any) -> None:
    """What had been refused counts as refused; receivers are new, and are told nothing twice."""
    db = Database(path)
    db.conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.conn.execute("PRAGMA journal_mode = WAL")
    migrations().apply(db, stop_before="structure_3")
    db.conn.execute("INSERT INTO meta VALUES('mode', 'live')")
    db.conn.execute(
        "INSERT INTO alert VALUES(7, 'Q-03', 'QM01', 'queue', 'APPL.IN', '', 'QM01', 'queue', 'APPL.IN',"
        " 'operational', 'queue_filling', 'firing', 'warning', 'warning', 1, 2, 2, NULL, 'HELD', 'fills', 1, 0, 0)"
    )
    for number, outcome in ((1, "accepted"), (2, "refused")):
        db.conn.execute(
            "INSERT INTO notice(id, alert_id, receiver, status, severity, fingerprint, made_ts, payload, done_ts, outcome)"
            " VALUES(?, 7, 'ops', 'firing', 'warning', 'f', 1, '{}', 5, ?)",
            (number, outcome),
        )
    db.conn.execute("PRAGMA user_version = 2")
    db.conn.commit()
    db.close()
    with Store.open(path, kinds=make.kinds) as store, StoreReader.open(path, kinds=make.kinds) as reader:
        assert store.notifications.last([7]) == {
            (7, "ops"): LastNotification(NotificationStatus.FIRING, Severity.WARNING, 2)
        }
        store.notifications.update_receivers(["ops"], 6, nothing)
        (row,) = reader.receivers()
        assert (row.given_up, row.refused, row.waiting) == (1, 0, 0)
        assert [each["refused_ts"] for each in stored_notifications(path)] == [5, None]


def test_a_closed_store_says_so(path: Path, make: Any) -> None:
    """As a StoreError, which those who deliver expect."""
    store = Store.open(path, kinds=make.kinds)
    store.close()
    for ask in (
        lambda: store.notifications.due("ops", 1, 1),
        lambda: store.notifications.done(1, 1, ACCEPTED),
        lambda: store.notifications.failed(1, 1, "x", 1),
        lambda: store.notifications.last([1]),
        lambda: store.notifications.next_due("ops", 1),
        lambda: store.notifications.update_receivers([], 1, nothing),
        store.notifications.pending_counts,
        store.alerts.firing,
        store.groups,
    ):
        with pytest.raises(StoreError):
            ask()
