"""Timestamps: milliseconds since 1970 UTC inside the product, ISO 8601 in UTC outside."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

MINUTE_MS: Final = 60_000
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS
WEEK_MS: Final = 7 * DAY_MS


def iso(moment: int) -> str:
    """``1763640000007`` as ``2025-11-20T12:00:00.007Z``."""
    whole, ms = divmod(moment, 1000)
    return f"{datetime.fromtimestamp(whole, UTC):%Y-%m-%dT%H:%M:%S}.{ms:03d}Z"


def parse_iso(text: str) -> int:
    """Read what ``iso`` writes, and any ISO 8601 moment that names its offset.

    Raises ValueError when the text is no moment or names no offset.
    """
    when = datetime.fromisoformat(text)
    if when.tzinfo is None:
        raise ValueError(f"{text!r} names no offset from UTC; end it with Z")
    whole = datetime(when.year, when.month, when.day, when.hour, when.minute, when.second, tzinfo=when.tzinfo)
    return int(whole.timestamp()) * 1000 + when.microsecond // 1000


_ZONE_STEP_MS = 900_000
_MOST_ZONE_MS = 7_200_000
"""Zones differ by quarters of an hour; clocks are set forward or back by two hours at most."""


def moved_by_zone(ms: int) -> bool:
    """Whether a local time that is told ``ms`` later (negative: earlier) than before may be the same moment in another zone."""
    return abs(ms) <= _MOST_ZONE_MS and ms % _ZONE_STEP_MS == 0
