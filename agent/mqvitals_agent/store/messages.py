"""Console messages as rows, and how far the files were read that they come from."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, NamedTuple
from zlib import crc32

from mqvitals_agent.store.tables import integer, moment, text

FREQUENT: Final = frozenset({"CSQX500I", "CSQX501I", "CSQX511I", "CSQX512I", "CSQX545I"})
"""Messages of every connection: those of one minute and object are one row, whatever else they say."""

MOST_ROWS: Final = 200_000
"""More messages than that are not kept, however young."""

_SECOND_MS, _MINUTE_MS = 1_000, 60_000
_COLUMNS = "owner, code, kind, name, ts, last_ts, count, system, job, text"


class StoredMessage(NamedTuple):
    """A console message, or ``times`` times the same from ``ts`` to ``last_ts`` (ms UTC).

    ``kind`` and ``name`` are of the object that it names, empty where it names none; a structure belongs to the group.
    """

    owner: str
    code: str
    kind: str
    name: str
    ts: int
    last_ts: int
    times: int
    system: str
    job: str
    text: str


class ConsoleRow(NamedTuple):
    """How far a file was read: bytes, inode and digest of a ``Position``, and what is not yet a message (JSON).

    ``problem`` says why nothing can be read now. ``ts``: when something was last read, ms UTC; 0 for never.
    """

    path: str
    offset: int = 0
    inode: int = 0
    mark: str = ""
    state: str = ""
    problem: str = ""
    ts: int = 0


def message(
    owner: str, code: str, ts: int, words: str, *, kind: str = "", name: str = "", system: str = "", job: str = ""
) -> StoredMessage:
    """One message that has come once."""
    return StoredMessage(owner, code, kind, name, ts, ts, 1, system, job, words)


def write_messages(connection: sqlite3.Connection, messages: Iterable[StoredMessage]) -> None:
    """Keep messages; what came before in the same second with the same words is counted. Raises sqlite3.Error."""
    connection.executemany(
        f"INSERT INTO message({_COLUMNS}, bucket, variant) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT(owner, code, kind, name, bucket, variant) DO UPDATE SET count = count + excluded.count,"
        " ts = min(ts, excluded.ts), last_ts = max(last_ts, excluded.last_ts)",
        [(*each, *_burst(each)) for each in messages],
    )


def write_console(connection: sqlite3.Connection, row: ConsoleRow, owners: Iterable[str]) -> None:
    """A file has been read so far, and holds messages of these queue managers, too. Raises sqlite3.Error."""
    connection.execute(
        "INSERT OR REPLACE INTO console_file(path, offset, inode, mark, state, problem, ts) VALUES(?, ?, ?, ?, ?, ?, ?)",
        (row.path, row.offset, str(row.inode), row.mark, row.state, row.problem, row.ts),
    )
    connection.executemany(
        "INSERT OR IGNORE INTO console_owner(path, owner) VALUES(?, ?)", [(row.path, owner) for owner in owners]
    )


def write_followed(connection: sqlite3.Connection, paths: Collection[str], before: int) -> None:
    """From now on these files are followed and no others; messages from before ``before`` (ms UTC) go. Raises sqlite3.Error."""
    known = [text(row[0]) for row in connection.execute("SELECT path FROM console_file")]
    gone = [(path,) for path in known if path not in paths]
    connection.executemany("DELETE FROM console_file WHERE path = ?", gone)
    connection.executemany("DELETE FROM console_owner WHERE path = ?", gone)
    delete_old(connection, before)


def read_console(connection: sqlite3.Connection, path: str) -> ConsoleRow | None:
    """How far a file was read; None for one that was never. Raises sqlite3.Error."""
    row = connection.execute(
        "SELECT path, offset, inode, mark, state, problem, ts FROM console_file WHERE path = ?", (path,)
    ).fetchone()
    if row is None:
        return None
    name, offset, inode, mark, state, problem, ts = row
    return ConsoleRow(text(name), integer(offset), int(text(inode)), text(mark), text(state), text(problem), moment(ts))


def read_owners_of(connection: sqlite3.Connection, path: str) -> frozenset[str]:
    """The queue managers of which a file has told. Raises sqlite3.Error."""
    return frozenset(
        text(row[0]) for row in connection.execute("SELECT owner FROM console_owner WHERE path = ?", (path,))
    )


def read_followed(connection: sqlite3.Connection) -> frozenset[str]:
    """The queue managers of which messages come: a file that can be read has told of them. Raises sqlite3.Error."""
    rows = connection.execute(
        "SELECT DISTINCT owner FROM console_owner JOIN console_file USING (path) WHERE problem = ''"
    )
    return frozenset(text(row[0]) for row in rows)


def read_failing(connection: sqlite3.Connection) -> tuple[tuple[str, str], ...]:
    """The files that cannot be followed, by path, and why. Raises sqlite3.Error."""
    rows = connection.execute("SELECT path, problem FROM console_file WHERE problem != '' ORDER BY path")
    return tuple((text(path), text(problem)) for path, problem in rows)


def read_messages(
    connection: sqlite3.Connection,
    *,
    owners: Sequence[str] | None = None,
    codes: Collection[str] | None = None,
    since: int = -1,
    until: int | None = None,
    about: tuple[str, str] | None = None,
    limit: int | None = None,
) -> Iterator[StoredMessage]:
    """Messages with ``since`` < last time and first time <= ``until``, oldest first; the newest ``limit`` of them.

    ``about`` is kind and name of an object that they name. Raises sqlite3.Error.
    """
    conditions = ["last_ts > ?"]
    parts: list[str | int] = [since]
    if until is not None:
        conditions.append("ts <= ?")
        parts.append(until)
    for column, chosen in (("owner", owners), ("code", codes)):
        if chosen is not None:
            conditions.append(f"{column} IN ({', '.join('?' * len(chosen))})")
            parts += sorted(chosen)
    if about is not None:
        conditions.append("kind = ? AND name = ?")
        parts += about
    where, last = " AND ".join(conditions), -1 if limit is None else limit
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM message WHERE {where} ORDER BY last_ts DESC, id DESC LIMIT ?",  # noqa: S608
        (*parts, last),
    ).fetchall()
    for owner, code, kind, name, ts, last_ts, count, system, job, words in reversed(rows):
        yield StoredMessage(
            text(owner),
            text(code),
            text(kind),
            text(name),
            moment(ts),
            moment(last_ts),
            integer(count),
            text(system),
            text(job),
            text(words),
        )


def delete_old(connection: sqlite3.Connection, before: int, most: int = MOST_ROWS) -> None:
    """Messages that came last before ``before`` (ms UTC) go, and the oldest of more than ``most``. Raises sqlite3.Error."""
    connection.execute("DELETE FROM message WHERE last_ts < ?", (before,))
    connection.execute(
        "DELETE FROM message WHERE last_ts < (SELECT last_ts FROM message ORDER BY last_ts DESC LIMIT 1 OFFSET ?)",
        (most,),
    )


def _burst(each: StoredMessage) -> tuple[int, int]:
    """The beginning of the time in which the same again is counted, and what tells different words apart."""
    if each.code in FREQUENT:
        return each.ts - each.ts % _MINUTE_MS, 0
    return each.ts - each.ts % _SECOND_MS, crc32(each.text.encode("utf-8", "replace"))
