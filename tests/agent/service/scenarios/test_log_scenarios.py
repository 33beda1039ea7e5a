"""Incidents of the log on the whole path: suspended logging, the end of its range, units of work that stay open."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.agent.service.scenarios.test_incident_scenarios import played

from mqvitals_agent.simulator.scenario import load_scenario
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.sections.facts import FactSettings, LogFact

WATCHED = ("QM01", "QM02")
"""The queue managers in whose logs something happens."""


async def test_suspended_logging(house: Any) -> None:
    """40 seconds, the moment of a flash copy, are not told; 20 minutes are a warning, then critical, and end."""
    found = await played(house, load_scenario("log-suspended"), 25, 20_000, WATCHED)
    suspended = "OPS-111 QM02/log"
    assert [each for each in found.told("firing") if each.startswith("OPS-111")] == [
        f"{suspended} warning",
        f"{suspended} critical",
    ]
    assert [each for each in found.told("resolved") if each.startswith("OPS-111")] == [f"{suspended} critical"]
    assert found.cause(suspended) is None
    assert "RESUME QMGR LOG" in found.words(suspended)["advice"]


async def test_the_end_of_the_log_range(house: Any) -> None:
    """6 bytes at F80000000000 are critical until the log is reset; the same position further with 8 bytes is nothing."""
    place = Place("test")
    fact = LogFact(LocatedText("QM01/log", place), rba_bytes=6)
    house.settings = replace(house.settings, facts=FactSettings(logs=(fact,)))
    found = await played(house, load_scenario("rba-end"), 11, watched=WATCHED)
    ending = "OPS-131 QM01/log"
    assert [each for each in found.told("firing") if each.startswith("OPS-131")] == [f"{ending} critical"]
    words = found.words(ending)
    assert "0000F8" in words["summary"]
    assert words["summary"].endswith(" is 96.89 % of its range, RBA length 6 bytes")
    assert "CSQJUCNV" in words["advice"]
    assert found.cause(ending) is None
    assert [each for each in found.told("resolved") if each.startswith("OPS-131")] == [f"{ending} critical"]


async def test_the_end_of_the_range_where_its_length_is_unknown(house: Any) -> None:
    """Then it is a warning at most, and the advice says what to declare."""
    found = await played(house, load_scenario("rba-end"), 3, watched=WATCHED)
    assert [each for each in found.told("firing") if each.startswith("OPS-131")] == ["OPS-131 QM01/log warning"]
    assert "declare rba_bytes" in found.words("OPS-131 QM01/log")["advice"]


async def test_units_of_work_that_stay_open(house: Any) -> None:
    """The log moves on until it has left the active logs: first a warning, then critical, over when the job commits.

    The unit of work in doubt of another queue manager is alerted before it spans more than one log there; from then on
    that alert explains it. It ends when it is resolved.
    """
    found = await played(house, load_scenario("long-uow"), 36, watched=WATCHED)
    span, doubt = "OPS-141 QM01/log", "OPS-142 QM02/queue_manager"
    told = [each for each in found.told("firing") if each.startswith(("OPS-141", "OPS-142"))]
    assert [each for each in told if each.startswith(span)] == [f"{span} warning", f"{span} critical"]
    assert [each for each in told if each.startswith(doubt)] == [f"{doubt} warning"]
    ended = found.told("resolved")
    assert f"{span} critical" in ended
    assert f"{doubt} warning" in ended
    assert found.cause(span) is None
    assert found.cause(doubt) == "OPS-141"
    words = found.words(doubt)["summary"]
    assert "(unresolved 1, prepared 0)" in words
    assert "CICSPA01, user CICSUSER, CICS, connection 00DE1F0000000200, QMURID 000000" in words
    assert "coordinator" in found.words(doubt)["advice"]
    assert "mqvitals units" in found.words(span)["advice"]
