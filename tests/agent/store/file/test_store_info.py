"""What a store takes: counted and estimated, by kind and day."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.file import page_counts
from mqvitals_agent.store.file.page_counts import count_pages, table_sizes
from mqvitals_agent.store.file.store_info import read_info
from mqvitals_agent.store.writer import Store

DAY_CYCLES = 8640


def fill(path: Path, make: Any, cycles: range, queues: int = 30) -> None:
    with Store.open(path, kinds=make.kinds) as store:
        for cycle in cycles:
            readings = [make.status(cycle, f"Q{number}", depth=cycle, puts=number) for number in range(queues)]
            store.write(make.snapshot(cycle, *readings), make.verdict())


def test_estimate_agrees_with_count(path: Path, make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is in the log and no row is long, both give the same; together they are the pages of the file."""
    fill(path, make, range(1, 300))
    with closing(sqlite3.connect(path)) as connection:
        if not page_counts.has_dbstat(connection):
            # It is an option of SQLite's build: without it there is no exact figure to compare with.
            pytest.skip("this SQLite has no dbstat")
    counted, estimated = table_sizes(path), table_sizes(path, exact_up_to=0)
    assert counted.by_table == estimated.by_table
    assert (counted.estimated, estimated.estimated) == (False, True)
    assert counted.by_table["sample_queue"] > 10 * 16384
    schema = 16384
    assert sum(counted.by_table.values()) == pytest.approx(path.stat().st_size, abs=3 * schema)
    monkeypatch.setattr(page_counts, "has_dbstat", lambda _: False)
    assert table_sizes(path) == estimated


@given(
    rows=st.integers(0, 3000), rowid=st.booleans(), width=st.integers(0, 60), page=st.sampled_from([512, 1024, 4096])
)
def test_pages_of_any_tree(
    tmp_path_factory: pytest.TempPathFactory, rows: int, rowid: bool, width: int, page: int
) -> None:
    """Trees of any depth, with rowid or without, as dbstat counts them."""
    path = tmp_path_factory.mktemp("tree") / "x.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA page_size = {page}")
        connection.execute(f"CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT){'' if rowid else ' WITHOUT ROWID'}")
        with connection:
            connection.executemany("INSERT INTO t VALUES(?, ?)", ((n, "x" * width) for n in range(rows)))
        if not page_counts.has_dbstat(connection):
            # It is an option of SQLite's build: without it there is no exact figure to compare with.
            pytest.skip("this SQLite has no dbstat")
        (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 't'").fetchone()
        (count,) = connection.execute("SELECT pageno FROM dbstat WHERE name = 't' AND aggregate = 1").fetchone()
    data = path.read_bytes()
    assert count_pages(lambda number: data[(number - 1) * page : number * page], root, len(data) // page) == count


@given(data=st.binary(max_size=6000), root=st.integers(1, 12), most=st.integers(1, 50))
def test_pages_that_hold_anything(data: bytes, root: int, most: int) -> None:
    """A page of another moment, or none: the count ends, between one and the pages of the file."""
    pages = {number: b"\x02" + data[number * 7 : number * 7 + 505] for number in range(1, 10)}
    assert 1 <= count_pages(lambda number: pages.get(number, b""), root, most) <= most


def test_days_growth_and_gaps(path: Path, make: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Two days with a gap between them, of which the second has twice as many objects."""
    fill(path, make, range(1, DAY_CYCLES, 360), 20)  # one snapshot an hour
    fill(path, make, range(DAY_CYCLES + 5 * 360 + 1, 2 * DAY_CYCLES, 360), 40)
    info = read_info(path)
    assert info.oldest == make.ts(1)
    assert info.newest == make.ts(2 * DAY_CYCLES - 359)
    assert list(info.days) == sorted(info.days)
    history = sum(each.samples for each in info.kinds.values())
    assert sum(info.days.values()) == pytest.approx(history, abs=len(info.days))
    # 24 snapshots of 20 queues, then 19 of 40 within a day.
    assert info.growth == pytest.approx(history * (19 * 40) / (24 * 20 + 19 * 40), rel=0.1)
    assert main(["store", "info", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [each["owner"] for each in told["gaps"]] == ["QM01"]
    assert told["file_bytes"] == path.stat().st_size
    assert told["kinds"]["queue"]["history_bytes"] == info.kinds["queue"].samples
    assert told["growth_bytes_per_day"] == info.growth
    assert main(["store", "info", str(path), "--tz", "+01:00"]) == 0
    shown = capsys.readouterr().out
    assert "QM01" in shown.split("Gaps")[1]
    assert "(as the agent said last)" in " ".join(shown.split())
    assert "By kind (estimated)" not in shown


def test_empty_store_and_none(path: Path, make: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """A store without samples has sizes, and nothing of samples; where there is no store one sentence says so."""
    with pytest.raises(StoreError, match="there is no store"):
        read_info(path)
    Store.open(path, kinds=make.kinds).close()
    info = read_info(path)
    assert (info.days, info.growth, info.oldest, info.newest) == ({}, None, None, None)
    assert info.file == path.stat().st_size
    assert main(["store", "info", str(path)]) == 0
    assert "There are no gaps." in capsys.readouterr().out
