"""Real files of MQ 8: every record and section is found, and every number in them is what it is.

The sums were made by another program, which reads the documents' tables byte by byte.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from mqvitals_agent.smf.reader import records
from mqvitals_agent.smf.section import sections
from mqvitals_agent.smf.source import open_smf
from mqvitals_agent.smf.tally import Tally

FILES = ("TEST115", "TEST116", "TESTCHL")


@pytest.mark.parametrize("name", FILES)
def test_every_number(shared_data: Path, name: str) -> None:
    """Counts by subtype, sections by name, and the sum of each numeric field over the file; nothing is damaged."""
    expected = json.loads((Path(__file__).parent / "expected" / f"{name}.json").read_text("utf-8"))
    tally, sums = Tally(), Counter[str]()
    with open_smf(shared_data / "smf" / f"{name}.dat") as stream:
        for record in records(stream, tally):
            for each in sections(record):
                for field, value in each.fields().items():
                    if isinstance(value, int):
                        sums[f"{each.layout.name}.{field}"] += value
    assert tally.damage == []
    found = {f"{kind}/{subtype}": count for (kind, subtype), count in tally.records.items()}
    found |= {str(kind): count for kind, count in tally.skipped.items()}
    assert found == expected["records"]
    assert tally.sections == expected["sections"]
    assert len(sums) == expected["fields"]
    assert {field: total for field, total in sums.items() if total} == expected["sums"]


def test_times_of_the_channel_initiator_and_the_queue_manager_agree(shared_data: Path) -> None:
    """Both tell intervals of about a minute, though in different units, in UTC though the system is an hour ahead or behind."""
    found: dict[int, set[int]] = {}
    zones = set()
    with open_smf(shared_data / "smf" / "TESTCHL.dat") as stream:
        for record in records(stream, Tally()):
            if record.interval_us is None or record.start_us is None or record.end_us is None:
                continue
            found.setdefault(record.subtype, set()).add(round(record.interval_us / 1e6))
            zones.add(record.utc_offset_us)
            assert abs(record.start_us + record.interval_us - record.end_us) < 1_000_000
    assert found[1] & found[231]
    assert len(zones) == 1
