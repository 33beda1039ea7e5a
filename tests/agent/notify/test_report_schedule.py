"""When a report is due: each moment once, late ones within six hours, over the changes of clocks too."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.notify.report_schedule import (
    SEND_WITHIN_MS,
    ReportTimes,
    dealt_with,
    decide_report,
    tried_again,
)
from mqvitals_agent.store.rows.alerts.reports import ReportRow
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.sections.reports import ReportSettings, cron_of

HOUR, MINUTE = 3_600_000, 60_000
BERLIN = ZoneInfo("Europe/Berlin")


def at(*when: int) -> int:
    """A time in Berlin, ms UTC."""
    return int(datetime(*when, tzinfo=BERLIN).timestamp()) * 1000  # type: ignore[arg-type, misc]


def times(text: str = "06:00", zone: str | None = "Europe/Berlin") -> ReportTimes:
    """The moments of a report."""
    place = Place("mqvitals.yaml", 1, 1)
    settings = ReportSettings(LocatedText("night", place), LocatedText(text, place), (LocatedText("ops", place),))
    return ReportTimes.of(settings, zone)


def handled(moment: int, text: str = "06:00") -> ReportRow:
    """All moments up to one are dealt with."""
    return ReportRow(times(text).words, moment)


def test_a_new_report_waits_for_its_next_moment() -> None:
    """It is not sent for a moment before it was in the settings."""
    found = decide_report(times(), None, at(2026, 11, 20, 7))
    assert (found.due, found.skipped, found.at) == (None, 0, at(2026, 11, 21, 6))
    assert found.row == handled(at(2026, 11, 20, 7))


def test_it_is_due_at_its_moment_and_then_no_more() -> None:
    """Also over a restart: what is dealt with is in the row."""
    row, moment = handled(at(2026, 11, 19, 6)), at(2026, 11, 20, 6)
    assert decide_report(times(), row, moment - 1).due is None
    assert decide_report(times(), row, moment).due == moment
    row = dealt_with(row, moment, moment + 3)
    assert row.sent == moment + 3
    for later in (moment, moment + MINUTE, moment + 23 * HOUR):
        assert decide_report(times(), row, later).due is None


def test_one_that_was_missed_comes_late_or_not_at_all() -> None:
    """Within six hours; of several the newest."""
    row, moment = handled(at(2026, 11, 18, 6)), at(2026, 11, 20, 6)
    late = decide_report(times(), row, moment + SEND_WITHIN_MS)
    assert (late.due, late.skipped) == (moment, 1)
    assert decide_report(times(), late.row, moment + SEND_WITHIN_MS).skipped == 0
    too_late = decide_report(times(), row, moment + SEND_WITHIN_MS + 1)
    assert (too_late.due, too_late.skipped, too_late.row.handled) == (None, 2, moment)
    assert too_late.at == at(2026, 11, 21, 6)


def test_a_failed_attempt_is_made_again_later() -> None:
    """And given up with the time."""
    moment = at(2026, 11, 20, 6)
    row = tried_again(handled(moment - HOUR), "no answer", moment + MINUTE)
    waits = decide_report(times(), row, moment + 1)
    assert (waits.due, waits.at) == (None, moment + MINUTE)
    assert decide_report(times(), row, moment + MINUTE).due == moment
    assert dealt_with(row, moment).attempts == 0


@pytest.mark.parametrize("row", [handled(at(2027, 1, 1)), handled(at(2026, 11, 19, 6), "07:00")])
def test_a_clock_that_was_ahead_and_other_times_begin_anew(row: ReportRow) -> None:
    """Nothing is sent for a time that is over, and nothing waits for years."""
    found = decide_report(times(), row, at(2026, 11, 20, 7))
    assert (found.due, found.row.handled, found.at) == (None, at(2026, 11, 20, 7), at(2026, 11, 21, 6))


def test_clocks_that_change() -> None:
    """A time that is left out is the next one; one that comes twice comes once."""
    spring = list(_first(times("02:30"), at(2026, 3, 28, 12), 2))
    assert spring == [at(2026, 3, 29, 3), at(2026, 3, 30, 2, 30)]
    autumn = list(_first(times("02:30"), at(2026, 10, 24, 12), 2))
    assert autumn == [at(2026, 10, 25, 2, 30), at(2026, 10, 26, 2, 30)]


def _first(moments: ReportTimes, after: int, count: int) -> list[int]:
    return [moment for moment, _ in zip(moments.after(after), range(count), strict=False)]


@given(
    st.integers(at(2026, 1, 1), at(2030, 1, 1)),
    st.integers(0, 23),
    st.integers(0, 59),
    st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", None]),
)
def test_a_time_of_day_comes_once_a_day(after: int, hour: int, minute: int, zone: str | None) -> None:
    """At that time of the clock on the wall, or at the end of the hour that is left out."""
    moments = times(f"{hour:02d}:{minute:02d}", zone)
    found = _first(moments, after, 4)
    assert sorted(set(found)) == found
    assert found[0] > after
    shown = [datetime.fromtimestamp(each / 1000, moments.zone) for each in found]
    days = [each.date() for each in shown]
    assert all(later - earlier == timedelta(days=1) for earlier, later in itertools.pairwise(days))
    for each in shown:
        wanted = each.replace(hour=hour, minute=minute)
        exists = wanted.astimezone(UTC).astimezone(moments.zone).replace(tzinfo=None) == wanted.replace(tzinfo=None)
        assert (each.hour, each.minute) == (hour, minute) or not exists


@given(st.lists(st.integers(0, 40 * HOUR), min_size=1, max_size=30), st.booleans())
def test_no_moment_is_sent_twice(steps: list[int], accepts: bool) -> None:
    """However the agent sleeps, stops and starts again."""
    moments, now, row = times("0 */3 * * *"), at(2026, 11, 20, 7), None
    sent: list[int] = []
    for step in steps:
        now += step
        found = decide_report(moments, row, now)
        row = found.row
        if found.due is not None:
            assert found.due <= now <= found.due + SEND_WITHIN_MS
            sent.append(found.due)
            row = dealt_with(row, found.due, now) if accepts else tried_again(row, "down", now + MINUTE)
    if accepts:
        assert sorted(set(sent)) == sent
    assert sorted(sent) == sent


@pytest.mark.parametrize(
    ("text", "cron"), [("06:00", "0 6 * * *"), ("6:05", "5 6 * * *"), ("0 6,18 * * 1-5", "0 6,18 * * 1-5")]
)
def test_times_are_written_as_a_clock_or_as_cron(text: str, cron: str) -> None:
    """Both are five fields in the end."""
    assert cron_of(LocatedText(text, Place("mqvitals.yaml", 1, 1))) == cron
