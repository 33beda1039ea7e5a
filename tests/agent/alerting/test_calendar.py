"""Recurring times over both changes of daylight saving, held against dateutil: its zones, its recurrences."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from dateutil import rrule, tz
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.alerting.calendar import (
    TimeInterval,
    TimeSpan,
    days_of_week,
    merged,
    next_change,
    wall_clock_spans,
    within,
)
from mqvitals_agent.alerting.maintenance import MaintenanceWindow
from mqvitals_config.sections.time_intervals import ClockRange, Range, parse_days_of_month, parse_weekdays
from mqvitals_rules.timestamps import DAY_MS, MINUTE_MS

ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC")
CHANGES = {
    "Europe/Berlin": ("2027-03-28", "2027-10-31"),
    "America/New_York": ("2027-03-14", "2027-11-07"),
    "Australia/Lord_Howe": ("2027-04-04", "2027-10-03"),
    "Asia/Kolkata": ("2027-03-28",),
    "UTC": ("2027-03-28",),
}
"""The days on which the clocks of a zone change."""


def ms(text: str) -> int:
    """A moment in ISO 8601 in UTC."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1000


zone_days = st.sampled_from([(zone, day) for zone, days in CHANGES.items() for day in days])
"""A zone, and a day on which its clocks change."""
minutes = st.integers(0, 1439)


@st.composite
def intervals(draw: st.DrawFn) -> tuple[str, str, dict[str, Any]]:
    """A zone, a day on which its clocks change, and the parts of a time interval near it."""
    zone, day = draw(zone_days)
    start = draw(st.one_of(minutes, st.integers(60, 240)))
    end = draw(st.integers(start + 1, 1440))
    parts: dict[str, Any] = {"times": draw(st.sampled_from([(), (ClockRange(start, end),)]))}
    parts["weekdays"] = draw(st.frozensets(st.integers(0, 6)))
    days = st.sampled_from([(), (Range(1, 15),), (Range(-3, -1),), (Range(26, 31), Range(1, 2)), (Range(28, 30),)])
    parts["days"] = draw(days)
    parts["months"] = draw(st.sampled_from([frozenset(), frozenset({3, 10, 11}), frozenset({4})]))
    parts["years"] = draw(st.sampled_from([(), (Range(2027, 2027),), (Range(2020, 2026),)]))
    return zone, day, parts


def fits(zone: str, ts: int, parts: dict[str, Any]) -> bool:
    """Whether the wall clock shows a time of an interval, by dateutil's zones and recurrences."""
    there = datetime.fromtimestamp(ts / 1000, tz.gettz(zone)).replace(tzinfo=None)
    day = there.replace(hour=0, minute=0, second=0, microsecond=0)
    found = rrule.rrule(
        rrule.DAILY,
        dtstart=day,
        until=day,
        byweekday=sorted(parts["weekdays"]) or None,
        bymonth=sorted(parts["months"]) or None,
        bymonthday=[number for each in parts["days"] for number in range(each.first, each.last + 1)] or None,
    )
    if not list(found):
        return False
    if parts["years"] and not any(each.first <= there.year <= each.last for each in parts["years"]):
        return False
    minute = there.hour * 60 + there.minute
    return not parts["times"] or any(each.start <= minute < each.end for each in parts["times"])


@given(intervals(), st.integers(-36 * 60, 36 * 60), st.integers(0, 59_999))
def test_within_is_what_the_wall_clock_shows(made: tuple[str, str, dict[str, Any]], minute: int, rest: int) -> None:
    """At every moment around a change of daylight saving."""
    zone, day, parts = made
    ts = ms(day) + minute * MINUTE_MS + rest
    assert within([TimeInterval(ZoneInfo(zone), **parts)], ts) == fits(zone, ts, parts)


@given(intervals())
def test_spans_are_where_it_is_within(made: tuple[str, str, dict[str, Any]]) -> None:
    """They begin and end exactly there, and nothing is between them."""
    zone, day, parts = made
    interval = TimeInterval(ZoneInfo(zone), **parts)
    start, end = ms(day) - DAY_MS, ms(day) + 2 * DAY_MS
    spans = merged(wall_clock_spans(interval.zone, start, end, interval.on))
    for span in spans:
        assert start <= span.start < span.end <= end
        assert within([interval], span.start)
        assert within([interval], span.end - 1)
        assert span.start == start or not within([interval], span.start - 1)
        assert span.end == end or not within([interval], span.end)
    covered = sum(span.end - span.start for span in spans)
    assert covered == sum(MINUTE_MS for ts in range(start, end, MINUTE_MS) if within([interval], ts))


@given(intervals(), intervals(), st.integers(0, 2 * 1440))
def test_the_next_change_is_the_next_one(
    one: tuple[str, str, dict[str, Any]], other: tuple[str, str, dict[str, Any]], minute: int
) -> None:
    """Of several entries together; none before it, and none at all where there is None."""
    zone, day, parts = one
    both = [TimeInterval(ZoneInfo(zone), **parts), TimeInterval(ZoneInfo(other[0]), **other[2])]
    ts = ms(day) - DAY_MS + minute * MINUTE_MS
    until = ts + 2 * DAY_MS
    found = next_change(both, ts, until)
    before = within(both, ts)
    expected = next((at for at in range(ts, until, MINUTE_MS) if within(both, at) != before), None)
    assert found == expected


