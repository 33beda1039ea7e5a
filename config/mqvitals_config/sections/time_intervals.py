"""Settings of times that come again: ``time_intervals`` as Alertmanager's, and the ranges that they are made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, NamedTuple

from mqvitals_config.decoding.problem import LocatedText, Problem, did_you_mean, listing, repeated, shown
from mqvitals_config.decoding.scalars import TIME_ZONE_FORM, display_name, time_zone_name
from mqvitals_config.decoding.schema import Convert, Doc

DAY_MINUTES: Final = 1440
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)

TimeZone = Annotated[str, Convert(time_zone_name, TIME_ZONE_FORM, raw=True)]

_CLOCK: Final = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])|24:00")
_NUMBER: Final = re.compile(r"-?[0-9]{1,4}")
_SUNDAY_FIRST: Final = (*WEEKDAYS[-1:], *WEEKDAYS[:-1])


class Range(NamedTuple):
    """Whole numbers from ``first`` to ``last``, both included. Days of a month from the end are negative."""

    first: int
    last: int


class ClockRange(NamedTuple):
    """Times of a day from ``start`` to ``end``, which is excluded, in minutes from midnight; 1440 is the next one."""

    start: int
    end: int


def parse_clock(text: str) -> int:
    """``09:30`` as minutes from midnight, ``24:00`` as 1440. Raises ValueError."""
    found = _CLOCK.fullmatch(text)
    if found is None:
        raise ValueError(f"{shown(text)} is no time of day; write it as 09:00, the end of the day as 24:00")
    return DAY_MINUTES if found[1] is None else int(found[1]) * 60 + int(found[2])


def parse_weekdays(text: str) -> Range:
    """``monday:friday`` as (0, 4), ``sunday`` as (6, 6); ``sunday:tuesday`` as (-1, 1). Raises ValueError.

    As in Alertmanager the week begins with Sunday.
    """
    first, last = (_word(part, _SUNDAY_FIRST, "weekday") for part in _parts(text))
    if last < first:
        raise ValueError(
            f"{shown(text)} ends before it begins, since the week begins with Sunday; write the days in two ranges"
        )
    return Range(6, 6) if first == last == 0 else Range(first - 1, last - 1)


def parse_months(text: str) -> Range:
    """``january:march`` or ``1:3`` as (1, 3). Raises ValueError."""
    found = Range(
        *(
            _number(part, 1, 12, "month") if _NUMBER.fullmatch(part.strip()) else _word(part, MONTHS, "month") + 1
            for part in _parts(text)
        )
    )
    return _forward(found, text, "; write the months in two ranges")


def parse_years(text: str) -> Range:
    """``2027:2028`` as (2027, 2028). Raises ValueError."""
    return _forward(Range(*(_number(part, 1970, 9998, "year") for part in _parts(text))), text)


def parse_days_of_month(text: str) -> Range:
    """``1:5`` as (1, 5), ``-3:-1`` as (-3, -1): the last three days. Raises ValueError."""
    found = Range(*(_number(part, -31, 31, "day of a month") for part in _parts(text)))
    if 0 in found:
        raise ValueError("there is no day 0 of a month; -1 is the last one")
    if found.first < 0 < found.last:
        raise ValueError(f"{shown(text)}: after a day from the end of the month comes another one, such as -3:-1")
    first, last = (28 + day if day < 0 else day for day in found)
    if last < first:
        raise ValueError(f"{shown(text)} ends before it begins")
    return found


def _parts(text: str) -> tuple[str, str]:
    first, colon, last = text.partition(":")
    return first, last if colon else first


def _word(text: str, words: Sequence[str], what: str) -> int:
    word = text.strip().lower()
    if word not in words:
        meant = did_you_mean(word, words)
        raise ValueError(f"there is no {what} {shown(text.strip())}{meant or f'; there is {listing(words)}'}")
    return words.index(word)


def _number(text: str, least: int, most: int, what: str) -> int:
    found = int(text) if _NUMBER.fullmatch(text.strip()) else None
    if found is None or not least <= found <= most:
        raise ValueError(f"{shown(text.strip())} is no {what}; write a number from {least} to {most}")
    return found


def _forward(found: Range, text: str, remedy: str = "") -> Range:
    if found.last < found.first:
        raise ValueError(f"{shown(text)} ends before it begins{remedy}")
    return found


def _as_written(parse: Callable[[str], object], expected: str) -> Convert:
    """Takes a text that ``parse`` reads, as it is written."""

    def checked(text: LocatedText) -> LocatedText:
        parse(text)
        return text

    return Convert(checked, expected, raw=True)


ClockText = Annotated[LocatedText, _as_written(parse_clock, "a time of day such as 09:00")]
WeekdaysText = Annotated[LocatedText, _as_written(parse_weekdays, "a weekday or a range such as monday:friday")]


@dataclass(frozen=True, slots=True)
class TimeRangeSettings:
    """A part of a day."""

    start_time: Annotated[ClockText, Doc("When it begins, such as 09:00.")]
    end_time: Annotated[
        ClockText, Doc("When it ends, such as 17:00; 24:00 is the end of the day. This minute is outside.")
    ]

    @property
    def range(self) -> ClockRange:
        """It in minutes."""
        return ClockRange(parse_clock(self.start_time), parse_clock(self.end_time))

    def __post_init__(self) -> None:
        if self.range.end <= self.range.start:
            raise ValueError(
                "end_time must be after start_time; write what passes midnight as two, one until 24:00 and one from 00:00"
            )


@dataclass(frozen=True, slots=True)
class IntervalSettings:
    """Times that fit everything that is given here."""

    times: Annotated[tuple[TimeRangeSettings, ...], Doc("The parts of the day.", default="the whole day")] = ()
    weekdays: Annotated[
        tuple[WeekdaysText, ...],
        Doc("Days of the week, such as `monday:friday`. The week begins with Sunday.", default="every day"),
    ] = ()
    days_of_month: Annotated[
        tuple[Annotated[LocatedText, _as_written(parse_days_of_month, "a day or a range such as 1:5 or -3:-1")], ...],
        Doc("Days of the month, such as `1:5`; negative ones count from its end: -1 is the last.", default="every day"),
    ] = ()
    months: Annotated[
        tuple[Annotated[LocatedText, _as_written(parse_months, "a month or a range such as january:march")], ...],
        Doc("Months, by name or by number, such as `january:march` or `1:3`.", default="every month"),
    ] = ()
    years: Annotated[
        tuple[Annotated[LocatedText, _as_written(parse_years, "a year or a range such as 2027:2028")], ...],
        Doc("Years, such as `2027:2028`.", default="every year"),
    ] = ()
    location: Annotated[
        TimeZone,
        Doc("The time zone: an IANA name such as Europe/Berlin. Its wall clock counts, daylight saving included."),
    ] = "UTC"

    def __post_init__(self) -> None:
        if not (self.times or self.weekdays or self.days_of_month or self.months or self.years):
            raise ValueError(
                "this would be always: give times, weekdays, days_of_month, months or years, or several of them"
            )


@dataclass(frozen=True, slots=True)
class TimeIntervalSettings:
    """A named time interval, as in Alertmanager's configuration."""

    name: Annotated[
        Annotated[LocatedText, Convert(display_name)],
        Doc("Its name, for `mute_time_intervals` and `active_time_intervals` of routes."),
    ]
    time_intervals: Annotated[
        tuple[IntervalSettings, ...], Doc("It is now in the interval when one of these entries fits.")
    ]

    def __post_init__(self) -> None:
        if not self.time_intervals:
            raise ValueError("time_intervals has no entry, so this is never")


def interval_contradictions(intervals: Sequence[TimeIntervalSettings]) -> Iterator[Problem]:
    """Names of time intervals that occur twice."""
    for index, name, first in repeated(each.name for each in intervals):
        message = f"{name} occurs twice, first on line {first.place.line}"
        yield Problem(name.place, f"time_intervals[{index}].name", message)
