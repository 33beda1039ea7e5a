"""How far engines have been sent what the store holds, and the order in which samples were stored.

There is no second log of samples: ``stored_samples`` has a short row for each snapshot, and for the records of each import,
with their times; samples themselves are read as all others are. Rows that every engine has are deleted.
"""

from __future__ import annotations

import sqlite3
import zlib
from array import array
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from mqvitals_agent.store.file.database import StoreDatabase
from mqvitals_agent.store.rows.tables import integer, moment, text

Totals = Mapping[tuple[str, str], Mapping[int, float]]
"""Running totals of counters: (kind, metric) -> the object's number -> total, as stored and not scaled."""

_LEVEL: Final = 1
"""Of compression: totals are written on the store's thread."""


@dataclass(frozen=True, slots=True)
class StoredSamples:
    """Samples that were stored together: those of a snapshot, or of the records of an owner from one source.

    ``number`` rises in the order of commits. ``first`` and ``last`` are ms UTC, equal for a snapshot; ``samples`` is how many
    objects have one.
    """

    number: int
    owner: str
    source: int
    first: int
    last: int
    samples: int


@dataclass(frozen=True, slots=True)
class RemotePlace:
    """How far an engine has been sent what there is: all up to the number ``place``.

    ``totals_place`` is the place as of which its running totals are stored. ``missed`` samples were deleted before they could
    be sent, ``refused`` ones the engine did not take.
    """

    place: int
    totals_place: int
    missed: int
    refused: int


def encode_totals(totals: Mapping[int, float]) -> bytes:
    """Totals by number as they are stored."""
    numbers, values = array("q", totals), array("d", totals.values())
    return zlib.compress(numbers.tobytes() + values.tobytes(), _LEVEL)


def decode_totals(blob: object) -> dict[int, float]:
    """The totals that ``encode_totals`` made a blob of. Raises TypeError and ValueError for any other."""
    if type(blob) is not bytes:
        raise TypeError(f"{blob!r:.60} holds no totals")
    try:
        plain = zlib.decompress(blob)
    except zlib.error as error:
        raise ValueError(f"totals cannot be read: {error}") from None
    numbers, values = array("q"), array("d")
    half = len(plain) // 2
    numbers.frombytes(plain[:half])
    values.frombytes(plain[half:])
    return dict(zip(numbers, values, strict=True))


class RemoteWriteRepository:
    """The places of engines. Each method is a transaction of its own; use it on the store's thread. Raises StoreError."""

    def __init__(self, database: StoreDatabase) -> None:
        self._database = database

    def register(self, names: Collection[str], *, anew: bool = False) -> tuple[str, ...]:
        """Send to these engines from now on, and to no others; returns those that were sent to before.

        A new one begins with the oldest samples whose order is kept. ``anew``: running totals begin at nothing, as the other one
        of two agents may have sent totals of its own since.
        """
        with self._database.writing() as connection:
            known = {text(row[0]) for row in connection.execute("SELECT name FROM remote_write")}
            begin = _before_oldest(connection)
            connection.executemany(
                "INSERT INTO remote_write(name, place, totals_place, missed, refused) VALUES(?, ?, ?, 0, 0)",
                [(name, begin, begin) for name in names if name not in known],
            )
            gone = sorted(known - set(names))
            for table in ("remote_write", "remote_total"):
                connection.executemany(f"DELETE FROM {table} WHERE name = ?", [(name,) for name in gone])  # noqa: S608 - ours
            if anew:
                connection.execute("UPDATE remote_write SET totals_place = place")
                connection.execute("DELETE FROM remote_total")
            if names:
                _forget_sent(connection)
            else:
                connection.execute("DELETE FROM stored_samples")
        return tuple(gone)

    def advance(
        self, name: str, before: int, place: int, missed: int, refused: int, totals: Totals | None = None
    ) -> bool:
        """An engine has been sent all up to ``place``, of which ``missed`` samples were not there and ``refused`` not taken.

        ``totals`` are as of ``place``. Returns False, and changes nothing, where it is not at ``before`` any longer: the file
        is another one.
        """
        with self._database.writing() as connection:
            moved = connection.execute(
                "UPDATE remote_write SET place = ?, missed = missed + ?, refused = refused + ? WHERE name = ? AND place = ?",
                (place, missed, refused, name, before),
            ).rowcount
            if not moved:
                return False
            if totals is not None:
                connection.execute("UPDATE remote_write SET totals_place = place WHERE name = ?", (name,))
                connection.execute("DELETE FROM remote_total WHERE name = ?", (name,))
                connection.executemany(
                    "INSERT INTO remote_total(name, kind, metric, data) VALUES(?, ?, ?, ?)",
                    [(name, *key, encode_totals(each)) for key, each in totals.items() if each],
                )
            _forget_sent(connection)
        return True


