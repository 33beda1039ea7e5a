"""Runs of the agent in virtual time: every cycle is stored, and the same on any machine."""

from __future__ import annotations

import argparse
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from queue import SimpleQueue
from random import Random
from typing import Any

import pytest

from mqvitals_agent.cli.agent import add_arguments, agent_config, run_options
from mqvitals_agent.service.run import run_agent

NOW = 1_795_176_007_123
MINUTE = 60_000


def lived(store: Path, *words: str, now: int = NOW) -> int:
    """Run ``mqvitals agent`` with these words as if it were ``now``; returns the exit code."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    arguments = parser.parse_args([*words, "--store", str(store)])
    return run_agent(run_options(arguments, agent_config(arguments), store, now))


def rows(store: Path) -> dict[str, list[Any]]:
    """All that a run stored of the group: snapshots, samples, alerts and how they changed.

    The store's own figures are not the group's: they are what this machine's disk has.
    """
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        wanted = [name for name in tables if name.startswith(("sample_", "current_", "alert", "snapshot", "object"))]
        wanted = [name for name in wanted if not name.endswith("_store")]
        return {name: db.execute(f"SELECT * FROM {name} ORDER BY 1, 2, 3").fetchall() for name in wanted}


def cycles(store: Path) -> dict[str, list[int]]:
    """The times of each owner's snapshots, ms."""
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        found: dict[str, list[int]] = {}
        for owner, ts in db.execute("SELECT owner, ts FROM snapshot ORDER BY ts"):
            found.setdefault(owner, []).append(ts)
        return found


@pytest.mark.parametrize("speed", ["max", "100000"])
def test_every_cycle_is_stored(tmp_path: Path, speed: str, soak: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """Ten minutes (30 in `make soak`) at a minute's interval are as many cycles of each queue manager, the last a minute before the end; none after now."""
    count = 30 if soak else 10
    store = tmp_path / "x.db"
    words = ("--scenario", "quiet", "--for", f"{count}m", "--interval", "1m", "--speed", speed)
    assert lived(store, *words) == 0
    begin = NOW - count * MINUTE - (NOW - count * MINUTE) % MINUTE
    found = cycles(store)
    assert len(found) == 5
    for owner, times in found.items():
        assert [ts - ts % MINUTE for ts in times] == [begin + number * MINUTE for number in range(count)], owner
        assert max(times) <= NOW
    assert f"the {count}m are over: {count} cycles" in capsys.readouterr().err


def test_the_first_hour_ends_with_what_would_help(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """After an hour the log names what would let more rules be evaluated, once."""
    words = ("--scenario", "quiet", "--for", "2h10m", "--interval", "30m", "--speed", "max")
    assert lived(tmp_path / "x.db", *words) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if "unlocks" in line]
    assert any("Name the files of console messages under console.follow" in line for line in lines)
    assert any("START TRACE(STAT) CLASS(1)" in line for line in lines)
    assert len(lines) == 5


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it, and from then on the thread of the store is held up now and then, as by a machine that does other things too."""
    dice = Random(3)

    class Late(SimpleQueue[Any]):
        def get(self, *arguments: Any, **named: Any) -> Any:
            job = super().get(*arguments, **named)
            time.sleep(dice.choice((0, 0, 0.002, 0.01)))
            return job

    return lambda: monkeypatch.setattr("mqvitals_agent.threads.SimpleQueue", Late)


@pytest.mark.parametrize("scenario", ["busy-morning"])
def test_a_slow_machine_changes_nothing(tmp_path: Path, scenario: str, loaded: Callable[[], None]) -> None:
    """Two runs of one seed store the same samples, alerts and changes of alerts, whatever the thread of the store is kept from."""
    words = ("--scenario", scenario, "--seed", "4", "--for", "5m", "--interval", "20s", "--speed", "max")
    smf = ("--smf-interval", "1m", "--smf")
    assert lived(tmp_path / "quiet.db", *words, *smf, str(tmp_path / "one")) == 0
    loaded()
    assert lived(tmp_path / "loaded.db", *words, *smf, str(tmp_path / "other")) == 0
    one, other = rows(tmp_path / "quiet.db"), rows(tmp_path / "loaded.db")
    assert one.keys() == other.keys()
    for table in one:
        assert one[table] == other[table], table
    assert len(one["snapshot"]) >= 15 * 4
    assert one["alert"]
    assert one["sample_dispatcher"]


def test_a_store_goes_on_where_it_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second run follows the first, and a run that reaches now says so; none stores a time ahead of it."""
    store = tmp_path / "x.db"
    words = ("--scenario", "quiet", "--interval", "1m", "--speed", "max")
    assert lived(store, *words, "--for", "4m", now=NOW - 10 * MINUTE) == 0
    assert lived(store, *words, "--for", "10m") == 0
    times = cycles(store)["QM01"]
    assert len(times) == 14
    assert {later - earlier for earlier, later in pairwise(times)} <= set(range(59_000, 61_001))
    assert "clock.at_now" not in capsys.readouterr().err
