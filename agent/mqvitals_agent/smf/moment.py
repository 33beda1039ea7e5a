"""Moments in microseconds since 1970 UTC, as SMF tells them, in writing."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - UTC throughout; the offset would only have to be cut off again


def iso(us: int) -> str | None:
    """``2026-03-01T12:00:00.000000Z``; None for what no calendar holds, which damaged lengths of intervals lead to."""
    moment = calendar(us)
    return None if moment is None else moment.isoformat(timespec="microseconds") + "Z"


def calendar(us: int) -> datetime | None:
    """The moment's date and time in UTC, without saying that it is; None for what no calendar holds."""
    try:
        return _EPOCH + timedelta(microseconds=us)
    except OverflowError:
        return None