def forget_before(connection: sqlite3.Connection, bound: int, rows: int) -> Iterator[int]:
    """Forget the order of samples from before ``bound`` (ms UTC), which are gone, so many rows at once; yields rows.

    What has not been sent is counted as missed. The caller owns the transaction. Raises sqlite3.Error.
    """
    while True:
        # Those at the head alone: they are about as old as the samples, and there are a handful of others.
        numbers = []
        for number, last in connection.execute(
            "SELECT number, last_ts FROM stored_samples ORDER BY number LIMIT ?", (rows,)
        ):
            if last >= bound:
                break
            numbers.append(integer(number))
        if not numbers:
            return
        connection.execute(
            "UPDATE remote_write SET missed = missed + (SELECT coalesce(sum(samples), 0) FROM stored_samples"
            " WHERE number > place AND number <= ?1) WHERE place < ?1",
            (numbers[-1],),
        )
        yield connection.execute("DELETE FROM stored_samples WHERE number <= ?", (numbers[-1],)).rowcount


def read_place(connection: sqlite3.Connection, name: str) -> RemotePlace | None:
    """How far an engine has been sent what there is; None: it is not known. Raises sqlite3.Error."""
    row = connection.execute(
        "SELECT place, totals_place, missed, refused FROM remote_write WHERE name = ?", (name,)
    ).fetchone()
    return None if row is None else RemotePlace(*map(integer, row))


def read_totals(connection: sqlite3.Connection, name: str) -> dict[tuple[str, str], dict[int, float]]:
    """The running totals of an engine as of its ``totals_place``. Raises sqlite3.Error, TypeError and ValueError."""
    rows = connection.execute("SELECT kind, metric, data FROM remote_total WHERE name = ?", (name,))
    return {(text(kind), text(metric)): decode_totals(data) for kind, metric, data in rows}


def read_order(connection: sqlite3.Connection, after: int, until: int | None = None) -> Iterator[StoredSamples]:
    """What was stored after the number ``after`` (and up to ``until``), in its order. Raises sqlite3.Error."""
    rows = connection.execute(
        "SELECT number, owner, source, first_ts, last_ts, samples FROM stored_samples WHERE number > ? AND number <= ?"
        " ORDER BY number",
        (after, (1 << 62) if until is None else until),
    )
    for number, owner, source, first, last, samples in rows:
        yield StoredSamples(
            integer(number), text(owner), integer(source), moment(first), moment(last), integer(samples)
        )


def _before_oldest(connection: sqlite3.Connection) -> int:
    """The number before the oldest whose order is kept; where there is none, the last one that there was."""
    (oldest,) = connection.execute("SELECT min(number) FROM stored_samples").fetchone()
    if oldest is not None:
        return integer(oldest) - 1
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'stored_samples'").fetchone()
    return 0 if row is None else integer(row[0])


def _forget_sent(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM stored_samples WHERE number <= (SELECT min(totals_place) FROM remote_write)")
