"""Cycles that cannot be stored: what follows from them is made again, and stored and told exactly once."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.samples.snapshot_writer import SnapshotWriter
from mqvitals_agent.store.writer import Store
from mqvitals_rules.lifecycle.alert import AlertState


class Disk:
    """Fails in the last statement of a snapshot's transaction while it is full."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.full = False
        last = SnapshotWriter._write_unknown

        def write(store: SnapshotWriter, *arguments: Any) -> None:
            if self.full:
                raise sqlite3.OperationalError("database or disk is full")
            last(store, *arguments)

        monkeypatch.setattr(SnapshotWriter, "_write_unknown", write)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    """The disk that the store is on."""
    return Disk(monkeypatch)


def steps(house: Any) -> list[AlertState]:
    """What became of the only alert, as the store tells it."""
    with StoreReader.open(house.store) as reader:
        (stored,) = (each for each in reader.alerts(include_ended=True) if each.alert.key.object.kind != "store")
        return [step.state for step in reader.transitions(stored.id) if step.state is not AlertState.PENDING]


async def test_an_alert_that_ends_while_the_disk_is_full(house: Any, disk: Disk) -> None:
    """Receivers are owed its end at once, and once."""
    owed: list[AlertState] = []

    def note(changes: Any) -> None:
        owed.extend(change.after.state for _, change in changes if change.after.key.object.kind != "store")

    house.of("QM03").down = 2059
    async with house.running(update_outbox=note):
        await house.clock.advance(65_000)
        assert owed == steps(house) == [AlertState.FIRING]
        disk.full = True
        house.of("QM03").down = 0
        await house.clock.advance(240_000)
        assert owed == [AlertState.FIRING, AlertState.RESOLVED]
        disk.full = False
        await house.clock.advance(240_000)
        assert owed == steps(house) == [AlertState.FIRING, AlertState.RESOLVED]


async def test_what_vanishes_while_the_disk_is_full(house: Any, disk: Disk, queue_depth: Any) -> None:
    """That an object is gone is told by one answer only: it is told again when the cycle of that answer was lost."""
    house.of("QM01").items = {"INQUIRE_Q_STATUS": [queue_depth("APP.A", 5), queue_depth("APP.B", 5)]}
    async with house.running():
        await house.clock.advance(5_000)
        disk.full = True
        house.of("QM01").items = {"INQUIRE_Q_STATUS": [queue_depth("APP.A", 5)]}
        await house.clock.advance(30_000)
        disk.full = False
        await house.clock.advance(30_000)
    with StoreReader.open(house.store) as reader:
        rows = reader.objects("QM01/queue/*", gone=True)
        assert {row.name.name: row.gone is not None for row in rows} == {"APP.A": False, "APP.B": True}


async def test_failures_are_told_when_they_change(house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that changes to another and back is told three times in all, however many cycles it lasts; then its end."""
    trouble = [""]

    def failing(write: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(store: SnapshotWriter, *arguments: Any) -> Any:
            if trouble[-1]:
                raise StoreError(trouble[-1])
            return write(store, *arguments)

        return wrapped

    for name in ("write", "write_together"):
        monkeypatch.setattr(Store, name, failing(getattr(Store, name)))
    async with house.running():
        await house.clock.advance(5_000)
        for why in ("no room", "locked", "no room", ""):
            trouble.append(why)
            await house.clock.advance(90_000)
    told = [line.split(" ", 3)[2:] for line in house.log.getvalue().splitlines() if " store." in line]
    assert [(event, text.partition(" (")[0].partition(";")[0]) for event, text in told] == [
        ("store.failed", "no room"),
        ("store.failed", "locked"),
        ("store.failed", "no room"),
        ("store.recovered", "cycles are stored again"),
    ]
