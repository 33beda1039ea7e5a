"""Times that come again, by the wall clock of a zone: whether now is one of them, and when that changes.

All moments are ms since 1970 UTC. What the wall clock shows counts: times that it skips when clocks go forward do not
come, and times that it shows twice when they go back come twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from typing import Final, NamedTuple

from mqvitals_config.sections.time_intervals import (
    DAY_MINUTES,
    ClockRange,
    IntervalSettings,
    Range,
    parse_days_of_month,
    parse_months,
    parse_weekdays,
    parse_years,
)
from mqvitals_rules.timestamps import DAY_MS, MINUTE_MS

_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
_STEP_MS: Final = 6 * 3_600_000
"""No zone changes its offset twice within this time."""
_WHOLE_DAY: Final = (ClockRange(0, DAY_MINUTES),)


class TimeSpan(NamedTuple):
    """From ``start`` to ``end``, which is excluded."""

    start: int
    end: int


TimesOfDay = Callable[[date], Sequence[ClockRange]]
"""The times of a day that are meant."""


@dataclass(frozen=True, slots=True)
class TimeInterval:
    """Times that fit all of its parts; a part that is empty fits always.

    ``weekdays`` count from Monday as 0, ``days`` are ranges of days of the month, negative ones from its end.
    """

    zone: tzinfo
    times: tuple[ClockRange, ...] = ()
    weekdays: frozenset[int] = frozenset()
    days: tuple[Range, ...] = ()
    months: frozenset[int] = frozenset()
    years: tuple[Range, ...] = ()

    @classmethod
    def of(cls, settings: IntervalSettings, zone: tzinfo) -> TimeInterval:
        """The interval that settings describe; ``zone`` is the one that they name."""
        return cls(
            zone,
            tuple(each.range for each in settings.times),
            days_of_week(map(parse_weekdays, settings.weekdays)),
            tuple(map(parse_days_of_month, settings.days_of_month)),
            frozenset(
                month for each in map(parse_months, settings.months) for month in range(each.first, each.last + 1)
            ),
            tuple(map(parse_years, settings.years)),
        )

    def on(self, day: date) -> Sequence[ClockRange]:
        """The times of a day that fit; none on a day that does not."""
        if self.weekdays and day.weekday() not in self.weekdays:
            return ()
        if self.months and day.month not in self.months:
            return ()
        if self.years and not any(each.first <= day.year <= each.last for each in self.years):
            return ()
        if self.days and not any(_has_day(each, day) for each in self.days):
            return ()
        return self.times or _WHOLE_DAY


def days_of_week(ranges: Iterable[Range]) -> frozenset[int]:
    """The days of ranges, Monday as 0. A range that begins with Sunday begins with -1."""
    return frozenset(day % 7 for each in ranges for day in range(each.first, each.last + 1))


def within(intervals: Iterable[TimeInterval], ts: int) -> bool:
    """Whether ``ts`` lies in one of the intervals."""
    for each in intervals:
        local = ts + offset_ms(each.zone, ts)
        minute = local % DAY_MS // MINUTE_MS
        if any(times.start <= minute < times.end for times in each.on(_day(local))):
            return True
    return False


def next_change(intervals: Sequence[TimeInterval], ts: int, until: int) -> int | None:
    """When ``within`` changes next after ``ts`` and before ``until``; None: it does not."""
    spans = merged(
        span for each in intervals for span in wall_clock_spans(each.zone, ts, until, each.on) if span.end > ts
    )
    moments = (moment for span in spans for moment in span if ts < moment < until)
    return min(moments, default=None)


def wall_clock_spans(zone: tzinfo, start: int, end: int, times: TimesOfDay) -> Iterator[TimeSpan]:
    """The spans between ``start`` and ``end`` during which the wall clock of ``zone`` shows one of ``times``.

    Spans that touch at midnight, or where the offset of the zone changes, are not yet ``merged``.
    """
    for piece, offset in _pieces(zone, start, end):
        first, last = piece.start + offset, piece.end + offset
        for number in range(first // DAY_MS, (last - 1) // DAY_MS + 1):
            midnight = number * DAY_MS
            for each in times(_day(midnight)):
                begun = max(midnight + each.start * MINUTE_MS, first)
                ended = min(midnight + each.end * MINUTE_MS, last)
                if begun < ended:
                    yield TimeSpan(begun - offset, ended - offset)


def merged(spans: Iterable[TimeSpan]) -> list[TimeSpan]:
    """The spans in order, with those that overlap or touch made one."""
    found: list[TimeSpan] = []
    for each in sorted(spans):
        if found and each.start <= found[-1].end:
            found[-1] = TimeSpan(found[-1].start, max(found[-1].end, each.end))
        else:
            found.append(each)
    return found


def offset_ms(zone: tzinfo, ts: int) -> int:
    """How far the wall clock of a zone is ahead of UTC."""
    offset = datetime.fromtimestamp(ts // 1000, zone).utcoffset()
    return 0 if offset is None else int(offset.total_seconds()) * 1000


def _pieces(zone: tzinfo, start: int, end: int) -> Iterator[tuple[TimeSpan, int]]:
    """``start`` to ``end`` in pieces of one offset each, with it."""
    begun, offset = start, offset_ms(zone, start)
    at = start
    while at < end:
        after = min(at + _STEP_MS, end)
        there = offset_ms(zone, after)
        if there != offset:
            changed = _change_between(zone, at, after, offset)
            if begun < changed:
                yield TimeSpan(begun, changed), offset
            begun, offset = changed, there
        at = after
    if begun < end:
        yield TimeSpan(begun, end), offset


def _change_between(zone: tzinfo, before: int, after: int, offset: int) -> int:
    """The first second from which a zone no longer has the ``offset`` of ``before``."""
    low, high = before // 1000, after // 1000
    while high - low > 1:
        middle = (low + high) // 2
        if offset_ms(zone, middle * 1000) == offset:
            low = middle
        else:
            high = middle
    return high * 1000


def _day(local: int) -> date:
    return date.fromordinal(_EPOCH_DAY + local // DAY_MS)


def _has_day(days: Range, day: date) -> bool:
    following = date(day.year + day.month // 12, day.month % 12 + 1, 1)
    length = (following - day.replace(day=1)).days
    first, last = (length + number + 1 if number < 0 else number for number in days)
    return first <= day.day <= last
