"""Questions as rows: what somebody wants to know now, asked beside the agent's writing and answered by the agent.

Whoever asks and the agent that answers judge how old a question is by the machine's own clock, also where the agent's
samples go by another (a simulation that runs faster).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mqvitals_agent.store.error import UNDECODABLE, StoreError, store_error
from mqvitals_agent.store.file.database import StoreDatabase
from mqvitals_agent.store.file.schema import open_beside, read_meta
from mqvitals_agent.store.result import HOLDS, LIVE
from mqvitals_agent.store.rows.tables import integer, moment, moment_or_none, text
from mqvitals_rules.snapshot import ObjectName

WHO = "who"
"""The question who has an object open."""

ANSWER_WAIT_MS = 60_000
"""Nobody waits longer for an answer: what is older is not asked any more."""
KEEP_MS = 600_000
"""How long a question stays, answered or not."""
_MOST = 1_000
"""Questions that the agent looks at together; the others come when these are answered."""


@dataclass(frozen=True, slots=True)
class StoredRequest:
    """A question that waits: its number, its word (``who``), what it is about, and when it was asked (ms UTC)."""

    id: int
    question: str
    object: ObjectName
    asked: int


class RequestClient:
    """The place for questions in a store that an agent writes. ``close`` it, or leave a ``with`` block.

    It writes one row in a transaction of its own beside the agent, never makes a store and never takes the writer's lock.
    Use it in any thread, but in one at a time: a question may have to wait for the agent's transaction, for five seconds at most.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        """For ``open``."""
        self._path = path
        self._connection = connection

    @classmethod
    def open(cls, path: Path | str) -> RequestClient:
        """Open the place for questions in the store at ``path``.

        Raises StoreError: no store, no permission for writing, an older or newer structure, a replay, damaged. Whether an
        agent runs is not looked at.
        """
        path = Path(path).resolve()
        connection = open_beside(path)
        try:
            mode = read_meta(connection).get("mode", LIVE)
        except (sqlite3.Error, *UNDECODABLE) as error:
            connection.close()
            raise store_error(path, error, "reading") from error
        if mode != LIVE:
            connection.close()
            raise StoreError(
                f"the store {path} holds {HOLDS.get(mode, mode)}: no queue manager stands behind it that could be asked",
                "name the store of a running agent",
            )
        return cls(path, connection)

    def ask(self, question: str, object: ObjectName, now: int) -> int:  # noqa: A002 - as Wish calls it
        """Put a question about an object; returns its number. ``now`` is the machine's time, ms UTC. Raises StoreError."""
        try:
            cells = [each.encode().decode() for each in (question, *object)]
        except UnicodeEncodeError:
            raise StoreError(
                f"{str(object)!a} cannot be the name of an object: it is no text", "look at its spelling"
            ) from None
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            delete_old_requests(self._connection, now)
            number = self._connection.execute(
                "INSERT INTO request(question, owner, kind, name, asked_ts) VALUES(?, ?, ?, ?, ?)", (*cells, now)
            ).lastrowid
            self._connection.execute("COMMIT")
        except (sqlite3.Error, *UNDECODABLE) as error:
            with suppress(sqlite3.Error):
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
            raise store_error(self._path, error, "writing") from error
        return integer(number)

    def answer(self, number: int) -> str | None:
        """The answer to a question, JSON; None: not yet. Raises StoreError, also when the question is no longer there."""
        try:
            row = self._connection.execute("SELECT answered_ts, answer FROM request WHERE id = ?", (number,)).fetchone()
            if row is not None:
                return None if moment_or_none(row[0]) is None else text(row[1])
        except (sqlite3.Error, *UNDECODABLE) as error:
            raise store_error(self._path, error, "reading") from error
        raise StoreError(f"the question is no longer in the store {self._path}", "ask again")

    def close(self) -> None:
        """Let go; a second call does nothing."""
        self._connection.close()

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
