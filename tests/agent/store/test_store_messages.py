"""Console messages in the store: counted in a burst, found again, and gone after a while."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlite_utils import Database

from mqvitals_agent.ingest.messages import MessageWindow, NewestMessage
from mqvitals_agent.store.older import ResilientReader
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.messages import FREQUENT, ConsoleRow, EventQueueRow, delete_old_messages, message
from mqvitals_agent.store.writer import Store
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.history import ObjectMessage
from mqvitals_rules.snapshot import ObjectName, Snapshot

NOW = 1_795_176_000_000
ROW = ConsoleRow("/console", 10, 2**63 + 5, "mark", "{}", "", NOW)


def keep(store: Store, *messages: Any, owners: tuple[str, ...] = ("QM01",), row: ConsoleRow = ROW) -> None:
    store.messages.add(row, messages, owners)


def test_a_burst_is_counted(path: Path) -> None:
    """The same words in the same second are one row; other words, another second, another object are others."""
    with Store.open(path) as store, StoreReader.open(path) as reader:
        one = [message("QM01", "CSQP020E", NOW + ms, "small", kind="buffer_pool", name="1") for ms in (0, 5, 999)]
        keep(store, *one)
        keep(
            store,
            message("QM01", "CSQP020E", NOW + 500, "other", kind="buffer_pool", name="1"),
            message("QM01", "CSQP020E", NOW + 1000, "small", kind="buffer_pool", name="1"),
            message("QM01", "CSQP020E", NOW, "small", kind="buffer_pool", name="2"),
            message("QM02", "CSQP020E", NOW, "small", kind="buffer_pool", name="1"),
        )
        told = reader.messages()
        assert sorted(
            (each.owner, each.name, each.text, each.ts - NOW, each.last_ts - NOW, each.times) for each in told
        ) == [
            ("QM01", "1", "other", 500, 500, 1),
            ("QM01", "1", "small", 0, 999, 3),
            ("QM01", "1", "small", 1000, 1000, 1),
            ("QM01", "2", "small", 0, 0, 1),
            ("QM02", "1", "small", 0, 0, 1),
        ]


def test_what_every_connection_says_is_counted_by_the_minute(path: Path) -> None:
    code = min(FREQUENT)
    with Store.open(path) as store, StoreReader.open(path) as reader:
        keep(
            store, *(message("QM01", code, NOW + n * 1000, f"number {n}", kind="channel", name="A") for n in range(90))
        )
        assert [each.times for each in reader.messages()] == [60, 30]


def test_how_far_a_file_was_read(path: Path) -> None:
    """With whom it told of; one that is no longer followed is forgotten, its messages are not."""
    with Store.open(path) as store, StoreReader.open(path) as reader:
        assert store.messages.console("/console") == (None, frozenset())
        keep(store, message("QM01", "CSQP020E", NOW, "small"))
        keep(store, owners=("QM02",))
        assert store.messages.console("/console") == (ROW, frozenset({"QM01", "QM02"}))
        assert reader.consoles_followed() == {"QM01", "QM02"}
        keep(store, row=ROW._replace(problem="it is not there"))
        assert reader.consoles_followed() == set()
        store.messages.follow(["/console"], 0)
        assert store.messages.console("/console")[0] is not None
        store.messages.follow(["/other"], 0)
        assert store.messages.console("/console") == (None, frozenset())
        assert len(reader.messages()) == 1


def test_old_messages_go(path: Path) -> None:
    """Those that came last before a moment, and the oldest of too many."""
    with Store.open(path) as store, StoreReader.open(path) as reader:
        keep(store, *(message("QM01", "CSQP020E", NOW + n * 1000, "small") for n in range(10)))
        store.messages.delete_old(NOW + 3000)
        assert [each.ts - NOW for each in reader.messages()] == [3000 + n * 1000 for n in range(7)]
    with Database(path).conn as connection:
        delete_old_messages(connection, 0, most=5)
        assert connection.execute("SELECT count(*) FROM message").fetchone() == (6,)


def test_messages_are_narrowed(path: Path) -> None:
    with Store.open(path) as store, StoreReader.open(path) as reader:
        keep(
            store,
            message("QM01", "CSQP020E", NOW, "a", kind="buffer_pool", name="1"),
            message("QM01", "CSQJ111A", NOW + 1, "b"),
            message("QM02", "CSQP020E", NOW + 2, "c", kind="buffer_pool", name="1"),
        )

        def words(**how: Any) -> list[str]:
            return [each.text for each in reader.messages(**how)]

        assert words() == ["a", "b", "c"]
        assert words(owners=("QM01",)) == ["a", "b"]
        assert words(owners=()) == []
        assert words(codes={"CSQP020E"}) == ["a", "c"]
        assert words(since=NOW) == ["b", "c"]
        assert words(until=NOW + 1) == ["a", "b"]
        assert words(about=("buffer_pool", "1"), owners=("QM02",)) == ["c"]
        assert words(limit=2) == ["b", "c"]


def test_the_window_of_rules(path: Path) -> None:
    """None where no console is followed; the group has the messages of all; seen anew for each snapshot."""
    ids = frozenset({"CSQP020E", "CSQE038E"})
    with Store.open(path) as store, StoreReader.open(path) as reader:
        for owner, is_group in (("QM01", False), ("QSG1", True)):
            store.write(Snapshot(owner, is_group, 1, NOW, ()), Evaluation((), ()))
        window = MessageWindow(reader)
        assert window.messages("QM01", ids, 0) is None
        assert window.messages("QSG1", ids, 0) is None
        assert MessageWindow(None).messages("QM01", ids, 0) is None
        keep(
            store,
            message("QM01", "CSQP020E", NOW, "small", kind="buffer_pool", name="1"),
            message("QM01", "CSQP020E", NOW + 10, "small", kind="buffer_pool", name="1"),
            message("QM01", "CSQE038E", NOW + 20, "full", kind="cf_structure", name="APPL1"),
            message("QM01", "CSQJ111A", NOW + 30, "out of space"),
        )
        assert window.messages("QM01", ids, 0) is None
        window.renew()
        pool, structure = ObjectName("QM01", "buffer_pool", "1"), ObjectName("QSG1", "cf_structure", "APPL1")
        every = [
            ObjectMessage(NOW, "CSQP020E", pool),
            ObjectMessage(NOW + 10, "CSQP020E", pool),
            ObjectMessage(NOW + 20, "CSQE038E", structure),
        ]
        assert window.messages("QM01", ids, NOW - 1) == every
        assert window.messages("QM01", ids, NOW) == every[1:]
        assert window.messages("QM01", ids, NOW - 9) == every
        assert window.messages("QSG1", ids, 0) == every
        assert window.messages("QM02", ids, 0) is None


def test_events_are_followed_apart_from_consoles(path: Path) -> None:
    """Ids of events are known where their queue is read, those of consoles where one is followed; a queue that cannot
    be read any more is not; the queue of a site may hold all."""
    console, depth, channel = frozenset({"CSQP020E"}), frozenset({"event:2224"}), frozenset({"event:2283:8"})
    with Store.open(path) as store, StoreReader.open(path) as reader:
        store.write(Snapshot("QM01", False, 1, NOW, ()), Evaluation((), ()))
        window = MessageWindow(reader)

        def known() -> list[bool]:
            window.renew()
            return [window.messages("QM01", ids, 0) is not None for ids in (console, depth, channel, frozenset())]

        assert known() == [False, False, False, False]
        row = EventQueueRow("QM01", "SYSTEM.ADMIN.PERFM.EVENT", "QM01", ts=NOW)
        event = message("QM01", "event:2224", NOW, "event:2224 X: y; queue=A, high_depth=7", kind="queue", name="A")
        store.messages.add_events(row, [event])
        assert known() == [False, True, False, True]
        (found,) = window.messages("QM01", depth, 0) or ()
        assert (found.object, found.insert("high_depth")) == (ObjectName("QM01", "queue", "A"), "7")
        store.messages.add_events(row._replace(queue="SITE.EVENTS"), [])
        assert known() == [False, True, True, True]
        keep(store, message("QM01", "CSQP020E", NOW, "small"))
        assert known() == [True, True, True, True]
        for queue in ("SYSTEM.ADMIN.PERFM.EVENT", "SITE.EVENTS"):
            store.messages.add_events(row._replace(queue=queue, problem="MQRC_NOT_AUTHORIZED"), [])
        assert known() == [True, False, False, True]
        assert store.messages.read_events([("QM01", "SITE.EVENTS")])[0].problem == "MQRC_NOT_AUTHORIZED"
        assert [each.queue for each in reader.event_queues()] == ["SITE.EVENTS"]


def test_the_newest_message_of_an_id_is_looked_for_seldom(path: Path) -> None:
    """Every ten minutes by the time that is given, and at once when that was set back; of each queue manager its own."""
    minutes = 60_000
    with Store.open(path) as store, StoreReader.open(path) as reader:
        newest = NewestMessage(reader, "CSQJ034I")
        assert newest.text("QM01", NOW) == NewestMessage(None, "CSQJ034I").text("QM01", NOW) == ""
        keep(store, message("QM01", "CSQJ034I", NOW - 5, "first"), message("QM01", "CSQJ034I", NOW, "second"))
        assert newest.text("QM02", NOW) == ""
        assert [newest.text("QM01", NOW + each * minutes) for each in (9, 10)] == ["", "second"]
        keep(store, message("QM01", "CSQJ034I", NOW + 1, "third"))
        assert [newest.text("QM01", NOW + each * minutes) for each in (10, 1, 0)] == ["second", "second", "third"]


def test_the_window_follows_the_store(path: Path) -> None:
    """What is new, what is counted on, also in a burst that went on, and what came late; a restart knows the same."""
    ids = frozenset({"CSQX777E", "CSQE213I"})
    full = "CSQE213I !QM01 CSQESTE  SMDS(QM01) CFSTRUCT(APPL1) data set A.B is now {}% full"
    with Store.open(path) as store, StoreReader.open(path) as reader:
        store.write(Snapshot("QM01", False, 1, NOW, ()), Evaluation((), ()))
        window = MessageWindow(reader)
        keep(store, message("QM01", "CSQE213I", NOW, full.format(75)))

        def look(since: int = -1) -> list[tuple[str, int, int, str | None]]:
            window.renew()
            found = window.messages("QM01", ids, since) or ()
            return [(each.id, each.ts - NOW, each.times, each.insert("pct")) for each in found]

        assert look() == [("CSQE213I", 0, 1, "75")]
        first = window.messages("QM01", ids, -1)
        window.renew()
        assert window.messages("QM01", ids, -1) is first
        keep(store, *(message("QM01", "CSQX777E", NOW + ms, "blocked") for ms in (2_000, 2_500)))
        assert look(NOW) == [("CSQX777E", 2_000, 1, None), ("CSQX777E", 2_500, 1, None)]
        keep(store, *(message("QM01", "CSQX777E", NOW + ms, "blocked") for ms in (2_600, 2_900, 2_100)))
        keep(store, message("QM01", "CSQJ111A", NOW + 2_700, "not asked for"))
        assert look(NOW) == [("CSQX777E", 2_000, 2, None), ("CSQX777E", 2_900, 3, None)]
        keep(store, message("QM01", "CSQE213I", NOW - 86_400_000, full.format(60)))
        keep(store, message("QM01", "CSQE213I", NOW + 9_000, full.format(80)))
        expected = [
            ("CSQE213I", -86_400_000, 1, "60"),
            ("CSQE213I", 0, 1, "75"),
            ("CSQX777E", 2_000, 2, None),
            ("CSQX777E", 2_900, 3, None),
            ("CSQE213I", 9_000, 1, "80"),
        ]
        assert look() == expected
        window = MessageWindow(reader)
        assert look() == expected


def test_rows_whose_numbers_are_given_again(path: Path) -> None:
    """Where the last rows were deleted, a new row has a number that was read before."""
    with Store.open(path) as store, StoreReader.open(path) as reader:
        window = MessageWindow(reader)
        ids = frozenset({"CSQJ111A"})
        keep(store, message("QM01", "CSQJ111A", NOW, "a"))
        assert len(window.messages("QM01", ids, -1) or ()) == 1
        keep(store, *(message("QM01", "CSQJ111A", NOW - n * 3_600_000, "old") for n in range(1, 9)))
        window.renew()
        assert len(window.messages("QM01", ids, -1) or ()) == 9
        store.messages.delete_old(NOW)
        keep(store, message("QM01", "CSQJ111A", NOW - 500_000, "late"))
        window.renew()
        assert NOW - 500_000 in [each.ts for each in window.messages("QM01", ids, -1) or ()]


def test_a_storm_does_not_fill_the_memory(path: Path, monkeypatch: Any) -> None:
    """The newest rows are kept, and of each object the newest message, in a storm and after a restart."""
    monkeypatch.setattr("mqvitals_agent.ingest.messages.MOST_KEPT", 20)
    monkeypatch.setattr("mqvitals_agent.ingest.messages._SLACK", 5)
    ids = frozenset({"CSQX777E"})
    with Store.open(path) as store, StoreReader.open(path) as reader:
        window = MessageWindow(reader)
        assert window.messages("QM01", ids, -1) is None
        for n in range(40):
            name = "OLD" if n < 3 else "STORM"
            keep(store, message("QM01", "CSQX777E", NOW + n * 1000, f"{n}", kind="channel", name=name))
            window.renew()
            window.messages("QM01", ids, -1)
        for known in (window, MessageWindow(reader)):
            found = known.messages("QM01", ids, -1) or ()
            assert 20 < len(found) <= 26
            assert found[0] == ObjectMessage(NOW + 2000, "CSQX777E", ObjectName("QM01", "channel", "OLD"))
            assert found[-1].ts == NOW + 39_000


def test_while_the_file_fails_and_after_another_took_its_place(path: Path, tmp_path: Path) -> None:
    """What was read stays known; a new file, which counts its rows from 1, adds to it."""
    ids = frozenset({"CSQJ111A", "CSQJ115E"})
    other = tmp_path / "other.db"
    with Store.open(path) as store, StoreReader.open(path) as reader, Store.open(other) as second:
        past = ResilientReader(reader)
        window = MessageWindow(past)
        keep(store, *(message("QM01", "CSQJ111A", NOW + n * 1000, f"{n}") for n in range(5)))
        assert len(window.messages("QM01", ids, -1) or ()) == 5
        past.exchange(None)
        window.renew()
        assert len(window.messages("QM01", ids, -1) or ()) == 5
        keep(second, message("QM01", "CSQJ115E", NOW + 9000, "a"))
        with StoreReader.open(other) as another:
            past.exchange(another)
            window.renew()
            assert [each.id for each in window.messages("QM01", ids, -1) or ()] == ["CSQJ111A"] * 5 + ["CSQJ115E"]
