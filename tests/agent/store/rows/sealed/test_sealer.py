"""Sealing a store: what was in rows is in chunks, wherever sealing stops, and late rows are added."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.sealed import bare_store
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkReader
from mqvitals_agent.store.rows.sealed.sealer import SEAL_AFTER_MS, Sealer
from mqvitals_agent.store.rows.sealed.written_hours import HourColumns
from mqvitals_agent.store.rows.tables import tables_of
from mqvitals_rules.timestamps import HOUR_MS
from mqvitals_rules.vocabulary.tables import KINDS

TABLES = {"queue": tables_of(KINDS)["queue"]}
HOUR = 490_000
METRICS = ("depth", "input_handles", "puts")
OWNERS = {1: "QM01", 2: "QM01", 5: "QM02"}
POLL, SMF = 1, 3

Rows = dict[tuple[int, int, int], tuple[int | None, int, tuple[int | float | None, ...]]]
"""By time, object and source: interval, polled, values."""

VALUES = st.one_of(st.none(), st.integers(0, 10**6), st.integers(0, 10**6).map(lambda n: n / 4))
ROWS = st.dictionaries(
    st.tuples(
        st.integers(HOUR * HOUR_MS, (HOUR + 3) * HOUR_MS - 1).map(lambda ts: ts - ts % 60_000),
        st.sampled_from(sorted(OWNERS)),
        st.sampled_from((POLL, SMF)),
    ),
    st.tuples(st.one_of(st.none(), st.integers(1, 10**6)), st.integers(0, 1), st.tuples(VALUES, VALUES, VALUES)),
    max_size=40,
)


def write(connection: sqlite3.Connection, rows: Rows) -> None:
    names = ", ".join(f'"{name}"' for name in METRICS)
    for (ts, number, source), (interval, polled, values) in rows.items():
        connection.execute(
            f"INSERT OR REPLACE INTO sample_queue(ts, object_id, source, interval_ms, polled, {names})"
            " VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
            (ts, number, source, interval, polled, *values),
        )
        if source == POLL:
            connection.execute("INSERT OR IGNORE INTO snapshot VALUES(?, ?, 1, 0, NULL, 1)", (OWNERS[number], ts))


def held(connection: sqlite3.Connection) -> Rows:
    """What chunks hold, and what rows hold over it."""
    found: Rows = {}
    reader = ChunkReader()
    span = reader.span(connection)
    for hour in range(span[0], span[1] + 1) if span else ():
        for source in (POLL, SMF):
            for number, samples in reader.of_hour(connection, hour, "queue", OWNERS, source):
                for place, ts in enumerate(samples.ts):
                    absent: Sequence[Any] = (None,) * len(samples.ts)
                    values = tuple(samples.values.get(name, absent)[place] for name in METRICS)
                    found[ts, number, source] = samples.intervals[place], samples.polled[place], values
    names = ", ".join(f'"{name}"' for name in METRICS)
    for ts, number, source, interval, polled, *values in connection.execute(
        f"SELECT ts, object_id, source, interval_ms, polled, {names} FROM sample_queue"
    ):
        old_interval, old_polled, old = found.get((ts, number, source), (None, 0, (None,) * len(METRICS)))
        found[ts, number, source] = (
            old_interval if interval is None else interval,
            max(polled, old_polled),
            tuple(before if value is None else value for value, before in zip(values, old, strict=True)),
        )
    return found


def seal(connection: sqlite3.Connection, touched: set[tuple[str, int]], now: int) -> Iterator[None]:
    for _ in Sealer(TABLES, touched, lambda: 0.0).round(connection, now):
        yield


@given(ROWS, ROWS, st.lists(st.integers(0, 200), max_size=4))
def test_at_every_moment_all_is_there(rows: Rows, late: Rows, stops: list[int]) -> None:
    """Sealing stops anywhere and begins anew, as after a crash; rows of past hours come in between and after."""
    now = (HOUR + 3) * HOUR_MS + SEAL_AFTER_MS + HOUR_MS
    with closing(bare_store(OWNERS)) as connection:
        write(connection, rows)
        expected = dict(rows)
        assert held(connection) == expected
        for stop in stops:
            for _ in islice(seal(connection, set(), now), stop):
                assert held(connection) == expected
        touched: set[tuple[str, int]] = set()
        for number, _ in enumerate(seal(connection, touched, now)):
            if number == 30:
                late_polls = {key: row for key, row in late.items() if key[2] == SMF and key not in rows}
                write(connection, late_polls)
                expected |= late_polls
                touched |= {("queue", ts // HOUR_MS) for ts, _, _ in late_polls}
            assert held(connection) == expected
        assert connection.execute("SELECT count(*) FROM sample_queue").fetchone() == (0,)
        assert held(connection) == expected


def test_young_hours_stay_rows() -> None:
    """What ended less than two hours ago is not touched."""
    with closing(bare_store(OWNERS)) as connection:
        rows: Rows = {((HOUR + n) * HOUR_MS + 5, 1, POLL): (1_000, 1, (n, None, None)) for n in range(4)}
        write(connection, rows)
        for _ in seal(connection, set(), (HOUR + 4) * HOUR_MS):
            pass
        left = [ts // HOUR_MS for (ts,) in connection.execute("SELECT ts FROM sample_queue")]
        assert left == [HOUR + 2, HOUR + 3]
        assert held(connection) == rows


@pytest.mark.parametrize("polls", [360])
def test_an_hour_of_polls_is_one_chunk_an_object(polls: int) -> None:
    """The chunks of an hour stand together in order of objects, and one axis an owner holds all times."""
    with closing(bare_store(OWNERS)) as connection:
        rows: Rows = {
            (HOUR * HOUR_MS + 10_000 * n + (7 if number == 5 else 0), number, POLL): (10_000, 1, (n % 7, 2, 10 * n))
            for n in range(polls)
            for number in OWNERS
        }
        write(connection, rows)
        for _ in seal(connection, set(), (HOUR + 4) * HOUR_MS):
            pass
        assert connection.execute("SELECT count(*), sum(n), sum(on_axis) FROM chunk").fetchone() == (3, 3 * polls, 3)
        assert connection.execute("SELECT count(*) FROM chunk_axis").fetchone() == (2,)
        assert connection.execute("SELECT count(*) FROM chunk_layout").fetchone() == (1,)
        assert held(connection) == rows
        hours = range(HOUR - 1, HOUR + 2)
        (depth,) = ChunkReader().of_object(connection, 5, "QM02", POLL, hours, ("depth",))
        assert list(depth.values) == ["depth"]
        assert list(depth.values["depth"]) == [n % 7 for n in range(polls)]


@given(ROWS, st.lists(st.booleans(), min_size=40, max_size=40), st.booleans())
def test_columns_that_are_not_read_have_no_values(rows: Rows, wide: list[bool], known: bool) -> None:
    """Where the writer knows which times have more than the usual columns, sealing reads no others; nothing is missing."""
    written: Rows = {}
    hours: dict[int, HourColumns] = {}
    width = dict(zip(sorted({ts for ts, _, _ in rows}), wide, strict=False))
    for (ts, number, source), (interval, polled, values) in sorted(rows.items()):
        of_row = METRICS if width[ts] else METRICS[:1]
        written[ts, number, source] = interval, polled, (values[0], *(values[1:] if width[ts] else (None, None)))
        hours.setdefault(ts // HOUR_MS, HourColumns()).add(ts, of_row)
    with closing(bare_store(OWNERS)) as connection:
        write(connection, written)
        sealer = Sealer(TABLES, set(), lambda: 0.0, columns=lambda _, hour: hours[hour] if known else None)
        for _ in sealer.round(connection, (HOUR + 4) * HOUR_MS + SEAL_AFTER_MS):
            pass
        assert connection.execute("SELECT count(*) FROM sample_queue").fetchone() == (0,)
        assert held(connection) == written


def test_the_usual_columns_are_those_of_most_times() -> None:
    """An hour that begins with rows of definitions is not read as if all rows had them."""
    columns = HourColumns()
    columns.add(1, "cde")
    columns.add(1, "ab")
    for ts in range(2, 50):
        columns.add(ts, "ab")
    columns.add(200, "af")
    columns.add(2, "c")
    assert columns.split() == (frozenset("ab"), frozenset({1, 2, 200}))
    for ts in range(300, 400):
        columns.add(ts, "ab")
    assert columns.split() == (frozenset("ab"), frozenset({1, 2, 200}))
    assert columns.every == frozenset("abcdef")
    for ts in range(1_000, 3_000):
        columns.add(ts, "cdef")
    assert columns.split() == (frozenset("abcdef"), frozenset())
    for other in range(20):
        columns.add(other, (f"column{other}",))
    assert columns.split()[0] >= {f"column{other}" for other in range(17)}


def test_rows_of_objects_that_are_forgotten_stop_nothing() -> None:
    """They go with the hour; late rows of an earlier hour than that which is deleted stay until they are sealed."""
    with closing(bare_store(OWNERS)) as connection:
        rows: Rows = {
            ((HOUR + 1) * HOUR_MS + n, number, POLL): (1, 1, (n, 2, 3)) for n in range(9) for number in (1, 5)
        }
        write(connection, rows)
        connection.execute(
            "INSERT INTO sample_queue(ts, object_id, source, polled) VALUES(?, 3, 1, 1)", ((HOUR + 1) * HOUR_MS,)
        )
        late: Rows = {}
        touched: set[tuple[str, int]] = set()
        for step in Sealer(TABLES, touched, lambda: 0.0).round(connection, (HOUR + 9) * HOUR_MS):
            if step.chunks and not late:
                late = {(HOUR * HOUR_MS + 5, 2, SMF): (1, 0, (7, None, None))}
                write(connection, late)
                touched.add(("queue", HOUR))
            of_known = {key: row for key, row in held(connection).items() if key[1] in OWNERS}
            assert of_known == rows | late
        assert connection.execute("SELECT count(*) FROM sample_queue").fetchone() == (0,)
        assert late
        assert held(connection) == rows | late
