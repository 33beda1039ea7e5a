"""When each question is due: its usual interval, the base interval's scale, and stretching when answers take long.

Pure decisions. Lengths are ms; moments are those of the base interval's grid, ms of elapsed time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

BASE_MS = 30_000
"""The base interval that ``USUAL_MS`` belongs to."""

USAGE_FLOOR_MS = 60_000
"""DISPLAY USAGE makes a queue manager look at all its page sets: never more often than this against a real one."""

USAGE = "INQUIRE_USAGE"
DATA_SETS = "INQUIRE_USAGE_SMDS"
"""The part of it about shared message data sets, which the one about page sets and pools leaves out."""
BACKUP = "INQUIRE_CF_STRUC_STATUS_BACKUP"
"""The other half of INQUIRE_CF_STRUC_STATUS: when structures were backed up."""
STATISTICS = "STATISTICS"
"""No command, but taking messages from the statistics queue of a distributed queue manager."""

USUAL_MS: Mapping[str, int] = {
    "INQUIRE_Q_MGR": 300_000,
    "INQUIRE_Q_MGR_STATUS": 60_000,
    "INQUIRE_STG_CLASS": 900_000,
    "INQUIRE_CF_STRUC": 900_000,
    "INQUIRE_SMDS": 900_000,
    "INQUIRE_CHANNEL": 900_000,
    "INQUIRE_Q": 900_000,
    "INQUIRE_CHANNEL_STATUS": 30_000,
    "INQUIRE_Q_STATUS": 30_000,
    "INQUIRE_CHANNEL_INIT": 30_000,
    "INQUIRE_LOG": 30_000,
    "INQUIRE_QSG": 60_000,
    "INQUIRE_CF_STRUC_STATUS": 60_000,
    USAGE: 60_000,
    DATA_SETS: 60_000,
    BACKUP: 300_000,
    "INQUIRE_SYSTEM": 3_600_000,
    "INQUIRE_ARCHIVE": 3_600_000,
    STATISTICS: 60_000,
}
"""The questions in the order in which they are asked, definitions first, and their intervals at the usual base interval."""

_TOO_LONG = 10
"""An answer that takes more than its interval's tenth part is asked for half as often."""
_QUICK = 20
"""One that takes less than the twentieth part would not be too long at twice the pace."""
_QUICK_ANSWERS = 3
_SILENT_DOUBLED = 2
_LONGEST_MS = 3_600_000


def configured_ms(
    question: str, base_ms: int, intervals: Mapping[str, int] | None = None, usage_floor_ms: int = USAGE_FLOOR_MS
) -> int:
    """How often a question is asked unless its answers take long.

    ``intervals`` are those that the site sets itself. Otherwise a shorter base interval shortens all in proportion, and
    a longer one lengthens those that are shorter than it.
    """
    own = (intervals or {}).get(question)
    interval = max(base_ms, USUAL_MS[question] * min(base_ms, BASE_MS) // BASE_MS) if own is None else own
    return max(interval, usage_floor_ms) if question in (USAGE, DATA_SETS) else interval


def is_due(moment: int, asked: int | None, interval_ms: int) -> bool:
    """True at a moment of the grid when a question that was asked last at ``asked`` (None: never) is to be asked again."""
    return asked is None or moment - asked >= interval_ms


class Stretch(NamedTuple):
    """How many times an interval was doubled, and how many quick answers came since it last changed."""

    doubled: int = 0
    quick: int = 0

    def of(self, configured: int) -> int:
        """The interval in force, ms."""
        return configured << self.doubled


def stretched(before: Stretch, configured: int, elapsed_ms: int, *, silent: bool = False) -> tuple[Stretch, str]:
    """What an answer's time makes of the interval, and why; the reason is empty when nothing changes.

    ``silent``: no answer came. How long one takes is not known then, so the interval grows to four times at most.
    """
    interval = before.of(configured)
    if elapsed_ms * _TOO_LONG > interval:
        full = 2 * interval > max(_LONGEST_MS, configured) or (silent and before.doubled >= _SILENT_DOUBLED)
        if full:
            return Stretch(before.doubled), ""
        what = "no answer came within" if silent else "the answer took"
        return (
            Stretch(before.doubled + 1),
            f"{what} {_seconds(elapsed_ms)}, more than a tenth of the interval: asked every {_seconds(2 * interval)}",
        )
    if not before.doubled or silent or elapsed_ms * _QUICK >= interval:
        return Stretch(before.doubled), ""
    if before.quick + 1 < _QUICK_ANSWERS:
        return Stretch(before.doubled, before.quick + 1), ""
    return Stretch(before.doubled - 1), f"the answers come quickly again: asked every {_seconds(interval // 2)}"


def _seconds(ms: int) -> str:
    return f"{ms / 1000:g} s"
