"""Rows of a store that no command shows one by one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def stored_notifications(path: Path, where: str = "1") -> list[sqlite3.Row]:
    """The notifications of a store that fulfil ``where``, the newest first."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        return connection.execute(f"SELECT * FROM notice WHERE {where} ORDER BY id DESC").fetchall()
