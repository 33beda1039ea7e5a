"""Upkeep of a store with sealed hours: its check and repair, backup, compacting and pruning."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mqsamples.sealed import BEGAN, DAY, HOUR, at, fill, held, seal_all
from mqvitals_agent.commandline.runner import main
from mqvitals_agent.store.file.check import check, repair
from mqvitals_agent.store.file.compact import compact
from mqvitals_agent.store.file.page_counts import table_sizes
from mqvitals_agent.store.file.store_info import read_info
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkKey
from mqvitals_agent.store.rows.sealed.roller import Roller
from mqvitals_agent.store.rows.sealed.rollup_rows import RollupReader
from mqvitals_agent.store.writer import Store

NOW = at(70)
"""The clock of the machine is ahead of every sample."""


@pytest.fixture
def sealed(path: Path, make: Any) -> Path:
    """Forty hours of two queues and the log, of which thirty are sealed."""
    with Store.open(path, kinds=make.kinds, created=BEGAN) as store:
        fill(make, store, range(2, 42))
        seal_all(store, at(32))
    return path


def change(path: Path, statement: str, *parameters: Any) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(statement, parameters).rowcount > 0


def test_all_of_it_is_read(sealed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each chunk is decoded; the report says how many."""
    found = check(sealed, NOW)
    # Polls of three objects and records of one.
    assert (found.good, found.sealed.chunks, found.sealed.samples) == (True, 30 * 4, 30 * 4)
    assert main(["store", "check", str(sealed)]) == 0
    assert "sealed: 120 hours of objects read, with 120 samples" in capsys.readouterr().out


