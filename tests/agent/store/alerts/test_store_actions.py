"""What people do about alerts: written beside the agent, with an audit; kept as long as the alerts; carried into a new file."""

from __future__ import annotations

import os
import pwd
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from mqvitals_agent.alerting.action import AckState, acknowledgement_of
from mqvitals_agent.store.error import StoreError, StoreErrorKind
from mqvitals_agent.store.file.check import check, repair
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.resilient import ResilientStore
from mqvitals_agent.store.retention import Retention, RetentionPolicy
from mqvitals_agent.store.rows.alerts.action_client import (
    LONGEST_SILENCE_MS,
    LONGEST_TEXT,
    MOST_MATCHERS,
    ActionClient,
    author_name,
)
from mqvitals_agent.store.rows.alerts.actions import AUDIT_KEPT_MS, NO_ACTIONS, Actions
from mqvitals_agent.store.rows.tables import LAST_MOMENT
from mqvitals_agent.store.writer import Store
from mqvitals_config.sections.matcher import parse_matcher
from mqvitals_rules.lifecycle.alert import AlertState, Severity, Transition, Why

HOUR = 3_600_000
DAY = 24 * HOUR
NOW = 1_763_640_100_000
OF_RULE = (parse_matcher("rule=Q-03"),)


def firing(store: Store | ResilientStore, make: Any, cycle: int = 1, severity: Severity = Severity.WARNING) -> None:
    alert = make.alert(cycle, AlertState.FIRING, severity, started=1)
    store.write(make.snapshot(cycle), make.verdict(Transition(alert, None, Why.HELD)))


def ended(store: Store | ResilientStore, make: Any, cycle: int = 2) -> None:
    alert = make.alert(cycle, AlertState.RESOLVED, started=1, ended=cycle, why=Why.CLEARED)
    store.write(make.snapshot(cycle), make.verdict(Transition(alert, None, Why.CLEARED)))


def actions(path: Path, make: Any) -> Actions:
    with StoreReader.open(path, kinds=make.kinds) as reader:
        return reader.actions()


def audit(path: Path, make: Any) -> list[tuple[str, str, str, str]]:
    with StoreReader.open(path, kinds=make.kinds) as reader:
        return [(each.author, each.action, each.about, each.detail) for each in reader.audit(limit=99)]


def test_the_first_has_the_alert_and_both_are_kept(path: Path, make: Any) -> None:
    with (
        Store.open(path, kinds=make.kinds) as store,
        ActionClient.open(path, "anna") as anna,
        ActionClient.open(path, "ben") as ben,
    ):
        firing(store, make)
        assert anna.acknowledge(1, NOW, note="looking \t at it").state is AckState.ACKNOWLEDGED
        found = ben.acknowledge(1, NOW + 1, note="me too", until=NOW + HOUR)
        assert found.by is not None
        assert (found.by.author, found.by.note, found.by.made) == ("anna", "looking at it", NOW)
        assert ben.add_note(1, "the reader is down", NOW + 2).id == 1
        seen = store.actions.read()
        assert [(each.author, each.note) for each in seen.acknowledgements_of(1)] == [
            ("anna", "looking at it"),
            ("ben", "me too"),
        ]
        assert [(each.author, each.text) for each in seen.notes_of(1)] == [("ben", "the reader is down")]
        assert store.actions.read(seen) is seen, "nothing is new"
    about = "alert 1: Q-03 QM01/queue/APPL.IN form"
    assert audit(path, make) == [
        ("anna", "acknowledge", about, "looking at it"),
        ("ben", "acknowledge", about, "until 2025-11-20T13:01:40.000Z; me too"),
        ("ben", "note", about, "the reader is down"),
    ]


