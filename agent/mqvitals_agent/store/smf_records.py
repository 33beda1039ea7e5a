"""What the store remembers of SMF records: which were read, and what has to be added up from several of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from mqvitals_agent.store.tables import integer, numbered, text
from mqvitals_rules.snapshot import ObjectName

ALONE, REST, NEW = 1, 2, 0
"""Where an application stands: by itself, within the rest, or nowhere yet."""

_AT_ONCE: Final = 500


class SmfFile(NamedTuple):
    """A file of a watched folder: its name, its size and when it was last changed, ns since 1970."""

    name: str
    size: int
    changed_ns: int


class SmfPart(NamedTuple):
    """What was added up so far of an object, probe and end of an interval (ms UTC).

    ``used``: the processor time of an application, TOD units. ``data`` is the sum, as whoever adds it up writes it.
    """

    object: ObjectName
    probe: str
    ts: int
    used: int
    data: str


class ApplicationUse(NamedTuple):
    """An application in an interval: its name, the end, its processor time, and where it stands."""

    name: str
    ts: int
    used: int
    shown: int


def read_known(connection: sqlite3.Connection, identities: Iterable[bytes]) -> frozenset[bytes]:
    """Those of the records that were read before. Raises sqlite3.Error."""
    found: set[bytes] = set()
    rest = iter(identities)
    while some := list(islice(rest, _AT_ONCE)):
        marks = ", ".join("?" * len(some))
        rows = connection.execute(f"SELECT id FROM smf_record WHERE id IN ({marks})", some)  # noqa: S608
        found.update(bytes(row[0]) for row in rows)
    return frozenset(found)


def read_parts(
    connection: sqlite3.Connection, keys: Iterable[tuple[ObjectName, str, int]]
) -> Iterator[tuple[ObjectName, str, int, str]]:
    """Those of the sums that are there: object, probe, end, data. Raises sqlite3.Error."""
    for name, probe, ts in keys:
        row = connection.execute(
            "SELECT data FROM smf_part WHERE owner = ? AND kind = ? AND ts = ? AND name = ? AND probe = ?",
            (name.owner, name.kind, ts, name.name, probe),
        ).fetchone()
        if row is not None:
            yield name, probe, ts, text(row[0])


def write_records(
    connection: sqlite3.Connection, identities: Iterable[tuple[bytes, int]], parts: Iterable[SmfPart]
) -> None:
    """Note records (identity, end) and the sums with them. Raises sqlite3.Error."""
    connection.executemany("INSERT OR IGNORE INTO smf_record(id, ts) VALUES(?, ?)", identities)
    connection.executemany(
        "INSERT INTO smf_part(owner, kind, name, probe, ts, used, shown, data) VALUES(?, ?, ?, ?, ?, ?, 0, ?)"
        " ON CONFLICT(owner, kind, ts, name, probe) DO UPDATE SET used = excluded.used, shown = -abs(shown),"
        " data = excluded.data",
        [(*each.object, each.probe, each.ts, each.used, each.data) for each in parts],
    )


def read_uses(connection: sqlite3.Connection, owner: str, first: int, last: int) -> list[ApplicationUse]:
    """The applications of a queue manager with ``first`` <= end < ``last``; negative: it has changed since. Raises sqlite3.Error."""
    rows = connection.execute(
        "SELECT name, ts, used, shown FROM smf_part WHERE owner = ? AND kind = 'application' AND ts >= ? AND ts < ?"
        " ORDER BY ts, name",
        (owner, first, last),
    )
    return [ApplicationUse(text(name), integer(ts), integer(used), integer(shown)) for name, ts, used, shown in rows]


def read_of_object(connection: sqlite3.Connection, name: ObjectName, shown: int) -> tuple[str, int, str] | None:
    """The newest sum of an object with that standing: probe, end, data. Raises sqlite3.Error."""
    row = connection.execute(
        "SELECT probe, ts, data FROM smf_part WHERE owner = ? AND kind = ? AND name = ? AND shown = ?"
        " ORDER BY ts DESC LIMIT 1",
        (*name, shown),
    ).fetchone()
    return None if row is None else (text(row[0]), integer(row[1]), text(row[2]))


def read_unplaced(connection: sqlite3.Connection, day_ms: int) -> list[tuple[str, int]]:
    """Queue managers and days (since 1970, ``day_ms`` long) with applications that have changed. Raises sqlite3.Error."""
    rows = connection.execute(
        "SELECT DISTINCT owner, ts / ? FROM smf_part WHERE shown <= 0 AND kind = 'application'", (day_ms,)
    )
    return sorted((text(owner), integer(day)) for owner, day in rows)


def read_rest(connection: sqlite3.Connection, owner: str) -> tuple[int, list[str]] | None:
    """The last end for which there is a rest, and the applications in it. Raises sqlite3.Error."""
    (ts,) = connection.execute("SELECT max(ts) FROM smf_part WHERE owner = ? AND shown = 2", (owner,)).fetchone()
    if ts is None:
        return None
    rows = connection.execute("SELECT name FROM smf_part WHERE owner = ? AND shown = 2 AND ts = ?", (owner, ts))
    return integer(ts), sorted(text(row[0]) for row in rows)


def write_standing(connection: sqlite3.Connection, owner: str, standings: Iterable[tuple[str, int, int]]) -> None:
    """Where applications (name, end, standing) stand now. Raises sqlite3.Error."""
    connection.executemany(
        "UPDATE smf_part SET shown = ? WHERE owner = ? AND kind = 'application' AND name = ? AND ts = ?",
        [(shown, owner, name, ts) for name, ts, shown in standings],
    )


def delete_samples(connection: sqlite3.Connection, table: str, number: int, source: int, first: int, last: int) -> bool:
    """Take away what records of ``source`` with ``first`` <= end < ``last`` told of an object; True when none is left.

    Raises sqlite3.Error. ``table`` is the history of the object's kind, as the vocabulary names it.
    """
    bounds = (number, source, first, last)
    connection.execute(
        f"DELETE FROM {table} WHERE ts IN (SELECT ts FROM record WHERE object_id = ?1 AND source = ?2"  # noqa: S608
        " AND ts >= ?3 AND ts < ?4) AND object_id = ?1 AND source = ?2",
        numbered(*bounds),
    )
    connection.execute("DELETE FROM record WHERE object_id = ? AND source = ? AND ts >= ? AND ts < ?", bounds)
    return connection.execute("SELECT 1 FROM record WHERE object_id = ? LIMIT 1", (number,)).fetchone() is None


def read_files(connection: sqlite3.Connection) -> frozenset[SmfFile]:
    """The files that were read. Raises sqlite3.Error."""
    rows = connection.execute("SELECT name, size, changed_ns FROM smf_file")
    return frozenset(SmfFile(text(name), integer(size), integer(changed)) for name, size, changed in rows)


def write_file(connection: sqlite3.Connection, file: SmfFile, ts: int) -> None:
    """A file has been read at ``ts`` (ms UTC). Raises sqlite3.Error."""
    connection.execute("INSERT OR REPLACE INTO smf_file(name, size, changed_ns, ts) VALUES(?, ?, ?, ?)", (*file, ts))
