"""A copy of a store, made while it is written: of one moment, verified, and of use."""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pytest

from mqsamples.sealed import BEGAN, at, fill, held, seal_all
from mqsamples.small_disk import run_with_small_disk
from mqvitals_agent.commandline.runner import main
from mqvitals_agent.store.error import StoreError, StoreErrorKind
from mqvitals_agent.store.file import backup, long_work
from mqvitals_agent.store.file.backup import back_up
from mqvitals_agent.store.file.check import check
from mqvitals_agent.store.file.long_work import LongWork
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.sealed.roller import Roller
from mqvitals_agent.store.rows.sealed.sealer import Sealer
from mqvitals_agent.store.writer import Store


def write(store: Store, make: Any, cycles: range) -> None:
    for cycle in cycles:
        readings = [make.status(cycle, f"Q{number}", depth=cycle, puts=1) for number in range(40)]
        store.write(make.snapshot(cycle, *readings), make.verdict())


def depths(path: Path, make: Any) -> list[Any]:
    with StoreReader.open(path, kinds=make.kinds) as reader:
        return [value for _, value in reader.trend(make.queue("Q7"), "depth").points]


def files(folder: Path) -> list[str]:
    """Hidden ones too, but for what a reader of the store leaves beside it."""
    return sorted(
        each.name for each in folder.iterdir() if each.name not in {"store.db-wal", "store.db-shm", "store.db.lock"}
    )


class Busy(LongWork):
    """Work beside a writer, which writes a cycle whenever the work looks up."""

    def __init__(self, store: Store, make: Any) -> None:
        super().__init__()
        self._store, self._make = store, make
        self.cycles = 100

    def check(self) -> None:
        super().check()
        self.cycles += 1
        write(self._store, self._make, range(self.cycles, self.cycles + 1))


def test_copy_is_of_one_moment_while_a_writer_writes(
    path: Path, tmp_path: Path, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cycle is stored after every other page: the copy has none of them, does not begin anew, and the writer never waits."""
    monkeypatch.setattr(long_work, "_PAGES_AT_ONCE", 2)
    with Store.open(path, kinds=make.kinds) as store:
        write(store, make, range(1, 21))
        work = Busy(store, make)
        made = back_up(path, tmp_path / "copy.db", work)
        pages = made.size // 16384
        assert pages > 20
        assert pages / 2 <= work.cycles - 100 <= pages / 2 + 100  # the steps of one copy, the looks of two counts
        assert depths(made.path, make) == list(range(1, 21))
        assert depths(path, make) == [*range(1, 21), *range(101, work.cycles + 1)]
        with StoreReader.open(made.path, kinds=make.kinds) as reader:
            assert reader.last_ts() == make.ts(20)
    # Restored under the store's name, an agent goes on in it as if it had been there.
    path.unlink()
    made.path.rename(path)
    with Store.open(path, kinds=make.kinds) as store:
        assert store.progress()["QM01"].cycle == 20
        write(store, make, range(21, 24))
    assert depths(path, make) == list(range(1, 24))


class Sealing(LongWork):
    """Work beside a writer, which seals a little, rolls up and polls whenever the work looks up."""

    def __init__(self, store: Store, make: Any) -> None:
        super().__init__()
        self._store, self._make = store, make
        self._hours = iter(range(60, 10_000))
        touched = store.snapshots.written.touched
        with store.database.reading() as connection:
            self._work = chain(
                Sealer(store.tables, touched).round(connection, at(60)), Roller(store.tables).round(connection, at(60))
            )

    def check(self) -> None:
        super().check()
        with self._store.database.writing():
            for _ in islice(self._work, 20):
                pass
        fill(self._make, self._store, (next(self._hours),))


def test_copy_made_while_a_writer_seals(path: Path, tmp_path: Path, make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """All samples of the moment are in the copy, as rows or sealed; restored, the next writer seals on, and all are there still."""
    monkeypatch.setattr(long_work, "_PAGES_AT_ONCE", 1)
    with Store.open(path, kinds=make.kinds, created=BEGAN) as store:
        fill(make, store, [2 + part / 4 for part in range(200)], [f"Q{number}" for number in range(20)])
        seal_all(store, at(20))
        before = held(path)
        with closing(sqlite3.connect(path)) as connection:
            sealed = connection.execute("SELECT count(*) FROM chunk").fetchone()
        made = back_up(path, tmp_path / "copy.db", Sealing(store, make))
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("SELECT count(*) FROM chunk").fetchone() > sealed
            assert connection.execute("SELECT count(*) FROM rollup").fetchone() > (0,)
        assert before.items() < held(path).items()
    assert held(made.path) == before
    assert check(made.path, at(100)).good
    path.unlink()
    made.path.rename(path)
    with Store.open(path, kinds=make.kinds) as store:
        seal_all(store, at(50))
    assert held(path) == before
    assert check(path, at(100)).good


@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_copy_has_the_permissions_of_the_store(path: Path, tmp_path: Path, make: Any, mode: int) -> None:
    """Whatever the mask says; nothing else is left in the folder."""
    with Store.open(path, kinds=make.kinds, mode=mode) as store:
        write(store, make, range(1, 3))
    folder = tmp_path / "copies"
    folder.mkdir()
    before = os.umask(0)
    try:
        made = back_up(path, folder / "copy.db")
    finally:
        os.umask(before)
    assert made.path.stat().st_mode & 0o777 == mode
    assert [each.name for each in folder.iterdir()] == ["copy.db"]
    with closing(sqlite3.connect(made.path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        counts = [connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables]
        assert made.rows == sum(counts)


def test_nothing_is_overwritten(path: Path, tmp_path: Path, make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file, a link to nothing, or a file that comes while the copy is made."""
    Store.open(path, kinds=make.kinds).close()
    there = tmp_path / "there.db"
    there.write_text("mine")
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "nowhere")
    late = tmp_path / "late.db"
    before = files(tmp_path)
    for target in (there, link, path):
        with pytest.raises(StoreError, match="is there already"):
            back_up(path, target)

    def find_damage(*_: object) -> tuple[str, ...]:
        late.write_text("mine")
        return ()

    monkeypatch.setattr(backup, "find_damage", find_damage)
    with pytest.raises(StoreError, match="is there already"):
        back_up(path, late)
    assert files(tmp_path) == sorted([*before, "late.db"])
    assert there.read_text() == late.read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


