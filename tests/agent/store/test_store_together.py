"""The snapshots of one cycle are one transaction; where one of them cannot be stored, the others are all the same."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.store import resilient
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.resilient import ResilientStore
from mqvitals_agent.store.writer import Store
from mqvitals_rules.lifecycle.alert import AlertState, Transition
from mqvitals_rules.snapshot import Snapshot

OWNERS = ("QM01", "QM02", "QM03")


def opened(path: Path, make: Any) -> ResilientStore:
    return ResilientStore(lambda now, busy: Store.open(path, kinds=make.kinds, busy_ms=busy), lambda: 1)


def cycle(make: Any, number: int) -> list[Snapshot]:
    return [make.snapshot(number, make.status(number, owner=each, depth=number), owner=each) for each in OWNERS]


def stored(path: Path, make: Any) -> dict[str, list[float | None]]:
    """Every owner's depths, in the order of time."""
    with StoreReader.open(path, kinds=make.kinds) as reader:
        known = {row.name.owner for row in reader.objects()}
        return {
            owner: [value for _, value in reader.trend(make.queue(owner=owner), "depth").points]
            for owner in OWNERS
            if owner in known
        }


def test_a_cycle_is_seen_all_at_once(path: Path, make: Any) -> None:
    """Nothing of it is in the file before the end, with its alerts; then all of it is, and nothing waits."""
    store = opened(path, make)
    alert = make.alert(1, AlertState.FIRING, started=1)
    with store.gathering():
        for each in cycle(make, 1):
            store.write(
                each, make.verdict(Transition(alert, None, alert.why)) if each.owner == "QM01" else make.verdict()
            )
        assert stored(path, make) == {}
        assert len(store.alerts.all_open()) == 1
    assert stored(path, make) == {owner: [1] for owner in OWNERS}
    assert (store.state.waiting, store.state.unwritten, store.written_snapshots, store.written_readings) == (0, 0, 3, 3)
    store.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM alert WHERE state = 'firing'").fetchone() == (1,)


def test_a_snapshot_that_cannot_be_stored_costs_no_other(path: Path, make: Any) -> None:
    """A text that cannot be written down: what it comes with is stored, it itself is refused with a word, once."""
    store = opened(path, make)
    snapshots = cycle(make, 1)
    snapshots[1] = make.snapshot(1, make.status(1, owner="QM02", depth=1, description="\ud800"), owner="QM02")
    with store.gathering():
        for each in snapshots:
            store.write(each, make.verdict())
    assert stored(path, make) == {"QM01": [1], "QM03": [1]}
    assert store.take_refusal() is not None
    assert (store.state.waiting, store.state.dropped, store.written_snapshots) == (0, 1, 2)
    with store.gathering():
        for each in cycle(make, 2):
            store.write(each, make.verdict())
    assert stored(path, make) == {"QM01": [1, 2], "QM02": [2], "QM03": [1, 2]}
    store.close()


def test_numbers_too_long_for_the_store_are_absent(path: Path, make: Any) -> None:
    """Also where the snapshots of a cycle are written together; it is counted."""
    store = opened(path, make)
    with store.gathering():
        store.write(make.snapshot(1, make.status(1, depth=1 << 70)), make.verdict())
        store.write(cycle(make, 1)[1], make.verdict())
    assert stored(path, make) == {"QM01": [None], "QM02": [1]}
    assert sum(store.refused.values()) == 1
    store.close()


def test_a_mistake_does_not_come_again(path: Path, make: Any) -> None:
    """A metric that there is not is raised once, and the cycle after that is stored."""
    store = opened(path, make)
    gathering = store.gathering()
    gathering.__enter__()
    store.write(make.snapshot(1, make.status(1, dept=1)), make.verdict())
    store.write(cycle(make, 1)[1], make.verdict())
    with pytest.raises(ValueError, match=r"no metric queue\.dept"):
        gathering.__exit__(None, None, None)
    with store.gathering():
        for each in cycle(make, 2):
            store.write(each, make.verdict())
    assert stored(path, make) == {"QM01": [2], "QM02": [1, 2], "QM03": [2]}
    store.close()


def test_many_readings_do_not_wait_for_the_end(path: Path, make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large snapshots are written as they come, so that none is taken for one too many."""
    monkeypatch.setattr(resilient, "MAX_READINGS_PER_TRANSACTION", 1)
    store = opened(path, make)
    with store.gathering():
        for each in cycle(make, 1):
            store.write(each, make.verdict())
        assert set(stored(path, make)) >= {"QM01", "QM02"}
    assert stored(path, make) == {owner: [1] for owner in OWNERS}
    assert store.state.dropped == 0
    store.close()


def test_what_cannot_be_written_waits(path: Path, make: Any) -> None:
    """While another program holds the file, a cycle waits as a whole; the next look writes it."""
    store = opened(path, make)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with store.gathering():
        for each in cycle(make, 1):
            store.write(each, make.verdict())
    assert store.state.waiting == len(OWNERS)
    other.execute("ROLLBACK")
    other.close()
    store.retry()
    assert stored(path, make) == {owner: [1] for owner in OWNERS}
    store.close()
