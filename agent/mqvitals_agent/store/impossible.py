"""Rows that are dated outside any calendar: counted, passed over by those who read, dropped or put right by the writer.

No writer of ours makes them now; older versions took them over from SMF records with a damaged clock. One such row must not
keep a store from being read, nor an agent from storing.
"""

# ruff: noqa: S608 - the names of tables and columns are our own; everything else is a bound parameter
from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping

from mqvitals_agent.store.cell import LAST_MOMENT
from mqvitals_agent.store.table import KindTables

FIRST_MOMENT = 1
"""Ms since 1970: the first time that a clock can show."""

_QUICK = ("owner", "object", "reading", "alert", "request", "receiver")
"""Tables of few rows, which are looked through at every start."""

_TIMES = {
    "owner": ("first_ts", "last_ts"),
    "object": ("first_ts", "gone_ts"),
    "reading": ("ts", "asked"),
    "alert": ("since", "updated", "started", "ended", "good_since"),
    "alert_transition": ("ts",),
    "notice": ("made_ts", "done_ts", "refused_ts"),
    "receiver": ("since_ts", "accepted_ts", "failing_ts"),
    "request": ("asked_ts",),
    "message": ("ts", "last_ts"),
    "smf_part": ("ts",),
    "record": ("ts",),
}
"""The times of each table that is not made from the vocabulary; NULL is none. Samples and snapshots are found by their keys."""


def possible(column: str) -> str:
    """A condition: the time in a column is one, or is not there. For a last moment of the calendar."""
    return f"({column} IS NULL OR {column} BETWEEN {FIRST_MOMENT} AND {LAST_MOMENT})"


def count_impossible(
    connection: sqlite3.Connection, tables: Iterable[KindTables], *, latest: int = LAST_MOMENT, deep: bool = False
) -> Counter[str]:
    """How many rows of each table are dated before 1970 or after ``latest``, ms UTC; tables without any are not in it.

    Where looking costs more than a few milliseconds, only with ``deep``. Raises sqlite3.Error.
    """
    found: Counter[str] = Counter()
    bounds = {"first": FIRST_MOMENT, "latest": latest}
    for each in tables:
        for where in ("ts < :first", "ts > :latest"):
            found[each.history] += _count(connection, f"{each.history} WHERE {where}", bounds)
    for where in ("ts < :first", "ts > :latest"):
        found["snapshot"] += _count(connection, f"snapshot WHERE owner IN (SELECT name FROM owner) AND {where}", bounds)
    found["hour_mean"] += _count(connection, "hour_mean WHERE hour < :first - 1", bounds)
    found["hour_mean"] += _count(connection, "hour_mean WHERE hour > :latest", bounds)
    for table in _TIMES if deep else _QUICK:
        found[table] += _count(connection, f"{table} WHERE {_wrong(table)}", bounds)
    return +found


def drop_impossible(connection: sqlite3.Connection, tables: Iterable[KindTables], *, latest: int = LAST_MOMENT) -> None:
    """Drop such rows, or put their times right where the row says more than its time.

    The caller owns the transaction. Raises sqlite3.Error.
    """
    bounds = {"first": FIRST_MOMENT, "latest": latest}
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
    for table in ("snapshot", "smf_record"):
        run(f"DELETE FROM {table} WHERE ts < :first OR ts > :latest", bounds)
    run("DELETE FROM hour_mean WHERE hour < :first - 1 OR hour > :latest", bounds)
    wrong = "SELECT object_id, probe FROM reading WHERE " + _wrong("reading")
    for each in every:
        # What it told last is learnt again from the next answer.
        run(f"DELETE FROM {each.current} WHERE (object_id, probe) IN ({wrong})", bounds)
        run(f"DELETE FROM {each.current} WHERE changed < :first OR changed > :latest", bounds)
    run(f"DELETE FROM notice WHERE alert_id IN (SELECT id FROM alert WHERE {_wrong('alert')})", bounds)
    run(f"DELETE FROM alert_transition WHERE alert_id IN (SELECT id FROM alert WHERE {_wrong('alert')})", bounds)
    for table in ("reading", "alert", "alert_transition", "request", "message", "smf_part", "record"):
        run(f"DELETE FROM {table} WHERE {_wrong(table)}", bounds)
    # What is owed stays owed.
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
    _put_owners_right(connection, bounds)
    run(
        "UPDATE object SET first_ts = coalesce((SELECT first_ts FROM owner WHERE name = object.owner), :first)"
        " WHERE first_ts < :first OR first_ts > :latest",
        bounds,
    )
    run("UPDATE object SET gone_ts = NULL WHERE gone_ts < :first OR gone_ts > :latest", bounds)


def _put_owners_right(connection: sqlite3.Connection, bounds: Mapping[str, int]) -> None:
    """When an owner was first and last heard of follows from what is left of it; of whom nothing is left, it goes."""
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
    return " OR ".join(f"{column} < :first OR {column} > :latest" for column in _TIMES[table])


def _count(connection: sqlite3.Connection, rows: str, bounds: Mapping[str, int]) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {rows}", bounds).fetchone()[0])
