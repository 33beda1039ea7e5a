"""A small store with what formulas ask."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.store.writer import Store
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence, Reported

START = 1795176000000  # 2026-11-20 12:00:00 UTC
CYCLE_MS = 20_000
CYCLES = 4
QUEUES = (("SHORT", 4, 1000), ("LONG", 4, 9000), ("OTHER", 5, 100))
"""Name, page set, length of the messages that are put."""


class Verdict:
    """Nothing to tell."""

    transitions: tuple[()] = ()
    unknown: tuple[()] = ()


def _readings(cycle: int) -> tuple[Reading, ...]:
    ts = START + cycle * CYCLE_MS

    def told(kind: str, name: str, probe: str, values: Mapping[str, Reported]) -> Reading:
        return Reading(ObjectName("QM01", kind, name), probe, ts, values, CYCLE_MS if cycle else None)

    counted: Mapping[str, Reported] = {"msgs": 500, "carried_bytes": 1_000_000, "batches": 50}
    if cycle == 0:
        counted = dict.fromkeys(counted, Absence.FIRST_READING)
    return (
        told("queue_manager", "", "CONNECTION", {"reachable": 1}),
        told(
            "channel",
            "TO.QM02",
            "INQUIRE_CHANNEL_STATUS",
            {"batchsz": 50, "nettime_us_short": 80_000, "xbatchsz_short": 10, "status": 3, **counted},
        ),
        told("channel", "QUIET", "INQUIRE_CHANNEL_STATUS", {"batchsz": Absence.INACTIVE, "status": 0}),
        told("page_set", "4", "INQUIRE_USAGE", {"total_pages": 100_000, "unused_pages": 50_000}),
        *(told("queue", name, "INQUIRE_Q", {"page_set": page_set}) for name, page_set, _ in QUEUES),
        *(
            Reading(
                ObjectName("QM01", "queue", name),
                "SMF",
                ts,
                {"puts": 100, "put_bytes": 100 * length},
                CYCLE_MS,
                poll=False,
                source=Source.SMF,
            )
            for name, _, length in QUEUES
        ),
        told("channel_initiator", "", "INQUIRE_CHANNEL_INIT", {"adapters_started": 8, "adapters_max": 8}),
    )


@pytest.fixture
def store(tmp_path: Path) -> str:
    """The path of the store: four polls of a queue manager and of a structure of its group."""
    path = tmp_path / "group.db"
    with Store.open(path, replay=True, source="recording", group="PRDQSG", created=START) as store:
        verdict: Any = Verdict()
        for cycle in range(CYCLES):
            ts = START + cycle * CYCLE_MS
            store.write(Snapshot("QM01", False, cycle + 1, ts, _readings(cycle)), verdict)
            values: Mapping[str, Reported] = {
                "size_max_kb": 524_288,
                "size_used_pct": 40,
                "entries_used": 84_000,
                "entries_max": 210_000,
                "status": 1,
            }
            structure = Reading(
                ObjectName("PRDQSG", "cf_structure", "APPL1"), "INQUIRE_CF_STRUC_STATUS", ts, values, CYCLE_MS
            )
            store.write(Snapshot("PRDQSG", True, cycle + 1, ts, (structure,)), verdict)
    return str(path)
