"""The alerts of one store, followed in another: after every change both know the same, under numbers of their own."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.file.migration import make_tables
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.result import AgentStanding
from mqvitals_agent.store.rows.alerts.action_client import ActionClient
from mqvitals_agent.store.rows.alerts.alert_feed import (
    NOTHING,
    FeedChange,
    FeedError,
    FeedState,
    changes_from,
    changes_json,
    changes_of,
    read_feed,
)
from mqvitals_agent.store.rows.alerts.followed_alerts import FollowedAlerts
from mqvitals_agent.store.writer import Store

IDENTITY = "a.rule, a.owner, a.kind, a.name, a.instance, a.since"
NOW = 1_795_176_000_000


@contextmanager
def tables() -> Iterator[sqlite3.Connection]:
    connection = make_tables(sqlite3.connect(":memory:", isolation_level=None))
    try:
        yield connection
    finally:
        connection.close()


def put_alert(db: sqlite3.Connection, name: str, state: str, since: int, started: int | None = None) -> int:
    """An alert about a queue; returns its number."""
    ended = since + 900 if state == "resolved" else None
    db.execute(
        "INSERT INTO alert(rule, owner, kind, name, instance, scope_owner, scope_kind, scope_name, kind_of_rule, family, state,"
        " severity, worst, since, updated, started, ended, why, summary, true_polls, good_polls, unknown_polls)"
        " VALUES('Q-02', 'QM01', 'queue', ?, '', 'QM01', 'queue', ?, 'operational', '', ?, 'warning', 'warning', ?, ?, ?, ?,"
        " 'HELD', 'words', 1, 0, 0)",
        (name, name, state, since, since, started, ended),
    )
    return int(db.execute("SELECT last_insert_rowid()").fetchone()[0])


def put_notice(db: sqlite3.Connection, alert: int, receiver: str, status: str, *, done: bool, others: int = 0) -> None:
    """A notification about an alert, in one with the row before where there are ``others``."""
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM notice").fetchone()
    (number,) = db.execute("SELECT coalesce(max(number), 0) FROM notice").fetchone()
    db.execute(
        "INSERT INTO notice(id, alert_id, receiver, status, severity, fingerprint, made_ts, payload, done_ts, outcome, number)"
        " VALUES(?, ?, ?, ?, 'warning', 'abc', ?, '{}', ?, ?, ?)",
        (
            last + 1,
            alert,
            receiver,
            status,
            NOW + last,
            NOW if done else None,
            "accepted" if done else None,
            number if others and number else last + 1,
        ),
    )


def history(db: sqlite3.Connection) -> None:
    """What the other store has of its own from earlier: ended alerts, one that it believes to be open, and notices."""
    for number in range(5):
        ended = put_alert(db, f"OLD.{number}", "resolved", NOW - 50_000 + number, NOW - 49_000)
        put_notice(db, ended, "ops", "resolved", done=True)
    put_notice(db, put_alert(db, "STALE", "firing", NOW - 9_000, NOW - 8_000), "ops", "firing", done=False)
    put_alert(db, "APPL.1", "firing", NOW - 7_000, NOW - 6_000)
    put_alert(db, "PENDING", "pending", NOW - 7_000)
    db.execute("INSERT INTO receiver(name, since_ts) VALUES('old', 1)")


def known(db: sqlite3.Connection) -> dict[str, Any]:
    """What is open, what was told of it and what waits, without numbers."""
    live = "a.state <> 'resolved' OR a.ending = 1"
    rows = {
        "alert": f"SELECT {IDENTITY}, a.state, a.started, a.ending, a.muted, a.updated, a.true_polls FROM alert AS a WHERE {live}",
        "alert_transition": f"SELECT {IDENTITY}, t.ts, t.state FROM alert_transition AS t JOIN alert AS a ON a.id = alert_id WHERE {live}",
        "notice": f"SELECT {IDENTITY}, n.receiver, n.status, n.made_ts, n.done_ts, n.outcome, n.attempts FROM notice AS n"
        f" JOIN alert AS a ON a.id = n.alert_id WHERE {live} OR n.done_ts IS NULL",
        "together": f"SELECT {IDENTITY}, n.made_ts, m.made_ts FROM notice AS n JOIN alert AS a ON a.id = n.alert_id"
        f" JOIN notice AS m ON m.number = n.number JOIN alert AS b ON b.id = m.alert_id WHERE ({live}) AND"
        " (b.state <> 'resolved' OR b.ending = 1)",
        "resent": f"SELECT {IDENTITY}, r.receiver, r.identity, r.ends_ts FROM resent AS r JOIN alert AS a ON a.id = r.alert_id WHERE {live}",
        "receiver": "SELECT * FROM receiver",
        "alert_group": "SELECT * FROM alert_group",
        "silence": "SELECT matchers, author, made_ts, ends_ts FROM silence",
        "acknowledgement": f"SELECT {IDENTITY}, k.author, k.made_ts, k.undone_ts FROM acknowledgement AS k JOIN alert AS a"
        f" ON a.id = k.alert_id WHERE {live}",
    }
    return {name: sorted(db.execute(sql).fetchall(), key=repr) for name, sql in rows.items()}


class Active:
    """The store of an active agent, in which things happen."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.now = NOW
        self.number = 0

    def do(self, what: str, which: int) -> None:
        self.now += 1_000
        db = self.db
        opened = [row[0] for row in db.execute("SELECT id FROM alert WHERE state <> 'resolved' ORDER BY id")]
        alert = opened[which % len(opened)] if opened else 0
        if what == "begin":
            name = f"APPL.{which}"
            if not db.execute("SELECT 1 FROM alert WHERE name = ? AND state <> 'resolved'", (name,)).fetchone():
                # Numbers are given once, also where a row is deleted.
                self.number += 1
                db.execute(
                    "UPDATE alert SET id = ? WHERE id = ?", (self.number, put_alert(db, name, "pending", self.now))
                )
                db.execute(
                    "INSERT INTO alert_transition(id, ts, alert_id, state, severity, why)"
                    " VALUES(?, ?, ?, 'pending', 'warning', 'HELD')",
                    (self.number, self.now, self.number),
                )
        elif what == "fire":
            db.execute(
                "UPDATE alert SET state = 'firing', started = ?, updated = ? WHERE id = ?", (self.now, self.now, alert)
            )
        elif what == "tell" and alert:
            put_notice(db, alert, "ops", "firing", done=False, others=which % 2)
        elif what == "deliver":
            db.execute("UPDATE notice SET done_ts = ?, outcome = 'accepted' WHERE done_ts IS NULL", (self.now,))
        elif what == "end":
            db.execute(
                "UPDATE alert SET state = 'resolved', ended = ?, ending = ? WHERE id = ?", (self.now, which % 2, alert)
            )
        elif what == "told":
            db.execute("UPDATE alert SET ending = 0 WHERE state = 'resolved'")
        elif (
            what == "break" and db.execute("SELECT 1 FROM alert WHERE id = ? AND started IS NULL", (alert,)).fetchone()
        ):
            db.execute("DELETE FROM alert_transition WHERE alert_id = ?", (alert,))
            db.execute("DELETE FROM notice WHERE alert_id = ?", (alert,))
            db.execute("DELETE FROM alert WHERE id = ? AND started IS NULL", (alert,))
        elif what == "receiver":
            db.execute(
                "INSERT OR REPLACE INTO receiver(name, since_ts, failing_ts) VALUES(?, 1, ?)",
                (f"r{which % 3}", self.now),
            )
            db.execute("DELETE FROM receiver WHERE name = ?", (f"r{(which + 1) % 3}",))
        elif what == "group":
            db.execute(
                "INSERT OR REPLACE INTO alert_group(receiver, key, labels, told_ts) VALUES('ops', ?, '{}', ?)",
                (str(which), self.now),
            )
        elif what == "resend" and alert:
            db.execute(
                "INSERT OR REPLACE INTO resent(alert_id, receiver, identity, severity, payload) VALUES(?, 'am', ?, 'warning', '{}')",
                (alert, str(which)),
            )
        elif what == "silence":
            db.execute("UPDATE silence SET ends_ts = ?", (self.now,))
            db.execute(
                "INSERT INTO silence(matchers, author, reason, made_ts, starts_ts, ends_ts) VALUES('[]', 'me', '', ?, 1, 2)",
                (self.now,),
            )
        elif what == "acknowledge" and alert:
            db.execute("UPDATE acknowledgement SET undone_ts = ?", (self.now,))
            db.execute(
                "INSERT INTO acknowledgement(alert_id, fingerprint, author, made_ts, severity, note) VALUES(?, 'abc', 'me', ?,"
                " 'warning', '')",
                (alert, self.now),
            )


