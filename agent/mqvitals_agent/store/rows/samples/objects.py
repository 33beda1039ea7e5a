"""Owners and objects of a store: which there are, since when, their instances and snapshots."""

from __future__ import annotations

import json
import sqlite3
from difflib import get_close_matches
from fnmatch import translate
from re import compile as compile_pattern
from typing import NamedTuple

from mqvitals_agent.store.file.integrity import valid_time
from mqvitals_agent.store.result import CurrentValue, Owner, StoredObject, UnknownRow
from mqvitals_agent.store.rows.samples.history import FIRST, LAST
from mqvitals_agent.store.rows.tables import OBJECT_ID, integer, integer_or_none, moment, numbered, text
from mqvitals_rules.snapshot import Instance, ObjectName
from mqvitals_rules.vocabulary.metric import Absence

_WILD = compile_pattern(r"[*?\[]")
"""The characters that make a name a pattern."""


def read_owners(connection: sqlite3.Connection) -> tuple[Owner, ...]:
    """Every queue manager that has a snapshot, by name, the group last."""
    rows = connection.execute(
        f"""SELECT name, is_group, {_owner_time("first_ts", "min")}, {_owner_time("last_ts", "max")}, last_cycle, clock_ms,
            EXISTS (SELECT 1 FROM object WHERE owner = o.name) AND
            NOT EXISTS (SELECT 1 FROM object WHERE owner = o.name AND gone_ts IS NULL)
        FROM owner AS o ORDER BY is_group, name"""  # noqa: S608 - all text is ours
    )
    return tuple(
        Owner(
            text(name),
            bool(group),
            moment(first),
            moment(last),
            integer(cycle),
            integer_or_none(clock),
            bool(unwatched),
        )
        for name, group, first, last, cycle, clock, unwatched in rows
        if first is not None and last is not None
    )


def read_owners_as_of(connection: sqlite3.Connection, at: int) -> tuple[Owner, ...]:
    """Every queue manager that had a snapshot or a record by ``at`` (ms UTC), by name, the group last."""
    found = []
    for name, group, first, cycle in connection.execute(
        f"SELECT name, is_group, {_owner_time('first_ts', 'min')}, last_cycle FROM owner AS o ORDER BY is_group, name"  # noqa: S608 - all text is ours
    ).fetchall():
        if first is None or first > at:
            continue
        row = connection.execute(
            "SELECT ts, cycle, (SELECT clock_ms FROM snapshot WHERE owner = ?1 AND ts BETWEEN ?2 AND ?3"
            " AND clock_ms IS NOT NULL ORDER BY ts DESC LIMIT 1)"
            " FROM snapshot WHERE owner = ?1 AND ts BETWEEN ?2 AND ?3 ORDER BY ts DESC LIMIT 1",
            numbered(name, FIRST, at),
        ).fetchone()
        if row is None:
            # Of records alone, or all its snapshots by then are deleted.
            row = (*_last_record(connection, name, at, first), cycle and 1, None)
        there = connection.execute(
            "SELECT EXISTS (SELECT 1 FROM object WHERE owner = ?1 AND first_ts <= ?2), EXISTS (SELECT 1 FROM object"
            " WHERE owner = ?1 AND first_ts <= ?2 AND (gone_ts IS NULL OR gone_ts > ?2))",
            numbered(name, at),
        ).fetchone()
        last, count, clock = moment(row[0]), integer(row[1]), integer_or_none(row[2])
        found.append(Owner(text(name), bool(group), moment(first), last, count, clock, there == (1, 0)))
    return tuple(found)


def _last_record(connection: sqlite3.Connection, owner: str, at: int, first: int) -> tuple[int]:
    """When the newest record of an owner by ``at`` ended, one seek an object; ``first`` where there is none."""
    (ts,) = connection.execute(
        "SELECT max((SELECT max(ts) FROM record AS r WHERE r.object_id = o.id AND r.source = s.source AND r.ts <= ?))"
        " FROM object AS o CROSS JOIN (SELECT DISTINCT source FROM record LIMIT 8) AS s WHERE o.owner = ? AND o.first_ts <= ?",
        (at, owner, at),
    ).fetchone()
    return (first if ts is None else integer(ts),)


def _owner_time(column: str, which: str) -> str:
    """The time of an owner; where it is outside any calendar, that of its first or last (``which``) snapshot."""
    bounds = f"BETWEEN {FIRST} AND {LAST}"
    snapshots = f"SELECT {which}(ts) FROM snapshot WHERE owner = o.name AND ts {bounds}"  # noqa: S608
    return f"CASE WHEN {column} {bounds} THEN {column} ELSE ({snapshots}) END"


