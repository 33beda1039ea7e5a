"""Times that no writer of ours stores, and a clock that was set back.

The times of an owner grow: the newest sample is the last one, and a sample has its place by time and object. So
before a later cycle is stored at an earlier time, what the owner has at or after it is deleted or dated by it.
"""

# ruff: noqa: S608 - the names of tables and columns are our own; everything else is a bound parameter
from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping

from mqvitals_agent.store.rows.sealed.unseal import count_chunks_outside, drop_chunks_outside, rewind_chunks
from mqvitals_agent.store.rows.tables import LAST_MOMENT, POLL, KindTables
from mqvitals_rules.snapshot import Snapshot

FIRST_MOMENT = 1
"""Ms since 1970: the first time that a clock can show."""

_QUICK = ("owner", "object", "reading", "alert", "request", "receiver", "acknowledgement", "note", "silence")
"""Tables of few rows, which are looked through at every start."""

_TIMES = {
    "owner": ("first_ts", "last_ts"),
    "object": ("first_ts", "gone_ts"),
    "reading": ("ts", "asked"),
    "alert": ("since", "updated", "started", "ended", "good_since"),
    "alert_transition": ("ts",),
    "notice": ("made_ts", "done_ts", "refused_ts"),
    "receiver": ("since_ts", "accepted_ts", "failing_ts"),
    "resent": ("ends_ts",),
    "request": ("asked_ts",),
    "acknowledgement": ("made_ts", "undone_ts"),
    "note": ("made_ts",),
    "silence": ("made_ts",),
    "audit": ("ts",),
    "message": ("ts", "last_ts"),
    "change": ("ts", "before_ts"),
    "journal": ("ts", "before_ts"),
    "smf_part": ("ts",),
    "record": ("ts",),
}
"""The times of each table that is not made from the vocabulary; NULL is none.

Samples and snapshots are found by their keys.
"""

_PLANNED = {"acknowledgement": ("until_ts",), "silence": ("starts_ts", "ends_ts")}
"""Times that may lie ahead of the clock."""

OF_ALERTS = ("notice", "alert_transition", "acknowledgement", "note")
"""Tables whose rows go with their alert."""

OF_PEOPLE = ("acknowledgement", "note", "silence", "audit")
"""Tables of what people did."""

_DROPPED = (
    *("reading", "alert", "alert_transition", "resent", "request", "message", "change", "journal", "smf_part"),
    "record",
    *OF_PEOPLE,
)
"""Tables whose rows are worth nothing without their times."""


def valid_time(column: str) -> str:
    """A condition: the time in a column is one, or is not there. For a last moment of the calendar."""
    return f"({column} IS NULL OR {column} BETWEEN {FIRST_MOMENT} AND {LAST_MOMENT})"


def count_invalid_times(
    connection: sqlite3.Connection, tables: Iterable[KindTables], *, latest: int = LAST_MOMENT, deep: bool = False
) -> Counter[str]:
    """How many rows of each table are dated before 1970 or after ``latest``, ms UTC; tables without any are not in it.

    Where looking costs more than a few milliseconds, only with ``deep``. Raises sqlite3.Error.
    """
    found: Counter[str] = Counter()
    bounds = {"first": FIRST_MOMENT, "latest": latest, "last": LAST_MOMENT}
    for each in tables:
        for where in ("ts < :first", "ts > :latest"):
            found[each.history] += _count(connection, f"{each.history} WHERE {where}", bounds)
    for where in ("ts < :first", "ts > :latest"):
        found["snapshot"] += _count(connection, f"snapshot WHERE owner IN (SELECT name FROM owner) AND {where}", bounds)
    found["chunk"] += count_chunks_outside(connection, latest)
    found["hour_mean"] += _count(connection, "hour_mean WHERE hour < :first - 1", bounds)
    found["hour_mean"] += _count(connection, "hour_mean WHERE hour > :latest", bounds)
    for table in _TIMES if deep else _QUICK:
        found[table] += _count(connection, f"{table} WHERE {_wrong(table)}", bounds)
    return +found


