"""Times on the command line: the forms that are read, in which zone, and the zone in which times are shown."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import NoReturn
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.commandline.time_arguments import later_moment_argument, parse_moment, reading_zone
from mqvitals_agent.errors import Failure
from mqvitals_agent.text.figure import clock, day, moment, stamp, times_in, zone_name
from mqvitals_rules.timestamps import iso

MakeStore = Callable[..., Path]
BERLIN = ZoneInfo("Europe/Berlin")
FIRST = datetime.fromisoformat("2000-01-01")
NOW = 1795176590000  # 2026-11-20 12:09:50 UTC, 13:09:50 in Berlin


def read(text: str, zone: tzinfo = BERLIN, now: int = NOW) -> str:
    """The moment that a text names, in UTC."""
    return iso(parse_moment(text, lambda: zone, now)).removesuffix(".000Z")


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-11-20T12:00:00Z", "2026-11-20T12:00:00"),
        ("2026-11-20T12:00:00+05:30", "2026-11-20T06:30:00"),
        ("2026-11-20T12:00", "2026-11-20T11:00:00"),
        ("2026-11-20 12:00:30", "2026-11-20T11:00:30"),
        ("2026-11-20", "2026-11-19T23:00:00"),
        ("2026-07-01", "2026-06-30T22:00:00"),
        ("08:00", "2026-11-20T07:00:00"),
        ("8:00", "2026-11-20T07:00:00"),
        # Half an hour ahead of now: yesterday's.
        ("13:40", "2026-11-19T12:40:00"),
        ("13:09:50", "2026-11-20T12:09:50"),
        ("12:09:50Z", "2026-11-20T12:09:50"),
        ("12:09:51z", "2026-11-19T12:09:51"),
        ("12:09:50 UTC", "2026-11-20T12:09:50"),
        ("17:30+05:30", "2026-11-20T12:00:00"),
        ("17:30+0530", "2026-11-20T12:00:00"),
        ("07:00-05", "2026-11-20T12:00:00"),
        ("yesterday 22:00Z", "2026-11-19T22:00:00"),
        ("2026-11-20 12:00Z", "2026-11-20T12:00:00"),
        ("today", "2026-11-19T23:00:00"),
        ("yesterday", "2026-11-18T23:00:00"),
        ("Yesterday 22:00", "2026-11-19T21:00:00"),
        (" now ", "2026-11-20T12:09:50"),
        # Clocks go back at 03:00 on this day: the first 02:30 counts.
        ("2026-10-25 02:30", "2026-10-25T00:30:00"),
    ],
)
def test_forms(text: str, utc: str) -> None:
    """What names no offset is in the zone."""
    assert read(text) == utc


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "25:00",
        "08:60",
        "2026-13-01",
        "2026-02-30 10:00",
        "tomorrow",
        "yesterday at noon",
        "8",
        "-1h",
        "12:00+25:00",
        "Z",
        "12Z",
    ],
)
def test_what_is_no_moment(text: str) -> None:
    """It is refused, whatever it is."""
    with pytest.raises(ValueError, match=r"."):
        read(text)


def test_an_hour_that_was_left_out() -> None:
    """It is named with its date and zone."""
    with pytest.raises(ValueError, match="clocks went forward: there was no 02:30 on 2026-03-29 in Europe/Berlin"):
        read("2026-03-29 02:30")


def test_the_zone_is_asked_only_where_it_counts() -> None:
    """A moment with an offset needs no configuration."""

    def zone() -> NoReturn:
        raise AssertionError

    assert parse_moment("2026-11-20T12:00:00Z", zone, NOW) == 1795176000000


@given(
    st.datetimes(min_value=FIRST, max_value=FIRST.replace(year=2040)),
    st.sampled_from(["UTC", "Europe/Berlin", "Asia/Kolkata", "America/New_York"]),
)
def test_what_is_shown_is_read_again(when: datetime, name: str) -> None:
    """Also around the changes of clocks, but for the second of two equal hours."""
    zone = ZoneInfo(name)
    ts = int(when.replace(microsecond=0, tzinfo=UTC).timestamp()) * 1000
    with times_in(zone):
        assert parse_moment(stamp(ts), lambda: zone, NOW) == ts
        again = parse_moment(moment(ts), lambda: zone, NOW)
        assert moment(again) == moment(ts) == f"{day(ts)} {clock(ts)}"
        assert again in (ts, ts - 3_600_000)


@given(
    st.integers(NOW - 86_399_000, NOW).map(lambda ts: ts - ts % 1000),
    st.integers(-14 * 4, 14 * 4).map(lambda quarters: timezone(timedelta(minutes=15 * quarters))),
    st.sampled_from(["UTC", "Europe/Berlin", "America/New_York"]),
)
def test_a_time_of_day_with_its_offset_needs_no_zone(ts: int, offset: timezone, name: str) -> None:
    """It is the last such time, whatever the zone of times that name none, also without a date."""
    there = datetime.fromtimestamp(ts / 1000, offset)
    assert parse_moment(f"{there:%H:%M:%S%z}", lambda: ZoneInfo(name), NOW) == ts
    assert parse_moment(there.isoformat().partition("T")[2], lambda: ZoneInfo(name), NOW) == ts
    utc = datetime.fromtimestamp(ts / 1000, UTC)
    assert parse_moment(f"{utc:%H:%M:%S}Z", lambda: ZoneInfo(name), NOW) == ts


def test_times_are_shown_in_the_zone() -> None:
    """And the zone has a name; afterwards times are in UTC again."""
    with times_in(BERLIN):
        assert (moment(NOW), zone_name(NOW)) == ("2026-11-20 13:09:50", "CET")
        assert stamp(NOW + 7) == "2026-11-20T13:09:50.007+01:00"
    assert (moment(NOW), zone_name(NOW), stamp(NOW)) == ("2026-11-20 12:09:50", "UTC", "2026-11-20T12:09:50.000Z")


@pytest.mark.parametrize(
    ("tz", "config", "zone"),
    [(None, None, "UTC"), (None, "Europe/Berlin", "Europe/Berlin"), (BERLIN, "Asia/Tokyo", "Europe/Berlin")],
)
def test_the_zone_of_reading(tmp_path: Path, tz: tzinfo | None, config: str | None, zone: str) -> None:
    """--tz beats the configuration, which beats UTC."""
    path = tmp_path / "x.yaml"
    path.write_text(f"time_zone: {config}\n")
    arguments = argparse.Namespace(tz=tz, store=None, config=str(path) if config else None)
    assert str(reading_zone(arguments)) == zone


def test_trend_reads_and_shows(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """A time of day of the past, in a zone; text, CSV and JSON follow it."""
    command = [
        "trend",
        "free_pct",
        "QM01/buffer_pool/3",
        "--store",
        str(make_store()),
        "--from",
        "13:00:40",
        "--tz",
        "Europe/Berlin",
    ]
    assert main([*command, "--csv"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "at,value",
        "2026-11-20T13:00:40.000+01:00,10",
        "2026-11-20T13:00:50.000+01:00,4",
    ]
    assert main(command) == 0
    assert "2026-11-20 13:00:40 to 13:00:50 CET" in capsys.readouterr().out
    assert main([*command[:-4], "--from", "teatime"]) == 2
    err = capsys.readouterr().err
    assert "--from 'teatime' is not a time" in err
    assert "yesterday" in err


@pytest.mark.parametrize(
    "command", ["status", "alerts list --all", "messages", "review", "rules explain BP-01 QM01/buffer_pool/3"]
)
def test_every_report_takes_a_zone(command: str, make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """No time of UTC is left where the report shows times; a zone that does not exist is refused with its form."""
    store = str(make_store())
    assert main([*command.split(), "--store", store, "--tz", "+05:30"]) < 4
    assert "12:00:" not in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main([*command.split(), "--store", store, "--tz", "Mars"])
    assert "write a time zone such as Europe/Berlin, UTC or +01:00" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2h", "2026-11-20T14:09:50"),
        ("1h30m", "2026-11-20T13:39:50"),
        ("13:40", "2026-11-20T12:40:00"),
        # Now, and before now: tomorrow's.
        ("13:09:50", "2026-11-21T12:09:50"),
        ("06:00", "2026-11-21T05:00:00"),
        ("tomorrow 06:00", "2026-11-21T05:00:00"),
        ("tomorrow", "2026-11-20T23:00:00"),
        ("today 22:00", "2026-11-20T21:00:00"),
        ("2026-11-23", "2026-11-22T23:00:00"),
        ("2026-11-23T06:00:00Z", "2026-11-23T06:00:00"),
    ],
)
def test_what_lies_ahead(text: str, utc: str) -> None:
    """A length of time is from now on, and a time of day the next one."""
    found = later_moment_argument("--until", text, lambda: BERLIN, NOW)
    assert iso(found).removesuffix(".000Z") == utc


@pytest.mark.parametrize("text", ["yesterday", "yesterday 22:00", "2", "25:00", "2026-02-30", "soon", ""])
def test_what_does_not_lie_ahead(text: str) -> None:
    with pytest.raises(Failure, match=f"^--until '{text}' is not a time: ") as raised:
        later_moment_argument("--until", text, lambda: BERLIN, NOW)
    assert raised.value.hint.startswith("write it as 2h, 06:00, tomorrow 06:00")
