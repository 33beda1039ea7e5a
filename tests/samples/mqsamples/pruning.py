"""Retention as a process of its own, for tests that kill it: ``pruning.py STORE NOW``.

It says ``ready`` once the store is open, then deletes, seals and rolls up what is due, in steps as short as they come, and ends.
"""

from __future__ import annotations

import sys
from pathlib import Path

from mqvitals_agent.store.retention import REST_MS, Retention, RetentionPolicy
from mqvitals_agent.store.sealing import Sealing
from mqvitals_agent.store.writer import Store
from mqvitals_config.sections.store import KeepSettings, RawKeep

HOUR = 3_600_000
KEEP = KeepSettings(RawKeep(30 * HOUR, {"log": 20 * HOUR}), 60 * HOUR, 40 * HOUR)


def delete_all(retention: Retention, now: int) -> int:
    """Step until nothing is left to be deleted; returns the number of rows."""
    rows = 0
    for _ in range(10_000):
        step = retention.step(now)
        rows += step.rows
        if not step.more:
            return rows
    raise AssertionError("it never ends")


def main(path: Path, now: int) -> None:
    """Work until nothing is left to be done."""
    with Store.open(path) as store:
        retention = Retention(store, RetentionPolicy(KEEP, None))
        sealing = Sealing(store, None)
        print("ready", flush=True)  # noqa: T201 - who started it waits for that
        later = now + REST_MS + 1
        for step, at in ((retention.step, now), (sealing.step, now), (retention.step, later)):
            while step(at, lambda: True).more:
                pass


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
