"""The history of a kind is the same whether its hours are rows, chunks, or partly both."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from itertools import islice
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.store.file.migration import make_tables
from mqvitals_agent.store.rows.samples.history import FIRST, LAST, HistoryQuery
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkKey
from mqvitals_agent.store.rows.sealed.sealer import Sealer
from mqvitals_agent.store.rows.sealed.unseal import unseal
from mqvitals_agent.store.rows.tables import tables_of
from mqvitals_rules.snapshot import ObjectName, Source
from mqvitals_rules.timestamps import HOUR_MS
from mqvitals_rules.vocabulary.tables import KINDS

TABLES = {kind: tables_of(KINDS)[kind] for kind in ("queue", "channel")}
QUEUE = TABLES["queue"]
BEGIN = 490_000 * HOUR_MS
HOURS = 4
METRICS = ("depth", "puts", "usage")
"""A gauge, a counter and a state."""
NEVER = "qtime_us_short"
"""Of which no sample has a value."""
OBJECTS = {
    1: ObjectName("QM01", "queue", "Q1"),
    2: ObjectName("QM01", "queue", "Q2"),
    3: ObjectName("QM01", "channel", "C3"),
    4: ObjectName("QM02", "queue", "Q1"),
    7: ObjectName("QM02", "queue", "Q7"),
}
ABSENT = ObjectName("QM01", "queue", "NONE")
NAMES = [name for name in (*OBJECTS.values(), ABSENT) if name.kind == "queue"]
POLL, SMF = int(Source.POLL), int(Source.SMF)


Question = Callable[[HistoryQuery, sqlite3.Connection], Any]


class Row(NamedTuple):
    """A sample as it is written: of a record only the metrics that its probe reports."""

    ts: int
    number: int
    source: int
    interval: int | None
    polled: int
    values: Mapping[str, float | None]


def new_store() -> sqlite3.Connection:
    connection = make_tables(sqlite3.connect(":memory:", isolation_level=None))
    for tables in TABLES.values():
        for statement in tables.statements({}):
            connection.execute(statement)
    connection.executemany(
        "INSERT INTO object(id, owner, kind, name, first_ts) VALUES(?, ?, ?, ?, 0)",
        [(number, *name) for number, name in OBJECTS.items()],
    )
    return connection


def write(connection: sqlite3.Connection, rows: list[Row]) -> None:
    """As snapshots and records are written."""
    for row in rows:
        name = OBJECTS[row.number]
        tables = TABLES[name.kind]
        # A channel has other metrics: that it is there is enough.
        cells = [row.values.get(metric) if name.kind == "queue" else None for metric in tables.numbers]
        if row.source == POLL:
            statement = tables.insert_history(tables.numbers)
            connection.execute(statement, (row.ts, row.number, row.interval, row.polled, *cells))
            connection.execute("INSERT OR IGNORE INTO snapshot VALUES(?, ?, 1, 0, NULL, 1)", (name.owner, row.ts))
        else:
            connection.execute(
                tables.merge_history(), (row.source, row.ts, row.number, row.interval, row.polled, *cells)
            )
            connection.execute("INSERT OR IGNORE INTO record VALUES(?, ?, ?)", (row.number, row.source, row.ts))


VALUES = st.one_of(st.none(), st.integers(-3, 10**6), st.integers(0, 10**6).map(lambda n: n / 4))
CODES = st.one_of(st.none(), st.integers(0, 1))
CELLS = st.fixed_dictionaries({}, optional={"depth": VALUES, "puts": VALUES, "usage": CODES})
INTERVALS = st.one_of(st.none(), st.integers(0, 10**6))
TIMES = st.builds(
    lambda part, beside: BEGIN + part * 600_000 + beside, st.integers(0, 6 * HOURS - 1), st.sampled_from((0, 0, 40))
)
POLLS = st.builds(Row, TIMES, st.sampled_from(sorted(OBJECTS)), st.just(POLL), INTERVALS, st.integers(0, 1), CELLS)
RECORDS = st.builds(Row, TIMES, st.sampled_from(sorted(OBJECTS)), st.just(SMF), INTERVALS, st.just(0), CELLS)
HISTORY = st.lists(st.one_of(POLLS, RECORDS), max_size=50, unique_by=lambda row: row[:3])
LATE = st.lists(RECORDS, max_size=8)
STEPS = st.lists(
    st.one_of(
        st.integers(1, 150),
        st.just(10_000),
        LATE,
        st.tuples(st.sampled_from(sorted(OBJECTS)), st.sampled_from((POLL, SMF)), st.integers(0, HOURS - 1)),
    ),
    min_size=1,
    max_size=6,
)
"""Steps of sealing, after which the process ends; records that come late; chunks that become rows again."""
MOMENTS = st.one_of(
    st.integers(-1, 24 * HOURS + 1).map(lambda part: BEGIN + part * 150_000), TIMES, st.sampled_from((FIRST, LAST))
)
CHOSEN = st.lists(st.sampled_from((*METRICS, NEVER)), unique=True)


def take(connection: sqlite3.Connection, step: Any) -> None:
    """Do a step with the store that is sealed."""
    if isinstance(step, int):
        touched: set[tuple[str, int]] = set()
        for _ in islice(Sealer(TABLES, touched, lambda: 0.0).round(connection, BEGIN + (HOURS + 4) * HOUR_MS), step):
            pass
    elif isinstance(step, list):
        write(connection, step)
    else:
        number, source, hour = step
        unseal(connection, TABLES[OBJECTS[number].kind], number, source, [BEGIN // HOUR_MS + hour])


@st.composite
def questions(draw: Callable[[Any], Any]) -> Question:
    """A method with arguments."""
    name, source = draw(st.sampled_from(NAMES)), draw(st.sampled_from((Source.POLL, Source.SMF)))
    metric, metrics = draw(st.sampled_from((*METRICS, NEVER))), draw(CHOSEN)
    first, last, before = draw(MOMENTS), draw(MOMENTS), draw(MOMENTS)
    moments = sorted(draw(st.lists(MOMENTS, max_size=5)))
    newest, polled_only = draw(st.one_of(st.none(), st.integers(0, 12))), draw(st.booleans())
    span = {"first": first, "last": last}
    numbers = sorted((draw(st.integers(0, 8)), draw(st.integers(0, 8))))
    step = draw(st.integers(1, 90)) * 60_000
    some = draw(st.lists(st.sampled_from(NAMES), unique=True))
    most = draw(st.sampled_from((10**6, 20)))
    every: tuple[Question, ...] = (
        lambda query, connection: query.samples(
            connection, name, metric, source, **span, polled_only=polled_only, newest=newest
        ),
        lambda query, connection: as_lists(query.columns(connection, name, metrics, **span, before=before)),
        lambda query, connection: {
            each: as_lists(found)
            for each, found in query.columns_of_all(
                connection, name.owner, metrics, **span, before=before, most=most
            ).items()
        },
        lambda query, connection: query.several(connection, name, metrics, source, **span),
        lambda query, connection: query.of_range(connection, name.owner, (numbers[0], numbers[1]), metrics, **span),
        lambda query, connection: query.sources(connection, name),
        lambda query, connection: list(query.records(connection, metrics, first)),
        lambda query, connection: list(query.polls(connection, metrics, first)),
        lambda query, connection: list(query.polls_near(connection, metrics, moments)),
        lambda query, connection: list(query.polls_at(connection, some, metrics, moments)),
        lambda query, connection: {
            owner: {begin: None if rate is None else round(rate, 6) for begin, rate in sums.items()}
            for owner, sums in query.rate_sums(connection, "puts", moments[:4], step, last, ("usage", 1)).items()
        },
    )
    chosen: Question = draw(st.sampled_from(every))
    return chosen


def as_lists(columns: Any) -> Any:
    """Columns as they compare: an absent value is equal to no other one, nor to itself."""
    values = {
        metric: [None if value != value else value for value in cells] for metric, cells in columns.values.items()
    }
    return columns.ts.tolist(), columns.intervals.tolist(), values, columns.before


def as_text(answer: Any) -> str:
    """An answer as it compares: 5 and 5.0 differ, the order of a mapping means nothing."""
    return repr(sorted(answer.items()) if isinstance(answer, dict) else answer)


@given(HISTORY, STEPS, st.lists(questions(), min_size=1, max_size=8))
def test_every_method_gives_the_same_of_every_age(history: list[Row], steps: list[Any], asked: list[Question]) -> None:
    """One store stays rows; the other one is sealed, stops anywhere, has late records, and goes on."""
    columns = frozenset(QUEUE.numbers)
    with closing(new_store()) as of_rows, closing(new_store()) as sealed:
        for connection in (of_rows, sealed):
            write(connection, history)
        for step in steps:
            take(sealed, step)
            if isinstance(step, list):
                write(of_rows, step)
            for question in asked:
                expected = question(HistoryQuery(QUEUE, columns), of_rows)
                assert as_text(question(HistoryQuery(QUEUE, columns), sealed)) == as_text(expected)


@given(HISTORY, st.data(), st.lists(questions(), min_size=1, max_size=8))
def test_a_damaged_chunk_is_a_gap(history: list[Row], data: st.DataObject, asked: list[Question]) -> None:
    """Its samples are missing, all others are there; and who asked for its object is told which hour it is."""
    columns = frozenset(QUEUE.numbers)
    with closing(new_store()) as of_rows, closing(new_store()) as sealed:
        for connection in (of_rows, sealed):
            write(connection, history)
        take(sealed, 100_000)
        chunks = [ChunkKey.of(row) for (row,) in sealed.execute("SELECT id FROM chunk")]
        for key in data.draw(st.lists(st.sampled_from(chunks), unique=True)) if chunks else ():
            change = data.draw(
                st.sampled_from(("data = substr(data, 1, length(data) / 2)", "data = x'00'", "layout = 0"))
            )
            sealed.execute(f"UPDATE chunk SET {change} WHERE id = ?", (key.id,))
            table, begin = TABLES[OBJECTS[key.number].kind].history, key.hour * HOUR_MS
            of_rows.execute(
                f"DELETE FROM {table} WHERE object_id = ? AND source = ? AND ts BETWEEN ? AND ?",
                (key.number, key.source, begin, begin + HOUR_MS - 1),
            )
            query, name = HistoryQuery(QUEUE, columns), OBJECTS[key.number]
            if name.kind == "queue":
                query.several(sealed, name, METRICS, Source(key.source))
                assert begin in query.damaged(sealed, name)
                assert query.damaged(sealed, ABSENT) == ()
        for question in asked:
            expected = question(HistoryQuery(QUEUE, columns), of_rows)
            assert as_text(question(HistoryQuery(QUEUE, columns), sealed)) == as_text(expected)
