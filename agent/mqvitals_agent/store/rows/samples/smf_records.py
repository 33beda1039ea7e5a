"""SMF records in the store: those that were read, and the sums of several of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import islice
from typing import Final, NamedTuple

from mqvitals_agent.store.file.database import StoreDatabase
from mqvitals_agent.store.rows.tables import integer, numbered, text
from mqvitals_rules.snapshot import ObjectName

ALONE, REST, NEW = 1, 2, 0
"""Where an application stands: by itself, within the rest, or nowhere yet."""

WAITING: Final = "/"
"""A part whose group is unknown has this and its queue manager as owner: no queue manager has a slash in its name."""

PartKey = tuple[ObjectName, str, int]
"""Object, probe and end of the interval (ms UTC)."""

_AT_ONCE: Final = 500
_OF_GROUPS_UNKNOWN: Final = f"owner >= '{WAITING}' AND owner < '{chr(ord(WAITING) + 1)}'"


class SmfFile(NamedTuple):
    """A file of a watched folder: its name, its size and when it was last changed, ns since 1970."""

    name: str
    size: int
    changed_ns: int


class SmfPart(NamedTuple):
    """The sum so far of an object, probe and end of an interval (ms UTC).

    ``used``: the processor time of an application, TOD units. ``data`` is the sum, as its writer encodes it.
    """

    object: ObjectName
    probe: str
    ts: int
    used: int
    data: str


class ApplicationUse(NamedTuple):
    """An application in an interval: its name, the end, and where it stands."""

    name: str
    ts: int
    shown: int


class SmfRepository:
    """SMF records that were read, files they came from, and sums of several records. Every method raises StoreError."""

    def __init__(self, database: StoreDatabase) -> None:
        self._database = database

    def files(self) -> frozenset[SmfFile]:
        """The files of a watched folder that were read."""
        with self._database.reading() as connection:
            rows = connection.execute("SELECT name, size, changed_ns FROM smf_file")
            return frozenset(SmfFile(text(name), integer(size), integer(changed)) for name, size, changed in rows)

    def add_file(self, file: SmfFile, ts: int) -> None:
        """Store that a file was read at ``ts``, ms UTC."""
        with self._database.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO smf_file(name, size, changed_ns, ts) VALUES(?, ?, ?, ?)", (*file, ts)
            )

    def known(self, identities: Iterable[bytes]) -> frozenset[bytes]:
        """Those of these records that were read before."""
        found: set[bytes] = set()
        rest = iter(identities)
        with self._database.reading() as connection:
            while some := list(islice(rest, _AT_ONCE)):
                marks = ", ".join("?" * len(some))
                rows = connection.execute(f"SELECT id FROM smf_record WHERE id IN ({marks})", some)  # noqa: S608
                found.update(bytes(row[0]) for row in rows)
        return frozenset(found)

    def parts(self, keys: Iterable[PartKey]) -> dict[PartKey, str]:
        """The sums of several records so far."""
        found = {}
        with self._database.reading() as connection:
            for name, probe, ts in keys:
                row = connection.execute(
                    "SELECT data FROM smf_part WHERE owner = ? AND kind = ? AND ts = ? AND name = ? AND probe = ?",
                    (name.owner, name.kind, ts, name.name, probe),
                ).fetchone()
                if row is not None:
                    found[name, probe, ts] = text(row[0])
        return found

    def parts_in_order(self) -> Iterator[tuple[int, ObjectName, str, str]]:
        """End, object, probe and sum of all parts, the oldest first."""

        def of_kind(owner: str, kind: str) -> Iterator[tuple[int, ObjectName, str, str]]:
            rows = connection.execute(
                "SELECT ts, name, probe, data FROM smf_part WHERE owner = ? AND kind = ? ORDER BY ts", (owner, kind)
            )
            return (
                (integer(ts), ObjectName(owner, kind, text(name)), text(probe), text(data))
                for ts, name, probe, data in rows
            )

        with self._database.reading() as connection:
            following = "SELECT owner, kind FROM smf_part WHERE (owner, kind) > (?, ?) ORDER BY owner, kind LIMIT 1"
            found = [("", "")]
            while row := connection.execute(following, found[-1]).fetchone():
                found.append((text(row[0]), text(row[1])))
            # Each is in the order of the table's key: nothing needs to be sorted.
            yield from merge(*(of_kind(*each) for each in found[1:]))

    def waiting(self) -> dict[str, int]:
        """The number of parts whose group is unknown, by queue manager."""
        with self._database.reading() as connection:
            rows = connection.execute(f"SELECT owner, count(*) FROM smf_part WHERE {_OF_GROUPS_UNKNOWN} GROUP BY owner")  # noqa: S608
            return {text(owner).removeprefix(WAITING): integer(count) for owner, count in rows}

    def waiting_parts(self, queue_manager: str, count: int) -> dict[PartKey, str]:
        """At most ``count`` parts of a queue manager whose group was unknown."""
        owner = WAITING + queue_manager
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT kind, name, probe, ts, data FROM smf_part WHERE owner = ? LIMIT ?", (owner, count)
            )
            return {
                (ObjectName(owner, text(kind), text(name)), text(probe), integer(ts)): text(data)
                for kind, name, probe, ts, data in rows
            }

    def add_records(
        self, identities: Iterable[tuple[bytes, int]], parts: Iterable[SmfPart], placed: Iterable[PartKey] = ()
    ) -> None:
        """Store that records (identity, end in ms UTC) were read, and the sums with them; delete those ``placed``."""
        with self._database.writing() as connection:
            connection.executemany(
                "DELETE FROM smf_part WHERE owner = ? AND kind = ? AND name = ? AND probe = ? AND ts = ?",
                [(*name, probe, ts) for name, probe, ts in placed],
            )
            connection.executemany("INSERT OR IGNORE INTO smf_record(id, ts) VALUES(?, ?)", identities)
            connection.executemany(
                "INSERT INTO smf_part(owner, kind, name, probe, ts, used, shown, data) VALUES(?, ?, ?, ?, ?, ?, 0, ?)"
                " ON CONFLICT(owner, kind, ts, name, probe) DO UPDATE SET used = excluded.used, shown = -abs(shown),"
                " data = excluded.data",
                [(*each.object, each.probe, each.ts, each.used, each.data) for each in parts],
            )

    def top_applications(self, owner: str, first: int, last: int, count: int) -> frozenset[str]:
        """The ``count`` applications with most processor time that have ``first`` <= end < ``last``, ms UTC.

        Of equal ones those first in the alphabet.
        """
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT name FROM smf_part WHERE owner = ? AND kind = 'application' AND ts >= ? AND ts < ?"
                " GROUP BY name ORDER BY total(used) DESC, name LIMIT ?",
                (owner, first, last, count),
            )
            return frozenset(text(name) for (name,) in rows)

    def application_uses(self, owner: str, first: int, last: int) -> list[ApplicationUse]:
        """The applications of a queue manager with ``first`` <= end < ``last``, ms UTC; a negative place has
        changed since.
        """
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT name, ts, shown FROM smf_part"
                " WHERE owner = ? AND kind = 'application' AND ts >= ? AND ts < ? ORDER BY ts, name",
                (owner, first, last),
            )
            return [ApplicationUse(text(name), integer(ts), integer(shown)) for name, ts, shown in rows]

    def unplaced_applications(self, day_ms: int) -> list[tuple[str, int]]:
        """Queue managers and days (since 1970, ``day_ms`` long) with applications that have changed."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT DISTINCT owner, ts / ? FROM smf_part WHERE shown <= 0 AND kind = 'application'", (day_ms,)
            )
            return sorted((text(owner), integer(day)) for owner, day in rows)

    def newest_rest(self, owner: str) -> tuple[int, list[str]] | None:
        """The last end for which there is a rest of applications, and those in it."""
        with self._database.reading() as connection:
            query = "SELECT max(ts) FROM smf_part WHERE owner = ? AND shown = 2"
            (ts,) = connection.execute(query, (owner,)).fetchone()
            if ts is None:
                return None
            rows = connection.execute("SELECT name FROM smf_part WHERE owner = ? AND shown = 2 AND ts = ?", (owner, ts))
            return integer(ts), sorted(text(row[0]) for row in rows)

    def newest_part(self, name: ObjectName, shown: int) -> tuple[str, int, str] | None:
        """Probe, end and sum of the newest part of an object in that place (``ALONE``, ``REST``)."""
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT probe, ts, data FROM smf_part WHERE owner = ? AND kind = ? AND name = ? AND shown = ?"
                " ORDER BY ts DESC LIMIT 1",
                (*name, shown),
            ).fetchone()
            return None if row is None else (text(row[0]), integer(row[1]), text(row[2]))

    def place_applications(self, owner: str, places: Iterable[tuple[str, int, int]]) -> None:
        """Store the place of applications (name, end, place)."""
        with self._database.writing() as connection:
            connection.executemany(
                "UPDATE smf_part SET shown = ? WHERE owner = ? AND kind = 'application' AND name = ? AND ts = ?",
                [(shown, owner, name, ts) for name, ts, shown in places],
            )


def delete_samples(connection: sqlite3.Connection, table: str, number: int, source: int, first: int, last: int) -> bool:
    """Delete the samples of an object from records of ``source`` with ``first`` <= end < ``last``; True when none is
    left.

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
