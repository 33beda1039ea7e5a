"""Console messages as rows, and how far their files were read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple
from zlib import crc32

from mqvitals_agent.store.file.database import StoreDatabase
from mqvitals_agent.store.rows.tables import integer, moment, text

FREQUENT: Final = frozenset({"CSQX500I", "CSQX501I", "CSQX511I", "CSQX512I", "CSQX545I"})
"""Messages of every connection: those of one minute and object are one row, whatever else they say."""

MOST_ROWS: Final = 200_000
"""More messages than that are not kept, however young."""

_SECOND_MS, MESSAGE_BURST_MS = 1_000, 60_000
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


class EventQueueRow(NamedTuple):
    """How far an event queue of the queue manager ``via`` was read, as it concerns the events of ``owner``.

    ``state`` is where reading goes on (JSON), empty in a row of another owner than ``via``. ``problem`` says why it
    cannot be read now. ``ts``: when this was last stored, ms UTC; 0 for never.
    """

    owner: str
    queue: str
    via: str
    state: str = ""
    problem: str = ""
    ts: int = 0

    @property
    def unreadable(self) -> int:
        """How many of its messages could not be read so far."""
        count = self._of_state("unreadable")
        return count if isinstance(count, int) else 0

    @property
    def why(self) -> str:
        """What is wrong with the last of them."""
        return str(self._of_state("why") or "")

    @property
    def taken(self) -> bool:
        """Whether messages are removed when they are read."""
        return self._of_state("taken") is True

    def _of_state(self, key: str) -> object:
        try:
            state = json.loads(self.state or "{}")
        except ValueError:
            return None
        return state.get(key) if isinstance(state, dict) else None


def message(
    owner: str, code: str, ts: int, words: str, *, kind: str = "", name: str = "", system: str = "", job: str = ""
) -> StoredMessage:
    """One message that has come once."""
    return StoredMessage(owner, code, kind, name, ts, ts, 1, system, job, words)


class MessageRepository:
    """Console messages and how far their files were read. Every method raises StoreError."""

    def __init__(self, database: StoreDatabase) -> None:
        self._database = database

    def follow(self, paths: Collection[str], before: int) -> None:
        """Follow these files and no others; delete messages from before ``before`` (ms UTC)."""
        with self._database.writing() as connection:
            known = [text(row[0]) for row in connection.execute("SELECT path FROM console_file")]
            gone = [(path,) for path in known if path not in paths]
            connection.executemany("DELETE FROM console_file WHERE path = ?", gone)
            connection.executemany("DELETE FROM console_owner WHERE path = ?", gone)
            delete_old_messages(connection, before)

    def read_events(self, queues: Collection[tuple[str, str]]) -> tuple[EventQueueRow, ...]:
        """Read these (queue manager, queue) and no others: how far they were read."""
        with self._database.writing() as connection:
            rows = [_event_queue(row) for row in connection.execute(_EVENT_QUEUES)]
            gone = [row[:3] for row in rows if (row.via, row.queue) not in queues]
            connection.executemany("DELETE FROM event_queue WHERE owner = ? AND queue = ? AND via = ?", gone)
        return tuple(row for row in rows if row.owner == row.via and (row.via, row.queue) in queues)

    def add_events(self, row: EventQueueRow, messages: Iterable[StoredMessage]) -> None:
        """Store how far an event queue was read and its messages, all or nothing."""
        found = tuple(messages)
        others = {each.owner for each in found} - {row.owner}
        with self._database.writing() as connection:
            _insert_messages(connection, found)
            connection.executemany(
                "INSERT OR REPLACE INTO event_queue(owner, queue, via, state, problem, ts) VALUES(?, ?, ?, ?, ?, ?)",
                [row, *(row._replace(owner=other, state="") for other in sorted(others))],
            )
            connection.execute(
                "UPDATE event_queue SET problem = ?, ts = ? WHERE queue = ? AND via = ?",
                (row.problem, row.ts, row.queue, row.via),
            )

    def console(self, path: str) -> tuple[ConsoleRow | None, frozenset[str]]:
        """How far a file was read (None: never), and the queue managers whose messages it held."""
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT path, offset, inode, mark, state, problem, ts FROM console_file WHERE path = ?", (path,)
            ).fetchone()
            owners = connection.execute("SELECT owner FROM console_owner WHERE path = ?", (path,))
            names = frozenset(text(name) for (name,) in owners)
            if row is None:
                return None, names
            own, offset, inode, mark, state, problem, ts = row
            return ConsoleRow(
                text(own), integer(offset), int(text(inode)), text(mark), text(state), text(problem), moment(ts)
            ), names

    def add(self, row: ConsoleRow, messages: Iterable[StoredMessage], owners: Iterable[str]) -> None:
        """Store how far a file was read, its messages and further queue managers of which it holds some, all or
        nothing.

        A message that is equal to one of the same second is counted.
        """
        with self._database.writing() as connection:
            _insert_messages(connection, messages)
            connection.execute(
                "INSERT OR REPLACE INTO console_file(path, offset, inode, mark, state, problem, ts)"
                " VALUES(?, ?, ?, ?, ?, ?, ?)",
                (row.path, row.offset, str(row.inode), row.mark, row.state, row.problem, row.ts),
            )
            connection.executemany(
                "INSERT OR IGNORE INTO console_owner(path, owner) VALUES(?, ?)", [(row.path, owner) for owner in owners]
            )

    def delete_old(self, before: int) -> None:
        """Delete messages that came last before ``before``, ms UTC."""
        with self._database.writing() as connection:
            delete_old_messages(connection, before)


def _insert_messages(connection: sqlite3.Connection, messages: Iterable[StoredMessage]) -> None:
    connection.executemany(
        f"INSERT INTO message({_COLUMNS}, bucket, variant) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT(owner, code, kind, name, bucket, variant) DO UPDATE SET count = count + excluded.count,"
        " ts = min(ts, excluded.ts), last_ts = max(last_ts, excluded.last_ts)",
        [(*each, *burst(each)) for each in messages],
    )


_EVENT_QUEUES: Final = "SELECT owner, queue, via, state, problem, ts FROM event_queue ORDER BY owner, queue, via"


def _event_queue(row: tuple[Any, ...]) -> EventQueueRow:
    owner, queue, via, state, problem, ts = row
    return EventQueueRow(text(owner), text(queue), text(via), text(state), text(problem), moment(ts))


def read_event_queues(connection: sqlite3.Connection) -> tuple[EventQueueRow, ...]:
    """The event queues that are read, by queue manager and name. Raises sqlite3.Error."""
    rows = connection.execute(_EVENT_QUEUES)
    return tuple(map(_event_queue, rows))


def read_followed(connection: sqlite3.Connection) -> frozenset[str]:
    """The queue managers whose messages a readable file holds. Raises sqlite3.Error."""
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
    yield from map(_stored, reversed(rows))


class NewMessages(NamedTuple):
    """Rows that are new or may have changed; the ``highest`` number and the ``newest`` time (ms UTC) of all rows."""

    highest: int
    newest: int
    rows: tuple[StoredMessage, ...] = ()


def read_new_messages(connection: sqlite3.Connection, number: int, since: int) -> NewMessages:
    """The rows with a higher number than ``number``, and those that came last after ``since``. Raises sqlite3.Error."""
    # Two queries, for each of which SQLite reads the end of an index alone.
    (highest,) = connection.execute("SELECT coalesce(max(id), 0) FROM message").fetchone()
    (newest,) = connection.execute("SELECT coalesce(max(last_ts), 0) FROM message").fetchone()
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM message WHERE id > ? OR last_ts > ?",  # noqa: S608
        (number, since),
    )
    return NewMessages(integer(highest), moment(newest), tuple(map(_stored, rows)))


def read_newest_messages(connection: sqlite3.Connection, owner: str, code: str) -> tuple[StoredMessage, ...]:
    """The newest message of a queue manager with an id about each object. Raises sqlite3.Error."""
    # Of a group with max() SQLite takes the other columns from the row that has it.
    rows = connection.execute(
        f"SELECT {_COLUMNS}, max(last_ts) FROM message WHERE owner = ? AND code = ? GROUP BY kind, name",  # noqa: S608
        (owner, code),
    )
    return tuple(_stored(row[:-1]) for row in rows)


def _stored(row: tuple[Any, ...]) -> StoredMessage:
    owner, code, kind, name, ts, last_ts, count, system, job, words = row
    return StoredMessage(
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


def delete_old_messages(connection: sqlite3.Connection, before: int, most: int = MOST_ROWS) -> None:
    """Delete messages that came last before ``before`` (ms UTC), and the oldest of more than ``most``.

    Raises sqlite3.Error.
    """
    connection.execute("DELETE FROM message WHERE last_ts < ?", (before,))
    connection.execute(
        "DELETE FROM message WHERE last_ts < (SELECT last_ts FROM message ORDER BY last_ts DESC LIMIT 1 OFFSET ?)",
        (most,),
    )


def burst(each: StoredMessage) -> tuple[int, int]:
    """The beginning of the time in which equal messages are counted, and a checksum of the text."""
    if each.code in FREQUENT:
        return each.ts - each.ts % MESSAGE_BURST_MS, 0
    return each.ts - each.ts % _SECOND_MS, crc32(each.text.encode("utf-8", "replace"))