def drop_invalid_times(
    connection: sqlite3.Connection, tables: Iterable[KindTables], *, latest: int = LAST_MOMENT
) -> None:
    """Drop such rows, or correct their times where a row holds more than its time.

    The caller owns the transaction. Raises sqlite3.Error.
    """
    bounds = {"first": FIRST_MOMENT, "latest": latest, "last": LAST_MOMENT}
    run = connection.execute
    every = list(tables)
    for each in every:
        for where in ("ts < :first", "ts > :latest"):
            run(
                f"DELETE FROM record WHERE (object_id, source, ts) IN"
                f" (SELECT object_id, source, ts FROM {each.history} WHERE {where})",
                bounds,
            )
            run(f"DELETE FROM {each.history} WHERE {where}", bounds)
    drop_chunks_outside(connection, latest)
    for table in ("snapshot", "smf_record"):
        run(f"DELETE FROM {table} WHERE ts < :first OR ts > :latest", bounds)
    run("DELETE FROM hour_mean WHERE hour < :first - 1 OR hour > :latest", bounds)
    wrong = "SELECT object_id, probe FROM reading WHERE " + _wrong("reading")
    for each in every:
        # The next answer brings the values again.
        run(f"DELETE FROM {each.current} WHERE (object_id, probe) IN ({wrong})", bounds)
        run(f"DELETE FROM {each.current} WHERE changed < :first OR changed > :latest", bounds)
    for table in OF_ALERTS:
        run(f"DELETE FROM {table} WHERE alert_id IN (SELECT id FROM alert WHERE {_wrong('alert')})", bounds)
    for table in _DROPPED:
        run(f"DELETE FROM {table} WHERE {_wrong(table)}", bounds)
    # What is pending stays pending.
    run(
        "UPDATE notice SET made_ts = max(:first, min(made_ts, :latest)) WHERE made_ts < :first OR made_ts > :latest",
        bounds,
    )
    run("UPDATE notice SET done_ts = made_ts WHERE done_ts < :first OR done_ts > :latest", bounds)
    run("UPDATE notice SET refused_ts = made_ts WHERE refused_ts < :first OR refused_ts > :latest", bounds)
    run("UPDATE notice SET next_ts = 0 WHERE next_ts < :first - 1 OR next_ts > :latest", bounds)
    run("UPDATE receiver SET since_ts = :first WHERE since_ts < :first OR since_ts > :latest", bounds)
    for column in ("accepted_ts", "failing_ts"):
        run(f"UPDATE receiver SET {column} = NULL WHERE {column} < :first OR {column} > :latest", bounds)
    _correct_owners(connection, bounds)
    run(
        "UPDATE object SET first_ts = coalesce((SELECT first_ts FROM owner WHERE name = object.owner), :first)"
        " WHERE first_ts < :first OR first_ts > :latest",
        bounds,
    )
    run("UPDATE object SET gone_ts = NULL WHERE gone_ts < :first OR gone_ts > :latest", bounds)


def _correct_owners(connection: sqlite3.Connection, bounds: Mapping[str, int]) -> None:
    """The times of an owner follow from its snapshots or records; an owner without any is deleted."""
    names = connection.execute(f"SELECT name FROM owner WHERE {_wrong('owner')}", bounds).fetchall()
    for (name,) in names:
        first, last = connection.execute("SELECT min(ts), max(ts) FROM snapshot WHERE owner = ?", (name,)).fetchone()
        if last is None:
            first, last = connection.execute(
                "SELECT min(r.ts), max(r.ts) FROM object AS o JOIN record AS r ON r.object_id = o.id WHERE o.owner = ?",
                (name,),
            ).fetchone()
        if last is None:
            connection.execute("DELETE FROM owner WHERE name = ?", (name,))
        else:
            connection.execute("UPDATE owner SET first_ts = ?, last_ts = ? WHERE name = ?", (first, last, name))


def _wrong(table: str) -> str:
    wrong = [f"{column} < :first OR {column} > :latest" for column in _TIMES[table]]
    wrong += [f"{column} < :first OR {column} > :last" for column in _PLANNED.get(table, ())]
    return " OR ".join(wrong)


def _count(connection: sqlite3.Connection, rows: str, bounds: Mapping[str, int]) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {rows}", bounds).fetchone()[0])


_ALERT_TIMES = _TIMES["alert"]


def is_ahead_of_clock(connection: sqlite3.Connection, snapshot: Snapshot) -> bool:
    """Whether the owner's last snapshot is of an earlier cycle than this one, and of a later time.

    Raises sqlite3.Error.
    """
    last = connection.execute("SELECT last_ts, last_cycle FROM owner WHERE name = ?", (snapshot.owner,)).fetchone()
    return last is not None and last[1] > 0 and snapshot.cycle > last[1] and snapshot.ts < last[0]


