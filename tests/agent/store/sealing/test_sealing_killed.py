"""A process that seals a store of an earlier version is killed at any moment: nothing is lost, nothing is there twice."""

from __future__ import annotations

import lzma
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from mqsamples import sealing as process_of_sealing
from mqsamples.sealed import HOUR, Samples, held
from mqvitals_agent.store.file.check import check
from mqvitals_agent.store.sealing import HOT_MS
from mqvitals_agent.store.writer import Store
from mqvitals_rules.snapshot import ObjectName, Source
from mqvitals_rules.vocabulary.tables import KINDS

KILLS, SOAK_KILLS = 5, 200
PACKED = Path(__file__).parents[3] / "samples" / "stores" / "structure-20.db.xz"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a store of the first version holds once this one has opened it: rows alone."""
    path = tmp_path_factory.mktemp("template") / "store.db"
    path.write_bytes(lzma.decompress(PACKED.read_bytes()))
    Store.open(path).close()
    return path


class Killed:
    """A store, the process that seals it, and the records that it said to have stored."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with closing(sqlite3.connect(path)) as connection:
            self.newest, first = connection.execute("SELECT max(ts), min(ts) FROM snapshot").fetchone()
            query = "SELECT id, owner, name FROM object WHERE kind = 'queue' AND owner = 'QM01' ORDER BY id LIMIT 1"
            self.number, owner, name = connection.execute(query).fetchone()
        self.about = ObjectName(owner, "queue", name)
        self.first = first - 2 * HOUR
        self.records = 0

    def run(self, lines: int | None = None, spin: int = 0) -> None:
        """Run until so many records more are stored and a moment longer, and kill; None: to its end."""
        now = self.newest + HOT_MS + HOUR
        words = [sys.executable, str(Path(process_of_sealing.__file__)), self.path, now, self.about, self.first]
        with subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            for _ in range(process_of_sealing.RECORDS if lines is None else lines):
                if line := process.stdout.readline():
                    self.records = int(line) + 1
            if lines is not None:
                for _ in range(spin):
                    pass
                process.kill()
            for line in process.stdout:
                self.records = int(line) + 1
        assert lines is not None or process.returncode == 0

    def late(self, count: int) -> Samples:
        """The samples of so many records."""
        every = (process_of_sealing.record(self.about, number, self.first) for number in range(count))
        return {
            ("queue", self.number, int(Source.SMF), each.ts): {
                **each.values,
                "interval_ms": each.interval_ms,
                "polled": 0,
            }
            for each in every
        }


def rows_and_chunks(path: Path) -> tuple[int, int]:
    with closing(sqlite3.connect(path)) as connection:
        rows = sum(connection.execute(f"SELECT count(*) FROM sample_{kind}").fetchone()[0] for kind in KINDS)
        return rows, connection.execute("SELECT count(*) FROM chunk").fetchone()[0]


def test_killed_while_it_seals(template: Path, tmp_path: Path, soak: bool) -> None:
    """Every sample and every record that it said to have stored is there after each kill, and no other; the next process
    goes on, and in the end all is sealed.
    """
    before = held(template, KINDS)
    dice = random.Random(20261123)
    path = tmp_path / "killed.db"
    shutil.copy(template, path)
    killed = Killed(path)
    for number in range(1, (SOAK_KILLS if soak else KILLS) + 1):
        killed.run(dice.randrange(0, 4), dice.randrange(0, 200_000))
        found = held(path, KINDS)
        # One more may have been stored that it could not say any more.
        assert found in (before | killed.late(killed.records), before | killed.late(killed.records + 1))
        assert check(path, killed.newest).good
        if number % 5 == 0:
            killed.run()
            assert held(path, KINDS) == before | killed.late(process_of_sealing.RECORDS)
            rows, chunks = rows_and_chunks(path)
            assert not rows
            assert chunks > 300
            path.unlink()
            shutil.copy(template, path)
            killed = Killed(path)
