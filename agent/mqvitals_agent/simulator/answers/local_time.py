"""Dates and times as a queue manager writes them: in its own local time, ``2026-11-20`` and ``12.59.59``."""

from __future__ import annotations

from datetime import date, timedelta
from functools import lru_cache

_EPOCH = date(1970, 1, 1)
_DAY_MS = 86_400_000


@lru_cache(maxsize=1024)
def _day(days: int) -> str:
    return (_EPOCH + timedelta(days=days)).isoformat()


@lru_cache(maxsize=100_000)
def _time_of_day(seconds: int) -> str:
    return f"{seconds // 3600:02}.{seconds // 60 % 60:02}.{seconds % 60:02}"


def local_time(moment: int | None, zone_ms: int) -> tuple[str, str]:
    """Date and time of ``moment`` (ms since 1970 UTC) on a clock that is ``zone_ms`` ahead of UTC; both blank for None."""
    if moment is None:
        return "", ""
    days, rest = divmod(moment + zone_ms, _DAY_MS)
    return _day(days), _time_of_day(rest // 1000)