def test_one_takes_over_and_one_takes_back(path: Path, make: Any) -> None:
    """One's own first; where one has none, that of the others. The next one in force has the alert then."""
    with (
        Store.open(path, kinds=make.kinds) as store,
        ActionClient.open(path, "anna") as anna,
        ActionClient.open(path, "ben") as ben,
    ):
        firing(store, make)
        with pytest.raises(StoreError, match="alert 1 is not acknowledged: no one has acknowledged it"):
            ben.undo_acknowledgement(1, NOW)
        anna.acknowledge(1, NOW)
        taken = ben.acknowledge(1, NOW + 1, take_over=True).by
        assert taken is not None
        assert taken.author == "ben"
        anna.acknowledge(1, NOW + 2)
        undone = ben.undo_acknowledgement(1, NOW + 3)
        assert [each.author for each in undone.taken_back] == ["ben"]
        assert undone.left.by is not None
        assert undone.left.by.author == "anna"
        undone = ben.undo_acknowledgement(1, NOW + 4)
        assert [each.author for each in undone.taken_back] == ["anna"]
        assert undone.left.state is AckState.UNDONE
    assert [each[:2] + each[3:] for each in audit(path, make)] == [
        ("anna", "acknowledge", ""),
        ("ben", "take over", "from anna"),
        ("anna", "acknowledge", ""),
        ("ben", "undo acknowledgement", "of ben"),
        ("ben", "undo acknowledgement", "of anna"),
    ]


def test_several_at_once_or_none(path: Path, make: Any) -> None:
    """Each alert has its acknowledgement and its line of the audit; where one is refused, nothing is written."""
    with Store.open(path, kinds=make.kinds) as store:
        alerts = [make.alert(1, AlertState.FIRING, Severity.WARNING, started=1)]
        alerts += [replace(alerts[0], key=alerts[0].key._replace(instance=f"I{each}")) for each in range(3)]
        store.write(make.snapshot(1), make.verdict(*(Transition(each, None, Why.HELD) for each in alerts)))
    with StoreReader.open(path, kinds=make.kinds) as reader:
        numbers = [each.id for each in reader.alerts()]
    assert len(numbers) == 4
    with ActionClient.open(path, "anna") as client:
        with pytest.raises(StoreError, match="there is no alert 99"):
            client.acknowledge_all([*numbers, 99], NOW)
        assert audit(path, make) == []
        client.acknowledge_all(numbers, NOW, note="known")
        found = actions(path, make)
        assert [len(found.acknowledgements_of(each)) for each in numbers] == [1, 1, 1, 1]
        assert [(action, detail) for _, action, _, detail in audit(path, make)] == [("acknowledge", "known")] * 4
        with pytest.raises(StoreError, match="there is no alert 99"):
            client.undo_acknowledgements([*numbers, 99], NOW + 1)
        assert len(audit(path, make)) == 4
        undone = client.undo_acknowledgements(numbers, NOW + 1)
        assert [each.left.state.asks for each in undone] == [True] * 4
        assert len(audit(path, make)) == 8


def test_the_severity_of_the_moment_counts(path: Path, make: Any) -> None:
    with Store.open(path, kinds=make.kinds) as store, ActionClient.open(path, "anna") as anna:
        firing(store, make)
        anna.acknowledge(1, NOW)
        firing(store, make, 2, Severity.CRITICAL)
        with pytest.raises(StoreError, match="it is worse than when it was acknowledged"):
            anna.undo_acknowledgement(1, NOW)
        assert anna.acknowledge(1, NOW).state is AckState.ACKNOWLEDGED
        assert [each.severity for each in store.actions.read().acknowledgements_of(1)] == [
            Severity.WARNING,
            Severity.CRITICAL,
        ]


def test_an_ended_alert_is_marked_as_seen(path: Path, make: Any) -> None:
    """For good: a time until which would be none."""
    with Store.open(path, kinds=make.kinds) as store, ActionClient.open(path, "anna") as anna:
        firing(store, make)
        ended(store, make)
        anna.acknowledge(1, NOW, until=NOW + HOUR)
        (made,) = store.actions.read().acknowledgements_of(1)
        assert made.until is None
    assert audit(path, make)[0][3] == "it has ended"


