"""All that decides about alerts and their notifications, as rows with keys, and how one state differs from the next.

Another agent that has these rows goes on where this one ends: with the same alerts and their beginnings, what receivers were
told and what waits for them, and what people did. Rows carry the numbers of the store that they come from.
"""

# ruff: noqa: S608 - the names of tables and columns are our own; everything else is a bound parameter
from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from mqvitals_agent.errors import MqvitalsError


class FeedError(MqvitalsError):
    """What another agent sent cannot be taken over. The message is a clause."""


class FeedTable(NamedTuple):
    """A table of the feed: the columns of its key, and the column that names the alert of a row, empty for none."""

    name: str
    key: tuple[str, ...]
    alert: str = ""


FEED_TABLES: Final = (
    FeedTable("receiver", ("name",)),
    FeedTable("alert", ("id",), "id"),
    FeedTable("alert_transition", ("id",), "alert_id"),
    FeedTable("notice", ("id",), "alert_id"),
    FeedTable("alert_group", ("receiver", "key")),
    FeedTable("resent", ("receiver", "identity"), "alert_id"),
    FeedTable("report", ("name", "receiver")),
    FeedTable("acknowledgement", ("id",), "alert_id"),
    FeedTable("note", ("id",), "alert_id"),
    FeedTable("silence", ("id",)),
)
"""In the order in which their rows are taken over: what refers to an alert comes after it."""

RowKey = tuple[str, tuple[Any, ...]]
"""A table and the values of its key."""


@dataclass(frozen=True, slots=True)
class FeedState:
    """Rows by table and key, in the order of ``FEED_TABLES`` and of their keys; ``columns`` of each table.

    ``live`` are the numbers of the alerts that are open, whose end is still to be told, or that a notification waits about.
    Of an alert that was live in the state before, the rows are in this one too: that is how its end is told.
    """

    columns: Mapping[str, tuple[str, ...]]
    rows: Mapping[RowKey, tuple[Any, ...]]
    live: frozenset[int] = frozenset()
    newest: int = 0
    """The highest number that an alert had."""


NOTHING: Final = FeedState({}, {})


@dataclass(frozen=True, slots=True)
class FeedChange:
    """A row that is new or differs; None: it is no longer in the state."""

    table: str
    key: tuple[Any, ...]
    row: Mapping[str, Any] | None


def read_feed(connection: sqlite3.Connection, before: FeedState = NOTHING) -> FeedState:
    """The state now, which follows ``before``. One query after another: the caller owns the transaction.

    Raises sqlite3.Error.
    """
    live = _live(connection, before)
    (newest,) = connection.execute("SELECT coalesce(max(id), 0) FROM alert").fetchone()
    wanted = json.dumps(sorted(live | before.live))
    columns: dict[str, tuple[str, ...]] = {}
    rows: dict[RowKey, tuple[Any, ...]] = {}
    for table in FEED_TABLES:
        where = f" WHERE {table.alert} IN (SELECT value FROM json_each(?))" if table.alert else ""
        cursor = connection.execute(
            f"SELECT * FROM {table.name}{where} ORDER BY {', '.join(table.key)}", (wanted,) if where else ()
        )
        columns[table.name] = names = tuple(each[0] for each in cursor.description)
        places = [names.index(each) for each in table.key]
        for row in cursor:
            rows[table.name, tuple([row[place] for place in places])] = row
    return FeedState(columns, rows, live, newest)


def _live(connection: sqlite3.Connection, before: FeedState) -> frozenset[int]:
    """The numbers of the live alerts. Without a state before all alerts are looked at, else only those that may be."""
    if before is NOTHING:
        found = connection.execute("SELECT id FROM alert WHERE ending = 1 OR state <> 'resolved'").fetchall()
    else:
        found = connection.execute(
            "SELECT id FROM alert WHERE state <> 'resolved' UNION SELECT id FROM alert WHERE ending = 1 AND"
            " (id > ? OR id IN (SELECT value FROM json_each(?)))",
            (before.newest, json.dumps(sorted(before.live))),
        ).fetchall()
    waiting = connection.execute("SELECT DISTINCT alert_id FROM notice WHERE done_ts IS NULL").fetchall()
    return frozenset(row[0] for row in (*found, *waiting))


def changes_of(before: FeedState, now: FeedState) -> list[FeedChange]:
    """What makes ``now`` of ``before``: rows in the order of the tables, and at the end those that go."""
    found = [
        FeedChange(table, key, dict(zip(now.columns[table], row, strict=True)))
        for (table, key), row in now.rows.items()
        if before.rows.get((table, key)) != row
    ]
    return [*found, *(FeedChange(table, key, None) for table, key in before.rows if (table, key) not in now.rows)]


def changes_json(changes: Iterable[FeedChange]) -> list[list[Any]]:
    """The changes as lists of JSON."""
    return [[each.table, list(each.key), each.row] for each in changes]


def changes_from(found: Any) -> list[FeedChange]:
    """The changes that another agent sent. Raises FeedError for what is none."""
    tables = {each.name: each for each in FEED_TABLES}
    changes = []
    if not isinstance(found, list):
        raise FeedError("the changes are no list")
    for entry in found:
        if not isinstance(entry, list) or len(entry) != 3:
            raise FeedError("a change is no list of three")
        table, key, row = entry
        if table not in tables:
            # A newer agent may keep more.
            continue
        if not isinstance(key, list) or len(key) != len(tables[table].key) or not _plain(key):
            raise FeedError(f"the key of a change of {table} is none")
        if row is not None and not (
            isinstance(row, dict) and _plain(row.values()) and row.keys() >= set(tables[table].key)
        ):
            raise FeedError(f"the row of a change of {table} is none")
        changes.append(FeedChange(table, tuple(key), row))
    return changes


def _plain(values: Collection[Any]) -> bool:
    return all(each is None or isinstance(each, (int, float, str)) for each in values)
