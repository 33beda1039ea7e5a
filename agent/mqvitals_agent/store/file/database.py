"""A connection with its transactions, which the repositories of a store share."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mqvitals_agent.store.error import UNDECODABLE, store_error


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
        with self._explained("reading"):
            yield self.connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction; what is raised within rolls it back. Raises StoreError."""
        with self._explained("writing"), self.transaction():
            yield self.connection

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """As ``writing``, but raises sqlite3.Error and whatever is raised within."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            self.roll_back()
            raise
        self._committed()

    def roll_back(self) -> None:
        """Roll back the open transaction, if there is one. Never fails."""
        if self.connection.in_transaction:
            # When the disk is full SQLite may have rolled back by itself.
            with suppress(sqlite3.Error):
                self.connection.execute("ROLLBACK")

    @contextmanager
    def _explained(self, doing: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, *UNDECODABLE) as error:
            raise store_error(self.path, error, doing) from error
