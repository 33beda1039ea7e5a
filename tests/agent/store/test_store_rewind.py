"""A later cycle that is dated before the last one: the clock was set back, and nothing of the owner lies ahead of it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from mqsamples.stored import stored_notifications
from mqvitals_agent.store.file.check import AHEAD_MS, check, repair
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_rules.lifecycle.alert import AlertState, Transition, Why
from mqvitals_rules.snapshot import Reading, Source

YEARS_29 = 29 * 365 * 86_400_000


def at(snapshot: Any, ts: int) -> Any:
    """The snapshot as of another moment."""
    readings = tuple(replace(each, ts=ts) if each.source is Source.POLL else each for each in snapshot.readings)
    return replace(snapshot, ts=ts, readings=readings)


def test_what_lies_ahead_of_a_later_cycle_goes(path: Path, make: Any) -> None:
    """Samples and snapshots of this owner at or after its time; another owner, records and what was before stay."""
    with Store.open(path, kinds=make.kinds) as store:
        for cycle in (1, 2, 3):
            readings = make.status(cycle, depth=cycle, description="old"), make.definition(cycle, max_depth=cycle)
            store.write(make.snapshot(cycle, *readings), make.verdict())
            other = make.snapshot(cycle, make.status(cycle, owner="QM02", depth=9), owner="QM02")
            store.write(other, make.verdict())
        record = Reading(make.queue(), "SMF", make.ts(3) + 5, {"depth": 7}, 1_800_000, poll=False, source=Source.SMF)
        store.write(make.snapshot(3, record), make.verdict())
        now = make.ts(1) + 3_000
        readings = make.status(4, depth=40), make.silence(4, "SILENT")
        store.write(at(make.snapshot(4, *readings), now), make.verdict())
        store.write(at(make.snapshot(5, make.status(5, depth=50)), now + 10_000), make.verdict())
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert [(each.ts, each.value) for each in reader.samples(make.queue(), "depth")] == [
            (make.ts(1), 1), (now, 40), (now + 10_000, 50),
        ]  # fmt: skip
        assert len(reader.samples(make.queue(owner="QM02"), "depth")) == 3
        assert [each.ts for each in reader.samples(make.queue(), "depth", Source.SMF)] == [make.ts(3) + 5]
        owners = {each.name: (each.first_ts, each.last_ts, each.last_cycle) for each in reader.owners()}
    assert owners == {"QM01": (make.ts(1), now + 10_000, 5), "QM02": (make.ts(1), make.ts(3), 3)}
    with closing(sqlite3.connect(path)) as connection, connection:
        (depth, changed) = connection.execute(
            "SELECT depth, changed FROM current_queue WHERE probe = 'STATUS' AND object_id = 1"
        ).fetchone()
        assert (depth, changed) == (50, now + 10_000)
        (latest,) = connection.execute(
            "SELECT max(asked) FROM reading WHERE object_id = 1 AND probe <> 'SMF'"
        ).fetchone()
        assert latest == now + 10_000


def test_a_cycle_that_is_told_again_deletes_nothing(path: Path, make: Any) -> None:
    """A replay that goes on tells what is stored already."""
    with Store.open(path, kinds=make.kinds, replay=True) as store:
        for cycle in (1, 2, 3, 2):
            store.write(make.snapshot(cycle, make.status(cycle, depth=cycle)), make.verdict())
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert [each.value for each in reader.samples(make.queue(), "depth")] == [1, 2, 3]


def test_an_alert_that_ended_ahead_stays_the_same_incident(path: Path, make: Any) -> None:
    """It is dated by the corrected clock at the latest; what its beginning was is what receivers know it by."""
    fires = make.alert(2, AlertState.FIRING, started=2)
    ended = replace(fires, state=AlertState.RESOLVED, ended=make.ts(3), updated=make.ts(3))
    with Store.open(path, kinds=make.kinds) as store:
        store.write(make.snapshot(1, make.status(1, depth=1)), make.verdict())
        store.write(make.snapshot(2, make.status(2, depth=1)), make.verdict(Transition(fires, None, Why.HELD)))
        store.write(make.snapshot(3, make.status(3, depth=1)), make.verdict(Transition(ended, fires, Why.CLEARED)))
        now = make.ts(1) + 5
        store.write(at(make.snapshot(4, make.status(4, depth=1)), now), make.verdict())
    with StoreReader.open(path, kinds=make.kinds) as reader:
        ((number, alert),) = reader.alerts(include_ended=True)
        steps = reader.transitions(number)
    assert (alert.started, alert.ended, alert.began_as) == (now, now, make.ts(2))
    assert [each.ts for each in steps] == [now, now]


def test_repair_keeps_alerts_and_what_is_owed(path: Path, make: Any) -> None:
    """Samples far ahead of the clock go; an open alert among them stays open, dated now, and is still owed."""
    far = make.start + YEARS_29
    fires = replace(make.alert(2, AlertState.FIRING, started=2), since=far, started=far, updated=far)
    with Store.open(path, kinds=make.kinds) as store:
        store.write(make.snapshot(1, make.status(1, depth=1)), make.verdict())
        last = at(make.snapshot(2, make.status(2, depth=2)), far)
        store.write(last, make.verdict(Transition(fires, None, Why.HELD)))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO notice(alert_id, receiver, status, severity, fingerprint, made_ts, payload)"
            " VALUES(1, 'one', 'firing', 'warning', 'f', ?, '{}')",
            (far,),
        )
    now = make.ts(10)
    _, left = repair(path, now)
    assert left.good
    assert check(path, now + AHEAD_MS).good
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert [each.ts for each in reader.samples(make.queue(), "depth")] == [make.ts(1)]
        ((_, alert),) = reader.alerts()
        (owner,) = reader.owners()
    assert (alert.started, alert.since, alert.began_as) == (now, now, far)
    (notification,) = stored_notifications(path, "done_ts IS NULL")
    assert notification["made_ts"] == now
    assert owner.last_ts == make.ts(1)