def by_wall(zone: str, *times: tuple[int, int]) -> list[str]:
    """The spans of these times of a day (minutes) around the days on which the clocks of a zone change, in UTC."""
    interval = TimeInterval(ZoneInfo(zone), tuple(ClockRange(*each) for each in times))
    found = []
    for day in CHANGES[zone]:
        start = int(datetime.fromisoformat(day).replace(tzinfo=ZoneInfo(zone)).timestamp()) * 1000
        end = int((datetime.fromisoformat(day) + timedelta(days=1)).replace(tzinfo=ZoneInfo(zone)).timestamp()) * 1000
        for span in merged(wall_clock_spans(interval.zone, start, end, interval.on)):
            first, last = (datetime.fromtimestamp(at / 1000, UTC) for at in span)
            found.append(f"{first:%m-%d %H:%M} {last:%H:%M}")
    return found


def test_a_time_that_is_skipped_does_not_come_and_one_that_is_shown_twice_comes_twice() -> None:
    """02:15 to 02:45 in Berlin and New York; in Lord Howe clocks change by half an hour."""
    assert by_wall("Europe/Berlin", (135, 165)) == ["10-31 00:15 00:45", "10-31 01:15 01:45"]
    assert by_wall("America/New_York", (135, 165)) == ["11-07 07:15 07:45"]
    assert by_wall("America/New_York", (75, 105)) == ["03-14 06:15 06:45", "11-07 05:15 05:45", "11-07 06:15 06:45"]
    # 01:30 to 02:00 is shown twice in April and its second half after 02:00 is skipped in October.
    assert by_wall("Australia/Lord_Howe", (90, 120)) == ["04-03 14:30 15:30", "10-02 15:00 15:30"]
    assert by_wall("Australia/Lord_Howe", (120, 150)) == ["04-03 15:30 16:00"]
    # A night is an hour shorter in spring and an hour longer in autumn.
    assert by_wall("Europe/Berlin", (0, 360)) == ["03-27 23:00 04:00", "10-30 22:00 05:00"]


def window(zone: str, cron: str, lasts: int) -> MaintenanceWindow:
    """Of a cron expression; ``lasts`` is in minutes."""
    return MaintenanceWindow("IPL", "as ever", ZoneInfo(zone), cron=cron, lasts=lasts * MINUTE_MS)


@given(zone_days, minutes, st.frozensets(st.integers(0, 6)), st.integers(1, 1200))
def test_a_cron_window_begins_when_the_wall_clock_shows_its_time_and_lasts_its_time(
    zone_day: tuple[str, str], minute: int, weekdays: frozenset[int], lasts: int
) -> None:
    """Where that time is skipped, it begins when the clocks have changed; of a time that comes twice, at the first."""
    zone, day = zone_day
    start, end = ms(day) - 3 * DAY_MS, ms(day) + 3 * DAY_MS
    there = tz.gettz(zone)
    of_week = ",".join(str((number + 1) % 7) for number in weekdays) or "*"
    naive = rrule.rrule(
        rrule.DAILY,
        dtstart=datetime.fromisoformat(day) - timedelta(days=15) + timedelta(minutes=minute),
        count=30,
        byweekday=sorted(weekdays) or None,
    )
    starts = []
    for each in naive:
        begun = each.replace(tzinfo=there)
        at = int(begun.timestamp()) * 1000
        if not tz.datetime_exists(begun):
            # The first moment that is shown after the change.
            at = next(ts for ts in range(at - 120 * MINUTE_MS, at + MINUTE_MS, MINUTE_MS) if local(ts, zone) >= each)
        starts.append(at)
    expected = merged(TimeSpan(at, at + lasts * MINUTE_MS) for at in starts)
    found = window(zone, f"{minute % 60} {minute // 60} * * {of_week}", lasts).spans(start, end)
    assert found == [each for each in expected if each.start < end and each.end > start]


def local(ts: int, zone: str) -> datetime:
    """What the wall clock shows."""
    return datetime.fromtimestamp(ts / 1000, tz.gettz(zone)).replace(tzinfo=None)


def test_a_cron_window_on_the_day_of_a_change() -> None:
    """At 02:30 in Berlin, for an hour: once each day, and always an hour."""
    daily = window("Europe/Berlin", "30 2 * * *", 60)
    spring = daily.spans(ms("2027-03-27T12:00"), ms("2027-03-28T12:00"))
    autumn = daily.spans(ms("2027-10-30T12:00"), ms("2027-10-31T12:00"))
    assert spring == [TimeSpan(ms("2027-03-28T01:00"), ms("2027-03-28T02:00"))]
    assert autumn == [TimeSpan(ms("2027-10-31T00:30"), ms("2027-10-31T01:30"))]


def test_a_long_chain_of_windows_is_one() -> None:
    """On twenty days in a row, each a little longer than a day; seen from its last day."""
    month = window("UTC", "0 0 1-20 * *", 25 * 60)
    (span,) = month.spans(ms("2027-05-20T12:00"), ms("2027-05-20T13:00"))
    assert span == TimeSpan(ms("2027-05-01"), ms("2027-05-21T01:00"))


def test_words_of_ranges() -> None:
    """The week begins with Sunday, and the month also ends with -1."""
    assert sorted(days_of_week([parse_weekdays("sunday:tuesday")])) == [0, 1, 6]
    assert sorted(days_of_week([parse_weekdays("Saturday"), parse_weekdays("sunday")])) == [5, 6]
    last = TimeInterval(UTC, days=(parse_days_of_month("-1"),))
    assert [bool(last.on(date(2028, 2, day))) for day in (28, 29)] == [False, True]
    assert bool(TimeInterval(UTC, days=(Range(29, 31),)).on(date(2027, 2, 28))) is False


@pytest.mark.parametrize("hours", [-12, 0, 14])
def test_a_fixed_offset_is_a_zone_too(hours: int) -> None:
    """As ``time_zone: +14:00``."""
    interval = TimeInterval(timezone(timedelta(hours=hours)), (ClockRange(0, 60),))
    assert within([interval], ms("2027-05-01") - hours * 3_600_000)
    assert not within([interval], ms("2027-05-01T01:00") - hours * 3_600_000)
