"""What the writer knows of its hours: only of those that it wrote alone, and within bounds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from mqvitals_agent.store.file.migration import make_tables
from mqvitals_agent.store.rows.sealed.written_hours import EVERY_HOUR, HourColumns, WrittenHours
from mqvitals_agent.store.rows.tables import tables_of
from mqvitals_rules.timestamps import HOUR_MS
from mqvitals_rules.vocabulary.tables import KINDS

TABLES = {"queue": tables_of(KINDS)["queue"]}
HOUR = 490_000


def ts(hours: int) -> int:
    return (HOUR + hours) * HOUR_MS + 5


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    """A store with one sample in ``HOUR``, whose day and those before are rolled up."""
    with closing(make_tables(sqlite3.connect(":memory:", isolation_level=None))) as connection:
        for statement in TABLES["queue"].statements({}):
            connection.execute(statement)
        connection.execute("INSERT INTO sample_queue(ts, object_id, source, polled) VALUES(?, 1, 1, 1)", (ts(0),))
        connection.execute("INSERT INTO rolled(kind, day) VALUES('queue', ?)", (HOUR // 24 + 5,))
        yield connection


def test_only_hours_that_it_wrote_alone_are_known(connection: sqlite3.Connection) -> None:
    """Not that in which it began, none before, and none of which rows were put back or deleted."""
    written = WrittenHours(connection, TABLES)
    for hours in (0, 1, 2, -3):
        written.wrote("queue", ts(hours), ("depth",))
    known = [hours for hours in (-3, 0, 1, 2) if written.columns("queue", HOUR + hours) is not None]
    assert known == [1, 2]
    assert written.touched == {("queue", HOUR + hours) for hours in (-3, 0, 1, 2)}
    assert connection.execute("SELECT day FROM rolled").fetchone() == ((HOUR - 4) // 24 - 1,)
    written.disturbed("queue", HOUR + 2)
    written.wrote("queue", ts(2), ("depth",))
    assert written.columns("queue", HOUR + 2) is None
    written.disturbed_all()
    assert EVERY_HOUR in written.touched
    for hours in (1, 2):
        written.wrote("queue", ts(hours), ("depth",))
        assert written.columns("queue", HOUR + hours) is None
    written.wrote("queue", ts(3), ("depth",))
    columns = written.columns("queue", HOUR + 3)
    assert columns is not None
    assert columns.split() == (frozenset({"depth"}), frozenset())


def test_what_is_remembered_has_a_bound(connection: sqlite3.Connection) -> None:
    """A store that is never sealed has no end of hours: of the oldest nothing is known then, and any may be touched."""
    written = WrittenHours(connection, TABLES)
    for hours in range(1, 5_000):
        written.wrote("queue", ts(hours), ("depth",))
    assert len(written.touched) < 4_200
    assert EVERY_HOUR in written.touched
    assert written.columns("queue", HOUR + 1) is None
    assert written.columns("queue", HOUR + 4_999) is not None
    written.wrote("queue", ts(1), ("depth",))
    assert written.columns("queue", HOUR + 1) is None


def test_of_a_kind_without_rows_the_first_hour_is_known(connection: sqlite3.Connection) -> None:
    """All rows that it has were written here."""
    connection.execute("DELETE FROM sample_queue")
    written = WrittenHours(connection, TABLES)
    written.wrote("queue", ts(0), ("depth",))
    assert written.columns("queue", HOUR) is not None


def test_columns_that_are_usual_are_not_told_with_their_times() -> None:
    """Where some are usual, the others alone are told, however many times have them."""
    columns = HourColumns()
    for at in range(100):
        columns.add(at, "ab")
    for at in (200, 201):
        columns.add(at, "cd")
    assert columns.split() == (frozenset("ab"), frozenset({200, 201}))
