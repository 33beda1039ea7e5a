"""The times of console lines: what a line shows, and which moment that is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, tzinfo
from typing import Final

from mqvitals_agent.poll.zone import Clock

DAY_MS: Final = 86_400_000
_EPOCH: Final = date(1970, 1, 1).toordinal()
_AHEAD_MS: Final = 300_000
"""A time of day that lies further ahead than this is yesterday's: clocks differ by less."""
_MIDNIGHT_MS: Final = 12 * 3_600_000

MONTHS: Final = {
    name: number
    for number, name in enumerate(
        ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"), start=1
    )
}
_TIME = re.compile(r"(\d\d)[:.](\d\d)[:.](\d\d)(?:[.,](\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a line shows: ms of the day, the day (since 1970) and the distance from UTC (ms) where it shows them."""

    ms: int
    day: int | None = None
    offset: int | None = None


def time_of_day(text: str) -> int | None:
    """``17.43.53`` or ``17:43:53.12`` as ms of the day; None for what is no time."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    hours, minutes, seconds = int(found[1]), int(found[2]), int(found[3])
    if hours > 23 or minutes > 59 or seconds > 60:
        return None
    return (hours * 3600 + minutes * 60 + min(seconds, 59)) * 1000 + int(((found[4] or "") + "000")[:3])


def day_of(year: int, month: int, number: int) -> int | None:
    """A date as days since 1970; None for one that does not exist."""
    try:
        return date(year, month, number).toordinal() - _EPOCH
    except ValueError:
        return None


def day_of_year(text: str) -> int | None:
    """``2024029`` or ``24029`` as days since 1970; None for what is no date."""
    year, number = int(text[:-3]), int(text[-3:])
    first = day_of(year + 2000 if len(text) == 5 else year, 1, 1)
    return None if first is None or not 1 <= number <= 366 else first + number - 1


class Calendar:
    """Tells the moments (ms UTC) of the stamps of one file, in the order of its lines.

    ``zone`` is that of times without an offset. Without it, it is derived from lines that name their date and have just been
    written, as that of a queue manager is; until then, and for times without a date, the moment is that of reading.
    """

    def __init__(self, zone: tzinfo | None, day: int | None = None, last: int = 0) -> None:
        """``day`` and ``last`` (ms of the day) are those of an earlier calendar of the same file."""
        self._zone = zone
        self._clock = Clock(zone)
        self.day = day
        self.last = last

    def turn(self, day: int) -> None:
        """A line said which day it is."""
        self.day, self.last = day, 0

    def restart(self) -> None:
        """Another file begins: its times of day are no longer after those of the one before."""
        self.day, self.last = None, 0

    def moment(self, stamp: Stamp | None, now: int, *, live: bool) -> int:
        """The moment of a line that was read at ``now``; ``live``: it cannot have been in the file for long.

        Never later than ``now``: a message of the future would be believed for too long.
        """
        if stamp is None:
            return now
        if stamp.offset is not None and stamp.day is not None:
            return min(stamp.day * DAY_MS + stamp.ms - stamp.offset, now)
        if stamp.day is not None:
            local = stamp.day * DAY_MS + stamp.ms
        elif self.day is not None:
            if stamp.ms < self.last - _MIDNIGHT_MS:
                self.day += 1
            self.last = stamp.ms
            local = self.day * DAY_MS + stamp.ms
        else:
            return self._nearest(stamp.ms, now)
        if live:
            self._clock.observe(local, now)
        told = self._clock.utc(local)
        return now if told is None else min(told, now)

    def _nearest(self, ms: int, now: int) -> int:
        """The last time before ``now`` that clocks of the zone showed ``ms``; ``now`` where the zone is not known."""
        if not self._clock.known:
            return now
        # Which day it is there differs from ours by one at most.
        days = range(now // DAY_MS + 1, now // DAY_MS - 2, -1)
        told = (self._clock.utc(day * DAY_MS + ms) for day in days)
        return next((min(each, now) for each in told if each is not None and each <= now + _AHEAD_MS), now)
