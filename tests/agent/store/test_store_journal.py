"""The journal: what gets an entry, that all sources read as one list, how long it is kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.resilient import ResilientStore
from mqvitals_agent.store.retention import Retention, RetentionPolicy
from mqvitals_agent.store.rows.alerts.action_client import ActionClient
from mqvitals_agent.store.rows.journal import (
    BACK,
    FIRST_SEEN,
    GONE,
    STARTED,
    JournalEntry,
    followed_change,
    kept_entries,
    matters,
)
from mqvitals_agent.store.rows.messages import ConsoleRow, message
from mqvitals_agent.store.writer import Store
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity, Transition, Why
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.changes import ALTERED
from mqvitals_rules.vocabulary.journal import DEFINING, EXPANDING, FOLLOWED, EntryKind
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS, metric

START, MINUTE, DAY = 1_795_176_000_000, 60_000, 86_400_000
CHANNEL = ObjectName("QM01", "channel", "QM01.TO.BANK")
QUEUE = ObjectName("QM01", "queue", "PAYMENTS.IN")
PAGE_SET = ObjectName("QM01", "page_set", "4")
MANAGER = ObjectName("QM01", "queue_manager")
RUNNING, RETRYING = (metric("channel", "status").values[word] for word in ("RUNNING", "RETRYING"))


def at(minute: int) -> int:
    return START + minute * MINUTE


def write(
    store: Store,
    minute: int,
    *readings: tuple[ObjectName, str, Mapping[str, Reported]],
    transitions: tuple[Transition, ...] = (),
    **more: Any,
) -> None:
    made = tuple(Reading(name, probe, at(minute), dict(values), **more) for name, probe, values in readings)
    store.write(Snapshot("QM01", False, minute + 1, at(minute), made), Evaluation(transitions, ()))


def status(value: Reported, name: ObjectName = CHANNEL) -> tuple[ObjectName, str, Mapping[str, Reported]]:
    return name, "INQUIRE_CHANNEL_STATUS", {"status": value, "msgs": 5}


def handles(count: Reported) -> tuple[ObjectName, str, Mapping[str, Reported]]:
    return QUEUE, "INQUIRE_Q_STATUS", {"depth": 1, "input_handles": count}


def entries(path: Path, since: int = 0, **wanted: Any) -> tuple[JournalEntry, ...]:
    with StoreReader.open(path) as reader:
        return reader.journal(since, **{"limit": 100, **wanted})


@pytest.mark.parametrize("restarted", [False, True])
def test_another_state_is_one_entry(path: Path, restarted: bool) -> None:
    """Old and new, when it was seen and when the old one was last seen; also where the agent began anew."""
    store = Store.open(path)
    write(store, 0, status(RUNNING))
    write(store, 1, status(RUNNING))
    if restarted:
        store.close()
        store = Store.open(path)
    write(store, 2, status(RETRYING))
    write(store, 3, status(RETRYING))
    store.close()
    assert entries(path) == (JournalEntry(at(2), EntryKind.STATE, CHANNEL, "status", RUNNING, RETRYING, at(1)),)


def test_first_sight_absence_and_what_is_the_same_are_no_entries(path: Path) -> None:
    with Store.open(path) as store:
        write(store, 0, status(RUNNING))
        write(store, 1, status(Absence.NOT_RETURNED))
        write(store, 2, status(RUNNING))
        write(store, 3, (CHANNEL, "INQUIRE_CHANNEL_STATUS", {"status": Absence.NO_ANSWER}), answered=False)
        write(store, 4, status(RUNNING))
    assert entries(path) == ()


def test_an_unanswered_poll_lies_between(path: Path) -> None:
    with Store.open(path) as store:
        write(store, 0, status(RUNNING))
        write(store, 1, (CHANNEL, "INQUIRE_CHANNEL_STATUS", {"status": Absence.NO_ANSWER}), answered=False)
        write(store, 2, status(RETRYING))
    assert [(each.before, each.ts) for each in entries(path)] == [(at(0), at(2))]


def test_handles_count_where_the_first_comes_and_the_last_goes(path: Path) -> None:
    with Store.open(path) as store:
        for minute, count in enumerate((2, 3, 1, 0, 0, 4)):
            write(store, minute, handles(count))
    assert [(each.kind, each.old, each.new, each.ts) for each in entries(path)] == [
        (EntryKind.USE, 1, 0, at(3)),
        (EntryKind.USE, 0, 4, at(5)),
    ]


LOG = ObjectName("QM01", "log")
OFFLOAD = metric("log", "offload_status").values


def test_of_what_is_routine_one_in_ten_minutes_is_kept(path: Path) -> None:
    """Switches of a log and its usual offloads; that offload waits for a volume is always told."""
    usual = (OFFLOAD["AVAILABLE"], OFFLOAD["COPYING_LOG"])
    waiting = OFFLOAD["ALLOCATING_ARCHIVE"]
    with Store.open(path) as store:
        for minute in range(25):
            state = waiting if minute == 7 else usual[minute % 2]
            write(store, minute, (LOG, "INQUIRE_LOG", {"data_set_copy1": f"DS{minute}", "offload_status": state}))
    found = entries(path)
    assert [each.ts for each in found if each.kind is EntryKind.LOG] == [at(1), at(11), at(21)]
    states = [(each.ts, waiting in (each.old, each.new)) for each in found if each.kind is EntryKind.STATE]
    assert states == [(at(1), False), (at(7), True), (at(8), True), (at(11), False), (at(21), False)]


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("2026-11-20 12.00.00", "2026-11-20 13.00.00", False),
        ("2026-11-20 12.00.00", "2026-11-20 11.45.00", False),
        ("2026-11-20 12.00.00", "2026-11-20 13.00.01", True),
        ("2026-11-20 12.00.00", "2026-11-21 12.00.00", True),
        ("2026-11-20 12.00.00", "unreadable", True),
    ],
)
def test_another_start_is_a_restart_unless_the_zone_explains_it(old: str, new: str, found: bool) -> None:
    entry = followed_change(MANAGER, "INQUIRE_LOG", "start_ts", old, new, at(1), at(0))
    assert (entry is not None and entry.kind is EntryKind.RESTART) is found


_REPORTED = st.one_of(st.integers(-3, 3), st.sampled_from(Absence), st.text(max_size=3))


@given(
    st.sampled_from(
        [(kind, command, name) for kind, each in FOLLOWED.items() for command, names in each.items() for name in names]
    ),
    _REPORTED,
    _REPORTED,
)
def test_an_entry_has_two_different_values(which: tuple[str, str, str], old: Reported, new: Reported) -> None:
    kind, command, name = which
    entry = followed_change(ObjectName("Q", kind, "N"), command, name, old, new, 2, 1)
    if entry is not None:
        assert not {Absence} & {old.__class__, new.__class__}
        assert old != new
        assert (entry.old, entry.new, entry.kind) == (old, new, FOLLOWED[kind][command][name])
    elif not isinstance(old, Absence) and not isinstance(new, Absence) and old != new:
        assert FOLLOWED[kind][command][name] in (EntryKind.USE, EntryKind.RESTART)


def test_followed_metrics_are_those_of_the_vocabulary() -> None:
    for kind, commands in FOLLOWED.items():
        for command, metrics in commands.items():
            for name in metrics:
                found = KINDS[kind].metric(name)
                assert found is not None, (kind, name)
                assert found.command == command, (kind, name)
    assert {kind for kind, _ in EXPANDING} | DEFINING.keys() <= KINDS.keys()


def defined(name: ObjectName, definition_type: int = 1) -> tuple[ObjectName, str, Mapping[str, Reported]]:
    return name, "INQUIRE_Q", {"definition_type": definition_type, "max_depth": 5000, ALTERED: "2026-11-20 12.00.00"}


NEW, DYNAMIC = ObjectName("QM01", "queue", "NEW"), ObjectName("QM01", "queue", "AMQ.1234")


@pytest.mark.parametrize("restarted", [False, True])
def test_objects_come_and_go(path: Path, restarted: bool) -> None:
    """The first ones of a kind were there before the agent was; temporary dynamic queues come and go all day."""
    store = Store.open(path)
    write(store, 0, defined(QUEUE), poll=False)
    if restarted:
        store.close()
        store = Store.open(path)
    write(store, 1, defined(QUEUE), defined(NEW), defined(DYNAMIC, 3), poll=False)
    write(store, 2, (NEW, "INQUIRE_Q_STATUS", {}), (DYNAMIC, "INQUIRE_Q_STATUS", {}), gone=True)
    write(store, 3, defined(NEW), poll=False)
    store.close()
    assert [(each.name, each.metric, each.ts) for each in entries(path)] == [
        (NEW, FIRST_SEEN, at(1)),
        (NEW, GONE, at(2)),
        (NEW, BACK, at(3)),
    ]


def test_a_queue_manager_that_is_gone_is_one_entry(path: Path) -> None:
    with Store.open(path) as store:
        write(store, 0, defined(QUEUE), status(RUNNING), (MANAGER, "CONNECTION", {"reachable": 1}))
        write(store, 1, (QUEUE, "", {}), (CHANNEL, "", {}), (MANAGER, "", {}), gone=True)
    assert [(each.name, each.metric) for each in entries(path)] == [(MANAGER, GONE)]


def test_very_many_objects_are_counted() -> None:
    many = [JournalEntry(1, EntryKind.OBJECT, ObjectName("QM01", "queue", f"Q{number}"), GONE) for number in range(500)]
    state = JournalEntry(1, EntryKind.STATE, CHANNEL, "status", 3, 5)
    assert list(kept_entries([*many, state])) == [
        JournalEntry(1, EntryKind.OBJECT, ObjectName("QM01", "queue"), GONE, new=500),
        state,
    ]


def _alert(state: AlertState, severity: Severity, minute: int) -> Alert:
    ended = at(minute) if state is AlertState.RESOLVED else None
    return Alert(
        AlertKey("CHL-16", CHANNEL, ""),
        CHANNEL,
        "operational",
        "",
        state,
        severity,
        severity,
        at(2),
        at(minute),
        "RETRYING",
        at(3),
        ended,
    )


def _fill(path: Path) -> None:
    """One entry of each source, a minute apart."""
    firing, resolved = (
        _alert(AlertState.FIRING, Severity.WARNING, 3),
        _alert(AlertState.RESOLVED, Severity.WARNING, 6),
    )
    with Store.open(path) as store:
        pages = (PAGE_SET, "INQUIRE_USAGE", {"status": 0, "total_pages": 1000})
        write(store, 0, status(RUNNING), defined(QUEUE), pages)
        write(store, 1, (QUEUE, "INQUIRE_Q", {**defined(QUEUE)[2], "max_depth": 9}))
        write(store, 2, status(RETRYING))
        write(store, 3, transitions=(Transition(firing, None, Why.HELD),))
        store.messages.add(
            ConsoleRow("f"), [message("QM01", "CSQP014E", at(4), "PSID 4", kind="page_set", name="4")], ()
        )
        store.messages.add(
            ConsoleRow("f"), [message("QM01", "CSQX500I", at(4), "started", kind="channel", name="A")], ()
        )
    with ActionClient.open(path, "anna") as client:
        client.add_note(1, "on it", at(5))
    with Store.open(path) as store:
        write(store, 6, transitions=(Transition(resolved, firing, Why.CLEARED),))
        write(store, 7, (PAGE_SET, "INQUIRE_USAGE", {"status": 0, "total_pages": 1500}))


EXPECTED = [
    (1, EntryKind.DEFINITION, QUEUE, "max_depth"),
    (2, EntryKind.STATE, CHANNEL, "status"),
    (3, EntryKind.ALERT, CHANNEL, "CHL-16"),
    (4, EntryKind.MESSAGE, PAGE_SET, "CSQP014E"),
    (5, EntryKind.ACTION, CHANNEL, "note"),
    (6, EntryKind.ALERT, CHANNEL, "CHL-16"),
    (7, EntryKind.EXPANSION, PAGE_SET, "total_pages"),
]


def _shape(found: tuple[JournalEntry, ...]) -> list[tuple[int, EntryKind, ObjectName, str]]:
    return [((each.ts - START) // MINUTE, each.kind, each.name, each.metric) for each in found]


def test_all_sources_read_as_one_list(path: Path) -> None:
    _fill(path)
    found = entries(path)
    assert _shape(found) == EXPECTED
    assert [each.new for each in found if each.kind is EntryKind.ALERT] == ["warning", "ends"]
    assert _shape(entries(path, limit=2)) == EXPECTED[-2:]
    assert _shape(entries(path, since=at(2), until=at(5))) == EXPECTED[1:5]
    assert _shape(entries(path, objects=[PAGE_SET])) == [EXPECTED[3], EXPECTED[6]]
    assert _shape(entries(path, objects=[PAGE_SET, CHANNEL], limit=3)) == EXPECTED[4:]
    assert _shape(entries(path, pattern="QM01/channel/*")) == [each for each in EXPECTED if each[2] == CHANNEL]
    assert _shape(entries(path, owners=["QM02"])) == _shape(entries(path, objects=[])) == []
    for kind in EntryKind:
        assert _shape(entries(path, kinds=[kind])) == [each for each in EXPECTED if each[1] is kind]


@given(st.integers(-1, 9), st.integers(-1, 9), st.integers(1, 9))
def test_bounds_and_limit_hold_for_any_choice(filled: Path, since: int, until: int, limit: int) -> None:
    """What is asked for a part is that part of the whole."""
    within = [each for each in EXPECTED if since <= each[0] <= until]
    assert _shape(entries(filled, since=at(since), until=at(until), limit=limit)) == within[-limit:]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("journal") / "store.db"
    _fill(path)
    return path


def test_what_is_rolled_back_leaves_no_entry(path: Path) -> None:
    with Store.open(path) as store:
        write(store, 0, status(RUNNING))
        with pytest.raises(ValueError, match="no metric"):
            write(store, 1, (CHANNEL, "INQUIRE_CHANNEL_STATUS", {"status": RETRYING, "nonsense": 1}))
        assert entries(path) == ()
        write(store, 1, status(RETRYING))
    assert len(entries(path)) == 1


def test_it_is_kept_as_alerts_are(path: Path) -> None:
    with Store.open(path) as store:
        write(store, 0, status(RUNNING))
        write(store, 1, status(RETRYING))
        write(store, 2 * 24 * 60, status(RUNNING))
        retention = Retention(store, RetentionPolicy.of(DAY, None))
        while retention.step(at(2 * 24 * 60)).more:
            pass
        assert [each.ts for each in entries(path)] == [at(2 * 24 * 60)]


def test_a_clock_that_was_set_back_dates_entries_back(path: Path) -> None:
    with Store.open(path) as store:
        write(store, 100, status(RUNNING))
        write(store, 101, status(RETRYING))
        store.write(Snapshot("QM01", False, 200, at(50), ()), Evaluation((), ()))
    assert [each.ts for each in entries(path)] == [at(50)]


def test_an_entry_of_a_later_version_is_passed_over(path: Path) -> None:
    with Store.open(path) as store:
        write(store, 0, status(RUNNING))
        write(store, 1, status(RETRYING))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE journal SET entry = 'unheard of'")
    assert entries(path) == ()


def test_the_agents_own_entries_wait_for_a_file(path: Path) -> None:
    store = ResilientStore(lambda now, busy: Store.open(path, created=now, busy_ms=busy), lambda: START)
    entry = JournalEntry(START, EntryKind.AGENT, ObjectName("PRDQ", "agent"), STARTED, source="agent")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        store.note_entry(entry)
        assert entries(path) == ()
        other.execute("ROLLBACK")
    store.retry()
    store.close()
    assert entries(path) == (entry,)


@pytest.mark.parametrize(
    ("code", "wanted"),
    [("CSQP014E", True), ("CSQX500I", False), ("CSQJ005I", True), ("event:2367", False), ("event:2283:8", True)],
)
def test_which_messages_matter(code: str, wanted: bool) -> None:
    assert matters(code) is wanted