def test_silences(path: Path, make: Any) -> None:
    matchers = tuple(map(parse_matcher, ("rule=Q-03", 'object=~"QM01/queue/P AY.*"', "severity!=critical")))
    with Store.open(path, kinds=make.kinds) as store, ActionClient.open(path, "anna") as anna:
        made = anna.add_silence(matchers, "batch until six", NOW + HOUR, NOW + 2 * HOUR, NOW)
        assert store.actions.read().silences == (made,)
        longer = anna.extend_silence(made.id, NOW + 3 * HOUR, NOW + 1)
        assert (longer.starts, longer.ends) == (NOW + HOUR, NOW + 3 * HOUR)
        over = anna.end_silence(made.id, NOW + 2)
        assert (over.starts, over.ends, over.active(NOW + 2)) == (NOW + 2, NOW + 2, False)
        assert store.actions.read().silences == (over,)
        with pytest.raises(StoreError, match="silence 1 has ended at 2025-11-20T12:01:40"):
            anna.end_silence(made.id, NOW + 3)
        with pytest.raises(StoreError, match="silence 1 has ended at 2025-11-20T12:01:40"):
            anna.extend_silence(made.id, NOW + DAY, NOW + 3)
    about = 'silence 1: rule=Q-03 object=~"QM01/queue/P AY.*" severity!=critical'
    assert audit(path, make) == [
        ("anna", "silence", about, "from 2025-11-20T13:01:40.000Z; until 2025-11-20T14:01:40.000Z; batch until six"),
        ("anna", "extend silence", about, "until 2025-11-20T15:01:40.000Z"),
        ("anna", "end silence", about, "until 2025-11-20T12:01:40.002Z"),
    ]


REFUSED: list[tuple[Callable[[ActionClient], object], str]] = [
    (lambda one: one.acknowledge(7, NOW), "there is no alert 7"),
    (lambda one: one.acknowledge(2, NOW), "alert 2 is still pending"),
    (lambda one: one.acknowledge(1, NOW, until=NOW), "which is over"),
    (lambda one: one.acknowledge(1, NOW, until=LAST_MOMENT + 1), "lasts a year at most"),
    (lambda one: one.acknowledge(1, NOW, note="\x1b[2J"), r"the note holds the character U\+001B"),
    (lambda one: one.acknowledge(1, NOW, note="\udcff"), r"the note holds the character U\+DCFF"),
    (lambda one: one.add_note(1, "a\u202eb", NOW), r"the note holds the character U\+202E"),
    (lambda one: one.add_note(1, " \n", NOW), "the note is empty"),
    (lambda one: one.add_note(1, "x" * (LONGEST_TEXT + 1), NOW), "the note has 1,001 characters"),
    (lambda one: one.add_silence((), "r", NOW, NOW + 1, NOW), "a silence without a matcher"),
    (lambda one: one.add_silence(OF_RULE * (MOST_MATCHERS + 1), "r", NOW, NOW + 1, NOW), "at most 20 matchers"),
    (lambda one: one.add_silence((parse_matcher("team!=x"),), "r", NOW, NOW + 1, NOW), "must ask for a value|none of"),
    (lambda one: one.add_silence(OF_RULE, " ", NOW, NOW + 1, NOW), "the reason is empty"),
    (lambda one: one.add_silence(OF_RULE, "r", NOW - 2, NOW, NOW), "which is over"),
    (lambda one: one.add_silence(OF_RULE, "r", NOW + 2, NOW + 1, NOW), "before it begins"),
    (
        lambda one: one.add_silence(OF_RULE, "r", NOW, NOW + LONGEST_SILENCE_MS + 1, NOW),
        "a silence lasts a year at most",
    ),
    (lambda one: one.end_silence(9, NOW), "there is no silence 9"),
]


def test_what_is_refused_changes_nothing(path: Path, make: Any) -> None:
    with Store.open(path, kinds=make.kinds) as store, ActionClient.open(path, "anna") as anna:
        waiting = make.alert(1, AlertState.PENDING, name="B")
        firing(store, make)
        store.write(make.snapshot(2), make.verdict(Transition(waiting, None, Why.CONDITION_HOLDS)))
        for action, words in REFUSED:
            with pytest.raises(StoreError, match=words) as raised:
                action(anna)
            assert raised.value.kind is StoreErrorKind.REFUSED
        assert store.actions.read() is NO_ACTIONS