WHATS = (
    *("begin", "fire", "tell", "deliver", "end", "told", "break", "receiver", "group", "resend", "silence"),
    "acknowledge",
)
STEPS = st.lists(
    st.tuples(st.sampled_from(WHATS), st.integers(0, 5), st.sampled_from(["", "look", "begin"])), max_size=40
)


@settings(deadline=None)
@given(STEPS)
def test_what_is_followed_is_the_same(steps: list[tuple[str, int, str]]) -> None:
    """After each look the other store knows what this one does; what it had itself has ended, and its history is kept."""
    with tables() as ours, tables() as theirs:
        active = Active(ours)
        history(theirs)
        kept = "SELECT rule, name, since, started, ended FROM alert WHERE name LIKE 'OLD%'"
        before = set(theirs.execute(kept))
        state, followed = NOTHING, None
        for what, which, look in (*steps, ("told", 0, "look"), ("end", 1, "look")):
            active.do(what, which)
            if not look:
                continue
            if look == "begin" or followed is None:
                state, followed = read_feed(ours), None
            else:
                now = read_feed(ours, state)
                sent = changes_from(json.loads(json.dumps(changes_json(changes_of(state, now)))))
                followed.apply(theirs, sent, active.now)
                state = now
            if followed is None:
                followed = FollowedAlerts(theirs, changes_of(NOTHING, state), active.now)
            assert known(theirs) == known(ours)
        assert set(theirs.execute(kept)) == before
        (stale,) = theirs.execute("SELECT state, ended FROM alert WHERE name = 'STALE'")
        assert stale == ("resolved", NOW - 8_000)
        assert not theirs.execute("SELECT 1 FROM alert WHERE name = 'PENDING'").fetchall()
        # Numbers are given once, and each row refers to what is there.
        for table in ("alert_transition", "notice"):
            assert not theirs.execute(f"SELECT 1 FROM {table} WHERE alert_id NOT IN (SELECT id FROM alert)").fetchall()


