"""A store with anything in it that would run when it is read or written is refused by name."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.requests import RequestClient
from mqvitals_agent.store.writer import Store

STRANGE = [
    ("CREATE TRIGGER t AFTER INSERT ON snapshot BEGIN DELETE FROM alert; END", "trigger 't' on 'snapshot'"),
    ("DROP TABLE meta; CREATE VIEW meta AS SELECT 'mode' AS key, 'live' AS value", "view 'meta'"),
    ("CREATE INDEX i ON owner(abs(last_ts))", "index 'i' on 'owner'"),
    ("CREATE INDEX _sqlite_migrations_x ON _sqlite_migrations(lower(name))", "index '_sqlite_migrations_x'"),
    ("DROP INDEX alert_started; CREATE INDEX alert_started ON alert(abs(started))", "index 'alert_started' on 'alert'"),
    ("CREATE TABLE other(a)", "table 'other'"),
    ("CREATE TABLE sample_x(a, b AS (zeroblob(9)))", "table 'sample_x'"),
    ("CREATE TABLE sample_x(a CHECK (a > abs(a)))", "table 'sample_x'"),
    ("CREATE TABLE sample_x(a DEFAULT (random()))", "table 'sample_x'"),
    (
        "CREATE TABLE owner2 AS SELECT * FROM owner; DROP TABLE owner; ALTER TABLE owner2 RENAME TO other",
        "table 'other'",
    ),
]


@pytest.mark.parametrize(("statements", "name"), STRANGE)
def test_what_we_do_not_make_is_refused(path: Path, make: Any, statements: str, name: str) -> None:
    with Store.open(path, kinds=make.kinds) as store:
        store.write(make.snapshot(1, make.status(1, depth=1)), make.verdict())
    connection = sqlite3.connect(path)
    connection.executescript(statements)
    connection.close()
    before = path.read_bytes()
    for opening in (Store.open, StoreReader.open, RequestClient.open):
        with pytest.raises(StoreError, match="holds what mqvitals does not make") as caught:
            opening(path)
        assert name in str(caught.value)
    assert path.read_bytes() == before


def test_a_view_that_comes_while_a_reader_looks(path: Path, make: Any) -> None:
    """A reader that is open already looks again when the schema has changed."""
    with Store.open(path, kinds=make.kinds) as store, StoreReader.open(path, kinds=make.kinds) as reader:
        store.write(make.snapshot(1, make.status(1, depth=1)), make.verdict())
        assert reader.current(make.queue())["depth"].value == 1
        other = sqlite3.connect(path)
        other.executescript("ALTER TABLE current_queue RENAME TO current_away; CREATE VIEW current_queue AS SELECT 1")
        other.close()
        with pytest.raises(StoreError, match="view 'current_queue'"):
            reader.current(make.queue())


def test_what_an_older_vocabulary_and_sqlite_leave_behind(path: Path, make: Any) -> None:
    """Tables of kinds that are no more, and what ANALYZE makes, are no strangers."""
    Store.open(path).close()
    connection = sqlite3.connect(path)
    connection.execute("ANALYZE")
    connection.close()
    with Store.open(path, kinds=make.kinds), StoreReader.open(path, kinds=make.kinds) as reader:
        assert reader.owners() == ()
