"""Units of work as text: what an operator reads of them, and of what is not known."""

from __future__ import annotations

from typing import Any
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.text.styled import Tone
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.screens.units import units_lines
from mqvitals_agent.who.holder import MemberUnits, ReportedConnection, UnitOfWork, UnitsOfWork
from mqvitals_rules.snapshot import ObjectName

QM = ObjectName("QM01", "queue_manager")
AT = 1_000_000


def connection(state: str = "ACTIVE", logged: str = "2026-11-21 09.12.44", **told: Any) -> ReportedConnection:
    plain: dict[str, Any] = {
        "identifier": "00000000000000A1",
        "application": "CICSPA01",
        "user": "CICSUSER",
        "asid": "0031",
        "channel": "",
        "connection_name": "",
        "transaction": "PAYG",
        "task": "0012345",
        "region": "",
        "process": None,
        "thread": None,
        "unit_of_work": UnitOfWork(state, "CICS", "2026-11-21 09.00.00", logged, "0000001A2B3C0000"),
    }
    return ReportedConnection(**plain | told)


def text(*units: ReportedConnection, width: int = 140, now: int = AT + 2_000, **told: Any) -> str:
    found = units_lines(UnitsOfWork(QM, (MemberUnits("QM01", AT, 46, units, **told),)), now, width)
    return "\n".join(each.text for each in found)


def test_what_is_said_of_a_unit_of_work() -> None:
    """State, who, since when it is in the log, and the identifiers for the next command."""
    found = text(connection("UNRESOLVED"), connection(), connection())
    assert found.startswith("QM01: 3 units of work: 2 ACTIVE, 1 UNRESOLVED; asked 2 s ago, answered in 46 ms")
    first = found.split("\n")[2]
    for words in (
        "2026-11-21 09.12.44",
        "● UNRESOLVED",
        "CICSPA01",
        "CICSUSER",
        "CICS",
        "PAYG, task 0012345, ASID 0031",
    ):
        assert words in first
    assert "0000001A2B3C0000" in found
    assert "00000000000000A1" in found


def test_one_without_log_records_says_so() -> None:
    assert "nothing logged, active since 2026-11-21 09.00.00" in text(connection(logged=""), width=200)


def test_none_is_no_problem_and_a_problem_is_not_none() -> None:
    assert text() == "QM01: no unit of work; asked 2 s ago, answered in 46 ms"
    refused = text(problem="not authorised to DISPLAY CONN")
    assert "units of work not known: not authorised to DISPLAY CONN" in refused
    assert "no unit of work" not in refused
    assert "? the answer did not come whole" in text(connection(), notes=("the answer did not come whole",))


@pytest.mark.parametrize(("seconds", "tone"), [(59, Tone.STRONG), (60, Tone.STALE)])
def test_an_old_answer_looks_old(seconds: int, tone: Tone) -> None:
    (line,) = units_lines(UnitsOfWork(QM, (MemberUnits("QM01", AT, 46),)), AT + seconds * 1_000, 140)
    assert line.spans[0].tone is tone


@given(st.text(max_size=60), st.text(max_size=60), st.integers(40, 200))
def test_any_text_is_data(application: str, user: str, width: int) -> None:
    """No control character leaves, and every line fits, however narrow the terminal is."""
    unit = UnitOfWork(application, user, application, user, application)
    found = text(connection(application=application, user=user, transaction=user, unit_of_work=unit), width=width)
    assert not [char for char in found.replace("\n", "") if category(char) in ("Cc", "Cs")]
    assert max(map(cells, found.split("\n"))) <= max(width, 60)
