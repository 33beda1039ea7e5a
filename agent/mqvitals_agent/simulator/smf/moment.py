"""Moments and durations as z/OS writes them: 2**-12 microseconds, moments since 1900."""

from __future__ import annotations

from typing import Final

_EPOCH_US: Final = 2_208_988_800_000_000
"""From 1900, when the clock of z/OS begins, to 1970."""
_HIGH_WORD: Final = 0xFFFFFFFF_00000000


def stamp(moment: int | None) -> int:
    """The clock's value at a moment, ms since 1970 UTC; 0 for never."""
    return 0 if moment is None else (moment * 1000 + _EPOCH_US) << 12


def coarse(moment: int | None) -> int:
    """The same as channels keep it, in steps of about a second: only the clock's high word."""
    return stamp(moment) & _HIGH_WORD


def duration(us: float) -> int:
    """A length of time in units of the clock."""
    return int(us * 4096)