ID = ChunkKey(BEGAN // HOUR + 5, 1, 1).id


@pytest.mark.parametrize(
    ("statement", "parameters", "why", "lost"),
    [
        ("UPDATE chunk SET data = x'ff00ff00' WHERE id = ?", (ID,), "cannot be decompressed", 1),
        ("UPDATE chunk SET data = substr(data, 1, length(data) - 3) WHERE id = ?", (ID,), "is cut", 1),
        ("UPDATE chunk SET n = 7 WHERE id = ?", (ID,), "has 1 samples, and should have 7", 1),
        ("UPDATE chunk SET layout = 99 WHERE id = ?", (ID,), "the metrics of a chunk are missing", 1),
        ("UPDATE chunk SET id = id + (1 << 26) * 50 WHERE id = ?", (ID,), "the times of a chunk are missing", 1),
        ("DELETE FROM chunk_axis WHERE hour = ?", (BEGAN // HOUR + 5,), "the times of a chunk are missing", 3),
        ("DELETE FROM object WHERE id = 1", (), "there is no such object", 60),
    ],
)
def test_what_is_damaged_is_told_and_dropped(
    sealed: Path, capsys: pytest.CaptureFixture[str], statement: str, parameters: tuple[Any, ...], why: str, lost: int
) -> None:
    """By object and hour; a repair drops these chunks with the entries of their records, and nothing else."""
    before = held(sealed)
    change(sealed, statement, *parameters)
    found = check(sealed, NOW)
    assert len(found.sealed.damaged) == lost
    assert all(why in each.why for each in found.sealed.damaged)
    assert main(["store", "check", str(sealed)]) == 1
    told = capsys.readouterr().out
    assert (
        f"damaged: the samples of {found.sealed.damaged[0].object or 'an object that is not there'} of the hour" in told
    )
    copy, after = repair(sealed, NOW)
    assert copy.exists()
    assert after.good
    gone = {
        (ChunkKey.of(each.row).number, ChunkKey.of(each.row).source, each.hour // HOUR) for each in found.sealed.damaged
    }
    left = {key: row for key, row in before.items() if (key[1], key[2], key[3] // HOUR) not in gone}
    if "SET id" in statement:
        del left["queue", 1, 1, at(5)]
    assert held(sealed) == left


def test_a_late_record_outlives_the_chunk_beside_it(sealed: Path, make: Any) -> None:
    """Its row and its entry stay where the chunk of the hour is dropped."""
    with Store.open(sealed, kinds=make.kinds) as store:
        from mqvitals_rules.snapshot import Reading, Snapshot, Source

        late = Reading(make.queue("A"), "SMF", at(5.5), {"max_depth": 9}, HOUR, poll=False, source=Source.SMF)
        store.write(Snapshot("QM01", False, 0, at(5.5), (late,)), make.verdict())
    change(sealed, "UPDATE chunk SET data = x'00' WHERE id = ?", ChunkKey(BEGAN // HOUR + 5, 1, 3).id)
    assert repair(sealed, NOW)[1].good
    with closing(sqlite3.connect(sealed)) as connection:
        entries = connection.execute("SELECT ts FROM record WHERE ts BETWEEN ? AND ?", (at(5), at(6) - 1)).fetchall()
    assert entries == [(at(5.5),)]
    assert ("queue", 1, 3, at(5.5)) in held(sealed)


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def test_pruning_makes_hours_of_what_goes(path: Path, make: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Samples of three days and a half, rows and sealed ones: before the third day they go, and their hours stay."""
    with Store.open(path, kinds=make.kinds, created=BEGAN, replay=True) as store:
        fill(make, store, range(2, 85))
        seal_all(store, at(20))
    before = held(path)
    words = ["store", "prune", str(path), "--before", "2024-10-06T00:30:00Z"]
    assert main([*words, "--dry-run"]) == 0
    assert "72 sealed hours of objects" in capsys.readouterr().err
    assert main(words) == 0
    assert held(path) == {key: row for key, row in before.items() if key[3] >= at(48.5) - HOUR / 2}
    days = [(BEGAN // DAY,), (BEGAN // DAY + 1,)]
    assert rows(path, "SELECT DISTINCT day FROM rollup ORDER BY day")[:2] == days
    assert check(path, at(90)).good
    assert main([*words, "--hours"]) == 0
    assert rows(path, "SELECT min(day) FROM rollup") == [(BEGAN // DAY + 2,)]


def test_compacting_drops_layouts_that_no_chunk_has(sealed: Path) -> None:
    """The newest stays, so that its number is not given again; all samples are as before."""
    before, layouts = held(sealed), rows(sealed, "SELECT id FROM chunk_layout")
    change(sealed, "INSERT INTO chunk_layout(kind, columns) VALUES('queue', '[\"usage\"]'), ('queue', '[]')")
    change(sealed, "DELETE FROM chunk WHERE layout = 1")
    compact(sealed)
    assert rows(sealed, "SELECT id FROM chunk_layout") == [*layouts[1:], (len(layouts) + 2,)]
    assert held(sealed).items() <= before.items()
    assert check(sealed, NOW).good


@pytest.mark.parametrize("exact", [True, False])
def test_what_sealed_and_rolled_up_hours_take(
    path: Path, make: Any, capsys: pytest.CaptureFixture[str], exact: bool
) -> None:
    """By kind as their rows have bytes, together what the tables take; days, growth, and from when to when."""
    with Store.open(path, kinds=make.kinds, created=BEGAN) as store:
        fill(make, store, [2 + part / 4 for part in range(90 * 4)], [f"Q{number}" for number in range(20)])
        seal_all(store, at(80))
        with store.database.writing() as connection:
            for _ in Roller(store.tables).round(connection, at(80) + 3 * HOUR):
                pass
    info = read_info(path, exact_up_to=1 << 40 if exact else 0)
    sizes = table_sizes(path, exact_up_to=1 << 40 if exact else 0).by_table
    queue, log = info.kinds["queue"], info.kinds["log"]
    chunks = sum(sizes[table] for table in ("chunk", "chunk_axis", "chunk_layout"))
    assert queue.sealed + log.sealed == pytest.approx(chunks, abs=2)
    assert queue.hours + log.hours == pytest.approx(
        sum(sizes[table] for table in ("rollup", "rollup_metric", "rolled")), abs=2
    )
    weights = dict(
        rows(path, "SELECT kind, sum(length(data)) FROM chunk JOIN chunk_layout AS l ON l.id = layout GROUP BY 1")
    )
    assert queue.sealed / log.sealed == pytest.approx(weights["queue"] / weights["log"], rel=0.1)
    assert info.sealed.chunks == pytest.approx(78 * 22, rel=0 if exact else 0.05)
    assert (info.sealed.begin, info.sealed.end) == (at(2), at(80))
    assert (info.sealed.first_day, info.sealed.days) == (BEGAN, 3)
    assert (info.oldest, info.newest) == (at(2), at(91.75))
    samples = queue.samples + log.samples
    assert sum(info.days.values()) == pytest.approx(samples, abs=100)
    assert list(info.days) == [BEGAN + day * DAY for day in range(4)]
    # A day as sealed hours have it, with its rolled-up hours.
    assert info.growth == pytest.approx((queue.sealed + log.sealed) / 78 * 24 + (queue.hours + log.hours) / 3, rel=0.05)
    assert main(["store", "info", str(path), *(["--exact"] if exact else [])]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "sealed: 1,716 hours of objects, from 2024-10-04 02:00:00 UTC to 2024-10-07 08:00:00 UTC" in told
    assert "hours: 3 days from 2024-10-04 00:00:00 UTC" in told


@pytest.fixture
def rolled(path: Path, make: Any) -> Path:
    """Three days of two queues and the log that are rolled up."""
    with Store.open(path, kinds=make.kinds, created=BEGAN) as store:
        fill(make, store, range(2, 80))
        seal_all(store, at(76))
    roll(path, make)
    return path


def roll(path: Path, make: Any) -> None:
    with Store.open(path, kinds=make.kinds, created=BEGAN) as store, store.database.writing() as connection:
        for _ in Roller(store.tables).round(connection, at(76) + 3 * HOUR):
            pass


_OF_A = "(SELECT id FROM object WHERE name = 'A')"
_DAY = BEGAN // DAY + 1
_HOURS = """SELECT m.kind, m.metric, r.day, r.object_id, r.source, r.data FROM rollup AS r
    JOIN rollup_metric AS m ON m.id = r.metric ORDER BY 1, 2, 3, 4, 5"""
LATE = at(90)


def where(metric: str, day: int = _DAY) -> str:
    of = f"(SELECT id FROM rollup_metric WHERE kind = 'queue' AND metric = '{metric}')"
    return f"WHERE metric = {of} AND day = {day} AND object_id = {_OF_A} AND source = 1"


@pytest.mark.parametrize(
    ("statement", "metric", "why"),
    [
        (f"UPDATE rollup SET data = x'0705' {where('depth')}", "depth", "the hours of a day are damaged"),
        (f"UPDATE rollup SET data = substr(data, 1, length(data) - 1) {where('depth')}", "depth", "are damaged"),
        (f"UPDATE rollup SET data = x'0705' {where('')}", "", "the hours of a day are damaged"),
        (f"UPDATE rollup SET data = x'' {where('')}", "", "which hours they cover is missing"),
        (f"DELETE FROM rollup {where('')}", "", "which hours they cover is missing"),
    ],
)
def test_damaged_rolled_up_hours_are_told_and_made_again(
    rolled: Path, make: Any, capsys: pytest.CaptureFixture[str], statement: str, metric: str, why: str
) -> None:
    """By object, metric and day; a repair deletes them alone, and the day is rolled up again as it was."""
    assert check(rolled, LATE).good
    before = rows(rolled, _HOURS)
    change(rolled, statement)
    found = check(rolled, LATE).rolled.damaged
    assert {(each.day, each.object, why in each.why) for each in found} == {(_DAY, make.queue("A"), True)}
    assert metric in {each.metric for each in found}
    assert main(["store", "check", str(rolled)]) == 1
    of = f"{metric} of {make.queue('A')}" if metric else str(make.queue("A"))
    assert f"damaged: the rolled-up hours of {of} of the day 2024-10-05 (UTC): " in capsys.readouterr().out
    assert repair(rolled, LATE)[1].good
    left = rows(rolled, _HOURS)
    lost = set(before) - set(left)
    assert set(left) < set(before)
    assert {(kind, day, source) for kind, _, day, _, source, _ in lost} == {("queue", _DAY, 1)}
    if len(found) == 1 and metric:
        assert {name for _, name, *_ in lost} == {metric}
    assert rows(rolled, "SELECT day FROM rolled WHERE kind = 'queue'") == [(_DAY - 1,)]
    assert rows(rolled, "SELECT day FROM rolled WHERE kind = 'log'") == [(_DAY + 1,)]
    roll(rolled, make)
    assert rows(rolled, _HOURS) == before
    assert check(rolled, LATE).good


def test_hours_whose_samples_are_gone_are_not_made_again(rolled: Path, make: Any) -> None:
    """What else is known of their day stays, and so do the days after it."""
    change(rolled, "DELETE FROM chunk WHERE id < ?", ChunkKey((_DAY + 1) * 24 + 1, 0, 0).id)
    change(rolled, f"UPDATE rollup SET data = x'0705' {where('depth')}")
    readable = set(rows(rolled, _HOURS)) - set(
        rows(rolled, _HOURS.replace("ORDER BY", "WHERE data = x'0705' ORDER BY"))
    )
    assert repair(rolled, LATE)[1].good
    assert rows(rolled, "SELECT day FROM rolled WHERE kind = 'queue'") == [(_DAY + 1,)]
    roll(rolled, make)
    assert set(rows(rolled, _HOURS)) == readable


def test_of_a_day_that_is_partly_gone_the_rest_is_made_again(rolled: Path, make: Any) -> None:
    """Hours whose samples are gone keep what the other metrics came to."""
    before = rows(rolled, _HOURS)
    change(rolled, "DELETE FROM chunk WHERE id < ?", ChunkKey(_DAY * 24 + 12, 0, 0).id)
    change(rolled, f"UPDATE rollup SET data = x'0705' {where('depth')}")
    assert repair(rolled, LATE)[1].good
    roll(rolled, make)
    assert check(rolled, LATE).good
    with closing(sqlite3.connect(rolled)) as connection:
        (number,) = connection.execute(f"SELECT {_OF_A}").fetchone()
        found = RollupReader().of_object(connection, "queue", ("depth", "puts"), number, 1, (_DAY,))[_DAY]
    assert len(found["puts"].hours()) == 24
    assert min(found["depth"].hours()) >= 11
    assert len(found["depth"].hours()) >= 12
    assert len(rows(rolled, _HOURS)) == len(before)