def read_objects(connection: sqlite3.Connection, pattern: str, *, gone: bool) -> tuple[StoredObject, ...]:
    """The objects whose whole name is ``pattern``, or matches it as file names do, sorted by name.

    Those that no longer exist only with ``gone``.
    """
    match = compile_pattern(translate(pattern)).match
    found = []
    only = ""
    parameters: tuple[str, ...] = ()
    if not _WILD.search(pattern):
        # A whole name, which no other one matches: one seek.
        owner, kind, rest = (*pattern.split("/", 2), "", "")[:3]
        only, parameters = " WHERE owner = ? AND kind = ? AND name = ?", (owner, kind, rest)
    for owner, kind, rest, first_ts, gone_ts in connection.execute(
        f"SELECT owner, kind, name, first_ts, gone_ts FROM object{only} ORDER BY owner, kind, name",  # noqa: S608
        parameters,
    ):
        name = ObjectName(text(owner), text(kind), text(rest))
        whole = str(name)
        if (gone or gone_ts is None) and (whole == pattern or match(whole)):
            # An invalid time: the object exists since an unknown time.
            first = min(max(integer(first_ts), FIRST), LAST)
            gone_at = gone_ts if gone_ts is None or FIRST <= integer(gone_ts) <= LAST else None
            found.append(StoredObject(name, first, gone_at))
    return tuple(found)


class ObjectTimes(NamedTuple):
    """An object, when it was seen first and when it was found gone, ms UTC; while it exists that is after all moments."""

    name: ObjectName
    first: int
    gone: int


def read_times(connection: sqlite3.Connection, owner: str, kind: str) -> dict[int, ObjectTimes]:
    """All objects of a kind of an owner by number, in the order of their names."""
    rows = connection.execute(
        "SELECT id, name, first_ts, coalesce(gone_ts, ?) FROM object WHERE owner = ? AND kind = ? ORDER BY name",
        (LAST + 1, owner, kind),
    )
    return {
        number: ObjectTimes(ObjectName(owner, kind, text(name)), integer(first), integer(gone))
        for number, name, first, gone in rows
    }


def read_closest(connection: sqlite3.Connection, wanted: str) -> tuple[str, ...]:
    """The three whole names of objects that look most like ``wanted``, best first."""
    parts = wanted.split("/")
    names = [ObjectName(*map(text, row)) for row in connection.execute("SELECT owner, kind, name FROM object")]
    # Comparing with ten thousand queues takes a second: who names a kind that exists means that kind.
    same = [name for name in names if len(parts) > 1 and name.kind == parts[1]]
    by_key = {str(name).upper(): str(name) for name in same or names}
    return tuple(by_key[key] for key in get_close_matches(wanted.upper(), by_key, 3, 0.5))


def number_of(connection: sqlite3.Connection, name: ObjectName) -> int | None:
    """The number of an object in the store, also of one that no longer exists; None: it is unknown."""
    row = connection.execute(OBJECT_ID, name).fetchone()
    return None if row is None else integer(row[0])


def read_instances(connection: sqlite3.Connection, number: int, name: ObjectName) -> tuple[Instance, ...]:
    """The current instances of the object with that number, by key."""
    rows = connection.execute("SELECT key, data, absent FROM instance WHERE object_id = ? ORDER BY key", (number,))
    return tuple(
        Instance(
            name,
            text(key),
            json.loads(data) | {metric: Absence[why] for metric, why in json.loads(absent).items()},
        )
        for key, data, absent in rows
    )


def read_last_cycles(connection: sqlite3.Connection, until: int) -> dict[str, tuple[int, int]]:
    """By owner, when the newest snapshot by ``until`` was taken (ms UTC), and the number of its cycle."""
    rows = connection.execute(
        "SELECT s.owner, s.ts, s.cycle FROM owner AS o CROSS JOIN snapshot AS s ON s.owner = o.name AND s.ts ="
        " (SELECT max(ts) FROM snapshot WHERE owner = o.name AND ts BETWEEN ? AND ?)",
        (FIRST, until),
    )
    return {text(owner): (moment(ts), integer(cycle)) for owner, ts, cycle in rows}


