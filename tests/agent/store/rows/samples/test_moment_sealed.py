"""Which samples count is the same of rows and of chunks; chunks that stay open are as those that are opened anew."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.store.file.migration import make_tables
from mqvitals_agent.store.rows.samples.moment_sealed import MomentSample, OpenFor, OpenHours, SampleCondition
from mqvitals_agent.store.rows.sealed.chunk import HourSamples, encode_samples, open_samples
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkKey, ChunkWriter
from mqvitals_rules.timestamps import HOUR_MS

METRICS = "depth", "puts", "gets"
HOUR = 490_000
BEGIN = HOUR * HOUR_MS
QUEUES = OpenFor("queue", "QM01", 1, frozenset({"depth"}))

CELLS = st.tuples(*[st.one_of(st.none(), st.integers(0, 9)) for _ in METRICS])
ROWS = st.lists(st.tuples(st.integers(0, 1), CELLS), min_size=1, max_size=30)
CONDITIONS = st.builds(
    lambda polled, names, answers: SampleCondition(polled, names, answers and names == ("depth",)),
    st.booleans(),
    st.one_of(st.none(), st.lists(st.sampled_from(METRICS), max_size=3, unique=True).map(tuple)),
    st.booleans(),
)


def samples_of(rows: Sequence[tuple[int, Sequence[int | None]]]) -> HourSamples:
    polled, cells = zip(*rows, strict=True)
    columns = zip(METRICS, zip(*cells, strict=True), strict=True)
    times = [BEGIN + 10_000 * place for place in range(len(rows))]
    return HourSamples(times, [10_000] * len(rows), polled, dict(columns))


@given(ROWS, CONDITIONS, st.integers(-1, 31))
def test_a_condition_has_one_meaning(
    rows: list[tuple[int, tuple[int | None, ...]]], condition: SampleCondition, until: int
) -> None:
    """The newest sample that counts is the same by SQL, sample by sample, and by the bits of a chunk."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE s(ts, polled, depth, puts, gets)")
        connection.executemany(
            "INSERT INTO s VALUES(?, ?, ?, ?, ?)",
            [(BEGIN + 10_000 * place, polled, *cells) for place, (polled, cells) in enumerate(rows)],
        )
        query = f"SELECT max(ts) FROM s WHERE {condition.sql} AND ts <= ?"
        last = BEGIN + 10_000 * until
        (by_sql,) = connection.execute(query, (last,)).fetchone()
    wanted = METRICS if condition.any_of is None else condition.any_of
    each = [
        MomentSample(None, bool(polled), False, condition.any_of is None or any(holds[name] for name in wanted), cells)
        for polled, cells in rows
        if (holds := {name: cell is not None for name, cell in zip(METRICS, cells, strict=True)})
    ]
    counting = [place for place, sample in enumerate(each) if condition.counts(sample) and place <= until]
    assert by_sql == (BEGIN + 10_000 * counting[-1] if counting else None)
    samples = samples_of(rows)
    blob, on_axis = encode_samples(samples, METRICS, samples.ts)
    assert on_axis
    assert condition.newest(open_samples(blob, METRICS, samples.ts, METRICS, {"depth"}), last) == by_sql


def store() -> tuple[sqlite3.Connection, ChunkWriter]:
    return make_tables(sqlite3.connect(":memory:", isolation_level=None)), ChunkWriter()


def write(connection: sqlite3.Connection, writer: ChunkWriter, hour: int, number: int, depth: int) -> None:
    samples = samples_of([(1, (depth + place % 7, None, place * place)) for place in range(200)])
    samples = samples._replace(ts=[ts + (hour - HOUR) * HOUR_MS for ts in samples.ts])
    writer.write_axis(connection, hour, "QM01", samples.ts)
    writer.write(connection, ChunkKey(hour, number, 1), "queue", samples, samples.ts)


@pytest.mark.parametrize("most", [1, 100_000, 100_000_000])
@pytest.mark.parametrize("objects", [3, 100])
def test_few_hours_stay_open(most: int, objects: int) -> None:
    """However little may stay open, every hour tells the same; what is asked for first goes first."""
    connection, writer = store()
    with closing(connection):
        for hour in range(HOUR, HOUR + 4):
            for number in range(objects):
                write(connection, writer, hour, number, hour - HOUR)
        hours = OpenHours(most)
        assert hours.last(connection) == HOUR + 3
        for hour in (HOUR, HOUR + 1, HOUR, HOUR + 3, HOUR + 2, HOUR):
            found = hours.of(connection, QUEUES, hour, range(objects), {"depth", "gets", "puts"})
            assert len(found) == objects
            for samples in found.values():
                assert [column.at(8) for column in samples.values.values()] == [hour - HOUR + 1, 64]
                assert samples.ts[0] == hour * HOUR_MS
                assert samples.polled == samples.answered == (1 << 200) - 1
        assert (hours.size <= most) or hours.count == 1
        assert hours.count == (4 if most > 10_000_000 else hours.count)


def test_what_was_sealed_again_is_opened_again(tmp_path: object) -> None:
    """A chunk that came, or has other samples, since the file was looked at."""
    path = f"{tmp_path}/store.db"
    with closing(make_tables(sqlite3.connect(path, isolation_level=None))) as connection:
        writer = ChunkWriter()
        write(connection, writer, HOUR, 1, 0)
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            hours = OpenHours()
            assert set(hours.of(reader, QUEUES, HOUR, (1, 2), {"depth"})) == {1}
            write(connection, writer, HOUR, 2, 0)
            assert set(hours.of(reader, QUEUES, HOUR, (1, 2), {"depth"})) == {1, 2}
            connection.execute("DELETE FROM chunk WHERE id = ?", (ChunkKey(HOUR, 1, 1).id,))
            assert set(hours.of(reader, QUEUES, HOUR, (1, 2), {"depth"})) == {2}
            write(connection, writer, HOUR + 1, 2, 0)
            assert hours.last(reader) == HOUR + 1


def test_a_damaged_chunk_is_as_none() -> None:
    """The others of its hour are read."""
    connection, writer = store()
    with closing(connection):
        for number in (1, 2, 3):
            write(connection, writer, HOUR, number, 0)
        connection.execute("UPDATE chunk SET data = substr(data, 1, 9) WHERE id = ?", (ChunkKey(HOUR, 2, 1).id,))
        assert set(OpenHours().of(connection, QUEUES, HOUR, (1, 2, 3), {"depth"})) == {1, 3}
