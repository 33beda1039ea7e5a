"""After an incident, on a real terminal and by keys alone: the pool's lowest point, and the queue that grew."""

from __future__ import annotations

import re
import shlex
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from .conftest import PROGRAM, Terminal

# A program of the system, which no package index has: it is the terminal that the walk is seen in.
pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

LASTED = "28m"
"""The incidents of the scenario come again every six minutes; the first ones are then more than twenty minutes ago."""
_FREE = re.compile(r"QM01 .*?BP3 (\d+(?:\.\d)?) %")
_MOMENT = re.compile(r"AS OF (?:\S+ )?(\d\d:\d\d:\d\d) UTC \(")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store that an agent wrote without waiting; nobody writes it any more."""
    path = tmp_path / "s.db"
    words = ("agent", "--scenario", "busy-morning", "--interval", "10s", "--speed", "max", "--for", LASTED)
    subprocess.run([*PROGRAM, *words, "--store", str(path)], check=True, capture_output=True, timeout=300)
    return path


@pytest.fixture
def terminal(tmp_path: Path, store: Path) -> Iterator[Terminal]:
    program = shlex.join([*PROGRAM, "top", "--no-agent", "--store", str(store)])
    plain = "env -u COLUMNS -u LINES -u NO_COLOR TZ=UTC"
    living = Terminal(tmp_path / "s", f"{plain} {program}; echo ended with $?; exec sleep 120")
    yield living
    living.call("kill-server")


def lowest(store: Path, begin: int, end: int) -> tuple[float, set[str]]:
    """The least share of free buffers of the pool within these moments (ms UTC), and the times of day when it was."""
    with sqlite3.connect(store) as db:
        rows = db.execute(
            "SELECT s.ts, s.free_pct FROM sample_buffer_pool AS s JOIN object AS o ON o.id = s.object_id"
            " WHERE o.owner = 'QM01' AND o.name = '3' AND s.free_pct IS NOT NULL AND s.ts BETWEEN ? AND ?",
            (begin, end),
        ).fetchall()
    least = min(free for _, free in rows)
    return least, {f"{datetime.fromtimestamp(ts // 1000, UTC):%H:%M:%S}" for ts, free in rows if free == least}


def grown(store: Path, begin: int, end: int) -> str:
    """The queue of QM01 whose depth grew most from one moment to the other, by the samples alone."""
    with sqlite3.connect(store) as db:
        rows = db.execute(
            "SELECT o.name, s.ts, s.depth FROM sample_queue AS s JOIN object AS o ON o.id = s.object_id"
            " WHERE o.owner = 'QM01' AND s.depth IS NOT NULL AND s.ts BETWEEN ? AND ? ORDER BY s.ts",
            (begin, end),
        ).fetchall()
    first: dict[str, float] = {}
    last: dict[str, float] = {}
    for name, _, depth in rows:
        first.setdefault(name, depth)
        last[name] = depth
    return max(last, key=lambda name: last[name] - first[name])


@pytest.mark.timeout(600)
def test_what_was_at_its_worst(terminal: Terminal, store: Path) -> None:
    """Alerts, the oldest one, g: its start. On from there cycle by cycle; then the queues of that moment."""
    with sqlite3.connect(store) as db:
        (started,) = db.execute("SELECT min(started) FROM alert WHERE rule = 'BP-03'").fetchone()
        (newest,) = db.execute("SELECT max(ts) FROM snapshot").fetchone()
    assert newest - started > 20 * 60_000
    least, times = lowest(store, started, started + 100_000)
    terminal.wait(lambda screen: "Queue managers" in screen)
    terminal.press("8", "/", *"BP-03", "Enter")
    terminal.wait(lambda screen: "BP-03" in screen and "Esc show all" in screen and "pool 3" in screen)
    terminal.press("End", "g")
    terminal.wait(lambda screen: "go to a time" in screen and " ago" in screen)
    terminal.press("Enter")
    terminal.wait(_MOMENT.search)
    terminal.press("1")
    seen: dict[str, float] = {}
    for _ in range(9):
        screen = terminal.wait(
            lambda screen: (at := _MOMENT.search(screen)) and at[1] not in seen and _FREE.search(screen)
        )
        at, free = _MOMENT.search(screen), _FREE.search(screen)
        assert at is not None
        assert free is not None
        seen[at[1]] = float(free[1])
        terminal.press("]")
    worst = min(seen.values())
    found = next(time for time, free in seen.items() if free == worst)
    assert abs(worst - least) < 0.5
    assert found in times
    # Back to that moment by its time; the list of queues of then, the deepest one on top.
    terminal.press("g")
    terminal.wait(lambda screen: "go to a time" in screen)
    terminal.press(*found, "Enter")
    terminal.wait(lambda screen: (at := _MOMENT.search(screen)) and at[1] == found)
    terminal.press("3", "/", *"QM01", "Enter")
    screen = terminal.wait(lambda screen: "Esc show all" in screen and "ORDERS" in screen and _MOMENT.search(screen))
    wanted = grown(store, started - 60_000, started + 60_000)
    first = next(line for line in screen.splitlines() if re.search(r"^\W+(CRITICAL|WARNING|INFO|OK)", line))
    assert wanted in first
    terminal.press("l")
    terminal.wait(lambda screen: "AS OF" not in screen)
    terminal.press("q")
    assert "ended with 0" in terminal.wait(lambda screen: "ended with" in screen)
