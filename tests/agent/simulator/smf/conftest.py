"""The simulated group's SMF records, read back with the reader of real ones."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest

from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.scenario import Scenario, load_scenario
from mqvitals_agent.simulator.smf.writer import SmfWriter
from mqvitals_agent.smf.reader import ReadCounts, records
from mqvitals_agent.smf.record import Record
from mqvitals_agent.smf.section import sections

BEGIN = 1_763_700_000_123
"""A whole minute and 123 ms."""
MINUTE = 60_000


def simulation(scenario: str | Scenario = "quiet", *, begin: int = BEGIN, **options: Any) -> SimulatedGroup:
    """A simulation in its first moment."""
    return SimulatedGroup(load_scenario(scenario) if isinstance(scenario, str) else scenario, begin, **options)


def written(here: SimulatedGroup, *looks: int, interval_ms: int = MINUTE) -> bytes:
    """What is written until the last look; each so many ms after the group's beginning."""
    stream = io.BytesIO()
    begin = here.group.now
    writer = SmfWriter(here, stream, interval_ms)
    for look in sorted(looks):
        writer.write_due(begin + look)
    return stream.getvalue()


def read(data: bytes) -> list[Record]:
    """The records, none of which is damaged or unknown."""
    tally = ReadCounts()
    found = list(records(io.BytesIO(data), tally))
    assert not tally.damage
    assert not tally.skipped
    assert not tally.unknown
    return found


def fields(found: list[Record], section: str, member: str = "QM01") -> list[list[dict[str, int | str]]]:
    """By record of the member that has such sections: the values of each."""
    reported = (
        [each.fields() for each in sections(record) if each.layout.name == section]
        for record in found
        if record.ssid == member
    )
    return [each for each in reported if each]


@pytest.fixture(scope="session")
def smf() -> SimpleNamespace:
    """Simulations, what they write, and how it is read back."""
    return SimpleNamespace(BEGIN=BEGIN, MINUTE=MINUTE, simulation=simulation, written=written, read=read, fields=fields)
