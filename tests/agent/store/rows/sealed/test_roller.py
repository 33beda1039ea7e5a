"""Rolling up: the rows of days say what their samples say, wherever it stops, and again after late records."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import islice, pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from mqsamples.sealed import bare_store
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkKey
from mqvitals_agent.store.rows.sealed.roller import Roller
from mqvitals_agent.store.rows.sealed.rollup import MetricHour
from mqvitals_agent.store.rows.sealed.rollup_rows import RollupReader
from mqvitals_agent.store.rows.sealed.sealer import SHORTEST_HOT_MS, Sealer
from mqvitals_agent.store.rows.sealed.unseal import unseal_records
from mqvitals_agent.store.rows.sealed.written_hours import WrittenHours
from mqvitals_agent.store.rows.tables import tables_of
from mqvitals_rules.timestamps import HOUR_MS
from mqvitals_rules.vocabulary.tables import KINDS

TABLES = {"queue": tables_of(KINDS)["queue"]}
DAY, DAYS = 20_000, 2
BEGIN = DAY * 24 * HOUR_MS
END = BEGIN + DAYS * 24 * HOUR_MS
NOW = END + SHORTEST_HOT_MS + HOUR_MS
OWNERS = {1: "QM01", 2: "QM01", 5: "QM02"}
POLL, SMF = 1, 3
MINUTES = 10

Key = tuple[int, int, int]
Values = tuple[int | float | None, int | None]
"""Of a gauge (depth) and of a counter (puts)."""
Rows = dict[Key, tuple[int | None, int, Values]]
"""By time, object and source: interval, polled, values."""

VALUES = st.tuples(
    st.one_of(st.none(), st.integers(0, 10**6), st.integers(0, 10**6).map(lambda n: n / 4)),
    st.one_of(st.none(), st.integers(0, 10**6)),
)
TIMES = st.one_of(
    st.integers(BEGIN, END + HOUR_MS).map(lambda ts: ts - ts % (MINUTES * 60_000)),
    # Several in an hour, on both sides of midnight too.
    st.builds(
        lambda hour, place: BEGIN + hour * HOUR_MS + place * MINUTES * 60_000,
        st.sampled_from((0, 1, 23, 24, 47)),
        st.integers(0, 60 // MINUTES),
    ),
)
ROWS = st.dictionaries(
    st.tuples(TIMES, st.sampled_from(sorted(OWNERS)), st.sampled_from((POLL, POLL, POLL, SMF))),
    st.tuples(st.one_of(st.none(), st.integers(1, 10**6)), st.integers(0, 1), VALUES),
    max_size=60,
)


def write(connection: sqlite3.Connection, rows: Rows, written: WrittenHours | None = None) -> None:
    for (ts, number, source), (interval, polled, values) in rows.items():
        connection.execute(
            "INSERT OR REPLACE INTO sample_queue(ts, object_id, source, interval_ms, polled, depth, puts)"
            " VALUES(?, ?, ?, ?, ?, ?, ?)",
            (ts, number, source, interval, polled, *values),
        )
        if source == POLL:
            connection.execute("INSERT OR IGNORE INTO snapshot VALUES(?, ?, 1, 0, NULL, 1)", (OWNERS[number], ts))
        else:
            connection.execute("INSERT OR IGNORE INTO record VALUES(?, ?, ?)", (number, source, ts))
        if written is not None:
            written.wrote("queue", ts // HOUR_MS, ("depth", "puts"))


def seal(connection: sqlite3.Connection) -> None:
    for _ in Sealer(TABLES, set(), lambda: 0.0).round(connection, NOW + HOUR_MS):
        pass


def roll(connection: sqlite3.Connection) -> Iterator[int]:
    return Roller(TABLES).round(connection, NOW + HOUR_MS)


Figures = dict[tuple[int, int, str, int], tuple[int, object, object, object, int, object]]
"""By object, source, metric and hour since ``BEGIN``."""


def rolled(connection: sqlite3.Connection) -> Figures:
    found: Figures = {}
    reader = RollupReader()
    for number in OWNERS:
        for source in (POLL, SMF):
            days = reader.of_object(connection, "queue", ("depth", "puts"), number, source, range(DAY, DAY + DAYS))
            for day, metrics in days.items():
                for metric, of_day in metrics.items():
                    for hour, each in of_day.hours().items():
                        place = 24 * (day - DAY) + hour
                        found[number, source, metric, place] = plain(each)
    return found


def plain(hour: MetricHour) -> tuple[int, object, object, object, int, object]:
    return hour.count, hour.lowest, hour.highest, hour.total, hour.covered_ms, hour.last


def computed(rows: Rows) -> Figures:
    """The same from the samples one by one."""
    found: Figures = {}
    for number in OWNERS:
        for source in (POLL, SMF):
            for place, metric in enumerate(("depth", "puts")):
                own = sorted(
                    (ts, interval, values[place])
                    for (ts, of_number, of_source), (interval, polled, values) in rows.items()
                    if (of_number, of_source) == (number, source)
                    and (values[place] is not None or (polled and source == POLL))
                )
                for hour in range(24 * DAYS):
                    begin = BEGIN + hour * HOUR_MS
                    of_hour = [each for each in own if begin < each[0] <= begin + HOUR_MS]
                    before = [ts for ts, _, _ in own if begin - HOUR_MS < ts <= begin]
                    values = [value for _, _, value in of_hour if value is not None]
                    if values:
                        spans = lengths(of_hour, before, by_interval=metric == "puts" or source != POLL)
                        held = [
                            (value, ms) for (_, _, value), ms in zip(of_hour, spans, strict=True) if value is not None
                        ]
                        total = sum(values) if metric == "puts" else sum(value * ms for value, ms in held)
                        covered = sum(ms for _, ms in held)
                        found[number, source, metric, hour] = (
                            len(values),
                            min(values),
                            max(values),
                            total,
                            covered,
                            values[-1],
                        )
    return found


def lengths(
    samples: list[tuple[int, int | None, int | float | None]], before: list[int], *, by_interval: bool
) -> list[int]:
    """How long each sample of an hour stands for, ms."""
    steps = sorted(later[0] - earlier[0] for earlier, later in pairwise(samples))
    intervals = [interval for _, interval, _ in samples if interval]
    usual = steps[(len(steps) - 1) // 2] if steps else intervals[0] if intervals else 0
    found, last = [], before[-1] if before else None
    for ts, interval, _ in samples:
        step = usual if last is None else ts - last
        held = step if step <= 2.5 * usual else usual
        found.append(interval if by_interval and interval is not None else held)
        last = ts
    return found


OTHER_PROBE_BEFORE: Rows = {
    (BEGIN + 23 * HOUR_MS + 600_000, 1, POLL): (None, 0, (None, None)),
    (BEGIN + 24 * HOUR_MS + 600_000, 1, POLL): (None, 1, (None, 0)),
    (BEGIN + 24 * HOUR_MS + 2_400_000, 1, POLL): (None, 1, (None, None)),
}
"""In the hour before two polls only another probe answered."""


@given(ROWS)
@example(OTHER_PROBE_BEFORE)
def test_days_say_what_their_samples_say(rows: Rows) -> None:
    """Gaps, absences, answers of other probes, records, samples at the very end of an hour."""
    with closing(bare_store(OWNERS)) as connection:
        write(connection, rows)
        seal(connection)
        for _ in roll(connection):
            pass
        assert rolled(connection) == computed(rows)


@given(ROWS, ROWS, st.lists(st.integers(0, 300), max_size=3))
def test_wherever_it_stops_and_after_late_records(rows: Rows, late: Rows, stops: list[int]) -> None:
    """Who begins anew ends with the same; records that come late make their days anew."""
    late = {key: row for key, row in late.items() if key[2] == SMF and key not in rows}
    with closing(bare_store(OWNERS)) as connection:
        write(connection, rows)
        seal(connection)
        for stop in stops:
            for _ in islice(roll(connection), stop):
                pass
        for _ in roll(connection):
            pass
        assert rolled(connection) == computed(rows)
        write(connection, late, WrittenHours(connection, TABLES))
        seal(connection)
        for _ in roll(connection):
            pass
        assert rolled(connection) == computed(rows | late)


def polls(hours: int) -> Rows:
    return {
        (ts, 1, POLL): (600_000, 1, (ts // HOUR_MS % 24, 10))
        for ts in range(BEGIN + 600_000, BEGIN + hours * HOUR_MS + 1, 600_000)
    }


def test_a_day_waits_for_its_samples() -> None:
    """A day is rolled up when the first hour after it is sealed, and is not looked at again."""
    with closing(bare_store(OWNERS)) as connection:
        write(connection, polls(49))
        assert list(roll(connection)) == []
        for _ in Sealer(TABLES, set(), lambda: 0.0).round(connection, END - HOUR_MS):
            pass
        assert any(list(roll(connection)))
        assert RollupReader().rolled(connection, "queue") == DAY
        seal(connection)
        assert any(list(roll(connection)))
        assert RollupReader().rolled(connection, "queue") == DAY + 1
        assert list(roll(connection)) == []


def test_what_is_known_of_deleted_chunks_stays() -> None:
    """A late record of a day whose samples are deleted is added to what the day came to."""
    with closing(bare_store(OWNERS)) as connection:
        rows = polls(49)
        write(connection, rows)
        seal(connection)
        for _ in roll(connection):
            pass
        before = rolled(connection)
        connection.execute("DELETE FROM chunk WHERE id < ?", (ChunkKey(24 * (DAY + 1), 0, 0).id,))
        late: Rows = {(BEGIN + 5 * HOUR_MS, 1, SMF): (HOUR_MS, 1, (7, 3_000))}
        write(connection, late, WrittenHours(connection, TABLES))
        seal(connection)
        for _ in roll(connection):
            pass
        assert rolled(connection) == before | computed(late)


def test_deleted_records_leave_nothing() -> None:
    """What records of a day came to goes with them."""
    with closing(bare_store(OWNERS)) as connection:
        late: Rows = {(BEGIN + hour * HOUR_MS, 1, SMF): (HOUR_MS, 1, (7, 3_000)) for hour in (5, 6)}
        rows = polls(49)
        write(connection, rows | late)
        seal(connection)
        for _ in roll(connection):
            pass
        assert rolled(connection) == computed(rows | late)
        written = WrittenHours(connection, TABLES)
        for hour in unseal_records(connection, TABLES["queue"], 1, SMF, BEGIN, END):
            written.disturbed("queue", hour)
        connection.execute("DELETE FROM sample_queue WHERE source = ?", (SMF,))
        connection.execute("DELETE FROM record")
        seal(connection)
        for _ in roll(connection):
            pass
        assert rolled(connection) == computed(rows)


def test_temporary_dynamic_queues_leave_no_hours() -> None:
    """A queue that an application makes anew each time is forgotten with its samples; another one is not."""
    with closing(bare_store(OWNERS)) as connection:
        rows = polls(49)
        others = {(ts, 2, source): row for (ts, _, source), row in rows.items()}
        write(connection, rows | others)
        for number, type_ in ((1, 3), (2, 1)):
            connection.execute(
                "INSERT INTO current_queue(probe, object_id, source, changed, definition_type) VALUES('INQUIRE_Q', ?, ?, 1, ?)",
                (number, POLL, type_),
            )
        seal(connection)
        for _ in roll(connection):
            pass
        assert rolled(connection) == computed(others)


def test_a_damaged_row_is_a_gap() -> None:
    """Neither another day nor another object is lost with it."""
    with closing(bare_store(OWNERS)) as connection:
        rows = polls(49) | {(ts, 2, source): row for (ts, _, source), row in polls(49).items()}
        write(connection, rows)
        seal(connection)
        for _ in roll(connection):
            pass
        connection.execute("UPDATE rollup SET data = x'00' WHERE day = ? AND object_id = 1", (DAY,))
        known = {key: each for key, each in computed(rows).items() if key[0] != 1 or key[3] >= 24}
        assert rolled(connection) == known
        of_kind = RollupReader().of_kind(connection, "queue", "depth", DAY)
        assert set(of_kind) == {(2, POLL)}
