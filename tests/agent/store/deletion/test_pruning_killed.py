"""A process that deletes, seals and rolls up is killed at any moment: nothing that should stay is lost, nothing is doubled."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mqsamples import pruning
from mqsamples.sealed import BEGAN, DAY, at, fill, held, seal_all
from mqvitals_agent.store.file.check import check
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store

NOW = at(100)
KILLS, SOAK_KILLS = 5, 200


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four days, of which the first two and a half are sealed."""
    from tests.agent.store.conftest import Maker

    path = tmp_path_factory.mktemp("template") / "store.db"
    with Store.open(path, created=BEGAN) as store:
        fill(Maker(), store, [2 + part / 2 for part in range(94 * 2)], [f"Q{number}" for number in range(6)])
        seal_all(store, at(60))
    return path


def started(path: Path) -> subprocess.Popen[str]:
    words = [sys.executable, str(Path(pruning.__file__)), str(path), str(NOW)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.stdout.close()
    return process


def state(path: Path) -> tuple[Any, ...]:
    """All that retention has to do with."""
    tables = ("rollup", "rolled", "record", "snapshot", "chunk_axis", "object")
    with closing(sqlite3.connect(path)) as connection:
        rows = [sorted(connection.execute(f"SELECT * FROM {table}")) for table in tables]
    with StoreReader.open(path) as reader:
        meta = reader.meta()
    return held(path), rows, (meta.kept_from, meta.hours_kept_from, meta.alerts_kept_from)


def test_killed_at_any_moment(template: Path, tmp_path: Path, soak: bool) -> None:
    """After each kill, and once the next process has ended its work, the store is as if nobody had been killed."""
    whole = tmp_path / "whole.db"
    shutil.copy(template, whole)
    before = held(whole)
    process = started(whole)
    began = time.monotonic()
    assert process.wait() == 0
    takes = time.monotonic() - began
    expected = state(whole)
    # The hours of two days are there, and samples from when on they are kept, or not rolled up yet.
    assert {key[0]: min(other[3] for other in expected[0] if other[0] == key[0]) for key in expected[0]} == {
        "queue": at(70),
        "log": at(71),
    }
    assert {row[1] for row in expected[1][0]} == {BEGAN // DAY + 1, BEGAN // DAY + 2}
    chance = random.Random(7)
    path = tmp_path / "killed.db"
    for number in range(SOAK_KILLS if soak else KILLS):
        if number % 3 == 0:
            for ending in ("", "-wal", "-shm"):
                path.with_name(path.name + ending).unlink(missing_ok=True)
            shutil.copy(template, path)
        process = started(path)
        time.sleep(chance.uniform(0, takes))
        process.kill()
        process.wait()
        found = held(path)
        assert check(path, NOW + DAY).good
        assert found.items() <= before.items()
        for key, row in before.items():
            if key[3] >= at(70 if key[0] == "queue" else 71):
                assert found[key] == row
        if number % 3 == 2:
            assert started(path).wait() == 0
            assert state(path) == expected
