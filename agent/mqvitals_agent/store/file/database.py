"""A connection with its transactions, which the repositories of a store share, and what every connection needs."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mqvitals_agent.store.error import UNDECODABLE, store_error


@contextmanager
def explained(path: Path, doing: str) -> Iterator[None]:
    """Errors of SQLite and of decoding, met while ``doing`` (``reading``, ``writing``) a store, become StoreError."""
    try:
        yield
    except (sqlite3.Error, *UNDECODABLE) as error:
        raise store_error(path, error, doing) from error


@contextmanager
def closed_on_error(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """The connection, which is closed only when anything is raised."""
    try:
        yield connection
    except BaseException:  # raised again; nobody else has the connection yet
        connection.close()
        raise


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction; what is raised within rolls it back. Raises sqlite3.Error."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:  # raised again; no transaction stays open, whatever ends its block
        roll_back(connection)
        raise


def roll_back(connection: sqlite3.Connection) -> None:
    """Roll back the open transaction, if there is one. Never fails."""
    if connection.in_transaction:
        # When the disk is full SQLite may have rolled back by itself.
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")


class StoreDatabase:
    """Runs reads and transactions; errors of SQLite and of decoding become StoreError.

    ``path`` names the store in messages. ``committed`` is called after each transaction of ``writing``. Use it from
    one thread.
    """

    def __init__(
        self, path: Path, connection: sqlite3.Connection, committed: Callable[[], None] = lambda: None
    ) -> None:
        self.path = path
        self.connection = connection
        self._committed = committed

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection, for queries. Raises StoreError."""
        with explained(self.path, "reading"):
            yield self.connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction; what is raised within rolls it back. Raises StoreError."""
        with explained(self.path, "writing"), self.transaction():
            yield self.connection

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """As ``writing``, but raises sqlite3.Error and whatever is raised within."""
        with transaction(self.connection):
            yield
        self._committed()

    def write_back(self) -> bool:
        """Write the log back into the file and empty it; False: a reader needs it still, and it is written back in part.

        No transaction may be open. Raises StoreError.
        """
        with explained(self.path, "writing"):
            (timeout,) = self.connection.execute("PRAGMA busy_timeout").fetchone()
            # Nobody is waited for.
            self.connection.execute("PRAGMA busy_timeout = 0")
            try:
                (held, _, _) = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                self.connection.execute(f"PRAGMA busy_timeout = {timeout:d}")
        self._committed()
        return not held

    @contextmanager
    def writing_within(self) -> Iterator[sqlite3.Connection]:
        """As ``writing``; within a transaction of the caller, as part of it."""
        if self.connection.in_transaction:
            yield self.connection
            return
        with self.writing() as connection:
            yield connection
