"""A store for any SQLite client: ``connect`` opens one with views that read rows and sealed hours alike."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from mqvitals_agent.store.file.database import closed_on_error, explained
from mqvitals_agent.store.file.migration import STRUCTURE
from mqvitals_agent.store.file.schema import APPLICATION_ID, columns_of, open_reader, refuse_foreign_objects
from mqvitals_agent.store.sql.functions import StoreFunctions
from mqvitals_agent.store.sql.views import create_views


def connect(path: Path | str) -> sqlite3.Connection:
    """Open the store at ``path`` read-only, also while an agent writes it, with the views that docs/store.md describes:
    ``history_<kind>``, ``hours_<kind>``, ``alerts``, ``objects``, and the tables ``metric`` and ``state``.

    Use it from one thread. Raises StoreError: no such file, no permission, no store, of another structure.
    """
    path = Path(path).resolve()
    with closed_on_error(open_reader(path)) as connection, explained(path, "reading"):
        connection.execute("PRAGMA query_only = OFF")
        add_views(path, connection)
        # What is added lives in the connection; the file is opened read-only anyway.
        connection.execute("PRAGMA query_only = ON")
    return connection


def add_views(path: Path, connection: sqlite3.Connection) -> None:
    """Give a connection to a store these views. Raises sqlite3.Error, and StoreError for what mqvitals does not make."""
    refuse_foreign_objects(path, connection)
    StoreFunctions(path, connection)
    create_views(connection, columns_of(connection))


def is_store(connection: sqlite3.Connection) -> bool:
    """Whether a connection is to a store of this structure. Raises sqlite3.Error."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return (application, version) == (APPLICATION_ID, STRUCTURE)
