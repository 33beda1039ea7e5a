"""Glyphs, words, order and exit codes."""

from __future__ import annotations

import pytest

from mqvitals_agent.text.severity import WIDEST, Health, exit_of, health_of, worst
from mqvitals_agent.text.terminal import cells
from mqvitals_rules.lifecycle.alert import Severity


def test_signs() -> None:
    """Every state has its glyph and its word, each glyph of another shape."""
    assert [str(health) for health in reversed(Health)] == [
        "● CRITICAL",
        "▲ WARNING",
        "? UNKNOWN",
        "◆ INFO",
        "✓ OK",
    ]
    assert len({health.glyph for health in Health}) == len(Health)
    assert max(cells(str(health)) for health in Health) == WIDEST


@pytest.mark.parametrize(
    ("health", "code"),
    [(Health.OK, 0), (Health.INFO, 0), (Health.WARNING, 1), (Health.CRITICAL, 2), (Health.UNKNOWN, 3)],
)
def test_exit_codes(health: Health, code: int) -> None:
    """Information counts as OK; every code comes with its reason."""
    assert exit_of(health).code == code
    assert exit_of(health).reason


def test_worst() -> None:
    """A known fault outranks not knowing, which outranks information; nothing at all is OK."""
    assert worst([]) is Health.OK
    assert worst([Health.INFO, Health.UNKNOWN, Health.OK]) is Health.UNKNOWN
    assert worst([Health.UNKNOWN, Health.WARNING]) is Health.WARNING
    assert worst([Health.WARNING, Health.CRITICAL, Health.UNKNOWN]) is Health.CRITICAL


def test_health_of_severity() -> None:
    """Each severity of an alert has the health of the same name."""
    assert {severity.name: health_of(severity).name for severity in Severity} == {
        severity.name: severity.name for severity in Severity
    }
