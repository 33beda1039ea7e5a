"""The views of a store: all of its samples as plain rows, whatever their age, and no more read than a statement asks for."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Collection, Mapping
from contextlib import closing
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.examples import COSTLY
from mqsamples.sealed import held, seal_all
from mqvitals_agent.store.file.migration import STRUCTURE
from mqvitals_agent.store.file.schema import APPLICATION_ID
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkKey, ChunkReader
from mqvitals_agent.store.rows.sealed.sealer import SEAL_AFTER_MS, Sealer
from mqvitals_agent.store.sql import connect
from mqvitals_agent.store.sql.examples import EXAMPLES, datasette_metadata
from mqvitals_agent.store.sql.plugins import prepare_connection
from mqvitals_agent.store.writer import Store
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.timestamps import iso, parse_iso
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS

HOUR = 3_600_000
BEGAN = parse_iso("2026-11-20T10:00:00Z")
QUIET = Evaluation((), ())
PAGE = Path(__file__).resolve().parents[4] / "docs" / "store.md"
METRICS = ("depth", "input_handles", "puts")
NAMES = ("A", "B")

NUMBERS = st.one_of(st.integers(-(1 << 62), 1 << 62), st.floats(allow_nan=False, allow_infinity=False))
VALUES: st.SearchStrategy[Reported] = st.one_of(NUMBERS, st.integers(0, 9), st.just(Absence.NO_ANSWER))
CELLS = st.fixed_dictionaries(dict.fromkeys(METRICS, VALUES))
TIMES = st.integers(0, 60 * 4).map(lambda minute: BEGAN + minute * 60_000 + minute % 5)
SAMPLES = st.dictionaries(st.tuples(TIMES, st.sampled_from(NAMES), st.booleans()), CELLS, min_size=1, max_size=30)
"""By time, queue and whether it is a record."""


def queue(name: str) -> ObjectName:
    return ObjectName("QM01", "queue", name)


def write(store: Store, samples: Mapping[tuple[int, str, bool], Mapping[str, Reported]]) -> None:
    for cycle, ((ts, name, record), values) in enumerate(sorted(samples.items()), 1):
        source = Source.SMF if record else Source.POLL
        reading = Reading(queue(name), "SMF 116" if record else "INQUIRE_Q_STATUS", ts, values, 60_000, source=source)
        store.write(Snapshot("QM01", False, 0 if record else cycle, ts, (reading,)), QUIET)


def as_rows(path: Path) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """What the view says, by name, source and time."""
    columns = ", ".join(METRICS)
    with closing(connect(path)) as connection:
        rows = connection.execute(
            f"SELECT name, source, ts, at, interval_s, polled, {columns} FROM history_queue"
        ).fetchall()
    assert len({row[:3] for row in rows}) == len(rows)
    assert all(row[3] == iso(row[2]) for row in rows)
    return {row[:3]: row[4:] for row in rows}


def as_held(path: Path) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        objects: dict[int, str] = dict(connection.execute("SELECT id, name FROM object").fetchall())
    return {
        (objects[number], Source(source).name.lower(), ts): (
            row["interval_ms"] / 1000,
            row["polled"],
            *map(row.get, METRICS),
        )
        for (_, number, source, ts), row in held(path, ["queue"]).items()
    }


@COSTLY
@given(SAMPLES, SAMPLES, st.integers(0, 4), st.integers(0, 60))
def test_every_sample_is_a_row(samples: Any, late: Any, hours: int, steps: int) -> None:
    """Once, with its values to the last digit: hot, sealed, sealed and not yet deleted, or late in a sealed hour."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        with Store.open(path, replay=True, source="", group="", created=BEGAN) as store:
            write(store, samples)
            seal_all(store, BEGAN + hours * HOUR)
            write(store, {key: cells for key, cells in late.items() if key[2]})
            with store.database.writing() as connection:
                sealer = Sealer(store.tables, store.snapshots.written.touched)
                for _ in islice(sealer.round(connection, BEGAN + hours * HOUR + SEAL_AFTER_MS), steps):
                    pass
        assert as_rows(path) == as_held(path)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A queue manager at four polls an hour, two of the three hours sealed."""
    path = tmp_path_factory.mktemp("sql") / "small.db"
    with Store.open(path, replay=True, source="", group="", created=BEGAN) as store:
        for cycle in range(12):
            ts = BEGAN + cycle * HOUR // 4
            status = KINDS["channel"].metric("status")
            assert status is not None
            running, retrying = (status.values[word] for word in ("RUNNING", "RETRYING"))
            readings = [
                Reading(queue(name), "INQUIRE_Q_STATUS", ts, {"depth": depth, "oldest_msg_age_s": cycle}, HOUR // 4)
                for name, depth in (("PAYMENTS.IN", 100 * cycle), ("OTHER", 7))
            ]
            channel = ObjectName("QM01", "channel", "TO.QM02")
            values: Mapping[str, Reported] = {"status": retrying if cycle == 5 else running, "bytes_sent": 1_000_000}
            readings.append(Reading(channel, "INQUIRE_CHANNEL_STATUS", ts, values, HOUR // 4))
            store.write(Snapshot("QM01", False, cycle + 1, ts, tuple(readings)), QUIET)
        seal_all(store, BEGAN + 2 * HOUR)
    return path


def test_a_statement_reads_no_more_than_it_asks_for(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Owner, name and hour choose the chunks that are decoded, and of these only the columns that it names."""
    read: list[tuple[int, tuple[int, ...], frozenset[str]]] = []
    of_object = ChunkReader.of_object

    def counted(
        self: ChunkReader, connection: Any, number: int, owner: str, source: int, hours: Any, wanted: Collection[str]
    ) -> Any:
        read.append((number, tuple(hours), frozenset(wanted)))
        return of_object(self, connection, number, owner, source, hours, wanted)

    monkeypatch.setattr(ChunkReader, "of_object", counted)
    with closing(connect(small)) as connection:
        (number,) = connection.execute("SELECT id FROM objects WHERE name = 'PAYMENTS.IN'").fetchone()
        one = "owner = 'QM01' AND name = 'PAYMENTS.IN'"
        found = connection.execute(
            f"SELECT at, depth FROM history_queue WHERE {one} AND hour = '2026-11-20T11:00Z' ORDER BY at"
        ).fetchall()
        assert [depth for _, depth in found] == [400, 500, 600, 700]
        assert {key[:2] for key in read} == {(number, (BEGAN // HOUR + 1,))}
        assert set().union(*(wanted for _, _, wanted in read)) == {"depth"}
        read.clear()
        assert len(connection.execute(f"SELECT depth FROM history_queue WHERE {one}").fetchall()) == 12
        # What was asked of one hour is asked of the next at once, and an hour that was read is remembered.
        assert read == [(number, (BEGAN // HOUR,), frozenset({"depth"}))]


def test_views_join(small: Path) -> None:
    """Two hours at a time may be read by turns, with tables that explain what there is."""
    with closing(connect(small)) as connection:
        rows = connection.execute(
            "SELECT a.depth, b.depth FROM history_queue AS a JOIN history_queue AS b"
            " ON b.name = 'OTHER' AND b.owner = 'QM01' AND b.ts = a.ts WHERE a.owner = 'QM01' AND a.name = 'PAYMENTS.IN'"
            " ORDER BY a.ts"
        ).fetchall()
        assert rows == [(100 * cycle, 7) for cycle in range(12)]
        unit = connection.execute("SELECT unit, pcf FROM metric WHERE kind = 'queue' AND metric = 'depth'").fetchone()
        assert unit == ("messages", "MQIA_CURRENT_Q_DEPTH")
        words = connection.execute(
            "SELECT s.code FROM history_channel AS h JOIN state AS s ON s.kind = 'channel' AND s.metric = 'status'"
            " AND s.word = h.status GROUP BY s.code"
        ).fetchall()
        assert words == [(3,), (5,)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_views(small: Path, kind: str) -> None:
    """With a column for each number and state, which none of the fixed ones hides."""
    with closing(connect(small)) as connection:
        history = connection.execute(f"SELECT * FROM history_{kind} LIMIT 0")
        names = [each[0] for each in history.description]
        assert len(set(names)) == len(names)
        assert {each.name for each in KINDS[kind].metrics if each.in_history} <= {*names}
        hours = connection.execute(f"SELECT * FROM hours_{kind} LIMIT 1")
        assert [each[0] for each in hours.description][:5] == ["hour", "day", "owner", "name", "metric"]


def test_a_damaged_hour_is_left_out(small: Path, tmp_path: Path) -> None:
    """It is said each time it is met, and the other hours are read; what others write is seen by the next statement."""
    copy = Path(shutil.copy(small, tmp_path / "copy.db"))
    one = "SELECT depth FROM history_queue WHERE owner = 'QM01' AND name = 'PAYMENTS.IN'"
    with closing(connect(copy)) as connection:
        assert len(connection.execute(one).fetchall()) == 12
        with closing(sqlite3.connect(copy)) as other:
            (number,) = other.execute("SELECT id FROM object WHERE name = 'PAYMENTS.IN'").fetchone()
            row = ChunkKey(BEGAN // HOUR, number, int(Source.POLL)).id
            assert other.execute("UPDATE chunk SET data = x'00' WHERE id = ?", (row,)).rowcount == 1
            other.commit()
        with pytest.warns(UserWarning, match="an hour of QM01/queue .* is damaged and left out"):
            assert len(connection.execute(one).fetchall()) == 8


def test_nothing_can_be_written(small: Path) -> None:
    """Neither into the store nor into what the connection has for itself."""
    with closing(connect(small)) as connection:
        for statement in ("DELETE FROM chunk", "DELETE FROM metric", "CREATE TABLE x(a)"):
            with pytest.raises(sqlite3.OperationalError, match="readonly"):
                connection.execute(statement)


def examples_of_page() -> list[str]:
    section = PAGE.read_text().split("## With other programs")[1].split("\n## ")[0]
    return [block.strip().rstrip(";") for block in re.findall(r"```sql\n(.*?)```", section, re.DOTALL)]


def test_the_page_shows_the_examples() -> None:
    """Word by word."""
    assert examples_of_page() == [each.sql for each in EXAMPLES]


def test_examples(small: Path) -> None:
    """Each answers its question."""
    sql_of = {each.name: each.sql for each in EXAMPLES}
    with closing(connect(small)) as connection:
        connection.execute("PRAGMA query_only = OFF")
        answers = {name: connection.execute(text).fetchall() for name, text in sql_of.items()}
    assert answers["course"] == [
        ("2026-11-20T11:45:00.000Z", 700, 7),
        ("2026-11-20T12:00:00.000Z", 800, 8),
    ]
    assert answers["not-running"] == [("2026-11-20T11:15:00.000Z", "QM01", "TO.QM02", "RETRYING")]
    # The mean is weighted by time; the first poll has nothing before it.
    assert [(name, deepest) for _, name, deepest, _ in answers["deepest"]] == [("PAYMENTS.IN", 1100), ("OTHER", 7)]
    assert answers["deepest"][1][3] == 7
    sent = {hour: increase for hour, _, _, increase, _ in answers["traffic"]}
    assert sent["2026-11-20T11:00:00Z"] == 4
    assert sum(sent.values()) == 12


def test_metadata_names_what_there_is(small: Path) -> None:
    """Every query of Datasette's metadata runs, and every table that it describes is there."""
    (found,) = datasette_metadata("small")["databases"].values()
    parameters = {"owner": "QM01", "name": "PAYMENTS.IN", "metric": "depth", "day": "2026-11-20", "kind": "queue"}
    with closing(connect(small)) as connection:
        for each in found["queries"].values():
            connection.execute(each["sql"], parameters).fetchall()
        there = {name for (name,) in connection.execute("SELECT name FROM main.sqlite_schema")}
    assert there >= found["tables"].keys()


def test_other_programs_get_the_views(small: Path, tmp_path: Path) -> None:
    """Where they open a store; another database stays as it is, also one that only looks like a store."""
    with closing(sqlite3.connect(small)) as connection:
        prepare_connection(connection)
        assert connection.execute("SELECT count(*) FROM history_queue").fetchone() == (24,)
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        prepare_connection(connection)
        assert connection.execute("SELECT count(*) FROM sqlite_temp_schema").fetchone() == (0,)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {STRUCTURE}")
        connection.execute("CREATE VIEW alert AS SELECT 1")
        with pytest.warns(UserWarning, match="this database has no views: .* view 'alert'"):
            prepare_connection(connection)
