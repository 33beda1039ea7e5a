"""Local times of a queue manager: reading them, and finding out which zone they are in.

Status answers hold dates and times on the queue manager's own clock face, and no answer names its zone. The zone
comes from the configuration, or is derived: the newest time of an answer cannot be later than the moment of the
answer, so the distance between the two, rounded up to the quarter hour, is the zone, provided that something happened
recently. Three polls must agree, each with a newer time than the one before: an idle queue manager's old times prove
nothing.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, tzinfo
from functools import lru_cache

from mqvitals_rules.timestamps import DAY_MS, HOUR_MS

QUARTER_MS = 900_000
"""ms. Zones differ from UTC by whole quarters of an hour."""
_RECENT = 120_000  # ms: the newest time must be this near below the derived zone's clock, else it proves nothing
_SKEW = 5_000  # ms: clocks differ a little, and a time may be rounded up
_AGREEING = 3
_EARLIEST, _LATEST = -12 * HOUR_MS, 14 * HOUR_MS


@lru_cache(maxsize=4096)
def _day(text: str) -> int | None:
    try:
        return (date.fromisoformat(text) - date(1970, 1, 1)).days * DAY_MS
    except ValueError:
        return None


@lru_cache(maxsize=4096)
def _time_of_day(text: str) -> int | None:
    try:
        hours, minutes, seconds = text.split(".")
        return (int(hours) * 3600 + int(minutes) * 60 + int(seconds)) * 1000
    except ValueError:
        return None


def local_ms(day: object, time_of_day: object) -> int | None:
    """``2026-11-20`` and ``12.59.59`` as ms since 1970 on the local clock face; None when blank or malformed."""
    if not day or not time_of_day or type(day) is not str or type(time_of_day) is not str:
        return None
    days = _day(day)
    rest = _time_of_day(time_of_day)
    return None if days is None or rest is None else days + rest


@lru_cache(maxsize=1 << 15)
def told_time(day: object, time_of_day: object) -> tuple[str, int] | None:
    """A date and a time as one text, and as ``local_ms``; None when blank or malformed.

    Thousands of objects that nobody uses report the same ones in every cycle.
    """
    ms = local_ms(day, time_of_day)
    return None if ms is None else (f"{day!s} {time_of_day!s}", ms)


class QueueManagerClock:
    """The clock of one queue manager: converts its local times to UTC as soon as its zone is known."""

    def __init__(self, configured: tzinfo | None = None) -> None:
        self._configured = configured
        self._derived: int | None = None
        self._candidate: int | None = None
        self._agreeing = 0
        self._newest = 0

    @property
    def known(self) -> bool:
        """True when local times can be converted."""
        return self._configured is not None or self._derived is not None

    def observe(self, newest_local: int, now: int, slack: int = 0) -> None:
        """One poll's newest local time, seen at ``now`` (ms UTC) in an answer that took up to ``slack`` ms."""
        if self._configured is not None or newest_local <= self._newest:
            return
        self._newest = newest_local
        distance = newest_local - now - slack - _SKEW
        offset = -(-distance // QUARTER_MS) * QUARTER_MS
        if not _EARLIEST <= offset <= _LATEST or offset - distance > _RECENT + _SKEW:
            return
        self._agreeing = self._agreeing + 1 if offset == self._candidate else 1
        self._candidate = offset
        if self._agreeing >= _AGREEING:
            self._derived = offset

    @property
    def offset_ms(self) -> int | None:
        """What local times are ahead of UTC, where that is derived; None: it is not, or a configured zone has the rules."""
        return None if self._configured is not None else self._derived

    def utc(self, local: int) -> int | None:
        """A local time as ms UTC; None while the zone is unknown."""
        if self._configured is not None:
            return _in_zone(local, self._configured)
        return None if self._derived is None else local - self._derived


def _in_zone(local: int, where: tzinfo) -> int | None:
    try:
        face = datetime.fromtimestamp(local / 1000, UTC).replace(tzinfo=where)
        return int(face.timestamp() * 1000)
    except (OverflowError, ValueError, OSError):
        return None
