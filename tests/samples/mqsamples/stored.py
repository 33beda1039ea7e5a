"""Rows of a store that no command shows one by one, and new stores whose tables are made once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from mqvitals_agent.store import writer
from mqvitals_agent.store.file.schema import PAGE_SIZE, make_file, open_writer
from mqvitals_agent.store.rows.tables import KindTables


def stored_notifications(path: Path, where: str = "1") -> list[sqlite3.Row]:
    """The notifications of a store that fulfil ``where``, the newest first."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        return connection.execute(f"SELECT * FROM notice WHERE {where} ORDER BY id DESC").fetchall()


def make_tables_once(patch: pytest.MonkeyPatch) -> None:
    """Have a new store begin as a copy of one that the writer made, instead of hundreds of statements for each.

    The tests of making the file itself do without this.
    """
    made: list[tuple[tuple[tuple[KindTables, ...], int], bytes]] = []

    def opened(
        path: Path, tables: Iterable[KindTables], *, page_size: int = PAGE_SIZE, busy_ms: int = 0
    ) -> sqlite3.Connection:
        tables = tuple(tables)
        if not path.stat().st_size and not _log_of(path).exists():
            empty = next((empty for key, empty in made if key == (tables, page_size)), None)
            if empty is None:
                empty = _empty_store(tables, page_size)
                made.append(((tables, page_size), empty))
            path.write_bytes(empty)
        return open_writer(path, tables, page_size=page_size, busy_ms=busy_ms)

    patch.setattr(writer, "open_writer", opened)


def _empty_store(tables: Iterable[KindTables], page_size: int) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "empty.db"
        make_file(path, 0o600)
        open_writer(path, tables, page_size=page_size).close()
        assert not _log_of(path).exists()
        return path.read_bytes()


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")