def read_snapshot_times(connection: sqlite3.Connection, owner: str, newest: int) -> list[int]:
    """When the ``newest`` snapshots of an owner were taken, oldest first."""
    rows = connection.execute(
        "SELECT ts FROM snapshot WHERE owner = ? AND ts BETWEEN ? AND ? ORDER BY ts DESC LIMIT ?",
        (owner, FIRST, LAST, newest),
    ).fetchall()
    return [moment(ts) for (ts,) in reversed(rows)]


def count_snapshots(connection: sqlite3.Connection, owner: str, since: int, until: int) -> int:
    """How many snapshots of an owner there are from ``since`` to ``until`` (ms UTC). Raises sqlite3.Error."""
    (count,) = connection.execute(
        "SELECT count(*) FROM snapshot WHERE owner = ? AND ts BETWEEN ? AND ?",
        (owner, max(since, FIRST), min(until, LAST)),
    ).fetchone()
    return integer(count)


def objects_with_records(connection: sqlite3.Connection, kind: str) -> frozenset[int]:
    """The numbers of the objects of a kind that have records. Raises sqlite3.Error."""
    rows = connection.execute(
        "SELECT id FROM object AS o WHERE kind = ? AND EXISTS (SELECT 1 FROM record WHERE object_id = o.id)",
        (kind,),
    )
    return frozenset(integer(number) for (number,) in rows)


def read_snapshot_span(connection: sqlite3.Connection, owner: str, since: int, until: int) -> list[int]:
    """When the snapshots of an owner from ``since`` to ``until`` (ms UTC) were taken, oldest first."""
    rows = connection.execute(
        "SELECT ts FROM snapshot WHERE owner = ? AND ts BETWEEN ? AND ? ORDER BY ts",
        (owner, max(since, FIRST), min(until, LAST)),
    )
    return [moment(ts) for (ts,) in rows]


def read_polled_cells(
    connection: sqlite3.Connection, since: int, until: int, step_ms: int
) -> dict[str, frozenset[int]]:
    """By owner, in which parts of ``step_ms`` from ``since`` to ``until`` (ms UTC) a snapshot was taken; the first is 0."""
    found: dict[str, set[int]] = {}
    rows = connection.execute(
        "SELECT s.owner, (s.ts - ?1) / ?3 AS cell FROM owner AS w CROSS JOIN snapshot AS s ON s.owner = w.name"
        " AND s.ts BETWEEN ?1 AND ?2 GROUP BY s.owner, cell",
        (max(since, FIRST), min(until, LAST), step_ms),
    )
    for owner, cell in rows:
        found.setdefault(text(owner), set()).add(integer(cell))
    return {owner: frozenset(cells) for owner, cells in found.items()}


def read_leading(
    connection: sqlite3.Connection, table: str, kind: str, metric: str, count: int
) -> list[tuple[ObjectName, CurrentValue]]:
    """The existing objects of a kind with the greatest numbers in a metric, the greatest first.

    ``table`` is that of their current state, and ``metric`` one of its columns: names of ours. Numbers that were not
    answered again are left out.
    """
    rows = connection.execute(
        # Of several probes the newest counts: the other columns are those of the row with the greatest time.
        f'SELECT o.owner, o.name, c."{metric}" AS value, max(r.ts), c.probe, r.asked FROM {table} AS c'  # noqa: S608
        " CROSS JOIN object AS o ON o.id = c.object_id CROSS JOIN reading AS r ON r.object_id = c.object_id"
        f' AND r.probe = c.probe WHERE c."{metric}" > 0 AND o.gone_ts IS NULL AND r.unanswered IS NULL'
        f" AND {valid_time('r.ts')} AND {valid_time('r.asked')} GROUP BY c.object_id"
        " ORDER BY value DESC, o.owner, o.name LIMIT ?",
        (count,),
    )
    return [
        (ObjectName(text(owner), kind, text(name)), CurrentValue(value, moment(ts), text(probe), moment(asked), None))
        for owner, name, value, ts, probe, asked in rows
        if isinstance(value, int | float)
    ]


def read_unknown_counts(connection: sqlite3.Connection) -> tuple[UnknownRow, ...]:
    """For how many objects of each owner's last snapshot a rule is unknown, by reason."""
    rows = connection.execute("SELECT owner, rule, reason, count FROM unknown_count ORDER BY owner, rule, reason")
    return tuple(
        UnknownRow(text(owner), text(rule), Absence[reason], integer(count)) for owner, rule, reason, count in rows
    )
