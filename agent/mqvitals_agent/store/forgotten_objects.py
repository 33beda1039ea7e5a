"""Objects and owners that have been gone for longer than the store keeps, and that nothing refers to: they are forgotten."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Final

from mqvitals_agent.store.rows.samples.hour_means import has_means
from mqvitals_agent.store.rows.samples.snapshot_writer import SnapshotWriter
from mqvitals_agent.store.rows.sealed.rollup_rows import has_rollup
from mqvitals_agent.store.rows.sealed.unseal import has_chunk
from mqvitals_agent.store.rows.tables import integer, text
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.tables import KINDS

_OBJECTS: Final = 50
"""Objects at once."""


def forget_objects(connection: sqlite3.Connection, snapshots: SnapshotWriter, bound: int, now: int) -> Iterator[int]:
    """Drop objects that have been gone since before ``bound`` and that nothing refers to at ``now``, both ms UTC.

    Yields the number of dropped rows, 0 for an object that stays. The newest one stays, so that no number is given twice.
    What an owner has one of stays until the owner itself goes, as by them it is known that it is not watched any more.
    """
    old = [number for number, since in snapshots.gone.items() if since < bound]
    alerts = connection.execute(
        "SELECT owner, kind, name FROM alert UNION SELECT scope_owner, scope_kind, scope_name FROM alert"
    )
    named = {ObjectName(*map(text, row)) for row in alerts} if old else set()
    found: dict[int, ObjectName] = {}
    for number in old:
        row = connection.execute(
            "SELECT owner, kind, name FROM object WHERE id = ? AND id < (SELECT max(id) FROM object)", (number,)
        ).fetchone()
        name = None if row is None else ObjectName(*map(text, row))
        if name is None or name in named or name.kind not in KINDS or KINDS[name.kind].single:
            continue
        if not _is_referred_to(connection, snapshots, number, name, bound, now):
            found[number] = name
            if len(found) >= _OBJECTS:
                yield _drop(snapshots, found, bound)
                found = {}
        yield 0
    yield _drop(snapshots, found, bound)
    yield from _owners(connection, snapshots, bound, named)


def _drop(snapshots: SnapshotWriter, objects: Mapping[int, ObjectName], bound: int) -> int:
    """Drop those of the objects that have not come back since they were looked at; returns their number."""
    gone = snapshots.gone
    still = {number: name for number, name in objects.items() if gone.get(number, bound) < bound}
    if still:
        snapshots.drop_objects(still)
    return len(still)


def _is_referred_to(
    connection: sqlite3.Connection, snapshots: SnapshotWriter, number: int, name: ObjectName, bound: int, now: int
) -> bool:
    for query, parameters in (
        ("SELECT 1 FROM reading WHERE object_id = ? AND max(asked, coalesce(ts, 0)) >= ?", (number, bound)),
        ("SELECT 1 FROM record WHERE object_id = ? LIMIT 1", (number,)),
        ("SELECT 1 FROM smf_part WHERE owner = ? AND kind = ? AND name = ? LIMIT 1", name),
        ("SELECT 1 FROM message WHERE kind = ? AND name = ? AND kind <> '' LIMIT 1", (name.kind, name.name)),
    ):
        if connection.execute(query, parameters).fetchone() is not None:
            return True
    if has_chunk(connection, number, snapshots.gone[number]) or has_rollup(connection, name.kind, number):
        return True
    return has_means(connection, number, name.kind, snapshots.gone[number], now)


def _owners(
    connection: sqlite3.Connection, snapshots: SnapshotWriter, bound: int, named: set[ObjectName]
) -> Iterator[int]:
    """Owners whose last snapshot is before ``bound`` and have nothing but what there is one of: they
    go with it.
    """
    alarmed = {name.owner for name in named}
    found = connection.execute(
        "SELECT name FROM owner AS o WHERE last_ts < ? AND last_cycle > 0"
        " AND EXISTS (SELECT 1 FROM object WHERE owner = o.name)"
        " AND NOT EXISTS (SELECT 1 FROM snapshot WHERE owner = o.name)",
        (bound,),
    ).fetchall()
    for (owner,) in found:
        rows = connection.execute("SELECT id, kind, name FROM object WHERE owner = ?", (text(owner),)).fetchall()
        left = {integer(number): ObjectName(owner, text(kind), text(name)) for number, kind, name in rows}
        (newest,) = connection.execute("SELECT max(id) FROM object").fetchone()
        gone = snapshots.gone
        if (
            owner in alarmed
            or newest in left
            or any(name.kind not in KINDS or not KINDS[name.kind].single for name in left.values())
            or any(number not in gone or gone[number] >= bound for number in left)
        ):
            continue
        if any(
            has_means(connection, number, name.kind, gone[number], 0) or has_rollup(connection, name.kind, number)
            for number, name in left.items()
        ):
            continue
        snapshots.drop_objects(left)
        for table, key in (("unknown_count", "owner"), ("owner", "name")):
            connection.execute(f"DELETE FROM {table} WHERE {key} = ?", (owner,))  # noqa: S608
        yield len(left) + 1
