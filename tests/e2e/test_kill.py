"""A replay that is killed loses nothing that it had committed."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from mqsamples.warm import WarmProcess


def rows_by_cycle(store: Path) -> dict[tuple[str, int], tuple[int, int, int]]:
    """(owner, cycle) -> rows of the snapshot in three tables of samples."""
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        found = {}
        for owner, cycle, ts in db.execute("SELECT owner, cycle, ts FROM snapshot"):
            counts = tuple(
                db.execute(
                    f"SELECT count(*) FROM {table} JOIN object ON object.id = object_id WHERE ts = ? AND owner = ?",
                    (ts, owner),
                ).fetchone()[0]
                for table in ("sample_queue", "sample_channel", "sample_agent")
            )
            found[owner, cycle] = counts
        return found


def cycle_in(line: str) -> int:
    """The number in ``mqvitals: cycle 12, 2026-...``."""
    return int(line.split("cycle ", 1)[1].split(",", 1)[0])


def test_kill(
    mqvitals: Callable[..., Any], recordings: Callable[[str], Path], incident: Path, soak: bool, tmp_path: Path
) -> None:
    """At random moments (20 in `make soak`) the store opens, every reported cycle is whole in it, and status can tell."""
    whole = rows_by_cycle(incident)
    dice = random.Random(20261120)
    for attempt in range(20 if soak else 2):
        store = tmp_path / f"killed-{attempt}.db"
        after = dice.randrange(1, 36)
        command = [
            "replay",
            str(recordings("incident")),
            "--speed",
            "max",
            "--verbose",
            "--store",
            str(store),
        ]
        with WarmProcess(command, stderr=subprocess.PIPE, text=True) as player:
            assert player.stderr is not None
            reported = 0
            for line in player.stderr:
                if ": cycle " in line:
                    reported = cycle_in(line)
                    if reported >= after:
                        break
            # Somewhere within the next cycles' work, not at its edge.
            for _ in range(dice.randrange(0, 20_000)):
                pass
            player.send_signal(signal.SIGKILL)
            for line in player.stderr:
                if ": cycle " in line:
                    reported = cycle_in(line)
        assert reported >= after
        found = rows_by_cycle(store)
        for (owner, cycle), counts in whole.items():
            if cycle <= reported:
                assert found[owner, cycle] == counts, (attempt, owner, cycle)
        assert all(whole[key] == counts for key, counts in found.items())
        mqvitals("status", "--store", store, "--json", code=None)
        store.unlink()
