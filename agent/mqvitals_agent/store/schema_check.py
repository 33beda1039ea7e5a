"""Whether a store holds only tables and indexes that mqvitals makes.

A trigger, a view in a table's place or an index on an expression would run when we read or write. None of ours does, so a
file that has one is refused before anything else in it is read.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mqvitals_agent.store.error import StoreError, Trouble
from mqvitals_agent.store.migration import migrations

_OF_A_KIND = re.compile(r"(sample|current)_[a-z][a-z0-9_]*")
"""Tables that are made from the vocabulary, also from an older one."""

_OF_LIBRARIES = re.compile(r"sqlite_(autoindex_.*|sequence|stat[14])|(idx_)?_sqlite_migrations\w*")
"""SQLite's own, whose names it forbids to others, and the table in which sqlite_utils notes what was migrated."""

_EXPRESSION = re.compile(r"\b(check|generated|as|collate)\b|default\s*\(|create\s+virtual", re.IGNORECASE)
"""What a table of ours never has: anything that SQLite would compute."""

_LONGEST = 60


class Stranger(NamedTuple):
    """Something in a store that mqvitals does not make; as text ``trigger 'x' on 'queue'``."""

    type: str
    name: str
    table: str

    def __str__(self) -> str:
        on = f" on {self.table[:_LONGEST]!r}" if self.table != self.name else ""
        return f"{self.type} {self.name[:_LONGEST]!r}{on}"


def strangers(connection: sqlite3.Connection) -> list[Stranger]:
    """What stands in a store that mqvitals does not make. Raises sqlite3.Error."""
    known = _known()
    return [
        Stranger(str(kind), str(name), str(table))
        for kind, name, table, sql in connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema")
        if not _ours(str(kind), str(name), sql, known)
    ]


def refuse_strangers(path: Path, connection: sqlite3.Connection) -> None:
    """Raises StoreError for a store that holds anything that mqvitals does not make, and sqlite3.Error."""
    found = strangers(connection)
    if found:
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        raise StoreError(
            f"the store {path} holds what mqvitals does not make: {', '.join(map(str, found[:3]))}{more}; it is not followed",
            "find out who put it there; 'mqvitals store check --repair' drops it",
            Trouble.DAMAGED,
        )


def _ours(kind: str, name: str, sql: object, known: Mapping[tuple[str, str], str]) -> bool:
    if _OF_LIBRARIES.fullmatch(name) and kind in {"table", "index"}:
        plain = sql is None or _EXPRESSION.search(str(sql)) is None
        # An index on columns alone has one pair of parentheses.
        return plain and (kind == "table" or str(sql).count("(") <= 1)
    if kind == "index":
        return known.get((kind, name)) == _words(sql)
    if kind != "table" or not isinstance(sql, str) or _EXPRESSION.search(sql):
        return False
    return (kind, name) in known or _OF_A_KIND.fullmatch(name) is not None


@cache
def _known() -> Mapping[tuple[str, str], str]:
    """(type, name) -> SQL of all that the migrations make."""
    connection = migrations.made(sqlite3.connect(":memory:", isolation_level=None))
    try:
        return {
            (kind, name): _words(sql)
            for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql NOT NULL")
        }
    finally:
        connection.close()


def _words(sql: object) -> str:
    return " ".join(str(sql).split())
