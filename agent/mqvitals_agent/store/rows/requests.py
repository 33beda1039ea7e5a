"""Requests as rows: a program asks about an object now, beside the agent's writing, and the agent answers.

Both take the age of a request from the machine's own clock, also where the agent's samples have another one (a
simulation that runs faster).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.file.database import StoreDatabase, closed_on_error, explained
from mqvitals_agent.store.file.schema import open_beside, read_meta
from mqvitals_agent.store.result import HOLDS, LIVE
from mqvitals_agent.store.rows.tables import integer, moment, moment_or_none, text
from mqvitals_rules.snapshot import ObjectName

WHO = "who"
"""The request for the applications that have an object open."""

UNITS = "units"
"""The request for the units of work of a queue manager."""

ANSWER_WAIT_MS = 60_000
"""How long a program waits for an answer: older requests are not answered."""
KEEP_MS = 600_000
"""How long a request stays, answered or not."""
_MOST = 1_000
"""The requests that the agent reads at a time."""


@dataclass(frozen=True, slots=True)
class StoredRequest:
    """A request without an answer: its number, its question (``who``), its object, and when it was made (ms UTC)."""

    id: int
    question: str
    object: ObjectName
    asked: int


def open_beside_agent(path: Path, past: str) -> sqlite3.Connection:
    """Open the store at ``path`` for short transactions beside an agent; ``past`` says why no replay will do.

    Raises StoreError: no store, no permission for writing, an older or newer structure, a replay, damaged.
    """
    with explained(path, "reading"), closed_on_error(open_beside(path)) as connection:
        mode = read_meta(connection).get("mode", LIVE)
        if mode != LIVE:
            raise StoreError(
                f"the store {path} holds {HOLDS.get(mode, mode)}: {past}", "name the store of a running agent"
            )
    return connection


class RequestClient:
    """Puts requests into a store that an agent writes. ``close`` it, or leave a ``with`` block.

    It writes one row in a transaction of its own beside the agent, never makes a store and never takes the writer's
    lock. Use it in one thread at a time. A request may wait for the agent's transaction, five seconds at most.
    """

    def __init__(self, database: StoreDatabase) -> None:
        """For ``open``."""
        self._database = database

    @classmethod
    def open(cls, path: Path | str) -> RequestClient:
        """Open the store at ``path`` for requests.

        Raises StoreError: no store, no permission for writing, an older or newer structure, a replay, damaged. It
        does not check whether an agent runs.
        """
        path = Path(path).resolve()
        return cls(StoreDatabase(path, open_beside_agent(path, "it has no queue manager to ask")))

    def ask(self, question: str, object: ObjectName, now: int) -> int:  # noqa: A002 - as StoredRequest calls it
        """Store a request about an object; returns its number.

        ``now`` is the machine's time, ms UTC. Raises StoreError.
        """
        try:
            cells = [each.encode().decode() for each in (question, *object)]
        except UnicodeEncodeError:
            raise StoreError(
                f"{str(object)!a} cannot be the name of an object: it is no text", "check its spelling"
            ) from None
        with self._database.writing() as connection:
            delete_old_requests(connection, now)
            statement = "INSERT INTO request(question, owner, kind, name, asked_ts) VALUES(?, ?, ?, ?, ?)"
            return integer(connection.execute(statement, (*cells, now)).lastrowid)

    def answer(self, number: int) -> str | None:
        """The answer to a request, JSON; None: not yet.

        Raises StoreError, also when the request is no longer stored.
        """
        with self._database.reading() as connection:
            row = connection.execute("SELECT answered_ts, answer FROM request WHERE id = ?", (number,)).fetchone()
            if row is not None:
                return None if moment_or_none(row[0]) is None else text(row[1])
        raise StoreError(f"the request is no longer in the store {self._database.path}", "ask again")

    def close(self) -> None:
        """Close the connection; a second call does nothing."""
        self._database.connection.close()

    def __enter__(self) -> RequestClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class RequestRepository:
    """Requests as the agent reads and answers them. Every method raises StoreError."""

    def __init__(self, database: StoreDatabase) -> None:
        self._database = database

    def waiting(self, now: int) -> tuple[StoredRequest, ...]:
        """The oldest requests without an answer at ``now`` (ms UTC, the machine's time).

        One that is older than ``ANSWER_WAIT_MS`` is left out, and one from the future: the clock was set back since.
        """
        with self._database.reading() as connection:
            return tuple(
                StoredRequest(
                    integer(number), text(question), ObjectName(text(owner), text(kind), text(name)), moment(asked)
                )
                for number, question, owner, kind, name, asked in connection.execute(
                    "SELECT id, question, owner, kind, name, asked_ts FROM request"
                    " WHERE answered_ts IS NULL AND asked_ts BETWEEN ? AND ? ORDER BY asked_ts, id LIMIT ?",
                    (now - ANSWER_WAIT_MS, now + ANSWER_WAIT_MS, _MOST),
                )
            )

    def answer(self, numbers: Iterable[int], answer: str, now: int) -> None:
        """Store the answer to these requests at ``now`` (ms UTC), and delete old requests."""
        with self._database.writing() as connection:
            connection.executemany(
                "UPDATE request SET answered_ts = ?, answer = ? WHERE id = ? AND answered_ts IS NULL",
                [(now, answer, number) for number in numbers],
            )
            delete_old_requests(connection, now)

    def delete_old(self, now: int) -> None:
        """Delete requests that were made long before ``now`` (ms UTC), answered or not."""
        with self._database.writing() as connection:
            delete_old_requests(connection, now)


def delete_old_requests(connection: sqlite3.Connection, now: int) -> None:
    """Delete what was asked long before ``now``, and what a clock that was set back since dated far ahead.

    The caller owns the transaction. Raises sqlite3.Error.
    """
    connection.execute("DELETE FROM request WHERE asked_ts NOT BETWEEN ? AND ?", (now - KEEP_MS, now + KEEP_MS))