def rewind(connection: sqlite3.Connection, tables: Iterable[KindTables], owner: str, ts: int) -> None:
    """Bring everything of ``owner`` before ``ts``, ms UTC. The caller owns the transaction. Raises sqlite3.Error.

    Samples, snapshots and hourly means at or after ``ts`` are deleted. Records keep the times that the queue manager
    gave them. Current state, objects and alerts stay, dated ``ts`` at most; an ended alert keeps the identity by
    which it is known.
    """
    run = connection.execute
    bounds: Mapping[str, str | int] = {"owner": owner, "ts": ts}
    objects = "SELECT id FROM object WHERE owner = :owner"
    run("DELETE FROM snapshot WHERE owner = :owner AND ts >= :ts", bounds)
    run(f"DELETE FROM stored_samples WHERE owner = :owner AND source = {POLL} AND last_ts >= :ts", bounds)
    run(f"DELETE FROM hour_mean WHERE hour >= :ts AND object_id IN ({objects})", bounds)
    every = list(tables)
    rewind_chunks(connection, every, owner, ts)
    for each in every:
        run(
            f"DELETE FROM {each.history} WHERE ts >= :ts AND source = {POLL} AND object_id IN ({objects})",
            bounds,
        )
        run(
            f"UPDATE {each.current} SET changed = :ts WHERE changed > :ts AND source = {POLL} AND object_id IN ({objects})",
            bounds,
        )
        run(
            # Earlier than what comes now, which is no late answer.
            "UPDATE reading SET ts = min(ts, :ts - 1), asked = min(asked, :ts - 1) WHERE asked >= :ts AND (object_id, probe)"
            f" IN (SELECT object_id, probe FROM {each.current} WHERE source = {POLL} AND object_id IN ({objects}))",
            bounds,
        )
    run(f"UPDATE reading SET asked = :ts - 1 WHERE asked >= :ts AND ts IS NULL AND object_id IN ({objects})", bounds)
    run(f"UPDATE instance SET ts = :ts WHERE ts > :ts AND object_id IN ({objects})", bounds)
    for table in ("change", "journal"):
        run(
            f"UPDATE {table} SET ts = min(ts, :ts), before_ts = min(before_ts, :ts) WHERE owner = :owner AND ts > :ts",
            bounds,
        )
    run("UPDATE object SET first_ts = min(first_ts, :ts), gone_ts = min(gone_ts, :ts) WHERE owner = :owner", bounds)
    # Open ones are dated anew by the engine.
    _date_alerts(connection, "scope_owner = :owner AND state = 'resolved'", bounds)
    run("UPDATE owner SET first_ts = min(first_ts, :ts), last_ts = :ts WHERE name = :owner", bounds)


def date_alerts_ahead(connection: sqlite3.Connection, ts: int, latest: int) -> None:
    """Date alerts, what people did about them and notifications ``ts`` at most that lie further ahead than ``latest``, both ms UTC."""
    bounds = {"ts": ts, "latest": latest, "last": LAST_MOMENT}
    ahead = f"max({', '.join(f'coalesce({column}, 0)' for column in _ALERT_TIMES)})"
    _date_alerts(connection, f"{ahead} BETWEEN :latest + 1 AND :last", bounds)
    for table, column in (("notice", "made_ts"), *((table, _TIMES[table][0]) for table in OF_PEOPLE)):
        connection.execute(f"UPDATE {table} SET {column} = :ts WHERE {column} BETWEEN :latest + 1 AND :last", bounds)
    connection.execute(
        "UPDATE acknowledgement SET undone_ts = :ts WHERE undone_ts BETWEEN :latest + 1 AND :last", bounds
    )


def _date_alerts(connection: sqlite3.Connection, where: str, bounds: Mapping[str, str | int]) -> None:
    connection.execute(
        f"UPDATE alert_transition SET ts = :ts WHERE ts > :ts AND alert_id IN (SELECT id FROM alert WHERE {where})",
        bounds,
    )
    connection.execute(
        "UPDATE alert SET identity = coalesce(identity, started), "
        + ", ".join(f"{column} = min({column}, :ts)" for column in _ALERT_TIMES)
        + f" WHERE max({', '.join(f'coalesce({column}, 0)' for column in _ALERT_TIMES)}) > :ts AND {where}",
        bounds,
    )