def test_where_no_copy_can_be_made(path: Path, tmp_path: Path, make: Any) -> None:
    """One sentence, and no file: no store, no folder, a damaged store."""
    target = tmp_path / "copy.db"
    with pytest.raises(StoreError, match="there is no store"):
        back_up(path, target)
    with Store.open(path, kinds=make.kinds) as store:
        write(store, make, range(1, 30))
    with pytest.raises(StoreError, match="cannot be written") as caught:
        back_up(path, tmp_path / "none" / "copy.db")
    assert caught.value.kind is StoreErrorKind.PERMISSION
    with path.open("r+b") as file:
        for page in range(5, path.stat().st_size // 16384):
            file.seek(page * 16384)
            file.write(b"\xff" * 9)
    with pytest.raises(StoreError, match="damaged"):
        back_up(path, target)
    assert files(tmp_path) == ["store.db"]


def test_copy_that_differs_is_deleted(path: Path, tmp_path: Path, make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the copy lacks a row of the store, it does not get its name."""
    with Store.open(path, kinds=make.kinds) as store:
        write(store, make, range(1, 3))
    whole = long_work.copy_pages

    def copy_pages(source: sqlite3.Connection, target: sqlite3.Connection, work: LongWork) -> None:
        whole(source, target, work)
        target.execute("DELETE FROM snapshot WHERE ts = (SELECT max(ts) FROM snapshot)")

    monkeypatch.setattr(backup, "copy_pages", copy_pages)
    with pytest.raises(StoreError, match=r"not as the store \(rows: snapshot 2 and 1\)"):
        back_up(path, tmp_path / "copy.db")
    assert files(tmp_path) == ["store.db"]


def test_stopped_copy_leaves_nothing(path: Path, tmp_path: Path, make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """At whatever look it is stopped."""
    monkeypatch.setattr(long_work, "_PAGES_AT_ONCE", 16)
    with Store.open(path, kinds=make.kinds) as store:
        write(store, make, range(1, 3))

    class Stopped(LongWork):
        def __init__(self, looks: int) -> None:
            super().__init__()
            self._looks = looks

        def check(self) -> None:
            self._looks -= 1
            if not self._looks:
                self.stop()
            super().check()

    for looks in range(1, 1000):
        try:
            back_up(path, tmp_path / "copy.db", Stopped(looks))
        except StoreError:
            assert files(tmp_path) == ["store.db"]
        else:
            break
    assert looks > 20
    assert (tmp_path / "copy.db").exists()


def test_command(path: Path, tmp_path: Path, make: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """It says what it has copied; the second time it refuses."""
    with Store.open(path) as store:
        store.note_refused("")
    words = ["store", "backup", str(path), str(tmp_path / "copy.db")]
    assert main(words) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert f"copied and verified: {tmp_path / 'copy.db'}" in told.err
    assert main(words) == 2
    assert "is there already" in capsys.readouterr().err
    assert main(["store", "check", str(tmp_path / "copy.db")]) == 0


FULL = """
import sys
from pathlib import Path
from mqvitals_agent.store.error import StoreError, StoreErrorKind
from mqvitals_agent.store.file.backup import back_up
from mqvitals_agent.store.file.check import check
disk = Path(sys.argv[1])
try:
    back_up(Path(sys.argv[2]), disk / "copy.db")
except StoreError as error:
    assert error.kind is StoreErrorKind.FULL, error
    assert "is full: there is no copy" in str(error), error
    assert list(disk.iterdir()) == [], list(disk.iterdir())
    print("good")
"""


def test_full_disk_leaves_no_half_file(path: Path, tmp_path: Path, make: Any) -> None:
    """On a file system of 1 MB, smaller than the store."""
    with Store.open(path, kinds=make.kinds) as store:
        write(store, make, range(1, 400))
    assert path.stat().st_size > 1 << 20
    disk = tmp_path / "disk"
    disk.mkdir()
    run = run_with_small_disk(disk, "1m", [sys.executable, "-c", FULL, str(disk), str(path)])
    assert run.stdout == "good\n", run.stderr
