"""Changes of definitions: what differs between two answers about one object, and the rows that keep it."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping
from fnmatch import translate
from re import compile as compile_pattern
from typing import Any, Final, NamedTuple

from mqvitals_agent.store.rows.tables import moment, text
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.changes import ALTERED, STEADY_WITHIN
from mqvitals_rules.vocabulary.metric import Absence, Reported, Value
from mqvitals_rules.vocabulary.queue import QUEUE_KIND

KEEP_CHANGES_MS: Final = 400 * 86_400_000
"""So long changes are kept, whatever the store keeps of samples: a year and some weeks."""

MOST_CHANGES: Final = 200_000
"""More changes than that are not kept, however young."""

TEMPORARY_DYNAMIC: Final = 3
"""The DEFTYPE of a queue that an application has made for itself."""
_OFF, _ON_DEPTH = 0, 3

CONTEXT: Final = frozenset({ALTERED, "definition_type", "trigger_type"})
"""Metrics that decide about a difference without being one."""


class Difference(NamedTuple):
    """An attribute with another value than before. ``moved``: the time of alteration moved too; None: there is none."""

    metric: str
    old: Value
    new: Value
    moved: bool | None


class Change(NamedTuple):
    """A change of a definition. ``ts`` is when the new value was first seen, ``before`` when the old one was last seen,
    ms UTC; ``altered`` the time of alteration as the queue manager tells it, empty where it does not.

    With ``metric`` ``ALTERED`` only that time has moved: something was altered that is not watched.
    """

    name: ObjectName
    metric: str
    old: Value
    new: Value
    ts: int
    before: int
    altered: str = ""
    moved: bool | None = None


def differences(
    kind: str, recorded: Collection[str], old: Mapping[str, Reported], new: Mapping[str, Reported]
) -> tuple[Difference, ...]:
    """What has changed from the ``old`` to the ``new`` values of an object, of the metrics ``recorded``.

    What is absent on either side is no difference. Without any other one, a time of alteration that has moved is the
    difference. A temporary dynamic queue has none; a trigger that fired on depth, and is off by that, is none.
    """
    if kind == QUEUE_KIND.name and new.get("definition_type") == TEMPORARY_DYNAMIC:
        return ()
    was, now = old.get(ALTERED), new.get(ALTERED)
    known = isinstance(was, str) and isinstance(now, str)
    moved = was != now if known else None
    found = [
        Difference(metric, before, after, moved)
        for metric, after in new.items()
        if metric in recorded
        and not isinstance(after, Absence)
        and (before := old.get(metric)) is not None
        and not isinstance(before, Absence)
        and before != after
        and _differs(kind, metric, before, after)
        and not (metric == "trigger" and _fired_on_depth(after, new, moved=moved))
    ]
    if not found and moved and isinstance(was, str) and isinstance(now, str):
        found = [Difference(ALTERED, was, now, moved)]
    return tuple(found)


def _differs(kind: str, metric: str, old: Value, new: Value) -> bool:
    if isinstance(old, str) or isinstance(new, str):
        return str(old).strip() != str(new).strip()
    return abs(new - old) > STEADY_WITHIN.get((kind, metric), 0.0) * abs(old)


def _fired_on_depth(trigger: Value, new: Mapping[str, Reported], *, moved: bool | None) -> bool:
    """Whether TRIGGER went off by a trigger message, or an application has set it on again (MQSET)."""
    return new.get("trigger_type") == _ON_DEPTH and (trigger == _OFF or not moved)


_COLUMNS = "owner, kind, name, metric, old, new, ts, before_ts, altered, moved"


def insert_changes(connection: sqlite3.Connection, changes: Iterable[Change]) -> None:
    """Write changes. The caller owns the transaction. Raises sqlite3.Error."""
    connection.executemany(
        f"INSERT INTO change({_COLUMNS}) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(*each.name, *each[1:]) for each in changes],
    )


def read_changes(
    connection: sqlite3.Connection,
    *,
    since: int = 0,
    until: int | None = None,
    possible_at: int | None = None,
    pattern: str | None = None,
    objects: Collection[ObjectName] | None = None,
    limit: int,
) -> tuple[Change, ...]:
    """The newest ``limit`` changes seen from ``since`` to ``until`` (ms UTC), oldest first.

    With ``possible_at`` only those that may have been made by then: the old value was not seen later.
    ``pattern`` chooses objects by whole name as file names are chosen (``QM01/queue/*``); ``objects`` are those wanted.
    Raises sqlite3.Error.
    """
    conditions, parameters = ["ts >= ?"], [since]
    if until is not None:
        conditions.append("ts <= ?")
        parameters.append(until)
    if possible_at is not None:
        conditions.append("before_ts <= ?")
        parameters.append(possible_at)
    where = " AND ".join(conditions)
    if objects is None:
        match = None if pattern is None else compile_pattern(translate(pattern)).match
        rows = connection.execute(
            f"SELECT {_COLUMNS} FROM change WHERE {where} ORDER BY ts DESC, id DESC",  # noqa: S608
            parameters,
        )
        found = []
        for row in rows:
            change = _change(row)
            if match is None or str(change.name) == pattern or match(str(change.name)):
                found.append(change)
                if len(found) == limit:
                    break
    else:
        found = [
            _change(row)
            for name in sorted(set(objects))
            for row in connection.execute(
                f"SELECT {_COLUMNS} FROM change WHERE owner = ? AND kind = ? AND name = ? AND {where}"  # noqa: S608
                " ORDER BY ts DESC, id DESC LIMIT ?",
                (*name, *parameters, limit),
            )
        ]
        found = sorted(found, key=lambda change: -change.ts)[:limit]
    return tuple(reversed(found))


def _change(row: tuple[Any, ...]) -> Change:
    owner, kind, name, metric, old, new, ts, before, altered, moved = row
    return Change(
        ObjectName(text(owner), text(kind), text(name)),
        text(metric),
        _value(old),
        _value(new),
        moment(ts),
        moment(before),
        text(altered),
        None if moved is None else bool(moved),
    )


def _value(cell: Any) -> Value:
    if cell.__class__ in (int, float, str):
        found: Value = cell
        return found
    raise TypeError(f"{cell!r:.60} is no value")
