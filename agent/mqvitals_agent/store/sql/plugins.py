"""The views in Datasette and sqlite-utils, which load this module where mqvitals is installed beside them."""

from __future__ import annotations

import sqlite3
import warnings
from pathlib import Path

from pluggy import HookimplMarker

from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.sql import add_views, is_store


@HookimplMarker("datasette")
@HookimplMarker("sqlite_utils")
def prepare_connection(conn: sqlite3.Connection) -> None:
    """Give a connection the views, where it is to a store; any other database stays as it is."""
    try:
        if not is_store(conn):
            return
        (file,) = (row[2] for row in conn.execute("PRAGMA database_list") if row[1] == "main")
        add_views(Path(file), conn)
    except (sqlite3.Error, StoreError) as error:
        warnings.warn(f"mqvitals: this database has no views: {error}", stacklevel=2)