ROWS = st.dictionaries(
    st.tuples(st.sampled_from(["alert", "receiver"]), st.tuples(st.integers(0, 5))),
    st.tuples(st.integers(0, 3)),
    max_size=8,
)


@given(ROWS, ROWS)
def test_changes_make_the_next_state_of_the_one_before(before: dict[Any, Any], now: dict[Any, Any]) -> None:
    """Whatever has come, differs or is gone; and nothing else is said."""
    columns = {"alert": ("id",), "receiver": ("name",)}
    changes = changes_of(FeedState(columns, before), FeedState(columns, now))
    rows = dict(before)
    for each in changes:
        if each.row is None:
            assert rows.pop((each.table, each.key)) is not None
        else:
            values = tuple(each.row.values())
            assert rows.get((each.table, each.key)) != values
            rows[each.table, each.key] = values
    assert rows == now


@pytest.mark.parametrize(
    "found",
    [
        {},
        [[]],
        [["alert", 1, None]],
        [["alert", [], None]],
        [["alert", [[1]], None]],
        [["alert", [1], {"state": "firing"}]],
        [["alert", [1], {"id": {}}]],
        [["alert", [1], []]],
    ],
)
def test_what_is_no_change_is_refused(found: Any) -> None:
    """With an error that says so."""
    with pytest.raises(FeedError, match="change"):
        changes_from(found)


def test_a_table_that_is_not_known_is_passed_over() -> None:
    """A newer agent may keep more."""
    assert changes_from([["later", [1, 2], {"x": 1}], ["receiver", ["ops"], None]]) == [
        FeedChange("receiver", ("ops",), None)
    ]


def test_a_store_follows_another(tmp_path: Path) -> None:
    """All or nothing; after a failure all must come again."""
    with Store.open(tmp_path / "a.db") as active:
        put_alert(active.database.connection, "APPL.1", "firing", NOW, NOW)
        put_notice(active.database.connection, 1, "ops", "firing", done=True)
    with StoreReader.open(tmp_path / "a.db") as reader:
        state = reader.feed()
    with Store.open(tmp_path / "b.db") as other:
        with pytest.raises(FeedError, match="of what"):
            other.follow([], NOW, whole=False)
        other.follow(changes_of(NOTHING, state), NOW, whole=True)
        other.follow([FeedChange("receiver", ("ops",), {"name": "ops", "since_ts": 1, "later": 2})], NOW, whole=False)
        assert [each.name for each in other.notifications.receivers()] == ["ops"]
        broken = [FeedChange("receiver", ("am",), {"name": "am"})]
        with pytest.raises(FeedError, match="do not fit"):
            other.follow(broken, NOW, whole=False)
        with pytest.raises(FeedError, match="of what"):
            other.follow([], NOW, whole=False)
        odd = [replace(each, row={**each.row, "why": "LATER"}) for each in changes_of(NOTHING, state) if each.row]
        with pytest.raises(FeedError, match="do not fit"):
            other.follow(odd, NOW, whole=True)
        (alert,) = other.alerts.all_open()
        assert (alert.key.object.name, alert.started) == ("APPL.1", NOW)


def test_nobody_acts_where_nobody_decides(tmp_path: Path) -> None:
    """What people do at the store of an agent that waits would be in force nowhere: it is refused, with where to go."""
    path = tmp_path / "s.db"
    with Store.open(path) as store:
        store.note_standing(AgentStanding("standby", NOW, "it waits", "mon2"))
        with pytest.raises(StoreError, match="standby of mon2"):
            ActionClient.open(path)
        store.note_standing(AgentStanding("active", NOW))
        ActionClient.open(path).close()
        store.note_standing(AgentStanding("standby", NOW))
    # Its agent has ended: the store is like any other.
    ActionClient.open(path).close()
