"""Less in a store: what is old is deleted, and its space given back."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.store.error import StoreError, StoreErrorKind
from mqvitals_agent.store.file.compact import compact, room_of
from mqvitals_agent.store.file.long_work import LongWork
from mqvitals_agent.store.prune import expired, prune
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_rules.lifecycle.alert import AlertState, Transition, Why


def fill(path: Path, make: Any, cycles: range, queues: int = 40) -> None:
    with Store.open(path, kinds=make.kinds, replay=True) as store:
        for cycle in cycles:
            readings = [make.status(cycle, f"Q{number}", depth=cycle, puts=number) for number in range(queues)]
            fired = make.alert(cycle, AlertState.FIRING, name=f"Q{cycle}", started=cycle)
            ended = make.alert(cycle, AlertState.RESOLVED, name=f"Q{cycle}", started=cycle, ended=cycle)
            transitions = (
                Transition(fired, None, Why.CONDITION_HOLDS),
                Transition(ended, fired, Why.CONDITION_HOLDS),
            )
            store.write(make.snapshot(cycle, *readings), make.verdict(*transitions))


def depths(path: Path, make: Any) -> list[Any]:
    with StoreReader.open(path, kinds=make.kinds) as reader:
        return [value for _, value in reader.trend(make.queue("Q7"), "depth").points]


def rows(path: Path) -> dict[str, int]:
    with closing(sqlite3.connect(path)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names}


def test_space_is_given_back(path: Path, make: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """After most was deleted the file is as small as what is left, which is as before."""
    fill(path, make, range(1, 200))
    prune(path, make.ts(180), make.ts(199))
    left = rows(path)
    room = room_of(path)
    assert room.free > 10 * 16384
    assert sum(room.needed.values()) == 2 * (room.file - room.free)
    assert main(["store", "compact", str(path), "--dry-run"]) == 0
    assert path.stat().st_size == room.file
    assert main(["store", "compact", str(path)]) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert "free pages; compacting needs" in told.err
    assert path.stat().st_size <= room.file - room.free + 16384
    assert rows(path) == left
    assert depths(path, make) == list(range(180, 200))
    assert main(["store", "check", str(path)]) == 0


def test_neither_beside_a_writer(path: Path, make: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """While a process writes the store, both refuse; to look what would go is allowed."""
    fill(path, make, range(1, 5))
    with Store.open(path, kinds=make.kinds, replay=True):
        for words in (["compact", str(path)], ["prune", str(path), "--keep", "20s"]):
            assert main(["store", *words]) == 2
            assert "is writing the store" in capsys.readouterr().err
        with pytest.raises(StoreError, match="is writing the store"):
            prune(path, make.ts(3), make.ts(4))
        assert main(["store", "prune", str(path), "--keep", "20s", "--dry-run"]) == 0
    assert depths(path, make) == [1, 2, 3, 4]


def test_no_room_for_a_compact_file(path: Path, make: Any) -> None:
    """With a byte too little nothing is begun; so too where the work is stopped: the store is as it was."""
    fill(path, make, range(1, 50))
    before = path.read_bytes()
    needed = sum(room_of(path).needed.values())
    with pytest.raises(StoreError, match=r"needs .* free in") as caught:
        compact(path, free_on=lambda _: min(room_of(path).needed.values()) - 1)
    assert caught.value.kind is StoreErrorKind.FULL
    stopped = LongWork()
    stopped.stop()
    with pytest.raises(StoreError):
        compact(path, stopped, free_on=lambda _: needed)
    assert path.read_bytes() == before


@pytest.fixture(scope="module")
def filled(make: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of twenty cycles, to be copied; it has the tables of all kinds, which a writer would make in each copy."""
    path = tmp_path_factory.mktemp("filled") / "x.db"
    fill(path, make, range(1, 21), 3)
    Store.open(path, replay=True).close()
    return path


@given(bound=st.integers(-5, 205))
def test_dry_run_tells_what_goes(filled: Path, make: Any, tmp_path_factory: pytest.TempPathFactory, bound: int) -> None:
    """Whatever the moment (tenths of a cycle): the rows that it names are those that go, and nothing later does."""
    path = Path(shutil.copy(filled, tmp_path_factory.mktemp("prune")))
    before = make.start + bound * 1000
    told, had = expired(path, before), rows(path)
    prune(path, before, make.ts(20))
    has = rows(path)
    assert {table: had[table] - has[table] for table in told} == dict(told)
    assert all(
        had[table] == has[table] for table in ("snapshot", "sample_queue", "alert", "journal") if table not in told
    )
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert all(ts >= before for ts in reader.snapshot_times("QM01", 99))
    assert not expired(path, before)


def test_prune_by_time_and_by_age(path: Path, make: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a replay the age counts to its end. What is said first is what goes; a wrong clock deletes nothing."""
    fill(path, make, range(1, 31))
    assert main(["store", "prune", str(path), "--keep", "100s", "--dry-run"]) == 0
    told = capsys.readouterr().err
    assert "760 rows of queues, 19 snapshots" in told
    assert "19 alerts" in told
    assert depths(path, make) == list(range(1, 31))
    assert main(["store", "prune", str(path), "--keep", "100s"]) == 0
    assert depths(path, make) == list(range(20, 31))
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert reader.meta().kept_from == make.ts(20)
    assert main(["store", "prune", str(path), "--before", "2030-01-01"]) == 2
    assert "--before '2030-01-01' is in the future" in capsys.readouterr().err
    assert main(["store", "prune", str(path), "--keep", "90000d"]) == 2
    assert "nothing is older" in capsys.readouterr().err
    assert main(["store", "prune", str(path), "--keep", "100s"]) == 0
    assert capsys.readouterr().err.endswith("deleted: 0 rows\n")
    with pytest.raises(SystemExit):
        main(["store", "prune", str(path)])
    capsys.readouterr()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE meta SET value = 'live' WHERE key = 'mode'")
    assert main(["store", "prune", str(path), "--keep", "1d"]) == 2
    assert "nothing of the samples" in capsys.readouterr().err
    assert depths(path, make) == list(range(20, 31))
