"""Health: glyph, word, order and exit code, the same on every screen and for every script."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

from mqvitals_rules.lifecycle.alert import Severity


class Health(IntEnum):
    """The state of an object or a group, ordered: the worst is the greatest.

    A known fault outranks unknown, and unknown outranks information: what is not known is never good.
    """

    OK = 0
    INFO = 1
    UNKNOWN = 2
    WARNING = 3
    CRITICAL = 4

    @property
    def glyph(self) -> str:
        """The sign; its shape alone distinguishes the states."""
        return _GLYPHS[self]

    @property
    def word(self) -> str:
        """The word for scripts: ``critical``."""
        return self.name.lower()

    def __str__(self) -> str:
        return f"{self.glyph} {self.name}"


_GLYPHS = {
    Health.OK: "✓",
    Health.INFO: "◆",
    Health.UNKNOWN: "?",
    Health.WARNING: "▲",
    Health.CRITICAL: "●",
}

WIDEST = max(len(str(health)) for health in Health)
"""Cells that the longest glyph and word take."""

_OF_SEVERITY = {Severity.INFO: Health.INFO, Severity.WARNING: Health.WARNING, Severity.CRITICAL: Health.CRITICAL}


def health_of(severity: Severity) -> Health:
    """The health of an object with an alert of this severity."""
    return _OF_SEVERITY[severity]


def worst(healths: Iterable[Health]) -> Health:
    """The worst of them; OK when there are none."""
    return max(healths, default=Health.OK)


class Exit(NamedTuple):
    """The exit code of ``mqvitals status`` and the reason for it."""

    code: int
    reason: str


_EXITS = {
    Health.OK: Exit(0, "nothing is wrong"),
    Health.INFO: Exit(0, "nothing is wrong; there is information"),
    Health.WARNING: Exit(1, "the worst firing alert is a warning"),
    Health.CRITICAL: Exit(2, "a critical alert is firing"),
    Health.UNKNOWN: Exit(3, "the state of a queue manager is unknown"),
}


def exit_of(health: Health) -> Exit:
    """The exit code of ``mqvitals status`` for the group's health: 0 OK or INFO, 1 WARNING, 2 CRITICAL, 3 UNKNOWN."""
    return _EXITS[health]
