"""Until when IBM supports a release, from the table ``releases.yaml``.

A Long Term Support (LTS) release is supported for at least five years, a Continuous Delivery (CD) release for 12 months
or while it is one of the last two (IBM: FAQ for Long Term Support and Continuous Delivery releases).
"""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Annotated, Final, Literal

from mqvitals_config.decoding.decoder import decode
from mqvitals_config.decoding.scalars import DATE_FORM, parse_date
from mqvitals_config.decoding.schema import Convert

LTS: Final = "LTS"
CD: Final = "CD"

_FIRST_WITH_CD: Final = 900
"""Before 9.0.0 there were no CD releases."""
_FIRST_WITH_BOTH: Final = 920
"""From 9.2.0 on the CD release that comes with an LTS release has its number."""


@dataclass(frozen=True, slots=True)
class Support:
    """``until`` is the last day that is certain, None: unknown; ``words`` say how certain it is. ``type`` is LTS or CD,
    None: unknown."""

    type: str | None
    until: date | None
    words: str


def _last_day(month: str) -> date:
    """The last day of a month such as 2024-06. Raises ValueError."""
    first = parse_date(f"{month}-01")
    return first.replace(day=calendar.monthrange(first.year, first.month)[1])


Month = Annotated[date, Convert(_last_day, expected="a month such as 2024-06", raw=True)]
Day = Annotated[date, Convert(parse_date, expected=DATE_FORM, raw=True)]


@dataclass(frozen=True, slots=True)
class Release:
    """LTS releases by their command levels; dates as in the table, each month as its last day."""

    levels: tuple[int, ...]
    until: Month
    available: Month | None = None
    ended: Day | None = None
    zos: Literal["over"] | None = None


@dataclass(frozen=True, slots=True)
class ReleaseTable:
    """The LTS releases, oldest first, and when the table was last compared with its sources."""

    as_of: Day
    continuous_delivery_months: int
    releases: tuple[Release, ...]

    def support(self, level: int, *, zos: bool, announced: str | None = None) -> Support | None:
        """The support of a command level; None where the table does not tell.

        ``announced`` is what the queue manager says of itself at its start, LTS or CD.
        """
        release = self._release(level)
        if release is None or announced == CD:
            return self._continuous(level)
        either = announced is None and zos and level >= _FIRST_WITH_BOTH
        name = f"{version_words(level)}{', as LTS' if either else ' LTS'}"
        if zos and release.zos is not None:
            words = f"{name}: no longer supported"
        elif not zos and release.ended is not None:
            return Support(LTS, release.ended, f"{name}: supported until {release.ended}")
        else:
            open_end = ", its end on z/OS is not verified" if zos else ""
            words = f"{name}: supported at least until {release.until:%Y-%m}{open_end}"
        return Support(None if either else LTS, release.until, words)

    def _continuous(self, level: int) -> Support | None:
        """A CD release is older than the LTS release after it: so its months are over at a known time at the latest.

        A version whose number ends with 0 is an LTS release, which may be newer than the table.
        """
        same = self._release(level)
        if level < _FIRST_WITH_CD or (level % 10 == 0 and same is None):
            return None
        newer = same or next((each for each in self.releases if min(each.levels) > level), None)
        months = self.continuous_delivery_months
        if newer is None or newer.available is None:
            since = "after it became available, or while it is one of the last two"
            return Support(CD, None, f"{version_words(level)} CD: supported for {months} months {since}")
        year, month = divmod(newer.available.year * 12 + newer.available.month - 1 + months, 12)
        until = _last_day(f"{year}-{month + 1:02}")
        latest = "" if same else " at the latest"
        return Support(CD, until, f"{version_words(level)} CD: supported until {until:%Y-%m}{latest}")

    def _release(self, level: int) -> Release | None:
        return next((each for each in self.releases if level in each.levels), None)


def version_words(level: int) -> str:
    """A command level as a version: 9.1.5."""
    return f"{level // 100}.{level // 10 % 10}.{level % 10}"


@cache
def release_table() -> ReleaseTable:
    """The table that comes with the product."""
    text = files("mqvitals_rules").joinpath("releases.yaml").read_text("utf-8")
    return decode("releases.yaml", text, ReleaseTable)
