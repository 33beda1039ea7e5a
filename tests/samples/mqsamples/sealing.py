"""Sealing as a process of its own, for tests that kill it: ``sealing.py STORE NOW``.

It says ``ready`` once the store is open, then seals what is due in short steps, and now and then stores a record of a past
moment, whose number it says when it is stored.
"""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mqvitals_agent.store.sealing import Sealing
from mqvitals_agent.store.writer import Store
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source

RECORDS, EVERY, PIECES = 20, 30, 2
INTERVAL, APART = 60_000, 1_000


def record(about: ObjectName, number: int, first: int) -> Reading:
    """A late record: each of another time, a second after the one before."""
    return Reading(about, "SMF", first + number * APART, {"max_depth": number}, INTERVAL, poll=False, source=Source.SMF)


def main(path: Path, now: int, about: ObjectName, first: int) -> None:
    """Work until everything is sealed; records are numbered from what the store has."""
    with Store.open(path) as store:
        with store.database.reading() as connection:
            of_this = "SELECT count(*) FROM record WHERE object_id = ? AND ts >= ? AND ts < ?"
            bounds = store.snapshots.objects[about], first, first + RECORDS * APART
            (stored,) = connection.execute(of_this, bounds).fetchone()
        sealing = Sealing(store, None)
        looks = count()
        print("ready", flush=True)  # noqa: T201 - who started it waits for that
        nothing: Any = SimpleNamespace(transitions=(), unknown=())
        for step in count(1):
            more = sealing.step(now, lambda: next(looks) % PIECES == 0).more
            if (step % EVERY == 0 or not more) and stored < RECORDS:
                late = record(about, stored, first)
                store.write(Snapshot(about.owner, False, 0, late.ts, (late,)), nothing)
                print(stored, flush=True)  # noqa: T201
                stored += 1
            elif not more:
                return


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), ObjectName.parse(sys.argv[3]), int(sys.argv[4]))
