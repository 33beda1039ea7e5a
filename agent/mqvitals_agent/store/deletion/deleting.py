"""How retention deletes: in statements of so many rows, and with facts in the store of what is no longer whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Final

from mqvitals_agent.store.file.schema import ALERTS_FROM, HOURS_FROM, KEPT_FROM, write_meta
from mqvitals_agent.store.rows.tables import numbered, text

LIMITED: Final = "limited"
"""The store's own fact of when its size last made it delete what is younger than ``keep`` (ms UTC)."""

_FEWEST, _FIRST, _MOST = 20, 200, 5_000
"""Rows at once: adapted to the time that they take."""


class Deleting:
    """Shared by those who delete: the connection of the step that goes on, how many rows at once, and the facts."""

    def __init__(self) -> None:
        self.rows = _FIRST
        self.facts: dict[str, int] = {}
        self.connection: sqlite3.Connection

    def load(self, connection: sqlite3.Connection) -> None:
        """Read the facts of the store. Raises sqlite3.Error."""
        found = connection.execute(
            "SELECT key, value FROM meta WHERE key IN (?, ?, ?, ?) OR key LIKE ?",
            (KEPT_FROM, ALERTS_FROM, HOURS_FROM, LIMITED, f"{KEPT_FROM}.%"),
        )
        self.facts = {text(key): int(text(value)) for key, value in found}

    def note(self, key: str, value: int) -> None:
        """A fact, which only ever grows, is ``value`` from now on. Raises sqlite3.Error."""
        if value > self.facts.get(key, -1):
            self.facts[key] = value
            write_meta(self.connection, {key: str(value)})

    def adapt(self, deleted: int, took: float, aim: float) -> None:
        """A statement of ``deleted`` rows took so long (s): those that come shall take about ``aim``."""
        if took > aim:
            self.rows = max(self.rows // 2, _FEWEST)
        elif deleted >= self.rows and took < aim / 4:
            self.rows = min(self.rows * 2, _MOST)

    def in_pieces(self, statement: str, *parameters: str | int) -> Iterator[int]:
        """Run a statement, whose last parameter is a number of rows, until it deletes none; yields rows."""
        while deleted := self.connection.execute(statement, numbered(*parameters, self.rows)).rowcount:
            yield deleted