def test_too_many_silences(path: Path, make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that have ended do not count."""
    monkeypatch.setattr("mqvitals_agent.store.rows.alerts.action_client.MOST_SILENCES", 2)
    with Store.open(path, kinds=make.kinds), ActionClient.open(path, "anna") as anna:
        for _ in range(2):
            anna.add_silence(OF_RULE, "r", NOW, NOW + 5, NOW)
        with pytest.raises(StoreError, match="there are 2 silences that have not ended"):
            anna.add_silence(OF_RULE, "r", NOW, NOW + 5, NOW)
        anna.add_silence(OF_RULE, "r", NOW + 5, NOW + 9, NOW + 5)


def test_a_program_that_acts_without_end(path: Path, make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mqvitals_agent.store.rows.alerts.action_client.MOST_OF_AN_ALERT", 2)
    with Store.open(path, kinds=make.kinds) as store, ActionClient.open(path, "anna") as anna:
        firing(store, make)
        for act in (lambda: anna.acknowledge(1, NOW), lambda: anna.add_note(1, "x", NOW)):
            for _ in range(2):
                act()
            with pytest.raises(StoreError, match="alert 1 has 2 rows of this kind already"):
                act()


def test_rows_that_no_client_has_written(path: Path, make: Any) -> None:
    """They are passed over; one without a matcher would silence everything."""
    with Store.open(path, kinds=make.kinds) as store, ActionClient.open(path, "anna") as anna:
        firing(store, make)
        anna.acknowledge(1, NOW)
        silence = anna.add_silence(OF_RULE, "r", NOW, NOW + 1, NOW)
        insert = (
            "INSERT INTO silence(matchers, author, reason, made_ts, starts_ts, ends_ts) VALUES(?, 'x', 'r', 1, 1, 9)"
        )
        for matchers in (
            "[]",
            "",
            "[" * 100_000,
            '{"rule": 1}',
            '["rule=~("]',
            '["rule!=x"]',
            "[1]",
            "null",
            '["\\ud800"]',
        ):
            store._connection.execute(insert, (matchers,))
        store._connection.execute(
            "INSERT INTO acknowledgement(alert_id, fingerprint, author, made_ts, severity, note)"
            " VALUES(1, '', 'x', 1, 'awful', '')"
        )
        found = store.actions.read()
    assert found.silences == (silence,)
    assert [each.author for each in found.acknowledgements_of(1)] == ["anna"]
    assert actions(path, make) == found


def test_a_failure_keeps_neither_the_action_nor_its_audit(path: Path, make: Any) -> None:
    with Store.open(path, kinds=make.kinds) as store, ActionClient.open(path, "anna") as anna:
        firing(store, make)
        anna._database.connection.set_authorizer(
            lambda what, table, *_: (
                sqlite3.SQLITE_DENY if (what, table) == (sqlite3.SQLITE_INSERT, "audit") else sqlite3.SQLITE_OK
            )
        )
        for act in (lambda: anna.add_note(1, "x", NOW), lambda: anna.acknowledge(1, NOW)):
            with pytest.raises(StoreError):
                act()
        assert store._connection.execute("SELECT count(*) FROM note").fetchone() == (0,)
        assert store._connection.execute("SELECT count(*) FROM acknowledgement").fetchone() == (0,)


@pytest.mark.parametrize("options", [{"replay": True}, {"records": True}])
def test_a_store_of_the_past_takes_no_action(path: Path, make: Any, options: dict[str, bool]) -> None:
    Store.open(path, kinds=make.kinds, **options).close()  # type: ignore[arg-type]
    with pytest.raises(StoreError, match=r"holds (a replay|SMF records): its alerts are past, and nobody acts on them"):
        ActionClient.open(path)


def test_what_people_did_goes_with_the_alert(path: Path, make: Any) -> None:
    """Silences after the same time, and the audit after a year; the last one of each stays, as its number."""
    with Store.open(path, kinds=make.kinds) as store, ActionClient.open(path, "anna") as anna:
        firing(store, make)
        anna.acknowledge(1, NOW)
        anna.add_note(1, "x", NOW)
        for _ in range(2):
            anna.add_silence(OF_RULE, "r", NOW, NOW + HOUR, NOW)
        ended(store, make)
        firing(store, make, 3)
        assert len(store.actions.read().acknowledgements_of(1)) == 1

        def deleted(now: int) -> list[int]:
            retention = Retention(store, RetentionPolicy.of(30 * DAY, None))
            while retention.step(now).more:
                pass
            tables = ("acknowledgement", "note", "silence", "audit")
            return [store._connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables]

        assert deleted(NOW + 29 * DAY) == [1, 1, 2, 4]
        assert deleted(NOW + 31 * DAY) == [0, 0, 1, 4]
        assert deleted(NOW + AUDIT_KEPT_MS + DAY) == [0, 0, 1, 1]
        assert [each.id for each in store.actions.read().silences] == [2]


def test_the_audit_is_kept_as_long_as_alerts_where_that_is_longer(path: Path, make: Any) -> None:
    with Store.open(path, kinds=make.kinds) as store, ActionClient.open(path, "anna") as anna:
        firing(store, make)
        for _ in range(2):
            anna.add_note(1, "x", NOW)
        for keep, left in ((None, 2), (2 * AUDIT_KEPT_MS, 2), (DAY, 1)):
            retention = Retention(store, RetentionPolicy.of(keep, None))
            while retention.step(NOW + AUDIT_KEPT_MS + DAY).more:
                pass
            assert store._connection.execute("SELECT count(*) FROM audit").fetchone() == (left,)


def test_times_that_are_none(path: Path, make: Any) -> None:
    """A reader passes over them, a writer drops them; a silence of next month is none of them, for the check either."""
    with Store.open(path, kinds=make.kinds) as store, ActionClient.open(path, "anna") as anna:
        firing(store, make)
        anna.acknowledge(1, NOW, until=NOW + 30 * DAY)
        anna.add_note(1, "x", NOW)
        anna.add_silence(OF_RULE, "r", NOW + 30 * DAY, NOW + 31 * DAY, NOW)
        anna.add_silence(OF_RULE, "r", NOW, NOW + 1, NOW)
    report = check(path, NOW)
    assert report.good
    assert {name: report.rows[name] for name in ("acknowledgement", "note", "silence", "audit")} == {
        "acknowledgement": 1,
        "note": 1,
        "silence": 2,
        "audit": 4,
    }
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE acknowledgement SET until_ts = ?", (LAST_MOMENT + 1,))
        connection.execute("UPDATE silence SET ends_ts = -5 WHERE id = 1")
    found = actions(path, make)
    assert (found.acknowledgements_of(1), [each.id for each in found.silences]) == ((), [2])
    with Store.open(path, kinds=make.kinds) as store:
        assert (store.repaired["acknowledgement"], store.repaired["silence"]) == (1, 1)
        assert len(store.actions.read().notes_of(1)) == 1


def test_a_repair_dates_what_a_wrong_clock_dated(path: Path, make: Any) -> None:
    """An acknowledgement or a silence is not lost for it."""
    ahead = NOW + 3 * DAY
    with Store.open(path, kinds=make.kinds) as store, ActionClient.open(path, "anna") as anna:
        firing(store, make)
        anna.acknowledge(1, ahead)
        anna.add_silence(OF_RULE, "r", ahead, ahead + DAY, ahead)
    assert check(path, NOW).ahead == {"acknowledgement": 1, "silence": 1, "audit": 2}
    _, report = repair(path, NOW)
    assert report.good
    found = actions(path, make)
    assert [each.made for each in found.acknowledgements_of(1)] == [each.made for each in found.silences] == [NOW]


@pytest.mark.parametrize("damaged", [False, True])
def test_a_new_file_gets_what_is_in_force(path: Path, make: Any, *, damaged: bool) -> None:
    """Under the same numbers. What is new is found by the number of the audit, which goes on."""
    resilient = ResilientStore(lambda now, busy: Store.open(path, kinds=make.kinds, busy_ms=busy), lambda: NOW)
    with closing(resilient) as store:
        firing(store, make)
        with ActionClient.open(path, "anna") as anna:
            anna.add_silence(OF_RULE, "over", NOW, NOW + 1, NOW)
            anna.add_silence(OF_RULE, "r", NOW, NOW + HOUR, NOW)
            anna.end_silence(1, NOW)
            anna.acknowledge(1, NOW, note="mine", until=NOW + HOUR)
            anna.add_note(1, "x", NOW)
        assert store.actions is NO_ACTIONS
        before = store.read_actions()
        assert store.actions is before
        if damaged:
            with path.open("r+b") as file:
                file.write(b"nothing of a store" * 9)
        else:
            path.unlink()
        store.retry()
        store.retry()
        assert store.take_incidents()
        assert store.actions.acknowledgements == before.acknowledgements
        after = store.read_actions()
        assert after is not before
        assert after.last == before.last + 1
        assert (after.acknowledgements, after.notes, after.silences) == (
            before.acknowledgements,
            before.notes,
            before.silences,
        )
        with ActionClient.open(path, "ben") as ben:
            assert ben.add_note(1, "y", NOW).id == 2
    assert audit(path, make)[0] == ("mqvitals", "carry over", "the store", "1 acknowledgement, 1 note, 2 silences")


def test_a_file_that_stays_keeps_what_it_has(path: Path, make: Any) -> None:
    """What was done in it since counts, and nothing is there twice."""
    resilient = ResilientStore(lambda now, busy: Store.open(path, kinds=make.kinds, busy_ms=busy), lambda: NOW)
    with closing(resilient) as store:
        firing(store, make)
        with ActionClient.open(path, "anna") as anna:
            anna.acknowledge(1, NOW)
            store.read_actions()
            anna.undo_acknowledgement(1, NOW + 1)
        store._memory.all_unwritten(NOW)
        store.retry()
    (made,) = actions(path, make).acknowledgements_of(1)
    assert made.undone == NOW + 1
    assert len(audit(path, make)) == 2


def test_the_author_is_the_user_of_the_operating_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one who logged in, where the system knows; not what the environment says."""
    for name in ("USER", "LOGNAME", "SUDO_USER"):
        monkeypatch.setenv(name, "somebody-else")
    author_of_process = pwd.getpwuid(os.getuid()).pw_name
    nobody = 2**32 - 2
    for login, name in (("0\n", "root"), (f"{nobody}\n", f"uid {nobody}"), ("none\n", ""), (f"{2**32 - 1}", "")):
        monkeypatch.setattr(Path, "read_text", lambda _, found=login: found)
        assert author_name() == (name or author_of_process)


AS_NOBODY = """
import os, sys
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.rows.alerts.action_client import ActionClient
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    with ActionClient.open(sys.argv[1]) as client:
        print(client.add_note(1, "here", 5).id)
except StoreError as error:
    print(error)
"""


def test_permissions(make: Any) -> None:
    """Who may only read the store cannot act, and is told what is missing."""
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        path = folder / "store.db"
        folder.chmod(0o755)

        def as_nobody() -> str:
            command = [sys.executable, "-c", AS_NOBODY, str(path)]
            return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout

        with Store.open(path, kinds=make.kinds, mode=0o644) as store:
            firing(store, make)
            assert "no permission for writing the store" in as_nobody()
        path.unlink()
        with Store.open(path, kinds=make.kinds, mode=0o666) as store:
            firing(store, make)
            assert as_nobody() == "1\n"
            assert len(store.actions.read().notes_of(1)) == 1


def test_the_look_of_each_second_reads_one_row(path: Path, make: Any) -> None:
    with Store.open(path, kinds=make.kinds) as store:
        seen: list[str] = []
        store._connection.set_trace_callback(seen.append)
        store.actions.read()
        store._connection.set_trace_callback(None)
        (statement,) = seen
        plan = [row[3] for row in store._connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
    assert not any("SCAN audit" in step for step in plan)


OPERATOR = """
import sys
from mqvitals_agent.store.rows.alerts.action_client import ActionClient
with ActionClient.open(sys.argv[1], sys.argv[2]) as client:
    for number in range(int(sys.argv[3])):
        client.acknowledge(1, 1_000 + number, note=f"{sys.argv[2]} {number}")
        client.add_note(1, f"{sys.argv[2]} {number}", 1_000 + number)
"""


def test_two_people_beside_a_writing_agent(path: Path, make: Any, soak: bool) -> None:
    """Nothing of either is lost, one of them has the alert, and the agent goes on writing."""
    times = 200 if soak else 20
    with Store.open(path, kinds=make.kinds) as store:
        firing(store, make)
        people = [
            subprocess.Popen([sys.executable, "-c", OPERATOR, str(path), name, str(times)]) for name in ("anna", "ben")
        ]
        cycle, known = 2, NO_ACTIONS
        while any(each.poll() is None for each in people):
            store.write(make.snapshot(cycle, make.status(cycle, depth=cycle)), make.verdict())
            seen = store.actions.read(known)
            assert (seen is known) is (seen.last == known.last)
            cycle, known = cycle + 1, seen
        assert [each.wait() for each in people] == [0, 0]
        seen = store.actions.read(known)
        written = {f"{name} {number}" for name in ("anna", "ben") for number in range(times)}
        assert {each.note for each in seen.acknowledgements_of(1)} == written
        assert {each.text for each in seen.notes_of(1)} == written
        assert seen.last == 4 * times
        (stored,) = store.alerts.firing()
        first = acknowledgement_of(stored.alert, seen.acknowledgements_of(1), NOW).by
        assert first is not None
        assert first.made == 1_000
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert len(reader.snapshot_times("QM01", cycle)) == cycle - 1
